# SPDX-License-Identifier: Apache-2.0
"""Captures of jobs whose ranks do what a sign says, instruction by instruction, so that each time follows by hand."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import corpus
from corpus import program as do
from corpus.events import Job, KernelInfo, Layout
from corpus.operators import tensors
from corpus.planes import group_name
from corpus.signs import Write
from corpus.simulator import simulate
from corpus.troubles import Troubles
from corpus.workloads import Setup

Work = Callable[[int, int], Iterable[do.Instruction]]
"""What a rank does in a step, both counted from 0."""
Ranks = tuple[int, ...]
MS = 1000.0
_HOST_US = 20.0
_SEED = 11
EVEN = do.Machine(noise=0.0, collective_launch_us=40.0)
"""Work takes exactly as long as it says, and no host takes so long to launch a collective that it holds up a device."""


@dataclass(frozen=True, slots=True)
class Instructed:
    """A workload of nothing but the given work."""

    work: Work
    steps: int = 3
    first_step: int = 11
    troubles: Troubles = field(default_factory=Troubles)

    def step(self, _layout: Layout, rank: int, number: int) -> Iterator[do.Instruction]:
        """What one rank does in one step."""
        yield from self.work(rank, number)
        yield do.AwaitCommunication()
        yield do.Synchronize()


def instructed(
    work: Work,
    layout: Layout,
    *,
    steps: int = 3,
    hosts: Sequence[int] = (),
    groups: tuple[tuple[str, Ranks], ...] = (),
    captured: Ranks = (),
    change: Callable[[Path], object] | None = None,
    machine: do.Machine = EVEN,
    **how: Any,
) -> Write:
    """A capture of ranks that do this work.

    Args:
        hosts: The host of each rank, where these are not the nodes by which links are chosen.
        groups: Further communicators that the profiler knew, by the name the framework gives their kind.
        captured: The ranks that were recorded; empty is all.
        change: What is done to the files that were written.
        how: Of `Export`, and `export`.
    """

    def written(folder: Path) -> None:
        job = _simulated(work, layout, steps, machine)
        for trace, host in zip(job.ranks, hosts, strict=False):
            trace.node = host
        job.ranks = [job.ranks[rank] for rank in captured] or job.ranks
        corpus.write(job, folder, **how)
        for path in folder.rglob("profiler_metadata.json") if groups else ():
            content = json.loads(path.read_bytes())
            content["parallel_group_info"] |= {
                group_name(kind, members): {"group_name": kind, "group_rank": 0, "global_ranks": list(members)}
                for kind, members in groups
            }
            path.write_text(json.dumps(content), encoding="utf-8")
        if change:
            change(folder)

    return written


def _simulated(work: Work, layout: Layout, steps: int, machine: do.Machine) -> Job:
    machine = replace(machine, ranks_per_node=layout.ranks_per_node)
    setup = Setup(Instructed(work, steps), layout, machine)
    ranks = simulate([setup.program(rank) for rank in range(layout.world)], machine, _SEED)
    return Job("sign", _SEED, layout, ranks, setup.environment)


def computes(us: float, op_type: str = "MatMulV3", shape: tuple[int, ...] = (4096, 4096)) -> do.Launch:
    """One kernel of the cube cores."""
    info = KernelInfo(op_type, "AI_CORE", 20, 0, tensors(shape, shape), tensors(shape))
    return do.Launch("aten::matmul", "aclnnMatmul", (do.Kernel(f"aclnn_{op_type}_{op_type}", us, info),), _HOST_US)


def moves(kind: str, members: Ranks, size: int, group: str, *, slower: float = 1.0) -> do.Communicate:
    """One collective, which runs beside what follows."""
    return do.Communicate(f"c10d::{kind}", kind, members, size, group, slower=slower, host_us=_HOST_US)


def moves_alone(kind: str, members: Ranks, size: int, group: str, *, slower: float = 1.0) -> Iterator[do.Instruction]:
    """One collective that what follows waits for."""
    yield moves(kind, members, size, group, slower=slower)
    yield do.AwaitCommunication()
