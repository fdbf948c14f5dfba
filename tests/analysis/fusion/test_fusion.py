# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections import defaultdict
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from advisor.analysis.fusion.chain_search import chains_in_steps
from advisor.analysis.fusion.fusion import chained_operators, fusible_chains
from advisor.analysis.fusion.lanes import BETWEEN
from advisor.analysis.operators.launching_operators import HostRecords
from advisor.analysis.operators.operators import operators
from advisor.facts.chain_patterns import ChainMember, ChainOrder, ChainPattern, ChainPatterns
from advisor.facts.derived import ChipLimit, Overlap, Removal
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, Launch, OperatorLink
from advisor.facts.table import Table, read_table
from advisor.rules.patterns import shipped_patterns
from tests.analysis.derive import derive

PATTERNS = shipped_patterns().chains

NORM = "Pow ReduceMean Add Rsqrt Mul Mul"
ROTARY = "Slice Slice Neg ConcatD Mul Mul Add"
ATTENTION = "BatchMatMulV2 Muls Add SoftmaxV2 DropOutDoMask BatchMatMulV2"
ADAM = "Muls Lerp Muls Addcmul Sqrt RealDiv Adds Addcdiv"


def ran(types: str, us: float = 10.0, pause_us: float = 1.0, **columns: Any) -> Table[Kernel]:
    """Kernels of these types one after another, each `us` long; `Mul:30` sets the length of one."""
    start, rows = 0, []
    for word in types.split():
        name, _, own = word.partition(":")
        rows.append((name, start, float(own or us)))
        start += round((rows[-1][2] + pause_us) * 1000)
    return Table.build(
        Kernel,
        rank=0,
        step=1,
        op_type=[row[0] for row in rows],
        start_ns=[row[1] for row in rows],
        duration_us=[row[2] for row in rows],
        **columns,
    )


def chains(kernels: Table[Kernel]) -> dict[str, dict[str, Any]]:
    return {row["pattern"]: row for row in fusible_chains(kernels, None, None, patterns=PATTERNS).rows()}


@pytest.mark.parametrize(
    ("pattern", "types"),
    [
        ("norm", NORM),
        ("norm", "Cast Square ReduceMeanD Adds Rsqrt Mul Cast Mul"),
        ("layer-norm", "ReduceMean Sub Pow ReduceMean Add Sqrt RealDiv Mul Add"),
        ("norm", "Mul Mul ReduceSum Mul Mul ReduceSum Pows Muls Mul BroadcastTo RealDiv Muls Mul Add"),
        ("rotary", ROTARY),
        ("rotary", "Mul Neg ConcatD Mul Add"),
        ("attention", ATTENTION),
        ("attention", "BatchMatMulV3 SoftmaxV2 BatchMatMulV3"),
        ("attention", "BatchMatMul BatchMatMul DropOutDoMask SoftmaxGrad MaskedFill Mul BatchMatMul BatchMatMul"),
        ("swiglu", "Swish Mul"),
        ("swiglu", "Mul Mul SiluGrad ConcatD"),
        ("optimizer", ADAM),
        ("optimizer", "Mul Mul Add Mul Addcmul Sqrt Add Addcdiv"),
    ],
)  # fmt: skip
def test_a_chain_is_found_among_other_work(pattern, types):
    found = chains(ran(f"MatMulV3 RmsNorm {types} MatMulV3 Sigmoid {types} MatMulV3"))
    assert found.keys() == {pattern}
    assert found[pattern]["chains"] == 2.0


LOSS = "ReduceMax:300 {} Sub:700 {} Exp:700 {} ReduceSum:300 {} RealDiv:700"
PICKED = "Less:2 LogicalOr:2 Sub:2 Index:20"


def test_a_loss_whose_targets_are_picked_in_between_is_a_chain_of_what_passes_over_all_logits():
    found = chains(ran(f"MatMulV3:1500 {LOSS.format('', PICKED, '', 'Log:2')} MatMulV3:1500"))
    assert found.keys() == {"cross-entropy"}
    assert (found["cross-entropy"]["kernels"], found["cross-entropy"]["total_us"]) == (5, 2700)


@pytest.mark.parametrize("between", [PICKED.replace("20", "200"), " ".join(["Less:2"] * 65)])
def test_members_with_more_than_brief_work_between_them_are_no_loss(between):
    assert "cross-entropy" not in chains(ran(f"MatMulV3:1500 {LOSS.format('', between, '', '')} MatMulV3:1500"))


