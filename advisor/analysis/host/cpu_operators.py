# SPDX-License-Identifier: Apache-2.0
"""Operators that compute on the host what was copied from the device, which stands still until they are done."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import row_at
from advisor.analysis.arrays.intervals import Spans, span_at, union, whole_ns
from advisor.analysis.host import host
from advisor.analysis.steps.device import COPY, DeviceTimeline
from advisor.facts.base import MISSING
from advisor.facts.derived import Dispatch
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table, values_at

LEAST_NS = 100_000
"""An operator that only launches, or makes a view, takes the host some 5 to 50 µs: one that lasts longer computes."""


class CpuOperators(Struct, frozen=True):
    """What one rank computes on the host between two copies."""

    calls: host.Calls
    """The operators, those that stand in no other one."""
    stretches: Spans
    """From each copy to the host until the last of these operators is done or, where it follows, the copy back."""

    def among(self, kinds: Mapping[str, host.Calls]) -> dict[str, host.Calls]:
        """Calls by kind with these among them. Copies made for them are no `blocking_copy`: their cost is theirs."""
        copies = kinds["blocking_copy"]
        others = copies.take(span_at(self.stretches, copies.start) < 0)
        return {**kinds, "blocking_copy": others, "cpu_operator": self.calls}

    @classmethod
    def none(cls) -> CpuOperators:
        """No such operator."""
        nothing = np.empty(0, np.int64)
        return cls(host.Calls(nothing, nothing, nothing), Spans.none())


def cpu_operators(table: Table[HostCall], rank: int, device: DeviceTimeline, links: Table[Dispatch]) -> CpuOperators:
    """Operators that launch nothing, and before which the last thing launched was a copy of a tensor to the host.

    Where the framework hands launching over to a second thread an operator launches what it hands over; where it is not
    known when that was, nothing is. Values that are read, as by `item()`, are no tensors; what loads data, or makes a
    tensor of nothing, reads none.
    """
    return table.once(_find_operators, rank, device, links)


def possible_cpu_operators(
    table: Table[HostCall], rank: int, device: DeviceTimeline, links: Table[Dispatch]
) -> host.Calls:
    """What would be such operators if all copies whose direction was not recorded went to the host."""
    found = CpuOperators.none() if not len(device.untold) else _find_operators(table, rank, device, links, untold=True)
    return found.calls


def _find_operators(
    table: Table[HostCall], rank: int, device: DeviceTimeline, links: Table[Dispatch], *, untold: bool = False
) -> CpuOperators:
    calls, kinds, does = host.calls_of(table, rank), table.texts("kind"), table.texts("activity")
    fetching = device.untold if untold else device.to_host
    if not len(fetching):
        return CpuOperators.none()
    moment, fetched, sent = _launches_of_rank(rank, device, links, fetching)
    handed = _handed_over(table, calls, moment)
    order = np.argsort(handed, kind="stable")
    moment, fetched, sent = handed[order], fetched[order], sent[order]
    reading = calls.take(calls.texts(does).isin(["read"])).spans
    fetched &= span_at(reading, moment) < 0
    if not fetched.any() or (moment == MISSING).any():
        return CpuOperators.none()
    names = table.texts("name")  # a range that a program marks has the same kind, and no namespace
    computing = names.hits("::" in name for name in names.names) & kinds.isin(["operator"]) & ~does.isin(["make"])
    found = calls.take(calls.of_rows(computing))
    found = found.take(found.end - found.start >= LEAST_NS)
    loading = calls.take(calls.texts(kinds).isin(["data_loader"])).spans
    before = np.searchsorted(moment, found.start) - 1
    alone = np.searchsorted(moment, found.end) - 1 == before
    kept = alone & (before >= 0) & values_at(fetched, before, False) & (span_at(loading, found.start) < 0)
    found, before = found.take(kept), before[kept]
    outermost = found.end > np.append(MISSING, np.maximum.accumulate(found.end))[: len(found)]
    found, before = found.take(outermost), before[outermost]
    end = np.maximum(found.end, _ends_of_copies_back(table, calls, moment, sent, before + 1))
    return CpuOperators(found, union(moment[before], end))


def _launches_of_rank(
    rank: int, device: DeviceTimeline, links: Table[Dispatch], fetching: Spans
) -> tuple[Array, Array, Array]:
    """When the host launched what the device of a rank did, in order; what of it copies to the host, and from it. What
    copies while something of `fetching` runs copies to the host."""
    work = device.work
    rows = np.flatnonzero(device.cells.rank[work.cell] == rank)
    link = row_at(links["rank"], links["start_ns"], np.full(len(rows), rank), work.start[rows])
    rows, link = rows[link >= 0], link[link >= 0]
    latency = links["latency_us"][link]
    rows, link, latency = (one[~np.isnan(latency)] for one in (rows, link, latency))
    moment = work.start[rows] - whole_ns(latency)
    order = np.argsort(moment, kind="stable")
    rows, at = rows[order], work.start[rows[order]] + device.axis.shift[work.cell[rows[order]]]
    copies, to_host = work.kind[rows] == COPY, span_at(fetching, at) >= 0
    return moment[order], copies & to_host, copies & ~to_host & (span_at(device.to_or_from_host, at) >= 0)


def _handed_over(table: Table[HostCall], calls: host.Calls, moment: Array) -> Array:
    """Per launch: when it was handed over to the thread that made it, missing where that is not known; of all others
    the launch itself."""
    taken = calls.take(calls.texts(table.texts("kind")).isin(["dequeue"]))
    at = np.searchsorted(taken.start, moment, "right") - 1
    inside = np.flatnonzero((at >= 0) & (moment < values_at(taken.end, at, MISSING)))
    found = moment.copy()
    found[inside] = values_at(table["start_ns"], host.enqueue_of_dequeue(table, taken.row[at[inside]]), MISSING)
    return found


def _ends_of_copies_back(
    table: Table[HostCall], calls: host.Calls, moment: Array, sent: Array, following: Array
) -> Array:
    """Per launch: when the host was done with it and with waiting for it, if it is a copy to the device."""
    waiting = calls.take(calls.texts(table.texts("activity")).isin(["copy", "blocking_copy", "synchronise"]))
    last = np.searchsorted(waiting.start, values_at(moment, following + 1, np.iinfo(np.int64).max)) - 1
    since = values_at(waiting.start, last) >= values_at(moment, following, np.iinfo(np.int64).max)
    found: Array = np.where(values_at(sent, following, False) & since, values_at(waiting.end, last), MISSING)
    return found
