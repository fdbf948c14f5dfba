# SPDX-License-Identifier: Apache-2.0
"""Every expression gives what plain Python gives row by row, missing values included."""

from __future__ import annotations

import ast
import math
from typing import Annotated, Any

import expression_twin as twin
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.expr.compile import Scope, compile_expr
from advisor.expr.frame import FALSE, TRUE, Frame, column_scope, group_rows
from advisor.facts.base import Fact, Flag, Key, Ns, Number, Rank
from advisor.facts.table import Table, Texts
from advisor.units import Type


class Moment(Fact):
    """A moment."""

    table = "moments"

    rank: Rank
    at_ns: Annotated[int, Ns("When.")]


class Sample(Fact):
    """A row with a column of each kind."""

    table = "samples"

    rank: Rank
    a: Annotated[float, Number("A number.")]
    b: Annotated[float, Number("Another.")]
    name: Annotated[str, Key("A text.")]
    other: Annotated[str, Key("Another text.")]
    flag: Annotated[bool, Flag("A truth.")]


PARAMS = {"p": 2.0, "unknown": None}
SCOPE = Scope(
    {**column_scope(Sample), "p": Type("number"), "unknown": Type("number"), "chip": Type("text")}, frozenset({"rank"})
)
NAMED: dict[str, Any] = {**PARAMS, "chip": None}

numbers = st.one_of(st.none(), st.integers(-6, 6).map(float))
texts = st.sampled_from([None, "Cast", "CastLike", "MatMul", "矩阵"])
rows_of_samples = st.lists(
    st.fixed_dictionaries(
        {
            "rank": st.sampled_from([None, 0, 1, 70000]),
            "a": numbers,
            "b": numbers,
            "name": texts,
            "other": texts,
            "flag": st.sampled_from([None, True, False]),
        }
    ),
    max_size=12,
)

literals = st.integers(0, 5).map(str) | st.sampled_from(["0.5", "p", "unknown"])
words = st.sampled_from(['"Cast"', '"MatMul"', '"x"', '"矩阵"'])


def bigger(number: st.SearchStrategy[str], truth: st.SearchStrategy[str]) -> tuple[st.SearchStrategy[str], ...]:
    """Expressions one level deeper."""
    deeper = st.one_of(
        st.builds("({} {} {})".format, number, st.sampled_from("+-*/"), number),
        st.builds("-{}".format, number),
        st.builds("abs({})".format, number),
        st.builds("{}({}, {})".format, st.sampled_from(["least", "greatest"]), number, number),
        st.builds("({} if {} else {})".format, number, truth, number | st.just("missing")),
        st.builds("(missing if {} else {})".format, truth, number),
    )
    signs = st.sampled_from(["<", "<=", ">", ">=", "==", "!="])
    logic = st.one_of(
        st.builds("({} {} {})".format, number, signs, number),
        st.builds("({} {} {})".format, truth, st.sampled_from(["and", "or"]), truth),
        st.builds("(not {})".format, truth),
        st.builds("recorded({})".format, number),
        st.builds("({} {} [1, 2, -3])".format, number, st.sampled_from(["in", "not in"])),
        st.builds("({} if {} else {})".format, truth, truth, truth | st.just("missing")),
        st.builds("(missing if {} else {})".format, truth, truth),
    )
    return deeper, logic


row_truth = st.one_of(
    st.sampled_from(
        ["flag", "true", "name == other", "name != other", "flag == true", "chip == name", "recorded(name)"]
    ),
    st.builds("name {} {}".format, st.sampled_from(["==", "!="]), words),
    st.builds("name {} [{}, {}]".format, st.sampled_from(["in", "not in"]), words, words),
    st.builds("{}(name, {})".format, st.sampled_from(["startswith", "endswith", "contains"]), words),
)
row_number = st.one_of(literals, st.sampled_from(["a", "b"]))
per_row, per_row_truth = bigger(row_number, row_truth)
per_row, per_row_truth = bigger(per_row | row_number, per_row_truth | row_truth)

columns = st.builds("(a + {})".format, per_row) | st.sampled_from(["a", "b"])
conditions = st.just("") | st.builds(", where={}".format, per_row_truth)
aggregates = st.one_of(
    st.builds("{}({}{})".format, st.sampled_from(["sum", "mean", "median", "min", "max", "std"]), columns, conditions),
    st.builds("quantile({}, {}{})".format, columns, st.sampled_from(["0", "0.25", "0.9", "1"]), conditions),
    st.builds("first({}{})".format, columns, conditions),
    st.builds("count(where={})".format, per_row_truth),
    st.builds("distinct({}{})".format, st.sampled_from(["a", "name", "rank"]), conditions),
    st.just("count()"),
)
group_number = st.one_of(aggregates, literals)
text_truth = st.builds("{}(name{}) == {}".format, st.sampled_from(["first", "mode"]), conditions, words)
per_group, per_group_truth = bigger(group_number, text_truth | st.just("rank == 0"))


