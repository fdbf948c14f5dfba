# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from advisor.report.output_formats import Reported
from advisor.report.sources import Location
from tests.report.formats.formats_samples import judged, of, reports, written
from tests.report.report_samples import SHAPES

DEMANDED = {
    "type": "array",
    "items": {
        "type": "object",
        "required": ["description", "check_name", "fingerprint", "severity", "location"],
        "properties": {
            "description": {"type": "string", "minLength": 1},
            "check_name": {"type": "string", "minLength": 1},
            "fingerprint": {"type": "string", "minLength": 1},
            "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
            "location": {
                "type": "object",
                "required": ["path", "lines"],
                "properties": {
                    "path": {"type": "string", "minLength": 1},
                    "lines": {
                        "type": "object",
                        "required": ["begin"],
                        "properties": {"begin": {"type": "integer", "minimum": 1}},
                    },
                },
            },
        },
    },
}
"""What GitLab says it demands ("Code Quality report format" in its documentation)."""


def entries(reported: Reported) -> list[dict[str, Any]]:
    text = written("codequality", reported)
    assert not text.startswith("\ufeff")
    found = json.loads(text)
    jsonschema.validate(found, DEMANDED)
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_what_gitlab_demands(shape: str, language: str) -> None:
    entries(of(shape, language))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_any_report_has_what_gitlab_demands_and_no_fingerprint_twice(reported: Reported) -> None:
    found = [entry["fingerprint"] for entry in entries(reported)]
    assert len(found) == len(set(found))


def test_fingerprints_are_those_of_the_findings() -> None:
    found = [entry["fingerprint"] for entry in entries(of("rich"))]
    assert found == [finding.fingerprint for finding in SHAPES["rich"].findings]


def test_five_severities_become_five() -> None:
    found = {f.severity.name: e["severity"] for f, e in zip(SHAPES["rich"].findings, entries(of("rich")), strict=True)}
    assert found == {"critical": "blocker", "high": "critical", "medium": "major", "low": "minor", "info": "info"}


def test_the_policy_decides_what_is_grave() -> None:
    found = entries(of("rich", verdict=judged(SHAPES["rich"])))
    assert {entry["severity"] for entry in found} == {"blocker", "minor"}


def test_where_no_setting_decided_the_severity_counts_but_nothing_that_passes_blocks() -> None:
    diagnosis = SHAPES["rich"]
    verdict = judged(diagnosis)
    undecided = tuple(
        one.model_copy(update={"action": "warn", "by": "", "suppressed": None}) for one in verdict.rulings
    )
    found = entries(of("rich", verdict=verdict.model_copy(update={"rulings": undecided})))
    words = {f.severity.name: e["severity"] for f, e in zip(diagnosis.findings, found, strict=True)}
    assert words == {"critical": "critical", "high": "critical", "medium": "major", "low": "minor", "info": "info"}


def test_a_finding_without_a_line_is_not_lost() -> None:
    first = SHAPES["rich"].findings[0]
    found = entries(of("rich", locations={first.fingerprint: Location("train.py", 3)}))
    assert found[0]["location"] == {"path": "train.py", "lines": {"begin": 3}}
    assert found[1]["location"]["path"] == SHAPES["rich"].run.name


def test_nothing_checked_is_an_entry() -> None:
    (entry,) = entries(of("blind"))
    assert "does not mean that all is well" in entry["description"]
    assert entries(of("fine")) == []
