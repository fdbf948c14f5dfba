# SPDX-License-Identifier: Apache-2.0
"""The tables of a rank are gone when its work is done: a process that reads many ranks needs room for one.

The command looks for garbage so seldom that a table that only the collector frees stays until the end.
"""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import advisor
from advisor.facts.observed import HostCall, Kernel, MemoryUse
from advisor.facts.rank_facts import FactsWanted, RankFacts
from advisor.facts.table import Table
from advisor.pipeline import open_profile, prepare_exhibits
from advisor.rank_work.sent_ranks import SentRanks, pack_ranks
from advisor.sources.ascend.reading import SMALL_ROWS
from tests.every_export import CAPTURES, REAL
from tests.shared_captures import SharedCaptures


def tables_left_by(work: Callable[[], object]) -> set[str]:
    """The kinds of tables that nothing refers to any more and that only the collector of garbage frees."""
    gc.collect()
    gc.freeze()  # what other tests keep is looked through by none of the two that follow
    gc.disable()
    try:
        work()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        return {one.fact.table for one in gc.garbage if isinstance(one, Table)}
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        gc.enable()


def read_in_this_process(folder: Path) -> Callable[[], object]:
    """Everything that reports want, rank after rank."""
    profile, rules = open_profile(folder, jobs=1), advisor.load_rules()
    return lambda: prepare_exhibits(profile, rules)


@pytest.mark.parametrize(("case", "how"), CAPTURES)
def test_of_a_rank_no_table_waits_for_the_collector(case: str, how: dict[str, Any], shared: SharedCaptures) -> None:
    assert not tables_left_by(read_in_this_process(shared.written(case, small=True, **how)))


@pytest.mark.parametrize("capture", REAL)
def test_of_a_recorded_rank_neither(capture: str, real_data: Path) -> None:
    assert not tables_left_by(read_in_this_process(real_data / capture))


def live_tables() -> dict[int, Table[Any]]:
    """All tables that anything still holds."""
    return {id(one): one for one in gc.get_objects() if isinstance(one, Table)}


@pytest.mark.parametrize("capture", REAL)
def test_a_table_of_events_is_gone_as_soon_as_nothing_more_is_made_of_it(
    capture: str, real_data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    let_go, held = FactsWanted._let_go, set[str]()

    def look_after(work: FactsWanted, found: RankFacts, unneeded: Any) -> None:
        of_events = [found.get(fact) for fact in unneeded if isinstance(fact, type) and fact.heavy]
        going = {id(table) for table in of_events if isinstance(table, Table) and len(table) > SMALL_ROWS}
        del of_events
        let_go(work, found, unneeded)
        held.update(one.fact.table for place, one in live_tables().items() if place in going)

    monkeypatch.setattr(FactsWanted, "_let_go", look_after)
    profile = open_profile(real_data / capture, jobs=1)
    profile._gather = map  # one rank after another, as large ones are
    prepare_exhibits(profile, advisor.load_rules())
    assert held == set()


def test_memory_over_time_is_gone_before_the_calls_of_the_host_are_read(real_data: Path) -> None:
    profile = open_profile(real_data / "msinsight_pytorch_matrix/db/level2/rank0_ascend_pt", jobs=1)
    [source] = profile._sources
    read, there = source.read, list[tuple[str, int]]()

    def look_before(fact: Any) -> Table[Any]:
        if fact is HostCall:
            there.append((HostCall.table, sum(one.fact is MemoryUse for one in live_tables().values())))
        table: Table[Any] = read(fact)
        if fact is MemoryUse:
            there.append((MemoryUse.table, len(table)))
        return table

    source.__dict__["read"] = look_before
    before = sum(one.fact is MemoryUse for one in live_tables().values())
    prepare_exhibits(profile, advisor.load_rules())
    assert [name for name, _ in there] == [MemoryUse.table, HostCall.table]
    assert there[0][1] > SMALL_ROWS
    assert there[1][1] == before


def test_of_whole_tables_that_a_worker_hands_over_neither(shared: SharedCaptures) -> None:
    profile = open_profile(shared.written("slow-link"), jobs=1)
    asked = []

    def as_in_a_worker(work: Any, sources: Any) -> Any:
        sent = SentRanks(pack_ranks(work, sources))
        for number in range(len(sources)):
            asked.append(number)
            yield from sent.facts_of(number)

    profile._gather = as_in_a_worker
    wanted = [Kernel, HostCall, *advisor.load_rules().facts()]
    assert not tables_left_by(lambda: list(profile.read_ranks(wanted)))
    assert len(asked) > 1
