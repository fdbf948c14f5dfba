# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.arrays import intervals
from advisor.analysis.host.host import RowMarks, are_of_launching_threads, are_ranges, calls_of, covering_on_any
from tests.analysis.timelines import host_calls


@given(st.lists(st.lists(st.booleans(), min_size=5, max_size=5), max_size=16))
def test_every_row_bears_the_marks_it_was_given(masks: list[list[bool]]) -> None:
    given_marks = {f"mark {number}": np.array(mask) for number, mask in enumerate(masks)}
    marks = RowMarks(5, given_marks.items())
    assert {name: mask.tolist() for name, mask in marks.items()} == {n: m.tolist() for n, m in given_marks.items()}
    assert list(marks) == list(given_marks)


@given(
    st.lists(st.tuples(st.integers(0, 1), st.integers(0, 9), st.integers(0, 9)), max_size=12),
    st.lists(st.lists(st.booleans(), min_size=12, max_size=12), max_size=3),
)
def test_calls_bear_the_marks_of_their_rows(rows: list[tuple[int, int, int]], masks: list[list[bool]]) -> None:
    text = "".join(f"\n{rank} 1 operator name {start} {end}" for rank, start, end in rows)
    table = host_calls("rank thread kind name start_ns end_ns" + text)
    marks = RowMarks(len(rows), ((str(number), np.array(mask[: len(rows)], bool)) for number, mask in enumerate(masks)))
    for rank in (0, 1):
        calls = calls_of(table, rank)
        lasting = [row for row, (of, start, end) in enumerate(rows) if of == rank and end > start]
        assert calls.row.tolist() == sorted(lasting, key=lambda row: rows[row][1])
        for name, found in marks.by_mark(calls).items():
            borne = [row for row in calls.row.tolist() if masks[int(name)][row]]
            assert found.row.tolist() == borne
            assert found.start.tolist() == [rows[row][1] for row in borne]


@given(
    st.lists(st.tuples(st.integers(0, 9), st.integers(1, 9), st.booleans()), max_size=12),
    st.lists(st.integers(0, 20), max_size=8),
)
def test_a_call_holds_the_moments_from_its_begin_to_its_end(
    rows: list[tuple[int, int, bool]], moments: list[int]
) -> None:
    text = "".join(f"\n0 1 operator name {start} {start + length}" for start, length, _ in rows)
    calls = calls_of(host_calls("rank thread kind name start_ns end_ns" + text), 0)
    wanted = np.array([rows[row][2] for row in calls.row.tolist()], bool)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "_ROWS", 5)
        places, first, counts = calls.places_holding(np.array(sorted(moments), np.int64), wanted)
    held = {
        row: [at for at, moment in enumerate(sorted(moments)) if start <= moment <= start + length]
        for row, (start, length, is_wanted) in enumerate(rows)
        if is_wanted
    }
    found = zip(calls.rows_at(places).tolist(), first.tolist(), counts.tolist(), strict=True)
    assert {row: [*range(one, one + count)] for row, one, count in found} == {r: at for r, at in held.items() if at}


@given(
    st.lists(
        st.tuples(
            st.integers(1, 2),
            st.sampled_from(["python", "optimizer", "operator"]),
            st.integers(0, 9),
            st.integers(1, 9),
        ),
        max_size=14,
    )
)
def test_a_range_holds_the_begin_of_another_call_of_its_thread(rows: list[tuple[int, str, int, int]]) -> None:
    text = "".join(f"\n0 {thread} {kind} name {start} {start + length}" for thread, kind, start, length in rows)
    table = host_calls("rank thread kind name start_ns end_ns" + text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "_ROWS", 5)
        found = are_ranges(table, 0)
    for is_range, row in zip(found.tolist(), calls_of(table, 0).row.tolist(), strict=True):
        thread, kind, start, length = rows[row]
        within = [1 for other, _, begun, _ in rows if other == thread and start <= begun < start + length]
        assert is_range == (kind != "operator" and len(within) > 1)


def filling(helper: str) -> str | None:
    """The call that fills a pause of a thread that calls operators, beside a call like this."""
    calls = host_calls(
        "thread kind name start_ns end_ns\n1 operator aten::add 0 10\n1 python train.py(7):_step 0 1000\n" + helper
    )
    (row,) = covering_on_any(calls, calls_of(calls, 0), np.array([200]), np.array([800])).tolist()
    return calls.texts("name").values()[row]


@pytest.mark.parametrize("name", ["<built-in method poll of select.poll object>", "threading.py(320): wait"])
def test_a_helper_thread_that_waits_fills_no_pause(name: str) -> None:
    assert filling(f'2 python "{name}" 100 900') == "train.py(7):_step"


def test_a_helper_thread_that_works_does_and_so_does_what_the_main_thread_waits_in() -> None:
    assert filling('2 python "augment.py(58): _worker" 100 900') == "augment.py(58): _worker"
    assert filling('1 python "queue.py(9): get" 100 900') == "queue.py(9): get"


@given(
    st.lists(
        st.tuples(st.integers(0, 2), st.integers(1, 3), st.sampled_from(["launch", "operator", "api"]), st.booleans()),
        max_size=12,
    )
)
def test_a_thread_that_launches_counts_and_every_thread_where_none_of_its_rank_does(
    rows: list[tuple[int, int, str, bool]],
) -> None:
    text = "".join(f"\n{rank} {thread} {kind} name {at} {at + 1}" for at, (rank, thread, kind, _) in enumerate(rows))
    calls = host_calls("rank thread kind name start_ns end_ns" + text)
    launching = {(rank, thread) for rank, thread, kind, _ in rows if kind == "launch"}
    ranks = {rank for rank, _ in launching}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intervals, "_ROWS", 5)
        found = are_of_launching_threads(calls, np.array([is_marked for *_, is_marked in rows], bool))
    assert found.tolist() == [
        is_marked and ((rank, thread) in launching or rank not in ranks) for rank, thread, _, is_marked in rows
    ]
