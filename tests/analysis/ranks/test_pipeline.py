# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.ranks.pipeline import stage_times, worth_of_stages
from advisor.analysis.steps.overlap import overlaps
from advisor.facts.derived import CollectiveCall, Overlap, StageTime
from advisor.facts.observed import Collective, StepTime
from advisor.facts.table import Table, read_table
from advisor.model.run import Parallel, Run
from advisor.model.run_of_ranks import run_of_ranks
from corpus.schedule import one_forward_one_backward

STAGES = Run(parallel=Parallel(stages=((0,), (1,))))


def stages(text: str) -> list[dict[str, Any]]:
    return stage_times(STAGES, read_table(Overlap, text)).rows()


def test_a_single_slow_rank_makes_no_stage_heavy():
    run = Run(parallel=Parallel(stages=((0, 1, 2), (3, 4, 5))))
    text = """
    rank step stage span_us compute_us
    0    1    0     1000    810
    1    1    0     1000    800
    2    1    0     1000    800
    3    1    1     1000    790
    4    1    1     1000    790
    5    1    1     1000    1600
    """
    first, second = stage_times(run, read_table(Overlap, text)).rows()
    assert (first["compute_us"], first["heaviest"]) == (800, True)
    assert (second["compute_us"], second["slowest_compute_us"], second["heaviest"]) == (790, 1600, False)
    two = Run(parallel=Parallel(stages=((0, 1), (4, 5))))
    lines = text.split("\n")
    rows = stage_times(two, read_table(Overlap, "\n".join(lines[:4] + lines[6:]))).rows()
    assert [(row["compute_us"], row["heaviest"]) for row in rows] == [(800, True), (790, False)]


def test_waiting_that_no_receive_shows_is_what_a_step_lacks_to_the_longest():
    first, second, *later = stages("""
    rank step stage span_us compute_us bubble_us
    0    1    0     1000    800        150
    1    1    1     900     800        50
    0    2    0     1000    800        150
    1    2    1     1000    800        160
    """)
    assert (first["unseen_us"], second["unseen_us"]) == (0.0, 100.0)
    assert [row["unseen_us"] for row in later] == [0.0, 0.0]
    assert {row["average_waiting_us"] for row in (first, second, *later)} == {(150 + 155) / 2}


def test_micro_batches_show_as_sends_of_the_stage_with_fewest():
    split = read_table(Overlap, "rank step stage span_us\n0 1 0 9\n1 1 1 9")
    calls = read_table(CollectiveCall, "rank step op\n0 1 send x3\n1 1 send x2\n1 1 receive x5\n1 2 send")
    assert {row["micro_batches"] for row in stage_times(STAGES, split, calls).rows()} == {2.0}


@given(batches=st.integers(1, 40), chunks=st.integers(1, 8), stages=st.integers(3, 6))
def test_virtual_stages_are_told_from_micro_batches_where_a_stage_lies_between(batches, chunks, stages):
    """First and last stage send each micro-batch of all virtual stages both ways, but once not."""
    sent = [(2 * chunks - (stage in (0, stages - 1))) * batches for stage in range(stages)]
    split = Table.build(Overlap, rank=range(stages), step=1, stage=range(stages), span_us=9.0)
    ranks = [stage for stage, times in enumerate(sent) for _ in range(times)]
    calls = Table.build(CollectiveCall, rank=ranks, step=1, op="send", p2p=1)
    run = Run(parallel=Parallel(stages=tuple((stage,) for stage in range(stages))))
    told = {(row["micro_batches"], row["virtual_stages"]) for row in stage_times(run, split, calls).rows()}
    assert told == {(batches, chunks)}
    more = Table.build(CollectiveCall, rank=[*ranks, 0], step=1, op="send", p2p=1)
    told = {(row["micro_batches"], row["virtual_stages"]) for row in stage_times(run, split, more).rows()}
    assert told == {(sent[-1], None)}, "stages whose sends do not agree tell nothing of virtual stages"