def test_with_nothing_in_between_it_is_a_softmax():
    assert chains(ran(f"MatMulV3:1500 {LOSS.format('', '', '', '')} MatMulV3:1500")).keys() == {"softmax"}


@pytest.mark.parametrize(
    ("pattern", "types", "wanted"),
    [
        ("scaled-masked-softmax", "MaskedFill Muls SoftmaxV2", "Muls → MaskedFill → SoftmaxV2"),
        ("scaled-masked-softmax", "MaskedFillV2 Cast RealDiv Softmax", "RealDiv → MaskedFillV2 → Softmax"),
        (
            "attention",
            "BatchMatMulV2 SelectV2 Muls SoftmaxV2 DropOutDoMask BatchMatMulV3",
            "BatchMatMulV2 → Muls → SelectV2 → SoftmaxV2 → DropOutDoMask → BatchMatMulV3",
        ),
    ],
)
def test_of_a_chain_in_another_order_it_is_said_which_order_the_fused_operator_takes(pattern, types, wanted):
    row = chains(ran(f"RmsNorm {types} RmsNorm Sigmoid {types}:20 RmsNorm"))[pattern]
    assert row["found_order"] == " → ".join(types.replace("Cast ", "").split())
    assert row["wanted_order"] == wanted
    assert row["reordered_us"] == row["total_us"]


def test_a_chain_in_the_order_of_the_fused_operator_is_not_told_to_change():
    row = chains(ran("Muls MaskedFill SoftmaxV2 RmsNorm MaskedFill:5 Muls:5 SoftmaxV2:5"))["scaled-masked-softmax"]
    assert row["reordered_us"] == 15 and row["total_us"] == 45
    assert row["wanted_order"] == "Muls → MaskedFill → SoftmaxV2"
    fits = chains(ran("Muls MaskedFill SoftmaxV2 RmsNorm"))["scaled-masked-softmax"]
    assert fits["reordered_us"] == 0 and fits["found_order"] is None and fits["wanted_order"] is None


@pytest.mark.parametrize("types", [
    "RmsNorm MatMulV3 RotaryMul FlashAttentionScore MatMulV3 Add SwiGlu MatMulV3 ApplyAdamWV2",
    "BatchMatMulV2 Add Relu BatchMatMulV2 SoftmaxV2 MatMulV3",
    "Pow ReduceMean MatMulV3 Add Rsqrt Mul",
    "Neg Mul Add Sqrt Add RealDiv",
])  # fmt: skip
def test_fused_operators_and_odd_ones_are_no_chain(types):
    assert not chains(ran(types))


EXPERTS = " ".join(["MoeTokenPermute", *["MatMulV3"] * 8])
SMALL = {
    "input_shapes": [None, *["384,2048;2816,2048"] * 8],
    "input_dtypes": [None, *["DT_BF16;DT_BF16"] * 8],
    "input_formats": [None, *["ND;ND"] * 8],
    "output_shapes": [None, *["384,2816"] * 8],
    "output_dtypes": [None, *["DT_BF16"] * 8],
}
A2 = "rank chip       cube_mhz memory_gbps half_tflops bf16_tflops\n0    Ascend910B3 36000    1600 294.912 294.912"


def test_products_of_experts_come_to_what_one_grouped_call_reaches_where_the_chip_is_known():
    """384 rows of an expert alone fill no chip: 8 products of 36 us, of which one call needs 200 and its start-up."""
    kernels, limits = ran(EXPERTS, us=36.0, **SMALL), read_table(ChipLimit, A2)
    (row,) = fusible_chains(kernels, None, None, limits=limits, patterns=PATTERNS).rows()
    needed = 8 * 2 * 384 * 2048 * 2816 / 294.912e6 / 0.6 + 20
    assert row["pattern"] == "grouped-matmul" and row["spared_us"] == pytest.approx(8 * 36 + 7 - needed)
    (unknown,) = fusible_chains(kernels, None, None, patterns=PATTERNS).rows()
    quick = fusible_chains(ran(EXPERTS, us=20.0, **SMALL), None, None, limits=limits, patterns=PATTERNS)
    assert unknown["spared_us"] == quick["spared_us"][0] == 7.0  # the pauses between them


