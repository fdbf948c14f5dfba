# SPDX-License-Identifier: Apache-2.0
"""JSON Lines and CSV."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from advisor.model.findings import Saving
from advisor.report.csv_tables import harmless_cell
from advisor.report.formats.results import RULE
from advisor.report.output_formats import Reported
from advisor.report.sources import Location
from tests.report.formats.formats_samples import MORE_HOSTILE, compared, judged, of, reports, written
from tests.report.report_samples import HOSTILE, SHAPES


def objects(reported: Reported) -> list[dict[str, Any]]:
    text = written("jsonl", reported)
    # every reader's idea of a line: that of Python is the widest
    lines = text.splitlines()
    assert lines == text.split("\n")[:-1]
    return [json.loads(line) for line in lines]


def rows(reported: Reported) -> list[dict[str, str]]:
    text = written("csv", reported)
    assert text.startswith("\ufeffrule,")
    return list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline="")))


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_each_line_is_one_object_with_the_same_fields_as_others_of_its_type(reported: Reported) -> None:
    found = objects(reported)
    assert [line["type"] for line in found].count("run") == 1
    kinds = {line["type"] for line in found}
    assert kinds <= {"run", "finding", "skipped", "failed"}
    for kind in kinds:
        assert len({tuple(line) for line in found if line["type"] == kind}) == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_its_findings_in_lines_and_rows(shape: str, language: str) -> None:
    reported, count = of(shape, language), len(SHAPES[shape].findings)
    assert sum(line["type"] == "finding" for line in objects(reported)) == count
    assert sum(row["rule"] != RULE for row in rows(reported)) == count


def test_nothing_checked_is_a_row_and_no_silence() -> None:
    (row,) = rows(of("blind"))
    assert "does not mean that all is well" in row["title"]
    assert rows(of("fine")) == []
    assert [line["type"] for line in objects(of("blind"))] == ["run", "skipped"]


def test_what_could_not_look_has_a_line() -> None:
    blind = {line["rule"] for line in objects(of("fine but half blind")) if line["type"] in ("skipped", "failed")}
    assert blind == {"compute/top-operators", "compute/dynamic-shapes", "memory/churn", "io/data-loader"}


def test_numbers_and_names_are_those_of_the_diagnosis() -> None:
    diagnosis = SHAPES["rich"]
    found = [line for line in objects(of("rich")) if line["type"] == "finding"]
    for line, finding in zip(found, diagnosis.findings, strict=True):
        assert line["fingerprint"] == finding.fingerprint
        assert line["saving_us"] == (finding.saving.us or None)
        assert line["subject"] == finding.subject


def test_a_saving_that_was_not_estimated_is_missing_and_not_zero() -> None:
    first, second, *_ = SHAPES["rich"].findings
    savings = (Saving(), Saving(us=90.0), second.saving)
    findings = [first.model_copy(update={"saving": saving, "fingerprint": str(saving.us)}) for saving in savings]
    reported = Reported(SHAPES["rich"].model_copy(update={"findings": tuple(findings)}), "en")
    found = [line for line in objects(reported) if line["type"] == "finding"]
    for line, row, saving in zip(found, rows(reported), savings, strict=True):
        assert (line["saving_us"] is None, line["saving_share"] is None) == (saving.us == 0, saving.share == 0)
        assert (row["saving_us"] == "", row["saving_share"] == "") == (saving.us == 0, saving.share == 0)


def test_an_upper_bound_is_told_from_an_estimate_and_from_what_is_not_estimated() -> None:
    first = SHAPES["rich"].findings[0].model_copy(update={"restated": None})
    told = ((Saving(us=90.0), True, True), (Saving(us=90.0), False, False), (Saving(), False, None))
    findings = [
        first.model_copy(update={"saving": saving, "at_most": bound, "fingerprint": str(number)})
        for number, (saving, bound, _) in enumerate(told)
    ]
    reported = Reported(SHAPES["rich"].model_copy(update={"findings": tuple(findings)}), "en")
    found = [line for line in objects(reported) if line["type"] == "finding"]
    results = json.loads(written("sarif", reported))["runs"][0]["results"]
    for line, row, result, (_, _, wanted) in zip(found, rows(reported), results, told, strict=True):
        assert line["saving_at_most"] is wanted
        assert row["saving_at_most"] == {None: "", True: "true", False: "false"}[wanted]
        assert result["properties"]["savingAtMost"] is wanted


def test_baseline_and_policy_are_columns() -> None:
    diagnosis = SHAPES["rich"]
    first = diagnosis.findings[0].fingerprint
    found = rows(
        of(
            "rich",
            comparison=compared(diagnosis),
            verdict=judged(diagnosis),
            locations={first: Location("train.py", 3)},
        )
    )
    assert (found[0]["status"], found[0]["level"], found[0]["file"], found[0]["line"]) == (
        "new",
        "error",
        "train.py",
        "3",
    )
    assert [row["suppressed"] != "" for row in found[:3]] == [False, False, True]


hostile = st.one_of(st.sampled_from((*HOSTILE, *MORE_HOSTILE)), st.text())


@settings(max_examples=60)
@example("=1+1")
@example(" =1+1")
@example("＝1+1")
@given(hostile)
def test_no_text_is_taken_for_a_formula(name: str) -> None:
    cell = harmless_cell(name)
    assert isinstance(cell, str)
    assert not cell.lstrip().startswith(("=", "+", "-", "@", "＝", "＋", "－", "＠"))
    assert cell.removeprefix("'") == name.removeprefix("'")


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(reports())
def test_no_cell_of_any_report_is_taken_for_a_formula(reported: Reported) -> None:
    for row in rows(reported):
        assert all(not cell.lstrip().startswith(("=", "+", "@")) for cell in row.values())
        assert not row["title"].startswith("-")


def test_numbers_stay_numbers() -> None:
    assert harmless_cell(-1.5) == -1.5
