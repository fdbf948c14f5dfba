# SPDX-License-Identifier: Apache-2.0
"""What was not checked: what can be had comes before what no capture holds."""

from __future__ import annotations

from pathlib import Path

from report_samples import write_report

from advisor.messages.text import Text
from advisor.model.findings import Diagnosis, Outcome
from advisor.model.run import Run
from advisor.report.diagnosis.outcomes import not_checked


def test_what_no_capture_holds_comes_last_whatever_it_blinds() -> None:
    unheld, absent = Text(en="no capture holds it", zh="采集中没有"), Text(en="absent", zh="缺少")
    outcomes = [
        *(
            Outcome(rule=f"memory/{n}", outcome="skipped", reason=unheld, needs=("memory_peaks.capacity_bytes",))
            for n in "ab"
        ),
        Outcome(rule="host/c", outcome="skipped", reason=absent, needs=("host_calls",)),
    ]
    said = not_checked(outcomes, "en")
    assert [group.rules for group in said] == [("host/c",), ("memory/a", "memory/b")]
    assert [group.unheld for group in said] == [False, True]


def test_what_no_capture_holds_is_no_news_at_the_top_of_a_report(tmp_path: Path) -> None:
    unheld = Text(en="no capture holds it", zh="采集中没有")
    outcome = Outcome(rule="memory/a", outcome="skipped", reason=unheld, needs=("memory_peaks.capacity_bytes",))
    for name in ("report.html", "report.md"):
        write_report(Diagnosis(run=Run(), outcomes=(outcome,)), tmp_path / name, "en")
        text = (tmp_path / name).read_text("utf-8")
        assert text.count("no capture holds it") == 2, name  # where it is said at length, and in the table of all rules
        assert "could not be checked" not in text
