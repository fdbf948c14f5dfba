# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import statistics

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.operators.operators import PIPES, operator_shapes, operators
from advisor.facts.base import MISSING
from advisor.facts.derived import ChipLimit
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Table, read_table
from tests.analysis import timelines as tl


@settings(max_examples=60)
@given(tl.KERNELS, tl.COLLECTIVES)
def test_operator_totals_agree_with_plain_sums(kernels, collectives):
    kernels = [(rank, step or 1, *rest) for rank, step, *rest in kernels]
    collectives = [(rank, step or 1, *rest) for rank, step, *rest in collectives]
    found = {
        (r["rank"], r["op_type"]): r for r in operators(tl.kernels(kernels), tl.collectives(collectives), None).rows()
    }
    good = [row for row in kernels if row[3] >= 0]
    assert found.keys() == {(row[0], row[4]) for row in good if row[4] is not None}
    steps = {rank: {r[1] for r in good + collectives if r[0] == rank and r[3] >= 0} for rank in (0, 1)}
    for (rank, op_type), row in found.items():
        mine = [r for r in good if r[0] == rank and r[4] == op_type]
        other = [r for r in good + collectives if r[0] == rank and r[3] >= 0 and r not in mine]
        count = len(steps[rank])
        own = tl.moments([r[2] for r in mine], [r[2] + r[3] for r in mine])
        beside = tl.moments([r[2] for r in other], [r[2] + r[3] for r in other])
        assert row["calls"] == pytest.approx(len(mine) / count)
        assert row["total_us"] * 1e3 == pytest.approx(sum(r[3] for r in mine) / count)
        assert row["alone_us"] * 1e3 == pytest.approx(len(own - beside) / count)
        assert row["median_us"] * 1e3 == pytest.approx(statistics.median(r[3] for r in mine))
        whole = sum(r[3] for r in good if r[0] == rank)
        assert row["kernel_share"] == (pytest.approx(sum(r[3] for r in mine) / whole) if whole else None)


KERNELS = """
step start_ns duration_us op_type  core           op_state input_shapes input_dtypes mac_share blocks
1    0        10          MatMul   AI_CORE        dynamic  2,2;2,2      FLOAT;FLOAT  0.5       8
1    20000    30          MatMul   MIX_AIC        static   2,2;2,2      FLOAT;FLOAT  0.9       4
2    60000    10          Cast     AI_VECTOR_CORE -        8            FLOAT        -         2
2    80000    10          -        AI_CPU         -        -            -            -         -
"""


def test_names_tell_what_aclnn_and_graphs_launched_and_what_aclop_did():
    names = ["aclnnCast_CastAiCore_Cast", "trans_Cast_1", "Model/Cast_7", "aclnnAdd_AddAiCore_Add"]
    table = Table.build(
        Kernel,
        rank=0,
        step=1,
        op_type=["Cast", "Cast", "Cast", "Add"],
        op_name=names,
        graph=[MISSING, MISSING, 3, MISSING],
        start_ns=[0, 10_000, 20_000, 30_000],
        duration_us=[1.0, 3.0, 2.0, 1.0],
    )
    found = {row["op_type"]: row["aclnn_share"] for row in operators(table, None, None).rows()}
    assert found == {"Cast": 0.5, "Add": 1.0}
    unnamed = operators(table.having(op_name=None, graph=MISSING), None, None).rows()
    assert [row["aclnn_share"] for row in unnamed] == [None, None]


def test_totals_are_per_step_and_the_core_is_the_one_with_most_time():
    cast, matmul = sorted(operators(read_table(Kernel, KERNELS), None, None).rows(), key=lambda r: r["op_type"])
    assert matmul["total_us"] == 20.0 and matmul["calls"] == 1.0 and matmul["core"] == "MIX_AIC"
    assert matmul["dynamic_share"] == 0.25 and matmul["shapes"] == 1.0 and not matmul["conversion"]
    assert matmul["kernel_share"] == pytest.approx(40 / 60)
    assert matmul["float32_share"] == 1.0 and matmul["busiest_share"] is None
    assert cast["conversion"] and cast["dynamic_share"] is None
    assert matmul["step_share"] == pytest.approx(20 / ((60 + 30) / 2))


@pytest.mark.parametrize(
    ("dtypes", "share"),
    [("DOUBLE;DOUBLE", 1.0), ("DT_DOUBLE;DT_FLOAT", 1.0), ("FLOAT;INT64", 0.0), ("COMPLEX128", 0.0), ("-", None)],
)
def test_what_has_an_input_in_float64_is_told(dtypes, share):
    rows = f"step start_ns duration_us op_type core input_dtypes\n1 0 3000 Mul AI_CPU {dtypes}"
    (found,) = operators(read_table(Kernel, rows), None, None).rows()
    assert found["float64_share"] == share