def test_micro_batches_are_counted_on_ranks_whose_step_is_known():
    split = read_table(Overlap, "rank step stage span_us\n0 1 0 9\n1 1 1 9\n1 2 1 9")
    calls = read_table(CollectiveCall, "rank step op\n0 1 send x3\n1 1 send x4\n1 2 send x5\n2 1 send\n0 2 send")
    assert {row["micro_batches"] for row in stage_times(STAGES, split, calls).rows()} == {3.0}
    assert {row["micro_batches"] for row in stage_times(STAGES, split).rows()} == {None}


@pytest.mark.parametrize(("listed_us", "told"), [(94, None), (95, 2.0), (300, 2.0), (None, 2.0)])
def test_sends_are_no_count_of_micro_batches_where_most_communication_of_a_summed_step_is_not_listed(listed_us, told):
    split = read_table(
        Overlap,
        """
        rank step stage span_us comm_us source
        0    1    0     1000    100     recorded
        1    1    1     1000    100     recorded
        """,
    )
    each = None if listed_us is None else listed_us / 2
    calls = Table.build(
        CollectiveCall,
        rank=[0, 0, 1, 1],
        step=1,
        op="send",
        p2p=1,
        elapse_us=[each if each is not None else np.nan] * 4,
    )
    assert {row["micro_batches"] for row in stage_times(STAGES, split, calls).rows()} == {told}


def test_sends_are_no_count_of_micro_batches_where_a_sum_does_not_tell_how_much_communication_there_was():
    split = read_table(
        Overlap,
        """
        rank step stage span_us comm_us exposed_comm_us source
        0    1    0     1000    -       -               recorded
        1    1    1     1000    -       100             recorded
        """,
    )
    calls = Table.build(CollectiveCall, rank=[0, 1], step=1, op="send", p2p=1, elapse_us=[200.0, 20.0])
    assert {row["micro_batches"] for row in stage_times(STAGES, split, calls).rows()} == {None}


def test_what_kernels_wait_inside_is_no_communication_that_a_list_of_collectives_lacks():
    split = read_table(
        Overlap,
        """
        rank step stage span_us comm_us source
        0    1    0     1000    100     intervals
        1    1    1     1000    100     intervals
        """,
    )
    calls = Table.build(CollectiveCall, rank=[0, 1], step=1, op="send", p2p=1, elapse_us=[5.0, 5.0])
    assert {row["micro_batches"] for row in stage_times(STAGES, split, calls).rows()} == {1.0}


def test_batched_sends_and_receives_are_one_more_than_micro_batches():
    split = read_table(Overlap, "rank step stage span_us\n0 1 0 9\n1 1 1 9")
    calls = read_table(CollectiveCall, "rank step op\n0 1 batchSendRecv x3\n1 1 batchSendRecv x3\n0 1 allReduce x9")
    assert {row["micro_batches"] for row in stage_times(STAGES, split, calls).rows()} == {2.0}


@pytest.mark.parametrize("micro_batches", [1, 2, 5])
def test_micro_batches_of_a_simulated_pipeline_are_counted_however_it_sends(micro_batches):
    exchanges = {
        stage: [move.kinds() for move, _ in one_forward_one_backward(stage, 2, micro_batches) if move.kinds()]
        for stage in range(2)
    }
    split = read_table(Overlap, "rank step stage span_us\n0 1 0 9\n1 1 1 9")
    for batched in (False, True):
        ops = [
            (stage, op)
            for stage, moves in exchanges.items()
            for kinds in moves
            for op in (["batchSendRecv"] if batched else kinds)
        ]
        calls = Table.build(CollectiveCall, rank=[stage for stage, _ in ops], step=1, op=[op for _, op in ops])
        assert {row["micro_batches"] for row in stage_times(STAGES, split, calls).rows()} == {float(micro_batches)}


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("stage", range(4))
def test_micro_batches_are_counted_on_any_stage_that_was_captured_alone(stage, batched):
    moves = [move.kinds() for move, _ in one_forward_one_backward(stage, 4, 9) if move.kinds()]
    ops = [op for kinds in moves for op in (["batchSendRecv"] if batched else kinds)]
    run = Run(parallel=Parallel(stages=((0,), (1,), (2,), (3,))))
    calls = Table.build(CollectiveCall, rank=stage, step=1, op=ops, p2p=1)
    split = Table.build(Overlap, rank=[stage], step=1, stage=stage, span_us=9.0)
    assert {row["micro_batches"] for row in stage_times(run, split, calls).rows()} == {9.0}


