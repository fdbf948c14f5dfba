# SPDX-License-Identifier: Apache-2.0
"""A long collective or copy that let the launch queue run dry, and the vertical links that follow it.

The host runs ahead of the device only as long as nothing makes it wait. Where it waits for a long task, the queue is
empty when the task ends, and every launch after it finds an idle device until the host is ahead again.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, row_at
from advisor.analysis.arrays.intervals import whole_ns
from advisor.analysis.host import host
from advisor.analysis.launches.dispatch import clock_tolerances
from advisor.analysis.launches.long_pauses import LONGEST_LAUNCH_US
from advisor.analysis.steps.device import collective_times, task_times
from advisor.facts.derived import Dispatch, Interruption
from advisor.facts.observed import Collective, DeviceTask, HostCall
from advisor.facts.table import Array, Table, Texts, values_at


def interruptions(
    links: Table[Dispatch],
    collectives: Table[Collective] | None,
    tasks: Table[DeviceTask] | None,
    calls: Table[HostCall] | None,
) -> Table[Interruption]:
    """All candidates: whether one is worth a word is for rules to say.

    In a pause longer than those before single launches the host does something else than launching.

    The head must last longer than the median idle time before the vertical links of its rank, for otherwise it is one
    of the short tasks among them; it also begins a stretch anew. Where links were vertical before it without such a
    head, the host was behind already, and a head drains no queue.
    """
    heads = _head_tasks(collectives, tasks)
    vertical = np.flatnonzero(links["vertical"] == 1)
    idle = links["idle_before_us"][vertical]
    head = row_at(heads["rank"], heads["end"], links["rank"][vertical], links["start_ns"][vertical] - whole_ns(idle))
    length = values_at(heads["end"] - heads["start"], head, 0)
    usual = _usual_idle(links["rank"][vertical], idle)
    led = (head >= 0) & (length > whole_ns(usual))
    behind, same_step = _goes_on(links, vertical, "rank"), _goes_on(links, vertical, "rank", "step")
    drained = led[np.maximum.accumulate(np.where(behind, 0, np.arange(len(vertical))))]
    begins = led | ~same_step
    stretch = Groups(np.cumsum(begins) - 1, np.flatnonzero(begins))
    kept = np.flatnonzero((led & drained)[stretch.first])
    first = stretch.first[kept]
    return Table.build(
        Interruption,
        rank=links["rank"][vertical[first]],
        step=links["step"][vertical[first]],
        kind=Texts(heads["kind"][head[first]].astype(np.int32), ("comm", "copy")),
        op=_head_names(collectives, heads, head[first]),
        start_ns=heads["start"][head[first]],
        head_us=length[first] / 1e3,
        synchronised=_is_synchronised(calls, links, heads, head[first]),
        links=stretch.sizes[kept].astype(np.float64),
        idle_us=stretch.sums(np.where(idle <= LONGEST_LAUNCH_US, idle, 0.0))[kept],
    )


def _head_tasks(collectives: Table[Collective] | None, tasks: Table[DeviceTask] | None) -> dict[str, Array]:
    """Collectives (kind 0) and copies (kind 1) with rank, row, start and end."""
    collectives = Table.empty(Collective) if collectives is None else collectives
    tasks = Table.empty(DeviceTask) if tasks is None else tasks
    comm, other = collective_times(collectives), task_times(tasks)
    copy = other.take(tasks.texts("kind").isin(["copy"])[other.row])
    return {
        "rank": np.concatenate([collectives["rank"][comm.row], tasks["rank"][copy.row]]),
        "row": np.concatenate([comm.row, copy.row]),
        "kind": np.repeat([0, 1], [len(comm.row), len(copy.row)]),
        "start": np.concatenate([comm.start, copy.start]),
        "end": np.concatenate([comm.end, copy.end]),
    }


def _usual_idle(rank: Array, idle: Array) -> Array:
    names, of = np.unique(rank, return_inverse=True)
    groups = Groups(of, np.zeros(len(names), np.intp))
    usual: Array = groups.medians(idle)[of]
    return usual


def _goes_on(links: Table[Dispatch], vertical: Array, *alike: str) -> Array:
    """Per vertical link: whether the launch just before it, of the same rank or what is named, was vertical too."""
    goes_on = np.append(False, np.diff(vertical) == 1)[: len(vertical)]
    for name in alike:
        goes_on &= np.append(False, np.diff(links[name][vertical]) == 0)[: len(vertical)]
    return goes_on


def _head_names(collectives: Table[Collective] | None, heads: dict[str, Array], head: Array) -> list[str | None]:
    ops = [] if collectives is None else collectives.texts("op").values()
    rows = zip(heads["kind"][head].tolist(), heads["row"][head].tolist(), strict=True)
    return ["copy" if kind else ops[row] for kind, row in rows]


def _is_synchronised(
    calls: Table[HostCall] | None, links: Table[Dispatch], heads: dict[str, Array], head: Array
) -> Array:
    """Per head: whether the host waited for its end in a synchronising call; -1 where calls were not recorded."""
    found = np.full(len(head), -1, np.int8)
    if calls is None:
        return found
    waits = host.is_synchronising(calls) | host.calls_by_activity(calls)["blocking_copy"]
    ranks, end = heads["rank"][head], heads["end"][head]
    known = ~np.isnan(links["latency_us"])
    slack = clock_tolerances(links["rank"][known], whole_ns(links["latency_us"][known]), ranks)
    for rank in np.unique(ranks).tolist():
        here = ranks == rank
        own = host.calls_of(calls, rank)
        row = host.running_at(own.take(own.of_rows(waits)), end[here], slack[here])
        found[here] = row >= 0
    return found
