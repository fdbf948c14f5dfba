# SPDX-License-Identifier: Apache-2.0
"""The order of work in a pipeline: one forward, one backward (1F1B), plain or interleaved over chunks of the model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import NamedTuple


class Move(Enum):
    """One thing a stage does: compute, or exchange with the stage before or after it."""

    FORWARD = ()
    BACKWARD = ("", "")
    SEND_FORWARD = ("send", "forward")
    RECEIVE_FORWARD = ("receive", "forward")
    SEND_BACKWARD = ("send", "backward")
    RECEIVE_BACKWARD = ("receive", "backward")
    SEND_FORWARD_RECEIVE_BACKWARD = ("send", "receive", "forward")
    SEND_BACKWARD_RECEIVE_FORWARD = ("send", "receive", "backward")

    def kinds(self) -> tuple[str, ...]:
        """The point-to-point operators it takes."""
        return tuple(word for word in self.value if word in ("send", "receive"))


def one_forward_one_backward(stage: int, stages: int, micro_batches: int) -> Iterator[tuple[Move, int]]:
    """The moves of one stage, each with its micro-batch."""
    first, last = stage == 0, stage == stages - 1
    warm = min(stages - stage - 1, micro_batches)
    for number in range(warm):
        yield from _unless(first, Move.RECEIVE_FORWARD, number)
        yield Move.FORWARD, number
        yield from _unless(last, Move.SEND_FORWARD, number)
    steady = micro_batches - warm
    if steady:
        yield from _unless(first, Move.RECEIVE_FORWARD, warm)
    for number in range(steady):
        yield Move.FORWARD, warm + number
        yield from _unless(last, Move.SEND_FORWARD_RECEIVE_BACKWARD, number)
        yield Move.BACKWARD, number
        final = number == steady - 1
        yield from _unless(first, Move.SEND_BACKWARD if final else Move.SEND_BACKWARD_RECEIVE_FORWARD, number)
    for number in range(steady, micro_batches):
        yield from _unless(last, Move.RECEIVE_BACKWARD, number)
        yield Move.BACKWARD, number
        yield from _unless(first, Move.SEND_BACKWARD, number)


def _unless(absent: bool, move: Move, micro_batch: int) -> Iterator[tuple[Move, int]]:
    if not absent:
        yield move, micro_batch


class Work(NamedTuple):
    """One pass of one micro-batch through one chunk of one stage."""

    stage: int
    chunk: int
    micro_batch: int
    backward: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing a stage does: `forward` or `backward` through a chunk, or a `send` or a `receive`.

    `peer` is the stage on the other side: for a pass, the one its input comes from, or -1.
    """

    kind: str
    chunk: int
    micro_batch: int
    peer: int


def work_order(stage: int, stages: int, micro_batches: int, chunks: int) -> list[Work]:
    """The passes of one stage in Megatron's interleaved schedule: groups of as many micro-batches as there are stages.

    Raises:
        ValueError: The micro-batches do not divide into such groups.
    """
    if micro_batches % stages:
        raise ValueError(f"{micro_batches} micro-batches do not divide among {stages} stages")
    total = micro_batches * chunks
    forward, backward = ([_virtual(stage, stages, chunks, k, back) for k in range(total)] for back in (False, True))
    warm = min(total, 2 * (stages - stage - 1) + (chunks - 1) * stages)
    order = forward[:warm]
    for number in range(total - warm):
        order += [forward[warm + number], backward[number]]
    return order + backward[total - warm :]


def _virtual(stage: int, stages: int, chunks: int, k: int, backward: bool) -> Work:
    group, place = divmod(k, stages * chunks)
    chunk, within = divmod(place, stages)
    return Work(stage, chunks - 1 - chunk if backward else chunk, group * stages + within, backward)


def source(work: Work, stages: int, chunks: int) -> Work | None:
    """The pass whose output a pass takes; None for the first of the model, and for the loss its own forward."""
    stage, chunk, micro_batch, backward = work
    place = chunk * stages + stage + (1 if backward else -1)
    if place < 0:
        return None
    if place == stages * chunks:
        return Work(stage, chunk, micro_batch, backward=False)
    return Work(place % stages, place // stages, micro_batch, backward)


@lru_cache(maxsize=32)
def interleaved(stages: int, micro_batches: int, chunks: int) -> tuple[tuple[Turn, ...], ...]:
    """What each stage does, passes and transfers.

    Transfers stand on both sides in one order, that in which they would begin if a forward pass took one unit of time
    and a backward pass two; so no two stages wait for each other.
    """
    began = unit_times(stages, micro_batches, chunks)
    turns: list[list[tuple[float, int, Work, Turn]]] = [[] for _ in range(stages)]
    for work, start in began.items():
        taken = source(work, stages, chunks)
        peer = taken.stage if taken and taken.stage != work.stage else -1
        kind = "backward" if work.backward else "forward"
        turns[work.stage].append((start, 1, work, Turn(kind, work.chunk, work.micro_batch, peer)))
        if taken and peer >= 0:
            moment = began[taken] + duration(taken)
            turns[peer].append((moment, 0, work, Turn("send", work.chunk, work.micro_batch, work.stage)))
            turns[work.stage].append((moment, 0, work, Turn("receive", work.chunk, work.micro_batch, peer)))
    return tuple(tuple(turn for *_, turn in sorted(own, key=lambda entry: entry[:3])) for own in turns)


def duration(work: Work) -> float:
    """Units of time a pass takes."""
    return 2.0 if work.backward else 1.0


def unit_times(stages: int, micro_batches: int, chunks: int) -> dict[Work, float]:
    """When each pass begins, in units of a forward pass, with transfers that take no time."""
    waiting = [work_order(stage, stages, micro_batches, chunks)[::-1] for stage in range(stages)]
    free, began = [0.0] * stages, dict[Work, float]()
    while any(waiting):
        before = len(began)
        for own in waiting:
            while own and ((taken := source(own[-1], stages, chunks)) is None or taken in began):
                work = own.pop()
                ready = began[taken] + duration(taken) if taken else 0.0
                began[work] = max(free[work.stage], ready)
                free[work.stage] = began[work] + duration(work)
        if len(began) == before:
            raise ValueError("the stages wait for each other")
    return began
