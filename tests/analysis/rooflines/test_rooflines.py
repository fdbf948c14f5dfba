# SPDX-License-Identifier: Apache-2.0
"""What the chip of each rank can do, and how near the kernels of a shape come to it."""

from __future__ import annotations

import csv
import math
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.analysis.rooflines.rooflines import chip_limits, operator_rooflines, step_mfus
from advisor.chips.chip_files import shipped_chips
from advisor.facts.derived import (
    AttentionShape,
    ChipLimit,
    FrequencyUse,
    OperatorRoofline,
    OperatorShape,
    Overlap,
    OverlapSlowdown,
)
from advisor.facts.observed import Device, Frequency, Kernel
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from advisor.pipeline import diagnose, open_profile
from advisor.rules.catalog import Catalog

RUN = run_of_ranks(Run())

DEVICE = "chip cube_cores nominal_mhz"


def limit(run: Run, kernels: str, device: str | None = None) -> dict[str, object]:
    devices = None if device is None else read_table(Device, device)
    (row,) = chip_limits(run_of_ranks(run), shipped_chips(), read_table(Kernel, kernels), devices).rows()
    return row


@pytest.mark.parametrize(
    ("chip", "counted", "device", "told_by", "cube_mhz", "gbps"),
    [
        ("Ascend910B3", "-", None, "name", 36000, 1600),
        ("Ascend910B3", "33000", None, "counters", 33000, 1600),
        ("Ascend910B", "33000", f"{DEVICE}\nAscend910B 24 1850", "capture", 44400, 1600),
        ("Ascend910B", "-", None, "name", 30000, 800),
        ("", "43200", None, "counters", 43200, 1600),
        ("", "36010", f"{DEVICE}\n- - -", "counters", 36010, 1600),
        ("", "33000", None, "counters", 33000, 1600),
        ("", "30000", None, "counters", 30000, 800),
        ("Ascend910A", "-", None, "name", 32000, 1200),
        ("NVIDIA H100 80GB HBM3", "-", None, "name", None, 3350),
    ],
)
def test_what_the_capture_says_of_the_chip_counts_before_what_its_name_tells(  # noqa: PLR0917 - columns of the cases
    chip: str, counted: str, device: str | None, told_by: str, cube_mhz: float | None, gbps: float | None
) -> None:
    row = limit(Run(chip=chip), f"op_type cube_mhz\nMatMulV3 {counted}", device)
    assert (row["told_by"], row["cube_mhz"], row["memory_gbps"]) == (told_by, cube_mhz, gbps)


@pytest.mark.parametrize(("chip", "peak"), [("Ascend910B2", 353.9), ("Ascend910B4", 245.8), ("Ascend910A", 262.1)])
def test_the_peak_is_cores_times_clock_times_two_operations_of_a_cube(chip: str, peak: float) -> None:
    assert limit(Run(chip=chip), "op_type\nMatMulV3")["half_tflops"] == pytest.approx(peak, rel=1e-3)


def test_cycles_that_contradict_each_other_tell_no_clock() -> None:
    kernels = "op_type cube_mhz\nMatMulV3 36000\nMatMulV3 9000\nMatMulV3 18000"
    assert limit(Run(chip="Ascend910B3"), kernels)["told_by"] == "name"
    with pytest.raises(FactMissing):
        limit(Run(), kernels)


@pytest.mark.parametrize("chip", ["", "Ascend310P", "Ascend910X"])
def test_of_an_unknown_chip_nothing_is_said(chip: str) -> None:
    with pytest.raises(FactMissing):
        chip_limits(run_of_ranks(Run(chip=chip)), shipped_chips(), read_table(Kernel, "op_type\nMatMulV3"), None)


