# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a rule that stayed quiet is what kept it quiet."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.facts.derived import MemoryPeak
from advisor.facts.table import read_table
from advisor.model.findings import Evidence
from advisor.rules.bind import Rule
from advisor.rules.cases import run_of
from advisor.rules.catalog import read_rule
from advisor.shipped_files import shipped_folder


def shown(reserved: float, allocated: float) -> Evidence:
    """The first value held against a threshold that `memory/fragmentation`, quiet, measured of such a peak."""
    rule = read_rule(Path(shipped_folder("rules")) / "memory" / "fragmentation.yaml")
    assert isinstance(rule, Rule)
    peak = f"rank component reserved_bytes allocated_bytes\n0 PTA {reserved:.0f} {allocated:.0f}"
    found = evaluate(rule, TablesAlone({MemoryPeak: read_table(MemoryPeak, peak)}), run_of("")).outcome
    assert found.outcome == "quiet"
    return next(item for item in found.measures[0].evidence if item.threshold is not None)


@pytest.mark.parametrize(
    ("reserved", "allocated", "name"),
    [(1_450_000_000, 936_000_000, "unused_bytes"), (60_000_000_000, 50_000_000_000, "unused_share")],
    ids=["a large part of little", "a small part of much"],
)
def test_the_value_that_misses_its_threshold_is_shown_and_not_one_that_meets_it(
    reserved: float, allocated: float, name: str
) -> None:
    item = shown(reserved, allocated)
    assert item.name == name
    assert isinstance(item.value, float) and item.value <= (item.threshold or 0)
