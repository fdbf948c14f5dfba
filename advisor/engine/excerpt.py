# SPDX-License-Identifier: Apache-2.0
"""The rows behind a finding: a few of the rows of its worst group, in a total order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from msgspec.structs import replace

from advisor.engine.hit import Hit, worst_first
from advisor.expr.compile import Compiled
from advisor.expr.frame import TRUE, UNKNOWN, Frame, Value
from advisor.expr.language import MOMENT
from advisor.facts.base import MISSING
from advisor.facts.table import Array, Texts
from advisor.model.findings import Head, Rows, Scalar
from advisor.rules.bind import Excerpt, Rule


def excerpts(rule: Rule, frame: Frame, fired: Array, hits: Sequence[Hit]) -> list[Hit]:
    """The hits, the worst of each subject with its excerpt."""
    wanted = rule.excerpt
    if wanted is None:
        return list(hits)
    chosen = set(worst_hits(hits).values())
    rows = _rows(wanted, frame, fired[sorted(chosen)])
    return [replace(hit, excerpt=next(rows)) if number in chosen else hit for number, hit in enumerate(hits)]


def worst_hits(hits: Sequence[Hit]) -> dict[object, int]:
    """By name of the subject: the position of its worst hit."""
    worst: dict[object, int] = {}
    for number, hit in enumerate(hits):
        name = hit.name
        if name not in worst or worst_first(hit) < worst_first(hits[worst[name]]):
            worst[name] = number
    return worst


def _rows(wanted: Excerpt, frame: Frame, groups: Array) -> Iterator[Rows]:
    """The excerpt of each of these groups."""
    kept = _per_row(wanted.where, frame) == TRUE
    order = _per_row(wanted.order, frame).astype(np.float64)
    columns = [_column(frame, name) for name, _ in wanted.columns]
    rows = np.flatnonzero(kept)
    rows = rows[np.argsort(frame.codes[rows], kind="stable")]
    begin = np.searchsorted(frame.codes[rows], groups, "left")
    end = np.searchsorted(frame.codes[rows], groups, "right")
    heads = tuple(Head(name=name, unit="ns" if kind.unit == MOMENT else kind.unit) for name, kind in wanted.columns)
    for first, last in zip(begin.tolist(), end.tolist(), strict=True):
        mine = _top(rows[first:last], order, columns, wanted.top)
        cells = [cells_of(column, mine) for column in columns]
        yield Rows(columns=heads, rows=tuple(zip(*cells, strict=True)), total=last - first)


def _per_row(compiled: Compiled, frame: Frame) -> Array:
    value = compiled.run(frame)
    return np.broadcast_to(np.asarray(value if compiled.type.per_row else frame.spread(value)), frame.length)


def _top(rows: Array, order: Array, columns: Sequence[Value], top: int) -> Array:
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


def _column(frame: Frame, name: str) -> Value:
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
    return [_number(value) for value in values.tolist()]


def _number(value: float) -> Scalar:
    if not np.isfinite(value):
        return None
    return float(f"{value:.9g}")
