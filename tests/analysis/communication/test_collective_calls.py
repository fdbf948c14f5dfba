# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import statistics

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.communication.collective_calls import collective_calls, complete_by_other_ranks
from advisor.analysis.ranks.meetings import meetings
from advisor.analysis.ranks.ranks import rank_times
from advisor.facts.derived import (
    CollectiveCall,
    FrequencyUse,
    IdleCause,
    LaunchDelay,
    OperatorShape,
    OperatorShare,
    Overlap,
    Removal,
    StepWork,
)
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Table, read_table
from advisor.model.run import Parallel, Run
from advisor.model.run_of_ranks import run_of_ranks
from tests.analysis import timelines as tl

RUN = run_of_ranks(Run())


def _in_steps(collectives):
    """Those of ranks that number no step, and of the others those that have one."""
    numbered = {rank for rank, step, *_ in collectives if step is not None}
    return [row for row in collectives if row[1] is not None or row[0] not in numbered]


@settings(max_examples=60)
@given(tl.KERNELS, tl.COLLECTIVES)
def test_exposed_is_the_part_of_each_call_with_no_kernel_beside_it(kernels, collectives):
    found = collective_calls(RUN, tl.collectives(collectives), tl.kernels(kernels)).rows()
    for row, (rank, _, start, length, _) in zip(found, _in_steps(collectives), strict=True):
        own = [k for k in kernels if k[0] == rank]
        hidden = tl.moments([k[2] for k in own], [k[2] + k[3] for k in own])
        if length < 0 or not own:
            assert row["exposed_us"] is None
        else:
            assert round(row["exposed_us"] * 1e3) == len(set(range(start, start + length)) - hidden)


@pytest.mark.parametrize(("overlapped_us", "exposed"), [(0, [30, 50]), (0.3, [30, 50]), (10, [None, None])])
def test_without_kernels_calls_are_bare_where_the_sums_of_the_step_say_that_nothing_is_hidden(overlapped_us, exposed):
    split = read_table(Overlap, f"rank step comm_us overlapped_us\n0 1 80 {overlapped_us}")
    calls = read_table(
        Collective, "rank step name op start_ns elapse_us\n0 1 a allReduce 1 30\n0 1 b allGather 90000 50"
    )
    assert [row["exposed_us"] for row in collective_calls(RUN, calls, None, split).rows()] == exposed


