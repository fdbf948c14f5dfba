# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import gc
import pickle
import weakref
from itertools import pairwise
from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.facts import FACTS, MISSING, Fact, Table, Texts, read_table
from advisor.facts.derived import Dispatch
from advisor.facts.narrow import EndColumn
from advisor.facts.observed import HostCall, Kernel, Launch
from advisor.facts.table import order_by_group, places_in_order, stable_order, values_at
from advisor.messages.errors import Unclear

words = st.lists(st.none() | st.text(max_size=4), max_size=12)


def test_every_fact_says_what_it_is_and_every_column_what_it_holds() -> None:
    for name, fact in FACTS.items():
        assert fact.__doc__, name
        assert fact.columns(), name
        for column in fact.columns().values():
            assert column.doc.endswith((".", "…", ".)")), (name, column.name)
            assert not column.name.endswith("_us") or column.unit == "us", (name, column.name)


def test_what_is_left_out_is_missing_and_never_zero() -> None:
    row = Table.build(Kernel, rank=[0], duration_us=[1.5]).rows()[0]
    assert row["rank"] == 0
    assert [row[n] for n in ("step", "op_type", "wait_us", "start_ns")] == [None, None, None, None]


def test_a_table_as_people_write_it() -> None:
    table = read_table(Dispatch, "latency_us vertical op_type\n12 true Cast x2\n-5 - 'a b'")
    assert [row["latency_us"] for row in table.rows()] == [12, 12, -5]
    assert [row["vertical"] for row in table.rows()] == [True, True, None]
    assert table.texts("op_type").values() == ["Cast", "Cast", "a b"]
    assert [(row["rank"], row["step"]) for row in table.rows()] == [(0, 1)] * 3


def test_the_ends_of_a_long_narrow_table_are_what_they_were_in_half_the_bytes() -> None:
    start = np.arange(1 << 18) * 1000
    calls = Table.build(HostCall, rank=0, start_ns=start, end_ns=start + start % 7777)
    narrow, rows = calls.narrow(), np.array([77, 3, 200_000])
    ends = narrow.moments("end_ns")
    assert isinstance(ends, EndColumn)
    assert ends.lasts.itemsize == 4
    for name in ("start_ns", "end_ns"):
        assert (narrow[name] == calls[name]).all()
        assert narrow.at(name, rows).tolist() == calls[name][rows].tolist()
        assert narrow.take(rows)[name].tolist() == calls[name][rows].tolist()
        assert narrow.part(5, 9)[name].tolist() == calls[name][5:9].tolist()
        assert (narrow.moments(name)[3:6] == calls[name][3:6]).all()
        assert (Table.concat(HostCall, [narrow, calls])[name] == np.tile(calls[name], 2)).all()
    assert narrow.having(start_ns=0)["end_ns"].tolist() == calls["end_ns"].tolist()


def test_a_narrow_table_gives_what_it_gave_before() -> None:
    launches = Table.build(
        Launch, rank=3, thread=[7, None, 9], host_start_ns=[1, 2, 3], host_end_ns=None, device_start_ns=[5, 5, 5]
    )
    narrow = launches.narrow()
    assert narrow.rows() == launches.rows()
    assert narrow["thread"].dtype == np.int64
    assert narrow.at("thread", np.array([2, 1])).tolist() == [9, MISSING]
    for table in (narrow, launches):
        assert table.isin("thread", [9]).tolist() == (launches["thread"] == 9).tolist()
    assert narrow["device_start_ns"].strides == (0,)
    assert narrow.take(np.array([2, 0])).rows() == [launches.rows()[2], launches.rows()[0]]
    assert Table.concat(Launch, [narrow, launches]).rows() == launches.rows() * 2
    assert pickle.loads(pickle.dumps(narrow)).rows() == launches.rows()  # noqa: S301 - what was just written
    assert dict(narrow.columns()).keys() == dict(launches.columns()).keys()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("latencyus\n1", "no column `latencyus`"),
        ("latency_us op_type\n1", "1 cell under 2 headings"),
        ("latency_us\nfast", "latency_us is a number"),
        ("vertical\nyes", "vertical is true, false or -"),
    ],
)
def test_a_slip_in_a_written_table_is_told(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        read_table(Dispatch, text)


def test_a_row_with_too_few_cells_is_told_what_stands_for_a_missing_one() -> None:
    with pytest.raises(Unclear) as caught:
        read_table(Dispatch, "latency_us op_type\n1")
    assert str(caught.value.hint) == "`-` stands for a value that is missing"
    with pytest.raises(Unclear) as caught:
        read_table(Dispatch, "latency_us op_type\n1 Add Mul")
    assert caught.value.hint is None


def test_unknown_columns_and_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="no column"):
        Table.build(Dispatch, speed=[1])
    with pytest.raises(ValueError, match="different lengths"):
        Table.build(Dispatch, rank=[1, 2], latency_us=[1.0])


