# SPDX-License-Identifier: Apache-2.0
"""Sums of steps that cannot be times of steps are left out and told, and a step that stands twice counts once."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.facts.observed import StepTime
from advisor.facts.table import Table
from advisor.sources.files.damage_notes import Notes
from advisor.sources.shared.step_sums import usable_step_times

Row = tuple[int, int, float]


def step_times(rows: list[Row]) -> Table[StepTime]:
    return Table.build(
        StepTime,
        rank=[rank for rank, *_ in rows],
        step=[step for _, step, _ in rows],
        compute_us=[us for *_, us in rows],
        exposed_comm_us=[us / 2 for *_, us in rows],
        free_us=[us / 4 for *_, us in rows],
    )


def left(rows: list[Row]) -> tuple[list[Row], list[str]]:
    notes = Notes()
    found = usable_step_times(step_times(rows), notes, "step_trace_time.csv", "Communication(Not Overlapped)")
    kept = zip(found["rank"].tolist(), found["step"].tolist(), found["compute_us"].tolist(), strict=True)
    return list(kept), [note.what.code for note in notes.all()]


STEPS = st.dictionaries(
    st.tuples(st.integers(0, 20), st.integers(-1, 3)), st.floats(100.0, 900.0), min_size=1, max_size=30
).map(lambda found: [(rank, step, us) for (rank, step), us in found.items()])


@given(STEPS, st.randoms(use_true_random=False))
def test_steps_that_can_be_stay_as_they_are_and_one_that_stands_twice_counts_once(rows, random):
    assert left(rows) == (rows, [])
    again = rows + random.choices(rows, k=3)
    assert left(again) == (rows, ["step_rows_repeated"])


@pytest.mark.parametrize("us", [0.0, 0.4, 1e6, 1e14])
def test_a_step_that_no_other_rank_went_through_is_left_out(us: float) -> None:
    others = [(rank, 2, 500.0 + rank) for rank in range(4)]
    assert left([*others, (4, 2, us)]) == (others, ["step_times_impossible"])


def test_a_step_of_years_is_left_out_on_a_single_rank_too_and_a_short_one_is_not() -> None:
    assert left([(0, 1, 1e14), (0, 2, 300.0), (0, 3, 0.0)]) == ([(0, 2, 300.0), (0, 3, 0.0)], ["step_times_impossible"])


@pytest.mark.parametrize(
    ("told", "whole", "exposed", "said"),
    [
        ((100.0, 80.0, 20.0), 100.0, 80.0, []),
        ((None, 80.0, 20.0), 100.0, 80.0, []),
        ((100.0, None, 20.0), 100.0, 80.0, []),
        ((100.0, 80.0, None), 100.0, 80.0, []),
        ((10.0, None, 20.0), None, 0.0, ["communication_contradicted"]),
        ((1.0, 80.0, 20.0), None, 80.0, ["communication_contradicted"]),
        ((1.0, 80.0, None), None, 80.0, ["communication_contradicted"]),
        ((100.4, 80.0, 20.0), 100.4, 80.0, []),
        ((None, None, 20.0), None, None, ["lacks_column"]),
        ((100.0, None, None), 100.0, None, ["lacks_column"]),
    ],
)
def test_communication_is_the_sum_of_its_parts(
    told: tuple[float | None, ...], whole: float | None, exposed: float | None, said: list[str]
) -> None:
    names, notes = ("comm_us", "exposed_comm_us", "overlapped_us"), Notes()
    cells = {name: [np.nan if us is None else us] for name, us in zip(names, told, strict=True)}
    table = Table.build(StepTime, rank=[0], step=[1], compute_us=[300.0], free_us=[50.0], **cells)
    (row,) = usable_step_times(table, notes, "step_trace_time.csv", "Communication(Not Overlapped)").rows()
    assert (row["comm_us"], row["exposed_comm_us"]) == (whole, exposed)
    assert [note.what.code for note in notes.all()] == said


def test_steps_of_which_some_lack_the_communication_that_nothing_overlaps_are_told() -> None:
    notes = Notes()
    table = Table.build(
        StepTime, rank=[0, 0], step=[1, 2], compute_us=300.0, free_us=50.0, exposed_comm_us=[np.nan, 80.0]
    )
    usable_step_times(table, notes, "step_trace_time.csv", "Communication(Not Overlapped)")
    (note,) = notes.all()
    assert (note.what.code, note.rows, note.share) == ("no_usable_number", 1, 0.5)


@pytest.mark.parametrize(
    ("changed", "value"), [("Communication", None), ("Communication", "1"), ("Communication(Not Overlapped)", None)]
)
def test_a_real_summary_without_a_part_of_communication_makes_no_new_finding(
    changed: str, value: str | None, real_data: Path, tmp_path: Path
) -> None:
    whole = real_data / "msinsight_server_testdata" / "cluster_analysis_output"
    shutil.copytree(whole, tmp_path / "cluster_analysis_output")
    path = tmp_path / "cluster_analysis_output" / "cluster_step_trace_time.csv"
    path.chmod(0o644)
    rows = list(csv.DictReader(path.open(encoding="utf-8", newline="")))
    kept = [{name: cell for name, cell in row.items() if name != changed} for row in rows]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys() if value else kept[0].keys())
        writer.writeheader()
        writer.writerows({**row, changed: value} for row in kept) if value else writer.writerows(kept)
    before, after = advisor.diagnose(whole), advisor.diagnose(tmp_path / "cluster_analysis_output")
    assert after.run.step_us == before.run.step_us
    assert {one.rule for one in after.findings} <= {one.rule for one in before.findings} | {"capture/damaged-input"}


def test_of_rows_that_contradict_each_other_none_counts() -> None:
    assert left([(0, 1, 300.0), (1, 1, 310.0), (0, 1, 900.0)]) == ([(1, 1, 310.0)], ["step_rows_disagree"])


def test_a_giant_in_a_real_summary_changes_no_average(real_data: Path, tmp_path: Path) -> None:
    whole = real_data / "msinsight_server_testdata" / "cluster_analysis_output"
    shutil.copytree(whole, tmp_path / "cluster_analysis_output")
    path = tmp_path / "cluster_analysis_output" / "cluster_step_trace_time.csv"
    path.chmod(0o644)
    rows = list(csv.DictReader(path.open(encoding="utf-8", newline="")))
    rows[2]["Computing"] = "99999999999999"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    before, after = advisor.diagnose(whole), advisor.diagnose(tmp_path / "cluster_analysis_output")
    assert after.run.step_us == pytest.approx(before.run.step_us, rel=0.05)
    assert [one.file for one in after.unread] == ["cluster_step_trace_time.csv"]