@settings(max_examples=80)
@given(tl.KERNELS, tl.COLLECTIVES)
def test_computation_stands_still_about_the_middle_of_a_call_for_as_long_as_no_kernel_runs(kernels, collectives):
    found = collective_calls(RUN, tl.collectives(collectives), tl.kernels(kernels)).rows()
    for row, (rank, _, start, length, _) in zip(found, _in_steps(collectives), strict=True):
        own = [k for k in kernels if k[0] == rank]
        if length < 0 or not own:
            assert row["still_us"] is None and row["stalled_us"] is None
            continue
        busy = tl.moments([k[2] for k in own], [k[2] + k[3] for k in own])
        pause = _pause_at(busy, start + length // 2)
        assert round(row["still_us"] * 1e3) == len([t for t in pause if start <= t < start + length])
        if not pause or not busy or min(pause) < min(busy) or max(pause) > max(busy):
            assert row["stalled_us"] is None
        else:
            calls = [c for c in _in_steps(collectives) if c[0] == rank]
            talk = tl.moments([c[2] for c in calls], [c[2] + c[3] for c in calls])
            assert round(row["stalled_us"] * 1e3) == len(set(pause) - talk)


def _pause_at(busy, moment):
    """The moments without a kernel that follow each other and hold this one; those before and after all kernels too."""
    pause = set()
    for way in (1, -1):
        at = moment
        while at not in busy and -300 < at < 600:
            pause.add(at)
            at += way
    return pause


def test_what_holds_computation_up_beside_the_call_counts_as_stalled():
    kernels = read_table(Kernel, "op_type start_ns duration_us\nMatMul 0 10\nMatMul 70000 10")
    calls = read_table(
        Collective,
        """
        op            group start_ns elapse_us
        reduceScatter dp    12000    40
        allGather     dp    52000    10
        allReduce     dp    90000    10
        """,
    )
    found = collective_calls(RUN, calls, kernels).rows()
    assert [row["still_us"] for row in found] == [40, 10, 10]
    assert [row["stalled_us"] for row in found] == [10, 10, None]


@pytest.mark.parametrize(
    ("rows", "sole"),
    [
        ("0 1 a\n0 1 a\n1 1 a", True),
        ("0 1 a\n0 1 b", False),
        ("0 1 -\n0 2 -\n1 1 -", True),
        ("0 1 -\n0 1 -\n1 1 -", False),
    ],
    ids=["one", "two", "not recorded, one call in a step", "not recorded, two calls in a step"],
)
def test_calls_are_of_one_communicator_if_all_name_it_or_none_could_be_another(rows: str, sole: bool) -> None:
    calls = read_table(Collective, f"rank step group\n{rows}")
    assert {row["sole"] for row in collective_calls(RUN, calls, None).rows()} == {sole}


def test_a_call_is_set_against_calls_of_its_kind_group_and_size():
    calls = read_table(
        Collective,
        """
        op        group start_ns elapse_us size_bytes p2p
        allReduce dp    1000     10        1000000    false
        allReduce dp    2000     30        1000000    false
        allReduce dp    3000     20        1000100    false
        allReduce dp    4000     500       64000000   false
        allReduce tp    5000     700       1000000    false
        """,
    )
    found = collective_calls(RUN, calls, None).rows()
    assert [r["alike"] for r in found] == [3, 3, 3, 1, 1]
    assert [r["typical_us"] for r in found] == [20, 20, 20, 500, 700]
    assert found[0]["exposed_us"] is None


def test_data_that_move_bare_are_what_is_exposed_beyond_all_time_in_which_none_move():
    kernels = read_table(Kernel, "rank step op_name start_ns duration_us\n0 1 k 0 60")
    calls = read_table(
        Collective,
        """
        rank step name op      p2p  start_ns elapse_us transit_us wait_us idle_us
        0    1    a    receive true 0        100       30         70      0
        0    1    b    receive true 0        100       70         30      0
        0    1    c    receive true 100000   50        50         0       0
        """,
    )
    found = collective_calls(RUN, calls, kernels).rows()
    assert [row["exposed_us"] for row in found] == [40, 40, 50]
    assert [row["bare_transit_us"] for row in found] == [0, 10, 50]


def test_time_without_waits_is_what_the_wait_leaves_or_else_what_moved_data() -> None:
    collectives = read_table(
        Collective,
        """
        op        start_ns elapse_us transit_us wait_us idle_us
        allReduce 0        100       30         60      10
        allReduce 200000   100       -          -       -
        allReduce 400000   100       30         -       -
        """,
    )
    kernels = read_table(Kernel, "op_type start_ns duration_us\nMatMul 0 50")
    found = collective_calls(RUN, collectives, kernels)
    assert found["working_us"].tolist() == [40, 100, 30]
    assert found["exposed_us"].tolist() == [50, 100, 100]
    assert found["unwaited_us"].tolist() == [0, 100, 30]


AT_ONCE = st.lists(
    st.tuples(
        st.integers(0, 60), st.integers(1, 30), st.sampled_from(("allReduce", "allGather")),
        st.sampled_from(("dp", "dp_modulo_exp", "tp")),
    ),
    min_size=1, max_size=7, unique_by=lambda row: row[0],
)  # fmt: skip
"""When calls begin, how long they take, their kinds and those of their communicators."""


@given(AT_ONCE, st.lists(st.tuples(st.integers(0, 90), st.integers(1, 20)), max_size=4))
def test_calls_alike_that_run_at_once_share_each_moment_with_no_kernel_beside_it(
    rows: list[tuple[int, int, str, str]], busy: list[tuple[int, int]]
) -> None:
    kernels = Table.build(
        Kernel, rank=0, step=1, op_type="MatMul", start_ns=[at * 1000 for at, _ in busy] or [10**9],
        duration_us=[float(us) for _, us in busy] or [1.0],
    )  # fmt: skip
    start, lasts, op, kind = zip(*rows, strict=True)
    calls = Table.build(
        Collective, rank=0, step=1, name="x", op=op, group=kind, group_kind=kind, p2p=0,
        start_ns=[at * 1000 for at in start], elapse_us=[float(us) for us in lasts],
    )  # fmt: skip
    found = collective_calls(RUN, calls, kernels)
    assert (found["unshared_us"] <= found["unwaited_us"]).all()
    computed = {moment for at, us in busy for moment in range(at, at + us)}
    for like in {(one, of.split("_")[0]) for _, _, one, of in rows}:
        mine = [(one, of.split("_")[0]) == like for _, _, one, of in rows]
        held = {moment for (at, us, _, _), own in zip(rows, mine, strict=True) if own for moment in range(at, at + us)}
        assert round(float(found["unshared_us"][np.array(mine)].sum())) == len(held - computed)


def test_what_runs_beside_a_call_like_it_is_no_second_wait() -> None:
    """The second waits for as long as the first still runs: that is no time of its own, and not taken from it twice."""
    calls = read_table(
        Collective,
        """
        rank step name op        group group_kind start_ns elapse_us transit_us wait_us
        0    1    x    allReduce a     dp         0        100       100        0
        0    1    y    allReduce b     dp         40000    100       30         70
        """,
    )
    found = collective_calls(RUN, calls, read_table(Kernel, "op_type start_ns duration_us\nMul 900000 1"))
    assert found["unwaited_us"].tolist() == [100, 30]
    assert found["unshared_us"].tolist() == [100, 30]


def test_waits_at_once_are_told_beside_each_other() -> None:
    """The second begins while the first one waits; of the last no wait is known."""
    collectives = read_table(
        Collective,
        """
        rank step name op        group p2p   start_ns elapse_us transit_us wait_us
        0    1    x    allGather a     false 0        100       10         80
        0    1    y    gather    b     false 50000    60        10         45
        0    1    r    receive   c     true  60000    20        5          15
        1    1    y    gather    b     false 60000    60        10         45
        0    1    z    allReduce a     false 200000   60        -          -
        """,
    )
    found = collective_calls(RUN, collectives, None)
    assert found["waited_again_us"].tolist()[:4] == [0, 30, 0, 0]
    assert np.isnan(found["waited_again_us"][4])


def test_computation_that_hides_nothing_yet_is_the_cover_of_every_call_of_a_step():
    calls = read_table(
        Collective, "rank step op        start_ns elapse_us\n0 1 allReduce 1 10\n0 2 allReduce 2 10\n0 3 allReduce 3 10"
    )
    split = read_table(Overlap, "rank step compute_us overlapped_us\n0 1 50 20\n0 2 50 50")
    assert [r["cover_us"] for r in collective_calls(RUN, calls, None, split).rows()] == [30, 0, None]
    assert [r["cover_us"] for r in collective_calls(RUN, calls, None).rows()] == [None] * 3


@pytest.mark.parametrize(
    ("stages", "batches"), [(((0,), (1,)), 5.0), ((), None)], ids=["of a pipeline", "of what is no pipeline"]
)
def test_calls_know_the_micro_batches_of_the_step_by_the_sends_of_all_stages(stages, batches):
    recorded = read_table(
        Collective,
        "rank step name op p2p start_ns elapse_us\n0 1 a send true 1 9 x7\n1 1 b send true 1 9 x5"
        "\n1 1 c allReduce false 1 9",
    )
    run = Run(ranks=(0, 1), parallel=Parallel(stages=stages))
    calls = complete_by_other_ranks(run, collective_calls(run_of_ranks(run), recorded, None))
    assert {row["micro_batches"] for row in calls.rows()} == {batches}


def test_without_a_pipeline_micro_batches_are_told_by_gradients_in_steps_whose_kernels_are_whole():
    calls = read_table(Collective, "rank step op start_ns elapse_us\n0 1 allReduce 90000 5\n0 2 allReduce 190000 5")
    kernels = read_table(
        Kernel,
        "rank step op_type start_ns duration_us\n"
        + "".join(
            f"0 {step} {name} {step * 100000 + 1000 * place} 1\n"
            for step in (1, 2)
            for place, name in enumerate(["Gelu", "GeluGrad"] * 3)
        ),
    )
    split = read_table(Overlap, "rank step source compute_us listed_us\n0 1 timeline 6 6\n0 2 incomplete 20 6")
    found = collective_calls(RUN, calls, kernels, split)
    assert [row["micro_batches"] for row in found.rows()] == [3, None]


@settings(max_examples=60)
@given(tl.KERNELS, tl.COLLECTIVES)
def test_the_computation_before_a_call_is_what_began_before_it_of_its_rank_and_step_by_time_or_number(
    kernels, collectives
):
    found = collective_calls(RUN, tl.collectives(collectives), tl.kernels(kernels)).rows()
    for row, (rank, step, start, length, _) in zip(found, _in_steps(collectives), strict=True):
        own = [k for k in kernels if k[:2] == (rank, step) and k[3] > 0]
        total = sum(k[3] for k in own)
        if length < 0 or not total:
            assert row["computed_share"] is None
        else:
            before = [k for k in own if k[2] < start]
            by_time, by_number = sum(k[3] for k in before) / total, len(before) / len(own)
            assert row["computed_share"] == pytest.approx(min(by_time, by_number))


@pytest.mark.parametrize(
    ("second", "third", "sole"),
    [("a allReduce false", "a allGather false", True), ("b allReduce false", "a allGather false", False),
     ("a send true", "a allGather false", False), ("- allReduce false", "a allGather false", False)],
)  # fmt: skip
def test_a_communicator_is_the_sole_one_where_all_calls_are_its_and_none_is_point_to_point(second, third, sole):
    calls = read_table(Collective, f"group op p2p start_ns elapse_us\na allReduce false 1 1\n{second} 2 1\n{third} 3 1")
    assert {r["sole"] for r in collective_calls(RUN, calls, None).rows()} == {sole}


def test_the_turn_of_a_call_passes_over_small_ones():
    calls = read_table(
        Collective,
        """
        rank step op        group start_ns elapse_us size_bytes
        0    1    allReduce dp    30000    10        1000000
        0    1    allReduce dp    10000    10        4
        0    1    allReduce dp    15000    10        900000
        0    1    allGather dp    40000    10        8
        0    2    allReduce dp    50000    10        -
        1    1    allReduce dp    5000     -         1000000
        """,
    )
    rows = collective_calls(RUN, calls, None).rows()
    assert [r["turn"] for r in rows] == [1, None, 0, 0, 0, None]
    assert [r["apart_us"] for r in rows] == [5, None, None, None, None, None]


MET = """
rank step name                  op        group p2p   start_ns elapse_us
0    1    hcom_allReduce__1_0_1 allReduce a     false 100      50
1    1    hcom_allReduce__1_0_1 allReduce a     false 900100   20
0    2    hcom_allReduce__1_0_1 allReduce a     false 200      70
0    1    hcom_send__2_0_1      send      b     true  300      5
1    1    hcom_receive__2_0_1   receive   b     true  300      90
0    1    hcom_allGather__3_0_1 allGather c     false 400      8
1    1    hcom_allGather__3_0_1 allGather c     false 400      8
"""


def test_the_rank_with_the_shortest_elapse_came_last():
    rows = {r["op"]: r for r in meetings(read_table(CollectiveCall, MET)).rows()}
    assert rows["allReduce"]["last_rank"] == 1 and rows["allReduce"]["waited_us"] == 15.0
    assert rows["allReduce"]["shortest_us"] == 20.0 and rows["allReduce"]["longest_us"] == 50.0


def test_of_what_a_rank_waits_no_more_is_won_than_without_communication():
    """Its host launches no faster than before, so the device would wait for that instead."""
    calls = read_table(CollectiveCall, MET)
    without = read_table(Removal, "rank kind instant_us\n0 communication 10\n1 communication 400")
    rows = {r["op"]: r for r in meetings(calls, without=without).rows()}
    # rank 0 loses 30 µs in one of two steps, and wins 10 µs per step; rank 1 loses 85 µs, all of which is won
    assert rows["allReduce"]["bare_wait_us"] == 15.0 and rows["allReduce"]["gained_us"] == pytest.approx(20 / 2)
    assert rows["send"]["gained_us"] == rows["send"]["bare_wait_us"] == 42.5
    (unknown,) = (r for r in meetings(calls).rows() if r["op"] == "send")
    assert unknown["gained_us"] is None


def test_clocks_of_ranks_are_never_compared():
    moved = read_table(CollectiveCall, MET.replace("900100", "5"))
    plain = meetings(read_table(CollectiveCall, MET))
    assert plain["last_start_ns"].tolist() != meetings(moved)["last_start_ns"].tolist()
    assert plain.having(last_start_ns=None).rows() == meetings(moved).having(last_start_ns=None).rows()


def test_send_of_one_rank_meets_receive_of_the_other():
    rows = {r["op"]: r for r in meetings(read_table(CollectiveCall, MET)).rows()}
    assert rows["send"]["ranks"] == 2.0 and rows["send"]["longest_us"] == 90.0


def test_equal_durations_and_lone_ranks_make_no_meeting():
    ops = {(r["op"], r["step"]) for r in meetings(read_table(CollectiveCall, MET)).rows()}
    assert ops == {("allReduce", 1), ("send", 1)}


def test_names_that_repeat_within_a_step_meet_in_order():
    text = """
    rank step name op        group p2p   start_ns elapse_us
    0    1    x    allReduce a     false 100      5
    0    1    x    allReduce a     false 200      90
    1    1    x    allReduce a     false 8200     10
    1    1    x    allReduce a     false 8100     50
    """
    found = meetings(read_table(CollectiveCall, text)).rows()
    assert sorted((r["shortest_us"], r["longest_us"]) for r in found) == [(5.0, 50.0), (10.0, 90.0)]


def test_point_to_point_calls_of_three_ranks_are_no_meeting():
    text = "rank step name op group p2p start_ns elapse_us\n" + "\n".join(
        f"{rank} 1 hcom_batchSendRecv__1_0_1 batchSendRecv a true 1 {rank + 3}" for rank in range(3)
    )
    assert not len(meetings(read_table(CollectiveCall, text)))


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(1, 9)), unique_by=lambda r: r[:2]))
def test_meetings_agree_with_plain_grouping(rows):
    calls = Table.build(
        CollectiveCall,
        rank=[r for r, _, _ in rows],
        step=1,
        name=[f"op_{n}" for _, n, _ in rows],
        op=["allReduce"] * len(rows),
        group=["g"] * len(rows),
        p2p=0,
        start_ns=0,
        elapse_us=[float(e) for _, _, e in rows],
    )
    if not rows:
        calls = Table.empty(CollectiveCall)
    found = {r["name"]: r for r in meetings(calls).rows()}
    for number in {n for _, n, _ in rows}:
        parts = [(elapse, rank) for rank, n, elapse in rows if n == number]
        row = found.pop(f"op_{number}", None)
        if len({e for e, _ in parts}) < 2:
            assert row is None
            continue
        assert (row["shortest_us"], row["last_rank"]) == min(parts)
        assert row["waited_us"] == pytest.approx(statistics.fmean(e for e, _ in parts) - min(parts)[0])
    assert not found


