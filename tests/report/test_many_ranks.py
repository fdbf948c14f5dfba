# SPDX-License-Identifier: Apache-2.0
"""A report of a thousand ranks is as long as one of two: ranks are ranges and hosts, and charts are bounded."""

from __future__ import annotations

import argparse
import re

import pytest
from charts_of_tests import BlankCharts
from report_samples import rich

from advisor.cli.outputs import MOST_LINES, hand_out
from advisor.messages.text import Language, Text
from advisor.model.findings import Diagnosis, Exhibit, Finding, Head, Outcome, Place, Rows
from advisor.model.run import Capture
from advisor.report.diagnosis.document import diagnosis_document, diagnosis_overview
from advisor.report.diagnosis.page import diagnosis_page
from advisor.report.pages import LARGEST_BYTES
from advisor.report.renderers.markdown import document_text


def many(ranks: int, on_node: int | None = None) -> Diagnosis:
    """The diagnosis of a job of so many ranks, eight on a host; each finding on all of them, or on one host."""
    one = rich()
    captures = tuple(Capture(rank=rank, path=f"r{rank}", source="text", host=f"n{rank // 8}") for rank in range(ranks))
    where = range(ranks) if on_node is None else range(8 * on_node, 8 * on_node + 8)
    places = tuple(Place(rank=rank, step=step, saving_us=1000.0 - rank / 8) for rank in where for step in (50, 51))
    heads = tuple(Head(name=name) for name in ("rank", "stage", "compute_us", "exposed_comm_us", "free_us"))
    times = Rows(columns=heads, rows=tuple((rank, None, 900.0, 100.0, 50.0) for rank in range(ranks)), total=ranks)
    run = one.run.model_copy(update={"ranks": tuple(range(ranks)), "captures": captures, "world_size": ranks})
    findings = tuple(_placed(finding, places, copy) for copy in range(4) for finding in one.findings)
    exhibits = (Exhibit(kind="time_split", rows=times), *(e for e in one.exhibits if e.kind != "time_split"))
    return one.model_copy(update={"run": run, "findings": findings, "exhibits": exhibits})


def _placed(finding: Finding, places: tuple[Place, ...], copy: int) -> Finding:
    changed = {"seen": places, "fingerprint": f"{copy:x}{finding.fingerprint[1:]}", "causes": (), "symptoms": ()}
    return finding.model_copy(update=changed)


@pytest.mark.parametrize("ranks", [65, 1024])
def test_the_terminal_gets_no_more_than_a_screen_or_two(
    ranks: int, language: Language, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = argparse.Namespace(quiet=False, lang=language, top=None, fail_on=None, output=[])
    hand_out(many(ranks), asked, (), BlankCharts())
    lines = capsys.readouterr().out.splitlines()
    assert 10 < len(lines) <= MOST_LINES


@pytest.mark.parametrize("top", [1, 4])
def test_of_a_damaged_job_it_gets_no_more_either(
    top: int, language: Language, capsys: pytest.CaptureFixture[str]
) -> None:
    """Reasons that name many files, and rules that could not look at many ranks."""
    files = ", ".join(f"node{node}_{'4' * 20}_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json" for node in range(9))
    why = Text(en=f"cannot be read: {files}: give the files whole", zh=f"无法读取：{files}，请提供完整文件")
    reasons = [Text(en=f"{number} {why.en}", zh=f"{number} {why.zh}") for number in range(9)]
    blind = tuple(
        Outcome(rule=f"compute/of-{number}", outcome="skipped", reason=reason) for number, reason in enumerate(reasons)
    )
    whole = many(1024)
    damaged = whole.model_copy(update={"outcomes": (*whole.outcomes, *blind), "findings": whole.findings[:top]})
    asked = argparse.Namespace(quiet=False, lang=language, top=None, fail_on=None, output=[])
    hand_out(damaged, asked, (), BlankCharts())
    assert 10 < len(capsys.readouterr().out.splitlines()) <= MOST_LINES


def test_who_asks_for_findings_gets_as_many(capsys: pytest.CaptureFixture[str]) -> None:
    asked = argparse.Namespace(quiet=False, lang="en", top=12, fail_on=None, output=[])
    hand_out(many(1024), asked, (), BlankCharts())
    assert len(re.findall(r"^ ?\d+  \S", capsys.readouterr().out, re.MULTILINE)) == 12


def test_the_page_stays_small(language: Language) -> None:
    page = diagnosis_page(many(1024), language, BlankCharts())
    assert len(page.encode()) < LARGEST_BYTES / 2
    assert "0–1023" in page


def test_a_comment_is_as_short_as_for_two_ranks(language: Language) -> None:
    few, much = (len(document_text(diagnosis_overview(many(ranks), language, 10))) for ranks in (2, 1024))
    assert much <= few * 1.2
    few, much = (len(document_text(diagnosis_document(many(ranks), language))) for ranks in (2, 1024))
    assert much <= few * 1.2


def test_the_host_that_all_findings_are_on_is_named_everywhere(language: Language) -> None:
    said = document_text(diagnosis_document(many(1024, on_node=17), language))
    name = {"en": "host n17: ranks 136–143", "zh": "主机 n17：rank 136–143"}[language]
    assert name in said
    assert {"en": "all of host n17", "zh": "主机 n17 的全部卡"}[language] in said
