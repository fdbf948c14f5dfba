# SPDX-License-Identifier: Apache-2.0
"""Tables answer what is asked in the language of rules, and nothing else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.facts import Table, read_table
from advisor.facts.observed import Kernel
from advisor.mcp_server.query import MOST_ROWS, Query, answer_query
from advisor.messages.errors import ExprError, UsageError
from advisor.model.findings import Scalar
from advisor.model.run import Run

KERNELS = read_table(
    Kernel,
    """
    rank step op_type   duration_us start_ns
    0    1    MatMulV2  400         5
    0    1    Cast      5           9
    0    2    MatMulV2  410         -
    1    1    Cast      -           7
    1    1    -         7           1
    """,
)
RUN = Run(step_us=1000.0, steps=(1, 2), ranks=(0, 1))


def answer(**words: object) -> list[tuple[Scalar, ...]]:
    return list(answer_query(KERNELS, RUN, Query(**words)).rows)  # type: ignore[arg-type]


def test_without_a_wish_the_first_rows_come_with_every_column() -> None:
    rows = answer_query(KERNELS, RUN, Query(limit=2))
    assert rows.total == 5 and len(rows.rows) == 2
    assert [head.name for head in rows.columns] == list(Kernel.columns())
    assert {head.name: head.unit for head in rows.columns}["duration_us"] == "us"


def test_rows_are_chosen_by_a_condition_and_missing_meets_none() -> None:
    assert answer(where="duration_us > 6", columns=("duration_us",)) == [(400.0,), (410.0,), (7.0,)]
    assert answer(where="not (duration_us > 6)", columns=("duration_us",)) == [(5.0,)]
    assert answer(where='op_type == "Cast"', columns=("rank",)) == [(0,), (1,)]


def test_missing_is_missing_and_comes_last() -> None:
    assert answer(columns=("duration_us",), sort="duration_us") == [(5.0,), (7.0,), (400.0,), (410.0,), (None,)]
    assert answer(columns=("duration_us",), sort="-duration_us") == [(410.0,), (400.0,), (7.0,), (5.0,), (None,)]
    assert answer(columns=("start_ns",), sort="start_ns") == [(1,), (5,), (7,), (9,), (None,)]
    assert answer(columns=("op_type",), sort="op_type")[-1] == (None,)


def test_keys_give_one_row_per_group() -> None:
    made = answer(by=("op_type",), let={"spent_us": "sum(duration_us)", "calls": "count()"}, sort="-spent_us")
    assert made == [("MatMulV2", 810.0, 2.0), (None, 7.0, 1.0), ("Cast", 5.0, 2.0)]


def test_a_value_of_the_whole_table_is_one_row_alone_and_beside_columns_one_per_row() -> None:
    assert answer(let={"most": "max(duration_us)"}, columns=("most",)) == [(410.0,)]
    both = answer(let={"most": "max(duration_us)"}, columns=("duration_us", "most"), limit=2)
    assert both == [(400.0, 410.0), (5.0, 410.0)]


def test_values_may_use_those_before_them_and_the_names_of_the_run() -> None:
    made = answer(
        by=("rank",), let={"spent_us": "sum(duration_us)", "share": "spent_us / step_us"}, columns=("rank", "share")
    )
    assert made == [(0, 0.815), (1, 0.007)]


def test_no_rows_are_no_error() -> None:
    assert answer(where="duration_us > 1000") == []
    assert answer(where="false", by=("rank",), let={"calls": "count()"}) == []
    assert answer_query(Table.empty(Kernel), RUN, Query()).rows == ()


@given(
    st.lists(st.tuples(st.integers(0, 2), st.none() | st.floats(0, 1e6)), max_size=30),
    st.floats(0, 1e6),
    st.integers(1, 10),
)
@settings(max_examples=60)
def test_answers_are_those_of_plain_python(cells: list[tuple[int, float | None]], limit_us: float, most: int) -> None:
    table = Table.build(Kernel, rank=[rank for rank, _ in cells], duration_us=[us for _, us in cells])
    query = Query(where=f"duration_us > {limit_us!r}", columns=("duration_us",), sort="-duration_us", limit=most)
    rows = answer_query(table, RUN, query)
    expected = sorted((us for _, us in cells if us is not None and us > limit_us), reverse=True)
    assert rows.total == len(expected)
    assert all(math.isclose(float(row[0] or 0), us, rel_tol=1e-8) for row, us in zip(rows.rows, expected, strict=False))
    assert len(rows.rows) == min(most, len(expected))


@pytest.mark.parametrize(
    "words",
    [
        {"where": "duration_us >"},
        {"where": "__import__('os').system('true')"},
        {"where": "duration_us.to_csv('x')"},
        {"where": "duration_us > 5 * MiB"},
        {"where": "durations > 5"},
        {"let": {"spent_us": "sum(sum(duration_us))"}},
        {"sort": "lambda: 1"},
        {"where": "1 + " * 2000 + "1 > 0"},
    ],
)
def test_what_is_not_in_the_language_is_refused(words: dict[str, object]) -> None:
    with pytest.raises(ExprError):
        answer(**words)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"where": "duration_us"}, "`where` is a condition"),
        ({"limit": 0}, "`limit` is 0"),
        ({"limit": 10**9}, f"1 to {MOST_ROWS}"),
        ({"columns": ("duration",)}, "did you mean `duration_us`?"),
        ({"columns": ("step_us",)}, "no column"),
        ({"by": ("duration_us",)}, "is measured"),
        ({"by": ("name",)}, "no column"),
        ({"by": ("rank",), "columns": ("duration_us",)}, "one value per row"),
        ({"by": ("rank",), "sort": "duration_us"}, "one value per row"),
        ({"let": {"rank": "count()"}}, "no free name"),
        ({"let": {"_x": "count()"}}, "no free name"),
        ({"let": {"us": "count()"}}, "no free name"),
        ({"let": {f"x{number}": "count()" for number in range(100)}}, "more than"),
    ],
)
def test_what_cannot_be_answered_is_said(words: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError) as trouble:
        answer(**words)
    assert message in str(trouble.value)
