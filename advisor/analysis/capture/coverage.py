# SPDX-License-Identifier: Apache-2.0
"""Whether what one table tells of is there in another: a file that lost rows is known by what its rows were needed for.

Every kernel is a task of the device and every task of a kernel is listed; every launch happened inside of a host call
and led to work on the device; what operators of the framework led to was launched, and they were called; what was put
into the task queue was taken out of it; totals counted what is listed; the steps that the profiler summed up are those
that it marked. In whole captures that holds of every row, at each level and in both exports.

In the trace of a GPU every call that launches a kernel has one too, and steps are numbered without a gap.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec
import numpy as np

from advisor.analysis.arrays.counted import (
    AT_ENDS,
    Counted,
    Moments,
    are_among,
    are_running,
    begins_of_steps,
    count_moments,
    count_steps,
    distinct_ranks,
    moments_by_rank,
    rows_of_counts,
    steps_at,
)
from advisor.analysis.arrays.grouping import group_by, row_of_key
from advisor.analysis.host.host import DEVICE_SOFTWARE, launches_graph
from advisor.analysis.steps.device import drive_collectives
from advisor.facts.base import MISSING
from advisor.facts.derived import RankCoverage
from advisor.facts.observed import (
    ApiTotal,
    Collective,
    DeviceTask,
    HostCall,
    Kernel,
    Launch,
    OperatorLink,
    OperatorTotal,
    RankCapture,
    StepTime,
    StepWindow,
    Transfer,
)
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.model.run_of_ranks import RunOfRanks

DEEPER = ("graph", "runtime")
"""Kinds of calls that are counted in some captures of which no call is written."""
BY_LAUNCH = ("launch", "enqueue", "dequeue")
"""Kinds of calls that are made for every kernel that is launched by itself, or for none."""
_ROUNDING_NS = 1000
"""Starts of one collective in two files are this near; starts of 2023 have no digits below a µs."""
_RECEIVING = ("receive",)
"""Collectives whose transfers may be those of the rank that sent."""
_NOBODY = np.zeros(0, np.int64)
_MARK = re.compile(r"#(\d{1,18})$")
"""The number of a step at the end of its mark."""


def rank_coverage(
    run: RunOfRanks,
    *,
    kernels: Table[Kernel] | None,
    launches: Table[Launch] | None,
    calls: Table[HostCall] | None,
    links: Table[OperatorLink] | None,
    collectives: Table[Collective] | None,
    transfers: Table[Transfer] | None,
    tasks: Table[DeviceTask] | None,
    windows: Table[StepWindow] | None,
    steps: Table[StepTime] | None,
    operators: Table[OperatorTotal] | None,
    interfaces: Table[ApiTotal] | None,
    captures: Table[RankCapture] | None,
) -> Table[RankCoverage]:
    """By rank and table: how many rows need one of it, and how many have one; nothing where none is needed.

    Raises:
        FactMissing: No table has rows that need another, so that nothing can be told.
    """
    told = _ranks_with_device_software(run, captures)
    work = _moments_of_work(kernels, collectives, tasks)
    counts = [
        *_launches(kernels, launches, links, calls, work=work, told=told),
        *_host_calls(launches, links, calls, interfaces, told),
        *_calls_of_each_step(launches, calls, windows),
        *_tasks_and_kernels(kernels, launches, tasks, operators, work=work),
        *_collectives_and_transfers(launches, collectives, transfers, all_listed=run.framework != "MindSpore"),
        *_steps(windows, steps, _NOBODY if calls is None else distinct_ranks(calls["rank"])),
        *_steps_by_marks(windows, calls),
        *_of_traces(launches, calls, windows, _ranks_of_traces(captures)),
    ]
    table = rows_of_counts(run, counts, windows)
    if not len(table):
        raise FactMissing([HostCall.table])
    return table


def _launches(
    kernels: Table[Kernel] | None,
    launches: Table[Launch] | None,
    links: Table[OperatorLink] | None,
    calls: Table[HostCall] | None,
    *,
    work: Moments,
    told: Array,
) -> Iterator[Counted]:
    """Launches, by what operators led to; where no such link was drawn, by kernels, of ranks without graphs.

    Kernels of a graph have no launch of their own; that there is none is known where calls into the device's software
    are.
    """
    begun = {} if launches is None else moments_by_rank(launches["rank"], launches["device_start_ns"])
    drawn = {} if links is None else moments_by_rank(links["rank"], links["device_start_ns"])
    led = {rank: shared for rank, at in drawn.items() if len(shared := at[are_among(at, work.get(rank, _NOBODY))])}
    yield count_moments("launches", "operator_links", led, begun)
    if kernels is None or calls is None:
        return
    kinds = calls.texts("kind")
    software = np.union1d(told, distinct_ranks(calls["rank"], kinds.isin(DEVICE_SOFTWARE)))
    single = np.setdiff1d(software, distinct_ranks(calls["rank"], launches_graph(calls)))
    needing = moments_by_rank(kernels["rank"], kernels["start_ns"])
    alone = {
        rank: needing[rank][needing[rank] >= begun[rank][0]]  # the others were launched before the recording began
        for rank in single.tolist()
        if rank in needing and len(begun.get(rank, _NOBODY)) and rank not in led
    }
    yield count_moments("launches", "kernels", alone, begun)


def _host_calls(
    launches: Table[Launch] | None,
    links: Table[OperatorLink] | None,
    calls: Table[HostCall] | None,
    interfaces: Table[ApiTotal] | None,
    told: Array,
) -> Iterator[Counted]:
    """Host calls, by launches, by what operators led to, by the ends of the task queue and by totals."""
    if calls is None:
        return
    if launches is not None:
        yield _calls_by_launches(calls, launches, told)
    if links is not None:
        yield _calls_by_links(calls, links)
    yield _calls_by_queue(calls)
    if interfaces is not None:
        yield from _calls_and_totals(calls, interfaces, told)


def _calls_by_launches(calls: Table[HostCall], launches: Table[Launch], told: Array) -> Counted:
    """Where calls into the device's software were recorded, it is one of these that holds a launch."""
    software = calls.texts("kind").isin(DEVICE_SOFTWARE)
    below = np.union1d(told, distinct_ranks(calls["rank"], software))
    if above := np.setdiff1d(distinct_ranks(calls["rank"]), below).tolist():
        software |= np.isin(calls["rank"], above)
    holding = np.flatnonzero(software & (calls["start_ns"] != MISSING))
    holding = holding[calls.at("end_ns", holding) >= calls.at("start_ns", holding)]
    begun, ended = (moments_by_rank(calls["rank"][holding], calls.at(end, holding)) for end in ("start_ns", "end_ns"))
    issued = moments_by_rank(launches["rank"], launches["host_start_ns"])
    held = {
        rank: (at, are_running(begun.get(rank, _NOBODY), ended.get(rank, _NOBODY), at)) for rank, at in issued.items()
    }
    return Counted.by_moment("host_calls", "launches", held)


