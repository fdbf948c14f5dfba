# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.launch_queues import launch_waits
from advisor.facts.derived import Dispatch
from advisor.facts.table import Table

SENT = st.tuples(
    st.integers(0, 2), st.sampled_from([1, 2, None]), st.integers(0, 90), st.sampled_from([True, False, None])
)


@given(st.lists(SENT, max_size=40))
def test_waits_are_those_before_late_tasks_by_rank_and_step(rows):
    links = Table.build(
        Dispatch,
        rank=[rank for rank, *_ in rows],
        step=[step for _, step, *_ in rows],
        idle_before_us=[float(us) for _, _, us, _ in rows],
        vertical=[late for *_, late in rows],
    )
    found = {(row["rank"], row["step"]): row for row in launch_waits(links).rows()}
    assert set(found) == {(rank, step) for rank, step, *_ in rows}
    for cell, row in found.items():
        mine = [(us, late) for rank, step, us, late in rows if (rank, step) == cell]
        dry = [us for us, late in mine if late]
        assert (row["tasks"], row["late_tasks"]) == (len(mine), len(dry))
        assert (row["dry_us"], row["longest_dry_us"]) == (sum(dry), max(dry, default=None))