@pytest.mark.parametrize(
    ("chip", "counted", "device", "cores", "gib"),
    [
        ("", "43200", None, 24, 64),  # Ascend910B1, 910B2, 910_9381 and others: 24 cores and 64 GiB, all of them
        ("", "36000", None, 20, 64),
        ("", "30000", None, 20, None),  # Ascend910B4 has 32 GiB, 910B4-1 64
        ("", "50000", None, 20, None),  # none is so fast: the least of all whose kernels count
        ("Ascend910B", "43200", None, 24, 64),
        ("Ascend910B", "-", None, 20, None),  # the family by its name
        ("Ascend910B4", "43200", None, 20, 32),
        ("Ascend910B", "-", f"{DEVICE}\nAscend910B 24 1850", 24, 64),
        ("Ascend910B", "-", f"{DEVICE}\nAscend910B 25 1850", 25, None),
        ("NVIDIA H200", "-", None, 132, None),
        ("Ascend310P3", "-", None, 8, None),
    ],
)
def test_cores_and_memory_are_those_of_all_chips_that_it_may_be(
    chip: str, counted: str, device: str | None, cores: float, gib: float | None
) -> None:
    row = limit(Run(chip=chip), f"cube_mhz\n{counted}", device)
    assert row["cube_cores"] == cores
    assert row["memory_bytes"] == (None if gib is None else gib * 1024**3)


@pytest.mark.parametrize(
    ("chip", "counted", "device", "vector", "certain"),
    [
        ("Ascend910B2", "-", None, 48, 48),
        ("Ascend910B", "-", None, 40, None),  # the family by its name: 40 or 48
        ("Ascend910B", "43200", None, 48, 48),  # all chips of 24 cores have 48
        ("Ascend910B", "-", f"{DEVICE} vector_cores\nAscend910B 24 1850 48", 48, 48),
        ("Ascend910B", "-", f"{DEVICE} vector_cores\nAscend910B 25 1850 50", 50, 50),
        ("Ascend910B", "-", f"{DEVICE} vector_cores\nAscend910B 25 1850 -", 40, None),
        ("", "50000", None, 40, None),  # none is so fast
        ("Ascend910A", "-", None, None, None),  # they are part of the AI Cores
        ("NVIDIA H200", "-", None, None, None),
    ],
)
def test_vector_cores_are_certain_where_they_were_recorded_or_all_chips_have_as_many(
    chip: str, counted: str, device: str | None, vector: float | None, certain: float | None
) -> None:
    row = limit(Run(chip=chip), f"cube_mhz\n{counted}", device)
    assert (row["vector_cores"], row["certain_vector_cores"]) == (vector, certain)


@pytest.mark.parametrize(
    ("chip", "device", "certain"),
    [
        ("Ascend910B3", None, 20),
        ("Ascend910B", None, None),
        ("Ascend910B", f"{DEVICE}\nAscend910B 25 1850", 25),
    ],
)
def test_cube_cores_are_certain_where_the_name_is_of_one_chip_or_they_were_recorded(
    chip: str, device: str | None, certain: float | None
) -> None:
    assert limit(Run(chip=chip), "cube_mhz\n-", device)["certain_cube_cores"] == certain


@pytest.mark.parametrize(
    ("counted", "seen", "cores"),
    [
        ("35472 -", [1478], 24),  # by the clock that was recorded, and not 20 cores at 1800 MHz
        ("35472 -", [], 20),  # nobody recorded the clock
        ("35472 -", [1800, 1478], None),  # 20 cores at the one, or 24 at the other
        ("36000 0.9", [1500], 20),  # what utilisation is counted against is the clock the chip was built for
        ("43200 0.9", [1478], 24),
        ("43200 -", [1478], 24),  # no cores give that at the clock that was recorded
    ],
)
def test_cores_are_counted_at_the_clock_at_which_they_ran(counted: str, seen: list[float], cores: float | None) -> None:
    clocks = Table.build(Frequency, rank=[0] * len(seen), time_ns=list(range(len(seen))), mhz=np.array(seen, float))
    kernels = read_table(Kernel, f"cube_mhz cube_share\n{counted}")
    (row,) = chip_limits(run_of_ranks(Run(chip="Ascend910B")), shipped_chips(), kernels, None, clocks).rows()
    assert (row["cube_cores"], row["certain_cube_cores"]) == (cores or 20, cores)


