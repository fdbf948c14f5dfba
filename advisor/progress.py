# SPDX-License-Identifier: Apache-2.0
"""How long work reports where it stands, without knowing who listens."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Told of each part of the work as it is done."""

    def __call__(self, what: str, done: int, total: int) -> None:
        """`done` of `total` units (bytes, rows, ranks or rules) of `what` are finished."""
        ...


def silent(what: str, done: int, total: int) -> None:
    """Listens to nothing."""
