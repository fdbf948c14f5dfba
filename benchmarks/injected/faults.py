# SPDX-License-Identifier: Apache-2.0
"""The faults: how a program changes when something is wrong with the job, and which rules name it.

A fault is given an amount, in ns per step: how much more work it makes. How much longer the step gets is what the
run says, and the amount is chosen so that it gets longer by a stated part.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from benchmarks.injected.capture import Capture
from benchmarks.injected.changes import Changes, Operator
from benchmarks.injected.program import Collective, Job


@dataclass(slots=True)
class Run:
    """A run that is being spoiled."""

    job: Job
    captures: Sequence[Capture]
    ranks: list[Changes]
    step_ns: float

    @classmethod
    def of(cls, job: Job, captures: Sequence[Capture]) -> Run:
        """The run of a program."""
        return cls(job, captures, [Changes(rank) for rank in job.ranks], job.longest_step_ns)

    @property
    def steps(self) -> int:
        """How many were recorded."""
        return max(len(self.job.ranks[0].steps), 1)


Spoil = Callable[[Run, float], None]


@dataclass(frozen=True, slots=True)
class Fault:
    """What can be wrong, and how a diagnosis may name it."""

    spoil: Spoil
    named_by: frozenset[str]
    """Any of these rules names it."""
    shown_by: frozenset[str] = field(default_factory=frozenset)
    """These may show it as well: symptoms of it that are no answer, and are not held against a diagnosis."""
    growth: float | None = 0.15
    """By what part the step shall get longer; as it comes where this is None, and then without a control."""
    common: Callable[[Run], None] | None = None
    """What is changed beforehand, and is no part of the fault."""
    ranks: frozenset[int] = field(default_factory=frozenset)
    """The ranks that are to be named; none where it is all of them."""
    bases: tuple[str, ...] = ("recorded", "balanced")
    """Into which bases it is put."""
    pattern: str = ""
    """The shipped pattern that finds it, where it is a chain that one fused operator would replace."""
    workload: str = ""
    """What whoever ran it says that it is, where it shall be taken for something else than a training."""


HOST = frozenset({"host/free-time", "host/late-launches", "host/interrupted-launches", "host/slow-preparation"})
TALK = frozenset({
    "comm/exposed-communication", "comm/dominant-communication", "comm/waiting-collectives", "comm/overlong-collective",
    "comm/unseen-late-rank", "ranks/late-rank", "comm/idle-collectives",
})  # fmt: skip
JITTER = frozenset({"host/step-jitter", "capture/boundary-step"})


def spread(found: Sequence[Operator], wanted: int) -> list[Operator]:
    """So many of them, evenly."""
    if not found:
        return []
    wanted = max(min(wanted, len(found)), 1)
    return [found[int((place + 0.5) * len(found) / wanted)] for place in range(wanted)]


def forward(changes: Changes) -> list[list[Operator]]:
    """Per step the operators that the main thread called before the backward pass."""
    found = []
    for operators in changes.in_steps(changes.operators):
        backward = [op.top.begin.at for op in operators if op.top.lane is not changes.rank.main]
        until = min(backward, default=max((op.top.end.at for op in operators), default=0))
        found.append([op for op in operators if op.top.lane is changes.rank.main and op.top.end.at <= until])
    return found


def pieces(run: Run, amount: float, most: int) -> int:
    """In how many places a fault of this amount is put: all of them from a tenth of the step on, fewer below."""
    return min(max(round(most * amount / (0.1 * run.step_ns)), 1), most)


def kernels_of(changes: Changes) -> list[list[Operator]]:
    """Per step the operators with kernels."""
    return [[op for op in operators if op.kernels] for operators in changes.in_steps(changes.operators)]


def collectives_of(run: Run) -> list[list[Collective]]:
    """The meetings, in the order in which they ended."""
    return sorted(run.job.meetings, key=lambda meeting: min(c.end.at for c in meeting))


def all_faults() -> Mapping[str, Fault]:
    """Every fault by its name."""
    from benchmarks.injected import (
        chain_faults,
        comm_faults,
        compute_faults,
        gpu_faults,
        host_faults,
        mode_faults,
        rank_faults,
    )

    modules = (host_faults, mode_faults, compute_faults, chain_faults, rank_faults, comm_faults, gpu_faults)
    return {name: fault for module in modules for name, fault in module.FAULTS.items()}
