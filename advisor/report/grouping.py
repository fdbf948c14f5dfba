# SPDX-License-Identifier: Apache-2.0
"""What belongs together."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def values_by_key(pairs: Iterable[tuple[K, V]]) -> dict[K, list[V]]:
    """All values of each key; keys and their values in the order in which they are met."""
    found: dict[K, list[V]] = {}
    for key, value in pairs:
        found.setdefault(key, []).append(value)
    return found
