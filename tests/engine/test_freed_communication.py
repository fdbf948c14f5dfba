# SPDX-License-Identifier: Apache-2.0
"""A remedy that only makes communication shorter wins no more than the step would if communication were free."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_texts import IDLE, made

from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.engine.freed_communication import WORTH
from advisor.engine.hit import Hit
from advisor.facts.base import Fact
from advisor.facts.derived import Overlap, RankSplit
from advisor.facts.table import Table, read_table
from advisor.machine.shipped_files import shipped_folder
from advisor.rules.cases import run_of
from advisor.rules.catalog import read_rule
from advisor.rules.rule import Rule

FREES = IDLE.replace("  us: idle_us", "  us: idle_us\n  frees: communication")
ROWS = "rank step span_us free_us\n0 1 1000 300\n0 2 1000 300\n1 1 1000 400\n1 2 1000 400"
RUN = "step_us=1000 step_count=2 rank_count=2"


def hits_of(rule: Rule, split: str = "", words: str = RUN) -> tuple[Hit, ...]:
    tables: dict[type[Fact], Table[Fact]] = {Overlap: read_table(Overlap, ROWS)}
    if split:
        tables[RankSplit] = read_table(RankSplit, split)
    return evaluate(rule, TablesAlone(tables), run_of(words)).hits


def limits(hits: tuple[Hit, ...]) -> list[object]:
    return [next(item.value for item in hit.evidence if item.name == "gain_without_comm_us") for hit in hits]


def test_each_rank_promises_no_more_than_it_would_win_and_says_what_limits_it(tmp_path: Path) -> None:
    rank_splits = "rank step gain_without_comm_us\n0 1 30\n0 2 50\n1 1 900\n1 2 900"
    hits = hits_of(made(tmp_path, body=FREES), rank_splits)
    assert [hit.saving_us for hit in hits] == [40, 400]
    assert limits(hits) == [40, None]


@pytest.mark.parametrize("rank_splits", ["", "rank step gain_without_comm_us\n0 1 -\n1 1 -"])
def test_where_launches_were_not_recorded_nothing_limits_it(tmp_path: Path, rank_splits: str) -> None:
    hits = hits_of(made(tmp_path, body=FREES), rank_splits)
    assert [hit.saving_us for hit in hits] == [300, 400]
    assert limits(hits) == [None, None]


def test_a_remedy_that_does_more_than_that_is_not_limited(tmp_path: Path) -> None:
    hits = hits_of(made(tmp_path, body=IDLE), "rank step gain_without_comm_us\n0 1 0\n1 1 0")
    assert [hit.saving_us for hit in hits] == [300, 400]


def test_of_the_whole_run_the_mean_over_ranks_limits_it(tmp_path: Path) -> None:
    rank_splits = "rank step gain_without_comm_us\n0 1 100\n0 2 100\n1 1 20"
    (hit,) = hits_of(made(tmp_path, body=FREES.replace("for_each: [rank]", "for_each: []")), rank_splits)
    assert hit.saving_us == 60


def test_a_single_step_may_lose_what_is_won_in_all_of_them(tmp_path: Path) -> None:
    """Savings of steps are averaged over all steps later, and so is the limit."""
    rank_splits = "rank step gain_without_comm_us\n0 1 75\n0 2 75\n1 1 900\n1 2 900"
    hits = hits_of(made(tmp_path, body=FREES.replace("for_each: [rank]", "for_each: [rank, step]")), rank_splits)
    assert [hit.saving_us for hit in hits] == [150, 150, 400, 400]
    assert limits(hits) == [75, 75, None, None]


def test_a_finding_limited_to_too_little_to_act_on_is_low_unless_its_severity_was_set(tmp_path: Path) -> None:
    rank_splits = "rank step gain_without_comm_us\n0 1 50\n1 1 51"
    assert [hit.severity.name for hit in hits_of(made(tmp_path, body=FREES), rank_splits)] == ["low", "high"]
    fixed = FREES.replace("severity: {high: idle_share > 3 * tolerated, medium: otherwise}", "severity: critical")
    assert [hit.severity.name for hit in hits_of(made(tmp_path, body=fixed), rank_splits)] == ["critical", "critical"]


@given(gain=st.floats(0, 2000), free=st.integers(101, 1000))
def test_the_saving_is_never_above_either(tmp_path_factory: pytest.TempPathFactory, gain: float, free: int) -> None:
    rule = made(tmp_path_factory.mktemp("rule"), body=FREES)
    tables: dict[type[Fact], Table[Fact]] = {
        Overlap: Table.build(Overlap, rank=[0], step=[1], span_us=[1000.0], free_us=[float(free)]),
        RankSplit: Table.build(RankSplit, rank=[0], step=[1], gain_without_comm_us=[gain]),
    }
    (hit,) = evaluate(rule, TablesAlone(tables), run_of("step_us=1000 step_count=1 rank_count=1")).hits
    assert hit.saving_us == pytest.approx(min(gain, free), abs=0.001)


def test_what_is_too_little_is_the_same_as_for_exposed_communication() -> None:
    rule = read_rule(shipped_folder("rules") / "comm/exposed-communication.yaml")
    assert isinstance(rule, Rule)
    assert rule.params["worth"].value == WORTH


def test_what_a_rule_promises_is_worked_out_once_however_many_ask_for_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule = made(tmp_path, body=FREES)
    assert rule.saving is not None
    worked_out, run = [], rule.saving.us.run
    monkeypatch.setattr(rule.saving.us, "run", lambda frame: (worked_out.append(frame), run(frame))[1])
    assert hits_of(rule, "rank step gain_without_comm_us\n0 1 30\n1 1 900")
    assert len(worked_out) == 1
