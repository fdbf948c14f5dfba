# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rule_texts import IDLE, made

from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.engine.hit import RuleResult
from advisor.facts.derived import Overlap
from advisor.facts.observed import Kernel, Setting
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from advisor.model.findings import Severity
from advisor.rules.cases import run_of

IDLE_ROWS = """
rank step span_us free_us
0    1    1000    400
1    1    1000    50
"""


def on(folder: Path, rows: str = IDLE_ROWS, words: str = "", body: str = IDLE) -> RuleResult:
    tables = {Overlap: read_table(Overlap, rows)}
    return evaluate(made(folder, body=body), TablesAlone(tables), run_of(words, range(2)))


def test_a_rule_fires_in_the_groups_that_meet_its_condition(tmp_path: Path) -> None:
    result = on(tmp_path)
    assert result.outcome.outcome == "fired"
    (hit,) = result.hits
    assert (hit.keys, hit.severity, hit.saving_us) == ({"rank": 0}, Severity.high, 400.0)
    assert [(e.name, e.value, e.unit, e.threshold) for e in hit.evidence] == [("idle_share", 0.4, "share", 0.1)]


def test_a_rule_is_quiet_when_it_looked_and_all_is_fine(tmp_path: Path) -> None:
    assert on(tmp_path, "rank span_us free_us\n0 1000 100").outcome.outcome == "quiet"


def test_a_missing_value_is_not_quiet_but_skipped_with_the_column(tmp_path: Path) -> None:
    outcome = on(tmp_path, "rank span_us free_us\n0 1000 -\n1 1000 10").outcome
    assert outcome.outcome == "skipped"
    assert outcome.reason is not None
    assert outcome.reason.en == (
        "known only in part: what the time of steps was spent on; record with ProfilerActivity.NPU among the activities"
    )
    assert outcome.needs == ("overlaps.free_us",)


def test_a_group_that_fires_outweighs_one_that_is_unknown(tmp_path: Path) -> None:
    assert on(tmp_path, "rank span_us free_us\n0 1000 -\n1 1000 300").outcome.outcome == "fired"


def test_a_filter_that_is_missing_everywhere_skips_the_rule(tmp_path: Path) -> None:
    body = IDLE.replace("in: overlaps", 'in: overlaps\nwhere: source == "intervals"')
    assert on(tmp_path, body=body).outcome.outcome == "skipped"
    quiet = on(tmp_path, "rank source span_us free_us\n0 recorded 10 5", body=body)
    assert quiet.outcome.outcome == "quiet"


def test_a_rule_that_does_not_concern_the_run_says_so_before_any_table_is_read(tmp_path: Path) -> None:
    rule = made(tmp_path, body="applies_when: rank_count > 1\n" + IDLE)
    outcome = evaluate(rule, TablesAlone({}), run_of("rank_count=1")).outcome
    assert (outcome.outcome, outcome.reason and outcome.reason.en) == (
        "not applicable",
        "does not concern this run (number of ranks: 1)",
    )


@pytest.mark.parametrize("level", ["1", "0", "-"])
def test_a_higher_level_is_asked_for_only_where_it_would_make_the_rule_concern_the_run(
    tmp_path: Path, level: str
) -> None:
    concerns = 'applies_when: workload == "inference" and (level >= 1 or not recorded(level))\n'
    rule = made(tmp_path, body=concerns + IDLE)
    outcome = evaluate(rule, TablesAlone({}), run_of(f"workload=RL level={level}")).outcome
    assert (outcome.outcome, outcome.reason and outcome.reason.en) == (
        "not applicable",
        "does not concern this run (kind of job: RL)",
    )
    of_level = evaluate(rule, TablesAlone({}), run_of("workload=inference level=0")).outcome.reason
    assert of_level is not None
    assert of_level.en.endswith(
        "(profiler level: Level0, kind of job: inference); record with profiler_level=Level1 or above"
    )


def test_an_unknown_run_skips_the_rule(tmp_path: Path) -> None:
    rule = made(tmp_path, body="applies_when: tp > 1\n" + IDLE)
    outcome = evaluate(rule, TablesAlone({}), run_of("")).outcome
    assert outcome.outcome == "skipped"
    assert outcome.reason is not None
    assert "TP 大小" in outcome.reason.zh


def test_a_missing_table_says_what_to_record_in_both_languages(tmp_path: Path) -> None:
    class Nothing:
        def table(self, fact: Any) -> Table[Any]:
            raise FactMissing(["kernels", "launches"])

    outcome = evaluate(made(tmp_path), Nothing(), run_of("")).outcome
    assert (outcome.outcome, outcome.needs) == ("skipped", ("kernels", "launches"))
    assert outcome.reason is not None
    assert outcome.reason.en == "not recorded: kernels, launches; record with activities CPU and NPU together"
    assert outcome.reason.zh.startswith("未采集：kernel 明细、下发记录；采集时")


