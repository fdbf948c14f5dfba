# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from advisor.facts.base import MISSING
from advisor.facts.narrow import CodedColumn, EndColumn, GrowingNarrowColumn, NarrowColumn, SparseColumn

NUMBERS = st.lists(st.integers(MISSING, 2**63 - 1)) | st.lists(st.integers(-3, 300) | st.just(MISSING))


@given(NUMBERS)
@example([])
@example([MISSING])
@example([MISSING + 1, MISSING])
@example([2**63 - 1, MISSING, 2**63 - 1])
@example([7, 7 + 254, MISSING])
@example([7, 7 + 255])
@example([0, 2**32 - 2, MISSING])
@example([0, 2**32 - 1])
def test_numbers_come_back_as_they_were(numbers: list[int]) -> None:
    values = np.array(numbers, np.int64)
    kept = NarrowColumn.of(values)
    assert kept.at(slice(None)).dtype == np.int64
    assert kept.at(slice(None)).tolist() == numbers
    assert kept.at(np.arange(len(numbers))[::-2]).tolist() == numbers[::-2]


@given(st.lists(NUMBERS))
@example([])
@example([[], [MISSING]])
@example([[7], [7 + 2**32 - 2, MISSING]])
@example([[7], [7 + 2**32 - 1, MISSING]])
@example([[0, 2**40], [5, MISSING]])
def test_a_column_filled_by_blocks_is_what_it_would_be_at_once(blocks: list[list[int]]) -> None:
    column, numbers = GrowingNarrowColumn(), [number for block in blocks for number in block]
    for block in blocks:
        column.add(np.array(block, np.int64))
    whole, at_once = column.whole(), NarrowColumn.of(np.array(numbers, np.int64))
    assert whole.at(slice(None)).tolist() == numbers
    assert (whole.cells.dtype, whole.below) == (at_once.cells.dtype, at_once.below)


@given(NUMBERS, st.lists(st.integers(-3, 300) | st.integers(MISSING + 1, 2**63 - 1)))
@example([7, MISSING, 9], [9, 6, 263, 2**40])
def test_rows_are_found_by_their_numbers(numbers: list[int], wanted: list[int]) -> None:
    kept = NarrowColumn.of(np.array(numbers, np.int64))
    assert kept.isin(wanted).tolist() == [number in wanted for number in numbers]


@given(NUMBERS)
@example([])
def test_numbers_are_spread_over_rows(numbers: list[int]) -> None:
    rows = np.arange(len(numbers)) * 2 + 1
    spread = NarrowColumn.spread(np.array(numbers, np.int64), rows, 2 * len(numbers) + 1)
    assert spread.at(rows).tolist() == numbers
    assert (spread.at(rows - 1) == MISSING).all()


def test_rows_are_taken_as_narrow_as_they_are() -> None:
    taken = NarrowColumn.of(np.array([5, MISSING, 9])).take(np.array([2, 1]))
    assert taken.cells.dtype == np.uint8
    assert taken.at(slice(None)).tolist() == [9, MISSING]


def test_numbers_that_lie_close_take_few_bytes() -> None:
    far = 1_700_000_000_000_000_000
    assert NarrowColumn.of(np.array([far, far + 200, MISSING])).cells.dtype == np.uint8
    assert NarrowColumn.of(np.array([far, far + 60_000])).cells.dtype == np.uint16
    assert NarrowColumn.of(np.array([far, far + 4_000_000_000])).cells.dtype == np.uint32
    assert NarrowColumn.of(np.array([far, far + 5_000_000_000])).cells.dtype == np.int64


@given(st.lists(st.floats(width=64) | st.sampled_from([0.0, -0.0, 0.125])))
def test_rounded_floats_come_back_bit_by_bit(values: list[float]) -> None:
    whole = np.array(values, np.float64)
    kept = CodedColumn.of(whole)
    assert kept is not None
    assert kept.at(slice(None)).tobytes() == whole.tobytes()
    assert kept.take(slice(1, None)).at(slice(None)).tobytes() == whole[1:].tobytes()


def test_floats_of_which_too_many_differ_are_not_coded() -> None:
    assert CodedColumn.of(np.arange(1 << 16, dtype=np.float64)) is None


@pytest.mark.parametrize(("further", "coded"), [(3, True), (1 << 16, False)])
def test_floats_that_differ_only_far_behind_the_begin_are_coded_where_they_are_few(further: int, coded: bool) -> None:
    whole = np.append(np.zeros(1 << 17), np.arange(further, dtype=np.float64) + 0.5)
    kept = CodedColumn.of(whole)
    assert (kept is not None) == coded
    assert kept is None or kept.at(slice(None)).tobytes() == whole.tobytes()