def _calls_by_links(calls: Table[HostCall], links: Table[OperatorLink]) -> Counted:
    """Every link begins where an operator does; a link in the database whose operator is lost has no beginning."""
    begun = moments_by_rank(calls["rank"], calls["start_ns"])
    there: dict[int, tuple[Array, Array]] = {}
    for rank in distinct_ranks(links["rank"]).tolist():
        own = links["rank"] == rank
        called, led = links["operator_start_ns"][own], links["device_start_ns"][own]
        known = called != MISSING
        moment = np.where(known, called, led)
        order = np.argsort(moment, kind="stable")
        moment = moment[order]
        there[rank] = (moment, known[order] & are_among(moment, begun.get(rank, _NOBODY)))
    return msgspec.structs.replace(Counted.by_moment("host_calls", "operator_links", there), held_in="operator_calls")


def _calls_by_queue(calls: Table[HostCall]) -> Counted:
    """What one end of the task queue tells more than the other."""
    kind = calls.texts("kind")
    ends = [calls["rank"][kind.isin([name])] for name in ("enqueue", "dequeue")]
    ranks = np.union1d(*map(distinct_ranks, ends))
    counts = np.stack([np.bincount(row_of_key(ranks, end), minlength=len(ranks)) for end in ends])
    few, many = counts.min(axis=0), counts.max(axis=0)
    return Counted("host_calls", "host_calls", ranks, many, few, held_in="operator_calls")