@pytest.mark.parametrize(
    ("count", "kind"), [(126, np.int8), (127, np.int16), (32_766, np.int16), (32_767, np.int32), (0, np.int8)]
)
def test_narrow_texts_are_the_same_and_fit_one_more(count: int, kind: type[np.signedinteger]) -> None:
    texts = Texts.of([*map(str, range(count)), None])
    few = texts.narrow()
    assert few.codes.dtype == kind
    assert few.values() == texts.values()
    assert (few.codes + 1).tolist() == (texts.codes + 1).tolist()
    rows = np.array([count, -1, 0])
    assert few.at(rows).values() == texts.at(rows).values()
    assert Texts.concat([few, texts]).values() == texts.values() * 2
    assert few.in_use().values() == texts.in_use().values()
    tables = [Table.build(Kernel, rank=0, op_name=names) for names in (few, texts)]
    assert tables[0].to_arrow() == tables[1].to_arrow()


@given(words, words)
def test_texts_survive_concatenation(a: list[str | None], b: list[str | None]) -> None:
    joined = Texts.concat([Texts.of(a), Texts.of(b)])
    assert joined.values() == a + b
    assert len(set(joined.names)) == len(joined.names)


@given(words, st.lists(st.text(max_size=4), max_size=3))
def test_membership_is_that_of_python_and_missing_belongs_nowhere(values: list[str | None], wanted: list[str]) -> None:
    assert Texts.of(values).isin(wanted).tolist() == [v is not None and v in wanted for v in values]


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(-1e9, 1e9)), max_size=20))
def test_rows_keep_their_order_within_equal_keys(rows: list[tuple[int, float]]) -> None:
    table = Table.build(Dispatch, rank=[r for r, _ in rows], latency_us=[v for _, v in rows])
    got = [(row["rank"], row["latency_us"]) for row in table.sorted_by("rank").rows()]
    assert got == sorted(rows, key=lambda row: row[0])


@given(st.integers(0, 3), st.lists(st.booleans(), min_size=1, max_size=6), st.integers(0, 3))
def test_a_column_of_one_value_stays_one_where_rows_are_taken_and_joined(
    rank: int, keep: list[bool], other: int
) -> None:
    table = Table.build(Launch, rank=rank, thread=list(range(len(keep))))
    taken = table.take(np.array(keep))
    assert taken["rank"].tolist() == [rank] * sum(keep)
    both = Table.concat(Launch, [taken, table.take(np.array([0, 0])).having(rank=other)])
    assert both["rank"].tolist() == [rank] * sum(keep) + [other] * 2
    assert both["thread"].tolist() == [row for row, kept in enumerate(keep) if kept] + [0, 0]
    if rank == other and any(keep):
        assert both["rank"].strides == (0,)


def test_missing_integers_become_nan_as_floats() -> None:
    table = Table.build(Dispatch, rank=np.array([3, MISSING]))
    assert np.isnan(table.floats("rank")).tolist() == [False, True]


def test_an_empty_table_has_every_column() -> None:
    for fact in FACTS.values():
        table = Table.empty(fact)
        assert len(table) == 0
        assert table.rows() == []


def test_a_table_travels_between_processes() -> None:
    table = read_table(Dispatch, "rank op_type\n0 Cast\n1 -")
    assert pickle.loads(pickle.dumps(table)).rows() == table.rows()  # noqa: S301


def test_pandas_sees_the_same_cells() -> None:
    table = read_table(Dispatch, "rank latency_us vertical op_type\n0 1.5 true Cast\n1 - - -")
    frame = table.to_pandas()
    assert frame["rank"].tolist() == [0, 1]
    assert frame["op_type"].tolist()[0] == "Cast"
    assert frame.isna().sum().to_dict()["vertical"] == 1
    assert frame.isna().sum().to_dict()["latency_us"] == 1


def test_arrow_sees_the_same_cells() -> None:
    table = read_table(Dispatch, "rank latency_us vertical op_type\n0 1.5 true Cast\n1 - - -\n- 2 false Cast")
    arrow = table.to_arrow()
    assert arrow.column("rank").to_pylist() == [0, 1, None]
    assert arrow.column("latency_us").to_pylist() == [1.5, None, 2.0]
    assert arrow.column("vertical").to_pylist() == [True, None, False]
    assert arrow.column("op_type").to_pylist() == ["Cast", None, "Cast"]
    assert arrow.schema.field("latency_us").metadata[b"unit"] == b"us"