def test_a_kernel_in_which_no_pipe_was_ever_busy_was_not_measured():
    """What runs on the AI CPU has no pipes: some exports leave its counters empty, some write zeros."""
    rows = """
step start_ns duration_us op_type core           mac_share vector_share scalar_share mte2_share
1    0        3000        Mul     AI_CPU         0         0            0            0
1    4000000  3000        Add     AI_VECTOR_CORE 0         0.3          0.1          0.2
"""
    kernels = read_table(Kernel, rows)
    for found in (operators(kernels, None, None), operator_shapes(kernels, None, None)):
        assert {row["op_type"]: row["busiest_share"] for row in found.rows()} == {"Mul": None, "Add": 0.3}


def test_what_loads_operands_of_the_cube_and_what_writes_its_results_are_told_apart():
    """Kernels of equal inputs weigh by their time; where a chip has no FixPipe that is missing and takes no place."""
    rows = """
step start_ns duration_us op_type  core    mac_share vector_share scalar_share mte2_share mte1_share fixpipe_share
1    0        1000        MatMulV3 AI_CORE 0.4       0            0.3          0.5        0.1        0.8
1    4000000  3000        MatMulV3 AI_CORE 0.4       0            0.3          0.5        0.2        0.9
1    9000000  3000        MatMul   AI_CORE 0.4       0            0.3          0.5        0.7        -
"""
    found = {row["op_type"]: row for row in operator_shapes(read_table(Kernel, rows), None, None).rows()}
    told = ("mte1_share", "fixpipe_share", "busiest_share", "second_share")
    assert [found["MatMulV3"][name] for name in told] == [pytest.approx(one) for one in (0.175, 0.875, 0.875, 0.5)]
    assert [found["MatMul"][name] for name in told] == [0.7, None, 0.7, 0.5]


@given(st.lists(st.one_of(st.none(), st.floats(0, 1)), min_size=7, max_size=7))
def test_the_second_busiest_pipe_is_the_next_of_those_that_were_counted(shares):
    named = dict(zip(PIPES, shares, strict=True))
    kernels = Table.build(Kernel, rank=0, step=1, op_type="MatMulV3", start_ns=[0], duration_us=10.0, **named)
    (row,) = operator_shapes(kernels, None, None).rows()
    counted = sorted(one for one in shares if one is not None)
    told = None not in (named["mte2_share"], named["scalar_share"]) and len(counted) > 2 and counted[-1] > 0
    told &= (named["mac_share"], named["vector_share"]) != (None, None)
    expected = (pytest.approx(counted[-1]), pytest.approx(counted[-2])) if told else (None, None)
    assert (row["busiest_share"], row["second_share"]) == expected


@pytest.mark.parametrize(
    ("rows", "share"),
    [((15360, 15360), 1.0), ((64, 64), 0.0), ((15360, 64), 0.5), ((15360, 64, None), 0.5), ((64, None), None)],
)
def test_products_with_many_rows_are_beyond_the_ridge_and_those_with_few_are_not(rows, share):
    """353 TFLOP/s and 1600 GB/s meet at 221 operations per byte, which products with large weights in half precision
    have from about 250 rows on. Kernels without shapes tell nothing, and half of the time is too little to go by."""
    kernels = Table.build(
        Kernel,
        rank=0,
        step=1,
        op_type="MatMulV3",
        start_ns=[1_000_000 * at for at in range(len(rows))],
        duration_us=10.0,
        input_shapes=[f"{m},4096;4096,4096" if m else None for m in rows],
        input_dtypes="DT_BF16;DT_BF16",
        output_shapes=[f"{m},4096" if m else None for m in rows],
        output_dtypes="DT_BF16",
    )
    limits = read_table(ChipLimit, "rank bf16_tflops memory_gbps\n0 353 1600")
    (row,) = operators(kernels, None, None, limits=limits).rows()
    assert row["beyond_ridge_share"] == (None if share is None else pytest.approx(share))
    (row,) = operators(kernels, None, None).rows()
    assert row["beyond_ridge_share"] is None


