# SPDX-License-Identifier: Apache-2.0
"""A worse finding never looks milder: in its order, in what fails a run, in each format and in its colours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from datetime import date
from itertools import pairwise
from xml.etree.ElementTree import fromstring

import pytest
from gate_samples import diagnosis, finding

from advisor.machine.shipped_files import shipped_folder
from advisor.messages.text import LANGUAGES
from advisor.model.findings import Severity
from advisor.policy.gate import judge_by_policy
from advisor.policy.policy import FailCondition, Policy
from advisor.report.formats import annotations, codequality, junit, rdjson, sarif
from advisor.report.output_formats import Reported
from advisor.report.words import CONFIDENCES, SEVERITIES

WORST_FIRST = ("critical", "high", "medium", "low", "info")
EACH = diagnosis(*(finding(f"host/{name}", Severity[name]) for name in WORST_FIRST))


def test_severities_are_ordered_from_info_to_critical() -> None:
    assert [severity.name for severity in sorted(Severity, reverse=True)] == list(WORST_FIRST)


@pytest.mark.parametrize("bar", WORST_FIRST)
@pytest.mark.parametrize("name", WORST_FIRST)
def test_a_finding_fails_the_run_at_its_severity_and_above(name: str, bar: str) -> None:
    one = diagnosis(finding("host/one", Severity[name]))
    verdict = judge_by_policy(one, None, Policy(), (FailCondition(Severity[bar]),), date(2026, 1, 1))
    assert verdict.passed != (WORST_FIRST.index(name) <= WORST_FIRST.index(bar))


def _of_sarif(reported: Reported) -> list[str]:
    return [result["level"] for result in json.loads(sarif.text(reported))["runs"][0]["results"]]


def _of_annotations(reported: Reported) -> list[str]:
    return re.findall(r"^::(\w+)", annotations.text(reported), re.M)


FORMATS: dict[str, tuple[Callable[[Reported], list[str]], list[str]]] = {
    "sarif": (_of_sarif, ["error", "warning", "note"]),
    "codequality": (
        lambda reported: [entry["severity"] for entry in json.loads(codequality.text(reported))],
        ["blocker", "critical", "major", "minor", "info"],
    ),
    "rdjson": (
        lambda reported: [entry["severity"] for entry in json.loads(rdjson.text(reported))["diagnostics"]],
        ["ERROR", "WARNING", "INFO"],
    ),
    "annotations": (_of_annotations, ["error", "warning", "notice"]),
}
"""Grades of each format, worst first."""


@pytest.mark.parametrize("name", FORMATS)
def test_each_format_grades_findings_by_their_severity(name: str) -> None:
    read, grades = FORMATS[name]
    found = [grades.index(grade) for grade in read(Reported(EACH, "en"))]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (0, len(grades) - 1)


def test_all_but_remarks_fail_in_junit() -> None:
    suite = fromstring(junit.text(Reported(EACH, "en")))  # noqa: S314 - our own text
    failed = {case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None}
    assert {f"host/{name}" for name in WORST_FIRST[:-1]} == failed


def test_each_severity_has_words_and_a_colour_of_its_own() -> None:
    for language in LANGUAGES:
        assert len({text.say(language) for text in SEVERITIES.values()}) == len(WORST_FIRST)
    assert tuple(SEVERITIES) == WORST_FIRST
    assert tuple(CONFIDENCES) == ("high", "medium", "low")
    style = (shipped_folder("templates") / "report.css").read_text("utf-8")
    for block in re.findall(r"--critical: [^}]*--info: #\w+", style):
        colours = dict(re.findall(r"--(\w+): (#\w+)", block))
        assert len({colours[name] for name in WORST_FIRST}) == len(WORST_FIRST)
        reds = [_redness(colours[name]) for name in WORST_FIRST]
        assert all(worse > milder for worse, milder in pairwise(reds[:4])), reds


def _redness(colour: str) -> float:
    """Red over all of red, green and blue."""
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return red / (red + green + blue)
