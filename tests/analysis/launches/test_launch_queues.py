# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.launches.launch_queues import launch_waits
from advisor.facts.derived import Dispatch
from advisor.facts.table import Table

SENT = st.tuples(st.integers(0, 2), st.integers(0, 90), st.sampled_from([True, False, None]))


@given(st.lists(SENT, max_size=40))
def test_waits_are_those_before_late_tasks_rank_by_rank(rows):
    links = Table.build(
        Dispatch,
        rank=[rank for rank, *_ in rows],
        idle_before_us=[float(us) for _, us, _ in rows],
        vertical=[late for *_, late in rows],
    )
    found = {row["rank"]: row for row in launch_waits(links).rows()}
    assert set(found) == {rank for rank, *_ in rows}
    for rank, row in found.items():
        mine = [(us, late) for one, us, late in rows if one == rank]
        dry = [us for us, late in mine if late]
        assert (row["tasks"], row["late_tasks"]) == (len(mine), len(dry))
        assert (row["dry_us"], row["longest_dry_us"]) == (sum(dry), max(dry, default=None))