def test_a_bubble_of_nothing_under_batched_sends_and_receives_is_what_they_took():
    sums = read_table(
        StepTime,
        """
        rank step compute_us comm_us exposed_comm_us overlapped_us free_us bubble_us
        0    1    400        500     480             20            120     0
        1    1    500        300     200             100           300     0
        2    1    500        300     200             100           300     0
        3    1    500        300     200             100           300     70
        """,
    )
    calls = read_table(
        Collective,
        """
        rank step op            p2p  start_ns elapse_us
        0    1    batchSendRecv true 1000     100
        0    1    batchSendRecv true 61000    100
        1    1    batchSendRecv true 1000     900
        2    1    receive       true 1000     900
        3    1    batchSendRecv true 1000     900
        """,
    )
    found = overlaps(run_of_ranks(Run()), kernels=None, collectives=calls, tasks=None, windows=None, recorded=sums)
    assert [row["bubble_us"] for row in found.rows()] == [160, 200, 0, 70]


@pytest.mark.parametrize("heard", [(0, 1, 2, 3), (0, 2)])
def test_a_rank_without_recorded_communication_does_not_halve_what_its_stage_waits(heard):
    run = Run(parallel=Parallel(stages=((0, 1), (2, 3))))
    split = """
    rank step stage span_us compute_us exposed_comm_us bubble_us
    0    1    0     1000    500        500             BUBBLE
    1    1    0     1000    500        500             BUBBLE
    2    1    1     1000    800        200             BUBBLE
    3    1    1     1000    800        200             BUBBLE
    """
    calls = "rank step name op group group_kind p2p start_ns elapse_us exposed_us\n" + "\n".join(
        f"{rank} 1 b{turn} batchSendRecv g pp true {turn * 200000} 100 100" for rank in heard for turn in range(3)
    )
    calls = read_table(CollectiveCall, calls)
    for rank in range(4):
        split = split.replace("BUBBLE", "300" if rank in heard else "0", 1)
    first, second = stage_times(run, read_table(Overlap, split), calls).rows()
    assert (first["bubble_us"], second["bubble_us"], first["average_waiting_us"]) == (300, 300, 300)


def test_the_heaviest_stage_is_the_one_that_computes_longest_over_all_steps():
    rows = stages("""
    rank step stage span_us compute_us bubble_us
    0    1    0     1000    810        100
    1    1    1     1000    800        100
    0    2    0     1000    780        100
    1    2    1     1000    800        100
    """)
    assert [row["heaviest"] for row in rows] == [False, True, False, True]
    assert {row["average_compute_us"] for row in rows} == {797.5}


@pytest.mark.parametrize(("first", "second", "most"), [(100, 105, 0), (100, 300, 1), (300, 100, 0)])
def test_stages_that_wait_alike_are_stood_for_by_the_first(first, second, most):
    rows = stages(f"""
    rank step stage span_us compute_us bubble_us
    0    1    0     1000    600        {first}
    1    1    1     1000    600        {second}
    """)
    assert [row["waits_most"] for row in rows] == [most == 0, most == 1]


def test_unknown_waiting_stays_missing():
    rows = stages("""
    rank step stage span_us compute_us
    0    1    0     1000    600
    1    1    1     1000    700
    """)
    assert [row["average_waiting_us"] for row in rows] == [None, None]
    assert [row["waits_most"] for row in rows] == [True, False]
    assert [row["heaviest"] for row in rows] == [False, True]


