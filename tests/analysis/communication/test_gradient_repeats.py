# SPDX-License-Identifier: Apache-2.0
"""How many micro-batches a step accumulates shows in how often its gradients repeat."""

from __future__ import annotations

from math import gcd, isnan

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.communication.gradient_repeats import micro_batches_by_repeats
from advisor.facts.observed import Kernel
from advisor.facts.table import Table


def told(types: list[str], steps: int = 1) -> float:
    kernels = Table.build(
        Kernel,
        rank=0,
        step=[step for step in range(steps) for _ in types],
        op_type=types * steps,
        start_ns=[10_000 * place for place in range(len(types) * steps)],
        duration_us=1.0,
    )
    (found,) = {*micro_batches_by_repeats(kernels, np.zeros(steps, int), np.arange(steps)).tolist()}
    return found


def step_of(batches: int, layers: int, *, again: bool, head: bool) -> list[str]:
    """A step of equal layers, with an embedding or without; layers computed again before their backward pass or not."""
    forward, backward = ["RmsNorm", "SwiGlu"], ["SwiGluGrad", "RmsNormGrad"]
    passes = (forward if again else []) + backward
    one = [*["Embedding"] * head, *forward * layers, *passes * layers, *["EmbeddingDenseGradV2"] * head]
    return [*one * batches, "ApplyAdamW", "ApplyAdamW", "ReduceSum"]


@given(st.integers(1, 16), st.integers(1, 12), st.booleans())
def test_accumulated_micro_batches_are_told(batches: int, layers: int, again: bool) -> None:
    assert told(step_of(batches, layers, again=again, head=True), steps=2) == batches


@given(st.integers(1, 16), st.integers(1, 12))
def test_equal_layers_alone_are_told_apart_from_micro_batches_where_none_is_computed_again(
    batches: int, layers: int
) -> None:
    assert told(step_of(batches, layers, again=False, head=False)) == batches
    assert told(step_of(batches, layers, again=True, head=False)) == gcd(batches * layers, batches * layers)


def test_gradients_of_the_framework_are_told_alike() -> None:
    assert told(["aten::gelu", "aten::gelu_backward"] * 3) == 3


@pytest.mark.parametrize("types", [["MatMulV3"] * 4, ["RmsNormGrad"] * 3, ["RmsNorm"] * 3])
def test_what_does_not_run_both_ways_tells_nothing(types: list[str]) -> None:
    assert isnan(told(types))


def test_without_kernels_nothing_is_told() -> None:
    assert np.isnan(micro_batches_by_repeats(None, np.zeros(2, int), np.zeros(2, int))).all()
