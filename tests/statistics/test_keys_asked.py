# SPDX-License-Identifier: Apache-2.0
"""Rows named by a part of their keys are put together where that has a meaning, and refused where it has none."""

from __future__ import annotations

from typing import Any

import pandas as pd

from advisor.analysis import DERIVATIONS
from advisor.facts.base import Fact
from advisor.facts.observed import OperatorMemory
from advisor.facts.profile import Profile
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.statistics.counting import statistic_frame
from advisor.statistics.duration_bins import DERIVATIONS as BINS


class Recorded:
    """A source that knows what is written here."""

    size_bytes = 0

    def __init__(self, tables: dict[type[Fact], str]) -> None:
        self.tables = tables

    def read(self, fact: type[Any]) -> Table[Any]:
        if fact in self.tables:
            return read_table(fact, self.tables[fact])
        raise FactMissing([fact.table])

    def release(self) -> None:
        """There is nothing to let go of."""


def counted(name: str, *by: str, per_rank: bool = False, **ranks: dict[type[Fact], str]) -> pd.DataFrame:
    profile = Profile(Run(), [Recorded(tables) for tables in ranks.values()], (*DERIVATIONS, *BINS))
    return statistic_frame(profile, name, by, per_rank=per_rank)


HELD: dict[str, dict[type[Fact], str]] = {
    "first": {
        OperatorMemory: """
            rank name size_bytes allocated_ns released_ns
            0    mm   300        10           90
            0    mm   100        20           90
            0    add  600        30           90
        """
    },
    "second": {
        OperatorMemory: """
            rank name size_bytes allocated_ns released_ns
            1    mm   900        15           90
            1    cast 100        16           90
        """
    },
}


def test_what_names_held_is_summed_over_the_ranks_that_are_put_together() -> None:
    frame = counted("holders", "name", **HELD)
    assert frame.columns.tolist() == ["name", "held_bytes", "held_share", "allocations", "largest_bytes"]
    assert frame.to_numpy().tolist() == [
        ["mm", 1300.0, 0.65, 3.0, 900.0],
        ["add", 600.0, 0.3, 1.0, 600.0],
        ["cast", 100.0, 0.05, 1.0, 100.0],
    ]


def test_what_names_held_stands_rank_by_rank_where_ranks_are_kept_or_asked_for() -> None:
    frame = counted("holders", **HELD)
    assert frame[["rank", "name", "held_share"]].to_numpy().tolist() == [
        [0, "add", 0.6], [0, "mm", 0.4], [1, "mm", 0.9], [1, "cast", 0.1],
    ]  # fmt: skip
    assert counted("holders", "name", per_rank=True, **HELD).equals(frame)
