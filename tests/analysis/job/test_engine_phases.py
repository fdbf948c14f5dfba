# SPDX-License-Identifier: Apache-2.0
"""What a step of an engine does is told by sizes, and by operators where sizes are missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.job.engine_phases import PHASES, StepSizes, sizes_of_steps, work_of_passes
from advisor.facts import read_table
from advisor.facts.observed import Kernel


def sizes_of(*steps: list[str]) -> StepSizes:
    """Of steps of kernels, each its type and, if recorded, its shapes."""
    rows = [(at, kernel if " " in kernel else f"{kernel} -") for at, step in enumerate(steps) for kernel in step]
    table = read_table(Kernel, "op_type input_shapes\n" + "\n".join(kernel for _, kernel in rows))
    return sizes_of_steps(work_of_passes(table), np.array([at for at, _ in rows]), len(steps))


def phases_of(*steps: list[str]) -> list[str]:
    return [PHASES[one] for one in sizes_of(*steps).phase.tolist()]


def model(tokens: int, requests: int, attention: str = "FusedInferAttentionScore") -> list[str]:
    layer = [f"MatMulV2 {tokens},64;64,192", f"ReshapeAndCacheNdKernel {tokens},2,64;{tokens},2,64", attention]
    return [*layer * 3, f"MatMulV2 {requests},64;64,9999"]


@given(st.integers(1, 600), st.integers(1, 600))
def test_a_step_reads_prompts_where_more_tokens_go_in_than_come_out(tokens: int, requests: int) -> None:
    """Up to twice as many may fill a batch up to the next size that was captured."""
    sizes = sizes_of(model(tokens, requests))
    assert (sizes.tokens[0], sizes.requests[0]) == (tokens, requests)
    assert phases_of(model(tokens, requests)) == ["prefill" if tokens > 2 * requests else "decode"]


@pytest.mark.parametrize(
    ("attention", "phase"),
    [
        ("PagedAttentionMaskNdKernel", "decode"),
        ("IncreFlashAttention", "decode"),
        ("PromptFlashAttention", "prefill"),
        ("UnpadFlashAttentionBF16NdKernel", "prefill"),
        ("FusedInferAttentionScore", "unknown"),
        ("vllm::unified_attention_with_output", "unknown"),
    ],
)
def test_attention_tells_the_phase_where_shapes_were_not_recorded(attention: str, phase: str) -> None:
    assert phases_of(["MatMulV2", "ReshapeAndCacheNdKernel", attention, "MatMulV2"]) == [phase]


def verifying(tokens: int, scored: int, requests: int) -> list[str]:
    """A step whose drafts are verified, and drafted anew by one layer that shares the last product."""
    drafts = [f"MatMulV2 {requests},64;64,192", f"ReshapeAndCacheNdKernel {requests},2,64", "FusedInferAttentionScore"]
    return [*model(tokens, scored), "rejection_greedy_sample_kernel", *drafts, f"MatMulV2 {requests},64;64,9999"]


def test_a_step_that_verifies_drafts_generates() -> None:
    """Of each request several tokens go in, and as many are scored; of a prompt beside them only the last is."""
    assert phases_of(verifying(48, 48, 16), verifying(560, 49, 17)) == ["decode", "mixed"]
    assert np.isnan(sizes_of(verifying(48, 48, 16)).requests[0])


def test_a_step_that_verifies_drafts_by_a_smaller_vocabulary_generates() -> None:
    step = [*verifying(48, 48, 16)[:-1], "MatMulV2 16,64;64,555"]
    assert phases_of(step) == ["decode"]


def test_attention_of_both_kinds_is_both() -> None:
    assert phases_of(["PagedAttentionMaskNdKernel", "UnpadFlashAttentionBF16NdKernel"]) == ["mixed"]
    both = [*model(512, 8, "PagedAttentionMaskNdKernel"), "UnpadFlashAttentionBF16NdKernel"]
    assert phases_of(both) == ["mixed"]


def test_each_step_is_told_by_itself() -> None:
    assert phases_of(model(512, 1), model(8, 8), [], model(16, 9)) == ["prefill", "decode", "unknown", "decode"]


def test_of_a_graph_without_shapes_the_product_behind_it_tells_the_requests() -> None:
    sizes = sizes_of(["MatMulV2", "ReshapeAndCacheNdKernel", "FusedInferAttentionScore", "MatMulV2 7,64;64,9999"])
    assert sizes.requests[0] == 7
    assert np.isnan(sizes.tokens[0])


def test_a_last_product_that_comes_more_often_gives_no_scores() -> None:
    """As where a model that drafts shares the weight, or where the scores were not recorded."""
    sizes = sizes_of(["MatMulV2 8,64;64,192", "MatMulV2 8,64;64,192"])
    assert np.isnan(sizes.requests[0])


@pytest.mark.parametrize(
    ("kernel", "rows"),
    [
        ("aten::mm 46,2880;2880,201088", 46),
        ("aten::addmm 640;888,2880;2880,640", 888),
        ("aten::linear 2,7,64;64,32;32", 14),
        ("MatMulV3 8,64;4,4,16,16", 8),
        ("_C_cache_ops::reshape_and_cache_flash 888,1,64;888,1,64", 888),
    ],
)
def test_rows_are_read_from_the_first_factor(kernel: str, rows: int) -> None:
    table = read_table(Kernel, f"op_type input_shapes\n{kernel}")
    assert work_of_passes(table).rows.tolist() == [rows]


@pytest.mark.parametrize(
    "shapes", ["", ";", "8", "x,y;z", ";64,9", "8,64;", "-1,-1;64,9", "²,²;³,³", "9" * 99 + ",1;1,9"]
)
def test_shapes_that_are_none_tell_nothing_and_end_nothing(shapes: str) -> None:
    table = read_table(Kernel, f'op_type input_shapes\nMatMulV2 "{shapes}"\nReshapeAndCacheNdKernel "{shapes}"')
    assert np.isnan(work_of_passes(table).rows[0])


@pytest.mark.parametrize("name", ["BatchMatMulV2", "aten::bmm", "GroupedMatmul", "MatMulV2Backward"])
def test_batches_and_groups_of_products_have_no_rows_of_tokens(name: str) -> None:
    table = read_table(Kernel, f"op_type input_shapes\n{name} 8,4,64;8,64,4")
    assert np.isnan(work_of_passes(table).rows).all()
