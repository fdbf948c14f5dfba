# SPDX-License-Identifier: Apache-2.0
"""How many ranks there were at least, by whom collectives waited for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.analysis.communication.seen_peers import seen_peers
from advisor.facts.base import MISSING
from advisor.facts.observed import PeerWait
from advisor.facts.table import Table


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([MISSING, 0, 1, 5, 7])), max_size=20))
def test_each_rank_knows_of_as_many_as_the_largest_number_it_waited_for(waits: list[tuple[int, int]]) -> None:
    table = Table.build(PeerWait, rank=[rank for rank, _ in waits], place=[place for _, place in waits])
    expected = {rank: max(p for r, p in waits if r == rank) + 1 for rank, place in waits if place != MISSING}
    assert {row["rank"]: row["least_ranks"] for row in seen_peers(table).rows()} == expected


def test_ranks_that_only_tasks_tell_of_are_called_missing(real_data: Path, tmp_path: Path) -> None:
    captures = sorted((real_data / "mindinsight_legacy" / "profiler").glob("PROF_*"))
    if len(captures) < 2:
        pytest.skip("these captures are not in the folder of real data")
    for capture in captures:
        (tmp_path / capture.name).symlink_to(capture)
    diagnosis = advisor.diagnose(tmp_path)
    assert (diagnosis.run.world_size, diagnosis.run.world_source) == (6, "tasks")
    assert "capture/ranks-missing" in {finding.rule for finding in diagnosis.findings}
