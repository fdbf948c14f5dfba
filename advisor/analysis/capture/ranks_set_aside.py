# SPDX-License-Identifier: Apache-2.0
"""Ranks that nobody could read to their end, by why."""

from __future__ import annotations

from advisor.facts.derived import RanksSetAside
from advisor.facts.observed import Damage
from advisor.facts.table import Table
from advisor.model.unread import SavedMessage
from advisor.units import spell_numbers


def ranks_set_aside(damages: Table[Damage]) -> Table[RanksSetAside]:
    """A row for each cause; a rank whose workers died of one and hung at another is told by the first."""
    aside = damages.take(damages.texts("kind").isin(["set-aside"]))
    by_cause: dict[str, list[int]] = {}
    for rank, text in zip(aside["rank"].tolist(), aside.texts("what_message").values(), strict=True):
        by_cause.setdefault(_cause_of(text), []).append(rank)
    if not by_cause:
        return Table.empty(RanksSetAside)
    return Table.build(
        RanksSetAside,
        rank=[min(ranks) for ranks in by_cause.values()],
        cause=[*by_cause],
        ranks_lost=[len(ranks) for ranks in by_cause.values()],
        which=[spell_numbers(ranks) for ranks in by_cause.values()],
    )


def _cause_of(text: str | None) -> str:
    codes = SavedMessage.from_json(text).codes() if text else frozenset[str]()
    return "time" if "worker_too_slow" in codes and not codes & {"worker_died", "worker_out_of_memory"} else "memory"
