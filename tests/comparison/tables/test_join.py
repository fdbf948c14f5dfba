# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from advisor.comparison.tables import join
from advisor.comparison.tables.join import Amount, TableLayout, TablePart, column_of_side, join_sides
from advisor.facts.base import MISSING
from advisor.facts.table import Texts
from advisor.model.findings import Rows, Scalar

TIMES = (Amount("total_us", "us", mean="mean_us"), Amount("calls", "count"))
LAYOUT = TableLayout("kernels", {"op_type": "", "shape": ""}, TIMES, ("total_us",))
NAMES = st.sampled_from(["MatMul", "Cast", "Add", None])
US = st.one_of(st.integers(0, 1000).map(float), st.just(float("nan")))
ENTRIES = st.lists(st.tuples(NAMES, st.sampled_from(["2,2", "8"]), US), max_size=12)


def part(entries: list[tuple[str | None, str | None, float]], over: float = 1.0) -> TablePart:
    """One call per entry: name, shape, time."""
    keys = {"op_type": Texts.of(e[0] for e in entries), "shape": Texts.of(e[1] for e in entries)}
    amounts = {"total_us": np.array([e[2] for e in entries], float), "calls": np.ones(len(entries))}
    return TablePart(keys, amounts, over)


def by_name(rows: Rows) -> dict[tuple[Scalar, ...], Mapping[str, Scalar]]:
    heads = [head.name for head in rows.columns]
    keys = [at for at, name in enumerate(heads) if name in ("op_type", "shape", "layer")]
    return {tuple(row[at] for at in keys): dict(zip(heads, row, strict=True)) for row in rows.rows}


@settings(max_examples=60)
@given(ENTRIES)
def test_a_capture_does_not_differ_from_itself(entries: list[tuple[str | None, str, float]]) -> None:
    rows, dropped = join_sides(LAYOUT, part(entries), part(entries))
    assert dropped == ()
    assert {row["total_delta_us"] for row in by_name(rows).values()} <= {0.0, None}
    assert {row["calls_delta"] for row in by_name(rows).values()} <= {0.0}


@settings(max_examples=60)
@given(ENTRIES, ENTRIES)
def test_the_other_way_round_every_difference_has_the_other_sign(before: list, after: list) -> None:
    one, other = (
        by_name(join_sides(LAYOUT, *sides)[0]) for sides in ((part(before), part(after)), (part(after), part(before)))
    )
    assert one.keys() == other.keys()
    for name, row in one.items():
        back = other[name]
        assert (row["total_before_us"], row["total_after_us"]) == (back["total_after_us"], back["total_before_us"])
        delta = row["total_delta_us"]
        assert delta == (None if back["total_delta_us"] is None else -float(str(back["total_delta_us"])))


@settings(max_examples=60)
@given(ENTRIES, ENTRIES)
def test_differences_agree_with_plain_sums(before: list, after: list) -> None:
    rows, dropped = join_sides(LAYOUT, part(before), part(after))
    assume(not dropped)
    found = by_name(rows)
    assert found.keys() == {entry[:2] for entry in before + after}
    for name, row in found.items():
        for side, entries in (("before", before), ("after", after)):
            mine = [us for *key, us in entries if tuple(key) == name]
            known = [us for us in mine if not np.isnan(us)]
            all_known = [us for *_, us in entries if not np.isnan(us)]
            zero = not mine and (all_known or not entries)
            expected = sum(known) if known or zero else None
            assert row[f"total_{side}_us"] == expected, (name, side)
            assert row[f"calls_{side}"] == len(mine)
            assert row[f"mean_{side}_us"] == (pytest.approx(sum(known) / len(mine), abs=1e-3) if known else None)


@settings(max_examples=30)
@given(ENTRIES, ENTRIES, st.integers(1, 4))
def test_more_ranks_that_do_the_same_change_nothing(before: list, after: list, ranks: int) -> None:
    once = join_sides(LAYOUT, part(before), part(after))
    assume(not once[1])
    often = join_sides(LAYOUT, part(before * ranks, float(ranks)), part(after))
    assert by_name(once[0]).keys() == by_name(often[0]).keys()
    for name, row in by_name(once[0]).items():
        assert by_name(often[0])[name] == {key: pytest.approx(value) if value else value for key, value in row.items()}


