# SPDX-License-Identifier: Apache-2.0
"""LostRank: a rank that nobody could read to its end, as a source that says so and holds nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import TypeVar, cast

from advisor.facts.base import Fact
from advisor.facts.observed import Damage, Group
from advisor.facts.rank_facts import RankFacts, Source
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing, WorkerLost
from advisor.messages.message import Message
from advisor.rank_work.arrivals import Arrival
from advisor.rank_work.batches import SourceWork
from advisor.sources.family import place_of_source
from advisor.sources.files.damage_notes import SET_ASIDE, Notes

F = TypeVar("F", bound=Fact)

LOST_WORKERS = 2
"""So many workers may be lost over one rank: one may have been ill, or ended for what others took; with two the rank
is."""


class FactsOfLostRank(RankFacts):
    """What such a rank gives, and why. Nobody should keep it for another run, which may read the rank."""

    why = Message("worker_died")


def unless_all_lost(arrivals: Iterable[Arrival], total: int) -> Iterator[Arrival]:
    """What comes of so many ranks.

    Raises:
        WorkerLost: All of them were set aside, so that nothing is known.
    """
    lost = 0
    for arrival in arrivals:
        lost += isinstance(arrival.facts, FactsOfLostRank)
        if isinstance(arrival.facts, FactsOfLostRank) and lost == total:
            raise WorkerLost(arrival.facts.why)
        yield arrival


class LostRank:
    """In place of a source: its damage names the rank and why it was set aside, so that every report says it."""

    size_bytes = 0

    def __init__(self, source: Source, why: Message) -> None:
        self._source = source
        self._rank, self._name = place_of_source(source)
        self._notes = Notes()
        self._notes.add(self._name, "", why, kind=SET_ASIDE)

    def read(self, fact: type[F]) -> Table[F]:
        """Its damage; of what is not read from its files, what it tells for all ranks.

        Raises:
            FactMissing: It is anything else.
        """
        if fact is Group:
            return self._source.read(fact)
        if fact is not Damage:
            raise FactMissing([fact.table], [self._name])
        tables = [self._notes.table(self._rank)]
        with suppress(FactMissing):
            tables.insert(0, self._source.read(Damage))
        return cast("Table[F]", Table.concat(Damage, tables))

    def release(self) -> None:
        """Nothing is kept."""


class LostRanks:
    """The ranks of a run that were set aside. Nobody tries them again when more is wanted of them."""

    def __init__(self) -> None:
        self._why: dict[tuple[int, str], tuple[Message, Message]] = {}
        """What workers were lost for, the one after the other."""

    def __contains__(self, source: Source) -> bool:
        return place_of_source(source) in self._why

    def add(self, source: Source, first: Message, second: Message) -> None:
        """Sets a rank aside, for what two workers were lost one after the other."""
        self._why[place_of_source(source)] = first, second

    def facts_of(self, source: Source, work: SourceWork) -> FactsOfLostRank:
        """What is wanted of a rank that was set aside."""
        first, second = self._why[place_of_source(source)]
        facts = FactsOfLostRank(work(LostRank(source, Message("rank_set_aside", first=first, second=second))))
        facts.why = second
        return facts