def typed_norm(*kernels: str) -> Table[Kernel]:
    """`Mul FLOAT FLOAT 30`: the data types of inputs and output of a kernel over 64 x 128, and how long it took."""
    rows = [one.split() for one in kernels]
    return ran(
        " ".join(f"{name}:{us}" for name, _, _, us in rows),
        input_shapes=["64,128" + ";64,128" * given.count(";") for _, given, _, _ in rows],
        input_dtypes=[given for _, given, _, _ in rows],
        output_shapes=["64,128"] * len(rows),
        output_dtypes=[made for _, _, made, _ in rows],
    )


INSIDE = [
    "Pow FLOAT FLOAT 30",
    "ReduceMean FLOAT FLOAT 15",
    "Adds FLOAT FLOAT 1",
    "Rsqrt FLOAT FLOAT 1",
    "Mul FLOAT;FLOAT FLOAT 30",
]
WIDEN, NARROW = "Cast DT_BF16 FLOAT 22", "Cast FLOAT DT_BF16 22"
WEIGH, WEIGH_HALF = "Mul FLOAT;FLOAT FLOAT 30", "Mul DT_BF16;DT_BF16 DT_BF16 14"


@pytest.mark.parametrize(
    ("kernels", "total", "fused"),
    [
        ([WIDEN, *INSIDE, NARROW, WEIGH_HALF], 135, 15),  # the fused operator reads and writes half as much
        ([WIDEN, *INSIDE, WEIGH, NARROW], 151, 15),
        ([*INSIDE, WEIGH], 107, 30),  # float32 stays float32
        ([*INSIDE, NARROW, WEIGH_HALF], 113, 30),  # what comes in float32 is read so
        ([WIDEN, *INSIDE, WEIGH], 129, 30),  # and what is handed on so is written so
        ([*INSIDE, WIDEN], 77, 30),
    ],
)
def test_a_norm_in_float32_between_half_precision_is_priced_as_the_fused_one_that_widens_inside(kernels, total, fused):
    (norm,) = chains(typed_norm("RmsNorm DT_BF16 DT_BF16 5", *kernels, "RmsNorm DT_BF16 DT_BF16 5")).values()
    assert (norm["total_us"], norm["fused_us"]) == (total, fused)


def test_a_conversion_of_another_tensor_belongs_to_no_norm():
    table = typed_norm(WIDEN, *INSIDE, NARROW, WEIGH_HALF)
    shapes = ["32,128", *table.texts("input_shapes").values()[1:]]
    (norm,) = chains(table.having(input_shapes=shapes)).values()
    assert (norm["total_us"], norm["fused_us"]) == (113, 30)


def test_a_chain_counts_what_stands_between_its_members_and_the_pauses():
    (norm,) = chains(ran("MatMulV3 Cast Pow ReduceMean Add:1 Rsqrt:1 Mul:30 Cast:5 Mul MatMulV3")).values()
    assert norm["kernels"] == 7.0 and norm["total_us"] == 67.0 and norm["gap_us"] == 6.0
    assert norm["longest_us"] == 30.0 and norm["fused_us"] == 30.0


@pytest.mark.parametrize(
    ("cache", "written", "kernels", "total", "between"),
    [
        ("2,8,2048,64", "2,8,2048,64", 5, 50, 0),  # larger than all that the chain works on: a KV cache
        ("2,8,512,64", "2,8,2048,64", 5, 50, 0),  # written into one
        ("2,8,512,64", "2,8,512,64", 6, 90, 40),
        ("", "", 6, 90, 40),  # nobody knows
    ],
)
def test_a_copy_of_a_tensor_larger_than_those_of_the_members_belongs_to_no_chain(
    cache: str, written: str, kernels: float, total: float, between: float
) -> None:
    """The shape of queries is 2,8,512,64."""
    own = "2,8,512,64"
    kernels_ran = ran("Mul Neg TensorMove:40 ConcatD Mul Add MatMulV3", **{
        "input_shapes": [own, own, cache or None, f"{own};{own}", own, own, own],
        "output_shapes": [own, own, written or None, own, own, own, own],
    })  # fmt: skip
    row = chains(kernels_ran)["rotary"]
    assert (row["kernels"], row["total_us"], row["between_us"]) == (kernels, total, between)


def test_what_takes_most_time_between_the_members_is_named():
    told = {
        types: chains(ran(types))["norm"]["between_type"]
        for types in (
            NORM,
            "Pow Cast ReduceMean Add Rsqrt Mul Transpose:30 Mul",
            "Pow:50 Cast:3 ReduceMean Add Rsqrt Mul Mul",
        )
    }
    assert list(told.values()) == [None, "Transpose", "Cast"]


