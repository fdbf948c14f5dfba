# SPDX-License-Identifier: Apache-2.0
"""What the host was doing: which calls can hold it up, and which one filled a stretch of time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.counted import distinct_ranks
from advisor.analysis.arrays.grouping import group_by, row_at, row_of_key
from advisor.analysis.arrays.intervals import (
    Spans,
    covered_ns,
    holding_a_middle,
    innermost_covering,
    row_ranges,
    span_at,
    touching_any,
    union,
    union_of_sets,
)
from advisor.facts.base import MISSING
from advisor.facts.narrow import EndColumn
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, MomentColumn, Table, Texts, ascending, places_in_order, row_type, values_at

DEVICE_SOFTWARE = ("api", "launch", "graph", "communicate", "runtime")
"""Kinds of calls into the software of the device."""
LAUNCHING = (*DEVICE_SOFTWARE, "dequeue")
"""Kinds of calls that launch, or stand below one that does."""
FRAMEWORK = ("operator", "optimizer", "python", "enqueue")
_RANGES, _FRAME = ("optimizer", "python"), re.compile(r"\.py\(")
"""Kinds of calls that may be ranges, and what the name of a line of a call stack holds."""
REPLAYING = ("replay", "replay_through")
"""Activities that replay a captured graph, where the kind of the call does not say so."""
EXECUTING = ("execute", "execute_through")
"""Activities that execute a model which was loaded as a file."""
_THROUGH = ("replay_through", "execute_through")
"""Activities that run a graph and return when the device is done with it."""

SPECIFIC = ("gc", "compile", "start_up", "blocking_copy", "synchronise", "data_loader")
"""Activities that name a cause by themselves, the closest first: a loader may wait in a copy, not the reverse."""

LONG_BUILD_NS = 10_000_000
"""From this length on a call that may build an operator did. In public captures 190 calls that found theirs built last
0.06 to 4.1 ms; building one takes the compiler tens of ms at least."""

LONG_FIRST_NS = 5_000_000
"""From this length on a call may do what happens once. In public captures calls that launch last up to 1.5 ms in a warm
program, those that load code or create a context 6.5 ms to 6 s."""
ONCE = 10
"""So many times as long as others of its name a call does once what they need no more (as a pause of `warm_up`)."""
FIRST_CALLS = 100
"""Where no step is marked, a program is warm after so many calls of a name."""
FIRST_NUMBER = 1
"""PyTorch counts steps from 0, MindSpore from 1: beyond that number others of the job came before."""
_NUMBER = re.compile(r"#(\d{1,18})$")
"""The number that ends the name of a marked step."""
_WAITS = re.compile(
    r"^<.*\b(poll|select|acquire|wait|sleep|recv|recv_into|accept|get)\b"
    r"|\b(threading|queue|queues|selectors|connection|popen_\w+)\.py\(\d+\): _?(wait|get|select|poll|recv|join)\w*$"
)
"""Names of calls of Python that wait for another thread or process."""
_NO_START = ("synchronise", "copy", "blocking_copy", "dispatch", "build", "read", "fetch")
"""Activities that last as long as they wait, move or build."""


def launches_graph(calls: Table[HostCall]) -> Array:
    """Per call: whether it launches a whole graph, whose kernels have no launch of their own."""
    return calls.texts("activity").isin(REPLAYING) | calls.texts("kind").isin(["graph"])


def updates_graph(calls: Table[HostCall]) -> Array:
    """Per call: whether it begins or ends to bring tasks up to date that a graph has captured."""
    return calls.texts("activity").isin(["update"])


def runs_graph_through(table: Table[HostCall], calls: Calls) -> Array:
    """Per call: whether it runs a whole graph and waits until that is done."""
    return calls.texts(table.texts("activity")).isin(_THROUGH)


def are_named(table: Table[HostCall], calls: Calls, wanted: re.Pattern[str]) -> Array:
    """Per call of one rank: whether this is found in its name: a name is looked at once for all ranks of a table."""
    found: Array = table.once(_truth_of_each_name, wanted)[calls.of_rows(table.texts("name").codes)]
    return found


def _truth_of_each_name(table: Table[HostCall], wanted: re.Pattern[str]) -> Array:
    """Per name of a call: whether this is found in it; at the end that of one without a name, in which it is not."""
    return np.array([*map(bool, map(wanted.search, table.texts("name").names)), False])


class Calls(Struct, frozen=True):
    """The host calls of one rank that last at all, in order of start."""

    numbers: Array | None
    """Their rows of the table; None where they are its first ones, as most tables are read: calls are many."""
    start: Array
    ends: MomentColumn
    """When each ended, as the table keeps it; of many calls better asked for a few than `end`."""

    def __len__(self) -> int:
        return len(self.start)

    @property
    def end(self) -> Array:
        """When each ended."""
        return self.ends if isinstance(self.ends, np.ndarray) else self.ends[:]

    @property
    def bounds(self) -> Array:
        """When the first of them began, and when the last of them ended; none where there are none."""
        last = [int(self.ends[part].max()) for part in row_ranges(len(self))]
        return np.array([int(self.start[0]), max(last)] if last else [], np.int64)

    @property
    def row(self) -> Array:
        """The row of each in the table, in 32 bits where they hold it; of many calls better asked for a few."""
        return self.rows_at(slice(0, len(self)))

    def rows_at(self, where: Array | slice) -> Array:
        """The rows of those at these places, or where a mask is true."""
        if self.numbers is not None:
            return self.numbers[where]
        if isinstance(where, slice):
            return np.arange(where.start, where.stop, dtype=row_type(len(self)))
        places = np.flatnonzero(where) if where.dtype == bool else where
        return places.astype(row_type(len(self)), copy=False)

    def of_rows(self, values: Array) -> Array:
        """Per call: what stands in its row of a column or a mask of the table; it may be seen there, and is no copy."""
        return values[: len(self)] if self.numbers is None else values[self.numbers]

    def texts(self, column: Texts) -> Texts:
        """Per call: what stands in its row of a text column; asked of these alone where a table has many ranks."""
        return Texts(self.of_rows(column.codes), column.names)

    def take(self, where: Array) -> Calls:
        where = np.flatnonzero(where) if where.dtype == bool else where
        return Calls(self.rows_at(where), self.start.take(where), self.ends.take(where))

    def are_touching(self, start: Array, end: Array) -> Array:
        """Per call: whether it shares time with any of these intervals, of which none is empty."""
        return touching_any(self.start, self.ends, start, end)

    def touching(self, start: Array, end: Array, but: Array | None = None) -> Calls:
        """Those that share time with any of these intervals, of which none is empty; `but` marks calls to leave out."""
        touched = self.are_touching(start, end)
        if but is not None:
            touched &= ~but
        return self.take(touched)

    @property
    def spans(self) -> Spans:
        """When any of them runs."""
        return union(self.start, self.end)

    def spans_of(self, wanted: Array) -> Spans:
        """When any of the wanted ones runs, a mask; none of them is copied out of many but some at a time."""
        parts = ((self.start[part][wanted[part]], self.ends[part][wanted[part]]) for part in row_ranges(len(self)))
        return union_of_sets([union(start, end) for start, end in parts])

    def places_holding(self, moments: Array, wanted: Array) -> tuple[Array, Array, Array]:
        """The places of the wanted calls, a mask, in which any of these ascending moments lies, the end of a call
        included; the first that lies in each, and how many do."""
        narrow = row_type(max(len(self), len(moments)))
        found = [np.empty((3, 0), narrow)]
        for part in row_ranges(len(self)):
            place = part.start + np.flatnonzero(wanted[part])
            first = places_in_order(moments, self.start.take(place), "left")
            count = places_in_order(moments, self.ends.take(place), "right") - first
            holding = np.flatnonzero(count)
            found.append(np.array([one.take(holding) for one in (place, first, count)], narrow))
        places, first, count = np.concatenate(found, axis=1)
        return places, first, count


def calls_of(table: Table[HostCall], rank: int) -> Calls:
    """The calls of one rank; those without a time, or that end before they start, are left out."""
    return table.once(_find_calls, rank)


def _find_calls(table: Table[HostCall], rank: int) -> Calls:
    start, ends = table["start_ns"], table.moments("end_ns")
    lasting = (table["rank"] == rank) & are_lasting(table)
    count = int(np.count_nonzero(lasting))
    if lasting[:count].all():  # as they are read: others lie behind them
        found = Calls(None, start[:count], ends.part(slice(0, count)) if isinstance(ends, EndColumn) else ends[:count])
    else:
        row = np.flatnonzero(lasting).astype(row_type(len(lasting)))
        found = Calls(row, start.take(row), ends.take(row))
    return found if _ascend(found.start) else found.take(np.argsort(found.start, kind="stable"))


def are_lasting(table: Table[HostCall]) -> Array:
    """Per call: whether its times are known and it takes any."""
    start, ends = table["start_ns"], table.moments("end_ns")
    found = np.empty(len(table), bool)
    for part in row_ranges(len(table)):
        found[part] = (start[part] != MISSING) & (ends[part] > start[part])
    return found


def _ascend(moments: Array) -> bool:
    return bool((moments[1:] >= moments[:-1]).all())


class RowMarks(Mapping[str, Array]):
    """Per mark: whether each row bears it. Rows are many and few bear any, so only these are kept, with a bit of each
    mark."""

    def __init__(self, rows: int, masks: Iterable[tuple[str, Array]]) -> None:
        """Up to 16 marks, of which one at a time is there as a mask."""
        self._rows = rows
        self._bits: dict[str, int] = {}
        of_row = np.zeros(rows, np.uint16)
        for mark, mask in masks:
            self._bits[mark] = 1 << len(self._bits)
            of_row[mask] |= np.uint16(self._bits[mark])
        self._marked = np.flatnonzero(of_row).astype(row_type(rows))
        self._of_marked: Array = of_row[self._marked]

    def __getitem__(self, mark: str) -> Array:
        found = np.zeros(self._rows, bool)
        found[self._marked[self._of_marked & np.uint16(self._bits[mark]) != 0]] = True
        return found

    def by_mark(self, calls: Calls) -> dict[str, Calls]:
        """These calls by their marks; one of several is there several times."""
        marked = np.zeros(self._rows, bool)
        marked[self._marked] = True
        places = np.flatnonzero(calls.of_rows(marked))
        own = self._of_marked[np.searchsorted(self._marked, calls.rows_at(places))]
        return {mark: calls.take(places[own & np.uint16(bit) != 0]) for mark, bit in self._bits.items()}

    def __iter__(self) -> Iterator[str]:
        return iter(self._bits)

    def __len__(self) -> int:
        return len(self._bits)


def calls_by_activity(table: Table[HostCall]) -> RowMarks:
    """Per specific activity: whether each row of `host_calls` is one."""
    return table.once(_find_activities)


def _find_activities(table: Table[HostCall]) -> RowMarks:
    return RowMarks(len(table), _masks_of_activities(table))


def _masks_of_activities(table: Table[HostCall]) -> Iterator[tuple[str, Array]]:
    kinds, does = table.texts("kind"), table.texts("activity")
    yield "gc", kinds.isin(["gc"])
    yield "compile", is_compiling(table) | does.isin(["compile"])
    yield "start_up", is_starting_up(table)
    yield "blocking_copy", does.isin(["blocking_copy"])
    yield "synchronise", is_synchronising(table)
    yield "data_loader", kinds.isin(["data_loader"])


def is_compiling(table: Table[HostCall]) -> Array:
    """Per call: whether an operator is built in it.

    A dispatch may find its operator built before. It counts when a build fills more than half of it (0.4 to 19 % of
    those that found theirs built), or when it is long.
    """
    does = table.texts("activity")
    outer, inner = does.isin(["dispatch"]), does.isin(["build"])
    rows = np.flatnonzero((outer | inner) & are_lasting(table))
    start, end = table.at("start_ns", rows), table.at("end_ns", rows)
    found = np.zeros(len(outer), bool)
    found[rows] = end - start >= LONG_BUILD_NS
    threads = group_by(table["rank"][rows], table.at("thread", rows))
    for thread in range(len(threads)):
        own = threads.of == thread
        builds, calls = own & inner[rows], own & outer[rows]
        found[rows[calls]] |= is_mostly_covered(union(start[builds], end[builds]), start[calls], end[calls])
    return found


def are_of_launching_threads(table: Table[HostCall], marked: Array) -> Array:
    """The marked calls that were made by a thread that launches: what a helper does beside it holds nothing up.

    Where none of the threads of a rank is known to launch, all of them may.
    """
    found = np.zeros(len(marked), bool)
    for part in row_ranges(len(marked)):
        rows = part.start + np.flatnonzero(marked[part])
        found[rows] = made_by_launching_threads(table, rows)
    return found


def made_by_launching_threads(table: Table[HostCall], rows: Array) -> Array:
    """The same of these rows of calls, one by one."""
    ranks, threads = table.once(_find_launching_threads)
    found = np.zeros(len(rows), bool)
    for part in row_ranges(len(rows)):
        own = rows[part]
        rank = table["rank"][own]
        found[part] = (row_at(ranks, threads, rank, table.at("thread", own)) >= 0) | ~np.isin(rank, ranks)
    return found


def _find_launching_threads(table: Table[HostCall]) -> tuple[Array, Array]:
    """The threads that launch, each once: their ranks and ids."""
    kinds, does = table.texts("kind"), table.texts("activity")
    return _threads_making(table, kinds.isin(("launch", "graph", "enqueue", "dequeue")) | does.isin(["launch"]))


def _threads_making(table: Table[HostCall], chosen: Array) -> tuple[Array, Array]:
    """The threads that make these calls, each once: their ranks and ids."""
    ranks, threads = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    for part in row_ranges(len(chosen)):
        rows = part.start + np.flatnonzero(chosen[part])
        rank, thread = table["rank"][rows], table.at("thread", rows)
        first = group_by(rank, thread).first
        ranks.append(rank[first])
        threads.append(thread[first])
    rank, thread = np.concatenate(ranks), np.concatenate(threads)
    first = group_by(rank, thread).first
    return rank[first], thread[first]


def is_starting_up(table: Table[HostCall]) -> Array:
    """Per call into the software of the device: whether it does what happens once, such as loading code on first use.

    It lasts far longer than others of its name, and than each of those that come later: after the first recorded step,
    or, where none is marked, after many of its name. Memory that is taken or given back in a step which is known to be
    a later one of the job is no start-up: what it needs once it has by then.
    """
    kinds, does, names = (table.texts(name) for name in ("kind", "activity", "name"))
    start = table["start_ns"]
    rows = np.flatnonzero(kinds.isin(DEVICE_SOFTWARE) & ~does.isin(_NO_START) & are_lasting(table))
    length = table.at("end_ns", rows) - start[rows]
    long = rows[length >= LONG_FIRST_NS]
    found = np.zeros(len(kinds), bool)
    if not len(long):
        return found
    known = np.isin(names.codes[rows], names.codes[long])
    rows, length = rows[known], length[known]
    same = group_by(table["rank"][rows], names.take(rows))
    lasted, number = length.astype(np.float64), same.turns(start[rows])
    warm, later = _ends_of_first_steps(table, table["rank"][rows])
    early = np.where(warm == MISSING, number < FIRST_CALLS, start[rows] < warm)
    others = np.fmax(same.medians_of_others(lasted), same.largest(np.where(early, np.nan, lasted))[same.of])
    recurring = does.take(rows).isin(["allocate", "free", "pin"]) & (start[rows] >= later)
    found[rows[early & ~recurring & (lasted >= LONG_FIRST_NS) & ~(lasted < ONCE * others)]] = True
    return found


def _ends_of_first_steps(table: Table[HostCall], rank: Array) -> tuple[Array, Array]:
    """Per rank asked for: when its first marked step ended on the host; missing where none was marked.

    And when it began, where its number tells that others of the job came before it; else later than anything.
    """
    names = table.texts("name")
    steps = np.flatnonzero(table.texts("kind").isin(["step"]) & (table["start_ns"] != MISSING))
    steps = steps[np.lexsort((table["start_ns"][steps], table["rank"][steps]))]
    ranks, first = np.unique(table["rank"][steps], return_index=True)
    first, of = steps[first], row_of_key(ranks, rank)
    numbers = [_NUMBER.search(name) for name in names.names]
    numbered = names.hits(found is not None and int(found[1]) > FIRST_NUMBER for found in numbers)[first]
    never = np.iinfo(np.int64).max
    begin = np.where(numbered, table["start_ns"][first], never)
    return values_at(table.at("end_ns", first), of, MISSING), values_at(begin, of, never)


def is_synchronising(table: Table[HostCall]) -> Array:
    """Per call: whether the host waits in it until the device is done."""
    return table.texts("activity").isin(["synchronise"])


def are_event_waits(table: Table[HostCall]) -> Array:
    """Per call: whether the host waits in it for an event that was recorded before."""
    names = table.texts("name")
    return is_synchronising(table) & names.hits("Event" in name for name in names.names)


def are_waiting_reads(table: Table[HostCall]) -> Array:
    """Per call: whether it reads a value that may have to come from the device.

    Where waits for the device were recorded on a rank, a read without one inside reads what the host has already.
    """
    reads = table.texts("activity").isin(["read"])
    waits = is_synchronising(table) | table.texts("activity").isin(["blocking_copy"])
    timed = table["start_ns"] != MISSING
    telling = np.unique(table["rank"][is_synchronising(table) & table.texts("kind").isin(["api"]) & timed])
    doubted = np.flatnonzero(reads & timed)
    doubted = doubted[np.isin(table["rank"][doubted], telling)]
    waiting = np.flatnonzero(waits & timed)
    rows = np.append(doubted, waiting)
    threads = group_by(table["rank"][rows], table.at("thread", rows)).of
    of_read, of_wait = np.split(threads, [len(doubted)])
    for thread in np.unique(of_read).tolist():
        own, inside = doubted[of_read == thread], waiting[of_wait == thread]
        begun = np.append(ascending(table["start_ns"][inside]), np.iinfo(np.int64).max)
        first = begun[np.searchsorted(begun, table["start_ns"][own])]
        reads[own] = first <= table.at("end_ns", own)
    return reads


def begin_within(table: Table[HostCall], inner: Array, outer: Array) -> Array:
    """Per call: whether it is one of `inner` and begins while one of `outer` runs on its thread, both by row."""
    timed = table["start_ns"] != MISSING
    one, other = np.flatnonzero(inner & timed), np.flatnonzero(outer & timed)
    rows = np.append(one, other)
    threads = group_by(table["rank"][rows], table.at("thread", rows)).of
    of_inner, of_outer = np.split(threads, [len(one)])
    found = np.zeros(len(table), bool)
    for thread in np.intersect1d(of_inner, of_outer).tolist():
        own, around = one[of_inner == thread], other[of_outer == thread]
        spans = union(table["start_ns"][around], table.at("end_ns", around))
        found[own] = span_at(spans, table["start_ns"][own]) >= 0
    return found


def blocking_copies(table: Table[HostCall]) -> Array:
    """Rows of copy calls in which the host waits: the call blocks, or the next one of its thread synchronises."""
    api = np.flatnonzero(table.texts("kind").isin(["api"]) & (table["start_ns"] != MISSING))
    api = api.astype(row_type(len(table)))
    if not table.texts("activity").take(api).isin(["blocking_copy", "copy"]).any():
        return api[:0]
    lanes = table.at("thread", api)
    if len(distinct_ranks(table["rank"])) > 1:
        lanes = group_by(table["rank"][api], lanes).of
    api = api[np.lexsort((table["start_ns"][api], lanes))]
    del lanes
    does = table.texts("activity").take(api)
    waiting, copying = does.isin(["blocking_copy"]), np.flatnonzero(does.isin(["copy"]))
    copying = copying[copying + 1 < len(api)]
    copying = copying[does.isin(["synchronise"])[copying + 1]]
    one, other = api[copying], api[copying + 1]
    same = (table.at("thread", one) == table.at("thread", other)) & (table["rank"][one] == table["rank"][other])
    waiting[copying[same]] = True
    found: Array = api[waiting]
    return found


def covering_on_thread(calls: Calls, start: Array, end: Array) -> Array:
    """Per interval: the row of the innermost call that covers more than half of it, or -1. Calls of one thread."""
    return values_at(calls.row, innermost_covering(calls.start, calls.end, start, end), -1)


def covering_on_any(
    table: Table[HostCall], calls: Calls, start: Array, end: Array, *, among: Array | None = None
) -> Array:
    """The same over all threads of each rank, or of those of the calls in a mask: the shortest of those found on each.
    No two ranks share a moment. A thread that calls no operators and waits for something itself, as one that loads data
    does for work, is none of them."""
    found, length = np.full(len(start), -1), np.full(len(start), np.iinfo(np.int64).max)
    calls = calls.take(holding_a_middle(calls.start, calls.ends, start, end, among))
    turns = _turns_of_threads(table["rank"][calls.row], table.at("thread", calls.row))
    for turn in range(int(turns.max(initial=-1)) + 1):
        at = innermost_covering(calls.start, calls.end, start, end, among=np.flatnonzero(turns == turn))
        row = _without_helpers(table, values_at(calls.row, at, -1))
        lasts = np.where(row >= 0, table.at("end_ns", row) - table["start_ns"][row], np.iinfo(np.int64).max)
        found, length = np.where(lasts < length, row, found), np.minimum(lasts, length)
    return found


def _turns_of_threads(rank: Array, thread: Array) -> Array:
    """Per call: the place of its thread among those of its rank."""
    threads = group_by(rank, thread)
    of_rank = rank[threads.first]
    return (np.arange(len(threads)) - np.searchsorted(of_rank, of_rank))[threads.of]


def _without_helpers(table: Table[HostCall], row: Array) -> Array:
    """These rows of calls, -1 instead of those in which a thread that calls no operators waits for something."""
    names = table.texts("name")
    waiting = np.flatnonzero((row >= 0) & table.once(_truth_of_each_name, _WAITS)[names.codes[row]])
    if len(waiting):
        calling = table.once(_find_calling_threads)
        rows = row[waiting]
        operates = row_at(*calling, table["rank"][rows], table.at("thread", rows)) >= 0
        row = row.copy()
        row[waiting[~operates]] = -1
    return row


def longest_of_several(calls: Calls, start: Array, end: Array) -> Array:
    """Per interval: of calls in no other that together fill more than half of it the row of the one that fills most, or
    -1. Calls in order of start."""
    found = np.full(len(start), -1, np.int64)
    reach = np.maximum.accumulate(np.append(np.iinfo(np.int64).min, calls.end))[: len(calls)]
    calls = calls.take(calls.end > reach)
    first, last = np.searchsorted(calls.end, start, "right"), np.searchsorted(calls.start, end, "left")
    count = np.maximum(last - first, 0)
    of = np.repeat(np.arange(len(start)), count)
    at = np.arange(count.sum()) - np.repeat(np.cumsum(count) - count, count) + np.repeat(first, count)
    shared = np.minimum(calls.end[at], end[of]) - np.maximum(calls.start[at], start[of])
    order = np.argsort(shared, kind="stable")
    found[of[order]] = calls.row[at[order]]  # of several that which is written last is kept
    return np.where(is_mostly_covered(calls.spans, start, end), found, -1)


def _find_calling_threads(table: Table[HostCall]) -> tuple[Array, Array]:
    """The threads that call operators, each once: their ranks and ids."""
    return _threads_making(table, table.texts("kind").isin(("operator", "enqueue")))


def are_ranges(table: Table[HostCall], rank: int) -> Array:
    """Per call of a rank, as `calls_of` gives them: whether it is a range of a program or of an optimizer.

    Other calls of its thread begin in it. Frames of call stacks are none, for their own lines run.
    """
    found = np.zeros(len(calls_of(table, rank)), bool)
    found[table.once(_find_ranges, rank)] = True
    return found


def _find_ranges(table: Table[HostCall], rank: int) -> Array:
    """Their places among the calls of the rank: few of them are any, and this is kept."""
    calls = calls_of(table, rank)
    found = np.zeros(len(calls), bool)
    named = calls.texts(table.texts("kind")).isin(_RANGES) & ~are_named(table, calls, _FRAME)
    if not named.any():
        return np.empty(0, np.int32)
    later: dict[int, Array] = {}  # by thread: when the next two of its calls begin
    of_named = np.unique(table.at("thread", calls.rows_at(named))).tolist()
    for part in reversed([*_parts_by_moment(calls.start)]):
        start, threads = calls.start[part], table.at("thread", calls.rows_at(part))
        for thread in of_named:
            of_thread = threads == thread
            begun = np.concatenate([start[of_thread], later.get(thread, _NO_MOMENTS), _NO_MOMENTS])
            own = np.flatnonzero(named[part] & of_thread)
            second = begun[np.searchsorted(begun, start[own]) + 1]  # the first is itself, or begins with it
            found[part.start + own] = second < calls.ends[part][own]
            later[thread] = begun[:2]
    return np.flatnonzero(found).astype(row_type(len(found)))


_NO_MOMENTS = np.full(2, np.iinfo(np.int64).max)


def _parts_by_moment(moments: Array) -> Iterator[slice]:
    """All rows of ascending moments, some at a time; equal ones are in one part."""
    begins = [int(np.searchsorted(moments, moments[part.start])) for part in row_ranges(len(moments))]
    edges = [*dict.fromkeys(begins), len(moments)]
    return (slice(begin, end) for begin, end in pairwise(edges))


def is_mostly_covered(spans: Spans, start: Array, end: Array) -> Array:
    """Per interval: whether more than half of it lies in the set."""
    return 2 * covered_ns(spans, start, end) > end - start


def running_at(calls: Calls, moment: Array, slack: Array) -> Array:
    """Per moment: the row of the call that began before it and was then running, or ended less than `slack` before."""
    if not len(calls):
        return np.full(len(moment), -1)
    reach = np.maximum.accumulate(calls.end)
    at = np.searchsorted(calls.start, moment, "left") - 1
    inside = (at >= 0) & (reach[np.maximum(at, 0)] >= moment - slack)
    longest = np.searchsorted(reach, reach[np.maximum(at, 0)])
    return np.where(inside, calls.row[longest], -1)


def enqueue_of_dequeue(table: Table[HostCall], dequeued: Array) -> Array:
    """Per row of a dequeue: the row of the enqueue of its rank that it answers, by correlation id, or -1."""
    if not len(dequeued):
        return np.full(0, -1)
    rows, answered = table.once(_find_enqueues)
    return values_at(answered, row_of_key(rows, dequeued), -1)


def _find_enqueues(table: Table[HostCall]) -> tuple[Array, Array]:
    """The rows of all dequeues, and of the enqueue that each answers, or -1: looked for once for all ranks."""
    kinds, narrow = table.texts("kind"), row_type(len(table))
    enqueues = np.flatnonzero(kinds.isin(["enqueue"])).astype(narrow)
    enqueues = enqueues[table.at("connection", enqueues) != MISSING]
    dequeued = np.flatnonzero(kinds.isin(["dequeue"])).astype(narrow)
    rank, connection = table["rank"], table.at("connection", enqueues)
    at = row_at(rank[enqueues], connection, rank[dequeued], table.at("connection", dequeued))
    return dequeued, values_at(enqueues, at, -1)
