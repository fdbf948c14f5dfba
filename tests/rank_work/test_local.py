# SPDX-License-Identifier: Apache-2.0
"""The work over ranks in processes of this machine."""

from __future__ import annotations

from typing import Any

from advisor.facts.base import Fact
from advisor.facts.derived import Overlap
from advisor.facts.profile import RankFacts, Source
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.progress import silent
from advisor.rank_work.local import LocalProcesses


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
