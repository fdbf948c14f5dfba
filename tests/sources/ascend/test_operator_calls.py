# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.sources.ascend.operator_calls import OPERATOR_CALLS, own_time
from tests.sources.traces import captured, of

Call = tuple[int, int, int]
TABLE = (
    "Name,Input Shapes,Call Stack,Host Self Duration(us),Host Total Duration(us),"
    "Device Self Duration(us),Device Total Duration(us)\r\n"
    'aten::add,"2,3;\r\n4","a.py(1): f;\r\nb.py(2): g",1.5,2.5,3,4\r\n'
    'aten::empty,";\r\n;\r\n",,1,1,0,0\r\n'
)


def test_lists_lose_their_line_breaks_and_empty_ones_are_missing(tmp_path: Path) -> None:
    first, second = of(OPERATOR_CALLS.ways["text"], captured(tmp_path, operator_details=TABLE))
    assert (first["input_shapes"], first["call_stack"]) == ("2,3;4", "a.py(1): f;b.py(2): g")
    assert (first["host_self_us"], first["host_total_us"], first["device_self_us"]) == (1.5, 2.5, 3.0)
    assert (second["input_shapes"], second["call_stack"]) == (None, None)


@st.composite
def nested(draw: st.DrawFn) -> list[Call]:
    """Calls of two threads that nest as calls do."""
    found: list[Call] = []

    def inside(thread: int, start: int, end: int, depth: int) -> None:
        cuts = sorted(draw(st.lists(st.integers(start, end), max_size=4, unique=True)))
        for left, right in itertools.pairwise(cuts):
            if depth < 4 and (right - left) < (end - start) and draw(st.booleans()):
                found.append((thread, left, right))
                inside(thread, left, right, depth + 1)

    for thread in (7, 8):
        inside(thread, 0, 60, 0)
    return draw(st.permutations(found))


@settings(max_examples=60)
@given(nested())
def test_own_time_is_total_time_without_the_calls_directly_inside(calls: list[Call]) -> None:
    def within(call: Call, other: Call) -> bool:
        return call != other and call[0] == other[0] and other[1] <= call[1] and call[2] <= other[2]

    def own(call: Call) -> int:
        inner = [other for other in calls if within(other, call)]
        direct = [other for other in inner if not any(within(other, between) for between in inner)]
        return call[2] - call[1] - sum(other[2] - other[1] for other in direct)

    thread, start, end = (np.array([call[i] for call in calls], np.int64) for i in range(3))
    assert own_time(thread, start, end).tolist() == [own(call) for call in calls]


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 30), st.integers(0, 30)), max_size=20))
def test_calls_that_do_not_nest_still_give_a_time_between_nothing_and_all(calls: list[Call]) -> None:
    thread, start, took = (np.array([call[i] for call in calls], np.int64) for i in range(3))
    own = own_time(thread, start, start + took)
    assert ((own >= 0) & (own <= took)).all()
