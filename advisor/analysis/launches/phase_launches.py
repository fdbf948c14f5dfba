# SPDX-License-Identifier: Apache-2.0
"""How kernels were launched and what a host that comes late loses, rank by rank and by phases of an engine."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.counted import are_among, distinct_ranks
from advisor.analysis.arrays.intervals import covered_ns, whole_ns
from advisor.analysis.host.after_waits import charge_after_waits
from advisor.analysis.host.host import launches_graph
from advisor.analysis.job.engine_borders import EngineTables, FoundSteps, find_steps_and_passes
from advisor.analysis.job.engine_phases import PHASES
from advisor.analysis.launches.delayed_launches import late_ns_by_task
from advisor.analysis.launches.launch_modes import lost_us_per_step
from advisor.analysis.launches.long_pauses import LONGEST_LAUNCH_US
from advisor.analysis.replay import replay
from advisor.analysis.replay.replayed_rank import ReplayedRank, replayed_rank
from advisor.analysis.steps.device import build_timeline
from advisor.facts.base import MISSING
from advisor.facts.derived import Dispatch, Gap, LaunchDelay, LaunchPause, PhaseLaunch
from advisor.facts.observed import Collective, HostCall, Kernel, Launch
from advisor.facts.table import Array, Table, Texts, ascending, values_at
from advisor.model.run_of_ranks import RunOfRanks

_TOLD = ("prefill", "decode")
"""What people say all of a run is."""
OTHER = -1
"""Beside PHASES: what is of no step of an engine."""
_NAMES = (*PHASES, "other")
_LATE = ("python", "host_late", "dequeue")
"""Causes of idle time that a host which launches late is to blame for."""
_FEWEST = 0.1
"""The part of the steps that take the fewest calls by which a mix is told: one stray step tells none."""
_COLUMNS = ("rank", "engine_phase", "kernels", "calls", "kernel_us", "lost_us", "phase_us", "fewest_calls")


def phase_launches(
    run: RunOfRanks,
    told: EngineTables,
    launches: Table[Launch],
    *,
    held: Table[LaunchDelay] | None,
    idle: Table[Gap] | None,
    links: Table[Dispatch] | None,
    collectives: Table[Collective] | None,
) -> Table[PhaseLaunch]:
    """One row per rank with kernels whose launch is known, and one per phase whose steps are; where these are passes
    within recorded steps one more of all beside them. Where steps are told, only what lies in them counts.

    What is lost lies in pauses as short as those before one kernel: in a long one the host does something else.

    Where graphs were launched of which no kernel is known, the kernels of no known call are theirs, in the row of all.

    A call is told by its start: of all that begin on the device with kernels, those of one moment are one call. It is
    of the step in which the host handed it over, whatever thread launches.
    """
    kernels, held = told.kernels, Table.empty(LaunchDelay) if held is None else held
    phased = _phased_ranks(run, told, launches, links, collectives)
    rows: list[tuple[object, ...]] = []
    for rank in distinct_ranks(kernels["rank"]).tolist():
        of_rank = launches["rank"] == rank
        starts, host = launches["device_start_ns"][of_rank], launches["host_start_ns"][of_rank]
        mine = _that_count(kernels, rank)
        begun, lasts = kernels["start_ns"][mine], kernels["duration_us"][mine]
        known = are_among(begun, ascending(starts))
        if known.any():
            every, begun, lasts, unseen = begun, begun[known], lasts[known], lasts[~known]
            among = are_among(starts, ascending(begun)) & (host != MISSING)
            lost = _without_long_pauses(lost_us_per_step(held, rank, "host"), idle, rank)
            one = phased.get(rank)
            fewest = {} if one is None else one.fewest_calls(starts[among], host[among], every)
            graphs = _graphs_without_kernels(told.calls, rank, host[among]) if len(unseen) else unseen
            every_call, every_kernel = (
                np.append(host[among], graphs),
                np.append(lasts, unseen if len(graphs) else graphs),
            )
            rows.append((rank, None, *_sizes(every_call, every_kernel), lost, np.nan, fewest.get(None, np.nan)))
            if one is not None:
                of_calls, of_kernels = one.phases_at(starts[among]), one.phases_at(begun)
                for phase, spent in one.spent_by_phase(lost, len(np.unique(held["step"][held["rank"] == rank]))):
                    chosen = host[among][of_calls == phase], lasts[of_kernels == phase]
                    rows.append((rank, _NAMES[phase], *_sizes(*chosen), *spent, fewest.get(phase, np.nan)))
    columns = zip(*rows, strict=True) if rows else ((),) * len(_COLUMNS)
    given = dict(zip(_COLUMNS, columns, strict=True))
    return Table.build(PhaseLaunch, **{n: Texts.of(v) if n == "engine_phase" else v for n, v in given.items()})


def _that_count(kernels: Table[Kernel], rank: int) -> Array:
    """Which kernels of one rank have a known start; of one whose steps are told, those that lie in a step."""
    mine: Array = (kernels["rank"] == rank) & (kernels["start_ns"] != MISSING)
    in_steps = mine & (kernels["step"] != MISSING)
    return in_steps if in_steps.any() else mine


def _graphs_without_kernels(calls: Table[HostCall] | None, rank: int, launched: Array) -> Array:
    """When the calls of one rank began that launch a whole graph and none of the known launches."""
    if calls is None:
        return np.empty(0, np.int64)
    api = calls.texts("kind").isin(["api"])
    begun = calls["start_ns"][launches_graph(calls) & api & (calls["rank"] == rank)]
    return np.setdiff1d(begun[begun != MISSING], launched)


def _without_long_pauses(lost_us: float, idle: Table[Gap] | None, rank: int) -> float:
    """What a rank loses of a step, but for pauses that no kernel takes to be launched; of all where none are known."""
    if idle is None or not (mine := idle.take(idle["rank"] == rank)):
        return lost_us
    short = mine.texts("cause").isin(_LATE) & (mine["duration_us"] <= LONGEST_LAUNCH_US)
    return min(lost_us, float(mine["duration_us"][short].sum()) / len(np.unique(mine["step"])))


def launch_pauses(
    run: RunOfRanks,
    idle: Table[Gap],
    told: EngineTables,
    launches: Table[Launch],
    *,
    links: Table[Dispatch] | None,
    collectives: Table[Collective] | None,
) -> Table[LaunchPause]:
    """Every gap that a late launch left, and once more with the phase of the work that ended it where that is known.

    A long one that only begins in a wait for the device is one as well where the host was late after that.
    """
    if told.calls is not None:
        long = idle["duration_us"] > LONGEST_LAUNCH_US
        idle = Table.concat(Gap, [idle.take(~long), charge_after_waits(idle.take(long), told.calls)])
    late = idle.take(idle.texts("cause").isin(_LATE))
    phased = _phased_ranks(run, told, launches, links, collectives)
    phase = np.full(len(late), -1)
    ended = late["start_ns"] + whole_ns(late["duration_us"])
    for rank, one in phased.items():
        here = late["rank"] == rank
        phase[here] = one.phases_at(ended[here])
    rows = np.concatenate([np.arange(len(late)), np.flatnonzero(phase >= 0)])
    said = np.concatenate([np.full(len(late), -1), phase[phase >= 0]])
    both, columns = late.take(rows), Gap.columns()
    return Table.build(
        LaunchPause,
        engine_phase=Texts(said.astype(np.int32), PHASES),
        **{name: both.texts(name) if one.store == "text" else both[name] for name, one in columns.items()},
    )


def _sizes(host: Array, lasts: Array) -> tuple[float, float, float]:
    """Kernels, the calls that launched them, and how long they take together, µs."""
    return float(len(lasts)), _count_distinct(host), float(np.nansum(lasts))


def _count_distinct(moments: Array) -> float:
    ordered = ascending(moments)
    return float(np.count_nonzero(np.diff(ordered)) + (len(ordered) > 0))


class _PhasedRank(Struct, frozen=True):
    """One rank whose engine steps are known; an entry per task that its device did in turn."""

    seen: ReplayedRank
    step: Array
    """Which step launched it; -1 before the first and outside of all."""
    phase: Array
    """Which of PHASES that is; -1 likewise, and of what generates nothing between passes that do."""
    beside_others: bool
    """Whether the steps are passes within others, which do more than these."""

    def phases_at(self, moments: Array) -> Array:
        """The phase of the last task that began until each moment; -1 for none."""
        return values_at(self.phase, self._tasks_at(moments), -1)

    def _tasks_at(self, moments: Array) -> Array:
        found: Array = np.searchsorted(self.seen.replayed.work.start[: len(self.phase)], moments, "right") - 1
        return found

    def fewest_calls(self, starts: Array, host: Array, kernels: Array) -> dict[int | None, float]:
        """By phase, and under None of all: calls for each kernel in the steps that take the fewest.

        `starts` and `host` are when tasks with a known launch begin, and when they were launched; `kernels` is when all
        kernels begin.
        """
        of_call = np.unique(np.stack([values_at(self.step, self._tasks_at(starts), -1), host]), axis=1)[0]
        of_kernel = values_at(self.step, self._tasks_at(kernels), -1)
        ran, many = np.unique(of_kernel[of_kernel >= 0], return_counts=True)
        calls = np.searchsorted(of_call, ran, "right") - np.searchsorted(of_call, ran, "left")
        steps, first = np.unique(self.step, return_index=True)
        for_each, phase = calls / many, self.phase[first[np.searchsorted(steps, ran)]]
        chosen = {None: for_each} | {code: for_each[phase == code] for code in np.unique(phase).tolist()}
        return {code: float(np.quantile(v, _FEWEST, method="inverted_cdf")) for code, v in chosen.items() if len(v)}

    def spent_by_phase(self, lost_us: float, steps: int) -> Iterator[tuple[int, tuple[float, float]]]:
        """Each phase with what it loses of a step, and how much of it it takes, µs.

        A moment is of the phase whose task it ends with: what the device idles before a task, and what it works on it
        beyond those before. So the phases together take no more than the steps, and none loses more than it takes.
        """
        rank, tasks = self.seen.replayed, len(self.phase)
        work = rank.work.take(np.arange(tasks))
        before = np.append(rank.ranks.begin, work.reach)[:tasks]
        idle, taken = (_within(rank, before, np.maximum(until, before)) for until in (work.start, work.reach))
        first = OTHER if self.beside_others else 0
        named = [phase for phase in range(first, len(PHASES)) if (self.phase == phase).any()]
        late = self._late_us_by_phase(named) if len(named) > 1 else np.array([lost_us * steps])
        scale = min(1.0, lost_us * steps / late.sum()) if late.sum() > 0 else 1.0
        for phase, us in zip(named, (late * scale).tolist(), strict=True):
            of = self.phase == phase
            most = float(idle[of].sum())
            lost = np.nan if np.isnan(lost_us) else min(us, most)
            yield phase, (lost / max(steps, 1), float(taken[of].sum()) / max(steps, 1))

    def _late_us_by_phase(self, phases: list[int]) -> Array:
        """What the tasks of each phase begin later for a host that does not keep up, µs."""
        late = late_ns_by_task(self.seen)[: len(self.phase)] / 1e3
        return np.maximum([late[self.phase == phase].sum() for phase in phases], 0.0)


def _phased_ranks(
    run: RunOfRanks,
    told: EngineTables,
    launches: Table[Launch],
    links: Table[Dispatch] | None,
    collectives: Table[Collective] | None,
) -> dict[int, _PhasedRank]:
    """The ranks whose engine steps are known; none where the user said that all steps do the same.

    Worked out once for the same tables.
    """
    if told.calls is None or links is None or run.job.phase in _TOLD:
        return {}
    return told.calls.once(_phased_by_rank, run, launches, links, collectives, told.kernels, *told[2:])


def _phased_by_rank(  # noqa: PLR0917 - the tables it rests on
    calls: Table[HostCall],
    run: RunOfRanks,
    launches: Table[Launch],
    links: Table[Dispatch],
    collectives: Table[Collective] | None,
    kernels: Table[Kernel],
    *others: Any,
) -> dict[int, _PhasedRank]:
    told = EngineTables(kernels, calls, *others)
    known = find_steps_and_passes(run, told, launches)
    if not known:
        return {}
    device = build_timeline(kernels, collectives, told.tasks, told.windows)
    ranks = [rank for rank in known if (device.cells.rank == rank).any()]
    return {
        rank: _phased_rank(replayed_rank(rank, device, links, calls, windows=told.windows), known[rank])
        for rank in ranks
    }


def _phased_rank(seen: ReplayedRank, steps: FoundSteps) -> _PhasedRank:
    rank = seen.replayed
    work = rank.work.take(np.arange(len(rank.work.start) - 1))  # what ends the replay is no task
    launched = np.where(work.queued < replay.UNBOUND, replay.handed_over(rank.queue, work), MISSING)
    step = steps.steps_at(launched, work.start)
    seen = msgspec.structs.replace(seen, engine_ns=steps.border_ns)
    return _PhasedRank(seen, step, values_at(steps.sizes.phase, step, OTHER), steps.beside_others)


def _within(rank: replay.ReplayInput, start: Array, end: Array) -> Array:
    """How much of each stretch lies in steps, µs."""
    return (end - start if rank.steps is None else covered_ns(rank.steps, start, end)) / 1e3