@pytest.mark.parametrize(
    ("chip", "seen", "cube_mhz", "gib", "gbps"),
    [
        ("Ascend910B", [800, 1800], 36000, 64, 1600),  # Ascend910B3 is the least of those that run at 1800 MHz
        ("Ascend910B", [1500], 30000, None, 800),
        ("Ascend910B", [1850], 44400, 64, 1600),
        ("Ascend910B", [9e9], 30000, None, 800),  # no chip runs as fast: what was seen is damage
        ("Ascend910B", [math.nan], 30000, None, 800),
        ("Ascend910B4", [1800], 30000, 32, 800),
    ],
)
def test_of_a_family_it_is_no_chip_that_could_not_run_as_fast_as_was_seen(
    chip: str, seen: list[float], cube_mhz: float, gib: float | None, gbps: float
) -> None:
    clocks = Table.build(Frequency, rank=[0] * len(seen), time_ns=list(range(len(seen))), mhz=np.array(seen, float))
    (row,) = chip_limits(
        run_of_ranks(Run(chip=chip)), shipped_chips(), read_table(Kernel, "cube_mhz\n-"), None, clocks
    ).rows()
    assert (row["told_by"], row["cube_mhz"], row["memory_gbps"]) == ("name", cube_mhz, gbps)
    assert row["memory_bytes"] == (None if gib is None else gib * 1024**3)


@pytest.mark.parametrize("counted", ["43200", "50000", "30000"])
def test_a_process_that_was_sent_the_table_of_chips_knows_the_same(counted: str) -> None:
    sent = pickle.loads(pickle.dumps(shipped_chips()))  # noqa: S301 - our own
    kernels = read_table(Kernel, f"cube_mhz\n{counted}")
    here, there = (chip_limits(RUN, chips, kernels, None).rows() for chips in (shipped_chips(), sent))
    assert here == there


SHAPES = """
op_type  family      input_shapes         input_dtypes    input_formats output_shapes output_dtypes total_us mean_us hf32_share
MatMulV3 matmul      4096,1024;4096,1024  DT_BF16;DT_BF16 ND;ND         4096,4096     DT_BF16       1704     170.4   -
MatMulV3 matmul      32,9216;4096,9216    FLOAT;FLOAT     ND;ND         32,4096       FLOAT         300      300     0
Conv2D   convolution 1,3,224,224;64,3,7,7 FLOAT;FLOAT     NCHW;NCHW     1,64,112,112  FLOAT         30       30      1
Add      elementwise 4096,4096;4096,4096  DT_BF16;DT_BF16 ND;ND         4096,4096     DT_BF16       120      120     -
Custom   custom      4096,4096            DT_BF16         ND            4096,4096     DT_BF16       120      120     -
"""  # noqa: E501
LIMITS = """
rank chip       cube_mhz memory_gbps half_tflops bf16_tflops float_tflops
0    Ascend910B 33000    1600        270.336     270.336     67.584
"""


CORES = "rank cube_cores vector_cores certain_cube_cores certain_vector_cores\n0 24 48 24 48"


def waves_of(kernels: str, cores: str = CORES) -> list[tuple[object, object, object]]:
    rows = operator_rooflines(read_table(OperatorShape, kernels), read_table(ChipLimit, cores)).rows()
    return [(row["core_count"], row["waves"], row["unfilled_share"]) for row in rows]


def test_blocks_of_vector_kernels_run_on_vector_cores_and_those_of_products_on_cube_cores() -> None:
    kernels = """
    op_type             core           mac_share blocks input_shapes input_dtypes    output_shapes output_dtypes
    ReduceSumD          AI_VECTOR_CORE -         52     4096         FLOAT           1             FLOAT
    ReduceSum           MIX_AIV        0         48     4096         FLOAT           1             FLOAT
    matmul_kernel       AI_CORE        0.4       25     -            -               -             -
    MatMulV3            MIX_AIC        -         24     64,64;64,64  DT_BF16;DT_BF16 64,64         DT_BF16
    ZerosLike           AI_CORE        -         48     4096,4096    FLOAT           4096,4096     FLOAT
    Cast                AI_CPU         -         1      4096         FLOAT           4096          DT_BF16
    """
    assert waves_of(kernels) == [
        (48, 2, pytest.approx(44 / 96)),
        (48, 1, 0),
        (24, 2, pytest.approx(23 / 48)),
        (24, 1, 0),
        (None, None, None),  # versions that call all cores AI_CORE wrote that of vector kernels too
        (None, None, None),
    ]


