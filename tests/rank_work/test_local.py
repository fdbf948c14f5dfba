# SPDX-License-Identifier: Apache-2.0
"""The work over ranks in processes of this machine."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from advisor.facts.base import Fact
from advisor.facts.derived import Overlap
from advisor.facts.observed import Damage
from advisor.facts.rank_facts import RankFacts, Source
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing, WorkerLost
from advisor.model.progress import silent
from advisor.rank_work.local import LocalProcesses
from advisor.rank_work.lost_rank import FactsOfLostRank
from tests.rank_work.ill_ranks import BareRank, Killer, Sleeper


def damage_of_rank(source: Source) -> RankFacts:
    """Work that reads a rank, whatever harm that does, and then what is damaged of it."""
    with suppress(FactMissing):
        source.read(Overlap)
    try:
        return {Damage: source.read(Damage)}
    except FactMissing as missing:
        return {Damage: missing}


class Counting:
    """Work that counts how often it is sent to another process."""

    sent = 0

    def __getstate__(self) -> dict[str, object]:
        Counting.sent += 1
        return {}

    def __call__(self, source: Source) -> RankFacts:
        return {Overlap: Table.build(Overlap, rank=source.size_bytes)}


class Rank:
    """A rank of which nothing is read."""

    def __init__(self, number: int) -> None:
        self.size_bytes = number

    def read(self, fact: type[Fact]) -> Table[Any]:
        raise FactMissing([fact.table])

    def release(self) -> None:
        """Nothing is kept."""


def test_what_all_ranks_share_is_sent_to_each_process_once_and_not_with_each_rank() -> None:
    parts = list(LocalProcesses(2, silent)(Counting(), [Rank(number) for number in range(9)]))
    assert [part[Overlap]["rank"].tolist() for part in parts] == [[number] for number in range(9)]
    assert Counting.sent == 1


def test_a_rank_that_workers_die_over_is_set_aside_and_the_others_are_read(tmp_path: Path) -> None:
    """Once it may have been another one that took the memory, so what dies is tried again."""
    gather = LocalProcesses(2, silent)
    ranks = [BareRank(0), Killer(1), Killer(2, once_in=tmp_path), BareRank(3), Killer(4), BareRank(5)]
    parts = list(gather(damage_of_rank, ranks))
    assert [isinstance(part, FactsOfLostRank) for part in parts] == [False, True, False, False, True, False]
    told = [damage for part in parts if isinstance(damage := part[Damage], Table)]
    assert [damage["rank"].tolist() for damage in told] == [[1], [4]]
    assert "two workers were lost over it" in (told[0].texts("what").names[0] or "")


def test_a_rank_that_was_set_aside_is_not_tried_again_when_more_is_wanted(tmp_path: Path) -> None:
    gather = LocalProcesses(2, silent)
    ranks = [BareRank(0), Killer(1)]
    first = list(gather(damage_of_rank, ranks))
    ranks[1] = Killer(1, once_in=tmp_path)
    again = list(gather(damage_of_rank, ranks))
    assert not list(tmp_path.iterdir())
    assert [isinstance(part, FactsOfLostRank) for part in (*first, *again)] == [False, True, False, True]


def test_where_workers_die_over_every_rank_nothing_is_diagnosed() -> None:
    with pytest.raises(WorkerLost, match="over every rank"):
        list(LocalProcesses(2, silent)(damage_of_rank, [Killer(0), Killer(1)]))


def test_what_is_done_is_given_before_one_that_takes_long() -> None:
    ranks = [Sleeper(0, 3), BareRank(1), BareRank(2), BareRank(3)]
    arrivals = [arrival.first for arrival in LocalProcesses(2, silent).as_they_come(damage_of_rank, ranks)]
    assert sorted(arrivals) == [0, 1, 2, 3]
    assert arrivals[-1] == 0
