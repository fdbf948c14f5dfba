# SPDX-License-Identifier: Apache-2.0
"""Where a folder holds several captures of a rank, each report says which one was read and how many were not."""

from __future__ import annotations

import io
from datetime import date

import pytest
from rich.console import Console

from advisor.comparison import compare
from advisor.comparison.verification import verify_all
from advisor.messages.text import Language
from advisor.model.findings import Diagnosis
from advisor.model.inspection import Inspection
from advisor.model.modules import ModuleReport
from advisor.model.run import Capture, InputNote, Run
from advisor.model.statistics import Statistics
from advisor.model.verdict import Verdict
from advisor.report.blocks import Document
from advisor.report.comparison.document import comparison_document, comparison_overview, comparison_summary
from advisor.report.comparison.page import comparison_page
from advisor.report.diagnosis.document import diagnosis_document, diagnosis_summary
from advisor.report.inspection.document import inspection_document, inspection_summary
from advisor.report.modules.document import modules_document, modules_summary
from advisor.report.modules.page import modules_page
from advisor.report.pages import document_page
from advisor.report.renderers.markdown import document_text
from advisor.report.renderers.terminal import print_document
from advisor.report.statistics.document import statistics_document, statistics_summary
from advisor.report.verdict.document import Judged, verdict_document
from advisor.report.verification.document import verification_document
from tests.charts_of_tests import BlankCharts
from tests.input_notes import note

NOTES = (note("other_captures=4"), note("chosen=b_ascend_pt"))
RUN = Run(name="prof", notes=NOTES)
DIAGNOSIS = Diagnosis(version="1", run=RUN)
ONLY = Diagnosis(version="1", run=Run(name="single"))
SAID: dict[Language, tuple[str, str]] = {
    "en": ("b_ascend_pt", "4 others were not read"),
    "zh": ("b_ascend_pt", "另有 4 份未读取"),
}


def _printed(document: Document) -> str:
    """What stands on a terminal, without its line breaks."""
    out = io.StringIO()
    print_document(document, Console(file=out, width=400))
    return " ".join(out.getvalue().split())


def _documents(language: Language) -> dict[str, Document]:
    counted = Statistics(version="1", run="prof", notes=NOTES, tables=())
    inspected = Inspection(version="1", name="prof", run=RUN)
    modules = ModuleReport(version="1", run=RUN)
    judged = Judged(
        diagnosis=DIAGNOSIS, comparison=None, verdict=Verdict(passed=True), settings="a.yaml", today=date(2026, 1, 1)
    )
    return {
        "diagnose": diagnosis_document(DIAGNOSIS, language),
        "diagnose, briefly": diagnosis_summary(DIAGNOSIS, language),
        "stats": statistics_document(counted, language, 9),
        "stats, briefly": statistics_summary(counted, language, 9),
        "inspect": inspection_document(inspected, language),
        "inspect, briefly": inspection_summary(inspected, language),
        "modules": modules_document(modules, language),
        "modules, briefly": modules_summary(modules, language),
        "check": verdict_document(judged, language),
    }


@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_report_on_one_of_several_captures_says_which_was_read_and_how_many_were_not(language: Language) -> None:
    for name, document in _documents(language).items():
        for text in (_printed(document), document_text(document).replace("\\", ""), document_page(document)):
            assert all(words in text for words in SAID[language]), name
    page = modules_page(ModuleReport(version="1", run=RUN), language)
    assert all(words in page for words in SAID[language])


@pytest.mark.parametrize("before", [DIAGNOSIS, ONLY], ids=["several before", "one before"])
@pytest.mark.parametrize("after", [DIAGNOSIS, ONLY], ids=["several after", "one after"])
def test_what_sets_two_captures_side_by_side_says_it_of_each_side(before: Diagnosis, after: Diagnosis) -> None:
    comparison = compare(before, after)
    expected = [when for when, one in (("Before: ", before), ("After: ", after)) if one is DIAGNOSIS]
    judged = Judged(
        diagnosis=after, comparison=comparison, verdict=Verdict(passed=True), settings="a.yaml", today=date(2026, 1, 1)
    )
    texts = [
        _printed(comparison_document(comparison, "en")),
        _printed(comparison_summary(comparison, "en")),
        _printed(comparison_overview(comparison, "en", 9)),
        _printed(verification_document(verify_all(comparison), comparison, "en")),
        _printed(verdict_document(judged, "en")),
    ]
    for text in texts:
        assert [f"{when}The folder holds more than one" in text for when in ("Before: ", "After: ")] == [
            when in expected for when in ("Before: ", "After: ")
        ]
        assert text.count("4 others were not read") == len(expected)
    page = comparison_page(comparison, "en", BlankCharts())
    assert page.count("4 others were not read") == len(expected)