def test_what_stands_in_chains_for_inference_alone_is_told_apart():
    kernels = ran("Conv2D TransData:7 BatchNorm:5 Relu Pow ReduceMean Cast:3 Add Rsqrt Mul Mul")
    rows = chained_operators(kernels, None, None, patterns=PATTERNS).rows()
    told = {row["op_type"]: (row["chained_us"], row["chained_serving_us"]) for row in rows}
    assert told["Cast"] == (3.0, 0.0) and told["TransData"] == (0.0, 7.0) and told["BatchNorm"] == (0.0, 5.0)


def test_of_an_operator_that_casts_and_moves_only_what_stands_in_chains_is_told_to():
    types = [f"aten::{name}" for name in ["pow", "mean", "add", "rsqrt", "mul", "copy_", "mul", "mm", "copy_"]]
    effects = [*["other"] * 5, "cast", "other", "other", "move"]
    kernels = ran("Mul " * len(types)).having(op_type=types, effect=effects)
    chained = chained_operators(kernels, None, None, patterns=PATTERNS)
    rows = operators(kernels, None, None, chained=chained).rows()
    told = {row["role"]: row["chained_us"] for row in rows if row["op_type"] == "aten::copy_"}
    assert told == {"cast": 10.0, "move": 0.0}


@pytest.mark.parametrize(
    ("types", "passes"), [("Mul Mul SiluGrad ConcatD", 5 / 3), ("Swish Mul", 1.0), (ROTARY, 2 / 3)]
)
def test_a_fused_operator_makes_so_many_passes_of_its_longest_member(types, passes):
    (found,) = chains(ran(types.replace("Mul", "Mul:30", 1))).values()
    assert found["fused_us"] == pytest.approx(min(30.0 * passes, found["total_us"]))


def test_what_is_left_of_attention_are_its_products():
    (found,) = chains(ran("BatchMatMulV2:50 Muls:20 SoftmaxV2:90 BatchMatMulV2:60")).values()
    assert found["fused_us"] == 110.0 and found["total_us"] == 220.0


def test_pauses_longer_than_the_kernels_are_told_in_full_and_removing_a_chain_wins_no_more_of_them_than_it_works():
    (norm,) = fusible_chains(ran(NORM, pause_us=100), None, None, patterns=PATTERNS).rows()
    assert (norm["total_us"], norm["gap_us"], norm["removed_us"]) == (60.0, 500.0, 120.0)


def test_pauses_that_other_tasks_fill_are_not_those_of_a_chain():
    """A copy of 4 µs and a kernel of another stream of 3 µs lie in pauses of 6 µs each, of which there are five; a copy
    of another stream and a collective hold nothing up by running beside it."""
    kernels = Table.concat(
        Kernel, [ran(NORM, pause_us=6, stream=1), ran("MatMulV3:3", stream=2).having(start_ns=42500)]
    )
    copy = Table.build(
        DeviceTask, rank=0, stream=[1, 2], kind="copy", start_ns=[11_000, 27_000], end_ns=[15_000, 30_000]
    )
    sent = Table.build(Collective, rank=0, step=1, start_ns=[12_000], elapse_us=[60.0])
    (norm,) = fusible_chains(kernels, sent, None, tasks=copy, patterns=PATTERNS).rows()
    assert (norm["gap_us"], norm["removed_us"], norm["spared_us"]) == (23.0, 83.0, 73.0)


def test_pauses_are_not_told_where_nobody_knows_whose_they_are():
    split = Table.build(Overlap, rank=0, step=1, span_us=60.0, compute_us=60.0, listed_us=60.0, source="intervals")
    (norm,) = fusible_chains(ran(NORM), None, None, split, patterns=PATTERNS).rows()
    assert (norm["gap_us"], norm["removed_us"], norm["spared_us"]) == (None, 60.0, 50.0)


def test_adam_needs_seven_passes_where_the_longest_member_makes_four():
    (found,) = chains(ran(ADAM.replace("Addcdiv", "Addcdiv:40"))).values()
    assert found["fused_us"] == 70.0


def test_members_far_apart_or_on_other_streams_are_no_chain():
    assert not chains(ran("Pow ReduceMean Cast Cast Cast Add Rsqrt Mul Mul"))
    assert not chains(ran(NORM, stream=[1, 2, 1, 2, 1, 2]))


