# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from advisor.messages.errors import InputError
from advisor.model.findings import CodeLine, Diagnosis
from advisor.report.formats import sarif
from advisor.report.output_formats import Reported
from advisor.report.sources import Location
from tests.report.formats.formats_samples import compared, judged, of, reports, sarif_validator, written
from tests.report.report_samples import SHAPES
from tests.shared_captures import SharedCaptures


def checked(reported: Reported) -> dict[str, Any]:
    """The one run of the SARIF, after validation."""
    document = json.loads(written("sarif", reported))
    sarif_validator().validate(document)
    (run,) = document["runs"]
    assert isinstance(run, dict)
    return run


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_obeys_the_schema(shape: str, language: str) -> None:
    diagnosis = SHAPES[shape]
    checked(of(shape, language))
    checked(of(shape, language, comparison=compared(diagnosis), verdict=judged(diagnosis)))


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_any_report_obeys_the_schema_and_every_result_finds_its_rule(reported: Reported) -> None:
    run = checked(reported)
    rules = run["tool"]["driver"]["rules"]
    assert len({rule["id"] for rule in rules}) == len(rules)
    for result in run["results"]:
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["message"]["text"]
        assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]


def captures() -> list[Path]:
    """The real captures: every folder with one, and every cluster summary."""
    top = os.environ.get("ADVISOR_REAL_DATA")
    if not top:
        return []
    inside = [
        path.parent for name in ("ASCEND_PROFILER_OUTPUT", "cluster_analysis_output") for path in Path(top).rglob(name)
    ]
    return sorted({path.parent if path.name.endswith("_ascend_pt") else path for path in inside})


@pytest.mark.parametrize("path", captures() or [None], ids=str)
def test_the_sarif_of_every_real_capture_obeys_the_schema(path: Path | None, shared: SharedCaptures) -> None:
    if path is None:
        pytest.skip("ADVISOR_REAL_DATA names no folder of real captures")
    try:
        diagnosis = shared.diagnosis(path)
    except InputError:
        pytest.skip("nothing readable")
    run = checked(Reported(diagnosis, "zh"))
    assert len(run["results"]) == len(diagnosis.findings)


def test_a_finding_is_known_by_its_fingerprint_and_leaves_githubs_own_key_alone() -> None:
    run = checked(of("rich"))
    for result, finding in zip(run["results"], SHAPES["rich"].findings, strict=True):
        assert result["partialFingerprints"] == {"advisorFinding/v1": finding.fingerprint}


def test_severity_becomes_level_where_no_policy_speaks() -> None:
    levels = {result["properties"]["severity"]: result["level"] for result in checked(of("rich"))["results"]}
    assert levels == {"critical": "error", "high": "error", "medium": "warning", "low": "note", "info": "note"}


def test_the_policy_decides_the_level_and_what_is_off_is_left_out() -> None:
    diagnosis = SHAPES["rich"]
    results = checked(of("rich", verdict=judged(diagnosis)))["results"]
    kept = [f.fingerprint for i, f in enumerate(diagnosis.findings) if i % 4 != 2]
    assert [result["partialFingerprints"]["advisorFinding/v1"] for result in results] == kept
    assert [result["level"] for result in results[:3]] == ["error", "warning", "error"]
    assert [bool(result.get("suppressions")) for result in results[:3]] == [False, False, True]
    (suppression,) = results[2]["suppressions"]
    assert (suppression["kind"], suppression["status"]) == ("external", "accepted")
    assert "perf team" in suppression["justification"]
    assert "2030-01-31" in suppression["justification"]


def test_where_no_setting_decided_a_remark_stays_a_remark_and_nothing_is_an_error() -> None:
    verdict = judged(SHAPES["rich"])
    undecided = tuple(ruling.model_copy(update={"action": "warn", "by": ""}) for ruling in verdict.rulings)
    results = checked(of("rich", verdict=verdict.model_copy(update={"rulings": undecided})))["results"]
    levels = {result["properties"]["severity"]: result["level"] for result in results}
    assert levels == {"critical": "warning", "high": "warning", "medium": "warning", "low": "note", "info": "note"}


def test_the_comparison_becomes_the_state_and_what_is_gone_is_no_result() -> None:
    results = checked(of("rich", comparison=compared(SHAPES["rich"])))["results"]
    assert [result.get("baselineState") for result in results[:6]] == [
        "new",
        "updated",
        "unchanged",
        "updated",
        None,
        None,
    ]
    assert "feedfeedfeedfeed" not in json.dumps(results)