def test_one_capture_that_was_left_aside_is_one() -> None:
    run = Run(name="prof", notes=(note("other_captures=1"), note("chosen=b")))
    assert "1 other was not read." in _printed(diagnosis_summary(Diagnosis(version="1", run=run), "en"))


def test_a_rank_number_that_several_processes_have_is_not_called_a_rank_captured_twice() -> None:
    run = Run(name="prof", notes=(note("other_captures=1"), note("chosen=b"), note("at_once_captures=1")))
    text = " ".join(_printed(diagnosis_summary(Diagnosis(version="1", run=run), "en")).split())
    assert "Several processes that recorded at the same time have the same rank number; this report covers b." in text
    assert "more than one capture" not in text


@pytest.mark.parametrize("count", ["many", "-1", "1.5", ""])
def test_a_note_of_a_saved_diagnosis_that_holds_no_number_says_nothing(count: str) -> None:
    run = Run(name="prof", notes=(note(f"unparsed_captures={count}"),))
    assert "not parsed" not in _printed(diagnosis_summary(Diagnosis(version="1", run=run), "en"))


@pytest.mark.parametrize(("count", "told"), [(1, "1 capture here is not"), (3, "3 captures here are not")])
@pytest.mark.parametrize("others", [(), NOTES], ids=["alone", "beside a choice"])
def test_captures_that_nobody_parsed_are_told_with_what_parses_them(
    count: int, told: str, others: tuple[str, ...]
) -> None:
    names = ", ".join(["a_ascend_pt", "b_ascend_pt", "c_ascend_pt"][:count])
    run = Run(name="prof", notes=(*others, note(f"unparsed_captures={count}"), note(f"unparsed_names={names}")))
    text = " ".join(_printed(diagnosis_summary(Diagnosis(version="1", run=run), "en")).split())
    assert told in text
    assert ("It is a_ascend_pt." if count == 1 else "They are a_ascend_pt, b_ascend_pt, ….") in text
    assert "analyse of " in text.replace("`", "")
    assert ("4 others were not read." in text) == bool(others)


def test_a_name_with_a_comma_in_it_is_one_name() -> None:
    run = Run(name="prof", notes=(InputNote(about="inner_captures", names=("run 1, lr=3/a", "b=c")),))
    assert Run.model_validate_json(run.model_dump_json()) == run
    text = " ".join(_printed(diagnosis_summary(Diagnosis(version="1", run=run), "en")).split())
    assert "output of another capture: run 1, lr=3/a, b=c." in text
    one = Run(name="prof", notes=(InputNote(about="inner_captures", names=("run 1, lr=3/a",)),))
    assert "because it lies inside" in " ".join(_printed(diagnosis_summary(Diagnosis(run=one), "en")).split())


def test_captures_that_lie_inside_of_another_one_are_named() -> None:
    run = Run(name="prof", notes=(note("inner_captures=a/b, a/c"),))
    text = " ".join(_printed(diagnosis_summary(Diagnosis(version="1", run=run), "en")).split())
    assert "Not read because they lie inside the output of another capture: a/b, a/c." in text


NEVER_MET: dict[Language, str] = {"en": "no real capture of this profiler", "zh": "尚无该 profiler 的真实采集"}


@pytest.mark.parametrize("language", ["en", "zh"])
@pytest.mark.parametrize(
    ("framework", "recorder", "source", "untried"),
    [
        ("MindSpore", "", "text", True),
        ("MindSpore", "", "database", True),
        ("MindSpore", "", "insight", False),
        ("MindSpore", "msprof", "text", False),
        ("PyTorch", "", "text", False),
        ("", "", "text", False),
    ],
)
def test_a_source_that_met_no_real_capture_is_said_to_have_met_none(
    framework: str, recorder: str, source: str, untried: bool, language: Language
) -> None:
    capture = Capture(rank=0, path="", recorder=recorder, source=source)
    found = Diagnosis(version="1", run=Run(name="prof", framework=framework, captures=(capture,)))
    said = _printed(diagnosis_document(found, language))
    assert (NEVER_MET[language] in said) == untried


def test_the_samples_of_the_present_profiler_of_mindspore_are_not_taken_for_those_of_the_old_one() -> None:
    capture = Capture(rank=0, path="", source="insight")
    found = Diagnosis(version="1", run=Run(name="FRAMEWORK", framework="MindSpore", captures=(capture,)))
    assert NEVER_MET["en"] in _printed(diagnosis_document(found, "en"))
