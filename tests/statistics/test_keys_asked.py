# SPDX-License-Identifier: Apache-2.0
"""Rows named by a part of their keys are put together where that has a meaning, and refused where it has none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import advisor
from advisor.analysis import DERIVATIONS
from advisor.facts.base import Fact
from advisor.facts.observed import Link, MemoryUse, OperatorMemory, StepTime
from advisor.facts.profile import Profile
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing, UsageError
from advisor.model.run import Run
from advisor.statistics.counting import make_statistics, statistic_frame
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


LINKS: dict[str, dict[type[Fact], str]] = {
    "all": {
        Link: """
            rank source target link step size_bytes transit_us
            0    0      1      HCCS 1    3000000    1000
            0    0      1      HCCS 1    1000       1000
            1    1      0      HCCS 1    1000000    1000
            1    1      2      RDMA 1    2000000    4000
        """
    }
}


def test_links_of_a_kind_have_their_payload_together_and_the_bandwidth_of_what_was_moved_in_bulk() -> None:
    frame = counted("links", "link", **LINKS)
    assert frame.columns.tolist() == ["link", "size_bytes", "transit_us", "bandwidth_gbps"]
    assert frame.to_numpy().tolist() == [["RDMA", 2_000_000.0, 4000.0, 0.5], ["HCCS", 4_001_000.0, 3000.0, 2.0]]
    assert len(counted("links", **LINKS)) == 3


PEAKS: dict[str, dict[type[Fact], str]] = {
    str(rank): {
        MemoryUse: f"""
            rank time_ns component reserved_bytes allocated_bytes
            {rank} 10    APP       {100 + rank}   50
            {rank} 20    APP       90             {60 - rank}
        """
    }
    for rank in (0, 1)
}


def test_the_peak_of_a_component_is_the_most_of_any_rank() -> None:
    frame = counted("memory", "component", **PEAKS)
    assert frame[["component", "reserved_bytes", "largest_allocated_bytes"]].to_numpy().tolist() == [["APP", 101, 60]]
    assert counted("memory", "component", per_rank=True, **PEAKS).equals(counted("memory", **PEAKS))


STEPS: dict[str, dict[type[Fact], str]] = {
    str(rank): {
        StepTime: f"""
            rank step compute_us comm_us exposed_comm_us overlapped_us free_us
            {rank} 1  {10 + rank} 0       0               0             5
            {rank} 2  {20 + rank} 0       0               0             5
        """
    }
    for rank in (0, 1)
}


def test_steps_of_several_ranks_are_their_mean_with_how_many_they_are() -> None:
    frame = counted("steps", "step", **STEPS)
    assert frame[["step", "steps", "compute_us"]].to_numpy().tolist() == [[1, 2, 10.5], [2, 2, 20.5]]
    assert counted("steps", "step", per_rank=True, **STEPS).equals(counted("steps", **STEPS))
    ranks = counted("ranks", **STEPS)
    assert ranks[["rank", "steps", "compute_us"]].to_numpy().tolist() == [[0, 2, 15.0], [1, 2, 16.0]]


@pytest.mark.parametrize(
    ("table", "by", "needed"),
    [
        ("rooflines", "op_type", "rank, op_type, input_shapes"),
        ("modules", "module", "rank, module"),
        ("memory", "rank", "component"),
        ("traffic", "place", "place, way"),
        ("pipeline", "stage", "rank, step, direction, number"),
    ],
)
def test_keys_by_which_rows_cannot_be_put_together_are_refused_with_those_that_are_needed(
    table: str, by: str, needed: str
) -> None:
    with pytest.raises(UsageError) as refused:
        counted(table, by, **STEPS)
    assert f"rows of the table {table} cannot be put together by {by} alone" in str(refused.value)
    assert f"keys: {needed}" in str(refused.value)


def test_of_several_tables_each_has_keys_by_which_it_can_be_made() -> None:
    profile = Profile(Run(), [Recorded(tables) for tables in PEAKS.values()], (*DERIVATIONS, *BINS))
    found = make_statistics(profile, ["memory", "gaps"], ["rank"])
    assert [(table.name, table.keys) for table in found.tables] == [("memory", ("rank", "component"))]


def test_a_single_key_may_be_given_as_a_text() -> None:
    folder = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"
    profile = advisor.load_profile(folder)
    assert advisor.stats(profile, "kernels", by="op_type").equals(advisor.stats(profile, "kernels", by=["op_type"]))