def same(found: Any, wanted: Any) -> bool:
    if wanted is None or found is None:
        return wanted is None and found is None
    if isinstance(wanted, str | bool):
        return bool(found == wanted)
    return math.isclose(found, wanted, rel_tol=1e-9, abs_tol=1e-9)


def plain(result: Any, size: int) -> list[Any]:
    """What an expression gave, as plain values."""
    if isinstance(result, Texts):
        return list(result.values())
    if result is None or isinstance(result, str):
        return [result] * size
    values = np.broadcast_to(np.asarray(result), size)
    if values.dtype == np.uint8:
        return [True if v == TRUE else False if v == FALSE else None for v in values.tolist()]
    return [None if math.isnan(v) else v for v in values.tolist()]


def table_of(rows: list[dict[str, Any]]) -> Table[Sample]:
    return Table.build(Sample, **{name: [row[name] for row in rows] for name in Sample.columns()})


def grouped(rows: list[dict[str, Any]]) -> tuple[Frame, dict[Any, list[dict[str, Any]]]]:
    table = table_of(rows)
    codes, keys = group_rows(Frame(table), ("rank",))
    frame = Frame(table, None, codes, len(keys["rank"]))
    frame.named.update(NAMED)
    ranks = keys["rank"]
    frame.named["rank"] = np.array([np.nan if rank is None else rank for rank in ranks], np.float64)
    return frame, {rank: [row for row in rows if row["rank"] == rank] for rank in ranks}


@settings(max_examples=60)
@given(rows_of_samples, per_row | per_row_truth)
def test_rows_get_what_plain_python_gives(rows: list[dict[str, Any]], source: str) -> None:
    compiled = compile_expr(source, Scope(SCOPE.names))
    frame = Frame(table_of(rows))
    frame.named.update(NAMED)
    with np.errstate(all="ignore"):
        found = plain(compiled.run(frame), len(rows))
    tree = ast.parse(source, mode="eval").body
    wanted = [twin.value(tree, row, rows, NAMED) for row in rows]
    assert all(map(same, found, wanted)), (found, wanted)


@settings(max_examples=60)
@given(rows_of_samples, per_group | per_group_truth | aggregates)
def test_groups_get_what_plain_python_gives(rows: list[dict[str, Any]], source: str) -> None:
    compiled = compile_expr(source, SCOPE)
    assert not compiled.type.per_row
    frame, groups = grouped(rows)
    with np.errstate(all="ignore"):
        found = plain(compiled.run(frame), len(groups))
    tree = ast.parse(source, mode="eval").body
    wanted = [twin.value(tree, None, inner, {**NAMED, "rank": rank}) for rank, inner in groups.items()]
    assert all(map(same, found, wanted)), (found, wanted)


@settings(max_examples=40)
@given(rows_of_samples)
def test_a_group_value_beside_a_column_is_spread_over_its_rows(rows: list[dict[str, Any]]) -> None:
    frame, groups = grouped(rows)
    middle = compile_expr("median(a)", SCOPE)
    frame.named["middle"] = middle.run(frame)
    found = compile_expr("count(where=a > middle)", SCOPE.having("middle", middle.type)).run(frame)
    for number, inner in enumerate(groups.values()):
        known = sorted(row["a"] for row in inner if row["a"] is not None)
        half = (known[(len(known) - 1) // 2] + known[len(known) // 2]) / 2 if known else None
        assert found[number] == sum(1 for value in known if half is not None and value > half)


@settings(max_examples=40)
@given(rows_of_samples, st.sampled_from([("rank",), ("name",), ("rank", "name"), ("flag", "name", "rank")]))
def test_rows_are_grouped_by_equal_keys_and_groups_are_in_order(
    rows: list[dict[str, Any]], keys: tuple[str, ...]
) -> None:
    codes, values = group_rows(Frame(table_of(rows)), keys)
    wanted = {tuple(row[key] for key in keys) for row in rows}
    found = list(zip(*(values[key] for key in keys), strict=True))
    assert set(found) == wanted
    assert len(found) == len(wanted)
    assert [found[code] for code in codes] == [tuple(row[key] for key in keys) for row in rows]


def test_numbers_far_apart_are_grouped_without_a_table_of_all_between() -> None:
    for ranks in ([0, 10**15, 5, 10**15, None], [-(2**63) + 1, 2**63 - 1], [None, None], [-5, -5, 3], []):
        codes, values = group_rows(Frame(Table.build(Sample, rank=ranks)), ("rank",))
        assert [values["rank"][code] for code in codes] == ranks


def test_differences_of_absolute_times_are_exact() -> None:
    start = 1_763_600_000_123_456_789
    table = Table.build(Moment, rank=0, at_ns=np.array([start, start + 1, np.iinfo(np.int64).min], np.int64))
    found = compile_expr("at_ns - min(at_ns)", Scope(column_scope(Moment))).run(Frame(table))
    assert plain(found, 3) == [0.0, 1.0, None]