def test_a_further_table_that_is_required_must_be_there(tmp_path: Path) -> None:
    rule = made(tmp_path, body="requires: [settings]\n" + IDLE)
    overlaps = read_table(Overlap, IDLE_ROWS)
    assert evaluate(rule, TablesAlone({Overlap: overlaps}), run_of("")).outcome.needs == ("settings",)
    both = TablesAlone({Overlap: overlaps, Setting: Table.empty(Setting)})
    assert evaluate(rule, both, run_of("")).outcome.outcome == "fired"


@pytest.mark.parametrize("error", [ZeroDivisionError("x"), MemoryError(), RecursionError(), KeyError("<b>")])
def test_whatever_breaks_becomes_the_outcome_failed_with_the_place(tmp_path: Path, error: Exception) -> None:
    class Broken:
        def table(self, fact: Any) -> Table[Any]:
            raise error

    outcome = evaluate(made(tmp_path), Broken(), run_of("")).outcome
    assert outcome.outcome == "failed"
    assert outcome.reason is not None
    assert "test_evaluate.py:" in outcome.reason.en
    assert type(error).__name__ in outcome.reason.zh


def test_a_rule_over_the_whole_run_judges_even_when_there_are_no_rows(tmp_path: Path) -> None:
    body = "for_each: []\nin: settings\nwhen: count() == 0\nseverity: low\n"
    rule = made(tmp_path, body=body)
    assert evaluate(rule, TablesAlone({Setting: Table.empty(Setting)}), run_of("")).outcome.outcome == "fired"


def test_no_rows_at_all_are_quiet_not_unknown(tmp_path: Path) -> None:
    body = "for_each: []\nin: kernels\nlet: {longest_us: max(duration_us)}\nwhen: longest_us > 0\nseverity: low\n"
    rule = made(tmp_path, body=body)
    assert evaluate(rule, TablesAlone({Kernel: Table.empty(Kernel)}), run_of("")).outcome.outcome == "quiet"


@pytest.mark.parametrize(
    ("us", "saving"),
    [
        ("idle_us", 400.0),
        ("5000", 1000.0),
        ("-5", 0.0),
        ("idle_us / 0", 0.0),
        ("copy_us_mean", 0.0),
        ("1e18 * 1e18", 1000.0),
    ],
)
def test_a_saving_stays_between_nothing_and_the_step(tmp_path: Path, us: str, saving: float) -> None:
    body = IDLE.replace("  us: idle_us", f"  us: {us}").replace("let:\n", "let:\n  copy_us_mean: mean(copy_us)\n")
    assert on(tmp_path, body=body).hits[0].saving_us == saving


def test_evidence_that_is_not_finite_is_missing(tmp_path: Path) -> None:
    (hit,) = on(tmp_path, "rank span_us free_us\n0 1000 inf").hits
    assert [e.value for e in hit.evidence] == [None]
    assert hit.saving_us == 1000.0


def test_the_excerpt_shows_the_first_rows_of_the_group_in_a_total_order(tmp_path: Path) -> None:
    body = IDLE + "rows: {columns: [step, free_us, source], where: free_us > 0, order: -free_us, top: 2}\n"
    rows = """
rank step span_us free_us source
0    1    1000    400     b
0    2    1000    400     a
0    3    1000    500     -
0    4    1000    0       a
1    1    1000    900     a
"""
    excerpts = {hit.keys["rank"]: hit.excerpt for hit in on(tmp_path, rows, body=body).hits}
    assert excerpts[0] is None
    shown = excerpts[1]
    assert shown is not None
    assert [(head.name, head.unit) for head in shown.columns] == [("step", ""), ("free_us", "us"), ("source", "")]
    assert (shown.rows, shown.total) == (((1, 900.0, "a"),), 1)
    alone = on(tmp_path, rows.rsplit("\n", 2)[0], body=body).hits[0].excerpt
    assert alone is not None
    assert (alone.rows, alone.total) == (((3, 500.0, None), (1, 400.0, "b")), 3)


def test_keys_that_are_missing_are_a_group_of_their_own(tmp_path: Path) -> None:
    result = on(tmp_path, "rank step span_us free_us\n0 - 1000 400", body=IDLE.replace("[rank]", "[rank, step]"))
    assert result.hits[0].keys == {"rank": 0, "step": None}
    assert result.hits[0].place.step is None


def test_a_million_rows_need_no_python_loop(tmp_path: Path) -> None:
    body = """\
for_each: [rank, op_type]
in: kernels
where: duration_us > 1
let:
  share: sum(duration_us, where=contains(input_shapes, "1")) / sum(duration_us)
when: share > 2
severity: low
"""
    n = 300_000
    table = Table.build(
        Kernel,
        rank=np.arange(n) % 8,
        duration_us=np.arange(n, dtype=float) % 97,
        op_type=("Cast", "MatMul", "Add")[0],
        input_shapes="1,2",
    )
    assert evaluate(made(tmp_path, body=body), TablesAlone({Kernel: table}), run_of("")).outcome.outcome == "quiet"