@given(st.lists(st.lists(st.integers(-9, 9) | st.just(MISSING))))
def test_narrow_columns_one_after_another_hold_the_same_numbers(parts: list[list[int]]) -> None:
    whole = NarrowColumn.concat([NarrowColumn.of(np.array(part, np.int64)) for part in parts])
    assert whole.at(slice(None)).tolist() == [value for part in parts for value in part]


MOMENTS = st.integers(-(2**62), 2**62) | st.just(MISSING)


@given(st.lists(st.tuples(MOMENTS, st.integers(0, 2**32 - 1)), max_size=20), st.lists(st.integers(0, 19)))
def test_ends_come_back_as_they_were(spans: list[tuple[int, int]], chosen: list[int]) -> None:
    start = np.array([begin for begin, _ in spans], np.int64)
    end = np.array([begin + took for begin, took in spans], np.int64)
    kept = EndColumn.of(start, end)
    if (start == MISSING).any():
        assert kept is None
        return
    assert kept is not None
    rows = np.array([row for row in chosen if row < len(spans)], np.intp)
    assert len(kept) == len(end)
    assert kept[:].tolist() == end.tolist()
    assert kept.take(rows).tolist() == end[rows].tolist()
    assert kept[end > 0].tolist() == end[end > 0].tolist()
    assert kept.part(slice(1, 5))[:].tolist() == end[1:5].tolist()


@pytest.mark.parametrize(("start", "end"), [(5, 4), (5, MISSING), (MISSING, 5), (0, 2**32), (-(2**63) + 1, 2**63 - 1)])
def test_ends_that_do_not_follow_closely_stay_as_they_are(start: int, end: int) -> None:
    assert EndColumn.of(np.array([0, start], np.int64), np.array([1, end], np.int64)) is None


@given(st.lists(st.sampled_from([MISSING, 7, 1000, 40_000]), min_size=1), st.lists(st.integers(0, 50)))
def test_numbers_of_which_few_differ_come_back_as_they_were(numbers: list[int], chosen: list[int]) -> None:
    kept = CodedColumn.of_narrow(NarrowColumn.of(np.array([*numbers, 7, 40_000])))
    assert kept is not None
    assert kept.cells.dtype == np.uint8
    assert kept.at(slice(None)).tolist() == [*numbers, 7, 40_000]
    rows = np.array([row for row in chosen if row < len(numbers)], np.intp)
    assert kept.take(rows).at(slice(None)).tolist() == [numbers[row] for row in rows.tolist()]
    for wanted in ([7], [1000, 5], [MISSING], []):
        assert kept.isin(wanted).tolist() == [one in wanted for one in (*numbers, 7, 40_000)]


def test_numbers_of_which_many_differ_are_not_coded() -> None:
    assert CodedColumn.of_narrow(NarrowColumn.of(np.arange(300))) is None
    assert CodedColumn.of_narrow(NarrowColumn.of(np.array([0, 100_000]))) is None


@given(st.lists(st.sampled_from([MISSING, 5, 70_000]), max_size=4), st.lists(st.integers(0, 23)), st.slices(24))
def test_a_column_that_most_rows_lack_comes_back_as_it_was(
    numbers: list[int], chosen: list[int], between: slice
) -> None:
    whole = np.array([MISSING] * 12 + numbers + [9, 99_999] + [MISSING] * 6)
    kept = SparseColumn.of_narrow(NarrowColumn.of(whole))
    assert kept is not None
    assert len(kept) == len(whole)
    assert kept.at(slice(None)).tolist() == whole.tolist()
    rows = np.array([row for row in chosen if row < len(whole)], np.intp)
    assert kept.at(rows).tolist() == whole[rows].tolist()
    for mask in (whole > 5, np.isin(np.arange(len(whole)), chosen)):
        assert kept.at(mask).tolist() == whole[mask].tolist()
        assert kept.take(mask).cells.dtype == kept.numbers.cells.dtype
    assert kept.at(slice(11, 14)).tolist() == whole[11:14].tolist()
    assert kept.at(between).tolist() == whole[between].tolist()
    assert kept.take(rows).at(slice(None)).tolist() == whole[rows].tolist()
    for wanted in ([5], [9, MISSING], [MISSING], []):
        assert kept.isin(wanted).tolist() == [one in wanted for one in whole.tolist()]


def test_a_column_that_most_rows_have_is_not_kept_sparse() -> None:
    assert SparseColumn.of_narrow(NarrowColumn.of(np.array([1, 2, MISSING, 70_000]))) is None