def test_data_move_as_long_as_the_slower_direction_takes_and_the_batches_of_both():
    split = read_table(Overlap, "rank step stage span_us bubble_us\n0 1 0 1000 300\n1 1 1 1000 300")
    calls = read_table(
        CollectiveCall,
        """
        rank step op            p2p   bare_transit_us
        0    1    send          true  10              x4
        0    1    receive       true  30
        0    1    allReduce     false 500
        0    2    send          true  700
        1    1    send          true  10
        1    1    receive       true  30
        1    1    receive       true  -
        1    1    batchSendRecv true  20
        """,
    )
    assert {row["average_moving_us"] for row in stage_times(STAGES, split, calls).rows()} == {(40 + 50) / 2}


def test_without_measured_transit_nobody_knows_how_long_data_move():
    split = read_table(Overlap, "rank step stage span_us bubble_us\n0 1 0 1000 300\n1 1 1 1000 300")
    calls = read_table(CollectiveCall, "rank step op p2p bare_transit_us\n0 1 send true 10\n1 1 send true -")
    for known in (calls, None):
        assert {row["average_moving_us"] for row in stage_times(STAGES, split, known).rows()} == {None}


def test_what_one_rank_idles_alone_is_no_work_that_its_micro_batches_take_in_turn():
    """Both stages work 600, and the first idles 30 between; one rank of the second idles 200, and its peer waits."""
    split = read_table(
        Overlap,
        """
        rank step stage span_us compute_us exposed_comm_us free_us bubble_us
        0    1    0     1000    600        370             30      370
        1    1    0     1000    600        370             30      370
        2    1    1     1000    600        200             200     180
        3    1    1     1000    600        400             0       180
        """,
    )
    run = Run(parallel=Parallel(stages=((0, 1), (2, 3))))
    calls = read_table(CollectiveCall, "rank step op p2p\n" + "".join(f"{rank} 1 send true x4\n" for rank in range(4)))
    rows = stage_times(run, split, calls).rows()
    assert {row["average_working_us"] for row in rows} == {(630 + 620) / 2}
    assert [row["worth_us"] for row in rows] == [1000 - (600 + 220 + 630 / 4), 1000 - (600 + 30 + 620 / 4)]


def test_of_a_pipeline_with_a_stage_that_was_not_captured_nothing_is_known_as_a_whole() -> None:
    text = "rank step stage span_us compute_us bubble_us\n0 1 0 100 10 80\n1 1 0 100 12 78"
    rows = stage_times(STAGES, read_table(Overlap, text)).rows()
    assert len(rows) < len(STAGES.parallel.stages)
    assert {row["average_compute_us"] for row in rows} == {row["average_waiting_us"] for row in rows} == {None}


def ends_of_one_forward_one_backward(forward: list[float], backward: list[float], micro_batches: int) -> float:
    """When the last stage to end does, by a plain loop: stages pass on what they have at once."""
    stages = len(forward)
    orders = []
    for stage in range(stages):
        warm = min(stages - 1 - stage, micro_batches)
        steady = [one for batch in range(micro_batches - warm) for one in (("f", warm + batch), ("b", batch))]
        rest = [("b", batch) for batch in range(micro_batches - warm, micro_batches)]
        orders.append([("f", batch) for batch in range(warm)] + steady + rest)
    done: dict[tuple[str, int, int], float] = {}
    free, at = [0.0] * stages, [0] * stages
    while any(place < len(order) for place, order in zip(at, orders, strict=True)):
        for stage, order in enumerate(orders):
            while at[stage] < len(order):
                kind, batch = order[at[stage]]
                before = ("f", stage - 1, batch) if kind == "f" else ("b", stage + 1, batch)
                inside = 0 <= before[1] < stages
                if inside and before not in done:
                    break
                begin = max(free[stage], done[before] if inside else 0.0)
                free[stage] = done[kind, stage, batch] = begin + (forward if kind == "f" else backward)[stage]
                at[stage] += 1
    return max(free)


