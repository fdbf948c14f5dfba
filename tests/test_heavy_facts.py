# SPDX-License-Identifier: Apache-2.0
"""No table with a row for each event leaves the rank it was read from: rules, charts and findings read few rows."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import advisor
from advisor.analysis import DERIVATIONS
from advisor.engine.needed_tables import wanted_by
from advisor.facts.base import Fact
from advisor.facts.derivation import fact_of_derivation, needs_of_derivation
from advisor.facts.derived import DERIVED
from advisor.facts.observed import Collective, HostCall, Kernel, Launch, ModuleMemory, OperatorCall, StepWindow
from advisor.facts.profile import Profile
from advisor.facts.rank_facts import RankFacts, Source
from advisor.facts.table import Table, Texts
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.pipeline import ALWAYS, diagnose, open_profile, prepare_exhibits
from advisor.rules.bind import Rule
from advisor.summary.chart_data import CHARTED

MAKERS = {fact_of_derivation(derivation): derivation for derivation in DERIVATIONS}
RULES = advisor.load_rules().rules
CASE = Path(__file__).parent.parent / "corpus" / "host-bound-2-ranks"


def heavy(facts: Iterable[Any]) -> list[str]:
    return [fact.table for fact in facts if isinstance(fact, type) and issubclass(fact, Fact) and fact.heavy]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_reads_no_table_with_a_row_for_each_event(rule: Rule) -> None:
    assert heavy(wanted_by([rule])) == []


def test_a_chart_reads_no_table_with_a_row_for_each_event() -> None:
    assert heavy(CHARTED) == []


def test_what_is_said_of_every_run_needs_no_table_with_a_row_for_each_event() -> None:
    assert heavy(ALWAYS) == []


@pytest.mark.parametrize("fact", [fact for fact in DERIVED if fact.across_ranks], ids=lambda fact: fact.table)
def test_ranks_are_set_beside_each_other_by_few_rows(fact: type[Fact]) -> None:
    assert heavy(need for need, _ in needs_of_derivation(MAKERS[fact]).values() if issubclass(need, Fact)) == []


@pytest.mark.parametrize("fact", [fact for fact in DERIVED if not fact.across_ranks], ids=lambda fact: fact.table)
def test_what_is_made_rank_by_rank_rests_on_nothing_that_only_other_ranks_tell(fact: type[Fact]) -> None:
    assert Run not in {need for need, _ in needs_of_derivation(MAKERS[fact]).values()}


def test_a_diagnosis_of_several_ranks_keeps_no_table_with_a_row_for_each_event() -> None:
    profile = open_profile(CASE)
    findings = diagnose(profile, advisor.load_rules()).findings
    assert any(finding.occurrences and finding.occurrences[0].table == "gaps" for finding in findings)
    assert heavy(profile._found) == []


STEPS = 2
EVENTS = Callable[[int], Table[Any]]


def names(count: int, of: int) -> Texts:
    return Texts((np.arange(count) % of).astype(np.int32), tuple(f"name{number}" for number in range(of)))


def step_of(count: int) -> Any:
    return np.arange(count) * STEPS // count


def kernels(count: int) -> Table[Kernel]:
    types = names(count, 20)
    return Table.build(
        Kernel, rank=0, step=step_of(count), stream=1, op_name=types, op_type=types, core="AI_CORE",
        start_ns=1_000 + 10_000 * np.arange(count), duration_us=3.0 + np.arange(count) % 7,
        input_shapes=names(count, 40), input_dtypes="FLOAT16", input_formats="ND", output_shapes="8,8",
    )  # fmt: skip


def launches(count: int) -> Table[Launch]:
    device = 1_000 + 10_000 * np.arange(count)
    return Table.build(
        Launch, rank=0, thread=1, host_start_ns=device - 900, host_end_ns=device - 500, device_start_ns=device, stream=1
    )  # fmt: skip


def calls(count: int) -> Table[HostCall]:
    start = 1_000 + 10_000 * np.arange(count)
    kinds = Texts(np.zeros(count, np.int32), ("operator",))
    return Table.build(
        HostCall, rank=0, thread=1, kind=kinds, name=names(count, 9), start_ns=start - 950, end_ns=start - 100
    )  # fmt: skip


def windows(count: int) -> Table[StepWindow]:
    edges = np.arange(STEPS + 1) * (10_000 * count // STEPS)
    return Table.build(StepWindow, rank=0, step=np.arange(STEPS), start_ns=edges[:-1], end_ns=edges[1:])


def memory(count: int) -> Table[ModuleMemory]:
    return Table.build(
        ModuleMemory, rank=0, component=names(count, 3), time_ns=1 + np.arange(count), reserved_bytes=1.0
    )


def operator_calls(count: int) -> Table[OperatorCall]:
    return Table.build(OperatorCall, rank=0, name=names(count, 9), call_stack=names(count, 30), host_total_us=1.0)


MADE: dict[type[Fact], EVENTS] = {
    Kernel: kernels,
    Launch: launches,
    HostCall: calls,
    StepWindow: windows,
    ModuleMemory: memory,
    OperatorCall: operator_calls,
    Collective: lambda _: Table.empty(Collective),
}


class Events:
    """A rank with so many events of each kind."""

    def __init__(self, count: int) -> None:
        self.count, self.size_bytes = count, 0

    def read(self, fact: type[Any]) -> Table[Any]:
        if fact not in MADE:
            raise FactMissing([fact.table])
        return MADE[fact](self.count)

    def release(self) -> None:
        """Nothing is kept."""


def handed_over(count: int) -> dict[str, int]:
    """By table: how many bytes a process that reads such a rank sends to the one that asked."""
    sent: dict[str, int] = {}

    def gather(work: Callable[[Source], RankFacts], sources: Sequence[Source]) -> Iterable[RankFacts]:
        for source in sources:
            part = work(source)
            for asked, found in part.items():
                name = f"{(asked if isinstance(asked, type) else asked.fact).table} {type(asked).__name__}"
                sent[name] = sent.get(name, 0) + len(pickle.dumps(found))
            yield part

    run = Run(ranks=(0, 1), steps=tuple(range(STEPS)))
    prepare_exhibits(Profile(run, [Events(count), Events(count)], DERIVATIONS, gather), advisor.load_rules())
    return {name: size // 2 for name, size in sent.items()}


def test_what_a_process_hands_over_of_a_rank_is_small_and_does_not_grow_with_its_events() -> None:
    few, many = handed_over(3_000), handed_over(9_000)
    assert sum(many.values()) < 400_000, sorted(many.items(), key=lambda item: -item[1])[:5]
    assert {name: size for name, size in many.items() if size > few[name] + 10_000} == {}