def _calls_of_each_step(
    launches: Table[Launch] | None, calls: Table[HostCall] | None, windows: Table[StepWindow] | None
) -> Iterator[Counted]:
    """Steps in the middle that launched kernels one by one made those kinds of calls by which most others did."""
    if launches is None or calls is None or windows is None:
        return
    kinds, begun = calls.texts("kind"), begins_of_steps(windows)
    issued = moments_by_rank(launches["rank"], launches["host_start_ns"])
    single = np.setdiff1d(list(issued.keys() & begun.keys()), distinct_ranks(calls["rank"], launches_graph(calls)))
    launching = {
        rank: number[1:-1][count[1:-1] >= AT_ENDS]
        for rank in single.tolist()
        for number, count in [np.unique(steps_at(issued[rank], begun[rank]), return_counts=True)]
    }
    for kind in BY_LAUNCH:
        of_kind = kinds.isin([kind])
        made = moments_by_rank(calls["rank"][of_kind], calls["start_ns"][of_kind])
        there = {
            rank: (steps, np.isin(steps, steps_at(made[rank], begun[rank])))
            for rank, steps in launching.items()
            if rank in made
        }
        usual = {rank: pair for rank, pair in there.items() if pair[1].sum() * 2 > len(pair[1])}
        held_in = "host_calls" if kind == "launch" else "operator_calls"
        yield msgspec.structs.replace(Counted.by_steps("host_calls", "step_windows", usual), held_in=held_in)


def _calls_and_totals(calls: Table[HostCall], totals: Table[ApiTotal], told: Array) -> Iterator[Counted]:
    """Calls into the device's software, by how many were counted, and the reverse.

    Some versions write no call of a deeper level: what is counted of these alone is left out.
    """
    kind, total_kind = calls.texts("kind"), totals.texts("kind")
    counts: dict[int, Array] = {}
    for rank in np.intersect1d(told, totals["rank"]).tolist():
        own, counted = calls["rank"] == rank, totals["rank"] == rank
        each = {name: int((own & kind.isin([name])).sum()) for name in DEVICE_SOFTWARE}
        pairs = [
            (float(np.nansum(totals["calls"][counted & total_kind.isin([name])])), there)
            for name, there in each.items()
            if there or name not in DEEPER
        ]
        counts[rank] = np.array(pairs)
    said, made = ({rank: pairs[:, one].sum() for rank, pairs in counts.items()} for one in (0, 1))
    both = {rank: pairs.min(axis=1).sum() for rank, pairs in counts.items()}
    yield Counted.by_rank("host_calls", "api_totals", {rank: (said[rank], both[rank]) for rank in both})
    yield Counted.by_rank("api_totals", "host_calls", {rank: (made[rank], both[rank]) for rank in both})