def worth_in_pipeline(forward: list[float], slowness: float, slow: int, micro_batches: int) -> float:
    """What is told of the stage of a slow rank, of a pipeline with two ranks to a stage; backward takes twice."""
    slowed = [one * (1 + slowness * (stage == slow)) for stage, one in enumerate(forward)]
    lasts = ends_of_one_forward_one_backward(slowed, [2 * one for one in slowed], micro_batches)
    count = len(forward)
    rows = []
    for stage in range(count):
        busy = 3 * micro_batches * slowed[stage]
        for late in (False, True):  # the peer of the slow rank waits for it in collectives of the stage
            compute = busy if late else 3 * micro_batches * forward[stage]
            rows.append((2 * stage + late, 1, stage, lasts, compute, lasts - busy))
    names = ("rank", "step", "stage", "span_us", "compute_us", "bubble_us")
    split = Table.build(Overlap, **dict(zip(names, map(list, zip(*rows, strict=True)), strict=True)))
    calls = Table.build(
        CollectiveCall, rank=[row[0] for row in rows for _ in range(micro_batches)], step=1, op="send", p2p=1
    )
    run = Run(parallel=Parallel(stages=tuple((2 * stage, 2 * stage + 1) for stage in range(count))))
    return worths(stage_times(run, split, calls))[slow]


def worths(stages: Table[StageTime]) -> list[float | None]:
    """What each of the stages is worth, from the first on."""
    us = {row["stage"]: row["worth_us"] for row in stages.rows()}
    return [us.get(stage) for stage in range(stages["stage"].max() + 1)]


@settings(max_examples=150)
@given(
    forward=st.lists(st.floats(5, 15), min_size=2, max_size=5),
    slowness=st.floats(0.01, 1),
    slow=st.integers(0, 4),
    micro_batches=st.integers(1, 12),
)
def test_a_slow_rank_is_promised_no_more_than_its_pipeline_would_end_sooner(forward, slowness, slow, micro_batches):
    """Nor less by more than what stages work ahead before their first micro-batch comes back."""
    slow %= len(forward)
    slowed = [one * (1 + slowness * (stage == slow)) for stage, one in enumerate(forward)]
    now, then = (
        ends_of_one_forward_one_backward(times, [2 * one for one in times], micro_batches)
        for times in (slowed, forward)
    )
    beyond = 3 * micro_batches * (slowed[slow] - forward[slow])
    promised = min(worth_in_pipeline(forward, slowness, slow, micro_batches), beyond)
    ahead = (len(forward) - 1) * max(slowed)
    assert promised <= now - then + (ahead if forward[slow] == max(forward) else 1e-6)
    assert promised >= min(now - then, beyond) - ahead - 1e-6


def test_a_lighter_stage_is_worth_what_is_left_until_the_other_one_sets_the_pace():
    """At 20 forward and 40 backward the first of eight micro-batches passes in 60, where the second stage takes 36."""
    lasts = ends_of_one_forward_one_backward([20, 12], [40, 24], 8)
    assert worth_in_pipeline([10, 12], 1, slow=0, micro_batches=8) == lasts - (8 * 36 + 30) < 8 * 30


def test_a_stage_is_worth_no_more_than_is_left_until_the_slowest_rank_of_another_one_sets_the_pace():
    """Each of four micro-batches takes 10 through a stage; the slowest rank of the second one works 80 in all."""
    text = """
    rank step stage span_us compute_us bubble_us
    0    1    0     150     40         110
    1    1    0     150     100        50
    2    1    1     150     40         110
    3    1    1     150     {other}    {waits}
    """
    run = Run(parallel=Parallel(stages=((0, 1), (2, 3))))
    for other, worth in ((40, 150 - (40 + 40 / 4)), (80, 150 - (80 + 40 / 4))):
        split = read_table(Overlap, text.format(other=other, waits=150 - other))
        calls = read_table(
            CollectiveCall, "rank step op p2p\n" + "".join(f"{rank} 1 send true x4\n" for rank in range(4))
        )
        assert worths(stage_times(run, split, calls))[0] == worth


