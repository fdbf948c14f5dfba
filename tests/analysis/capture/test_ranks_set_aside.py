# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.analysis.capture.ranks_set_aside import ranks_set_aside
from advisor.facts.observed import Damage
from advisor.facts.table import Table
from advisor.messages.message import Message
from advisor.rank_work.lost_rank import LostRank
from tests.rank_work.ill_ranks import BareRank

DIED, SLOW = Message("worker_died"), Message("worker_too_slow", limit=600)


def damage_of(number: int, first: Message, second: Message) -> Table[Damage]:
    return LostRank(BareRank(number), Message("rank_set_aside", first=first, second=second)).read(Damage)


def test_ranks_are_told_by_what_workers_were_lost_for() -> None:
    lost = [(3, DIED, DIED), (4, DIED, SLOW), (5, SLOW, SLOW), (9, DIED, DIED)]
    found = ranks_set_aside(Table.concat(Damage, [damage_of(*one) for one in lost]))
    assert [(row["cause"], row["which"], row["ranks_lost"]) for row in found.rows()] == [
        ("memory", "3-4, 9", 3),
        ("time", "5", 1),
    ]


def test_there_are_none_where_files_alone_are_damaged() -> None:
    assert not len(ranks_set_aside(Table.build(Damage, rank=[0], kind=["unreadable"], what_message=[None])))
