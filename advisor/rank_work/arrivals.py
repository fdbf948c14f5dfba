# SPDX-License-Identifier: Apache-2.0
"""Facts of ranks as they come, which is in whatever order the ranks are done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from advisor.facts.rank_facts import Gather, RankFacts, Source, ranks_in
from advisor.rank_work.batches import SourceWork


class Arrival(NamedTuple):
    """What is wanted of a source, or of several that follow each other."""

    first: int
    """The place of the first of them."""
    facts: RankFacts


@runtime_checkable
class GathersAsTheyCome(Protocol):
    """Gives the facts of ranks as soon as they are done, so that nothing is lost behind one that takes long."""

    def as_they_come(self, work: SourceWork, sources: Sequence[Source]) -> Iterator[Arrival]: ...


def arrivals_of(gather: Gather, work: SourceWork, sources: Sequence[Source]) -> Iterator[Arrival]:
    """What is wanted of these, as it comes; in their order from one who gathers so."""
    if isinstance(gather, GathersAsTheyCome):
        yield from gather.as_they_come(work, sources)
        return
    first = 0
    for facts in gather(work, sources):
        yield Arrival(first, facts)
        first += ranks_in(facts)


def arrivals_of_batch(numbers: Sequence[int], parts: Iterable[RankFacts]) -> Iterator[Arrival]:
    """What came of sources at places that follow each other."""
    first = numbers[0]
    for facts in parts:
        yield Arrival(first, facts)
        first += ranks_in(facts)


def in_order(arrivals: Iterable[Arrival]) -> Iterator[RankFacts]:
    """The facts that came, those of the first source first."""
    early: dict[int, RankFacts] = {}
    following = 0
    for first, facts in arrivals:
        early[first] = facts
        while (part := early.pop(following, None)) is not None:
            following += ranks_in(part)
            yield part