def test_what_has_to_run_beside_a_chain_runs_on_the_same_rank_anywhere_in_its_steps():
    products, router = ran("MatMulV3 " * 8, stream=1), ran("TopKV2", stream=2)
    assert not chains(products)
    assert chains(Table.concat(Kernel, [products, router])).keys() == {"grouped-matmul"}
    assert not chains(Table.concat(Kernel, [products, router.having(rank=1)]))


def test_work_of_another_stream_in_between_does_not_hide_a_chain():
    kernels = ran("Pow MatMulV3 ReduceMean Add Rsqrt MatMulV3 Mul Mul", stream=[1, 2, 1, 1, 1, 2, 1, 1])
    assert chains(kernels)["norm"]["kernels"] == 6.0


def test_another_kernel_beside_a_chain_takes_from_what_it_costs():
    awaited = Table.concat(Kernel, [ran(NORM, pause_us=6, stream=1), ran("MatMulV3:15", stream=2)])
    assert chains(awaited)["norm"]["unshared_us"] == 50.0


@pytest.mark.parametrize(
    ("replayed", "removed_us"),
    [
        (read_table(Removal, "rank kind name removed_us\n0 chain norm 40\n0 operator norm 3\n1 chain norm 4"), 40.0),
        (read_table(Removal, "rank kind name removed_us\n0 chain norm 900"), 65.0),  # 60 of work, 5 of pauses
        (read_table(Removal, "rank kind name removed_us\n0 chain rotary 4"), 65.0),
        (None, 65.0),
    ],
)
def test_a_chain_wins_what_a_replay_without_it_wins_and_no_more_than_its_work_and_pauses(replayed, removed_us):
    (norm,) = fusible_chains(ran(NORM), None, None, without=replayed, patterns=PATTERNS).rows()
    assert norm["removed_us"] == removed_us


@pytest.mark.parametrize(
    ("replayed", "spared_us"),
    [
        (read_table(Removal, "rank kind name fused_us\n0 chain norm 40\n1 chain norm 4"), 40.0),
        (read_table(Removal, "rank kind name fused_us\n0 chain norm 900"), 55.0),  # 65 from first to last, 10 remain
        (None, 55.0),
    ],
)
def test_a_fused_operator_wins_what_a_replay_with_it_wins_and_no_more_than_the_chains_last(replayed, spared_us):
    (norm,) = fusible_chains(ran(NORM), None, None, without=replayed, patterns=PATTERNS).rows()
    assert norm["spared_us"] == spared_us


def test_bytes_of_a_chain_go_where_shapes_tell_them():
    """Softmax reads and writes 2 KiB each, the logarithm as much: one pass of the longest remains."""
    told = {"input_shapes": "32,32", "input_dtypes": "FLOAT16", "output_shapes": "32,32", "output_dtypes": "FLOAT16"}
    known = ran("SoftmaxV2:20 Log", **told)
    assert chains(known)["cross-entropy"]["spared_bytes"] == 2 * 32 * 32 * 2
    assert chains(ran("SoftmaxV2:20 Log"))["cross-entropy"]["spared_bytes"] is None


TYPES = ["Pow", "ReduceMean", "Add", "Rsqrt", "Mul", "Cast", "Neg", "ConcatD", "Slice", "SoftmaxV2", "BatchMatMulV2",
         "MatMulV3", None]  # fmt: skip
PIECES = st.one_of(
    st.sampled_from([NORM, ROTARY, ATTENTION, "Pow ReduceMean Cast Add Rsqrt Mul"]).map(str.split),
    st.lists(st.sampled_from(TYPES), max_size=5),
    st.integers(1, 40).map(lambda count: ["LpNormV2"] * count),
    st.integers(1, 12).map(lambda count: ["Muls", "Axpy", "Axpy"] * count),
    st.integers(6, 20).map(lambda count: ["MatMulV3"] * count),
    st.just(["TopKV2"]),
)


