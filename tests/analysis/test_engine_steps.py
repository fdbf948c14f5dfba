# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.engine_steps import engine_steps
from advisor.facts import read_table
from advisor.facts.derived import Gap
from advisor.facts.observed import HostCall

MARK = '"execute_context_0(0)_generation_8(8)"'


def steps_of(begins: list[int], gaps: list[tuple[int, float]]) -> list[dict[str, object]]:
    calls = "name start_ns\naten::mm 5\n" + "\n".join(f"{MARK} {at}" for at in begins)
    idle = "start_ns duration_us\n" + "\n".join(f"{start} {us}" for start, us in gaps)
    return engine_steps(read_table(HostCall, calls), read_table(Gap, idle)).rows()


def test_a_step_that_begins_on_an_idle_device_waited_for_its_schedule() -> None:
    (row,) = steps_of([0, 10_000, 20_000, 30_000], [(9_000, 3.0), (19_000, 3.0), (25_000, 1.0), (29_500, 2.0)])
    assert row == {"rank": 0, "steps": 4.0, "apart_us": 10.0, "idle_us": 3.0}


def test_a_step_that_was_scheduled_ahead_waited_for_nothing() -> None:
    (row,) = steps_of([0, 10_000, 20_000], [(15_000, 3.0)])
    assert row["idle_us"] == 0


def test_one_pause_without_requests_is_not_what_is_usual() -> None:
    (row,) = steps_of([0, 10_000, 20_000, 90_000_000], [(21_000, 89_979.0)])
    assert row["idle_us"] == 0


@pytest.mark.parametrize("begins", [[], [7]])
def test_without_marks_nothing_is_said(begins: list[int]) -> None:
    assert steps_of(begins, [(0, 9.0)]) == []


@given(
    st.lists(st.integers(0, 50), min_size=2, max_size=20, unique=True),
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9)), min_size=0, max_size=8),
)
def test_gaps_are_found_as_a_person_would(begins: list[int], pieces: list[tuple[int, int]]) -> None:
    gaps, at = [], 0
    for pause, length in pieces:
        gaps.append((at + pause, length))
        at += pause + length
    ordered = sorted(begins)
    here = [next((length for start, length in gaps if start <= one < start + length), 0) for one in ordered[1:]]
    (row,) = steps_of([one * 1000 for one in begins], [(start * 1000, float(length)) for start, length in gaps])
    assert row["idle_us"] == median(here)
