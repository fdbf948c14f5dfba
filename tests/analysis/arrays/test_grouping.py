# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.arrays.grouping import group_by, row_at, row_at_or_near, row_of_key
from advisor.facts.base import MISSING
from advisor.facts.table import Texts, values_at

VALUES = st.one_of(st.just(math.nan), st.integers(-5, 20).map(float))
ROWS = st.lists(
    st.tuples(st.sampled_from([MISSING, 0, 3, 2**60]), st.sampled_from([None, "a", "b"]), VALUES), max_size=12
)


def by_key(rows):
    found = {}
    for at, (number, text, value) in enumerate(rows):
        found.setdefault((number, text), []).append((at, value))
    return found


def split(rows):
    numbers = np.array([r[0] for r in rows], np.int64)
    return group_by(numbers, Texts.of([r[1] for r in rows])), np.array([r[2] for r in rows], np.float64)


def same(found, expected):
    return all((math.isnan(f) and math.isnan(e)) or f == pytest.approx(e) for f, e in zip(found, expected, strict=True))


@given(ROWS)
def test_rows_share_a_group_exactly_when_their_keys_are_equal(rows):
    groups, _ = split(rows)
    assert len(groups) == len(by_key(rows))
    for members in by_key(rows).values():
        assert len({int(groups.of[at]) for at, _ in members}) == 1


@given(ROWS)
def test_the_first_row_of_a_group_is_the_first_of_its_key_however_many_are_numbered_at_a_time(rows):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("advisor.facts.table._KEYS_AT_ONCE", 5)
        groups, _ = split(rows)
    assert sorted(groups.first.tolist()) == sorted(members[0][0] for members in by_key(rows).values())


@given(st.lists(st.tuples(st.integers(0, 2), st.sampled_from([0.0, 0.5, 1e30, math.inf, -math.inf, math.nan]))))
def test_keys_may_be_any_numbers(rows: list[tuple[int, float]]) -> None:
    of = group_by(np.array([rank for rank, _ in rows], np.int64), np.array([size for _, size in rows], np.float64)).of
    assert [[one == other for other in of] for one in of] == [[repr(a) == repr(b) for b in rows] for a in rows]


@given(ROWS)
def test_sums_extremes_and_medians_leave_missing_values_out(rows):
    groups, values = split(rows)
    order = [(rows[i][0], rows[i][1]) for i in groups.first.tolist()]
    lists = [[v for _, v in by_key(rows)[key] if not math.isnan(v)] for key in order]
    assert same(groups.sums(values), [sum(v) for v in lists])
    assert same(groups.means(values), [statistics.fmean(v) if v else math.nan for v in lists])
    assert same(groups.largest(values), [max(v, default=math.nan) for v in lists])
    assert same(groups.smallest(values), [min(v, default=math.nan) for v in lists])
    assert same(groups.medians(values), [statistics.median(v) if v else math.nan for v in lists])
    assert same(groups.quantiles(values, 0.25), [np.quantile(v, 0.25) if v else math.nan for v in lists])


@given(ROWS)
def test_rows_come_by_group_then_by_key_and_where_all_are_equal_as_they_are(rows):
    groups, values = split(rows)
    keys = np.nan_to_num(values)
    expected = sorted(range(len(rows)), key=lambda at: (groups.of[at], keys[at]))
    assert groups.in_order(keys).tolist() == expected
    firsts = {int(groups.of[at]): at for at in reversed(expected)}
    assert groups.first_rows(keys).tolist() == [firsts[group] for group in range(len(groups))]
    lasts = {int(groups.of[at]): at for at in expected}
    assert groups.last_rows(keys).tolist() == [lasts[group] for group in range(len(groups))]


@given(ROWS)
def test_median_of_others_leaves_the_row_itself_out(rows):
    groups, values = split(rows)
    expected = []
    for at, (number, text, _) in enumerate(rows):
        others = [v for k, v in by_key(rows)[number, text] if k != at and not math.isnan(v)]
        expected.append(statistics.median(others) if others else math.nan)
    assert same(groups.medians_of_others(values), expected)


@given(st.lists(st.integers(0, 9)), st.lists(st.integers(0, 9)))
def test_matched_gives_the_first_row_that_holds_the_value(keys, wanted):
    found = row_of_key(np.array(keys, np.int64), np.array(wanted, np.int64)).tolist()
    assert found == [keys.index(value) if value in keys else -1 for value in wanted]


@given(st.lists(st.integers(-5, 5), max_size=6), st.data())
def test_a_value_is_looked_up_where_there_is_one(values: list[int], data: st.DataObject) -> None:
    at = data.draw(st.lists(st.integers(-1, len(values)), max_size=8))
    found = values_at(np.array(values, np.int64), np.array(at, np.intp), -9)
    assert found.tolist() == [values[one] if 0 <= one < len(values) else -9 for one in at]


PLACES = st.lists(st.tuples(*(st.sampled_from([MISSING, 0, 1, 2]) for _ in range(3))), max_size=10)


@given(PLACES, PLACES)
def test_what_began_on_the_same_lane_is_found_before_what_began_beside_it(rows, wanted):
    there, asked = (tuple(np.array([row[at] for row in some], np.int64) for at in range(3)) for some in (rows, wanted))
    expected = [
        next((n for n, row in enumerate(rows) if row == one), None)
        if one in rows
        else next((n for n, row in enumerate(rows) if row[:2] == one[:2]), -1)
        for one in wanted
    ]
    assert row_at_or_near(there, asked).tolist() == expected


@given(st.lists(st.tuples(st.integers(0, 2), st.integers(0, 4)), max_size=20), st.lists(st.integers(0, 5), max_size=6))
def test_a_row_of_a_rank_is_found_whether_one_rank_is_asked_for_or_several(
    there: list[tuple[int, int]], moments: list[int]
) -> None:
    for ranks in ([1] * len(moments), [at % 3 for at in range(len(moments))]):
        asked = [*zip(ranks, moments, strict=True)]
        columns = (
            np.array([*of], np.int64) for of in (*(zip(*there, strict=True) if there else ([], [])), ranks, moments)
        )
        assert row_at(*columns).tolist() == [there.index(one) if one in there else -1 for one in asked]
