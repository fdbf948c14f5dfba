# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from hypothesis import HealthCheck, given, settings

from advisor.report.output_formats import Reported
from advisor.report.sources import Location
from tests.report.formats.formats_samples import of, reports, written
from tests.report.report_samples import SHAPES

POSITION = {"type": "object", "properties": {"line": {"type": "integer"}, "column": {"type": "integer"}}}
SEVERITY = {"enum": ["UNKNOWN_SEVERITY", "ERROR", "WARNING", "INFO", 0, 1, 2, 3]}
SOURCE = {"type": "object", "properties": {"name": {"type": "string"}, "url": {"type": "string"}}}
SCHEMA = {
    "type": "object",
    "required": ["diagnostics"],
    "properties": {
        "source": SOURCE,
        "severity": SEVERITY,
        "diagnostics": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["message", "location"],
                "additionalProperties": False,
                "properties": {
                    "message": {"type": "string", "minLength": 1},
                    "location": {
                        "type": "object",
                        "required": ["path"],
                        "additionalProperties": False,
                        "properties": {
                            "path": {"type": "string", "minLength": 1},
                            "range": {
                                "type": "object",
                                "required": ["start"],
                                "additionalProperties": False,
                                "properties": {"start": POSITION, "end": POSITION},
                            },
                        },
                    },
                    "severity": SEVERITY,
                    "source": SOURCE,
                    "code": {
                        "type": "object",
                        "additionalProperties": False,
                        "properties": {"value": {"type": "string"}, "url": {"type": "string"}},
                    },
                },
            },
        },
    },
}
"""What DiagnosticResult.json of reviewdog says of the fields we write, and stricter: no others, and the needed ones."""


def diagnostics(reported: Reported) -> list[dict[str, Any]]:
    document = json.loads(written("rdjson", reported))
    jsonschema.validate(document, SCHEMA)
    found = document["diagnostics"]
    assert isinstance(found, list)
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_obeys_the_schema(shape: str, language: str) -> None:
    diagnostics(of(shape, language))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_any_report_obeys_the_schema(reported: Reported) -> None:
    for diagnostic in diagnostics(reported):
        assert diagnostic["code"].get("url", "https://").startswith(("https://", "http://"))


def test_a_finding_has_its_line_its_rule_and_where_to_read_more() -> None:
    first = SHAPES["rich"].findings[0]
    found = diagnostics(of("rich", locations={first.fingerprint: Location("train.py", 3)}))
    assert found[0]["location"] == {"path": "train.py", "range": {"start": {"line": 3}}}
    assert found[0]["severity"] == "ERROR"
    assert found[0]["code"]["value"] == first.rule
    assert found[0]["code"]["url"].startswith("https://www.hiascend.com/")
    assert "range" not in found[1]["location"]


def test_nothing_checked_is_a_warning() -> None:
    (diagnostic,) = diagnostics(of("blind"))
    assert diagnostic["severity"] == "WARNING"
    assert "does not mean that all is well" in diagnostic["message"]
