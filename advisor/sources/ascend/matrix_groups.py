# SPDX-License-Identifier: Apache-2.0
"""Who is in which communicator, where nothing names members: by who sends in the communication matrices of the ranks.

The matrix of a rank numbers ranks by their place inside the group, and lists what the rank itself sends. Where every
member was captured, the places of all of them in order of rank are the numbers from 0 on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from advisor.sources.ascend.groups import communicator_hash
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sent_pairs import pair_of_key, pairs_in_matrix
from advisor.sources.ascend.sqltable import query_rows
from advisor.sources.family import GroupMembers

_MATRIX = "SELECT DISTINCT group_name, src_rank, dst_rank FROM CommAnalyzerMatrix"


def groups_by_senders(folders: Iterable[Folder]) -> dict[str, GroupMembers]:
    """By communicator hash those of which all members were captured."""
    places: dict[str, dict[int, set[int]]] = defaultdict(lambda: defaultdict(set))
    size: dict[str, int] = defaultdict(int)
    for folder in folders:
        for group, sender, receiver in _sent_pairs(folder):
            places[group][folder.rank].add(sender)
            size[group] = max(size[group], sender + 1, receiver + 1)
        folder.release()
    return {
        group: GroupMembers("", tuple(sorted(members)))
        for group, members in places.items()
        if group
        and len(members) == size[group]
        and all(members[rank] == {place} for place, rank in enumerate(sorted(members)))
    }


def _sent_pairs(folder: Folder) -> Iterator[tuple[str, int, int]]:
    """Group, sender and receiver of what a rank sent, by their places in the group."""
    for name, sender, receiver in query_rows(folder, "analysis", _MATRIX):
        if pair := pair_of_key(f"{sender}-{receiver}"):
            yield communicator_hash(str(name)), *pair
    yield from pairs_in_matrix(folder)
