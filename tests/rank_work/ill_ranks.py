# SPDX-License-Identifier: Apache-2.0
"""Ranks that do harm to whoever reads them, and work over them, for workers of a cluster to import."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any, TypeVar

from advisor.facts.base import Fact
from advisor.facts.derived import Overlap
from advisor.facts.observed import Damage
from advisor.facts.rank_facts import RankFacts, Source
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing

F = TypeVar("F", bound=Fact)


class BareRank:
    """A rank of which nothing is read."""

    def __init__(self, number: int, *paths: Path) -> None:
        self.rank, self.name, self.paths = number, f"rank_{number}", paths
        self.size_bytes = 0

    def read(self, fact: type[F]) -> Table[F]:
        raise FactMissing([fact.table])

    def release(self) -> None:
        """Nothing is kept."""


class Killer(BareRank):
    """A rank that kills whoever reads it; other than in `folder`, where it does so once."""

    def __init__(self, number: int, once_in: Path | None = None) -> None:
        super().__init__(number)
        self.once_in = once_in

    def read(self, fact: type[F]) -> Table[F]:
        if fact is not Damage and (self.once_in is None or _is_first(self.once_in / f"killed-{self.rank}")):
            os.kill(os.getpid(), signal.SIGKILL)
        return super().read(fact)


class Sleeper(BareRank):
    """A rank whose reading takes so long."""

    def __init__(self, number: int, seconds: float = 600) -> None:
        super().__init__(number)
        self.seconds = seconds

    def read(self, fact: type[F]) -> Table[F]:
        if fact is not Damage:
            time.sleep(self.seconds)
        return super().read(fact)


def _is_first(mark: Path) -> bool:
    try:
        mark.touch(exist_ok=False)
    except FileExistsError:
        return False
    return True


class NumberOf:
    """Work that gives the number of a rank in a table, and writes down that it was done."""

    def __init__(self, log: Path) -> None:
        self.log = log

    def __call__(self, source: Source) -> RankFacts:
        found: RankFacts = {Overlap: _table_of(source)}
        try:
            found[Damage] = source.read(Damage)
        except FactMissing as missing:
            found[Damage] = missing
        with self.log.open("a") as file:
            file.write(f"{getattr(source, 'rank', 'lost')}\n")
        return found


def _table_of(source: Source) -> Table[Any] | FactMissing:
    try:
        source.read(Overlap)
    except FactMissing as missing:
        if missing.unreadable:
            return missing
    return Table.build(Overlap, rank=[getattr(source, "rank")])  # noqa: B009 - of the ranks of these tests


class InPlaceOf:
    """A source of a capture that kills whoever reads it."""

    def __init__(self, source: Any) -> None:
        self.rank, self.name, self.paths, self.size_bytes = source.rank, source.name, source.paths, source.size_bytes
        self.here = os.getpid()

    def read(self, fact: type[F]) -> Table[F]:
        if os.getpid() != self.here:
            os.kill(os.getpid(), signal.SIGKILL)
        raise FactMissing([fact.table])

    def release(self) -> None:
        """Nothing is kept."""
