# SPDX-License-Identifier: Apache-2.0
"""Selection: few rows of a heavy table, chosen in the process that reads the rank, so that no event leaves it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
from msgspec import Struct

from advisor.facts.base import Fact
from advisor.facts.table import Array, Table


class Selected(Struct, frozen=True):
    """Rows that were chosen; in some of the columns, those that were asked for."""

    rows: Table[Any]
    stands_for: Array
    """Per row: how many rows of the whole table it stands for; all together, those among which it was chosen."""

    @classmethod
    def concat(cls, parts: Sequence[Selected]) -> Selected:
        """What was chosen of several ranks, one after another."""
        rows = Table.concat(parts[0].rows.fact, [part.rows for part in parts])
        return cls(rows, np.concatenate([part.stands_for for part in parts]))


class Selection(Hashable, Protocol):
    """Which rows of a fact are wanted. It is sent to other processes, and asked for again by an equal one."""

    @property
    def fact(self) -> type[Fact]:
        """The table to choose from: one that is read or derived rank by rank."""
        ...

    def select(self, table: Table[Any]) -> Selected:
        """The rows wanted of the table of one rank."""
        ...


@runtime_checkable
class SelectionByRank(Protocol):
    """One that chooses from the table of several ranks at once what it would choose of each."""

    def select_by_rank(self, table: Table[Any], ranks: Sequence[int]) -> tuple[Selected, list[int]]:
        """The rows wanted of each of these ranks, in their order, and how many each has."""
        ...


class FirstRow(Struct, frozen=True):
    """One row of each rank that has any: whether there is something, and how much."""

    fact: type[Fact]

    def select(self, table: Table[Any]) -> Selected:
        """The first row, which stands for all of them."""
        first = table.take(np.arange(min(len(table), 1)))
        return Selected(first.only(first.fact.columns()), np.full(len(first), len(table), np.int64))