SPLIT = """
rank step stage span_us compute_us comm_us exposed_comm_us free_us
0    1    0     100     60         30      30              10
1    1    0     100     40         50      50              10
2    1    0     100     42         48      48              10
3    1    1     300     200        50      50              50
"""


def test_peers_are_the_other_ranks_of_the_stage():
    rows = rank_times(read_table(Overlap, SPLIT), None, None).rows()
    assert [r["peers"] for r in rows] == [2, 2, 2, 0]
    assert [r["peer_compute_us"] for r in rows] == [41, 51, 50, None]
    assert all(r["meetings"] is None and r["host_gap_us"] is None for r in rows)


def test_where_only_exposed_communication_was_summed_up_it_tells_who_waits():
    text = "\n".join(" ".join(cell for n, cell in enumerate(line.split()) if n != 5) for line in SPLIT.split("\n"))
    rows = rank_times(read_table(Overlap, text), None, None).rows()
    assert [(r["comm_us"], r["peer_comm_us"]) for r in rows] == [(30, 49), (50, 39), (48, 40), (50, None)]


def test_without_a_pipeline_all_ranks_are_peers():
    text = "\n".join(line.replace(" 0     1", " -     1").replace(" 1     3", " -     3") for line in SPLIT.split("\n"))
    assert {r["peers"] for r in rank_times(read_table(Overlap, text), None, None).rows()} == {3}