@settings(max_examples=60)
@given(st.lists(st.tuples(PIECES, st.integers(0, 1)), max_size=6))
def test_chains_are_those_a_plain_search_finds(pieces):
    rows = [(name, stream) for types, stream in pieces for name in types]
    kernels = Table.build(
        Kernel,
        rank=[0] * len(rows),
        step=[1] * len(rows),
        op_type=[name for name, _ in rows],
        stream=[stream for _, stream in rows],
        start_ns=[1000 * place for place in range(len(rows))],
        duration_us=[1.0] * len(rows),
    )
    wanted: dict[str, list[int]] = defaultdict(list)
    for stream in (0, 1):
        for name, length in searched([name for name, own in rows if own == stream], {name for name, _ in rows}):
            wanted[name].append(length)
    found = chains(kernels)
    assert found.keys() == wanted.keys()
    for name, lengths in wanted.items():
        assert found[name]["chains"] == len(lengths)
        assert found[name]["kernels"] == pytest.approx(sum(lengths) / len(lengths))


GATE = "aten::silu aten::mul aten::mm aten::silu aten::mul"


def launched(
    functions: str, operators: str, *, linked: bool, inside: str = "", kind: str = "operator"
) -> tuple[Table[Kernel], HostRecords]:
    """Kernels of these types, each launched by one of these operators, `inside` of which another one may launch it."""
    kernels, names = ran(functions, stream=1), operators.split()
    begun = np.arange(len(names)) * 1000 + 100
    outer = Table.build(HostCall, rank=0, thread=7, kind=kind, name=names, start_ns=begun, end_ns=begun + 500)
    inner = Table.build(
        HostCall, rank=0, thread=7, kind=kind, name=[inside] * len(names), start_ns=begun + 100, end_ns=begun + 400
    )
    calls = Table.concat(HostCall, [outer, inner] if inside else [outer])
    launches = Table.build(
        Launch, rank=0, thread=7, stream=1, host_start_ns=begun + 200, device_start_ns=kernels["start_ns"]
    )
    links = Table.build(OperatorLink, rank=0, operator_start_ns=begun, device_start_ns=kernels["start_ns"])
    return kernels, HostRecords(calls, None, links) if linked else HostRecords(calls, launches, None)


@pytest.mark.parametrize("linked", [True, False])
def test_functions_that_others_wrote_are_the_operators_of_pytorch_that_launched_them(linked):
    kernels, host = launched("silu_kernel mul_func_rank_2 mm_kernel _silu_kernel mul_func_rank_2", GATE, linked=linked)
    recorded = {"kernels": kernels, "patterns": PATTERNS, **host._asdict()}
    (row,) = derive(fusible_chains, **recorded).rows()
    assert (row["pattern"], row["chains"], row["kernels"]) == ("swiglu", 2.0, 2.0)
    told = derive(chained_operators, **recorded).rows()
    assert {one["op_type"] for one in told} == {"silu_kernel", "mul_func_rank_2", "_silu_kernel"}
    assert not chains(kernels)


@pytest.mark.parametrize("linked", [True, False])
def test_what_cann_calls_by_its_type_is_that_and_not_its_operator(linked):
    kernels, host = launched("Sigmoid Mul MatMulV3 Sigmoid Mul", GATE, linked=linked)
    assert not len(fusible_chains(kernels, None, None, host=host, patterns=PATTERNS))


def test_a_function_launched_by_an_operator_of_somebody_else_stays_unknown():
    functions = "silu_kernel mul_kernel mm_kernel silu_kernel mul_kernel"
    for names, inside in ((GATE.replace("aten", "my_library"), ""), (GATE, "my_library::silu_and_mul")):
        kernels, host = launched(functions, names, linked=False, inside=inside)
        assert not len(fusible_chains(kernels, None, None, host=host, patterns=PATTERNS))
    kernels, host = launched(functions, GATE, linked=False, kind="python")
    assert not len(fusible_chains(kernels, None, None, host=host, patterns=PATTERNS))


def called(*chains_of_operators: str) -> ChainPatterns:
    """Patterns of operators of the framework: `gate: aten::silu! aten::mul`."""
    patterns = []
    for text in chains_of_operators:
        name, _, words = text.partition(": ")
        marked = words.split()
        members = tuple(ChainMember(word.strip("!?"), frozenset({word.strip("!?")}), "?" in word) for word in marked)
        anchor = next(at for at, word in enumerate(marked) if word.endswith("!"))
        patterns.append(ChainPattern(name, "Fused", (ChainOrder(members, anchor),), has_remedy=True))
    return ChainPatterns(tuple(patterns), PATTERNS.passed_over)


