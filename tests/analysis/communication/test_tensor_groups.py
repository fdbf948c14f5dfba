# SPDX-License-Identifier: Apache-2.0
"""Groups that engines open without a description carry tensor parallelism where each layer reduces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.communication.collective_calls import collective_calls
from advisor.facts import read_table
from advisor.facts.observed import Collective, Kernel
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

RUN = run_of_ranks(Run())
STORES = '"void vllm::reshape_and_cache_flash_kernel<x>"'


def kinds(
    layers: int, reduced: list[int], kind: str = "-", *, op: str = "allReduce", kernel: str = STORES, group: str = "3"
) -> set[object]:
    """Of a model of so many layers, 100 ns each, that calls something in these."""
    kernels = "\n".join(f"0 {kernel} {100 * number} 0.02" for number in range(layers))
    calls = "\n".join(f"0 {op} {group} {kind} {100 * number + 50} 0.01" for number in reduced)
    found = collective_calls(
        RUN,
        read_table(Collective, f"rank op group group_kind start_ns elapse_us\n{calls}"),
        read_table(Kernel, f"rank op_type start_ns duration_us\n{kernels}"),
    )
    return {row["group_kind"] for row in found.rows()}


@pytest.mark.parametrize("kind", ["-", "world"])
@pytest.mark.parametrize("kernel", [STORES, "ReshapeAndCacheNdKernel"])
def test_what_reduces_in_each_layer_of_a_served_model_is_tensor_parallel(kind: str, kernel: str) -> None:
    assert kinds(24, list(range(24)), kind, kernel=kernel) == {"tp"}
    assert kinds(24, sorted([*range(24), *range(24)]), kind, kernel=kernel) == {"tp"}


def test_calls_that_name_no_group_are_told_alike() -> None:
    assert kinds(24, list(range(24)), group="-") == {"tp"}


def test_a_layer_or_two_without_one_change_nothing() -> None:
    assert kinds(24, [number for number in range(24) if number not in (3, 17)]) == {"tp"}
    assert kinds(24, [number for number in range(24) if number % 8]) == {None}


def test_what_is_told_stays_and_what_else_is_called_in_each_layer_says_nothing() -> None:
    assert kinds(24, list(range(24)), "ep") == {"ep"}
    assert kinds(24, list(range(24)), op="allToAll") == {None}


def test_a_model_that_keeps_no_cache_or_has_few_layers_tells_nothing() -> None:
    assert kinds(24, list(range(24)), kernel="FlashAttentionScore") == {None}
    assert kinds(6, list(range(6))) == {None}


def test_one_reduction_in_a_step_is_not_of_the_layers() -> None:
    assert kinds(240, list(range(0, 240, 24)), "world") == {"world"}


FORWARD = ["MatMulV3", "RmsNorm", "MatMulV3", "SwiGlu"]
BACKWARD = ["SwiGluGrad", "MatMulV3", "RmsNormGrad", "MatMulV3"]


def kinds_in_training(
    order: list[str], *, size: int = 8 << 20, steps: int = 2, op: str = "allReduce", kind: str = "-"
) -> dict[str, object]:
    """By group: what it is for, in a step of these kernels; `+g` is a reduction in group g."""
    kernels, calls = [], []
    for step in range(steps):
        for place, name in enumerate(order):
            at = 1_000_000 * step + 1_000 * place
            if name.startswith("+"):
                calls.append(f"0 {step} {op} {name[1:]} {kind} {at} 0.5 {size}")
            else:
                kernels.append(f"0 {step} {name} {at} 0.5")
    found = collective_calls(
        RUN,
        read_table(Collective, "rank step op group group_kind start_ns elapse_us size_bytes\n" + "\n".join(calls)),
        read_table(Kernel, "rank step op_type start_ns duration_us\n" + "\n".join(kernels)),
    )
    return {str(row["group"]): row["group_kind"] for row in found.rows()}


SPLIT = [*["MatMulV3", "+t", "RmsNorm"] * 4, *["RmsNormGrad", "+t", "MatMulV3"] * 4, *["+d"] * 6]


@pytest.mark.parametrize("op", ["allReduce", "reduceScatter"])
def test_what_reduces_in_the_forward_pass_of_a_training_is_tensor_parallel(op: str) -> None:
    assert kinds_in_training(SPLIT, op=op) == {"t": "tp", "d": None}


def test_statistics_and_described_groups_are_left_as_they_are() -> None:
    assert kinds_in_training(SPLIT, size=4096) == {"t": None, "d": None}
    assert kinds_in_training(SPLIT, kind="dp") == {"t": "dp", "d": "dp"}


def test_gradients_of_the_step_before_are_not_of_the_forward_pass() -> None:
    late = [*["+d"] * 6, *FORWARD * 2, *BACKWARD * 2]
    assert kinds_in_training(late) == {"d": None}
    assert kinds_in_training([*FORWARD * 4, *["MatMulV3", "RmsNormGrad", "+d"] * 6]) == {"d": None}


def test_a_model_with_experts_may_scatter_their_tokens() -> None:
    experts = ["GroupedMatmul" if name == "MatMulV3" else name for name in SPLIT]
    assert kinds_in_training(experts, op="reduceScatter") == {"t": None, "d": None}
    assert kinds_in_training(experts) == {"t": "tp", "d": None}


def test_without_a_backward_pass_nothing_is_told() -> None:
    assert kinds_in_training(["MatMulV3", "+t", "RmsNorm"] * 8) == {"t": None}


@given(st.lists(st.tuples(st.integers(2, 6), st.integers(2, 6)), min_size=1, max_size=4))
def test_a_group_is_tensor_parallel_where_it_reduces_four_times_ahead_of_the_gradients_of_each_step(steps) -> None:
    kernels, calls = [], []
    for step, counts in enumerate(steps):
        kernels += [f"0 {step} MatMulV2 {1_000 * step + 10 * place} 0.001" for place in range(6)]
        kernels += [f"0 {step} LayerNormGrad {1_000 * step + 100} 0.001"]
        for group, count in zip("ab", counts, strict=True):
            places = [*range(count), *[50] * 8]  # those after the gradients tell nothing
            calls += [f"0 {step} allReduce {group} - {1_000 * step + 10 * at + 5} 0.001 {8 << 20}" for at in places]
    found = collective_calls(
        RUN,
        read_table(Collective, "\n".join(["rank step op group group_kind start_ns elapse_us size_bytes", *calls])),
        read_table(Kernel, "\n".join(["rank step op_type start_ns duration_us", *kernels])),
    )
    least = {group: min(counts) for group, counts in zip("ab", zip(*steps, strict=True), strict=True)}
    assert {str(row["group"]): row["group_kind"] for row in found.rows()} == {
        group: "tp" if count >= 4 else None for group, count in least.items()
    }
