# SPDX-License-Identifier: Apache-2.0
"""The work and all ranks as they are sent to another process: packed once, for ranks share much of what they say."""

from __future__ import annotations

from collections.abc import Sequence

from advisor.facts.rank_facts import RankFacts, Source
from advisor.facts.table import Table
from advisor.rank_work.batches import SourceWork, facts_of_batch


def pack_ranks(work: SourceWork, sources: Sequence[Source]) -> bytes:
    """The work, and the ranks that it may be asked for."""
    import pickle

    return pickle.dumps((work, list(sources)))


class SentRanks:
    """What was sent, in the process that got it. A rank is let go as soon as its work is done."""

    def __init__(self, packed: bytes) -> None:
        self._packed = packed
        self._work, self._sources = _unpack(packed)

    def facts_of(self, *numbers: int) -> list[RankFacts]:
        """What is wanted of the ranks at these places, of each or of several as one.

        Hardly any is asked for twice: then all are unpacked again.
        """
        if not self._sources.keys() >= {*numbers}:
            self._work, self._sources = _unpack(self._packed)
        parts = facts_of_batch(self._work, [self._sources.pop(number) for number in numbers])
        for table in (table for facts in parts for table in facts.values()):
            if isinstance(table, Table):
                table.forget()
        return parts


def _unpack(packed: bytes) -> tuple[SourceWork, dict[int, Source]]:
    import pickle

    work, sources = pickle.loads(packed)  # noqa: S301 - sent by the process that asks for the work
    return work, dict(enumerate(sources))
