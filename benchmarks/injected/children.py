# SPDX-License-Identifier: Apache-2.0
"""Work done in child processes that begin as copies of this one: each spoils a program of its own."""

from __future__ import annotations

import gc
import multiprocessing
from collections.abc import Callable, Iterable, Iterator
from multiprocessing.connection import Connection
from typing import Any, TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


class ChildFailed(Exception):
    """A child ended without a result."""


def in_children(work: Callable[[Item], Result], items: Iterable[Item], jobs: int) -> Iterator[Result]:
    """The result for each item, in order; so many at a time, each in a child of its own.

    Raises:
        ChildFailed: One ended without a result.
    """
    context = multiprocessing.get_context("fork")
    gc.freeze()
    running: list[tuple[multiprocessing.process.BaseProcess, Connection]] = []
    for item in items:
        if len(running) == jobs:
            yield _result(*running.pop(0))
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=_send, args=(work, item, sender))
        child.start()
        sender.close()
        running.append((child, receiver))
    while running:
        yield _result(*running.pop(0))


def _send(work: Callable[[Item], Result], item: Item, sender: Connection) -> None:
    gc.disable()
    sender.send(work(item))
    sender.close()


def _result(child: multiprocessing.process.BaseProcess, receiver: Connection) -> Any:
    try:
        return receiver.recv()
    except EOFError as ended:
        raise ChildFailed("a child ended without a result; what it wrote is above") from ended
    finally:
        child.join()
