# SPDX-License-Identifier: Apache-2.0
"""Shapes that are no numbers, or numbers beyond any memory, tell nothing, and break nothing that is told by shapes."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.analysis.operators.cache_copies import cache_copies
from advisor.analysis.operators.run_time_paddings import run_time_paddings
from advisor.analysis.rooflines.lookups import bytes_of_rows
from advisor.analysis.steps.set_up_kernels import are_set_up
from advisor.facts.derived import OperatorShape
from advisor.facts.observed import Kernel
from advisor.facts.table import Table, Texts

DAMAGED = ["4,8,x", "4,8,²", "4,8," + "9" * 5000, "4,8,-1", "4,8;;x"]


@pytest.mark.parametrize("shape", DAMAGED)
def test_how_much_one_index_picks_is_not_told_by_damaged_shapes(shape: str) -> None:
    picked, sizes = Texts.of([shape.replace("8", "3", 1)]), Texts.of(["FLOAT16;INT64"])
    found = bytes_of_rows(Texts.of(["GatherV2"]), Texts.of([f"{shape};3"]), picked, sizes)
    assert np.isnan(found).all()


@pytest.mark.parametrize("shape", DAMAGED)
def test_neither_padding_nor_caches_are_told_by_damaged_shapes(shape: str) -> None:
    types = ["PadV3", "PromptFlashAttention", "ReshapeAndCache", "Index", "Cast", "Slice"]
    shapes = Table.build(
        OperatorShape,
        rank=0,
        op_type=types,
        core="MIX_AIC",
        input_shapes=shape,
        output_shapes=shape,
        total_us=[10.0] * len(types),
    )
    assert not [row for row in run_time_paddings(shapes).rows() if row["used_by"]]
    assert not len(cache_copies(shapes))


@pytest.mark.parametrize("shape", DAMAGED)
def test_what_reads_damaged_shapes_is_not_known_to_make_inputs(shape: str) -> None:
    start = np.array([0, 10_000, 500_000_000])
    kernels = Table.build(
        Kernel,
        rank=0,
        op_type=["DSARandomNormal", "Cast", "MatMul"],
        input_shapes=["", shape, "4,4;4,4"],
        output_shapes=[shape, shape, "4,4"],
        start_ns=start,
    )
    assert not are_set_up(kernels, np.arange(3), start, start + 5000, ()).any()