def _tasks_and_kernels(
    kernels: Table[Kernel] | None,
    launches: Table[Launch] | None,
    tasks: Table[DeviceTask] | None,
    operators: Table[OperatorTotal] | None,
    *,
    work: Moments,
) -> Iterator[Counted]:
    """Tasks of the device and kernels, by launches, by each other and by totals."""
    if launches is not None:
        led = moments_by_rank(launches["rank"], launches["device_start_ns"])
        yield count_moments("device_tasks", "launches", led, work)
    if tasks is not None:
        listed = {} if kernels is None else moments_by_rank(kernels["rank"], kernels["start_ns"])
        computing = tasks.take(tasks.texts("kind").isin(["kernel"]) & ~drive_collectives(tasks.texts("name")))
        run = moments_by_rank(computing["rank"], computing["start_ns"])
        drawn = {rank: moments for rank, moments in listed.items() if rank in run}
        yield count_moments("device_tasks", "kernels", drawn, moments_by_rank(tasks["rank"], tasks["start_ns"]))
        yield count_moments("kernels", "device_tasks", run, listed)
    if kernels is not None and operators is not None:
        yield _kernels_by_totals(kernels, operators)


def _moments_of_work(
    kernels: Table[Kernel] | None, collectives: Table[Collective] | None, tasks: Table[DeviceTask] | None
) -> Moments:
    """When anything began on the device but waits and marks: arrows to these are drawn by some exporters alone."""
    if tasks is not None:
        tasks = tasks.take(np.flatnonzero(~tasks.texts("kind").isin(["wait", "mark"])))
    known = [(t["rank"], t["start_ns"]) for t in (kernels, collectives, tasks) if t is not None]
    return moments_by_rank(*(np.concatenate([_NOBODY, *part]) for part in zip(*known, strict=True))) if known else {}


def _kernels_by_totals(kernels: Table[Kernel], totals: Table[OperatorTotal]) -> Counted:
    """Kernels, by how many were counted. Totals leave out whole cores in some captures, and may be fewer."""
    totals = totals.take(~drive_collectives(totals.texts("op_type")))
    counts: dict[int, tuple[float, float]] = {}
    for rank in np.intersect1d(distinct_ranks(kernels["rank"]), totals["rank"]).tolist():
        needed = float(np.nansum(totals["calls"][totals["rank"] == rank]))
        counts[rank] = (needed, min(needed, float((kernels["rank"] == rank).sum())))
    return Counted.by_rank("kernels", "operator_totals", counts)


def _collectives_and_transfers(
    launches: Table[Launch] | None,
    collectives: Table[Collective] | None,
    transfers: Table[Transfer] | None,
    *,
    all_listed: bool,
) -> Iterator[Counted]:
    """Collectives, by launches and by what was moved; what was moved, by collectives that took time to move it, and by
    those like others that moved much, where all were listed: MindSpore leaves out those that begin while the host is in
    no step."""
    if launches is not None and collectives is not None:
        whole = launches.take(launches["stream"] == MISSING)
        begun = moments_by_rank(collectives["rank"], collectives["start_ns"])
        issued = moments_by_rank(whole["rank"], whole["device_start_ns"])
        asked = {rank: moments for rank, moments in issued.items() if rank in begun}
        yield count_moments("collectives", "launches", asked, begun, _ROUNDING_NS)
    if collectives is None or transfers is None:
        return
    rank = np.concatenate([collectives["rank"], transfers["rank"]])
    of = group_by(
        rank,
        _steps_known_to_both(collectives, transfers),
        Texts.concat([collectives.texts("name"), transfers.texts("name")]),
    ).of
    listed, moved = of[: len(collectives)], of[len(collectives) :]
    first = np.unique(moved, return_index=True)[1]
    yield Counted.by_row(
        "collectives", "transfers", transfers["rank"][first], transfers["step"][first], np.isin(moved[first], listed)
    )
    if not all_listed:
        return
    carrying = np.isin(listed, moved)
    size = np.nan_to_num(collectives["size_bytes"], nan=0)
    sizes = np.unique(size, return_inverse=True)[1]
    alike = group_by(collectives["rank"], collectives.texts("group"), collectives.texts("op"), sizes).of
    timed = (collectives.floats("transit_us") > 0) & ~collectives.texts("op").isin(_RECEIVING)
    moving = (np.isin(alike, alike[carrying]) & (size > 0)) | timed
    yield Counted.by_row(
        "transfers", "collectives", collectives["rank"][moving], collectives["step"][moving], carrying[moving]
    )


