# SPDX-License-Identifier: Apache-2.0
"""How many ranks a job had: as its framework wrote, else as many as its groups or its messages name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from advisor.sources.ascend.groups import MOST_RANKS, Sizes
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sent_pairs import pairs_in_matrix
from advisor.sources.ascend.sqltable import query_rows
from advisor.sources.family import GroupMembers

_MATRIX = "SELECT MAX(CAST(src_rank AS INTEGER)), MAX(CAST(dst_rank AS INTEGER)) FROM CommAnalyzerMatrix"
_TASKS = "SELECT MAX(srcRank), MAX(dstRank) FROM COMMUNICATION_TASK_INFO WHERE MAX(srcRank, dstRank) < 1048576"
"""A rank that is not known is 4294967295 there."""


class World(Struct, frozen=True):
    """How many ranks a job had at least, and what tells so; 0 when nothing does."""

    ranks: int = 0
    source: str = ""


def world_of_job(
    sizes: Sizes, groups: Mapping[str, GroupMembers], summary: Sequence[int], folders: Iterable[Folder]
) -> World:
    """The size of the job by what tells most. Messages are looked at only where neither framework nor groups tell."""
    named = [
        World(sizes.world, "distributed_args"),
        World(_count_ranks(rank for group in groups.values() for rank in group.ranks), "groups"),
        World(_count_ranks(summary), "cluster"),
    ]
    most = max(named, key=lambda one: one.ranks)
    return most if most.ranks else _by_messages(tuple(folders))


def _by_messages(folders: Sequence[Folder]) -> World:
    """By who sent to whom. Numbers inside a group are none larger than those of the job: it had at least as many."""
    told = World(_count_ranks(rank for folder in folders for rank in _in_matrix(folder)), "communication_matrix")
    if not told.ranks:
        told = World(
            _count_ranks(rank for folder in folders for rank in _largest_ranks(folder, "profiler", _TASKS)), "tasks"
        )
    captured = _count_ranks(folder.rank for folder in folders)
    return World(max(told.ranks, captured), told.source) if told.ranks > 1 else World()


def _in_matrix(folder: Folder) -> Iterator[int]:
    """The ranks of the keys `from-to` of communication_matrix.json, and the largest of the database."""
    yield from _largest_ranks(folder, "analysis", _MATRIX)
    yield from (rank for _, *pair in pairs_in_matrix(folder) for rank in pair)


def sole_sender(folder: Folder) -> int | None:
    """Who sends all that communication_matrix.json of a rank lists: the rank itself, by its place in its groups."""
    senders = {sender for _, sender, _ in pairs_in_matrix(folder)}
    return senders.pop() if len(senders) == 1 else None


def _largest_ranks(folder: Folder, database: str, query: str) -> Iterator[int]:
    yield from (rank for row in query_rows(folder, database, query) for rank in row if isinstance(rank, int))


def _count_ranks(ranks: Iterable[int]) -> int:
    """How many ranks there are when these are among them, counted from 0."""
    return max((rank + 1 for rank in ranks if 0 <= rank < MOST_RANKS), default=0)
