# SPDX-License-Identifier: Apache-2.0
"""What a report shows of a rule that stayed quiet is what kept it quiet."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.facts.derived import MemoryPeak, Overlap
from advisor.facts.table import read_table
from advisor.machine.shipped_files import shipped_folder
from advisor.model.findings import Evidence
from advisor.rules.bind import Rule
from advisor.rules.cases import run_of
from advisor.rules.catalog import read_rule
from tests.rules.rule_texts import made


def shown(reserved: float, allocated: float) -> Evidence:
    """The value that kept `memory/fragmentation` quiet at such a peak."""
    rule = read_rule(Path(shipped_folder("rules")) / "memory" / "fragmentation.yaml")
    assert isinstance(rule, Rule)
    peak = f"rank component reserved_bytes largest_used_bytes\n0 PTA {reserved:.0f} {allocated:.0f}"
    found = evaluate(rule, TablesAlone({MemoryPeak: read_table(MemoryPeak, peak)}), run_of("")).outcome
    assert found.outcome == "quiet"
    return next(item for item in found.measures[0].evidence if item.name == found.measures[0].short_of)


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


SEVERAL = """\
params:
  enough: {value: 3, unit: count, basis: {en: A guess., zh: 估计。}}
  most: {value: 0.5, unit: share, basis: {en: A guess., zh: 估计。}}
  least_us: {value: 1000, unit: us, basis: {en: A guess., zh: 估计。}}
for_each: [rank]
in: overlaps
let:
  spans: count()
  idle_us: sum(free_us)
  share: idle_us / sum(span_us)
when: spans >= enough and share > most and idle_us > 2 * least_us
severity: low
evidence:
  - {show: share, threshold: most, en: Part, zh: 占比}
  - {show: spans, as: count, en: Spans, zh: 段数}
"""


@pytest.mark.parametrize(
    ("spans", "free_us", "short_of", "threshold"),
    [(1, 90, "spans", 3.0), (3, 9, "share", 0.5), (3, 90, "", None)],
    ids=["a value that is shown without its threshold", "the value of the threshold", "a part that shows no value"],
)
def test_what_kept_a_rule_quiet_is_named_and_nothing_else(
    spans: int, free_us: int, short_of: str, threshold: float | None, tmp_path: Path
) -> None:
    rule = made(tmp_path, body=SEVERAL, tests="")
    table = read_table(Overlap, f"rank span_us free_us\n0 100 {free_us} x{spans}")
    found = evaluate(rule, TablesAlone({Overlap: table}), run_of("")).outcome
    assert found.outcome == "quiet"
    (measure,) = found.measures
    assert measure.short_of == short_of
    assert next((item.threshold for item in measure.evidence if item.name == short_of), None) == threshold
