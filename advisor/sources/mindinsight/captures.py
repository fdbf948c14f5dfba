# SPDX-License-Identifier: Apache-2.0
"""What a folder is made of, and what of it could not be read."""

from __future__ import annotations

from advisor.facts.observed import Damage, RankCapture
from advisor.facts.table import Table
from advisor.sources.files.damage_notes import aside_table
from advisor.sources.mindinsight.reading import EXPORT, LegacyRank
from advisor.sources.mindinsight.steps import counted_steps
from advisor.sources.reading import Reading


def _capture_of_rank(rank: LegacyRank) -> Table[RankCapture]:
    return Table.build(
        RankCapture,
        rank=[rank.rank],
        source=EXPORT,
        has_steps=[_has_steps(rank)],
        other_captures=float(rank.other_captures),
    )


def _has_steps(rank: LegacyRank) -> bool | None:
    """Whether steps were recorded; missing where the file with them is there and nothing of it can be used."""
    if counted_steps(rank):
        return True
    return None if "steps" in rank.files else False


def damages_of_rank(rank: LegacyRank) -> Table[Damage]:
    """What could not be read so far; to be asked for after the facts."""
    rank.release()
    read = rank.notes.table(rank.rank, rank.name)
    return Table.concat(Damage, [read, aside_table(rank.aside, rank.rank)]) if rank.aside else read


RANK_CAPTURES = Reading(RankCapture, {EXPORT: _capture_of_rank})
DAMAGES = Reading(Damage, {EXPORT: damages_of_rank})
