# SPDX-License-Identifier: Apache-2.0
"""A rule that divides by what is zero says so: it was recorded, and there is nothing to divide by."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.facts.derived import Overlap
from advisor.facts.observed import Setting
from advisor.facts.table import read_table
from advisor.machine.shipped_files import shipped_folder
from advisor.model.findings import Outcome
from advisor.rules.bind import bind_rule
from advisor.rules.cases import run_of
from advisor.rules.catalog import read_rule
from advisor.rules.rule import Rule
from advisor.yaml_files.source import parse_document

RULE = """\
id: host/idle
since: 0.1.0
title: {en: Idle, zh: 空闲}
why: {en: It matters., zh: 很重要。}
params:
  tolerated: {value: 0.1, unit: share, basis: {en: A guess., zh: 猜测。}}
for_each: [rank]
in: overlaps
WHERE
let:
  idle_us: mean(free_us)
  idle_share: LET
when: WHEN
severity: low
evidence:
  - {show: idle_share, en: Idle share, zh: 空闲占比}
  - {show: idle_us, en: Idle per step, zh: 每步空闲}
fix:
  - do: {en: Do it., zh: 处理。}
"""
USUAL = "idle_share > tolerated"


def outcome(rows: str, let: str = "idle_us / mean(span_us)", when: str = USUAL, where: str = "") -> Outcome:
    text = RULE.replace("LET", let).replace("WHEN", when).replace("WHERE", where and f"where: {where}")
    rule = bind_rule(parse_document(text, "x"), Path("x"))
    assert isinstance(rule, Rule)
    tables = {Overlap: read_table(Overlap, f"rank span_us free_us\n{rows}")}
    return evaluate(rule, TablesAlone(tables), run_of("")).outcome


@pytest.mark.parametrize(
    ("given", "divisor"),
    [
        ({}, "`mean(span_us)`"),
        ({"let": "mean(free_us / span_us)"}, "`span_us`"),
        ({"let": "mean(span_us) / idle_us", "rows": "0 1000 0"}, "Idle per step"),
        ({"when": "mean(free_us) / max(span_us - 0) > tolerated"}, "`max(span_us - 0)`"),
        ({"where": "free_us / span_us > 0.5"}, "`span_us`"),
    ],
)
def test_a_divisor_that_is_zero_everywhere_is_named_and_not_called_unrecorded(
    given: dict[str, str], divisor: str
) -> None:
    found = outcome(**{"rows": "0 0 5\n1 0 7", **given})
    assert found.outcome == "skipped"
    assert found.reason is not None
    assert found.reason.en == f"nothing to divide by, zero in this run: {divisor}"
    assert found.reason.zh.startswith("除数为 0，无法计算：")
    assert found.needs == ()


def test_what_was_not_recorded_is_told_as_before() -> None:
    found = outcome("0 - 5")
    assert found.reason is not None
    assert "divide" not in found.reason.en
    assert found.needs == ("overlaps.span_us",)


def test_a_variable_that_nobody_recorded_is_no_divisor() -> None:
    rule = read_rule(Path(shipped_folder("rules")) / "env" / "deterministic-communication.yaml")
    tables = {Setting: read_table(Setting, "rank kind name value\n0 env HCCL_RDMA_TC 132")}
    found = evaluate(rule, TablesAlone(tables), run_of("rank_count=16")).outcome
    assert found.reason is not None
    assert found.reason.en == "environment variables were recorded, but not those that are asked for here"


@pytest.mark.parametrize(
    ("framework", "told"), [("PyTorch", "recent torch_npu versions"), ("MindSpore", "versions of MindSpore")]
)
def test_switches_of_the_profiler_are_no_recorded_environment(framework: str, told: str) -> None:
    rule = read_rule(Path(shipped_folder("rules")) / "env" / "deterministic-communication.yaml")
    tables = {Setting: read_table(Setting, "rank kind name value\n0 profiler with_stack true")}
    run = run_of("rank_count=16").model_copy(update={"framework": framework})
    found = evaluate(rule, TablesAlone(tables), run).outcome
    assert found.reason is not None
    assert found.reason.en.startswith("not recorded: environment variables; ")
    assert found.reason.zh.startswith("未采集：环境变量；")
    assert told in found.reason.en and "snapshot-env" in found.reason.zh


def test_a_divisor_that_is_zero_in_some_groups_skips_nothing_else() -> None:
    assert outcome("0 0 5\n1 1000 700").outcome == "fired"