def test_nobody_counts_waves_of_cores_whose_number_is_a_guess() -> None:
    family = "rank cube_cores vector_cores certain_cube_cores certain_vector_cores\n0 20 40 - -"
    assert waves_of("core blocks\nAI_VECTOR_CORE 52", family) == [(40, None, None)]
    assert waves_of("core blocks\nAI_VECTOR_CORE 0") == [(48, None, None)]


@given(blocks=st.integers(1, 5000), cores=st.integers(1, 100))
def test_what_is_left_of_all_waves_is_the_blocks(blocks: int, cores: int) -> None:
    table = f"rank vector_cores certain_vector_cores\n0 {cores} {cores}"
    ((_, waves, unfilled),) = waves_of(f"core blocks\nAI_VECTOR_CORE {blocks}", table)
    rounds = -(-blocks // cores)
    assert waves == rounds
    assert unfilled == pytest.approx(1 - blocks / (rounds * cores) if rounds > 1 else 0, abs=1e-12)
    assert 0 <= unfilled < 0.5


def rooflines() -> dict[str, dict[str, object]]:
    table = operator_rooflines(read_table(OperatorShape, SHAPES), read_table(ChipLimit, LIMITS))
    return {f"{row['op_type']} {row['dtype']}": row for row in table.rows()}


def test_a_real_product_comes_to_the_share_of_the_peak_that_its_counters_say() -> None:
    """4096 x 1024 x 4096 in 170.4 µs on 20 cores at 1650 MHz: 74.6 % of 270.3 TFLOP/s."""
    row = rooflines()["MatMulV3 BF16"]
    assert row["mfu"] == pytest.approx(0.746, abs=5e-4)
    assert row["tflops"] == pytest.approx(201.6, abs=0.1)
    assert (row["bound"], row["dense"], row["misaligned"]) == ("compute", True, False)
    assert row["roofline_share"] == row["mfu"] == row["best_share"]


def test_what_reads_a_large_weight_for_few_rows_is_bound_by_memory() -> None:
    row = rooflines()["MatMulV3 FLOAT"]
    moved = 4 * (32 * 9216 + 4096 * 9216 + 32 * 4096)
    assert (row["moved_bytes"], row["bound"]) == (moved, "memory")
    assert row["expected_us"] == pytest.approx(moved / 1600e3)
    assert row["mfu"] == pytest.approx(2 * 32 * 9216 * 4096 / 67.584e12 / 300e-6)


def test_a_product_is_told_what_its_clock_and_communication_beside_it_cost() -> None:
    clocks = read_table(FrequencyUse, "rank full_mhz\n1 1650\n0 1800")
    beside = """
    rank op_type  input_shapes             input_dtypes    slowdown extra_us apart
    0    MatMulV3 32,9216;4096,9216        FLOAT;FLOAT     1.5      30       true
    1    MatMulV3 4096,1024;1024,4096      DT_BF16;DT_BF16 2        90       true
    0    Add      4096,4096;4096,4096      DT_BF16;DT_BF16 1.4      40       false
    """
    shapes = """
    rank op_type  input_shapes        input_dtypes    mean_mhz
    0    MatMulV3 32,9216;4096,9216   FLOAT;FLOAT     1200
    0    MatMulV3 4096,1024;1024,4096 DT_BF16;DT_BF16 -
    0    Add      4096,4096;4096,4096 DT_BF16;DT_BF16 1800
    """
    given = read_table(OperatorShape, shapes), read_table(ChipLimit, LIMITS)
    rows = operator_rooflines(*given, None, clocks, read_table(OverlapSlowdown, beside)).rows()
    told = [[row[name] for name in ("mean_mhz", "full_mhz", "beside_slowdown", "beside_extra_us")] for row in rows]
    assert told == [[1200, 1800, 1.5, 30], [None, 1800, None, None], [1800, 1800, None, None]]
    (alone, *_) = operator_rooflines(*given, None, None, read_table(OverlapSlowdown, "rank apart\n0 false")).rows()
    assert alone["full_mhz"] is None and alone["beside_slowdown"] is None


def test_of_hf32_no_peak_is_known_and_of_a_kernel_somebody_wrote_nothing() -> None:
    rows = rooflines()
    assert (rows["Custom None"]["mega_flops"], rows["Custom None"]["moved_bytes"]) == (None, None)
    assert rows["Custom None"]["dense"] is False
    convolution = rows["Conv2D FLOAT"]
    assert (convolution["mfu"], convolution["expected_us"]) == (None, None)
    add = rows["Add None"]
    assert add["mega_flops"] is None and add["bound"] is None
    assert add["bandwidth_share"] == pytest.approx(3 * 2 * 4096**2 / 1600e3 / 120)


@pytest.mark.parametrize(("op_type", "hf32", "is_known"), [
    ("Conv2D", "0", True), ("Conv2D", "1", False), ("Conv2D", "0.5", False), ("Conv2D", "-", False),
    ("DepthwiseConv2D", "-", False), ("MatMulV3", "-", True), ("MatMulV3", "0.5", False),
])  # fmt: skip
def test_convolutions_in_float32_are_rounded_unless_a_capture_says_that_they_are_not(
    op_type: str, hf32: str, is_known: bool
) -> None:
    tensors = (
        "1024,1024;1024,1024 ND;ND 1024,1024" if "MatMul" in op_type else "1,64,56,56;64,64,3,3 NCHW;NCHW 1,64,56,56"
    )
    tensors = tensors.replace("64,64,3,3", "64,1,3,3") if "Depthwise" in op_type else tensors
    shapes = (
        "op_type input_shapes input_formats output_shapes input_dtypes output_dtypes total_us mean_us hf32_share\n"
        f"{op_type} {tensors} FLOAT;FLOAT FLOAT 100 100 {hf32}"
    )
    (row,) = operator_rooflines(read_table(OperatorShape, shapes), read_table(ChipLimit, LIMITS)).rows()
    assert row["mega_flops"] is not None
    assert (row["mfu"] is not None) is is_known


def test_keys_that_a_query_meets_follow_from_the_operations_that_marks_tell() -> None:
    """Causal attention of 4096 tokens: 2 products over 4096 / 2 keys for each query."""
    tensors = (
        "4096,2,512;4096,2,512;4096,2,512;4096,4096 DT_BF16;DT_BF16;DT_BF16;BOOL ND;ND;ND;ND 2,4,4096,8;4096,2,512"
    )
    shapes = (
        "op_type core family input_shapes input_dtypes input_formats output_shapes output_dtypes total_us mean_us\n"
        f"FlashAttentionScore MIX_AIC attention {tensors} FLOAT;DT_BF16 405 405"
    )
    told = (
        "op_type core input_shapes input_dtypes input_formats output_shapes mega_flops\n"
        f"FlashAttentionScore MIX_AIC {tensors} {4 * 2 * 4096 * 2048 * 512 / 1e6}"
    )
    given = read_table(OperatorShape, shapes), read_table(ChipLimit, LIMITS)
    (row,) = operator_rooflines(*given, read_table(AttentionShape, told)).rows()
    assert (row["cube_work"], row["least_side"], row["head_width"]) == ("attention", 2048, 128)
    (row,) = operator_rooflines(*given).rows()
    assert (row["mega_flops"], row["least_side"], row["head_width"]) == (None, None, 128)


@pytest.mark.parametrize(
    ("chip", "half", "widened", "single"),
    [
        ("Ascend910B2", 22.1184, 11.0592, 11.0592),  # 48 cores at 1.8 GHz: 128 values of FLOAT16, 64 of FLOAT, twice
        ("Ascend910B3", 18.432, 9.216, 9.216),
        ("Ascend910A", 8.192, 4.096, 4.096),  # 32 AI Cores at 1 GHz
        ("Ascend950", 47, 47, 24),
        ("NVIDIA H200", None, None, None),
    ],
)
def test_the_peak_of_vector_units_is_cores_times_clock_times_two_operations_of_each_lane(
    chip: str, half: float | None, widened: float | None, single: float | None
) -> None:
    row = limit(Run(chip=chip), "op_type\nMatMulV3")
    found = [row[f"vector_{name}_tflops"] for name in ("half", "bf16", "float")]
    assert found == [None if peak is None else pytest.approx(peak) for peak in (half, widened, single)]


def test_vector_units_of_a_chip_nobody_names_are_as_many_and_as_quick_as_its_cube_cores_tell() -> None:
    assert limit(Run(), "op_type cube_mhz\nMatMulV3 43200")["vector_half_tflops"] == pytest.approx(22.1184)
    assert limit(Run(chip="Ascend310P3"), "op_type\nMatMulV3")["vector_half_tflops"] is None


@pytest.mark.parametrize("dtype", ["half", "bf16", "float"])
def test_an_operation_on_a_value_takes_no_eighth_of_the_time_that_reading_and_writing_it_does(dtype: str) -> None:
    for chip in shipped_chips().chips:
        has_type = dtype != "bf16" or "BF16" in chip.peaks
        if chip.memory_gbps > 0 and (chip.lanes or chip.vector_tflops) and has_type:
            row = limit(Run(chip=chip.name), "op_type\nMatMulV3")
            bytes_ps = 2 * (4 if dtype == "float" else 2) / chip.memory_gbps * 1e3
            assert 1 / (float(str(row[f"vector_{dtype}_tflops"])) / 2) < bytes_ps / 8


@pytest.mark.parametrize(
    ("head", "dtype", "bound"),
    [
        (128, "DT_BF16", "compute"),
        (32, "DT_BF16", "vector"),  # 4 steps of FLOAT lanes for each score; two products of 32 values
        (80, "DT_BF16", "compute"),
        (48, "FLOAT16", "compute"),  # twice as many lanes
        (16, "FLOAT16", "vector"),
    ],
)
def test_attention_with_narrow_heads_is_bound_by_its_softmax(head: int, dtype: str, bound: str) -> None:
    """8 heads of 4096 queries and 4096 keys on an Ascend910B2: 4 x head operations for each of the pairs on its cubes,
    and 4 steps on its vector units, which take two operations of a multiply-add in one."""
    shape, pairs = f"1,8,4096,{head}", 8 * 4096 * 4096
    shapes = (
        "op_type core family input_shapes input_dtypes input_formats output_shapes output_dtypes total_us mean_us\n"
        f"FlashAttentionScore MIX_AIC attention {shape};{shape};{shape} {dtype};{dtype};{dtype} ND;ND;ND"
        f" 1,8,4096,8;{shape} FLOAT;{dtype} 900 900"
    )
    limits = chip_limits(
        run_of_ranks(Run(chip="Ascend910B2")), shipped_chips(), read_table(Kernel, "op_type\nMatMulV3"), None
    )
    (row,) = operator_rooflines(read_table(OperatorShape, shapes), limits).rows()
    vector = pairs * 4 / (48 * 1800 * (64 if dtype == "DT_BF16" else 128))
    assert row["compute_us"] == pytest.approx(pairs * 4 * head / (24 * 1800 * 8192))
    assert (row["vector_us"], row["bound"]) == (pytest.approx(vector), bound)
    assert row["expected_us"] == pytest.approx(max(row["compute_us"], row["memory_us"], vector))


def test_what_vector_units_take_is_said_of_attention_alone() -> None:
    assert all(row["vector_us"] is None for row in rooflines().values())


def test_what_a_grouped_product_of_few_rows_must_load_is_not_known() -> None:
    """64 rows may meet the weights of 1 to 64 groups; 24576 rows multiply for longer than all of them take to load."""
    shapes = """
    op_type       family input_shapes               input_dtypes          output_shapes output_dtypes mean_us total_us
    GroupedMatmul matmul 64,2048;64,2048,2816;64    DT_BF16;DT_BF16;INT64 64,2816       DT_BF16       85      850
    GroupedMatmul matmul 24576,2048;64,2048,2816;64 DT_BF16;DT_BF16;INT64 24576,2816    DT_BF16       1490    14900
    """
    few, many = operator_rooflines(read_table(OperatorShape, shapes), read_table(ChipLimit, LIMITS)).rows()
    assert few["mfu"] is not None
    assert [few[name] for name in ("moved_bytes", "roofline_share", "bandwidth_share", "bound")] == [None] * 4
    assert many["bound"] == "compute" and 0.5 < float(str(many["roofline_share"])) < 1
    assert few["best_share"] == many["roofline_share"]


@pytest.mark.parametrize(("unknown_us", "counted", "mfu"), [(30000, 0.952, 0.466), (200000, 0.75, None)])
def test_the_mfu_of_a_step_counts_what_is_known_over_its_whole_length_where_that_is_nearly_all(
    unknown_us: int, counted: float, mfu: float | None
) -> None:
    """137.4 TFLOP at 295 TFLOP/s are 466 ms of a second; where much is not known beside it, that is the least."""
    kernels = f"""
    rank op_type             family    calls total_us mega_flops compute_us
    0    MatMulV3            matmul    1000  600000   137439     466
    0    FlashAttentionScore attention 10    {unknown_us} -      -
    0    Add                 elementwise 10  100000   -          -
    1    Add                 elementwise 10  100000   -          -
    """
    split = "rank step span_us\n0 1 900000\n0 2 1100000\n1 1 1000000"
    (row,) = step_mfus(read_table(OperatorRoofline, kernels), read_table(Overlap, split)).rows()
    assert (row["rank"], row["span_us"], row["mfu"], row["least_mfu"]) == (0, 1e6, mfu, 0.466)
    assert row["counted_share"] == pytest.approx(counted, abs=1e-3)
    assert row["tera_flops"] == pytest.approx(137.439)


@pytest.mark.parametrize(("unknown_us", "share"), [(400, 0.45), (1000, None)])
def test_the_share_of_bandwidth_of_a_step_counts_each_tensor_once_where_nearly_all_are_known(unknown_us, share) -> None:
    """What goes by indices moves no more than nobody knows; of others all inputs and outputs are what they move."""
    kernels = """
    rank op_type   family      calls total_us  compute_us memory_us most_memory_us goes_by_index
    0    MatMulV3  matmul      1     8000      6000       2000      -              false
    0    Add       elementwise 10    2000      -          -         250            false
    0    GatherV2  movement    1     UNKNOWN   -          -         90000          true
    """.replace("UNKNOWN", str(unknown_us))
    split = "rank step span_us\n0 1 10000"
    (row,) = step_mfus(read_table(OperatorRoofline, kernels), read_table(Overlap, split)).rows()
    assert (row["bandwidth_share"], row["least_bandwidth_share"]) == (share, 0.45)


@given(
    st.lists(
        st.tuples(st.sampled_from(["MatMulV3", "BatchMatMulV2"]), st.floats(20, 2000), st.floats(1, 1e5)),
        min_size=1,
        max_size=12,
    )
)
def test_nine_tenths_of_the_time_reach_no_more_than_the_best_share(rows: list[tuple[str, float, float]]) -> None:
    shapes = Table.build(
        OperatorShape,
        rank=np.zeros(len(rows), int),
        op_type=[row[0] for row in rows],
        family=["matmul"] * len(rows),
        input_shapes=["512,512;512,512"] * len(rows),
        input_dtypes=["FLOAT16;FLOAT16"] * len(rows),
        output_shapes=["512,512"] * len(rows),
        output_dtypes=["FLOAT16"] * len(rows),
        mean_us=[row[1] for row in rows],
        total_us=[row[2] for row in rows],
    )
    found = operator_rooflines(shapes, read_table(ChipLimit, LIMITS)).rows()
    share = sorted((float(str(row["roofline_share"])), float(str(row["total_us"]))) for row in found)
    whole, running = math.fsum(weight for _, weight in share), 0.0
    best = share[-1][0]
    for reached, weight in share:
        running += weight
        if running >= 0.9 * whole * (1 + 1e-12):
            best = reached
            break
    assert all(abs(float(str(row["best_share"])) - best) < 1e-12 or row["best_share"] == best for row in found)


def test_a_real_capture_that_names_no_chip_is_known_by_what_its_kernels_counted(real_data: Path) -> None:
    """24 cores at 1800 MHz; a product of tensors by a number comes to the bandwidth of 1.6 TB/s and not beyond."""
    profile = open_profile(real_data / "msinsight_pytorch_matrix" / "text" / "level1")
    limits = profile.table(ChipLimit)
    assert limits["cube_mhz"] == pytest.approx([43200, 43200], rel=1e-4)
    assert limits["half_tflops"] == pytest.approx([353.9, 353.9], abs=0.1)
    rows = {(row["rank"], row["op_type"]): row for row in profile.table("operator_rooflines").rows()}
    assert rows[0, "ForeachMulScalar"]["bandwidth_share"] == pytest.approx(1, abs=0.02)


@pytest.mark.parametrize(
    "capture",
    [
        "msinsight_pytorch_matrix/text/level1",
        "msinsight_pytorch_matrix/text/level2",
        "msinsight_pytorch_matrix/db/level1",
        "msinsight_pytorch_matrix/db/level2",
        "helix_fixtures/standalone_real_output",
        "helix_fixtures/msprof_real_output",
        "msprof_analyze_tests/ut/advisor/compute_advice/data",
        "gpu_kineto_models/h100_qwen1.5-0.5b.json.gz",
        "gpu_kineto_models/h100_vit_classifier.json.gz",
        "gpu_kineto_models/b200_eager.json.gz",
    ],
)
def test_nothing_is_said_of_real_products_that_run_as_they_can(capture: str, real_data: Path) -> None:
    catalog = advisor.load_rules()
    alone = Catalog(tuple(rule for rule in catalog.rules if rule.id == "compute/below-roofline"))
    assert diagnose(open_profile(real_data / capture), alone).findings == ()


def test_kernels_of_real_captures_take_as_long_as_whole_waves_of_their_blocks(real_data: Path) -> None:
    """Two captures at 1800 MHz: cycles of all blocks over their number are those of one, and it takes so many waves."""
    seen = 0
    for capture in ("msinsight_pytorch_matrix/text/level1/rank0_ascend_pt", "helix_fixtures/standalone_real_output"):
        rows = advisor.load_profile(real_data / capture).table("operator_rooflines").rows()
        waves = {(row["op_type"], row["blocks"]): row["waves"] for row in rows if (row["waves"] or 1) > 1}
        with (real_data / capture / "ASCEND_PROFILER_OUTPUT" / "kernel_details.csv").open() as file:
            for kernel in csv.DictReader(file):
                several = waves.get((kernel["Type"], float(kernel["Block Dim"])))
                if several is not None:
                    cycles = max(float(kernel["aic_total_cycles"]), float(kernel["aiv_total_cycles"]))
                    of_block = cycles / float(kernel["Block Dim"]) / 1800
                    assert several * of_block == pytest.approx(float(kernel["Duration(us)"]), rel=0.03)
                    seen += 1
    assert seen == 11


def test_products_of_a_real_gpu_stay_below_its_peak(real_data: Path) -> None:
    profile = open_profile(real_data / "gpu_kineto_models" / "h100_qwen1.5-0.5b.json.gz")
    rows = profile.table("operator_rooflines").rows()
    large = [row["mfu"] for row in rows if row["op_type"] in ("aten::mm", "aten::addmm") and row["mfu"] is not None]
    assert len(large) == 4 and all(0.59 < float(str(share)) < 0.7 for share in large)


def test_the_operations_of_a_real_step_are_those_of_its_model(real_data: Path) -> None:
    """Qwen1.5-0.5B has 24 layers of 4·1024² and 3·1024·2816 weights, each met by 8944 tokens: 16 sequences of 559, in
    which 16 heads of 64 meet half of all pairs."""
    profile = open_profile(real_data / "gpu_kineto_models" / "h100_qwen1.5-0.5b.json.gz")
    weights = 24 * (4 * 1024**2 + 3 * 1024 * 2816)
    attention = 24 * 4 * 16 * 559**2 * 16 * 64 / 2
    (row,) = profile.table("step_mfus").rows()
    assert row["tera_flops"] == pytest.approx((2 * weights * 8944 + attention) / 1e12, rel=1e-3)
    assert float(str(row["counted_share"])) > 0.98 and row["mfu"] == pytest.approx(0.167, abs=1e-3)
