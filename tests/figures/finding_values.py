# SPDX-License-Identifier: Apache-2.0
"""What findings should say, worked out from the raw files by the words of their labels: one function per rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from statistics import mean, median

from advisor.model.findings import Finding
from tests.figures.plain_figures import (
    Split,
    calls_that_meet,
    exposed_us,
    length,
    link_traffic,
    mean_of_steps,
    median_of_others,
    split_steps,
)
from tests.figures.raw_capture import Call, Rank

Values = dict[str, float | str]


class Job:
    """A capture as its files say it, with the parts several findings need."""

    def __init__(self, ranks: list[Rank], members: dict[str, list[int]], stages: Mapping[int, int | None]) -> None:
        self.ranks = {rank.number: rank for rank in ranks}
        self.members = members
        self.stages = stages
        self.splits: dict[int, dict[int | None, Split]] = {rank.number: split_steps(rank) for rank in ranks}
        self.step_us = mean(split.span for steps in self.splits.values() for split in steps.values())

    def of(self, finding: Finding) -> Rank:
        """The rank on which a finding is worst."""
        return self.ranks[finding.seen[0].rank or 0]

    def mean(self, rank: int, part: str) -> float:
        """The mean of a part over the steps of a rank, µs."""
        return mean_of_steps(self.splits[rank], part)

    def peers(self, rank: int) -> list[int]:
        """Itself and the other ranks of its stage."""
        return [other for other in self.ranks if self.stages[other] == self.stages[rank]]

    def step_of(self, rank: int) -> float:
        """The step that shares of what is seen on a rank are of: its own where it is another than the mean."""
        own = self.mean(rank, "span")
        return own if abs(own - self.step_us) > 0.05 * self.step_us else self.step_us


def exposed_communication(job: Job, finding: Finding) -> Values:
    rank = job.of(finding).number
    exposed = job.mean(rank, "exposed")
    return {"exposed_us": exposed, "exposed_share": exposed / job.step_of(rank)}


def dominant_communication(job: Job, finding: Finding) -> Values:
    rank = job.of(finding).number
    comm, compute = job.mean(rank, "comm"), job.mean(rank, "compute")
    share = job.mean(rank, "exposed") / job.step_of(rank)
    return {"talking_us": comm, "busy_us": compute, "ratio": comm / compute, "exposed_share": share}


def free_time(job: Job, finding: Finding) -> Values:
    rank = job.of(finding).number
    free, span = job.mean(rank, "free"), job.mean(rank, "span")
    copies = mean(split.copies or 0 for split in job.splits[rank].values())
    return {"free_us_per_step": free, "total_us": span, "free_share": free / span, "copies_us": copies}


def slow_compute_rank(job: Job, finding: Finding) -> Values:
    rank = job.of(finding).number
    compute, comm = ({other: job.mean(other, part) for other in job.peers(rank)} for part in ("compute", "comm"))
    peers, peers_comm = median_of_others(compute, rank), median_of_others(comm, rank)
    excess = compute[rank] - peers
    told = {item.name: item.value for item in finding.evidence}
    is_given_more = float(told["more_elements"] or 1) - 1 > excess / peers / 2  # which the others get
    reachable = compute[rank] - mean(compute.values()) if is_given_more else excess
    return {
        "rank": rank,
        "own_us": compute[rank],
        "peers_us": peers,
        "excess": excess / peers,
        "own_comm_us": comm[rank],
        "peers_comm_us": peers_comm,
        "imposed_us": min(reachable, max(peers_comm - comm[rank], 0)),
        "others": len(compute) - 1,
    }


def late_rank(job: Job, finding: Finding) -> Values:
    rank = job.of(finding).number
    met = [
        parts
        for parts in calls_that_meet(list(job.ranks.values()))
        if len({job.stages[one.number] for one, _ in parts}) == 1 and len({length(call) for _, call in parts}) > 1
    ]
    mine = [parts for parts in met if rank in {one.number for one, _ in parts}]
    caused: dict[int, list[float]] = {other: [] for other in job.ranks}
    kept: dict[int, set[int]] = {other: set() for other in job.ranks}
    for parts in met:
        last = min(parts, key=lambda part: (length(part[1]), part[0].number))
        shortest = length(last[1])
        caused[last[0].number].append(sum(min(length(call) - shortest, exposed_us(one, call)) for one, call in parts))
        kept[last[0].number] |= {one.number for one, _ in parts} - {last[0].number}
    share = max(len(kept[rank]), 1) * len(job.splits[rank])
    own = caused[rank]
    return {
        "compared": len(mine),
        "last_part": len(own) / len(mine),
        "waited_us": sum(own) / share,
        "again_us": (sum(own) - max(own)) / share,
        "caused_share": sum(own) / share / job.mean(rank, "span"),
        "blamed": sum(own) / sum(sum(caused[other]) for other in job.peers(rank)),
    }


def slow_link(job: Job, finding: Finding) -> Values:
    traffic = link_traffic(list(job.ranks.values()), job.members)
    measured = {item.name: item.value for item in finding.evidence}
    kind = finding.subject["link"]
    (own,) = (one for key, one in traffic.items() if key == (measured["source"], measured["target"], kind))
    alike = [one for key, one in traffic.items() if key[2] == kind and 0.5 <= one.bulk / own.bulk <= 2]
    bandwidth = own.bulk / own.bulk_time / 1000
    usual = median(one.bulk / one.bulk_time / 1000 for one in alike)
    steps = len(next(iter(job.splits.values())))
    return {
        "bandwidth": bandwidth,
        "usual": usual,
        "below": 1 - bandwidth / usual,
        "others": len(alike),
        "moved_bytes": own.size,
        "moving_us": own.bulk_time / steps,
        "lost_us": own.bulk_time / steps * (1 - bandwidth / usual),
    }


def waiting_collectives(job: Job, finding: Finding) -> Values:
    steps = len(next(iter(job.splits.values())))
    times = [[length(call) for _, call in parts] for parts in calls_that_meet(list(job.ranks.values()))]
    times = [each for each in times if max(each) > min(each)]
    per = len(job.ranks) * steps
    waiting = sum(took - min(each) for each in times for took in each) / per
    needed = sum(min(each) * len(each) for each in times) / per
    return {
        "calls": len(times) / steps,
        "waiting_us": waiting,
        "needed_us": needed,
        "waiting_share": waiting / (waiting + needed),
    }


def overlong_collective(job: Job, finding: Finding) -> Values:
    rank, step = job.of(finding), finding.seen[0].step
    calls = [call for call in rank.calls if call.step == step and call.op == finding.subject["op"]]
    longest = max(calls, key=length)
    usual = median(length(call) for call in calls if call is not longest)
    elsewhere = next(parts for parts in calls_that_meet(list(job.ranks.values())) if (rank, longest) in parts)
    values: Values = {
        "longest_us": length(longest),
        "usual_us": usual,
        "times_longer": length(longest) / usual,
        "common_us": min(length(call) for _, call in elsewhere),
    }
    return values if longest.idle is None else values | ({"untold_us": longest.idle} if longest.wait is None else {})


def idle_collectives(job: Job, finding: Finding) -> Values:
    rank = job.of(finding)
    steps = len(job.splits[rank.number])
    calls = [call for call in rank.calls if call.idle is not None]
    idling = sum(call.idle or 0 for call in calls) / steps
    bare = sum(min(call.idle or 0, exposed_us(rank, call)) for call in calls) / steps
    return {
        "idling_us": idling,
        "idle_share": idling / (sum(map(length, calls)) / steps),
        "moving_us": sum(call.transit or 0 for call in calls) / steps,
        "waiting_us": sum(call.wait or 0 for call in calls) / steps,
        "lost_us": bare,
    }


def late_gradient_reduction(job: Job, finding: Finding) -> Values:
    rank = job.of(finding)
    steps = job.splits[rank.number]
    calls = sorted((call for call in rank.calls if call.op == finding.subject["op"]), key=lambda call: call.start)
    bare = sum(max(exposed_us(rank, call) - (call.wait or 0), 0) for call in calls)
    pauses = [max(after.start - before.end, 0) / 1000 for before, after in pairwise(calls) if before.step == after.step]
    before = mean(_computed_before(rank, calls, step) for step in steps)
    bare_compute = mean(steps[call.step].compute - steps[call.step].overlapped for call in calls)
    return {
        "calls": len(calls) / len(steps),
        "total_us": sum(map(length, calls)) / len(steps),
        "exposed_us_per_step": bare / len(steps),
        "exposed_part": bare / sum(length(call) - (call.wait or 0) for call in calls),
        "between_us": sum(pauses) / len(steps),
        "computed_before": before,
        "free_cover_us": 0.667 * before * bare_compute,
    }


def serial_gradient_reduction(job: Job, finding: Finding) -> Values:
    rank = job.of(finding)
    steps = job.splits[rank.number]
    every = [call for call in rank.calls if call.op == finding.subject["op"]]
    calls = [call for call in every if length(call) > max(map(length, every)) / 10]
    work = [length(call) - (call.wait or 0) for call in calls]
    bare = [max(exposed_us(rank, call) - (call.wait or 0), 0) for call in calls]
    held = [(whole, part) for whole, part in zip(work, bare, strict=True) if part > 0.8 * whole]
    return {
        "all_calls": len(calls) / len(steps),
        "calls": len(held) / len(steps),
        "total_us": sum(map(length, calls)) / len(steps),
        "exposed_us_per_step": sum(part for _, part in held) / len(steps),
        "held_part": sum(whole for whole, _ in held) / sum(work),
        "computed_before": mean(_computed_before(rank, calls, step) for step in steps),
    }


def _computed_before(rank: Rank, calls: list[Call], step: int | None) -> float:
    """Which part of the kernels of a step had begun before its first collective, by time or by number."""
    first = min(call.start for call in calls if call.step == step)
    kernels = [kernel for kernel in rank.kernels if kernel.step == step and kernel.end > kernel.start]
    begun = [kernel for kernel in kernels if kernel.start < first]
    times = [sum(kernel.end - kernel.start for kernel in some) for some in (begun, kernels)]
    return min(times[0] / times[1], len(begun) / len(kernels))


def of_operator(names: Mapping[str, str]) -> Callable[[Job, Finding], Values]:
    """Share of kernel time, time per step, calls, of one operator type, under the names of the rule."""

    def values(job: Job, finding: Finding) -> Values:
        rank, op_type = job.of(finding), names["op_type"] or finding.subject["op_type"]
        steps = len(job.splits[rank.number])
        every = [(kernel.end - kernel.start) / 1000 for kernel in rank.kernels]
        own = [(k.end - k.start) / 1000 for k in rank.kernels if k.op_type == op_type]
        told = {"share": sum(own) / sum(every), "us": sum(own) / steps, "calls": len(own) / steps, "longest": max(own)}
        return {names[what]: value for what, value in told.items() if what in names}

    return values


def top_operators(job: Job, finding: Finding) -> Values:
    rank = job.of(finding)
    times: dict[str, float] = {}
    for kernel in rank.kernels:
        times[kernel.op_type] = times.get(kernel.op_type, 0) + (kernel.end - kernel.start) / 1000
    top = max(times, key=times.__getitem__)
    compute, span = job.mean(rank.number, "compute"), job.mean(rank.number, "span")
    return {"top_type": top, "kinds": len(times), "top_share": times[top] / sum(times.values()) * compute / span}


def _by_stage(job: Job, part: str) -> dict[int, float]:
    found: dict[int, list[float]] = {}
    for rank, stage in job.stages.items():
        found.setdefault(stage or 0, []).append(job.mean(rank, part))
    return {stage: mean(values) for stage, values in found.items()}


def stage_imbalance(job: Job, finding: Finding) -> Values:
    compute = _by_stage(job, "compute")
    slowest, average = max(compute.values()), mean(compute.values())
    sends = [
        sum(call.op == "send" and call.step == step for call in rank.calls)
        for rank in job.ranks.values()
        for step in job.splits[rank.number]
    ]
    return {
        "slowest_us": slowest,
        "average_us": average,
        "excess": slowest / average - 1,
        "to_move": 1 - average / slowest,
        "batches": min(count for count in sends if count),
        "pipeline_stages": len(compute),
    }


def bubble(job: Job, finding: Finding) -> Values:
    """A stage waits in its sends and receives, and beyond the end of its step for the stage that is at it longest."""
    compute, waits, spans = (_by_stage(job, part) for part in ("compute", "bubble", "span"))
    unseen = {stage: _unseen_waits(job, stage) for stage in compute}
    stage = int(finding.subject["stage"] or 0)
    moving = _moving_us(job)
    waiting, working = mean(waits[one] + unseen[one] for one in waits), mean(compute.values())
    rest = mean(spans[one] - waits[one] for one in waits)
    ideal = rest * (len(compute) - 1) / (5 * len(compute))
    slight = min(max(compute.values()) - working, 0.05 * working)
    carried = moving if moving > 0.05 * job.step_us else 0.0
    return {
        "waiting_us": waiting,
        "moving_us": moving,
        "waiting_share": waiting / job.step_us,
        "ideal_us": ideal,
        "working_us": rest,
        "slight_us": slight,
        "excess_share": (waiting - ideal - carried - slight) / job.step_us,
        "bubble_us_per_step": waits[stage] + unseen[stage],
        "stage_compute_us": working,
        "own_compute_us": compute[stage],
        "stage_span_us": spans[stage] + unseen[stage],
        "wanted": 5 * len(compute),
    }


def _moving_us(job: Job) -> float:
    """How long data of sends or receives move with no kernel beside them for certain, mean of all stages."""
    found: dict[int, list[float]] = {}
    for rank in job.ranks.values():
        for step in job.splits[rank.number]:
            ways = {"send": 0.0, "receive": 0.0}
            for call in rank.calls:
                if call.op in ways and call.step == step:
                    ways[call.op] += max(0.0, exposed_us(rank, call) - length(call) + (call.transit or 0))
            found.setdefault(job.stages[rank.number] or 0, []).append(max(ways.values()))
    return mean(mean(values) for values in found.values())


def _unseen_waits(job: Job, stage: int) -> float:
    """By how much its steps look shorter than those of the stage where they are longest, on average."""
    found = []
    for step in next(iter(job.splits.values())):
        spans: dict[int, list[float]] = {}
        for rank, steps in job.splits.items():
            spans.setdefault(job.stages[rank] or 0, []).append(steps[step].span)
        means = {one: mean(values) for one, values in spans.items()}
        found.append(max(means.values()) - means[stage])
    return mean(found)


RULES: Mapping[str, Callable[[Job, Finding], Values]] = {
    "comm/exposed-communication": exposed_communication,
    "comm/dominant-communication": dominant_communication,
    "comm/waiting-collectives": waiting_collectives,
    "comm/overlong-collective": overlong_collective,
    "comm/idle-collectives": idle_collectives,
    "comm/late-gradient-reduction": late_gradient_reduction,
    "comm/serial-gradient-reduction": serial_gradient_reduction,
    "compute/cast-excess": of_operator({"op_type": "Cast", "share": "kernel_part", "us": "cast_us", "calls": "casts"}),
    "compute/transdata-excess": of_operator(
        {"op_type": "TransData", "share": "kernel_part", "us": "conversion_us", "calls": "conversions"}
    ),
    "compute/exposed-aicpu": of_operator(
        {"op_type": "", "us": "fallback_us", "calls": "fallbacks", "longest": "longest"}
    ),
    "compute/top-operators": top_operators,
    "host/free-time": free_time,
    "pipeline/bubble": bubble,
    "pipeline/stage-imbalance": stage_imbalance,
    "ranks/late-rank": late_rank,
    "ranks/slow-compute-rank": slow_compute_rank,
    "ranks/slow-link": slow_link,
}
"""Rules whose numbers follow from the files alone; of the others the numbers are estimates, or counted with these."""
