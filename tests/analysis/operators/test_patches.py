# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.operators.patches import patch_convolutions
from advisor.facts.derived import ChipLimit
from advisor.facts.observed import Kernel
from advisor.facts.table import read_table

HEAD = "start_ns duration_us op_type input_shapes output_shapes input_formats input_dtypes"


def found(*rows: str):
    lines = [f"{number * 10**6} {row}" for number, row in enumerate(rows)]
    return patch_convolutions(read_table(Kernel, "\n".join([HEAD, *lines])), None, None).rows()


def conv(x: str, weight: str, y: str, formats: str = "NCHW;NCHW", op_type: str = "Conv2D"):
    return f"100 {op_type} {x};{weight} {y} {formats} FLOAT16"


PATCHES = [
    conv("8,3,224,224", "768,3,16,16", "8,768,14,14"),
    conv("8,3,224,224", "768,3,16,16", "8,768,14,14", "ND;ND", "Conv2DV2"),
    conv("8,1,224,224,16", "256,48,16,16", "8,48,14,14,16", "NC1HWC0;FRACTAL_Z"),
    conv("8,1,224,224,16", "256,48,16,16", "8,768,14,14", "NC1HWC0;FRACTAL_Z"),
    conv("8,3,224,224", "256,48,16,16", "8,768,14,14", "NCHW;FRACTAL_Z"),
    conv("8,224,224,3", "768,16,16,3", "8,14,14,768", "NHWC;NHWC"),
    conv("900,3,2,14,14", "1280,3,2,14,14", "900,1280,1,1,1", "NCDHW;NCDHW", "Conv3D"),
    conv("900,2,1,14,14,16", "392,80,16,16", "900,1,80,1,1,16", "NDC1HWC0;FRACTAL_Z_3D", "Conv3D"),
]
WORDS = ["Conv1D", "Conv2D", "Conv2DV2", "Conv2DV3", "Conv3D", "Conv3DV2", "Conv3DV3"]
OTHERS = [
    conv("8,64,56,56", "64,64,3,3", "8,64,56,56"),
    conv("8,64,56,56", "256,64,1,1", "8,256,56,56"),
    conv("8,3,224,224", "64,3,7,7", "8,64,112,112"),
    conv("32,1,224,224,8", "121,4,16,8", "32,8,55,55,8", "NC1HWC0;FRACTAL_Z"),
    conv("32,8,27,27,8", "200,12,16,8", "32,24,27,27,8", "NC1HWC0;FRACTAL_Z"),
    conv("8,64,56,56", "64,1,2,2", "8,64,28,28"),
    conv("8,3,226,226", "768,3,16,16", "8,768,14,14"),
]


@pytest.mark.parametrize("row", PATCHES)
def test_a_kernel_as_large_as_its_stride_is_told_in_every_format(row):
    assert [r["patches"] for r in found(row)] == [True]


def test_each_row_of_the_input_holds_so_many_patches_in_every_format():
    assert [r["places"] for r in found(*PATCHES)] == [196] * 6 + [1] * 2
    assert [r["places"] for r in found(conv("-", "-", "-").replace("-;-", "-"))] == [None]


@pytest.mark.parametrize("op_type", WORDS)
def test_convolutions_are_looked_at_by_each_of_their_names(op_type):
    assert len(found(conv("8,3,224,224", "768,3,16,16", "8,768,14,14", op_type=op_type))) == 1


@pytest.mark.parametrize("row", OTHERS)
def test_sliding_padded_grouped_and_pointwise_convolutions_are_none(row):
    assert found(row) == []


@pytest.mark.parametrize(
    "row", [conv("-", "-", "-").replace("-;-", "-"), conv("8,3", "4", "8"), conv("1,2,3", "4", "-")]
)
def test_what_shapes_do_not_tell_is_missing(row):
    assert [r["patches"] for r in found(row)] == [None]