def _steps_known_to_both(collectives: Table[Collective], transfers: Table[Transfer]) -> Array:
    """The steps of both, one behind the other; missing on ranks where one of them is in no step at all."""
    ours, theirs = (distinct_ranks(table["rank"], table["step"] != MISSING) for table in (collectives, transfers))
    rank, step = (np.concatenate([collectives[key], transfers[key]]) for key in ("rank", "step"))
    steps: Array = np.where(np.isin(rank, np.intersect1d(ours, theirs)), step, MISSING)
    return steps


def _steps(windows: Table[StepWindow] | None, steps: Table[StepTime] | None, hosts: Array) -> Iterator[Counted]:
    """Steps: those that were summed up were marked on ranks with calls of the host, and the other way round."""
    marked, summed = _numbered_steps(windows), _numbered_steps(steps)
    read = {rank: numbers for rank, numbers in summed.items() if rank in hosts}
    yield count_steps("step_windows", "step_times", read, marked)
    if steps is not None:
        yield count_steps("step_times", "step_windows", marked, summed)


def _steps_by_marks(windows: Table[StepWindow] | None, calls: Table[HostCall] | None) -> Iterator[Counted]:
    """Steps, by the marks of the framework among the calls of the host: two tables of a database."""
    if windows is None or calls is None:
        return
    names = calls.texts("name")
    numbers = [_MARK.search(name) for name in names.names]
    rows = np.flatnonzero(calls.texts("kind").isin(["step"]) & names.hits(found is not None for found in numbers))
    step_of = np.array([int(found[1]) if found else MISSING for found in numbers], np.int64)
    marked = moments_by_rank(calls["rank"][rows], step_of[names.codes[rows]])
    distinct = {rank: np.unique(steps) for rank, steps in marked.items()}
    yield count_steps("step_windows", "host_calls", distinct, _numbered_steps(windows))


def _of_traces(
    launches: Table[Launch] | None, calls: Table[HostCall] | None, windows: Table[StepWindow] | None, ranks: Array
) -> Iterator[Counted]:
    """Of these ranks, whose traces pair calls and work: kernels, by calls that launch one; steps, by their numbers."""
    if launches is not None and calls is not None:
        launching = np.flatnonzero(calls.texts("activity").isin(["launch"]) & np.isin(calls["rank"], ranks))
        asking = moments_by_rank(calls["rank"][launching], calls["start_ns"][launching])
        yield count_moments(
            "kernels", "host_calls", asking, moments_by_rank(launches["rank"], launches["host_start_ns"])
        )
    marked = {rank: np.unique(steps) for rank, steps in _numbered_steps(windows).items() if rank in ranks}
    numbered = {rank: (float(steps[-1] - steps[0] + 1), float(len(steps))) for rank, steps in marked.items()}
    yield Counted.by_rank("step_windows", "step_windows", numbered)


def _ranks_of_traces(captures: Table[RankCapture] | None) -> Array:
    return _NOBODY if captures is None else captures["rank"][captures.texts("source").isin(["trace"])]


def _numbered_steps(table: Table[StepWindow] | Table[StepTime] | None) -> Moments:
    """By rank: the numbers of its steps."""
    return {} if table is None else moments_by_rank(table["rank"], table["step"])


def _ranks_with_device_software(run: RunOfRanks, captures: Table[RankCapture] | None) -> Array:
    """The ranks of which calls into the device's software are recorded: text leaves them out below Level1."""
    if captures is None or run.framework != "PyTorch":
        return _NOBODY
    held = captures.texts("source").isin(["database"]) | (captures.floats("level_number") >= 1)
    ranks: Array = captures["rank"][held]
    return ranks