def test_without_a_line_a_finding_is_located_at_the_capture_and_the_file_says_so() -> None:
    def notes(run: dict[str, Any]) -> list[str]:
        return [note["message"]["text"] for note in run["invocations"][0]["toolExecutionNotifications"]]

    run = checked(of("rich"))
    assert any("--anchor" in note for note in notes(run))
    for result in run["results"]:  # one without a location, and GitHub takes none of them
        (location,) = result["locations"]
        assert location["physicalLocation"]["artifactLocation"]["uri"] == "resnet50%20%3Cb%3E%7C%60%20%40all"
    placed = {finding.fingerprint: Location("train.py", 7) for finding in SHAPES["rich"].findings}
    assert not any("--anchor" in note for note in notes(checked(of("rich", locations=placed))))


def test_a_location_has_all_that_github_demands() -> None:
    first = SHAPES["rich"].findings[0]
    diagnosis = SHAPES["rich"].model_copy(
        update={
            "findings": (first.model_copy(update={"source": CodeLine(file="/x/a b.py", line=88, function="step")}),)
        }
    )
    run = checked(Reported(diagnosis, "en", locations={first.fingerprint: Location("src/a b.py", 88, recorded=True)}))
    (location,) = run["results"][0]["locations"]
    assert location["physicalLocation"] == {
        "artifactLocation": {"uri": "src/a%20b.py"},
        "region": {"startLine": 88, "startColumn": 1, "endLine": 88, "endColumn": 1},
    }
    assert location["logicalLocations"] == [{"name": "step", "kind": "function"}]
    assert "src/a b.py:88 (step)" in run["results"][0]["message"]["text"]


def test_what_could_not_look_and_what_could_not_be_read_is_told() -> None:
    notes = checked(of("rich"))["invocations"][0]["toolExecutionNotifications"]
    rules = {note["associatedRule"]["id"]: note["level"] for note in notes if "associatedRule" in note}
    assert rules["io/data-loader"] == "error"
    assert rules["memory/churn"] == "note"
    assert sum(note["level"] == "warning" for note in notes) == len(SHAPES["rich"].unread)


def test_suppressions_that_hold_no_longer_or_meet_nothing_are_told() -> None:
    notes = checked(of("rich", verdict=judged(SHAPES["rich"])))["invocations"][0]["toolConfigurationNotifications"]
    assert [note["level"] for note in notes] == ["warning", "note"]
    assert "2020-02-29" in notes[0]["message"]["text"]


def test_limits_of_github_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of its own, which a report reaches sooner."""
    assert sarif.MOST_RESULTS == 5_000
    monkeypatch.setattr(sarif, "MOST_RESULTS", 50)
    (finding, *_) = SHAPES["rich"].findings
    many = tuple(finding.model_copy(update={"fingerprint": f"{i:016x}"}) for i in range(53))
    run = checked(Reported(SHAPES["rich"].model_copy(update={"findings": many}), "en"))
    assert len(run["results"]) == 50
    assert any(
        "3 findings are left out" in note["message"]["text"]
        for note in run["invocations"][0]["toolExecutionNotifications"]
    )
    for rule in run["tool"]["driver"]["rules"]:
        assert len(rule["shortDescription"]["text"]) <= 1024
        assert len(rule["fullDescription"]["text"]) <= 1024
        assert len(rule["name"]) <= 255
        assert len(rule["properties"]["tags"]) <= 10
        assert rule["help"]["text"]


def test_no_message_holds_a_link_or_a_placeholder_from_a_profile() -> None:
    for result in checked(of("rich"))["results"]:
        said = result["message"]["text"]
        assert "](" not in said
        assert "{" not in said.replace("{{", "")


def test_the_help_of_a_rule_shows_commands_as_they_are() -> None:
    helps = {rule["id"]: rule["help"] for rule in checked(of("rich"))["tool"]["driver"]["rules"]}
    assert 'export HCCL_ALGO="level0:NA;level1:H-D_R"' in helps["comm/exposed-communication"]["markdown"]
    assert "- [HCCL](<https://www.hiascend.com/" in helps["comm/exposed-communication"]["markdown"]
    assert "javascript:" not in json.dumps(helps)


def test_of_an_empty_diagnosis_there_is_a_valid_run_without_results() -> None:
    assert checked(Reported(Diagnosis(run=SHAPES["empty"].run), "en"))["results"] == []
