# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.operators.operators import operator_shapes
from advisor.analysis.rooflines.lookups import bytes_of_rows, gathers_along_last, picked_axis
from advisor.facts.derived import ChipLimit
from advisor.facts.observed import Kernel
from advisor.facts.table import Texts, read_table


def along_last(op_type: str | None, inputs: str | None, outputs: str | None) -> int:
    return int(gathers_along_last(Texts.of([op_type]), Texts.of([inputs]), Texts.of([outputs]))[0])


@pytest.mark.parametrize(
    ("inputs", "outputs", "told"),
    [
        ("32000,4096;8,512;1", "8,512,4096", 0),
        ("16,100000;1000;1", "16,1000", 1),
        ("8,16,5000;300;1", "8,16,300", 1),
        ("8,5000,16;300;1", "8,300,16", 0),
        ("5000;300;1", "300", 0),
        ("64,64;64;1", "64,64", 0),
        ("8,16;8,4", "8,4", -1),
        ("8,16", "8,4", -1),
        (None, "8,4", -1),
    ],
)
def test_the_axis_of_a_gather_is_told_by_its_shapes(inputs, outputs, told):
    assert along_last("GatherV2", inputs, outputs) == told


@pytest.mark.parametrize(
    ("op_type", "inputs", "outputs", "told"),
    [
        ("Index", "384,128,8,128;1,16", "1,16,128,8,128", 128 * 8 * 128 * 2),
        ("GatherV2", "32000,4096;8,512;1", "8,512,4096", 8192),
        ("GatherV2", "8,5000,16;300;1", "8,300,16", 32),
        ("IndexSelect", "16,100000;1000", "16,1000", 2),
        ("Index", "16,4;7;7", "7", None),
        ("Index", "16,4", "7,4", None),
        ("Mul", "16,4;16,4", "16,4", None),
        ("Index", None, None, None),
    ],
)
def test_a_gather_reads_in_one_piece_what_lies_behind_its_axis(op_type, inputs, outputs, told):
    columns = (Texts.of([op_type]), Texts.of([inputs]), Texts.of([outputs]), Texts.of(["FLOAT16;INT64"]))
    (found,) = bytes_of_rows(*columns).tolist()
    assert found == told if told is not None else np.isnan(found)


def test_what_is_no_gather_picks_nothing():
    assert along_last("Mul", "16,100000;1000;1", "16,1000") == 0
    assert along_last("Mul", None, None) == 0


def test_what_has_no_type_may_be_a_gather():
    assert along_last(None, "16,100000;1000;1", "16,1000") == -1


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.lists(st.integers(1, 9), max_size=2), st.data())
def test_the_axis_agrees_with_what_numpy_takes(shape, index, data):
    axis = data.draw(st.integers(0, len(shape) - 1))
    taken = np.take(np.zeros(shape), np.zeros(index, int), axis).shape
    if not taken:
        return
    found, axes = picked_axis(";".join(",".join(map(str, one)) for one in (shape, index)), ",".join(map(str, taken)))
    assert found is not None
    assert found <= axis
    assert axes == len(shape)
    assert np.take(np.zeros(shape), np.zeros(index, int), found).shape == taken


def test_operators_say_of_their_shapes_which_axis_they_pick_along():
    kernels = "start_ns duration_us op_type input_shapes output_shapes\n0 5 GatherV2 16,90;10;1 16,10\n9000 5 Mul 8;8 8"
    rows = operator_shapes(read_table(Kernel, kernels), None, None).rows()
    assert {row["op_type"]: row["picks_last"] for row in rows} == {"GatherV2": True, "Mul": False}


def test_operators_say_what_one_pass_over_their_data_takes_where_the_chip_is_known():
    """16 rows of 90 in BF16, 10 indices and their axis, and 160 values, at 1600 GB/s; of products nothing."""
    kernels = (
        "start_ns duration_us op_type input_shapes input_dtypes output_shapes output_dtypes\n"
        "0 5 GatherV2 16,90;10;1 DT_BF16;INT64;INT64 16,10 DT_BF16\n"
        "9000 5 MatMulV3 16,90;90,10 DT_BF16;DT_BF16 16,10 DT_BF16"
    )
    limits = read_table(ChipLimit, "rank memory_gbps\n0 1600")
    known, unknown = (operator_shapes(read_table(Kernel, kernels), None, None, limits=one) for one in (limits, None))
    told = {row["op_type"]: row["most_memory_us"] for row in known.rows()}
    assert told == {"GatherV2": pytest.approx(2 * (1440 + 160) / 1.6e6 + 88 / 1.6e6), "MatMulV3": None}
    assert {row["most_memory_us"] for row in unknown.rows()} == {None}
