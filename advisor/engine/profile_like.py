# SPDX-License-Identifier: Apache-2.0
"""What rules are held against: the tables of a run, or those of a case."""

from __future__ import annotations

from typing import Protocol, TypeVar

from advisor.facts.base import Fact
from advisor.facts.selection import Selected, Selection
from advisor.facts.table import Table

F = TypeVar("F", bound=Fact)


class ProfileLike(Protocol):
    """Gives the tables of a run."""

    def table(self, fact: type[F]) -> Table[F]:
        """The rows of a fact.

        Raises:
            FactMissing: It was not recorded.
        """
        ...

    def selected(self, selection: Selection) -> Selected:
        """The rows of a fact that a selection wants.

        Raises:
            FactMissing: It was not recorded.
        """
        ...
