# SPDX-License-Identifier: Apache-2.0
"""Reading: where each export of a profiler keeps one fact, side by side.

A way is a function of an opened capture. It returns a table — an empty one says "looked, there is none" — or raises
`FactMissing` (this export does not hold it) or `Unreadable` (the file is there but cannot be read; the damage has
been noted). Nothing else may leave it, whatever the files hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from msgspec import Struct

from advisor.facts.base import Fact
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.files.damage_notes import Unreadable

C = TypeVar("C")
F = TypeVar("F", bound=Fact)


class Reading(Struct, Generic[C, F], frozen=True):
    """One fact, and how each export gives it: any number of exports, by name."""

    fact: type[F]
    ways: Mapping[str, Callable[[C], Table[F]]]


def read_best(readings: Sequence[Reading[C, Any]], fact: type[F], capture: C, exports: Iterable[str]) -> Table[F]:
    """The rows of a fact from the first of these exports, the best one first, that gives any.

    Of a fact that is never empty, an export without a row does not hold it.

    Raises:
        FactMissing: None holds it, or what holds it cannot be read.
    """
    empty: Table[F] | None = None
    unreadable: list[str] = []
    ways = [reading.ways for reading in readings if reading.fact is fact]
    for way in [found[export] for export in exports for found in ways if export in found]:
        try:
            table = way(capture)
        except FactMissing as missing:
            unreadable += missing.unreadable
        except Unreadable as wrong:
            unreadable.append(wrong.file)
        else:
            if len(table):
                return table
            empty = table if empty is None else empty
    if empty is None or fact.never_empty:
        raise FactMissing([fact.table], unreadable)
    return empty


def read_each(fact: type[F], ways: Iterable[Callable[[], Table[F]]]) -> list[Table[F]]:
    """The rows that each of these gives, of those that can be read: parts of one fact that lie in several files.

    Raises:
        FactMissing: None can.
    """
    found: list[Table[F]] = []
    unreadable: list[str] = []
    for way in ways:
        try:
            found.append(way())
        except FactMissing as missing:
            unreadable += missing.unreadable
        except Unreadable as wrong:
            unreadable.append(wrong.file)
    if not found:
        raise FactMissing([fact.table], unreadable)
    return found
