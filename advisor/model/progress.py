# SPDX-License-Identifier: Apache-2.0
"""How long work reports where it stands, without knowing who listens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct


class Progress(Protocol):
    """Told of each part of the work as it is done."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """`done` of `total` units (bytes, rows, ranks or rules) of `what` are finished."""
        ...


class WorkerState(Struct, frozen=True):
    """Where a worker of a cluster stands."""

    address: str
    done: int
    """Ranks that it has read."""
    rank: int | None = None
    """The one that it reads now."""
    seconds: float = 0.0
    """How long it has read that one."""


class WorkersTold(Protocol):
    """Told where all workers stand, each time that changes and now and then."""

    def __call__(self, workers: Sequence[WorkerState]) -> None:
        """These are all that are there."""
        ...


def silent_about_workers(workers: Sequence[WorkerState]) -> None:
    """Listens to nothing."""


def silent(what: str, done: int, total: int) -> None:
    """Listens to nothing."""
