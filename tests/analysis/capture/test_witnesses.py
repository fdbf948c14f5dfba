# SPDX-License-Identifier: Apache-2.0
"""What the profiler summed up beside what the events add up to."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.capture.witnesses import witnesses
from advisor.analysis.steps.overlap import overlaps
from advisor.facts.derived import Witness
from advisor.facts.observed import Collective, Kernel, OperatorTotal, OverlapTrack, StepTime
from advisor.facts.table import Table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

RUN = run_of_ranks(Run())

INTERVALS = st.lists(st.tuples(st.integers(0, 60), st.integers(1, 30)), min_size=1, max_size=8)
"""Start and length, µs."""


def kernels_of(rows: list[tuple[int, int]], rank: int = 0, **more: object) -> Table[Kernel]:
    starts = np.array([start for start, _ in rows], np.int64) * 1000
    lengths = np.array([float(length) for _, length in rows])
    return Table.build(
        Kernel, rank=rank, step=[1] * len(rows), start_ns=starts, duration_us=lengths, op_name=["k"] * len(rows)
    ).having(**more)


def collectives_of(rows: list[tuple[int, int]], rank: int = 0) -> Table[Collective]:
    starts = np.array([start for start, _ in rows], np.int64) * 1000
    lengths = np.array([float(length) for _, length in rows])
    return Table.build(Collective, rank=rank, step=[1] * len(rows), start_ns=starts, elapse_us=lengths)


def heard(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None = None,
    recorded: Table[StepTime] | None = None,
    track: Table[OverlapTrack] | None = None,
    totals: Table[OperatorTotal] | None = None,
) -> Table[Witness]:
    split = overlaps(RUN, kernels=kernels, collectives=collectives, tasks=None, windows=None, recorded=recorded)
    return witnesses(kernels, collectives, split, track, totals)


def track(rank: int, compute: float, exposed: float = 0.0) -> Table[OverlapTrack]:
    return Table.build(OverlapTrack, rank=[rank], compute_us=[compute], exposed_comm_us=[exposed], free_us=[0.0])


@given(INTERVALS, INTERVALS, st.lists(st.sampled_from([0, 3]), min_size=1, max_size=2, unique=True))
def test_what_is_found_is_the_time_of_kernels_and_of_collectives_beside_none(computing, talking, ranks):
    kernels = Table.concat(Kernel, [kernels_of(computing, rank) for rank in ranks])
    collectives = Table.concat(Collective, [collectives_of(talking, rank) for rank in ranks])
    drawn = Table.concat(OverlapTrack, [track(rank, 1.0) for rank in ranks])
    busy = {at for start, length in computing for at in range(start, start + length)}
    comm = {at for start, length in talking for at in range(start, start + length)}
    rows = heard(kernels, collectives, track=drawn).rows()
    assert {(row["rank"], row["part"]): row["found_us"] for row in rows} == {
        (rank, part): us for rank in ranks for part, us in (("compute", len(busy)), ("exposed_comm", len(comm - busy)))
    }


def test_kernels_outside_of_every_step_count_beside_the_track_which_holds_the_whole_capture():
    kernels = kernels_of([(0, 10), (20, 10)], step=np.array([1, -(2**63)]))
    (row,) = heard(kernels, track=track(0, 20.0)).rows()
    assert (row["said_us"], row["found_us"]) == (20, 20)


def test_totals_are_a_witness_only_where_they_say_more():
    """op_statistic may leave out whole cores; kernels that drive a collective are no computing."""
    kernels = kernels_of([(0, 10), (20, 10)])

    def totals(us: float) -> Table[OperatorTotal]:
        return Table.build(
            OperatorTotal, rank=[0, 0], op_type=["Mul", "allreduceAicpuKernel"], core=None, total_us=[us, 900.0]
        )

    assert heard(kernels, totals=totals(5.0)).rows() == []
    (row,) = heard(kernels, totals=totals(60.0)).rows()
    assert (row["witness"], row["said_us"], row["found_us"]) == ("op_statistic", 60, 20)


def test_step_times_that_agree_are_no_witness_and_others_tell_what_the_events_say():
    kernels = kernels_of([(0, 10), (20, 10)])
    agreed = Table.build(StepTime, rank=[0], step=[1], compute_us=[20.0], exposed_comm_us=[0.0], free_us=[10.0])
    assert heard(kernels, recorded=agreed).rows() == []
    found = heard(kernels, recorded=agreed.having(compute_us=np.array([8.0]), free_us=np.array([22.0]))).rows()
    assert [(row["part"], row["said_us"], row["found_us"]) for row in found] == [
        ("compute", 8, 20),
        ("exposed_comm", 0, 0),
    ]


def test_a_list_that_is_known_to_lack_rows_is_not_accused_twice():
    kernels = kernels_of([(0, 10), (20, 10)])
    more = Table.build(StepTime, rank=[0], step=[1], compute_us=[28.0], exposed_comm_us=[0.0], free_us=[2.0])
    assert heard(kernels, recorded=more, track=track(0, 28.0)).rows() == []


def test_totals_that_say_what_the_kernels_do_say_it_in_whatever_order_they_are_added_up() -> None:
    lasted = [0.1, 0.2, 0.3, 0.4]
    kernels = kernels_of([(at * 10, 1) for at in range(4)])
    spoken = Table.build(OperatorTotal, rank=0, op_type="Add", calls=[1.0] * 4, total_us=lasted)
    told = {len(heard(kernels.having(duration_us=np.array(some)), totals=spoken)) for some in (lasted, lasted[::-1])}
    assert told == {1}
