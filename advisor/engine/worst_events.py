# SPDX-License-Identifier: Apache-2.0
"""When a finding happened: the worst events behind it, with their times as recorded.

Those where the finding is worst come first, for the numbers of its title are taken there.

The events are rows of the rule's own table, or of another one (`occurrences: in:`) that share keys with the rows in
which the rule fired. Only few are kept of each finding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from advisor.engine.excerpt import in_parts, value_per_row, worst_hits
from advisor.engine.hit import Hit
from advisor.engine.profile_like import ProfileLike
from advisor.expr.compile import compile_for_columns
from advisor.expr.frame import TRUE, Frame, number_rows
from advisor.facts.base import MISSING, Fact, Moment
from advisor.facts.selection import Selected
from advisor.facts.table import Array, Table, Texts, row_type, sortable, stable_order
from advisor.messages.errors import FactMissing
from advisor.model.findings import Occurrence
from advisor.rules.bind import Rule
from advisor.rules.occurrences import Occurrences

MOST = 20
"""Events kept of one finding: what a person may look at one by one."""
_MOST_LEADING = 5
"""Events kept for the sake of the place where the finding is worst: as many as a report lists."""
_LATEST_NS = 1 << 62
"""Beyond the year 2116 no event was recorded."""


class _Events(Struct, frozen=True):
    """Rows of an event table, each with the finding it belongs to; an event may belong to several."""

    row: Array
    finding: Array
    order: tuple[Array, ...]
    """Keys by which the worst come first, the first one leading."""


def with_occurrences(rule: Rule, frame: Frame, fired: Array, hits: Sequence[Hit], profile: ProfileLike) -> list[Hit]:
    """The hits, the worst of each subject with the worst events of all hits of that subject."""
    wanted = rule.occurrences
    if wanted is None or not hits:
        return list(hits)
    try:
        table = _events_of(rule, wanted, profile) if wanted.by else frame.table
    except FactMissing:  # what is missing only says when, not whether
        return list(hits)
    if table is None or wanted.fact.moment is None:
        return list(hits)
    worst = worst_hits(hits)
    numbers = {name: number for number, name in enumerate(worst)}
    finding = np.full(frame.groups, -1)
    finding[fired] = [numbers[hit.name] for hit in hits]
    events = (
        _joined_events(rule, wanted, frame, finding, table) if wanted.by else _own_events(wanted, frame, finding, rule)
    )
    places = [(hits[number].rank, hits[number].step) for number in worst.values()]
    found = dict(zip(worst.values(), _worst_by_finding(table, wanted.fact.moment, events, places), strict=True))
    return [replace(hit, occurrences=found[number]) if number in found else hit for number, hit in enumerate(hits)]


def worst_events(rule: Rule) -> WorstEvents | None:
    """Which events a rule wants of a heavy table, whatever it finds; None where it wants the table or none."""
    wanted = rule.occurrences
    if wanted is None or not wanted.selectable:
        return None
    where, order = (None if part is None else part.source for part in (wanted.where, wanted.order))
    apart = {"rank", *rule.for_each} & {"rank", "step"} & wanted.fact.columns().keys()
    by = dict.fromkeys((*(theirs for _, theirs in wanted.by), *sorted(apart)))
    return WorstEvents(wanted.fact, tuple(by), where, order, tuple(sorted(wanted.names)))


def _events_of(rule: Rule, wanted: Occurrences, profile: ProfileLike) -> Table[Any]:
    selection = worst_events(rule)
    return profile.table(wanted.fact) if selection is None else profile.selected(selection).rows


def _own_events(wanted: Occurrences, frame: Frame, finding: Array, rule: Rule) -> _Events:
    """The rows of the groups that fired."""
    of = finding[frame.codes]
    kept = np.flatnonzero(of >= 0)
    if wanted.where is not None:
        kept = kept[value_per_row(wanted.where, frame)[kept] == TRUE]
    order = wanted.order or rule.own_order
    keys = (value_per_row(order, frame)[kept],) if order is not None else ()
    return _Events(kept if frame.index is None else frame.index[kept], of[kept], keys)


def _joined_events(rule: Rule, wanted: Occurrences, frame: Frame, finding: Array, table: Table[Any]) -> _Events:
    """The rows of another table that share the keys of rows in which the rule fired."""
    events = Frame(table)
    events.named.update({name: frame.named[name] for name in wanted.names if name in frame.named})
    row = np.arange(len(table))
    if wanted.where is not None:
        row = row[value_per_row(wanted.where, events) == TRUE]
    own, of, standing = _rows_that_fired(rule, frame, finding)
    key, row, at = _events_sharing_keys(wanted, frame, own, table=table, row=row)
    keys, findings, best = _best_standing_by_pair(key, of, standing)
    row, pair = _events_by_pair(row, at, keys)
    if wanted.order is not None:
        return _Events(row, findings[pair], (value_per_row(wanted.order, events)[row],))
    return _Events(row, findings[pair], (best[pair],))


def _rows_that_fired(rule: Rule, frame: Frame, finding: Array) -> tuple[Array, Array, Array | None]:
    """The rows in which the rule fired, the finding of each, and how they stand by the order of the rule's rows."""
    of = finding[frame.codes]
    own = np.flatnonzero(of >= 0)
    if rule.excerpt is not None:
        shown = own[value_per_row(rule.excerpt.where, frame)[own] == TRUE]
        own = shown if len(shown) else own
    standing = None if rule.row_order is None else np.nan_to_num(value_per_row(rule.row_order, frame)[own], nan=np.inf)
    return own, of[own], standing


