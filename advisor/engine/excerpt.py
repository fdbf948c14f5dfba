# SPDX-License-Identifier: Apache-2.0
"""The rows behind a finding: a few of the rows of its worst group, in a total order."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from advisor.engine.hit import Hit, worst_first
from advisor.engine.profile_like import ProfileLike
from advisor.expr.compile import Compiled, compile_for_columns
from advisor.expr.frame import TRUE, UNKNOWN, Frame, Value, number_rows, repeated
from advisor.expr.language import MOMENT
from advisor.facts.base import MISSING, Fact
from advisor.facts.selection import Selected
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.model.findings import Head, Rows, Scalar
from advisor.model.unread import message_column
from advisor.rules.bind import ExcerptSpec, Rule


class TopRows(Struct, frozen=True):
    """The rows of a rank that an excerpt may show of a heavy table: the first of each group."""

    fact: type[Fact]
    keys: tuple[str, ...]
    within: tuple[str, ...]
    """Further columns: the first of each of their values is kept too, for occurrences that go by them."""
    columns: tuple[str, ...]
    where: str
    order: str
    names: tuple[str, ...]
    """The columns in `where` and `order`."""
    top: int

    def select(self, table: Table[Any]) -> Selected:
        """The first rows of each group, the first of which stands for those that are left out."""
        return self._selected(table, *self._first_of_parts(table, ()))

    def select_by_rank(self, table: Table[Any], ranks: Sequence[int]) -> tuple[Selected, list[int]]:
        """The same of each of these ranks, in their order, and how many each has."""
        rows, stands_for = self._first_of_parts(table, ("rank",))
        of = table["rank"][rows]
        places = [np.flatnonzero(of == rank) for rank in ranks]
        chosen = np.concatenate(places)
        return self._selected(table, rows[chosen], stands_for[chosen]), [*map(len, places)]

    def _first_of_parts(self, table: Table[Any], apart: tuple[str, ...]) -> tuple[Array, Array]:
        """The rows to choose of each part of a table that has one value in these columns, ascending, and how many rows
        each stands for."""
        frame = in_parts(table, None, apart)
        rows = np.flatnonzero(value_per_row(compile_for_columns(self.where, self.fact), frame) == TRUE)
        frame = in_parts(table, rows, apart)
        order = value_per_row(compile_for_columns(self.order, self.fact), frame).astype(np.float64)
        columns, keys = [frame.column(name) for name in self.columns], (*apart, *self.keys)
        codes, _ = number_rows(frame, keys)
        by_group = np.argsort(codes, kind="stable")
        edges = np.searchsorted(codes[by_group], np.arange(int(codes.max(initial=-1)) + 2))
        tops = [
            _first_by_order(mine, order, columns, self.top) for mine in np.split(by_group, edges[1:-1]) if len(mine)
        ]
        chosen = np.unique(np.concatenate([*tops, _first_rows_by_key(frame, order, (*keys, *self.within))]))
        stands_for = np.ones(len(chosen), np.int64)
        _, first, kept = np.unique(codes[chosen], return_index=True, return_counts=True)
        stands_for[first] += np.bincount(codes)[codes[chosen][first]] - kept
        return rows[chosen], stands_for

    def _selected(self, table: Table[Any], rows: Array, stands_for: Array) -> Selected:
        return Selected(table.only((*self.keys, *self.within, *self.columns, *self.names), rows), stands_for)


def in_parts(table: Table[Any], rows: Array | None, apart: tuple[str, ...]) -> Frame:
    """These rows of a table, or all; what is asked of all of them together is asked of each part of it that has one
    value in these columns."""
    frame = Frame(table, rows)
    return Frame(table, rows, *number_rows(frame, apart)) if apart else frame


def _first_rows_by_key(frame: Frame, order: Array, keys: tuple[str, ...]) -> Array:
    """The first row by `order` of each combination of keys."""
    cells, _ = number_rows(frame, keys)
    first = np.lexsort((np.nan_to_num(order, nan=np.inf), cells))
    found: Array = first[np.append(True, np.diff(cells[first]) != 0)[: len(first)]]
    return found


def top_rows(rule: Rule) -> TopRows | None:
    """Which rows a rule wants to show of a heavy table, whatever it finds; None where it wants a table or none."""
    wanted = rule.excerpt
    if wanted is None or wanted.fact is None or not wanted.selectable:
        return None
    within = () if rule.occurrences is None else tuple(own for own, _ in rule.occurrences.by)
    return TopRows(
        fact=wanted.fact,
        keys=rule.for_each,
        within=tuple(name for name in within if name in wanted.fact.columns() and name not in rule.for_each),
        columns=tuple(name for name, _ in wanted.columns),
        where=wanted.where.source,
        order=wanted.order.source,
        names=tuple(sorted(wanted.where.names | wanted.order.names)),
        top=wanted.top,
    )


class ShownRows(Struct, frozen=True):
    """The rows that stand behind the groups of a rule: its own, or those of another table."""

    frame: Frame
    stands_for: Array | None = None
    """Per row: how many it stands for; None for one each."""


def rows_behind(rule: Rule, frame: Frame, profile: ProfileLike) -> ShownRows:
    """The rows an excerpt is taken from, each in its group; rows that share their keys with no group are left out."""
    wanted = rule.excerpt
    if wanted is None or wanted.fact is None:
        return ShownRows(frame)
    table, stands_for = _rows_elsewhere(rule, wanted.fact, profile)
    codes = _groups_of(table, frame, rule.for_each)
    rows = np.flatnonzero(codes >= 0)
    shown = Frame(table, rows, codes[rows], frame.groups)
    shown.named.update(frame.named)
    return ShownRows(shown, None if stands_for is None else stands_for[rows])


def _rows_elsewhere(rule: Rule, fact: type[Fact], profile: ProfileLike) -> tuple[Table[Any], Array | None]:
    """The rows of another table that a rule may show, and how many each stands for; none where it is not recorded."""
    selection = top_rows(rule)
    try:
        if selection is None:
            return profile.table(fact), None
        selected = profile.selected(selection)
    except FactMissing:  # what is missing only shows, it does not judge
        return Table.empty(fact), None
    return selected.rows, selected.stands_for


def _groups_of(table: Table[Any], frame: Frame, keys: tuple[str, ...]) -> Array:
    """The group of a frame that each row of another table shares its keys with; -1 for none."""
    if not keys or frame.table is None:
        return np.zeros(len(table), np.intp)
    rows = np.arange(frame.length) if frame.index is None else frame.index
    first = np.zeros(frame.groups, np.intp)
    first[frame.codes[::-1]] = rows[::-1]
    groups = {cells: number for number, cells in enumerate(frame.table.take(first).cells(keys))}
    return np.array([groups.get(cells, -1) for cells in table.cells(keys)], np.intp)


def with_excerpts(rule: Rule, shown: ShownRows, fired: Array, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, the worst of each subject with its excerpt."""
    wanted = rule.excerpt
    if wanted is None:
        return list(hits)
    chosen = set(worst_hits(hits).values())
    rows = _excerpt_of_groups(wanted, shown, fired[sorted(chosen)])
    return [replace(hit, excerpt=next(rows)) if number in chosen else hit for number, hit in enumerate(hits)]