@pytest.mark.parametrize(("own", "even"), [(45, 40), (43, 43), (60, 40)])
def test_a_rank_that_computes_clearly_longer_than_its_peer_can_be_taken_for_such_a_one(own, even):
    text = f"""
    rank step stage span_us compute_us bubble_us
    0    1    0     150     40         110
    1    1    0     150     100        50
    2    1    1     150     40         110
    3    1    1     150     {own}      {150 - own}
    """
    run = Run(parallel=Parallel(stages=((0, 1), (2, 3))))
    sends = "".join(f"{rank} 1 send true x4\n" for rank in range(4))
    stages = stage_times(run, read_table(Overlap, text), read_table(CollectiveCall, "rank step op p2p\n" + sends))
    assert worth_of_stages(stages, np.array([0]), even=True).tolist() == [150 - (even + 40 / 4)]


def test_what_moves_with_nothing_beside_it_moves_too_where_no_stage_waits():
    """In both stages data move for 20: the second one alone works 60 and moves 20 in all."""
    split = read_table(Overlap, "rank step stage span_us compute_us bubble_us\n0 1 0 150 90 60\n1 1 1 150 60 90")
    calls = read_table(CollectiveCall, "rank step op p2p bare_transit_us\n0 1 send true 5 x4\n1 1 send true 5 x4")
    assert worths(stage_times(STAGES, split, calls))[0] == 150 - (60 + 20 + 90 / 4)


def test_without_micro_batches_or_a_stage_nobody_knows_what_a_stage_is_worth():
    text = "rank step stage span_us compute_us bubble_us\n0 1 0 100 60 20\n1 1 1 100 70 10"
    split = read_table(Overlap, text)
    calls = read_table(CollectiveCall, "rank step op\n0 1 send x3\n1 1 send x3")
    assert worths(stage_times(STAGES, split, calls)) == [0, 0]
    assert worths(stage_times(STAGES, split)) == [None, None]
    three = Run(parallel=Parallel(stages=((0,), (1,), (2,))))
    assert worths(stage_times(three, split, calls)) == [None, None]


@pytest.mark.parametrize(("beside", "known"), [(0, True), (3, True), (4, False), (30, False)])
def test_where_stages_would_take_longer_than_the_step_did_nobody_knows_what_one_is_worth(beside: int, known: bool):
    """The one micro-batch takes 60 and what each stage does beside through both, one after another; the step took 120.

    What is taken for work of a stage is then waiting that no receive shows. Up to 5 % ranks of a step differ anyway.
    """
    text = f"rank step stage span_us compute_us bubble_us\n0 1 0 120 60 {60 - beside}\n1 1 1 120 60 {60 - beside}"
    calls = read_table(CollectiveCall, "rank step op p2p\n0 1 send true\n1 1 send true")
    stages = stage_times(STAGES, read_table(Overlap, text), calls)
    assert worths(stages) == ([0, 0] if known else [None, None])
    assert np.isfinite(worth_of_stages(stages, np.array([0]), even=True)).all() == known


def test_what_a_stage_works_ahead_of_its_first_micro_batch_is_no_sign_of_waits_taken_for_work():
    """Three micro-batches of 60 in all: while the first is in the second stage, the first one begins the next."""
    split = read_table(Overlap, "rank step stage span_us compute_us bubble_us\n0 1 0 66 60 6\n1 1 1 66 60 6")
    calls = read_table(CollectiveCall, "rank step op p2p\n0 1 send true x3\n1 1 send true x3")
    assert worths(stage_times(STAGES, split, calls)) == [0, 0]


def test_what_joins_two_stages_is_worth_what_is_left_until_a_third_one_sets_the_pace():
    text = "rank step stage span_us compute_us bubble_us\n0 1 0 150 80 70\n1 1 1 150 60 90\n2 1 2 150 100 50"
    calls = read_table(CollectiveCall, "rank step op p2p\n" + "".join(f"{rank} 1 send true x4\n" for rank in (0, 1, 2)))
    run = Run(parallel=Parallel(stages=((0,), (1,), (2,))))
    stages = stage_times(run, read_table(Overlap, text), calls)
    both = worth_of_stages(stages, np.array([0, 1, 0]), np.array([1, 2, -1])).tolist()
    assert both[:2] == [150 - (100 + 35), 150 - (80 + 40)] and np.isnan(both[2])
