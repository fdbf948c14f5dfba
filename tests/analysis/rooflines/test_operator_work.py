# SPDX-License-Identifier: Apache-2.0
"""What a kernel has to do, by its shapes: worked by hand, as published, and as laws."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.rooflines.operator_work import CUBE_WORKS, Work, work_of_kernel

SIDES = st.integers(1, 5000)


def work(op_type: str, inputs: str, outputs: str = "", *, dtypes: str = "", formats: str = "", out: str = "") -> Work:
    """The work of a kernel whose tensors are all BF16 in ND unless said."""
    types = dtypes or ";".join(["DT_BF16"] * (inputs.count(";") + 1))
    made = out or ";".join(["DT_BF16"] * (outputs.count(";") + 1))
    return work_of_kernel(op_type, None, inputs, types, formats, outputs, made)


def shape(*sides: int) -> str:
    return ",".join(map(str, sides))


@given(m=SIDES, k=SIDES, n=SIDES, across=st.booleans(), down=st.booleans())
def test_a_product_has_two_operations_per_multiply_add_whichever_factor_is_transposed(
    m: int, k: int, n: int, across: bool, down: bool
) -> None:
    left, right = shape(*((k, m) if across else (m, k))), shape(*((n, k) if down else (k, n)))
    found = work("MatMulV3", f"{left};{right}", shape(m, n))
    assert found.flops == 2 * m * k * n
    assert found.size_bytes == 2 * (m * k + k * n + m * n)
    assert found.dtype == "BF16"


@given(batch=st.integers(1, 64), m=SIDES, k=SIDES, n=SIDES, shared=st.booleans())
def test_batches_count_each_and_a_factor_may_serve_them_all(batch: int, m: int, k: int, n: int, shared: bool) -> None:
    right = shape(k, n) if shared else shape(batch, k, n)
    assert work("BatchMatMulV2", f"{shape(batch, m, k)};{right}", shape(batch, m, n)).flops == 2 * batch * m * k * n


@given(m=st.integers(1, 64), k=st.integers(1, 64), n=st.integers(1, 64))
def test_a_factor_in_blocks_is_the_same_product_padded_to_whole_blocks(m: int, k: int, n: int) -> None:
    blocks = shape(n, k, 16, 16)
    found = work("MatMulV2", f"{shape(m, 16 * k)};{blocks}", shape(m, 16 * n), formats="ND;FRACTAL_NZ")
    assert found.flops == 2 * m * 16 * k * 16 * n


@given(m=st.integers(1, 64), k=st.integers(1, 64), n=st.integers(1, 64))
def test_an_output_may_lie_in_blocks_as_its_factors_do(m: int, k: int, n: int) -> None:
    left, right = shape(k, m, 16, 16), shape(n, k, 16, 16)
    found = work("MatMulV2", f"{left};{right}", shape(n, m, 16, 16), formats="FRACTAL_NZ;FRACTAL_NZ")
    assert found.flops == 2 * 16**3 * m * k * n


@given(m=st.integers(1, 64), k=st.integers(1, 64), n=st.integers(1, 64), down=st.booleans())
def test_weights_of_four_bits_packed_by_eight_are_the_product_they_stand_for(
    m: int, k: int, n: int, down: bool
) -> None:
    """(k, n / 8) or (n, k / 8) in INT32, as npu_convert_weight_to_int4pack gives them."""
    packed = shape(8 * n, k) if down else shape(8 * k, n)
    found = work(
        "WeightQuantBatchMatmulV2",
        f"{shape(m, 8 * k)};{packed};{8 * n};",
        shape(m, 8 * n),
        dtypes="DT_BF16;INT32;DT_BF16;DT_BF16",
    )
    assert found.flops == 2 * m * 8 * k * 8 * n
    assert found.dtype == "BF16"


@given(m=st.integers(1, 64), k=st.integers(1, 8), n=st.integers(1, 8))
def test_packed_weights_may_lie_in_blocks(m: int, k: int, n: int) -> None:
    """[n / 64, k / 16, 16, 8] in INT32 (aclnnConvertWeightToINT4Pack)."""
    found = work(
        "WeightQuantBatchMatmulV2",
        f"{shape(m, 16 * k)};{shape(n, k, 16, 8)}",
        shape(m, 64 * n),
        dtypes="DT_BF16;INT32",
        formats="ND;FRACTAL_NZ",
    )
    assert found.flops == 2 * m * 16 * k * 64 * n


def test_experts_of_four_bits_move_half_a_byte_for_each_weight() -> None:
    found = work("GroupedMatmul", "64,256;8,256,16;8", "64,128", dtypes="INT8;INT32;INT64", out="DT_BF16")
    assert found.flops == 2 * 64 * 256 * 128
    assert found.size_bytes == 64 * 256 + 8 * 256 * 128 / 2 + 64 * 128 * 2 + 8 * 8


def test_sums_in_int32_that_are_scaled_back_are_no_packed_factors() -> None:
    """A bias in front of a quantised product has one axis, and what is dequantised is no factor."""
    found = work("QuantBatchMatmulV3", "16,32;32,64;64;64", "16,64", dtypes="INT8;INT8;FLOAT;INT32")
    assert found.flops == 2 * 16 * 32 * 64
    assert found.size_bytes == 16 * 32 + 32 * 64 + 64 * 4 + 64 * 4 + 16 * 64 * 2
    assert math.isnan(work("DequantSwigluQuant", "16,64;64", "16,32", dtypes="INT32;FLOAT").flops)


@pytest.mark.parametrize(
    ("left", "right", "flops"),
    [
        ("2,8,16,32", "2,1,32,64", 2 * 16 * 16 * 32 * 64),
        ("1,8,16,32", "2,8,32,64", 2 * 16 * 16 * 32 * 64),
        ("2,8,16,32", "8,32,64", 2 * 16 * 16 * 32 * 64),
        ("16,16,32", "2,8,32,64", 2 * 16 * 16 * 32 * 64),
        ("2,8,16,32", "2,4,32,64", None),
    ],
)
def test_a_factor_may_serve_some_of_the_batches(left: str, right: str, flops: int | None) -> None:
    found = work("BatchMatMulV2", f"{left};{right}", "2,8,16,64").flops
    assert math.isnan(found) if flops is None else found == flops


def test_weights_of_a_grouped_product_may_be_a_list() -> None:
    found = work("GroupedMatmul", "64,32;32,48;32,48;32,48;3", "64,48", dtypes="DT_BF16;DT_BF16;DT_BF16;DT_BF16;INT64")
    assert found.flops == 2 * 64 * 32 * 48
    assert found.size_bytes - found.least_bytes == 2 * 2 * 32 * 48


@given(rows=SIDES, k=SIDES, n=SIDES, groups=st.integers(1, 64), down=st.booleans())
def test_a_grouped_product_multiplies_each_row_by_the_weights_of_its_group(
    rows: int, k: int, n: int, groups: int, down: bool
) -> None:
    weights = shape(groups, *((n, k) if down else (k, n)))
    assert work("GroupedMatmul", f"{shape(rows, k)};{weights};{groups}", shape(rows, n)).flops == 2 * rows * k * n


@pytest.mark.parametrize(
    ("rows", "groups", "most", "least"),
    [(4, 64, 4, 1), (64, 8, 8, 1), (1, 64, 1, None), (64, 1, 1, None)],
)
def test_a_grouped_product_reads_the_weights_of_no_more_groups_than_it_has_rows(
    rows: int, groups: int, most: int, least: int | None
) -> None:
    found = work("GroupedMatmul", f"{shape(rows, 32)};{shape(groups, 32, 48)}", shape(rows, 48))
    tensors, each = 2 * rows * (32 + 48), 2 * 32 * 48
    assert found.size_bytes == tensors + most * each
    assert math.isnan(found.least_bytes) if least is None else found.least_bytes == tensors + least * each


def test_the_bytes_of_grouped_products_that_shapes_do_not_explain_are_not_known() -> None:
    found = work("GroupedMatmul", f"{shape(64, 32)};{shape(8, 32, 96)}", shape(64, 48))
    assert math.isnan(found.flops) and math.isnan(found.size_bytes)


@given(st.lists(st.tuples(SIDES, SIDES, SIDES), min_size=2, max_size=5))
def test_a_grouped_product_of_lists_is_the_sum_of_its_products(sizes: list[tuple[int, int, int]]) -> None:
    left, right, out = (
        ";".join(shape(one[first], one[last]) for one in sizes) for first, last in ((0, 1), (1, 2), (0, 2))
    )
    assert work("GroupedMatmul", f"{left};{right}", out).flops == sum(2 * m * k * n for m, k, n in sizes)


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs", "flops"),
    [
        ("MatMulV2", "81920,4096;8192,512", "4096,512", None),  # the factors share no side
        ("MatMulV3", "4096;4096,512", "512", None),
        ("MatMulV3", "a,b;4096,512", "4096,512", None),
        ("MatMulV3", "4096,4096", "4096,4096", None),
        ("BatchMatMulV2", "8,16,32;4,32,16", "8,16,16", None),
        ("GroupedMatmul", "128,64;8,64,32", "8,128,32", None),
        ("AllGatherMatmul", "128,48;64,32", "256,32", None),
        ("PagedAttentionMaskKernel", "128,64;64,32", "256,32", None),
        ("Add", "128,64;128,64", "128,64", None),
        ("MatMulV3", "4096,1024;4096,1024;4096", "4096,4096", 2 * 4096 * 1024 * 4096),
    ],
)
def test_operations_that_shapes_do_not_tell_are_missing(
    op_type: str, inputs: str, outputs: str, flops: float | None
) -> None:
    found = work(op_type, inputs, outputs).flops
    assert math.isnan(found) if flops is None else found == flops


@pytest.mark.parametrize(
    ("dtypes", "counted"),
    [("INT8;INT8", "INT8"), ("DT_BF16;INT8", "BF16"), ("FLOAT8_E4M3FN;FLOAT8_E4M3FN", "FP8"), ("FLOAT;FLOAT", "FLOAT")],
)
def test_weights_in_fewer_bits_are_multiplied_as_the_values_they_meet(dtypes: str, counted: str) -> None:
    assert work("QuantBatchMatmulV3", "64,128;128,256", "64,256", dtypes=dtypes).dtype == counted


MOBILENET = [(112, 32), (56, 64), (56, 128), (28, 128), (28, 256), (14, 256), *[(14, 512)] * 5, (7, 512), (7, 1024)]


@pytest.mark.parametrize("form", ["NCHW", "HWCN", "FRACTAL_Z"])
def test_depthwise_convolutions_of_mobilenet_are_the_published_three_percent_of_its_569_million_multiply_adds(
    form: str,
) -> None:
    """Howard et al. 2017 (arXiv 1704.04861): 569 million multiply-adds, of which 3.06 % in depthwise convolutions."""

    def weights(channels: int) -> str:
        sides = {"NCHW": (channels, 1, 3, 3), "HWCN": (3, 3, channels, 1), "FRACTAL_Z": (channels // 16 * 9, 1, 16, 16)}
        return shape(*sides[form])

    flops = sum(
        work("DepthwiseConv2D", f"1,{c},224,224;{weights(c)}", f"1,{c},{side},{side}", formats=f"NCHW;{form}").flops
        for side, c in MOBILENET
    )
    assert flops == 2 * 17_385_984
    assert flops / 2 / 569e6 == pytest.approx(0.0306, abs=0.0001)


def test_the_gradients_of_a_depthwise_convolution_take_as_much_as_itself() -> None:
    back = work("DepthwiseConv2DBackpropInput", "4;32,1,3,3;1,32,112,112", "1,32,112,112", formats="ND;NCHW;NCHW")
    weights = work("DepthwiseConv2DBackpropFilter", "1,32,112,112;4;1,32,112,112", "32,1,3,3", formats="NCHW;ND;NCHW")
    assert back.flops == weights.flops == 2 * 3_612_672
    assert back.cube_work == ""


def test_a_transposed_convolution_multiplies_each_value_it_is_given_by_all_weights_of_its_channel() -> None:
    """The first one of DCGAN: 4 x 4 pixels of 1024 channels to 8 x 8 of 512, kernels of 5 x 5."""
    found = work("Conv2DTranspose", "4;1,1024,4,4;1024,512,5,5", "1,512,8,8", formats="ND;NCHW;NCHW")
    assert found.flops == 2 * 4 * 4 * 1024 * 512 * 5 * 5


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs", "flops"),
    [
        # four ranks with 1024 rows each
        ("AllGatherMatmul", "1024,512;512,768", "4096,768;4096,512", 2 * 4096 * 512 * 768),
        ("AllGatherMatmulV2", "1024,512;768,512", "4096,768", 2 * 4096 * 512 * 768),
        ("MatmulReduceScatter", "4096,768;768,512", "1024,512", 2 * 4096 * 768 * 512),
        ("MatmulReduceScatterV2", "4096,768;512,768", "1024,512", 2 * 4096 * 768 * 512),
        ("MatmulAllReduce", "2,2048,768;768,512", "2,2048,512", 2 * 4096 * 768 * 512),
        ("MatmulAllReduceAddRmsNorm", "2,2048,768;768,512;512;2,2048,512;512", "2,2048,512", 2 * 4096 * 768 * 512),
        ("MatmulAlltoAll", "1024,512;512,768", "4096,192", 2 * 1024 * 512 * 768),
        ("AlltoAllMatmul", "4096,128;512,768", "1024,768", 2 * 1024 * 512 * 768),
        ("AlltoAllvGroupedMatMul", "1000,512;4,512,768", "1200,768", 2 * 1200 * 512 * 768),
        (
            "AlltoAllvGroupedMatMul",
            "1000,512;4,512,768;;;600,512;512,256",
            "1200,768;600,256",
            2 * 512 * (1200 * 768 + 600 * 256),
        ),
        ("GroupedMatMulAlltoAllv", "1200,768;4,768,512", "1000,512", 2 * 1200 * 768 * 512),
        ("AlltoAllAllGatherBatchMatMul", "16,64,128;4,512,256", "4,256,256", 2 * 4 * 256 * 512 * 256),
        ("BatchMatMulReduceScatterAlltoAll", "4,256,256;4,256,512", "16,64,128", 2 * 4 * 256 * 256 * 512),
        ("MatmulReduceScatter", "4096,768;512,512", "1024,512", None),
        ("MatmulAllReduce", "4096,768;768,512", "4096,256", None),
        ("AllGatherMatmul", "1024,512;512,768", "4096,512", None),
        ("AllGatherMatmul", "1024,512", "4096,512", None),
    ],
)
def test_a_product_beside_its_collective_counts_what_its_own_rank_multiplies(
    op_type: str, inputs: str, outputs: str, flops: int | None
) -> None:
    found = work(op_type, inputs, outputs)
    assert found.flops == pytest.approx(math.nan if flops is None else flops, nan_ok=True)
    if flops is not None:  # its time is that of the exchange too, so that its bytes tell nothing of it
        assert math.isnan(found.size_bytes) and found.cube_work == "" and not found.dense


@pytest.mark.parametrize(
    ("op_type", "inputs", "dtypes", "formats", "outputs", "flops"),
    [
        # an expert of DeepSeek-V3 (arXiv 2412.19437): 7168 wide, 2048 inside; 256 rows for 8 of them
        (
            "GroupedMatmulSwigluQuant",
            "256,7168;8,7168,4096;8,4096;256",
            "INT8;INT8;FLOAT;FLOAT",
            "",
            "256,2048;256",
            4096,
        ),
        (
            "GroupedMatmulSwigluQuantV2",
            "256,7168;8,128,448,16,32;8,4096;256",
            "INT8;INT8;FLOAT;FLOAT",
            "ND;FRACTAL_NZ;ND;ND",
            "256,2048;256",
            4096,
        ),
        ("GroupedMatmulFinalizeRouting", "256,7168;8,7168,4096;4096", "INT8;INT8;FLOAT", "", "32,4096", 4096),
        ("GroupedMatmulSwigluQuant", "256,7168;8,7168,4096", "INT8;INT8", "", "256,4096", None),
        ("GroupedMatmulFinalizeRouting", "256,7168;8,7168,512", "INT8;INT32", "", "32,4096", 4096),
    ],
)
def test_a_grouped_product_with_other_work_behind_it_multiplies_all_its_columns(  # noqa: PLR0917 - a kernel and its work
    op_type: str, inputs: str, dtypes: str, formats: str, outputs: str, flops: int | None
) -> None:
    found = work(op_type, inputs, outputs, dtypes=dtypes, formats=formats)
    assert found.flops == pytest.approx(math.nan if flops is None else 2 * 256 * 7168 * flops, nan_ok=True)
    assert flops is None or found.dtype == "INT8"


def test_the_products_before_latent_attention_of_deepseek_v3_are_worked_by_hand() -> None:
    """7168 wide, 1536 and 512 latent, 128 heads of 128 and 64 for positions (arXiv 2412.19437, section 4.2)."""
    parts = (7168 * 1536, 1536 * 128 * (128 + 64), 128 * 128 * 512, 7168 * (512 + 64))
    inputs = "2,16,7168;7168,1536;1536,24576;128,128,512;7168,576;1536;512"
    assert work("MlaProlog", inputs, "2,16,128,512").flops == 2 * 32 * sum(parts)
    mixed = "DT_BF16;DT_BF16;INT8;DT_BF16;DT_BF16;DT_BF16;DT_BF16"
    assert math.isnan(work("MlaProlog", inputs, "2,16,128,512", dtypes=mixed).flops)


@pytest.mark.parametrize(
    ("inputs", "outputs", "flops"),
    [
        ("64,1024;1024,4096;4096,1024", "64,1024", 2 * 64 * 2 * 1024 * 4096),
        ("64,1024;1024,5632;2816,1024", "64,1024", 2 * 64 * 3 * 1024 * 2816),  # the gate beside what it scales
        ("64,1024;8,1024,4096;8,4096,1024;8", "64,1024", 2 * 64 * 2 * 1024 * 4096),
        ("64,1024;1024,4096;4000,1024", "64,1024", None),
        ("64,1024;1024,4096", "64,1024", None),
    ],
)
def test_a_layer_in_one_kernel_is_both_of_its_products(inputs: str, outputs: str, flops: int | None) -> None:
    assert work("FFN", inputs, outputs).flops == pytest.approx(math.nan if flops is None else flops, nan_ok=True)


@pytest.mark.parametrize(
    ("inputs", "outputs", "flops"),
    [
        ("16,128,512;128,512,128", "16,128,128", 2 * 16 * 128 * 512 * 128),
        ("128,16,512;128,512,128", "16,128,128", 2 * 16 * 128 * 512 * 128),
        ("16,128,512;128,512,128", "16,16384", 2 * 16 * 128 * 512 * 128),
        ("16,128,512;128,256,128", "16,128,128", None),
        ("16,96,512;128,512,128", "16,96,128", None),
    ],
)
def test_a_batch_whose_rows_lie_between_is_the_same_product(inputs: str, outputs: str, flops: int | None) -> None:
    found = work("TransposeBatchMatMul", inputs, outputs).flops
    assert found == pytest.approx(math.nan if flops is None else flops, nan_ok=True)


@given(rows=SIDES, k=SIDES, n=SIDES, ranks=st.integers(1, 8), across=st.booleans())
def test_ranks_that_gather_or_scatter_rows_multiply_as_much_together_as_one_product_of_all(
    rows: int, k: int, n: int, ranks: int, across: bool
) -> None:
    weights = shape(*((n, k) if across else (k, n)))
    whole = work("MatMulV3", f"{shape(rows * ranks, k)};{weights}", shape(rows * ranks, n)).flops
    gathered = work("AllGatherMatmul", f"{shape(rows, k)};{weights}", shape(rows * ranks, n)).flops
    scattered = work("MatmulReduceScatter", f"{shape(rows * ranks, k)};{weights}", shape(rows, n)).flops
    assert gathered == scattered == whole


def test_the_first_convolution_of_resnet_50_has_the_published_118_million_multiply_adds() -> None:
    plain = work("Conv2D", "1,3,224,224;64,3,7,7", "1,64,112,112", formats="NCHW;NCHW")
    assert plain.flops == 2 * 118_013_952


def test_a_convolution_in_blocks_counts_the_padded_channels_forward_and_backward() -> None:
    """conv1 and conv3 of an AlexNet, as kernels of it name them."""
    first = work(
        "Conv2D", "32,1,224,224,8;121,4,16,8;64", "32,8,55,55,8", dtypes="FLOAT;FLOAT;FLOAT",
        formats="NC1HWC0;FRACTAL_Z;NCHW", out="FLOAT",
    )  # fmt: skip
    assert first.flops == 2 * 32 * 55 * 55 * 64 * 11 * 11 * 8
    third = 2 * 32 * 13 * 13 * 256 * 3 * 3 * 256
    back = work(
        "Conv2DBackpropInput", "4;288,16,16,8;32,32,13,13,8", "32,32,13,13,8", dtypes="INT32;FLOAT;FLOAT",
        formats="NCHW;FRACTAL_Z;NC1HWC0",
    )  # fmt: skip
    weights = work(
        "Conv2DBackpropFilter", "32,32,13,13,8;4;32,32,13,13,8", "288,16,16,8", dtypes="FLOAT;INT32;FLOAT",
        formats="NC1HWC0;NCHW;NC1HWC0",
    )  # fmt: skip
    assert (back.flops, weights.flops) == (third, third)
    assert back.dtype == "FLOAT"


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs", "size"),
    [
        ("Add", "128,64;128,64", "128,64", 3 * 2 * 128 * 64),
        ("Muls", "128,64;", "128,64", 2 * 2 * 128 * 64),
        ("Transpose", "128,64;2", "64,128", 2 * 2 * 128 * 64 + 2 * 2),
        ("StridedSlice", "128,64;2;2;2", "8,64", 2 * 2 * 8 * 64),
        ("GatherV2", "32000,64;128;1", "128,64", 2 * 2 * 128 * 64),
        ("ScatterNdUpdate", "32000,64;128;128,64", "32000,64", None),
        ("AsStrided", "128,64", "64", None),
        ("triton_kernel", "128,64", "128,64", None),
    ],
)
def test_bytes_are_what_must_be_moved_and_missing_where_shapes_do_not_tell(
    op_type: str, inputs: str, outputs: str, size: float | None
) -> None:
    found = work(op_type, inputs, outputs).size_bytes
    assert math.isnan(found) if size is None else found == size


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs", "dense"),
    [
        ("MatMulV3", "16,32;32,64", "16,64", True),
        ("BatchMatMulV2", "16,32;32,64", "16,64", True),
        ("BatchMatMulV2", "4,16,32;4,32,64", "4,16,64", False),
        ("WeightQuantBatchMatmulV2", "16,32;32,64", "16,64", False),
        ("GroupedMatmul", "16,32;4,32,64;4", "16,64", False),
        ("MatMulV3", "16,32;48,64", "16,64", False),
        ("Add", "16,64;16,64", "16,64", False),
    ],
)
def test_one_product_of_two_matrices_as_they_are_is_dense(op_type: str, inputs: str, outputs: str, dense: bool) -> None:
    assert work(op_type, inputs, outputs).dense is dense


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs", "most"),
    [
        ("SoftmaxV2", "32,1000", "32,1000", 2 * 64_000),
        ("GatherV2", "50000,1024;16", "16,1024", 2 * (50_000 * 1024 + 16 + 16 * 1024)),  # the table may be read whole
        ("IndexPut", "64,64;8", "64,64", 2 * (4096 + 8 + 4096)),
        ("aten::layer_norm", "32,1000", "", 2 * 64_000),  # writes as much as it reads, at most
        ("aten::mul", "4096,1;1,4096", "", 2 * (8192 + 4096 * 4096)),  # a side of 1 stretches
        ("aten::add", "64,64;32,64", "", math.nan),  # which does not fit
        ("aten::sort", "64,64", "", 2 * 2 * 4096 + 8 * 4096),  # values and indices
        ("aten::expand_copy", "64,1", "", math.nan),
        ("aten::where", "64,64;1;1", "", math.nan),
        ("aten::scatter_add_", "64,64;8,64;8,64", "", 2 * 2 * (4096 + 1024)),
        ("aten::embedding", "50000,1024;16", "", math.nan),  # nothing tells what comes out
        ("aten::repeat", "64,64", "", math.nan),
        ("MatMulV3", "64,64;64,64", "64,64", math.nan),
        ("aten::mm", "64,64;64,64", "", math.nan),
    ],
)
def test_what_an_operator_moves_at_most_are_its_inputs_and_outputs(
    op_type: str, inputs: str, outputs: str, most: float
) -> None:
    assert work(op_type, inputs, outputs).most_bytes == pytest.approx(most, nan_ok=True)


def test_a_type_of_unknown_size_leaves_the_bytes_missing_and_not_the_operations() -> None:
    found = work("MatMulV3", "16,32;32,64", "16,64", dtypes="DT_BF16;WORD")
    assert found.flops == 2 * 16 * 32 * 64 and math.isnan(found.size_bytes) and found.misaligned is None


@pytest.mark.parametrize(
    ("inputs", "formats", "misaligned"),
    [
        ("4096,4096;4096,4096", "ND;ND", False),
        ("4096,4097;4097,4096", "ND;ND", True),
        ("4096,4096;4096,4104", "ND;ND", True),
        ("4096,48;128,3,16,16", "ND;FRACTAL_NZ", True),
        ("4096,256;128,16,16,16", "ND;FRACTAL_NZ", False),
    ],
)
def test_rows_are_aligned_where_they_are_whole_pieces_of_512_bytes(inputs: str, formats: str, misaligned: bool) -> None:
    left, right = inputs.split(";")
    n = right.split(",")[-1] if formats == "ND;ND" else "2048"
    found = work("MatMulV3", inputs, f"{left.split(',')[0]},{n}", formats=formats)
    assert found.misaligned is misaligned


@pytest.mark.parametrize(
    ("op_type", "function", "inputs", "flops"),
    [
        ("aten::mm", "nvjet_hsh_128x256", "512,256;256,1024", 2 * 512 * 256 * 1024),
        ("aten::addmm", "sm90_xmma_gemm_bf16", "1024;512,256;256,1024", 2 * 512 * 256 * 1024),
        ("aten::bmm", None, "8,512,256;8,256,1024", 2 * 8 * 512 * 256 * 1024),
        ("aten::mm", "cublasLt::splitKreduce_kernel", "512,256;256,1024", None),
        ("aten::mm", "at::native::elementwise_kernel", "512,256;256,1024", None),
        ("aten::mm", "nvjet_hsh_128x256", "512,256;512,1024", None),
    ],
)
def test_of_a_product_on_a_gpu_the_function_that_multiplies_does_the_work(
    op_type: str, function: str | None, inputs: str, flops: float | None
) -> None:
    found = work_of_kernel(op_type, function, inputs, "DT_BF16;DT_BF16;DT_BF16", None, None, None).flops
    assert math.isnan(found) if flops is None else found == flops


@pytest.mark.parametrize(
    ("function", "dtype"), [("ampere_sgemm_128x64_tn", "FLOAT"), ("cutlass_80_tensorop_s1688gemm_128x256", "TF32")]
)
def test_float32_that_a_gpu_multiplies_in_fewer_bits_is_called_so(function: str, dtype: str) -> None:
    assert work_of_kernel("aten::mm", function, "64,128;128,256", "FLOAT;FLOAT", None, None, None).dtype == dtype


@pytest.mark.parametrize(("columns", "misaligned"), [(2816, False), (2815, True), (2824, False), (2820, True)])
def test_rows_on_a_gpu_are_aligned_where_they_are_whole_pieces_of_16_bytes(columns: int, misaligned: bool) -> None:
    shapes = f"8944,1024;1024,{columns}"
    found = work_of_kernel("aten::mm", "nvjet_hsh_128x256", shapes, "DT_BF16;DT_BF16", None, None, None)
    assert found.misaligned is misaligned


@pytest.mark.parametrize(
    ("inputs", "outputs", "aligned"),
    [
        ("4096,4097;4097,4096", "4096,4096", "4096,4352;4352,4096"),  # the shared side in both
        ("4096,4096;4096,32003", "4096,32003", "4096,4096;4096,32256"),
        ("4096,4096;32003,4096", "4096,32003", ""),  # no row is as long as the odd side
        ("4097,4096;4097,2048", "4096,2048", ""),  # nor here, where rows are added up
        ("4096,4097;4096,2048", "4097,2048", "4096,4352;4096,2048"),
        ("8,1024,1000;8,1000,1024", "8,1024,1024", "8,1024,1024;8,1024,1024"),
        ("4096,48;48,4096", "4096,4096", ""),  # five times as much for nothing
        ("4096,4096;4096,4096", "4096,4096", ""),
        ("4096,4097;4095,4096", "4096,4096", ""),
    ],
)
def test_shapes_that_would_be_aligned_keep_the_side_that_both_factors_share(
    inputs: str, outputs: str, aligned: str
) -> None:
    assert work("BatchMatMulV2", inputs, outputs).aligned_shapes == aligned


@given(m=st.integers(1, 9000), k=st.integers(1, 9000), n=st.integers(1, 9000), down=st.booleans())
def test_a_product_in_its_aligned_shapes_is_aligned_and_little_larger(m: int, k: int, n: int, down: bool) -> None:
    plain = work("MatMulV3", f"{shape(m, k)};{shape(*((n, k) if down else (k, n)))}", shape(m, n))
    if plain.aligned_shapes:
        left, right = (tuple(map(int, one.split(","))) for one in plain.aligned_shapes.split(";"))
        out = shape(left[0], right[0] if down else right[1])
        better = work("MatMulV3", plain.aligned_shapes, out)
        assert better.misaligned is False and better.aligned_shapes == ""
        assert plain.flops < better.flops <= 1.25 * plain.flops


def test_rows_that_tensor_cores_take_are_padded_to_16_bytes() -> None:
    found = work_of_kernel("aten::mm", "nvjet_hsh", "8944,1024;1024,2815", "DT_BF16;DT_BF16", None, None, None)
    assert found.aligned_shapes == "8944,1024;1024,2816"


@pytest.mark.parametrize("side", ["9" * 20, "9" * 5000])
@pytest.mark.parametrize(
    "op_type", ["MatMulV3", "Add", "aten::mm", "Conv2D", "GroupedMatmul", "FlashAttentionScore", "Transpose"]
)
def test_a_tensor_that_no_memory_holds_tells_nothing(op_type: str, side: str) -> None:
    huge = ",".join([side] * 20)
    assert work(op_type, f"{huge};{huge};{huge}", huge) == work(op_type, "")


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs", "dtypes", "does", "least"),
    [
        ("MatMulV3", "16,32;32,64", "16,64", "", "product", 16),
        ("BatchMatMulV2", "4,160,320;4,320,64", "4,160,64", "", "batched", 64),
        ("BatchMatMulV3", "320,160;320,64", "160,64", "", "product", 64),
        ("GroupedMatmul", "1024,320;4,320,640;4", "1024,640", "", "grouped", 1024 / 4),
        ("GroupedMatmul", "1024,320;1024,640;4", "4,320,640", "", "grouped", 1024 / 4),
        ("GroupedMatmul", "160,320;320,320;320,64;320,640", "160,64;320,640", "", "grouped", 64),
        ("QuantBatchMatmulV3", "160,320;320,640;640", "160,640", "INT8;INT8;FLOAT", "quantised", 160),
        ("WeightQuantBatchMatmulV2", "160,320;320,640", "160,640", "BF16;INT8", "", 160),
        ("GroupedMatmul", "1024,320;4,320,640;4", "1024,640", "BF16;INT8;INT64", "", 1024 / 4),
        ("aten::bmm", "4,160,320;4,320,64", "", "", "batched", 64),
        ("aten::_scaled_mm", "160,320;320,64", "", "FP8;FP8", "quantised", 64),
        ("Add", "16,64;16,64", "16,64", "", "", None),
        ("MatMulV3", "16,32;48,64", "16,64", "", "", None),
    ],
)
def test_what_the_cube_unit_does_is_told_with_the_smallest_side_it_multiplies(  # noqa: PLR0917 - a kernel and its work
    op_type: str, inputs: str, outputs: str, dtypes: str, does: str, least: float | None
) -> None:
    found = work(op_type, inputs, outputs, dtypes=dtypes)
    assert found.cube_work == does and found.cube_work in ("", *CUBE_WORKS)
    assert found.least_side == pytest.approx(math.nan if least is None else least, nan_ok=True)


@pytest.mark.parametrize(
    ("inputs", "formats", "outputs", "least"),
    [
        ("8,64,56,56;256,64,3,3", "NCHW;NCHW", "8,256,56,56", 256),
        ("8,64,56,56;256,64,1,1", "NCHW;NCHW", "8,256,56,56", 64),
        ("1,64,2,2;256,64,3,3", "NCHW;NCHW", "1,256,2,2", 4),
    ],
)
def test_a_convolution_is_the_product_of_its_pixels_and_the_values_that_meet_one(
    inputs: str, formats: str, outputs: str, least: int
) -> None:
    found = work("Conv2D", inputs, outputs, formats=formats)
    assert (found.cube_work, found.least_side) == ("convolution", least)


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs", "width", "per_key"),
    [
        (
            "FlashAttentionScore",
            "4096,2,512;4096,2,512;4096,2,512;4096,4096",
            "2,4,4096,8;2,4,4096,8;4096,2,512",
            128,
            4,
        ),
        ("FlashAttentionScore", "2,8,256,64;2,8,256,64;2,8,256,64", "2,8,256,8;2,8,256,8;2,8,256,64", 64, 4),
        ("FlashAttentionScore", "512,8,64;512,2,64;512,2,64", "512,8,8;512,8,8;512,8,64", 64, 4),
        ("FlashAttentionScore", "512,8,192;512,8,192;512,8,128", "512,8,8;512,8,8;512,8,128", 192, 2 + 2 * 128 / 192),
        ("FlashAttentionScore", "2,256,512;2,256,512;2,256,512", "2,256,512", math.nan, 4),  # 4 heads or 8
        ("FlashAttentionScoreGrad", "2,256,512;2,256,512;2,256,512;2,256,512;2,4,256,8", "2,256,512", 128, 10),
    ],
)
def test_of_attention_the_width_of_a_head_and_what_one_more_key_costs_are_told(
    op_type: str, inputs: str, outputs: str, width: float, per_key: float
) -> None:
    found = work(op_type, inputs, outputs)
    assert found.head_width == pytest.approx(width, nan_ok=True)
    elements = math.prod(map(int, inputs.partition(";")[0].split(",")))
    assert found.flops_per_key == pytest.approx(per_key * elements)


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs"),
    [
        ("FusedInferAttentionScore", "32,8,128;2000,128,1024;2000,128,1024;;32;32,512", "32,8,128"),
        ("PagedAttentionOperation", "32,8,128;2000,128,8,128;2000,128,8,128;32,512;32", "32,8,128"),
        ("PagedAttentionMaskNdKernel", "32,8,128;2000,128,8,128;2000,128,8,128;32,512;32", "32,8,128"),
        ("PagedMultiLatentAttention", "32,16,512;2000,128,1,512;2000,128,1,64;32,512", "32,16,512"),
        ("IncreFlashAttention", "32,1,1024;32,8192,1024;32,8192,1024", "32,1,1024"),
        ("PromptFlashAttention", "1,8,4096,128;1,8,8192,128;1,8,8192,128", "1,8,4096,128"),
        ("SparseFlashAttention", "32,16,512;2000,128,1,512;2000,128,1,512;32,1,2048", "32,16,512"),
        ("LightningIndexer", "32,64,128;2000,128,1,128;32,64", "32,1,2048"),
        ("KvRmsNormRopeCache", "32,1,1,576;512;32;2000,128,1,64;2000,128,1,512", "2000,128,1,64;2000,128,1,512"),
        ("DequantRopeQuantKvcache", "32,1,3072;32,1,1,128;32,1,1,128;2000,128,8,128;2000,128,8,128", "32,1,8,128"),
        ("ReshapeAndCacheOperation", "32,8,128;32,8,128;2000,128,8,128;2000,128,8,128;32", "2000,128,8,128"),
    ],
)  # fmt: skip
def test_nothing_is_promised_from_a_cache_of_which_a_call_reads_what_its_requests_have_kept(
    op_type: str, inputs: str, outputs: str
) -> None:
    """Shapes show all places there are, not how many tokens each request holds."""
    found = work(op_type, inputs, outputs)
    assert all(math.isnan(one) for one in (found.flops, found.size_bytes, found.least_bytes, found.most_bytes))


A100, H100 = 312e12, 989.5e12
"""Dense bfloat16, as the sources of the shares below count."""
PUBLISHED = [
    # layers, width, tokens of a sequence, words, sequences, devices, seconds of a step, peak, share
    (48, 6144, 2048, 51200, 4, 8, 1.10, A100, 0.415),
    (96, 12288, 2048, 51200, 64, 64, 13.75, A100, 0.514),
    (105, 20480, 2048, 51200, 280, 280, 37.83, A100, 0.560),
    (128, 25600, 2048, 51200, 512, 512, 71.49, A100, 0.563),
    (32, 4096, 2048, 50368, 48, 8, 48 * 2048 / 85144, H100, 0.4644),
    (32, 4096, 8192, 50368, 128, 8, 128 * 8192 / 55481, H100, 0.3714),
]
"""Four models of Korthikanti et al., Reducing Activation Recomputation (arXiv 2205.05198), table 5, of 22, 175, 530 and
1000 billion parameters; MPT-7B at two lengths, scripts/train/benchmarking/README.md of mosaicml/llm-foundry."""


@pytest.mark.parametrize(
    ("layers", "width", "length", "words", "sequences", "devices", "seconds", "peak", "share"),
    PUBLISHED,
    ids=["22B", "175B", "530B", "1T", "MPT-7B", "MPT-7B, 8192 tokens"],
)
def test_the_kernels_of_a_step_come_to_the_published_mfu(  # noqa: PLR0917 - what was published of one model
    layers: int,
    width: int,
    length: int,
    words: int,
    sequences: int,
    devices: int,
    seconds: float,
    peak: float,
    share: float,
) -> None:
    """By the kernels of one sequence: forward, and each gradient as much again. A fused backward pass computes the
    scores once more, which is no work of the model and counts in none of these shares."""

    def product(k: int, n: int) -> float:
        forward = work("MatMulV3", f"{shape(length, k)};{shape(k, n)}", shape(length, n)).flops
        of_values = work("MatMulV3", f"{shape(length, n)};{shape(k, n)}", shape(length, k)).flops
        of_weights = work("MatMulV3", f"{shape(length, k)};{shape(length, n)}", shape(k, n)).flops
        return forward + of_values + of_weights

    heads = width // 128
    scores = f"1,{heads},{length},128;" * 3
    sums = f"1,{heads},{length},8"
    attention = work("FlashAttentionScore", scores.rstrip(";"), f"{sums};{sums};;1,{heads},{length},128").flops
    of_layer = product(width, 3 * width) + product(width, width) + product(width, 4 * width) + product(4 * width, width)
    done = layers * (of_layer + 3 * attention) + product(width, words)
    assert sequences * done / seconds / devices / peak == pytest.approx(share, rel=5e-3)
