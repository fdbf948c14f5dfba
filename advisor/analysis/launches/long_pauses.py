# SPDX-License-Identifier: Apache-2.0
"""Long pauses of the host: which reads and copies they come after, and between which calls they lie.

A value is read or copied, and the host goes on with something of its own that takes long: it saves, rewards or logs.
Without that it would only hide as long as the device still has enough to do, so it is that work that is to be told.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.intervals import Spans, covered_ns, span_at, union, union_of_sets
from advisor.analysis.host import host
from advisor.analysis.replay.replayed_rank import ReplayedRank
from advisor.facts.table import Array, Texts, values_at

LONGEST_LAUNCH_US = 1000.0
"""In four public captures of models that run eagerly no pause before a kernel reaches half of this, and in one of a
serving engine those that do make up an eighth of all."""
FEW_READS = 2
"""A step may read its loss and a norm: what its host does after them is not asked to hide."""
_FEW = 0.25
"""Own: of reads of which more than this part come before such pauses, the pauses are usual, and each read costs one."""
_UNUSUAL = 5
"""Own, as of silent pauses: so many times as long as the middle one of its step a pause is no restart after a read."""


def waits_before_long_pauses(seen: ReplayedRank) -> Spans:
    """The waits for a value or a copy after which the device idles long, where few of many in a step lose most so.

    Only what no kind of cost fills of these pauses counts.
    """
    filled = union_of_sets([calls.spans for calls in seen.kinds.values()])
    return union_of_sets(
        [_before_long_pauses(seen, seen.kinds[name].spans, filled) for name in ("read", "blocking_copy")]
    )


def _before_long_pauses(seen: ReplayedRank, calls: Spans, filled: Spans) -> Spans:
    waits, work = seen.replayed.waits, seen.replayed.work
    own = span_at(calls, waits.end - 1) >= 0
    waits = Spans(waits.start[own], waits.end[own])
    begins = values_at(work.start, np.searchsorted(work.start, waits.end), 0)
    begins = np.maximum(begins, waits.end)
    pause = (begins - waits.end - covered_ns(filled, waits.end, begins)).astype(np.float64)
    if not len(waits):
        return waits
    steps = group_by(seen.cells.on_host(np.full(len(waits), seen.rank), waits.end - 1))
    longer = pause > np.maximum(_UNUSUAL * steps.medians(pause)[steps.of], LONGEST_LAUNCH_US * 1e3)
    most = 2 * steps.sums(np.where(longer, pause, 0.0)) > steps.sums(pause)
    few = np.count_nonzero(longer) <= _FEW * len(longer)
    kept = longer & few & (most & (steps.sizes > FEW_READS))[steps.of]
    return Spans(waits.start[kept], waits.end[kept])


def calls_around(seen: ReplayedRank, start: Array, end: Array) -> tuple[Texts, Texts]:
    """Per pause: what ended last before the launching threads fell silent in it, and what began first after that; both
    missing where recorded calls fill half of it.

    Of calls that end or begin together the longest is named: it is around the others.
    """
    names, calls = seen.table.texts("name"), _calls_that_do_near(seen, start, end)
    busy, by_end = calls.spans, np.argsort(calls.end, kind="stable")
    found = np.full((2, len(start)), -1)
    for place, pause in enumerate(zip(start.tolist(), end.tolist(), strict=True)):
        silent = _longest_silence(busy, *pause)
        if silent is not None:
            found[:, place] = (
                _longest_at(calls, by_end[_rows_at(calls.end[by_end], silent[0])]),
                _longest_at(calls, np.arange(len(calls))[_rows_at(calls.start, silent[1])]),
            )
    return names.at(found[0]), names.at(found[1])


def _calls_that_do_near(seen: ReplayedRank, start: Array, end: Array) -> host.Calls:
    """What launching threads call of the framework and of the software of the device, no further from a pause than it
    is long; no ranges of a program."""
    around = union(start - (end - start), end + (end - start))
    they_do = seen.calls.texts(seen.table.texts("kind")).isin([*host.FRAMEWORK, *host.DEVICE_SOFTWARE])
    they_do &= ~host.are_ranges(seen.table, seen.rank)
    they_do &= seen.calls.are_touching(around.start, around.end)
    near = np.flatnonzero(they_do)
    return seen.calls.take(near[host.made_by_launching_threads(seen.table, seen.calls.rows_at(near))])


def _longest_silence(busy: Spans, start: int, end: int) -> tuple[int, int] | None:
    """The longest stretch of a pause in which nothing runs, from one end to the next begin of something; None where it
    is less than half of the pause."""
    first, last = np.searchsorted(busy.end, start, "right"), np.searchsorted(busy.start, end, "left")
    begins, ends = busy.end[max(first - 1, 0) : last], busy.start[first : last + 1]
    count = min(len(begins), len(ends))
    begins, ends = begins[:count], ends[:count]
    if first == 0 or not count:
        return None
    within = np.minimum(ends, end) - np.maximum(begins, start)
    longest = int(np.argmax(within))
    return (int(begins[longest]), int(ends[longest])) if 2 * within[longest] > end - start else None


def _rows_at(ordered: Array, moment: int) -> slice:
    return slice(int(np.searchsorted(ordered, moment, "left")), int(np.searchsorted(ordered, moment, "right")))


def _longest_at(calls: host.Calls, rows: Array) -> int:
    return int(calls.row[rows[np.argmax(calls.end[rows] - calls.start[rows])]])