def test_what_fell_back_to_the_ai_cpu_is_told_apart_from_the_rest_of_its_type():
    casts = """
step start_ns duration_us op_type core
1    0        150         Cast    AI_CPU
1    200000   3           Cast    -
1    300000   4           Cast    AI_VECTOR_CORE
"""
    rows = {row["core"]: row for row in operators(read_table(Kernel, casts), None, None).rows()}
    assert {core: (row["calls"], row["total_us"]) for core, row in rows.items()} == {
        "AI_CPU": (1, 150),
        "AI_VECTOR_CORE": (2, 7),
    }
    assert rows["AI_CPU"]["family"] == "ai_cpu"


def test_kernels_that_may_use_hf32_are_told_by_their_time_and_those_that_do_not_say_do_not_count():
    said = """
step start_ns duration_us op_type core    input_shapes hf32
1    0        10          MatMul  AI_CORE 2,2;2,2      YES
1    20000    30          MatMul  AI_CORE 2,2;2,2      NO
1    60000    50          MatMul  AI_CORE 2,2;2,2      -
1    900000   10          Mul     AI_CORE 2            -
"""
    shapes = {row["op_type"]: row["hf32_share"] for row in operator_shapes(read_table(Kernel, said), None, None).rows()}
    assert shapes == {"MatMul": 0.25, "Mul": None}


@settings(max_examples=60)
@given(tl.KERNELS, tl.COLLECTIVES)
def test_shares_of_the_step_add_up_to_no_more_than_the_step(kernels, collectives):
    kernels = [(rank, step or 1, *rest) for rank, step, *rest in kernels]
    collectives = [(rank, step or 1, *rest) for rank, step, *rest in collectives]
    for found in (operators, operator_shapes):
        rows = found(tl.kernels(kernels), tl.collectives(collectives), None).rows()
        for rank in (0, 1):
            assert sum(row["step_share"] or 0 for row in rows if row["rank"] == rank) <= 1 + 1e-9


def test_kernels_that_run_at_the_same_time_share_the_step():
    both = "step start_ns duration_us op_type\n1 0 10 MatMul\n1 0 10 Cast\n1 10000 10 MatMul"
    rows = {row["op_type"]: row for row in operators(read_table(Kernel, both), None, None).rows()}
    assert rows["MatMul"]["step_share"] == pytest.approx(2 / 3)
    assert rows["Cast"]["step_share"] == pytest.approx(1 / 3)


def test_kernels_without_a_type_have_no_row_but_count_in_the_whole():
    found = operators(read_table(Kernel, KERNELS), None, None)
    assert None not in found.texts("op_type").values()
    assert sum(found["kernel_share"]) == pytest.approx(50 / 60)


def test_shapes_are_told_apart_by_core_and_inputs_and_weighted_by_time():
    rows = {(r["op_type"], r["core"]): r for r in operator_shapes(read_table(Kernel, KERNELS), None, None).rows()}
    assert rows.keys() == {("MatMul", "AI_CORE"), ("MatMul", "MIX_AIC"), ("Cast", "AI_VECTOR_CORE")}
    same_core = KERNELS.replace("MIX_AIC", "AI_CORE")
    rows = {r["op_type"]: r for r in operator_shapes(read_table(Kernel, same_core), None, None).rows()}
    assert rows["MatMul"]["mac_share"] == pytest.approx((0.5 * 10 + 0.9 * 30) / 40)
    assert rows["MatMul"]["mean_us"] == 20.0 and rows["MatMul"]["spread"] == pytest.approx(0.5)
    assert rows["MatMul"]["blocks"] == 4.0
    assert rows["Cast"]["mac_share"] is None and rows["Cast"]["spread"] == 0.0


def test_what_level0_does_not_record_stays_missing():
    kernels = read_table(Kernel, "start_ns duration_us op_type\n0 5 MatMul\n9000 5 MatMul")
    (share,) = operators(kernels, None, None).rows()
    (shape,) = operator_shapes(kernels, None, None).rows()
    assert share["core"] is None and share["shapes"] is None and share["dynamic_share"] is None
    assert shape["input_shapes"] is None and shape["blocks"] is None and shape["calls"] == 2.0


def test_a_kernel_beside_a_collective_is_not_alone():
    comm = read_table(Collective, "start_ns elapse_us p2p\n5000 100 false")
    (row,) = operators(read_table(Kernel, "start_ns duration_us op_type\n0 10 MatMul"), comm, None).rows()
    assert row["alone_us"] == 5.0


def test_no_kernels_have_no_operators():
    assert not len(operators(Table.empty(Kernel), None, None))
    assert not len(operator_shapes(Table.empty(Kernel), None, None))