def test_kernels_that_wait_for_other_ranks_count_as_communication():
    """Rank 0 is slow: its peers wait for it inside of their kernels, which are as long as the wait."""
    kinds = read_table(
        OperatorShare,
        """
        rank op_type             total_us unshared_us
        0    MatMulV3            50       50
        0    MatmulReduceScatter 10       10
        1    MatMulV3            20       20
        1    MatmulReduceScatter 90       20
        """,
    )
    rows = rank_times(read_table(Overlap, SPLIT), None, None, operators=kinds).rows()
    assert [r["compute_us"] for r in rows] == [50, 20, 42, 200]
    assert [r["comm_us"] for r in rows] == [40, 70, 48, 50]
    assert [r["peer_compute_us"] for r in rows][:2] == [31, 46]


def test_the_type_that_a_rank_takes_longest_for_beyond_its_peers_is_named():
    kinds = read_table(
        OperatorShare,
        """
        rank op_type             total_us unshared_us
        0    MatMulV3            30       30
        0    MaxPoolGrad         25       25
        0    MatmulReduceScatter 90       10
        1    MatMulV3            28       28
        1    MaxPoolGrad         10       10
        2    MatMulV3            29       29
        2    MaxPoolGrad         12       12
        2    Sort                9        9
        """,
    )
    rows = rank_times(read_table(Overlap, SPLIT), None, None, operators=kinds).rows()
    assert [(r["slower_type"], r["slower_us"]) for r in rows[:3]] == [("MaxPoolGrad", 14), (None, None), ("Sort", 9)]
    assert [r["slower_usual_us"] for r in rows[:3]] == [11, None, 0]
    assert (rows[3]["slower_type"], rows[3]["slower_us"]) == (None, None)  # alone in its stage
    only = read_table(OperatorShare, "rank op_type total_us unshared_us\n2 Sort 9 9\n2 - 4 4")
    alone = rank_times(read_table(Overlap, SPLIT), None, None, operators=only).rows()
    assert {r["slower_type"] for r in alone} == {None}  # of no peer operators are known


