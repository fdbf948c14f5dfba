# SPDX-License-Identifier: Apache-2.0
"""Kernels that last longer than they can are one mistake, told once."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest

import advisor
from advisor.engine.implausible_times import CONTRADICTED, without_implausible
from advisor.model.findings import Confidence, Evidence, Finding, Outcome, Place, Saving, Severity
from tests.shared_captures import SharedCaptures

NEEDED = {"compute/a": ("kernels",), "comm/b": ("collectives",), "host/c": ("host_calls",), CONTRADICTED: ("kernels",)}
OUTCOMES = tuple(Outcome(rule=rule, outcome="fired") for rule in NEEDED)


def finding(rule: str, *ranks: int, doubted_by: tuple[str, ...] = ("doubt",), symptom: bool = False) -> Finding:
    return Finding(
        rule=rule,
        fingerprint=f"{rule}{ranks}",
        subject={},
        severity=Severity.low,
        confidence=Confidence.low,
        seen=tuple(Place(rank=rank) for rank in ranks),
        doubted_by=doubted_by,
        restated=Saving(us=1.0, share=0.1) if symptom else None,
    )


def doubt(found_us: float, said_us: float, severity: Severity = Severity.medium) -> Finding:
    evidence = (
        Evidence(name="found_compute_us", value=found_us),
        Evidence(name="said_compute_us", value=said_us),
    )
    made = finding(CONTRADICTED, 0, doubted_by=())
    return made.model_copy(update={"fingerprint": "doubt", "severity": severity, "evidence": evidence})


def left(*findings: Finding) -> list[str]:
    return [one.rule for one in without_implausible(findings, OUTCOMES, NEEDED)[0]]


def test_what_rests_on_kernels_that_last_too_long_is_not_told_and_was_not_checked():
    found = (finding("compute/a", 0), finding("comm/b", 0), finding("host/c", 0), doubt(9000.0, 9.0))
    kept, outcomes = without_implausible(found, OUTCOMES, NEEDED)
    assert [one.rule for one in kept] == ["host/c", CONTRADICTED]
    assert {one.rule: one.outcome for one in outcomes} == {
        "compute/a": "skipped", "comm/b": "skipped", "host/c": "fired", CONTRADICTED: "fired",
    }  # fmt: skip
    assert all(one.reason is not None for one in outcomes if one.outcome == "skipped")


def test_more_than_twice_what_the_profiler_summed_up_is_too_long():
    assert left(finding("compute/a", 0), doubt(18.1, 9.0)) == [CONTRADICTED]


def test_symptoms_and_what_other_ranks_show_stay():
    assert left(finding("compute/a", 0, symptom=True), doubt(9000.0, 9.0)) == ["compute/a", CONTRADICTED]
    assert left(finding("compute/a", 0, 1), doubt(9000.0, 9.0)) == ["compute/a", CONTRADICTED]
    assert left(finding("compute/a", 0, doubted_by=()), doubt(9000.0, 9.0)) == ["compute/a", CONTRADICTED]


@pytest.mark.parametrize(
    "told",
    [doubt(9.0, 9000.0), doubt(18.0, 9.0), doubt(9000.0, 9.0, Severity.low)],
    ids=("less", "not twice", "slight"),
)
def test_rows_that_are_gone_and_small_differences_are_no_such_mistake(told: Finding):
    assert left(finding("compute/a", 0), told) == ["compute/a", CONTRADICTED]


def test_durations_in_another_unit_are_told_once_and_not_by_every_rule(shared: SharedCaptures, tmp_path: Path):
    folder = Path(shutil.copytree(shared.written("healthy-light", small=True, export="text"), tmp_path / "job"))
    for path in folder.rglob("kernel_details.csv"):
        with path.open(newline="") as file:
            rows = list(csv.reader(file))
        at = rows[0].index("Duration(us)")
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(
                [rows[0], *([*row[:at], str(float(row[at]) * 1000), *row[at + 1 :]] for row in rows[1:])]
            )
    found = advisor.diagnose(folder)
    assert [one.rule for one in found.findings if one.rule == CONTRADICTED]
    assert not [one.rule for one in found.findings if one.rule.startswith("compute/") and one.saving.us > 0]
