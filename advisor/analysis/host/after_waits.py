# SPDX-License-Identifier: Apache-2.0
"""What is to blame for idle time that only begins while the host waits for the device."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.at_once import AT_ONCE_NS
from advisor.analysis.arrays.intervals import whole_ns
from advisor.analysis.host import host
from advisor.facts.derived import Gap
from advisor.facts.observed import HostCall
from advisor.facts.table import Table, Texts


def charge_after_waits(idle: Table[Gap], calls: Table[HostCall]) -> Table[Gap]:
    """The same; those that only begin in a wait for the device are given to what the host did then."""
    waited = np.flatnonzero(idle.texts("cause").isin(["synchronise", "blocking_copy"]))
    activities = host.calls_by_activity(calls)
    waits = activities["synchronise"] | activities["blocking_copy"]
    framework = calls.texts("kind").isin(host.FRAMEWORK) & ~waits
    count = len(idle)
    cause, call = np.arange(count), np.arange(count)  # places in the texts below
    found = np.full(count, -1)
    for rank in np.unique(idle["rank"][waited]).tolist():
        here = waited[idle["rank"][waited] == rank]
        start, end = idle["start_ns"][here], idle["start_ns"][here] + whole_ns(idle["duration_us"][here])
        every = host.calls_of(calls, rank).touching(start, end)
        after = ~host.is_mostly_covered(every.take(every.of_rows(waits)).spans, start, end)
        row = host.covering_on_any(calls, every.take(every.of_rows(framework)), start[after], end[after])
        cause[here[after]] = np.where(row >= 0, count, count + 1)
        call[here[after]], found[here[after]] = count + here[after], row
    causes = Texts.concat([idle.texts("cause"), Texts.of(["python", "host_late"])])
    names = Texts.concat([idle.texts("call"), calls.texts("name").at(found)])
    return idle.having(cause=causes.take(cause), call=names.take(call))


def account_after_waits(idle: Table[Gap], calls: Table[HostCall] | None) -> Table[Gap]:
    """The same for an account of all idle time: what follows a wait within some µs is still that of the wait."""
    if calls is None:
        return idle
    long = idle["duration_us"] > AT_ONCE_NS / 1e3
    return Table.concat(Gap, [idle.take(~long), charge_after_waits(idle.take(long), calls)])