def _events_sharing_keys(
    wanted: Occurrences, frame: Frame, own: Array, *, table: Table[Any], row: Array
) -> tuple[Array, Array, Array]:
    """The keys of our rows as numbers, the events that have such a key, and which one."""
    key, at = np.zeros(len(own), np.int64), np.zeros(len(row), np.int64)
    for mine, theirs in wanted.by:
        ours = _stored_column(frame.table, mine, own if frame.index is None else frame.index[own])
        code, other = _as_numbers(ours, _stored_column(table, theirs, row))
        size, known = int(max(code.max(initial=0), other.max(initial=0))) + 1, other >= 0
        row, at = row[known], at[known] * size + other[known]
        distinct, key = np.unique(key * size + code, return_inverse=True)
        at = _position_of(distinct, at)
        row, at = row[at >= 0], at[at >= 0]
    return key, row, at


def _stored_column(table: Table[Any] | None, name: str, rows: Array) -> Array | Texts:
    if table is None:
        return np.empty(0, np.int64)
    text = table.fact.columns()[name].store == "text"
    return table.texts(name).take(rows) if text else table[name][rows]


def _as_numbers(ours: Array | Texts, theirs: Array | Texts) -> tuple[Array, Array]:
    """Two columns as small numbers, the same for the same value; -1 for a value that none of ours has."""
    if isinstance(ours, Texts) and isinstance(theirs, Texts):
        numbers = {name: number for number, name in enumerate(ours.names, 1)}
        lookup = np.array([*(numbers.get(name, -1) for name in theirs.names), 0], np.int64)  # missing is a value too
        return ours.codes.astype(np.int64) + 1, lookup[theirs.codes]
    distinct, code = np.unique(np.asarray(ours), return_inverse=True)
    return code.reshape(-1), _position_of(distinct, np.asarray(theirs))


def _position_of(distinct: Array, values: Array) -> Array:
    """The position of each value in a sorted array of distinct ones, or -1."""
    if not len(distinct):
        return np.full(len(values), -1)
    at = np.minimum(np.searchsorted(distinct, values), len(distinct) - 1)
    return np.where(distinct[at] == values, at, -1)