def test_kernels_of_a_rank_stand_beside_those_of_its_peers() -> None:
    kinds = read_table(OperatorShare, "rank op_type calls\n0 Mul 400\n0 Add 31\n1 Mul 190\n2 Mul 192\n3 Mul 5")
    rows = rank_times(read_table(Overlap, SPLIT), None, None, operators=kinds).rows()
    assert [(row["kernels"], row["peer_kernels"]) for row in rows] == [
        (431, 191),
        (190, 311.5),
        (192, 310.5),
        (5, None),
    ]
    assert {row["kernels"] for row in rank_times(read_table(Overlap, SPLIT), None, None).rows()} == {None}


def test_totals_of_a_whole_capture_are_not_held_against_steps_of_other_ranks():
    """A rank whose list of kernels lacks rows has the totals of the profiler, over all of its steps."""
    kinds = read_table(
        OperatorShare, "rank op_type source calls total_us\n0 A kernels 10 100\n1 A totals 40 400\n2 A kernels 10 110"
    )
    rows = rank_times(read_table(Overlap, SPLIT), None, None, operators=kinds).rows()
    assert {row["rank"]: (row["kernels"], row["slower_us"]) for row in rows if row["rank"] in (0, 1, 2)} == {
        0: (10, None), 1: (None, None), 2: (10, 10)
    }  # fmt: skip


