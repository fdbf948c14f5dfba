# SPDX-License-Identifier: Apache-2.0
"""Kernels with communication beside them are held against equal ones without, and noise is no slowdown."""

from __future__ import annotations

import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.operators.overlap_slowdowns import overlap_slowdowns
from advisor.facts.derived import OverlapSlowdown
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import Table, read_table
from advisor.machine.shipped_files import shipped_folder
from advisor.pipeline import diagnose, open_profile
from advisor.rules.catalog import Catalog

RULE = "compute/slowed-by-communication"
FAR = 1_000_000


def slowdowns(
    bare: list[int], beside: list[int], covered: float | list[float] = 1.0, **texts: str
) -> Table[OverlapSlowdown]:
    """Of kernels of so many µs without communication, then of others each of which a collective covers so far."""
    parts = covered if isinstance(covered, list) else [covered] * len(beside)
    starts = [FAR * number for number in range(len(bare) + len(beside))]
    kernels = Table.build(
        Kernel,
        rank=0,
        start_ns=starts,
        duration_us=[float(us) for us in (*bare, *beside)],
        **{"op_type": "MatMulV3", "input_shapes": "4,4;4,4", "core": "AI_CORE", **texts},
    )
    collectives = Table.build(
        Collective,
        rank=0,
        start_ns=starts[len(bare) :],
        elapse_us=[us * part for us, part in zip(beside, parts, strict=True)],
        op="allReduce",
    )
    return overlap_slowdowns(kernels, collectives, None)


def test_medians_are_compared_and_what_is_beyond_is_added_up() -> None:
    (row,) = slowdowns([10, 11, 12], [14, 15, 19]).rows()
    assert (row["bare_median_us"], row["beside_median_us"]) == (11, 15)
    assert row["slowdown"] == pytest.approx(15 / 11)
    assert (row["bare_calls"], row["beside_calls"]) == (3, 3)
    assert (row["beside_us"], row["at_bare_us"], row["extra_us"]) == pytest.approx((48, 33, 15))
    assert row["apart"] is True


def test_quarters_that_touch_are_noise() -> None:
    (row,) = slowdowns([10, 11, 16, 16], [11, 15, 19, 19]).rows()
    assert row["apart"] is False


def test_kernels_that_are_covered_in_part_are_compared_with_none() -> None:
    (row,) = slowdowns([10, 11, 12], [14, 15, 19], covered=0.8).rows()
    assert (row["beside_calls"], row["beside_median_us"], row["slowdown"]) == (0, None, None)
    assert (row["beside_us"], row["at_bare_us"], row["extra_us"], row["apart"]) == (0, 0, 0, False)
    (row,) = slowdowns([10, 11, 12], [14, 15, 19], covered=0.95).rows()
    assert (row["beside_calls"], row["partly_calls"], row["partly_extra_us"]) == (3, 0, 0)


def test_kernels_that_are_covered_in_part_lose_what_they_take_longer() -> None:
    (row,) = slowdowns([10, 11, 12], [14, 15, 19], covered=0.8).rows()
    assert (row["partly_calls"], row["partly_extra_us"]) == (3, 15)


def test_of_too_few_beside_communication_nothing_is_told_where_others_are_covered_in_part() -> None:
    (row,) = slowdowns([10, 11, 12], [14, 15, 19, 30, 30], covered=[0.8, 0.8, 0.8, 1.0, 1.0]).rows()
    assert (row["beside_calls"], row["beside_us"], row["extra_us"], row["partly_calls"]) == (0, 0, 0, 3)


def test_kernels_that_only_run_without_communication_are_compared_with_none() -> None:
    assert not len(slowdowns([10, 11, 12], []))
    assert not len(slowdowns([10, 11, 12], [14, 15], covered=0.8))


def test_kernels_that_are_covered_in_part_lose_no_more_than_that_part() -> None:
    (row,) = slowdowns([10, 11, 12], [20, 20, 20], covered=0.1).rows()
    assert row["partly_extra_us"] == pytest.approx(6)


def test_what_is_noise_of_kernels_that_are_covered_in_part_is_no_loss() -> None:
    (row,) = slowdowns([10, 11, 16, 16], [11, 15, 19, 19], covered=0.8).rows()
    assert row["partly_extra_us"] == 0


@pytest.mark.parametrize(("bare", "beside"), [([10, 11], [14, 15, 19]), ([10, 11, 12], [14, 15]), ([], [])])
def test_fewer_than_three_either_way_say_nothing(bare: list[int], beside: list[int]) -> None:
    assert not len(slowdowns(bare, beside))


@pytest.mark.parametrize("texts", [{"op_type": "MatmulReduceScatter"}, {"input_shapes": "-"}, {"op_type": "-"}])
def test_what_waits_for_others_and_what_has_no_shape_is_left_out(texts: dict[str, str]) -> None:
    given_texts = {name: None if text == "-" else text for name, text in texts.items()}
    assert not len(slowdowns([10, 11, 12], [14, 15, 19], **given_texts))  # type: ignore[arg-type]


def test_without_a_kernel_or_a_collective_there_is_nothing() -> None:
    kernels = read_table(Kernel, "rank op_type input_shapes start_ns duration_us\n0 - - 0 5")
    assert not len(overlap_slowdowns(kernels, Table.empty(Collective), None))
    assert not len(overlap_slowdowns(Table.empty(Kernel), Table.empty(Collective), None))


times = st.lists(st.integers(1, 900), min_size=3, max_size=12)


@given(bare=times, beside=times)
def test_the_extra_is_what_is_above_the_bare_median_and_never_more(bare: list[int], beside: list[int]) -> None:
    (row,) = slowdowns(bare, beside).rows()
    usual = statistics.median(bare)
    assert row["extra_us"] == pytest.approx(max(sum(beside) - len(beside) * usual, 0), abs=1e-6)
    assert row["extra_us"] <= sum(max(us - usual, 0) for us in beside) + 1e-6
    assert row["extra_us"] <= row["beside_us"]
    assert row["beside_median_us"] == pytest.approx(statistics.median(beside))
    if max(beside) <= min(bare):
        assert not row["apart"] and not row["extra_us"]


@given(bare=times, beside=times, covered=st.floats(0.05, 0.85))
def test_covered_in_part_no_more_is_lost_than_is_covered_or_taken_longer(
    bare: list[int], beside: list[int], covered: float
) -> None:
    (row,) = slowdowns(bare, beside, covered).rows()
    lost = row["partly_extra_us"]
    usual = statistics.median(bare)
    longer = sum(min(us - usual, us * covered) for us in beside)
    assert lost == 0 or lost == pytest.approx(longer, abs=0.01 * len(beside))
    assert 0 <= lost <= sum(beside) * covered + 0.01 * len(beside)
    if max(beside) <= min(bare):
        assert lost == 0


@pytest.mark.parametrize(
    "name",
    ["msinsight_pytorch_matrix/text/level0", "msinsight_pytorch_matrix/text/level1", "gpu_hta/nccl_parser_config"],
)
def test_on_real_captures_that_overlap_the_rule_is_quiet(name: str, real_data: Path) -> None:
    rules = Catalog.load([shipped_folder("rules")]).select([RULE])
    found = diagnose(open_profile(real_data / name), rules)
    assert [one.outcome for one in found.outcomes] == ["quiet"] or not found.findings