@pytest.mark.parametrize("side", ["9" * 20, "9" * 5000])
def test_a_tensor_that_no_memory_holds_tells_nothing(side):
    huge = ",".join([side] * 4 + ["9" * 19] * 20)
    rows = found(conv(huge, huge, huge), f"100 MatMulV2 {huge};{huge} {huge} ND;ND FLOAT16")
    assert [row["patches"] for row in rows] == [None]


def test_the_gradient_and_what_multiplies_matrices_are_no_candidates():
    assert found(conv("8,3,224,224", "768,3,16,16", "8,768,14,14", op_type="Conv2DBackpropFilter")) == []


def test_the_product_takes_as_long_as_the_matrix_multiplications_of_this_capture_make_it():
    """1024³ in 100 µs of the same data type; the short and the float one say nothing."""
    rows = found(
        PATCHES[0],
        "100 MatMulV2 1024,1024;1024,1024 1024,1024 ND;ND FLOAT16;FLOAT16",
        "10 MatMulV2 512,1024;1024,512 512,512 ND;ND FLOAT16;FLOAT16",
        "100 MatMulV2 64,1024;1024,64 64,64 ND;ND FLOAT;FLOAT",
    )
    per_us = 2 * 1024**3 / 100
    assert rows[0]["product_us"] == pytest.approx(2 * (8 * 14 * 14) * (3 * 16 * 16) * 768 / per_us)
    assert rows[0]["total_us"] == rows[0]["unshared_us"] == 100


@pytest.mark.parametrize(
    ("turned", "blocked", "part"),
    [
        ("8,3,224,224", "8,1,224,224,16", 3 / 16),
        ("8,16,224,224", "8,1,224,224,16", 1),
        ("4,3,224,224", "4,1,224,224,16", 1),  # of another tensor
        ("3,8,224,224", "8,1,224,224,16", 8 / 16),  # of an axis that was moved as well: the more of it
        ("224,224", "8,1,224,224,16", 1),
    ],
)
def test_channels_that_pad_a_block_are_none_of_the_product(turned, blocked, part):
    layer = conv("8,1,224,224,16", "256,48,16,16", "8,48,14,14,16", "NC1HWC0;FRACTAL_Z")
    product = "100 MatMulV2 1568,768;768,768 1568,768 ND;ND FLOAT16"
    (plain,) = found(layer, product)
    (told,) = found(f"10 TransData {turned} {blocked} NCHW FLOAT16", layer, product)
    assert told["product_us"] == pytest.approx(plain["product_us"] * part)


def test_without_a_matrix_multiplication_of_its_type_nothing_is_estimated():
    rows = found(PATCHES[0], "100 MatMulV2 64,64;64,64 64,64 ND;ND FLOAT;FLOAT")
    assert rows[0]["product_us"] is None and rows[0]["rated_by"] is None


def test_where_nothing_is_multiplied_the_product_is_rated_by_a_tenth_of_the_peak_of_a_known_chip():
    limits = read_table(ChipLimit, "rank half_tflops\n0 300")
    kernels = read_table(Kernel, f"{HEAD}\n0 {PATCHES[0]}")
    (row,) = patch_convolutions(kernels, None, None, None, limits).rows()
    assert row["product_us"] == pytest.approx(2 * (8 * 14 * 14) * (3 * 16 * 16) * 768 / 30e6)
    assert row["rated_by"] == "chip"


@given(st.integers(1, 4), st.integers(1, 8), st.integers(1, 7), st.integers(1, 5), st.integers(0, 5))
def test_shapes_tell_what_the_layer_was_built_with(batch, channels, kernel, stride, outs):
    """The plain twin: the size of the output by the formula of a layer without padding, patch by patch."""
    side = outs * stride + kernel
    begins = range(0, side - kernel + 1, stride)
    row = conv(
        f"{batch},{channels},{side},{side}", f"9,{channels},{kernel},{kernel}", f"{batch},9" + f",{len(begins)}" * 2
    )
    covered = [at for begin in begins for at in range(begin, begin + kernel)]
    assert bool(found(row)) == (kernel > 1 and covered == list(range(side)))