def called_in(program: str, *, linked: bool = True) -> tuple[Table[Kernel], HostRecords]:
    """Operators one after another, each with the kernels it launches: `aten::mul=Cast+Mul`, `aten::mul/aclnnMul=Mul`
    where it does so by a call of its own; one without `=` launches nothing."""
    calls = [word.partition("=")[::2] for word in program.split()]
    kernels = ran(" ".join(kernel for _, own in calls for kernel in own.split("+") if kernel), stream=1)
    owner = np.repeat(np.arange(len(calls)), [len(own.split("+")) if own else 0 for _, own in calls])
    begun = np.arange(len(calls)) * 1000 + 100
    names = [name.split("/") for name, _ in calls]
    inside = np.array([len(one) > 1 for one in names], bool)
    outer = Table.build(
        HostCall, rank=0, thread=7, kind="operator", name=[one[0] for one in names], start_ns=begun, end_ns=begun + 500
    )
    inner = Table.build(
        HostCall, rank=0, thread=7, kind="operator", name=[one[1] for one in names if len(one) > 1],
        start_ns=begun[inside] + 100, end_ns=begun[inside] + 400,
    )  # fmt: skip
    begun = begun + 100 * inside
    links = Table.build(OperatorLink, rank=0, operator_start_ns=begun[owner], device_start_ns=kernels["start_ns"])
    launches = Table.build(
        Launch, rank=0, thread=7, stream=1, host_start_ns=begun[owner] + 50, device_start_ns=kernels["start_ns"]
    )
    host = Table.concat(HostCall, [outer, inner])
    return kernels, HostRecords(host, None, links) if linked else HostRecords(host, launches, None)


SCALED_SILU = called("gate: aten::silu! aten::mul aten::div?")


@pytest.mark.parametrize(
    ("program", "found"),
    [
        ("aten::mm=MatMulV3 aten::silu=Swish aten::mul=Mul aten::mm=MatMulV3", (1, 2, 20)),
        ("aten::silu=Sigmoid+Mul aten::mul=Mul aten::mm=MatMulV3", (1, 3, 30)),
        ("aten::silu=Cast+Swish+Cast aten::mul=Cast+Mul+Cast", (1, 6, 60)),
        ("aten::silu=own_silu aten::view aten::mul=own_product", (1, 2, 20)),
        ("aten::silu=Swish aten::copy_=Cast aten::mul=Mul", (1, 3, 30)),
        ("aten::silu/aclnnSilu=Swish aten::mul/aclnnMul=Cast+Mul aten::mul/aclnnMul=Mul", (1, 3, 30)),
        ("aclnnSilu=Swish aclnnMul=Mul", None),
        ("aten::silu=Swish aten::mul=Mul aten::mul=Mul aten::silu=Swish aten::mul=Mul aten::div=RealDiv", (2, 2.5, 50)),
        ("aten::silu=Swish aten::add=Add aten::mul=Mul", None),
        ("aten::silu=Swish aten::mul aten::add=Add", None),
        ("aten::silu=Swish my::mul=Mul", None),
    ],
)
@pytest.mark.parametrize("linked", [True, False])
def test_a_chain_of_operators_of_the_framework_is_found_by_what_launched_the_kernels(program, found, linked):
    kernels, host = called_in(program, linked=linked)
    rows = fusible_chains(kernels, None, None, host=host, patterns=SCALED_SILU).rows()
    assert [(row["chains"], row["kernels"], row["total_us"]) for row in rows] == ([] if found is None else [found])
    assert not len(fusible_chains(kernels, None, None, patterns=SCALED_SILU))


def test_on_a_gpu_kernels_are_the_operators_that_launched_them():
    kernels = ran("Mul Mul Mul").having(op_type=["aten::silu", "aten::mul", "aten::mm"])
    assert fusible_chains(kernels, None, None, patterns=SCALED_SILU)["chains"].tolist() == [1.0]


PROGRAMS = st.lists(
    st.one_of(
        st.sampled_from([NORM, ATTENTION, ADAM, "Swish Mul", "Muls Sigmoid Mul"]).map(
            lambda types: [f"aten::{one.lower()}={one}" for one in types.split()]
        ),
        st.lists(
            st.sampled_from(
                ["aten::mul=Mul", "aten::mul=Cast+Mul", "aten::mul=Mul+Cast", "aten::silu=Swish", "aten::view",
                 "aten::silu=Sigmoid+Mul", "aten::silu=Swish+Muls+Sigmoid+Mul", "aten::copy_=Cast",
                 "aten::mm=MatMulV3", "aten::div=RealDiv"]
            ),
            min_size=1,
            max_size=6,
        ),
    ),
    max_size=8,
)  # fmt: skip


