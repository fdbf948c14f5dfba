# SPDX-License-Identifier: Apache-2.0
"""How device memory was held over the recording."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.chip.memory import SLICES, memory_courses
from advisor.facts import read_table
from advisor.facts.observed import MemoryUse
from advisor.facts.table import Table

USES = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 5000), st.integers(0, 9), st.none() | st.integers(0, 20)), max_size=30
)


def uses_of(rows: list[tuple[int, int, int, int | None]]) -> Table[MemoryUse]:
    rank, time, allocated, reserved = zip(*rows, strict=True) if rows else ((),) * 4
    return Table.build(
        MemoryUse,
        rank=np.array(rank, np.int64),
        component=["PTA"] * len(rows),
        time_ns=np.array(time, np.int64),
        allocated_bytes=np.array(allocated, float),
        reserved_bytes=np.array([np.nan if held is None else held for held in reserved], float),
    )


@given(USES)
def test_a_slice_holds_the_most_of_its_moments_and_what_it_began_with(
    rows: list[tuple[int, int, int, int | None]],
) -> None:
    found = memory_courses(uses_of(rows))
    for rank in {row[0] for row in rows}:
        own = sorted(row[1:3] for row in rows if row[0] == rank)
        begin, end = own[0][0], own[-1][0]
        course = found.take(found["rank"] == rank)
        if end - begin < SLICES:
            assert not len(course)
            continue
        assert course["from_us"][0] == 0
        assert course["to_us"][-1] == (end - begin) / 1e3
        assert course["allocated_bytes"].max() == max(held for _, held in own)
        last = {moment: held for moment, held in own}
        for row in course.rows():
            low, high = begin + row["from_us"] * 1e3, begin + row["to_us"] * 1e3
            inside = [held for moment, held in own if low < moment < high]
            before = [max(h for m, h in own if m == moment) for moment in last if moment <= low]
            assert all(row["allocated_bytes"] >= held for held in inside)
            assert not before or row["allocated_bytes"] <= max(held for _, held in own)


def test_memory_goes_on_being_held_until_it_is_told_anew() -> None:
    table = read_table(
        MemoryUse,
        "rank component time_ns allocated_bytes reserved_bytes\n0 PTA 0 10 100\n0 PTA 6000 2 100\n0 PTA 12000 7 200",
    )
    found = memory_courses(table)
    assert found["allocated_bytes"][:60].tolist() == [10] * 60
    assert found["allocated_bytes"][60] == 10  # it held so much when the slice began
    assert found["allocated_bytes"][61:119].tolist() == [2] * 58
    assert found["allocated_bytes"][119] == 7
    assert found["reserved_bytes"].max() == 200


def test_of_several_components_the_one_that_reserved_most_is_told_of_those_whose_allocations_are_known() -> None:
    table = read_table(
        MemoryUse,
        "rank component time_ns allocated_bytes reserved_bytes\n0 APP 0 - 900\n0 APP 9000 - 900\n"
        "0 PTA 0 10 100\n0 PTA 9000 2 100\n0 PTA+GE 0 10 300\n0 PTA+GE 9000 1 300\n1 APP 0 - 900\n1 APP 9000 - 900",
    )
    found = memory_courses(table)
    named = dict(zip(found["rank"].tolist(), found.texts("component").values(), strict=True))
    assert named == {0: "PTA+GE", 1: "APP"}


def test_a_moment_that_cannot_be_is_none_of_the_recording() -> None:
    table = read_table(
        MemoryUse,
        "rank component time_ns allocated_bytes reserved_bytes\n0 PTA 3 1 1\n0 PTA 1700000000000000000 2 10\n"
        "0 PTA 1700000000000005000 7 20\n0 PTA 1700000000000012000 5 30\n0 PTA 9000000000000000000 900 900",
    )
    found = memory_courses(table)
    assert found["to_us"][-1] == 12
    assert found["allocated_bytes"].max() == 7
    assert found["reserved_bytes"].max() == 30