def _best_standing_by_pair(key: Array, finding: Array, standing: Array | None) -> tuple[Array, Array, Array]:
    """Key, finding and best standing of each pair of the first two, by key."""
    standing = np.zeros(len(key)) if standing is None else standing
    order = np.lexsort((standing, finding, key))
    key, finding, standing = key[order], finding[order], standing[order]
    first = np.append(True, (np.diff(key) != 0) | (np.diff(finding) != 0))[: len(key)]
    return key[first], finding[first], standing[first]


def _events_by_pair(row: Array, key: Array, keys: Array) -> tuple[Array, Array]:
    """Each event once for every pair of its key: row and pair."""
    begin, end = np.searchsorted(keys, key, "left"), np.searchsorted(keys, key, "right")
    times = end - begin
    of = np.repeat(np.arange(len(row)), times)
    within = np.arange(len(of)) - np.repeat(np.cumsum(times) - times, times)
    return row[of], begin[of] + within


class WorstEvents(Struct, frozen=True):
    """The events of a rank that may be among the worst of some finding: of those with the same keys, the first ones."""

    fact: type[Fact]
    by: tuple[str, ...]
    where: str | None
    order: str | None
    names: tuple[str, ...]
    """The columns in `where` and `order`."""

    def select(self, table: Table[Any]) -> Selected:
        """The worst events of each combination of keys, those without a time left out."""
        return self._selected(table, self._worst_of_parts(table, ()))

    def select_by_rank(self, table: Table[Any], ranks: Sequence[int]) -> tuple[Selected, list[int]]:
        """The same of each of these ranks, in their order, and how many each has."""
        rows = self._worst_of_parts(table, ("rank",))
        of = table["rank"][rows]
        parts = [rows[of == rank] for rank in ranks]
        return self._selected(table, np.concatenate([*parts, rows[:0]])), [*map(len, parts)]

    def _worst_of_parts(self, table: Table[Any], apart: tuple[str, ...]) -> Array:
        """The rows to choose of each part of a table that has one value in these columns."""
        rows = table.once_for_now(_timed_rows_worst_first)
        frame = in_parts(table, rows, apart)
        if self.where is not None:
            rows = rows[value_per_row(compile_for_columns(self.where, self.fact), frame) == TRUE]
            frame = in_parts(table, rows, apart)
        keys = []
        if self.order is not None:
            order = value_per_row(compile_for_columns(self.order, self.fact), frame).astype(np.float64)
            keys = [np.nan_to_num(order, nan=np.inf)]
        cells, count = number_rows(frame, (*apart, *self.by))
        worst = np.lexsort((*keys, sortable(cells, count)))
        sizes = np.bincount(cells, minlength=count)
        within = np.arange(len(rows)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        chosen: Array = np.sort(rows[worst[within < MOST]])
        return chosen

    def _selected(self, table: Table[Any], rows: Array) -> Selected:
        moment = _moment_of(self.fact)
        used = (*self.by, *self.names, moment.start, moment.lasts, moment.end, moment.rank, "step", *moment.name)
        return Selected(table.only(used, rows), np.ones(len(rows), np.int64))


def _moment_of(fact: type[Fact]) -> Moment:
    assert fact.moment is not None  # noqa: S101 - a rule without times of its events is refused
    return fact.moment


def _timed_rows_worst_first(table: Table[Any]) -> Array:
    """The rows with a time that can be, the longest first; of equal ones the lower rank, then the earlier one."""
    moment = _moment_of(table.fact)
    start, lasted = table[moment.start], np.nan_to_num(_durations_us(table, moment, np.arange(len(table))))
    rows = np.flatnonzero(_is_timed(start, lasted))
    rows = rows[np.lexsort((start[rows], table[moment.rank][rows]))]
    return rows[stable_order(-lasted[rows])].astype(row_type(len(table)))


def _is_timed(start: Array, lasted_us: Array) -> Array:
    """Which events have a time that can be: recorded, and not of another age."""
    timed: Array = (start > 0) & (start < _LATEST_NS) & (lasted_us >= 0)
    return timed


# The worst of them


RankAndStep = tuple[int | None, int | None]
"""Rank and step; None for any."""


def _worst_by_finding(
    table: Table[Any], moment: Moment, events: _Events, places: Sequence[RankAndStep]
) -> Iterator[tuple[Occurrence, ...]]:
    """The worst events of each finding, those without a time left out; `places` is where each finding is worst."""
    start = table[moment.start][events.row]
    lasted = np.nan_to_num(_durations_us(table, moment, events.row))
    timed = _is_timed(start, lasted)
    ties = (-lasted, table[moment.rank][events.row], start)
    keys = [np.nan_to_num(key.astype(np.float64), nan=np.inf) for key in (*events.order, *ties[:2])] + [start]
    here = np.flatnonzero(timed)
    here = here[np.argsort(events.finding[here], kind="stable")]
    edges = np.searchsorted(events.finding[here], np.arange(len(places) + 1)).tolist()
    for place, first, last in zip(places, edges[:-1], edges[1:], strict=True):
        mine = here[first:last]
        away = _away_from(place, table, moment, events.row[mine])
        chosen = mine[_worst_with_leading(away, [key[mine] for key in keys])]
        yield _occurrences_of(table, moment, events.row[chosen], lasted[chosen])


def _away_from(place: RankAndStep, table: Table[Any], moment: Moment, row: Array) -> Array:
    """How far each row is from a place: 0 there, 1 in another step of the rank, 2 on another rank."""
    rank, step = place
    elsewhere = np.zeros(len(row), bool) if rank is None else table[moment.rank][row] != rank
    stepped = step is not None and "step" in table.fact.columns()
    later = table["step"][row] != step if stepped else np.zeros(len(row), bool)
    return np.where(elsewhere, 2, later.astype(np.int64))


def _worst_with_leading(away: Array, keys: Sequence[Array]) -> Array:
    """The positions of the worst, nearest first; some of the nearest are among them whatever is worse elsewhere."""
    leading = _worst_rows(np.flatnonzero(away == away.min(initial=2)), keys, _MOST_LEADING)
    left = np.ones(len(away), bool)
    left[leading] = False
    chosen = np.append(leading, _worst_rows(np.flatnonzero(left), keys, MOST - len(leading)))
    return chosen[np.lexsort([*(key[chosen] for key in reversed(keys)), away[chosen]])]


def _durations_us(table: Table[Any], moment: Moment, row: Array) -> Array:
    """How long each row took, µs; 0 for an instant."""
    if moment.lasts:
        return table.floats(moment.lasts)[row]
    if not moment.end:
        return np.zeros(len(row))
    end = table[moment.end][row]
    return np.where(end == MISSING, 0.0, np.subtract(end, table[moment.start][row]) / 1e3)


def _worst_rows(rows: Array, keys: Sequence[Array], most: int) -> Array:
    """The first rows by these keys, ascending; sorted only as far as needed."""
    left, sure = rows, np.empty(0, np.intp)
    for key in keys:
        need = most - len(sure)
        if len(left) <= need:
            break
        limit = np.partition(key[left], need - 1)[need - 1]
        sure = np.append(sure, left[key[left] < limit])
        left = left[key[left] == limit]
    found = np.append(sure, left)
    return found[np.lexsort([key[found] for key in reversed(keys)])][:most]


def _occurrences_of(table: Table[Any], moment: Moment, rows: Array, lasted: Array) -> tuple[Occurrence, ...]:
    few = table.take(rows).rows()
    return tuple(
        Occurrence(
            table=table.fact.table,
            rank=_whole_number(row.get(moment.rank)),
            step=_whole_number(row.get("step")),
            name=next((str(row[name]) for name in moment.name if row[name]), ""),
            start_ns=int(str(row[moment.start])),
            duration_us=float(f"{us:.9g}"),
        )
        for row, us in zip(few, lasted.tolist(), strict=True)
    )


def _whole_number(value: object) -> int | None:
    return value if isinstance(value, int) else None