def unshared(kernels: str, collectives: str) -> dict[str, float]:
    found = operators(read_table(Kernel, kernels), read_table(Collective, collectives), None)
    return {row["op_type"]: row["unshared_us"] for row in found.rows()}


CASTS = """
start_ns duration_us op_type
0        100         MatMul
100000   100         Cast
{next}   100         MatMul
"""


def test_a_collective_hidden_behind_kernels_takes_nothing_from_what_they_cost():
    beside = "start_ns elapse_us op p2p\n90000 150 allReduce false"
    assert unshared(CASTS.format(next=200000), beside)["Cast"] == 100.0


def test_a_kernel_beside_a_collective_the_device_then_waits_for_costs_nothing():
    """Without the kernel the collective would end no sooner."""
    beside = "start_ns elapse_us op p2p\n150000 100 allToAllV false"
    assert unshared(CASTS.format(next=250000), beside)["Cast"] == 50.0


def test_collectives_back_to_back_are_waited_for_as_one():
    beside = "start_ns elapse_us op p2p\n120000 70 allReduce false\n195000 55 allToAllV false"
    assert unshared(CASTS.format(next=250000), beside)["Cast"] == 20.0


def test_waiting_for_the_other_stage_of_a_pipeline_does_not_make_kernels_free():
    beside = "start_ns elapse_us op p2p\n120000 130 receive true"
    assert unshared(CASTS.format(next=250000), beside)["Cast"] == 100.0


def test_a_kernel_beside_the_main_stream_costs_nothing_unless_that_stream_awaits_it():
    kernels = """
    start_ns duration_us op_type stream
    0        100         MatMul  1
    50000    {aside}     Unique2 2
    {next}   100         MatMul  1
    """
    assert unshared(kernels.format(aside=150, next=300000), "start_ns elapse_us op")["Unique2"] == 0.0
    assert unshared(kernels.format(aside=150, next=201000), "start_ns elapse_us op")["Unique2"] == 100.0
    assert unshared(kernels.format(aside=150, next=150000), "start_ns elapse_us op") == {
        "Unique2": 0.0,
        "MatMul": 200.0,
    }


def _attention(step: int, *durations: float) -> str:
    return "".join(f"{step} {step * 10**6 + at * 10**3} {us} FlashAttention 2,2\n" for at, us in enumerate(durations))


def _spread(*steps: str) -> float:
    said = "step start_ns duration_us op_type input_shapes\n" + "".join(steps)
    (shape,) = operator_shapes(read_table(Kernel, said), None, None).rows()
    spread = shape["spread"]
    assert isinstance(spread, float)
    return spread


def test_layers_that_differ_alike_in_every_step_are_not_unstable():
    assert _spread(*(_attention(step, 10, 50, 10, 50) for step in (1, 2, 3))) == 0.0


def test_what_differs_from_step_to_step_is_unstable_wherever_it_lies():
    mean = 30.0
    swapped = _spread(_attention(1, 10, 50), _attention(2, 50, 10))
    assert swapped == pytest.approx(20 / mean)  # never more than the spread of all calls
    third = _spread(*(_attention(step, 100, 20 + 30 * (step == 3)) for step in (1, 2, 3)))
    at_place = statistics.variance([20, 20, 50]) / 2  # one place of two
    assert third == pytest.approx(at_place**0.5 / 65)


def test_layers_that_take_turns_are_not_unstable_where_no_step_is_marked():
    """As sliding windows and full attention, eight layers in the order of time."""
    assert _spread(_attention(1, *[10, 50] * 4)) == 0.0
    assert _spread(_attention(1, *[10, 10, 50] * 4)) == 0.0
    assert _spread(_attention(1, *[10, 50] * 4), _attention(2, *[10, 50] * 3)) == 0.0


def test_three_rounds_are_no_turns():
    assert _spread(_attention(1, *[10, 50] * 3)) == pytest.approx(20 / 30)


def test_a_long_period_explains_nothing_by_chance():
    durations = [10, 50, 12, 13, 48, 11, 52, 47, 49, 12, 51, 13, 12, 50, 11, 48, 47, 12, 13, 51, 50, 49, 12, 10]
    assert _spread(_attention(1, *durations)) == pytest.approx(
        statistics.pstdev(durations) / statistics.fmean(durations)
    )


def test_where_steps_do_not_call_it_equally_often_all_calls_are_held_against_each_other():
    assert _spread(_attention(1, 10, 50), _attention(2, 10)) == pytest.approx(statistics.pstdev([10, 50, 10]) * 3 / 70)