def worst_hits(hits: Sequence[Hit]) -> dict[object, int]:
    """By name of the subject: the position of its worst hit."""
    worst: dict[object, int] = {}
    for number, hit in enumerate(hits):
        name = hit.name
        if name not in worst or worst_first(hit) < worst_first(hits[worst[name]]):
            worst[name] = number
    return worst


def _excerpt_of_groups(wanted: ExcerptSpec, shown: ShownRows, groups: Array) -> Iterator[Rows]:
    """The excerpt of each of these groups; what it shows in words it has as messages too, where its table does."""
    frame = shown.frame
    kept = value_per_row(wanted.where, frame) == TRUE
    order = value_per_row(wanted.order, frame).astype(np.float64)
    columns = [_column_or_named(frame, name) for name, _ in wanted.columns]
    said = [name for name in (message_column(name) for name, _ in wanted.columns) if frame.has(name)]
    messages = [frame.column(name) for name in said]
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(frame.codes[rows], kind="stable")]
    begin = np.searchsorted(frame.codes[rows], groups, "left")
    end = np.searchsorted(frame.codes[rows], groups, "right")
    heads = [Head(name=name, unit="ns" if kind.unit == MOMENT else kind.unit) for name, kind in wanted.columns]
    heads += [Head(name=name) for name in said]
    for first, last in zip(begin.tolist(), end.tolist(), strict=True):
        mine = _first_by_order(rows[first:last], order, columns, wanted.top)
        cells = [cells_of(column, mine) for column in (*columns, *messages)]
        total = last - first if shown.stands_for is None else int(shown.stands_for[rows[first:last]].sum())
        yield Rows(columns=tuple(heads), rows=tuple(zip(*cells, strict=True)), total=total)


def value_per_row(compiled: Compiled, frame: Frame) -> Array:
    """What an expression says of each row; of a group, of each of its rows."""
    value = compiled.run(frame)
    return repeated(value if compiled.type.per_row else frame.spread(value), frame.length)


def _first_by_order(rows: Array, order: Array, columns: Sequence[Value], top: int) -> Array:
    """The first rows by `order`, equal ones by what is shown, so that the order in the file does not matter."""
    keys = order[rows]
    if len(rows) > top:
        limit = np.partition(keys, top - 1)[top - 1]
        near = ~(keys > limit)
        rows, keys = rows[near], keys[near]
    shown = [cells_of(column, rows) for column in columns]
    tie = [str(cells) for cells in zip(*shown, strict=True)]
    unknown, keys = np.isnan(keys), np.nan_to_num(keys)  # NaN is neither before nor after anything
    places = sorted(range(len(rows)), key=lambda i: (unknown[i], keys[i], tie[i]))
    return rows[np.array(places[:top], np.intp)]


def _column_or_named(frame: Frame, name: str) -> Value:
    return frame.column(name) if frame.has(name) else frame.named[name]


def cells_of(column: Value, rows: Array) -> list[Scalar]:
    """The values of a column in these rows as plain ones, None where missing; numbers with nine digits."""
    if isinstance(column, Texts):
        return list(column.take(rows).values())
    values = np.asarray(column)[rows]
    if values.dtype == np.uint8:
        return [None if value == UNKNOWN else value == TRUE for value in values.tolist()]
    if values.dtype == np.int64:
        return [None if value == MISSING else value for value in values.tolist()]
    return [_plain_number(value) for value in values.tolist()]


def _plain_number(value: float) -> Scalar:
    if not math.isfinite(value):
        return None
    return float(f"{value:.9g}")
