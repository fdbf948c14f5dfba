# SPDX-License-Identifier: Apache-2.0
"""Signs of reinforcement learning on GPUs: ranks that answer to one controller, and not to each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from pathlib import Path

from corpus.gpu_traces import Event, host, launched, trace, write
from corpus.signs import Sign, Write
from corpus.signs.captures import about

_WORLD, _STEPS, _STEP_US, _BEGIN_US = 4, 3, 100_000.0, 1_750_000_000_000_000.0
_KERNEL_US = 1000.0
_ANSWERS, _UPDATES = 50, 20
_UPDATE_US = 72_000.0
"""When the controller goes on in each step: the longest of all answers takes 70 ms."""
_LONGEST = 2


def _rollouts(longer: int) -> Write:
    """Each rank answers with 50 kernels, one with more; then all update at once, with 20 kernels."""

    def written(folder: Path) -> None:
        for rank in range(_WORLD):
            events = list(_events(rank, longer if rank == _LONGEST else 0))
            write(folder / f"rank-{rank}.pt.trace.json", trace(events, rank, _WORLD))

    return written


def _events(rank: int, longer: int) -> Iterator[Event]:
    numbers = count(1)
    for step in range(_STEPS):
        begin = _BEGIN_US + step * _STEP_US + 3.0 * rank
        yield host(f"ProfilerStep#{step + 5}", begin, _STEP_US - 1, "user_annotation")
        yield from _in_turn(numbers, begin + 100, _ANSWERS + longer)
        yield from _in_turn(numbers, begin + _UPDATE_US, _UPDATES)


def _in_turn(numbers: Iterator[int], begin: float, kernels: int) -> Iterator[Event]:
    for place in range(kernels):
        yield from launched(next(numbers), begin + place * _KERNEL_US, 20, _KERNEL_US - 2)


SIGNS: Mapping[str, Sign] = {
    "ranks/long-rollout": Sign(  # a fifth more of the answers, or a twentieth
        spoiled=_rollouts(20),
        twin=_rollouts(3),
        shows={
            "one_rank": _LONGEST,
            "in_turn": 1,
            "more_kernels": about(90 / 75, 0.001),
            "awaited_us": about(15 * (_KERNEL_US - 2), 0.001),
        },
        workload="RL",
    ),
}
