# SPDX-License-Identifier: Apache-2.0
"""Phases of steps and queues of batches, against plain loops."""

from __future__ import annotations

import math
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.phases.datasets import dataset_stages
from advisor.analysis.phases.flops import stage_flops
from advisor.analysis.phases.phases import rank_phases
from advisor.facts.observed import BatchQueue, Collective, DataFetch, DatasetOperation, RankFlops, StepPhase
from advisor.facts.table import Table, read_table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

RUN = run_of_ranks(Run())

PHASES = """
rank step first start_ns whole_us interval_us forward_backward_us tail_us
0    1    true  0        5        -           4                   1
0    2    false 5000     10       4           5                   1
0    3    false 15000    10       2           5                   3
1    1    false 0        10       1           8                   1
"""


def test_the_first_of_several_steps_counts_in_no_mean() -> None:
    found = rank_phases(RUN, read_table(StepPhase, PHASES), None, None, None, None).rows()
    assert [(row["whole_us"], row["interval_us"], row["tail_us"]) for row in found] == [(10, 3, 2), (10, 1, 1)]
    assert [row["peer_interval_us"] for row in found] == [1, 3]
    assert found[0]["host_looks"] == 0
    assert found[0]["sunk"] is None


def test_intervals_of_a_quarter_of_the_longest_are_not_like_it() -> None:
    phases = read_table(
        StepPhase,
        "rank step first whole_us interval_us\n"
        "0 1 true 9 80\n0 2 false 99 40\n0 3 false 9 10\n0 4 false 9 11\n1 2 false 9 -",
    )
    queues = read_table(BatchQueue, "rank step queue size\n2 1 host 3")
    rows = rank_phases(RUN, phases, queues, None, None, None).rows()
    told = [(row["steps"], row["longest_interval_us"], row["long_intervals"]) for row in rows]
    assert told == [(3, 40, 2), (1, None, 0), (0, None, 0)]


WAITING = """
rank step first whole_us interval_us
0    1    true  9        -
0    2    false 9        80
0    3    false 9        1
0    4    false 9        1
0    5    false 9        70
1    2    false 9        50
1    3    false 9        40
"""
LOOKS = """
rank step queue size
0    1    host  0
0    2    host  0
0    3    host  9
0    4    host  9
0    5    host  0
0    5    device 2
1    2    host  0
1    3    host  7
"""


def test_where_only_some_steps_wait_the_queues_of_those_count() -> None:
    """Four full queues do not tell that a batch was ready for the one step that waited for it."""
    rows = rank_phases(RUN, read_table(StepPhase, WAITING), read_table(BatchQueue, LOOKS), None, None, None).rows()
    assert [(row["host_looks"], row["host_empty_share"], row["some_wait"]) for row in rows] == [
        (2, 1, True),
        (2, 0.5, False),
    ]
    assert [row["device_looks"] for row in rows] == [1, 0]
    operations = read_table(DatasetOperation, "rank number operation\n0 0 BatchOp\n1 0 BatchOp")
    stages = dataset_stages(operations, read_table(BatchQueue, LOOKS), read_table(StepPhase, WAITING), None).rows()
    assert [row["host_empty_share"] for row in stages] == [1, 0.5]


def test_all_looks_count_where_none_was_at_a_step_that_waits() -> None:
    queues = read_table(BatchQueue, "rank step queue size\n0 3 host 0\n0 4 host 5")
    (row, _) = rank_phases(RUN, read_table(StepPhase, WAITING), queues, None, None, None).rows()
    assert (row["host_looks"], row["host_empty_share"], row["some_wait"]) == (2, 0.5, False)


def test_collectives_count_as_far_as_they_run_in_a_tail() -> None:
    running = read_table(Collective, "rank start_ns elapse_us\n0 13500 1\n0 14500 8\n0 24000 5\n1 0 4")
    found = rank_phases(RUN, read_table(StepPhase, PHASES), None, None, running, None).rows()
    assert [row["tail_comm_us"] for row in found] == [(0.5 + 0.5 + 0.5 + 1) / 2, 0]


def test_steps_without_a_recorded_collective_say_nothing_of_those_in_tails() -> None:
    phases = read_table(StepPhase, "rank step first start_ns whole_us tail_us\n0 1 false 0 10 2\n0 2 false 10000 10 2")
    running = read_table(Collective, "rank start_ns elapse_us\n0 8500 1")
    assert [row["tail_comm_us"] for row in rank_phases(RUN, phases, None, None, running, None).rows()] == [1]