def test_kernels_that_communicate_inside_are_taken_off_where_totals_stand_in_for_them_too():
    split = read_table(Overlap, "rank step span_us compute_us\n0 1 900 800\n0 2 900 800\n1 1 900 800\n1 2 900 800")
    kinds = read_table(
        OperatorShare,
        """
        rank op_type         source  calls total_us unshared_us
        0    MatmulAllReduce kernels 10    300      300
        1    MatmulAllReduce totals  20    500      -
        """,
    )
    rows = rank_times(split, None, None, operators=kinds).rows()
    assert [row["compute_us"] for row in rows] == [500, 550]


def test_the_call_in_which_a_rank_idles_longer_than_its_peers_is_named() -> None:
    held = read_table(
        LaunchDelay,
        """
        rank cause call       idle_us
        0    host  write      90
        0    host  aten::add  40
        0    gc    collect    500
        1    host  aten::add  50
        2    host  aten::add  60
        """,
    )
    rows = rank_times(read_table(Overlap, SPLIT), None, None, held=held).rows()
    steps = len({line.split()[1] for line in SPLIT.strip().splitlines()[1:] if line.split()[0] == "0"})
    assert (rows[0]["busiest_call"], rows[0]["busiest_us"]) == ("write", 90 / steps)
    assert {row["busiest_call"] for row in rank_times(read_table(Overlap, SPLIT), None, None).rows()} == {None}


def test_attention_of_a_rank_stands_beside_that_of_its_stage_and_the_rest_beside_that_of_its_peers() -> None:
    work = read_table(
        StepWork, "rank step attention_us\n0 1 40\n0 2 20\n1 1 12\n1 2 8\n2 1 5\n3 1 70"
    )  # of two steps the mean
    rows = rank_times(read_table(Overlap, SPLIT), None, None, work=work).rows()
    assert [row["attention_us"] for row in rows] == [30, 10, 5, 70]
    assert [row["mean_attention_us"] for row in rows] == [15, 15, 15, 70]
    assert [row["peer_rest_us"] for row in rows] == [33.5, 33.5, 30, None]
    assert [row["mean_compute_us"] for row in rows] == [pytest.approx(142 / 3)] * 3 + [200]
    assert {row["attention_us"] for row in rank_times(read_table(Overlap, SPLIT), None, None).rows()} == {None}


def test_what_a_rank_does_in_shapes_of_its_own_is_told_beside_its_peers():
    shapes = read_table(
        OperatorShape,
        """
        rank op_type  input_shapes total_us mean_us
        0    MatMulV3 40,8         30       30
        0    MatMulV3 8,8          10       10
        1    MatMulV3 32,8         20       20
        1    MatMulV3 8,8          20       20
        2    MatMulV3 32,8         20       20
        2    MatMulV3 8,8          20       20
        """,
    )
    work = read_table(StepWork, "rank mega_elements\n0 30\n1 20\n2 20")
    rows = rank_times(read_table(Overlap, SPLIT), None, None, shapes=shapes, work=work).rows()
    assert [r["unlike_share"] for r in rows] == [0.75, -0.375, -0.375, None]
    assert [r["peer_elements_ratio"] for r in rows] == [1.5, 0.8, 0.8, None]


