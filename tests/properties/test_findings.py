# SPDX-License-Identifier: Apache-2.0
"""What must not change a finding: the order of rows, the scale of time, on how many ranks it is seen."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_texts import made

from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.engine.merge import merge
from advisor.engine.rank import rank_findings
from advisor.facts.observed import Kernel
from advisor.facts.table import Table
from advisor.machine.shipped_files import shipped_folder
from advisor.model.findings import Finding
from advisor.rules.bind import Rule
from advisor.rules.cases import parse_given as starting
from advisor.rules.cases import run_of
from advisor.rules.catalog import Catalog, gather_rules

BODY = """\
params:
  tolerated: {value: 0.3, unit: share, basis: {en: A guess., zh: 猜测。}}
for_each: [rank, step, op_type]
in: kernels
let:
  mine_us: sum(duration_us)
  median_us: median(duration_us)
  long_share: sum(duration_us, where=duration_us > median_us) / mine_us
  usual: mode(core)
when: long_share > tolerated
severity: {high: long_share > 2 * tolerated, medium: otherwise}
evidence:
  - {show: long_share, en: Share, zh: 占比, threshold: tolerated}
  - {show: usual, en: Core, zh: 核}
  - {show: op_type, en: Type, zh: 类型}
rows: {columns: [core, duration_us], order: -duration_us, top: 3}
saving: {us: mine_us - median_us, across: mean, assumes: {en: x, zh: 无}}
"""


@pytest.fixture(scope="module")
def rule(tmp_path_factory: pytest.TempPathFactory) -> Rule:
    return made(tmp_path_factory.mktemp("rules"), body=BODY)


kernels = st.lists(
    st.fixed_dictionaries(
        {
            "rank": st.integers(0, 2),
            "step": st.sampled_from([None, 1, 2]),
            "op_type": st.sampled_from(["Cast", "MatMul", None]),
            "core": st.sampled_from(["AI_CORE", "MIX_AIC", None]),
            "duration_us": st.sampled_from([None, 1.0, 2.0, 4.0, 64.0]),
        }
    ),
    min_size=1,
    max_size=20,
)


def table_of(rows: list[dict[str, Any]]) -> Table[Kernel]:
    return Table.build(Kernel, **{name: [row[name] for row in rows] for name in rows[0]})


def found(
    rule: Rule, table: Table[Kernel], words: str = "step_us=1000 step_count=2 rank_count=3"
) -> tuple[Finding, ...]:
    result = evaluate(rule, TablesAlone({Kernel: table}), run_of(words))
    assert result.outcome.outcome != "failed", result.outcome.reason
    return rank_findings(merge(result), Catalog((rule,)))


@settings(max_examples=50)
@given(orders=kernels.flatmap(lambda rows: st.tuples(st.just(rows), st.permutations(rows))))
def test_the_order_of_rows_changes_no_finding(rule: Rule, orders: tuple[list[dict[str, Any]], ...]) -> None:
    rows, shuffled = orders
    assert found(rule, table_of(rows)) == found(rule, table_of(shuffled))


@settings(max_examples=50)
@given(rows=kernels, factor=st.sampled_from([0.5, 4.0, 1024.0]))
def test_the_scale_of_time_changes_neither_names_nor_shares(
    rule: Rule, rows: list[dict[str, Any]], factor: float
) -> None:
    table = table_of(rows)
    scaled = table.having(duration_us=table["duration_us"] * factor)
    before = found(rule, table)
    after = found(rule, scaled, f"step_us={1000 * factor} step_count=2 rank_count=3")
    assert [f.fingerprint for f in before] == [f.fingerprint for f in after]
    assert [f.saving.share for f in before] == pytest.approx([f.saving.share for f in after], rel=1e-4, abs=5e-6)


@settings(max_examples=50)
@given(rows=kernels, ranks=st.integers(1, 5))
def test_one_problem_on_many_ranks_is_one_finding(rule: Rule, rows: list[dict[str, Any]], ranks: int) -> None:
    alone = [{**row, "rank": 0} for row in rows]
    spread = [{**row, "rank": rank} for row in alone for rank in range(ranks)]
    once = found(rule, table_of(alone), "step_count=2 rank_count=1")
    many = found(rule, table_of(spread), f"step_count=2 rank_count={ranks}")
    assert [(f.fingerprint, f.severity, f.evidence) for f in once] == [
        (f.fingerprint, f.severity, f.evidence) for f in many
    ]
    assert [len(f.seen) * ranks for f in once] == [len(f.seen) for f in many]
    assert [f.saving.us for f in once] == pytest.approx([f.saving.us for f in many], abs=1e-3)


@settings(max_examples=50)
@given(rows=kernels)
def test_no_saving_passes_the_step(rule: Rule, rows: list[dict[str, Any]]) -> None:
    for finding in found(rule, table_of(rows), "step_us=3 step_count=2 rank_count=3"):
        assert 0 <= finding.saving.us <= 3
        assert 0 <= finding.saving.share <= 1


SHIPPED = Catalog(tuple(gather_rules([shipped_folder("rules")])[0]))


@pytest.mark.parametrize("rule", SHIPPED.rules, ids=lambda rule: rule.id)
def test_the_order_of_rows_changes_no_finding_of_a_shipped_rule(rule: Rule) -> None:
    if any("first(" in compiled.source for compiled in rule.let.values()):
        pytest.skip("`first` is about the order of rows")
    for case in rule.tests:
        start = starting(case)
        turned = {fact: table.take(np.arange(len(table))[::-1]) for fact, table in start.tables.items()}
        results = [evaluate(rule, TablesAlone(tables), start.run) for tables in (start.tables, turned)]
        first, second = (
            [(f.fingerprint, f.severity, f.seen, f.saving.us, f.excerpt) for f in rank_findings(merge(r), SHIPPED)]
            for r in results
        )
        assert results[0].outcome == results[1].outcome
        assert first == second
