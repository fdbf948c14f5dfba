# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.steps.overlap import overlaps
from advisor.analysis.steps.step_courses import SLICES, step_courses
from advisor.facts import read_table
from advisor.facts.derived import Dispatch, Overlap, StepCourse
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from advisor.pipeline import open_profile

WORK = st.lists(st.tuples(st.integers(0, 4_000_000), st.integers(0, 900_000)), min_size=1, max_size=12)


def kernels_of(work: list[tuple[int, int]], *, rank: int = 0, step: int = 1) -> Table[Kernel]:
    start, duration = np.array(work, np.int64).reshape(-1, 2).T
    return Table.build(Kernel, rank=rank, step=step, start_ns=start, duration_us=duration / 1e3, op_name="Add_1")


def collectives_of(work: list[tuple[int, int]], *, rank: int = 0, step: int = 1) -> Table[Collective]:
    start, elapse = np.array(work, np.int64).reshape(-1, 2).T
    return Table.build(Collective, rank=rank, step=step, start_ns=start, elapse_us=elapse / 1e3)


def course(kernels: Table[Kernel], collectives: Table[Collective] | None = None, **more: object) -> Table[StepCourse]:
    needs = {"tasks": None, "windows": None, "split": None, "links": None}
    return step_courses(kernels, collectives=collectives, **needs | more)  # type: ignore[arg-type]


def sums(found: Table[StepCourse]) -> list[float]:
    return [float(found[name].sum()) for name in ("compute_us", "exposed_comm_us", "free_us")]


@given(WORK, WORK)
def test_the_slices_of_a_step_add_up_to_its_split(computed: list[tuple[int, int]], sent: list[tuple[int, int]]) -> None:
    kernels, collectives = kernels_of(computed), collectives_of(sent)
    found = course(kernels, collectives)
    split = overlaps(
        run_of_ranks(Run()), kernels=kernels, collectives=collectives, tasks=None, windows=None, recorded=None
    )
    if split["span_us"][0] * 1e3 < SLICES:
        assert not len(found)
        return
    assert sums(found) == pytest.approx(
        [float(split[name][0]) for name in ("compute_us", "exposed_comm_us", "free_us")]
    )
    assert found["to_us"][-1] == pytest.approx(split["span_us"][0])


@given(WORK, WORK)
def test_slices_touch_and_hold_no_more_than_their_length(
    computed: list[tuple[int, int]], sent: list[tuple[int, int]]
) -> None:
    found = course(kernels_of(computed), collectives_of(sent))
    assert len(found) in (0, SLICES)
    assert (found["from_us"][1:] == found["to_us"][:-1]).all()
    parts = [found[name] for name in ("compute_us", "exposed_comm_us", "free_us")]
    assert all((part >= -1e-9).all() for part in parts)
    assert np.allclose(sum(parts), found["to_us"] - found["from_us"])


def steps_lasting(*us: int) -> Table[Kernel]:
    """Steps one after another, each with a kernel as long as it."""
    begin = np.cumsum([0, *us[:-1]]) * 1000 + np.arange(len(us)) * 10
    return Table.build(
        Kernel, rank=0, step=np.arange(len(us)), start_ns=begin, duration_us=np.array(us, float), op_name="Add_1"
    )


def test_of_a_rank_the_step_in_the_middle_and_the_longest_are_kept() -> None:
    found = course(steps_lasting(100, 500, 100, 100, 100))
    assert sorted(set(found["step"].tolist())) == [1, 2]
    assert set(course(steps_lasting(100, 100, 500, 100, 100))["step"].tolist()) == {2}


def test_a_step_whose_list_of_kernels_lacks_rows_is_not_drawn() -> None:
    split = read_table(Overlap, "rank step source listed_us\n0 0 intervals 9\n0 1 incomplete 9\n0 2 incomplete 9")
    assert set(course(steps_lasting(100, 100, 100), split=split)["step"].tolist()) == {0}
    gone = split.take(np.array([1, 2]))
    with pytest.raises(FactMissing):
        course(steps_lasting(100, 100, 100).take(np.array([1, 2])), split=gone)


def test_a_step_shorter_than_its_slices_has_no_course() -> None:
    assert not len(course(kernels_of([(0, SLICES - 1)])))


def test_a_slice_says_how_long_before_its_start_the_work_in_it_was_launched() -> None:
    links = Table.build(
        Dispatch,
        rank=np.array([0, 0, 0, 0, 1]),
        step=np.array([1, 1, 1, 2, 1]),
        start_ns=np.array([0, 1, 119_999, 0, 0], np.int64),
        latency_us=np.array([5.0, 7.0, 30.0, 900.0, 900.0]),
    )
    found = course(kernels_of([(0, 120_000)]), links=links)
    assert found["lead_us"][0] == 6.0
    assert found["lead_us"][-1] == 30.0
    assert np.isnan(found["lead_us"][1:-1]).all()


def test_a_capture_has_a_course_of_each_rank() -> None:
    profile = open_profile(Path(__file__).parents[3] / "corpus" / "host-bound-2-ranks")
    found, split = profile.table(StepCourse), profile.table(Overlap)
    for rank in (0, 1):
        own = found.take(found["rank"] == rank)
        for step in set(own["step"].tolist()):
            row = split.take((split["rank"] == rank) & (split["step"] == step))
            drawn = own.take(own["step"] == step)
            assert sums(drawn) == pytest.approx(
                [float(row[name][0]) for name in ("compute_us", "exposed_comm_us", "free_us")]
            )
            assert np.isfinite(drawn["lead_us"]).any()