def test_the_pace_of_a_rank_is_told_without_kernels_that_wait_for_others():
    shapes = read_table(
        OperatorShape,
        """
        rank op_type             input_shapes communicates total_us mean_us
        0    MatMulV3            8,8          false        40       40
        0    MatmulReduceScatter 8,8          true         10       10
        1    MatMulV3            8,8          false        20       20
        1    MatmulReduceScatter 8,8          true         90       90
        """,
    )
    assert [r["pace"] for r in rank_times(read_table(Overlap, SPLIT), None, None, shapes=shapes).rows()][:2] == [2, 0.5]


def test_the_rank_that_came_last_is_charged_with_what_the_others_waited():
    calls = read_table(
        CollectiveCall,
        """
        rank step name op        group p2p   start_ns elapse_us
        0    1    x    allReduce a     false 1        10
        1    1    x    allReduce a     false 1        40
        2    1    x    allReduce a     false 1        60
        0    1    y    allReduce a     false 2        10
        3    1    y    allReduce a     false 2        90
        0    1    z    send      b     true  3        1
        1    1    z    receive   b     true  3        500
        """,
    )
    rows = rank_times(read_table(Overlap, SPLIT), calls, None).rows()
    assert [r["meetings"] for r in rows] == [1, 1, 1, 0]
    assert [r["last_share"] for r in rows] == [1.0, 0.0, 0.0, None]
    assert [r["made_wait_us"] for r in rows] == [40.0, 0.0, 0.0, None]


def test_what_a_rank_made_others_wait_again_leaves_out_the_longest_time():
    calls = read_table(
        CollectiveCall,
        """
        rank step name op        group p2p   start_ns elapse_us
        0    1    x    allReduce a     false 0        10
        1    1    x    allReduce a     false 0        40
        0    1    y    allReduce a     false 50000    10
        1    1    y    allReduce a     false 50000    30
        0    1    z    allReduce a     false 90000    20
        1    1    z    allReduce a     false 90000    10
        """,
    )
    rows = rank_times(read_table(Overlap, SPLIT), calls, None).rows()
    assert [r["made_wait_us"] for r in rows] == [50, 10, None, None]
    assert [r["made_wait_again_us"] for r in rows] == [20, 0, None, None]
    assert [r["blamed_share"] for r in rows] == [50 / 60, 10 / 60, 0, None]


def test_what_a_rank_made_others_wait_once_is_the_longest_time_of_each_step():
    calls = read_table(
        CollectiveCall,
        """
        rank step name op        group p2p   start_ns elapse_us
        0    1    x    allReduce a     false 0        10
        1    1    x    allReduce a     false 0        40
        0    1    y    allReduce a     false 50000    10
        1    1    y    allReduce a     false 50000    30
        0    2    x    allReduce a     false 90000    10
        1    2    x    allReduce a     false 90000    16
        """,
    )
    split = read_table(Overlap, "rank step span_us\n0 1 1000\n0 2 1000\n1 1 1000\n1 2 1000")
    rows = rank_times(split, calls, None).rows()
    assert [r["made_wait_us"] for r in rows] == [(30 + 20 + 6) / 2, 0]
    assert [r["made_wait_once_us"] for r in rows] == [(30 + 6) / 2, 0]


def test_the_shortest_communication_of_the_peers_is_that_of_the_one_they_wait_for():
    rows = rank_times(read_table(Overlap, SPLIT), None, None).rows()
    assert [r["least_peer_comm_us"] for r in rows] == [48, 30, 30, None]


def test_the_next_late_rank_is_the_one_that_communicates_clearly_longer():
    split = read_table(
        Overlap,
        """
        rank step stage span_us compute_us comm_us free_us
        0    1    0     1000    100        400     500
        1    1    0     1000    100        100     800
        2    1    0     1000    100        140     760
        3    1    0     1000    100        151     749
        4    1    1     1000    100        200     700
        5    1    1     1000    100        240     660
        """,
    )
    rows = rank_times(split, None, None).rows()
    assert [r["next_peer_comm_us"] for r in rows] == [None, 151, 400, 400, None, None]


def test_a_wait_behind_computation_costs_nothing():
    calls = read_table(
        CollectiveCall,
        """
        rank step name op        group p2p   start_ns elapse_us exposed_us
        0    1    x    allReduce a     false 1        10        10
        1    1    x    allReduce a     false 1        40        12
        2    1    x    allReduce a     false 1        60        60
        """,
    )
    assert rank_times(read_table(Overlap, SPLIT), calls, None).rows()[0]["made_wait_us"] == (12 + 50) / 2