@pytest.mark.parametrize("fact", FACTS.values(), ids=lambda fact: fact.table)
def test_every_table_can_be_handed_on_with_nothing_in_it_and_with_nothing_recorded(fact: type[Fact]) -> None:
    for table in (Table.empty(fact), Table.build(fact, **{next(iter(fact.columns())): [None, None]})):
        assert table.to_arrow().num_rows == len(table.to_pandas()) == len(table)
        assert table.to_arrow().column_names == list(table.to_pandas().columns) == list(fact.columns())
        assert table.to_pandas().isna().all(axis=None)


def test_names_that_cannot_be_encoded_are_handed_on_as_escapes() -> None:
    table = Table.build(Dispatch, op_type=["a\ud800", "a\\ud800", None, "b"])
    assert table.to_arrow().column("op_type").to_pylist() == ["a\\ud800", "a\\ud800", None, "b"]
    assert table.to_pandas()["op_type"].tolist()[::3] == ["a\\ud800", "b"]


class _Holder:
    """Something made of a table, which holds it."""

    def __init__(self, table: Table[Kernel]) -> None:
        self.table = table


def test_what_is_made_of_a_table_and_others_is_made_once_and_is_no_part_of_it():
    table, one, other = (read_table(Kernel, "rank step\n0 1") for _ in range(3))
    made = []

    def count_rows(table: Table[Kernel], beside: Table[Kernel] | None) -> int:
        made.append(beside)
        return len(table)

    assert [table.once(count_rows, beside) for beside in (one, other, one, None, None)] == [1] * 5
    assert made == [one, other, None]
    assert pickle.loads(pickle.dumps(table)).once(count_rows, one) == 1  # noqa: S301 - written here
    assert len(made) == 4


def test_what_was_made_beside_a_table_that_is_forgotten_is_forgotten_too():
    table, gone, kept = (read_table(Kernel, "rank step\n0 1") for _ in range(3))
    asked = []

    def note(_: Table[Kernel], beside: Table[Kernel]) -> None:
        asked.append(beside)

    without_rows = gone.once(lambda one: one.take(np.zeros(1, bool)))
    for other in (gone, without_rows, kept):
        table.once(note, other)
    gone.forget([table, kept])
    for other in (kept, gone, without_rows):
        table.once(note, other)
    assert asked == [gone, without_rows, kept, gone, without_rows]


@pytest.mark.parametrize("own", [True, False])
def test_what_is_made_of_a_version_of_a_table_goes_with_what_that_one_was_made_of(own: bool) -> None:
    table, beside = (read_table(Kernel, "rank step\n0 1") for _ in range(2))
    version = table.once(lambda one, _: one.take(np.zeros(1, bool)), beside)
    held = weakref.ref(version.once(_Holder))
    del version
    gc.disable()
    try:
        gone, kept = (table, beside) if own else (beside, table)
        gone.forget([kept])
        assert held() is None
    finally:
        gc.enable()


@pytest.mark.parametrize("kind", [np.int8, np.int32, np.int64, np.float64])
@pytest.mark.parametrize("missing", [MISSING, -1, 0, 1.5])
def test_what_lies_at_no_row_is_the_value_asked_for_however_narrow_the_column(kind: type, missing: float) -> None:
    for values in (np.array([3, 4, 5], kind), np.empty(0, kind)):
        found = values_at(values, np.array([-1, 1, 3]), missing)
        assert found.tolist() == [missing, *(values[1:2].tolist() or [missing]), missing]
    assert values_at(np.array([3, 4], kind), np.array([1, 0]), missing).dtype == kind


@given(words, st.integers(0, 14), st.integers(0, 14))
def test_a_part_of_a_table_is_what_is_taken_between_two_positions(
    values: list[str | None], one: int, other: int
) -> None:
    start, end = sorted((min(one, len(values)), min(other, len(values))))
    columns = {"op_name": values, "start_ns": [*range(len(values))], "stream": [7] * len(values)}
    for table in (Table.build(Kernel, rank=0, **columns), Table.build(Kernel, rank=0, **columns).narrow()):
        part = table.part(start, end)
        assert part.rows() == table.take(np.arange(start, end)).rows()
        assert pickle.loads(pickle.dumps(part)).rows() == part.rows()  # noqa: S301 - written here


@given(st.lists(st.none() | st.text(max_size=1), max_size=80), st.integers(0, 80))
def test_names_in_use_are_the_same_however_many_rows_there_are(values: list[str | None], few: int) -> None:
    texts = Texts.of(values)
    some = Texts(texts.codes[:few], texts.names).in_use()
    assert some.values() == values[:few]
    assert some.names == tuple(name for name in texts.names if name in values[:few])
    assert some.codes.dtype == np.int32


