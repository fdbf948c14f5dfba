# SPDX-License-Identifier: Apache-2.0
"""What was not checked: what can be had comes before what no capture holds."""

from __future__ import annotations

from pathlib import Path

import pytest
from report_samples import write_report

from advisor.messages.text import Language, Text
from advisor.model.findings import Diagnosis, Outcome
from advisor.model.inspection import Inspection
from advisor.model.run import Run
from advisor.report.diagnosis.document import diagnosis_summary
from advisor.report.diagnosis.outcomes import not_checked
from advisor.report.inspection.document import inspection_document
from advisor.report.renderers.markdown import document_text
from tests.input_notes import note


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


@pytest.mark.parametrize(
    ("language", "told"), [("en", "before recording anything again"), ("zh", "补采之前请先单独诊断其中一个")]
)
def test_raw_data_beside_the_files_is_named_before_anything_is_recorded_again(language: Language, told: str) -> None:
    skipped = Outcome(rule="host/free-time", outcome="skipped", reason=Text("not recorded: kernels", "未采集：kernel"))
    for notes in ((), (note("raw_beside=2"),)):
        run = Run(name="profiler", notes=notes)
        made = diagnosis_summary(Diagnosis(version="1", run=run, outcomes=(skipped,)), language)
        inspected = inspection_document(
            Inspection(version="1", name="profiler", run=run, outcomes=(skipped,)), language
        )
        for document in (made, inspected):
            assert (told in document_text(document)) == bool(notes)
