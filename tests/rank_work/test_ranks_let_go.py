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
from advisor.facts.observed import HostCall, Kernel
from advisor.facts.table import Table
from advisor.pipeline import open_profile, prepare_exhibits
from advisor.rank_work.sent_ranks import SentRanks, pack_ranks
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