@given(words, st.lists(st.integers(0, 11), max_size=6))
def test_some_columns_of_some_rows_hold_nothing_else(values: list[str | None], rows: list[int]) -> None:
    where = np.array([row for row in rows if row < len(values)], np.intp)
    table = Table.build(Kernel, rank=0, op_name=values, start_ns=[*range(len(values))])
    chosen, same = table.only(("op_name", "rank"), where), table.take(where).only(("op_name", "rank"))
    assert dict(chosen.columns()).keys() == {"op_name", "rank"}
    assert chosen.texts("op_name").values() == same.texts("op_name").values()
    assert chosen["rank"].tolist() == same["rank"].tolist()


def test_what_is_made_for_now_is_made_once_until_it_is_let_go_and_the_rest_stays() -> None:
    table, made = Table.build(Launch, rank=[0, 0]), []

    def count(given: Table[Launch]) -> int:
        made.append(given)
        return len(made)

    def size(given: Table[Launch]) -> Table[Launch]:
        made.append(given)
        return given.having()

    assert [table.once_for_now(count), table.once_for_now(count)] == [1, 1]
    version = table.once(size)
    table.forget_for_now()
    assert table.once(size) is version
    assert table.once_for_now(count) == 3
    table.forget_one(size)
    assert table.once(size) is not version


@given(st.lists(st.lists(st.sampled_from([None, "b", "a", "c"])), min_size=1, max_size=4))
def test_parts_of_one_text_column_are_joined_with_the_names_they_share(values: list[list[str | None]]) -> None:
    whole = Texts.of(value for part in values for value in part)
    ends = [0, *np.cumsum([len(part) for part in values]).tolist()]
    parts = [whole.take(np.arange(begin, end)) for begin, end in pairwise(ends)]
    nothing = Texts.constant(None, 2)
    joined = Texts.concat([*parts, nothing])
    assert joined.values() == [*whole.values(), None, None]
    assert sorted(joined.names) == sorted(whole.names)


@given(words, st.sets(st.text(max_size=2), max_size=4))
def test_rows_pass_by_their_text_whatever_other_texts_the_column_could_hold(
    values: list[str | None], wanted: set[str]
) -> None:
    texts = Texts.of(values)
    wider = Texts(texts.codes, (*texts.names, *(f"other {number}" for number in range(40)), *sorted(wanted)))
    expected = [value in wanted for value in values]
    assert texts.isin(wanted).tolist() == wider.isin(wanted).tolist() == expected
    assert wider.passing(lambda text: text in wanted).tolist() == expected


def test_texts_that_no_row_has_are_not_asked() -> None:
    asked: list[str] = []
    column = Texts(np.array([2, -1, 2], np.int32), tuple("abcdef"))
    assert column.passing(lambda text: not asked.append(text)).tolist() == [True, False, True]
    assert asked == ["c"]


@given(
    st.lists(st.integers(-9, 9)),
    st.lists(st.integers(-9, 9)),
    st.sampled_from(["left", "right"]),
    st.booleans(),
)
def test_places_of_values_in_order_are_those_of_a_search(
    keys: list[int], values: list[int], side: Literal["left", "right"], ordered: bool
) -> None:
    sought = np.array(sorted(values) if ordered else values, np.int64)
    held = np.array(sorted(keys), np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("advisor.facts.table._MANY", 0)
        patch.setattr("advisor.facts.table._WORTH_SEEKING", 0)
        found = places_in_order(held, sought, side)
    assert found.tolist() == np.searchsorted(held, sought, side).tolist()


@given(st.lists(st.integers(-3, 3) | st.floats(-2, 2)))
def test_equal_keys_keep_their_order(keys: list[float]) -> None:
    values = np.array(keys, np.float64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("advisor.facts.table._MANY", 0)
        found = stable_order(values)
    assert found.tolist() == np.argsort(values, kind="stable").tolist()


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.5, 1.0, 2.0, np.nan]))), st.sampled_from([4, 1 << 17]))
def test_rows_go_by_group_and_within_one_by_value(rows: list[tuple[int, float]], groups: int) -> None:
    group = np.array([one for one, _ in rows], np.int64)
    values = np.array([value for _, value in rows], np.float64)
    order = order_by_group(group, groups, values)
    assert sorted(order.tolist()) == [*range(len(rows))]
    told = [(int(group[row]), np.isnan(values[row]), float(np.nan_to_num(values[row]))) for row in order]
    assert told == sorted(told)