def test_ranks_kept_waiting_in_different_groups_wait_side_by_side():
    calls = read_table(
        CollectiveCall,
        """
        rank step name op        group p2p   start_ns elapse_us
        0    1    x    allReduce a     false 1        10
        1    1    x    allReduce a     false 1        40
        0    1    y    allReduce b     false 2        10
        2    1    y    allReduce b     false 2        60
        """,
    )
    rows = rank_times(read_table(Overlap, SPLIT), calls, None).rows()
    assert (rows[0]["meetings"], rows[0]["last_share"], rows[0]["made_wait_us"]) == (2, 1.0, 40.0)


def test_host_gaps_are_per_step_and_missing_without_a_timeline():
    idle = read_table(IdleCause, "rank total_us host\n0 6 true\n0 4 false\n2 4 false")
    rows = rank_times(read_table(Overlap, SPLIT), None, idle).rows()
    assert [r["host_gap_us"] for r in rows] == [6.0, None, 0.0, None]
    twice = SPLIT + "0    2    0     100     60         30      30              10\n"
    assert rank_times(read_table(Overlap, twice), None, idle).rows()[0]["host_gap_us"] == 3.0


def test_the_clock_of_a_rank_stands_beside_that_of_its_peers_and_of_all():
    clocks = read_table(FrequencyUse, "rank highest_mhz\n0 1800\n1 1400\n3 1850")
    rows = rank_times(read_table(Overlap, SPLIT), None, None, clocks).rows()
    assert [r["mhz"] for r in rows] == [1800, 1400, None, 1850]
    assert [r["peer_mhz"] for r in rows] == [1400, 1800, 1600, None]
    assert {r["fastest_mhz"] for r in rows} == {1850}


def test_the_pace_of_a_rank_tells_a_slow_device_from_more_work():
    shapes = read_table(
        OperatorShape,
        """
        rank op_type input_shapes calls total_us mean_us
        0    MatMul  8,8          4     40       10
        1    MatMul  8,8          9     90       10
        3    MatMul  8,8          4     60       15
        1    Gather  8            1     20       20
        2    Cast    4            1     20       20
        2    MatMul  -            9     20       40
        """,
    )
    rows = rank_times(read_table(Overlap, SPLIT), None, None, None, shapes).rows()
    assert [r["pace"] for r in rows] == [pytest.approx(10 / 12.5), pytest.approx(10 / 12.5), None, 1.5]


def test_means_are_taken_over_steps():
    split = read_table(Overlap, "rank step compute_us\n0 1 10\n0 2 30\n1 1 5")
    rows = rank_times(split, None, None).rows()
    assert [r["compute_us"] for r in rows] == [20.0, 5.0]


def test_stages_follow_the_run():
    calls = read_table(Collective, "rank start_ns elapse_us op p2p\n5 1 1 allReduce false\n6 1 1 allReduce false")
    run = Run(parallel=Parallel(stages=((4,), (5,))))
    assert [r["stage"] for r in collective_calls(run_of_ranks(run), calls, Table.empty(Kernel)).rows()] == [1, None]


@given(
    st.lists(st.lists(st.floats(1, 1000), min_size=3, max_size=3), min_size=1, max_size=6),
)
def test_chance_is_what_the_rank_in_the_middle_varies_beside_its_peers(steps):
    split = Table.build(
        Overlap,
        rank=np.tile(np.arange(3), len(steps)),
        step=np.repeat(np.arange(len(steps)), 3),
        stage=0,
        compute_us=np.concatenate(steps),
        span_us=1000.0,
        comm_us=0.0,
        exposed_comm_us=0.0,
        free_us=0.0,
    )
    found = rank_times(split, None, None).rows()
    if len(steps) == 1:
        assert [row["chance_us"] for row in found] == [None] * 3
        return
    beyond = [[step[rank] - statistics.median(step[:rank] + step[rank + 1 :]) for step in steps] for rank in range(3)]
    middle = statistics.median(statistics.stdev(one) for one in beyond) / len(steps) ** 0.5
    assert [row["chance_us"] for row in found] == pytest.approx([middle] * 3, abs=1e-6)


def test_chance_is_nothing_where_one_rank_is_as_slow_in_each_step():
    split = "rank step stage compute_us\n" + "\n".join(
        f"{r} {s} 0 {50 + 10 * (r == 1)}" for s in (1, 2) for r in (0, 1, 2)
    )
    assert [row["chance_us"] for row in rank_times(read_table(Overlap, split), None, None).rows()] == [0, 0, 0]
