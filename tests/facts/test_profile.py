# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import Counter
from typing import Any, TypeVar

import pytest

from advisor.facts import Fact, Profile, Table
from advisor.facts.derived import MemoryPeak, Overlap, RankTime, StepSpan
from advisor.facts.observed import Damage, DeviceTask, Frequency, HostCall, Kernel, Launch, MemoryUse
from advisor.messages.errors import FactMissing, UsageError
from advisor.messages.text import Text
from advisor.model.run import Run
from advisor.model.run_of_ranks import RunOfRanks

F = TypeVar("F", bound=Fact)


class Canned:
    """A capture with fixed tables, counting what is read."""

    size_bytes = 1

    def __init__(self, *tables: Table[Any]) -> None:
        self.tables: dict[type[Fact], Table[Any]] = {table.fact: table for table in tables}
        self.read_order: list[str] = []

    def read(self, fact: type[F]) -> Table[F]:
        self.read_order.append(fact.table)
        if fact is Damage:
            return Table.empty(fact)
        if fact not in self.tables:
            raise FactMissing([fact.table], ["broken.csv"] if fact is Frequency else [])
        return self.tables[fact]

    def release(self) -> None:
        self.read_order.append("release")


def overlaps(kernels: Table[Kernel], run: RunOfRanks) -> Table[Overlap]:
    return Table.build(Overlap, rank=kernels["rank"], compute_us=kernels["duration_us"])


def spans(overlaps: Table[Overlap], frequencies: Table[Frequency] | None) -> Table[StepSpan]:
    return Table.build(StepSpan, rank=overlaps["rank"], steps=0.0 if frequencies is None else 1.0)


def ranks(spans: Table[StepSpan]) -> Table[RankTime]:
    return Table.build(RankTime, rank=spans["rank"], peers=float(len(spans)))


MAKERS = (overlaps, spans, ranks)


def kernels(rank: int) -> Table[Kernel]:
    return Table.build(Kernel, rank=[rank], duration_us=[1.0 + rank])


def test_facts_are_derived_through_their_needs_and_joined_over_the_ranks() -> None:
    profile = Profile(Run(), [Canned(kernels(0)), Canned(kernels(1))], MAKERS)
    assert profile.table(RankTime)["peers"].tolist() == [2, 2]
    assert profile.table(Overlap)["compute_us"].tolist() == [1, 2]


def test_each_fact_is_read_once_from_each_capture_and_damage_last() -> None:
    source = Canned(kernels(0))
    profile = Profile(Run(), [source], MAKERS)
    profile.prepare([Damage, RankTime, Kernel, Overlap])
    profile.table(Overlap)
    profile.table(Damage)
    assert Counter(source.read_order) == {"kernels": 1, "frequencies": 1, "damages": 1, "release": 1}
    assert source.read_order.index("release") > source.read_order.index("kernels")
    assert source.read_order[-1] == "damages"


def test_what_is_made_of_few_tables_is_made_before_the_others_are_read_and_the_longest_comes_last() -> None:
    source = Canned(
        Table.build(MemoryUse, rank=[0], reserved_bytes=[7.0]),
        kernels(0),
        Table.build(DeviceTask, rank=[0]),
        Table.build(Launch, rank=[0]),
        Table.build(HostCall, rank=[0]),
    )

    def peaks(uses: Table[MemoryUse]) -> Table[MemoryPeak]:
        source.read_order.append("memory_peaks made")
        return Table.build(MemoryPeak, rank=uses["rank"])

    def windows(
        kernels: Table[Kernel], tasks: Table[DeviceTask], launches: Table[Launch], calls: Table[HostCall]
    ) -> Table[Overlap]:
        return Table.build(Overlap, rank=kernels["rank"])

    Profile(Run(), [source], (peaks, windows)).prepare([Overlap, MemoryPeak])
    assert source.read_order == [
        *("memory_uses", "memory_peaks made"),
        *("device_tasks", "kernels", "launches", "host_calls", "release"),
    ]


def test_a_missing_fact_names_what_was_not_recorded_and_what_cannot_be_read() -> None:
    profile = Profile(Run(), [Canned()], MAKERS)
    with pytest.raises(FactMissing) as missing:
        profile.table(RankTime)
    assert missing.value.tables == ("kernels",)
    with pytest.raises(FactMissing) as missing:
        profile.table(Frequency)
    assert missing.value.unreadable == ("broken.csv",)


def test_what_is_said_of_a_missing_fact_is_made_once_however_many_ask() -> None:
    told: list[tuple[str, ...]] = []

    def say_missing(missing: FactMissing, run: Run) -> Text:
        told.append(missing.tables)
        return Text("record it", "请采集")

    profile = Profile(Run(), [Canned()], MAKERS, say_missing=say_missing)
    raised: list[FactMissing] = []
    for fact in (Kernel, Kernel, HostCall, Kernel):
        with pytest.raises(FactMissing) as missing:
            profile.table(fact)
        raised.append(missing.value)
    assert told == [("kernels",), ("host_calls",)]
    assert {one.say("zh") for one in raised} == {"请采集"}
    assert len(set(map(id, raised))) == len(raised), "what is raised holds whoever asked"


def test_ranks_that_lack_a_fact_leave_the_others_theirs() -> None:
    profile = Profile(Run(), [Canned(), Canned(kernels(1))], MAKERS)
    assert profile.table(Overlap)["rank"].tolist() == [1]


def test_an_optional_need_may_be_missing() -> None:
    with_it = Canned(kernels(0), Table.build(Frequency, rank=[0], mhz=[1800.0]))
    assert Profile(Run(), [with_it], MAKERS).table(StepSpan)["steps"].tolist() == [1]
    assert Profile(Run(), [Canned(kernels(0))], MAKERS).table(StepSpan)["steps"].tolist() == [0]


def test_a_fact_may_be_asked_for_by_name() -> None:
    kernels = Table.build(Kernel, rank=[0], duration_us=[5.0])
    profile = Profile(Run(name="prof", ranks=(0,)), [Canned(kernels)], [])
    assert profile.table("kernels") is profile.table(Kernel)
    assert repr(profile) == "<profile 'prof': 1 ranks, 0 steps>"
    with pytest.raises(UsageError, match="did you mean `kernels`"):
        profile.table("kernel")