def test_a_fetch_is_late_as_far_as_it_runs_in_an_interval() -> None:
    fetches = read_table(DataFetch, "rank start_ns duration_us\n0 4000 2\n0 16500 9\n0 900000000000000000 9")
    found = rank_phases(RUN, read_table(StepPhase, PHASES), None, fetches, None, None).rows()
    assert [row["late_fetch_us"] for row in found] == [(1 + 0.5) / 2, None]
    assert found[0]["fetch_us"] == 20 / 3


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.sampled_from(["host", "device"]), st.integers(0, 3), st.booleans()),
        min_size=1,
        max_size=30,
    )
)
def test_empty_shares_are_those_of_a_plain_loop(looks: list[tuple[int, str, int, bool]]) -> None:
    table = Table.build(
        BatchQueue,
        rank=[rank for rank, *_ in looks],
        step=list(range(len(looks))),
        queue=[queue for _, queue, *_ in looks],
        size=[float(size) for *_, size, _ in looks],
        sunk=[int(sunk) for *_, sunk in looks],
    )
    rows = rank_phases(RUN, None, table, None, None, None).rows()
    assert [row["rank"] for row in rows] == sorted({rank for rank, *_ in looks})
    for row in rows:
        for name in ("host", "device"):
            sizes = [size for rank, queue, size, _ in looks if rank == row["rank"] and queue == name]
            assert row[f"{name}_looks"] == len(sizes)
            assert row[f"{name}_empty_share"] == (mean(size == 0 for size in sizes) if sizes else None)
        assert row["sunk"] == any(sunk for rank, *_, sunk in looks if rank == row["rank"])


@pytest.mark.parametrize(("said", "of_other"), [([True, True], True), ([False], False), ([True, False], None)])
def test_a_rank_whose_queues_were_not_recorded_sinks_batches_as_all_others_do(
    said: list[bool], of_other: bool | None
) -> None:
    queues = Table.build(
        BatchQueue,
        rank=range(len(said)),
        step=[1] * len(said),
        queue=["host"] * len(said),
        size=[1.0] * len(said),
        sunk=[int(sunk) for sunk in said],
    )
    steps = Table.build(StepPhase, rank=[9], step=[1], start_ns=[0], whole_us=[10.0], interval_us=[5.0])
    rows = {row["rank"]: row["sunk"] for row in rank_phases(RUN, steps, queues, None, None, None).rows()}
    assert rows == {**dict(enumerate(said)), 9: of_other}


Operation = tuple[int, float | None]
"""Number of the parent below its own, and how full its queue is."""


@given(st.lists(st.tuples(st.integers(0, 50), st.none() | st.floats(0, 1)), min_size=1, max_size=12))
def test_queues_around_an_operation_are_those_of_a_walk_through_the_pipeline(drawn: list[Operation]) -> None:
    parents = [None if number == 0 else above % number for number, (above, _) in enumerate(drawn)]
    shares = [share for _, share in drawn]
    table = Table.build(
        DatasetOperation,
        rank=[0] * len(drawn),
        number=list(range(len(drawn))),
        parent=parents,
        queue_share=[math.nan if share is None else share for share in shares],
    )

    def behind(number: int) -> list[int]:
        above = parents[number]
        return [number, *([] if above is None else behind(above))]

    for row in dataset_stages(table, None, None, None).rows():
        here = row["number"]
        assert isinstance(here, int)
        after = [shares[one] for one in behind(here) if shares[one] is not None]
        before = [
            shares[one] for one in range(len(drawn)) if one != here and here in behind(one) and shares[one] is not None
        ]
        children = [shares[one] for one in range(len(drawn)) if parents[one] == here and shares[one] is not None]
        assert row["reads"] == (here not in parents)
        assert row["fullest_after_share"] == max(after, default=None)
        assert row["emptiest_before_share"] == min(before, default=None)
        assert row["input_share"] == min(children, default=None)
        assert row["last"] == (not after)


def test_stages_are_weighed_by_the_mean_of_their_ranks() -> None:
    counted = read_table(RankFlops, "rank stage mega_flops\n0 0 90\n1 0 110\n2 1 300\n3 - 7")
    assert [tuple(row.values()) for row in stage_flops(counted).rows()] == [
        (0, 2, 100, 200, 100, False),
        (1, 2, 300, 200, 100, True),
    ]