def test_rows_stand_by_the_size_of_their_difference() -> None:
    before = part([("A", "8", 10.0), ("B", "8", 100.0), ("C", "8", 5.0)])
    after = part([("A", "8", 40.0), ("B", "8", 20.0), ("D", "8", 1.0)])
    rows, _ = join_sides(LAYOUT, before, after)
    names = [row[0] for row in rows.rows]
    deltas = [abs(row["total_delta_us"]) for row in by_name(rows).values()]  # type: ignore[arg-type]
    assert names == ["B", "A", "C", "D"]
    assert all(one >= other for one, other in pairwise(deltas))


def test_a_name_of_one_side_has_zero_calls_on_the_other_and_no_mean() -> None:
    rows, _ = join_sides(LAYOUT, part([("A", "8", 1.0)]), part([("A", "8", 1.0), ("Cast", "8", 7.0)]))
    cast = by_name(rows)["Cast", "8"]
    assert (cast["calls_before"], cast["calls_after"]) == (0.0, 1.0)
    assert (cast["total_before_us"], cast["total_delta_us"], cast["mean_before_us"]) == (0.0, 7.0, None)


def test_an_amount_that_was_not_recorded_is_missing_and_not_zero() -> None:
    rows, _ = join_sides(LAYOUT, part([("A", "8", float("nan"))]), part([("A", "8", 1.0), ("B", "8", 2.0)]))
    for row in by_name(rows).values():
        assert row["total_before_us"] is None
        assert row["total_delta_us"] is None


def test_a_layer_that_was_not_recorded_is_unknown_and_not_unused() -> None:
    layout = TableLayout("calls", {"layer": "", "op_type": ""}, TIMES, ("total_us",), within="layer")

    def calls(*named: tuple[str, str]) -> TablePart:
        keys = {"layer": Texts.of(n[0] for n in named), "op_type": Texts.of(n[1] for n in named)}
        return TablePart(keys, {"total_us": np.ones(len(named)), "calls": np.ones(len(named))}, 1.0)

    rows, _ = join_sides(layout, calls(("acl", "a"), ("node", "launch")), calls(("node", "launch"), ("node", "other")))
    found = by_name(rows)
    assert found["acl", "a"]["calls_after"] is None
    assert found["node", "other"]["calls_before"] == 0.0


def test_what_only_one_side_ever_names_is_left_out_of_the_names() -> None:
    rows, dropped = join_sides(
        LAYOUT, part([("A", None, 1.0), ("A", None, 2.0)]), part([("A", "8", 3.0), ("A", "2", 1.0)])
    )
    assert dropped == ("shape",)
    assert by_name(rows)["A",]["total_delta_us"] == 1.0
    assert "shape" not in [head.name for head in rows.columns]


def test_numbers_may_be_names_and_a_missing_one_is_its_own() -> None:
    layout = TableLayout("collectives", {"size_bytes": "B"}, TIMES, ("total_us",))

    def sizes(*values: int) -> TablePart:
        return TablePart(
            {"size_bytes": np.array(values)}, {"total_us": np.ones(len(values)), "calls": np.ones(len(values))}, 1
        )

    rows, _ = join_sides(layout, sizes(64, MISSING), sizes(64, 64, 1 << 40))
    assert {row[0] for row in rows.rows} == {64, None, 1 << 40}


def test_only_so_many_rows_are_kept_and_how_many_there_were_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(join, "MOST_ROWS", 3)
    entries = [(f"op{i}", "8", float(i)) for i in range(10)]
    rows, _ = join_sides(LAYOUT, part([]), part(entries))
    assert rows.total == 10
    assert [row[0] for row in rows.rows] == ["op9", "op8", "op7"]


def test_two_sides_without_rows_give_none() -> None:
    rows, dropped = join_sides(LAYOUT, part([]), part([]))
    assert (rows.rows, rows.total, dropped) == ((), 0, ())


@pytest.mark.parametrize(
    ("name", "expected"),
    [("total_us", "total_before_us"), ("size_bytes", "size_before_bytes"), ("calls", "calls_before")],
)
def test_the_unit_stays_at_the_end_of_a_column(name: str, expected: str) -> None:
    assert column_of_side(name, "before") == expected
