# SPDX-License-Identifier: Apache-2.0
"""The order of work in a pipeline: one forward, one backward (1F1B, without interleaving)."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum


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