@settings(max_examples=200)
@example([["aten::silu=Swish+Muls+Sigmoid+Mul", "aten::mul=Mul"]])
@example([["aten::silu=Own", "aten::mul=Mul+Cast", *(f"my::{one}={one}" for one in NORM.split())]])
@given(PROGRAMS)
def test_each_kernel_belongs_to_one_chain_whether_found_by_its_type_or_by_its_operator(pieces: list[list[str]]) -> None:
    kernels, host = called_in(" ".join(word for piece in pieces for word in piece))
    widens = kernels.texts("op_type").isin(["Cast"])
    kernels = kernels.having(
        input_shapes=["64,128"] * len(kernels),
        input_dtypes=np.where(widens, "DT_BF16", "FLOAT").tolist(),
        output_dtypes=["FLOAT"] * len(kernels),
    )
    both = ChainPatterns((*PATTERNS.patterns, *SCALED_SILU.patterns), PATTERNS.passed_over)
    found = chains_in_steps(kernels, None, None, None, both, host=host)
    assert len(np.unique(found.row)) == len(found.row)
    assert found.size.sum() == len(found.row) == len(found.chain)
    for chain in range(len(found.size)):
        own = slice(found.begin[chain], found.begin[chain] + found.size[chain])
        assert (np.diff(found.row[own]) == 1).all()  # it is one run of the stream
        assert found.is_member[own].any()


def searched(types: list[str | None], all_types: set[str | None]) -> list[tuple[str, int]]:
    """Every chain of one stream and its length, by looking at each place in turn."""
    places = [place for place, name in enumerate(types) if name not in PATTERNS.passed_over]
    taken: set[int] = set()
    found = []
    every = [
        (pattern.name, order, form)
        for pattern in PATTERNS.patterns
        for order in pattern.orders
        if not order.beside or order.beside & all_types
        for form in forms(order)
    ]
    for pattern, order, form in sorted(every, key=lambda one: -len(one[2])):
        for begin in range(len(places) - len(form) + 1):
            here = places[begin : begin + len(form)]
            members = [order.members[one] for one in form]
            told = [not (one.vector or one.accumulates) for one in members]
            fits = all(told) and all(types[at] in one.types for at, one in zip(here, members, strict=True))
            near = all(after - before <= BETWEEN + 1 for before, after in pairwise(here))
            if fits and near and not taken & set(here):
                taken |= set(here)
                found.append((pattern, here[-1] - here[0] + 1))
    return found


def forms(order: ChainOrder) -> list[tuple[int, ...]]:
    """Every choice of optional members, the longest first, those of one length by their words."""
    numbers = range(len(order.members))
    optional = [at for at in numbers if order.members[at].optional]
    left_out = [gone for count in range(len(optional) + 1) for gone in combinations(optional, count)]
    chosen = [tuple(at for at in numbers if at not in gone) for gone in left_out]
    by_words = {tuple(order.members[at].word for at in form): form for form in chosen}
    return [by_words[words] for words in sorted(by_words, key=lambda words: (-len(words), words))]


SIDE = st.integers(1, 4).map(lambda side: 64 * side)


@settings(max_examples=60)
@given(
    sides=st.tuples(SIDE, SIDE, SIDE),
    form=st.sampled_from(["plain", "second turned", "first turned"]),
    half=st.booleans(),
    total=st.sampled_from(["FLOAT;FLOAT", "FLOAT;DT_BF16", "DT_BF16;DT_BF16"]),
)
def test_only_a_gradient_of_a_weight_is_added_up(
    sides: tuple[int, int, int], form: str, half: bool, total: str
) -> None:
    """A product of m x k and k x n, one of its factors turned; what is added to it has its shape, as a residual has."""
    m, k, n = sides
    factors = {"plain": f"{m},{k};{k},{n}", "second turned": f"{m},{k};{n},{k}", "first turned": f"{k},{m};{k},{n}"}
    kernels = ran(
        "MatMulV3 Cast Add",
        input_shapes=[factors[form], f"{m},{n}", f"{m},{n};{m},{n}"],
        input_dtypes=["DT_BF16;DT_BF16" if half else "FLOAT;FLOAT", "DT_BF16", total],
    )
    could_be_another = k in (m, n)
    expected = form == "first turned" and not could_be_another and half and "FLOAT" in total
    assert ("gradient-accumulation" in chains(kernels)) == expected
