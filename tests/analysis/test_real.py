# SPDX-License-Identifier: Apache-2.0
"""Derivations on real captures: what the profiler itself summed up, and what an expert says of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from advisor.analysis import DERIVATIONS
from advisor.facts.base import MISSING
from advisor.facts.derived import (
    CollectiveCall,
    CollectivePlace,
    Dispatch,
    Gap,
    HostCost,
    LeftOutStep,
    OperatorShare,
    Overlap,
    StageTime,
    Witness,
)
from advisor.facts.observed import StepTime
from advisor.facts.profile import Profile
from advisor.sources import open_input

CAPTURES = [f"{export}/level{level}" for export in ("text", "db") for level in (0, 1, 2)]
WANTED = (Overlap, Dispatch, Gap, HostCost, OperatorShare, CollectiveCall, StepTime)


def opened(path: Path) -> Profile:
    run, sources = open_input(path)
    return Profile(run, sources, DERIVATIONS)


@pytest.fixture(scope="module", params=CAPTURES)
def capture(request: pytest.FixtureRequest, real_data: Path) -> Iterator[Profile]:
    profile = opened(real_data / "msinsight_pytorch_matrix" / request.param)
    profile.prepare(WANTED)
    yield profile


def test_the_split_equals_the_profilers_own_within_half_a_microsecond(capture):
    split, recorded = (capture.table(fact).sorted_by("rank", "step") for fact in (Overlap, StepTime))
    assert split["rank"].tolist() == recorded["rank"].tolist() == [0, 1]
    for column in ("compute_us", "comm_us", "exposed_comm_us", "overlapped_us", "free_us"):
        assert np.abs(split[column] - recorded[column]).max() < 0.5, column


def test_exposed_communication_leads_and_free_time_is_second(capture):
    split = capture.table(Overlap)
    assert (split["exposed_comm_us"] > 0.6 * split["span_us"]).all()
    assert (split["free_us"] > 2 * split["compute_us"]).all()


def test_gaps_are_apart_and_add_up_to_free_time_to_the_nanosecond(capture):
    split, idle = capture.table(Overlap), capture.table(Gap).sorted_by("rank", "start_ns")
    length = np.rint(idle["duration_us"] * 1e3).astype(np.int64)
    for rank, free in zip(split["rank"].tolist(), split["free_us"].tolist(), strict=True):
        assert length[idle["rank"] == rank].sum() == round(free * 1e3)
    same = np.diff(idle["rank"]) == 0
    assert ((idle["start_ns"] + length)[:-1] <= idle["start_ns"][1:])[same].all()


def test_the_host_is_to_blame_for_four_fifths_of_the_idle_time(capture):
    idle = capture.table(Gap)
    for rank in (0, 1):
        own = idle["rank"] == rank
        share = idle["duration_us"][own & (idle["host"] == 1)].sum() / idle["duration_us"][own].sum()
        assert 0.79 <= share <= 0.87


def test_most_host_time_is_python_not_waiting(capture):
    idle = capture.table(Gap)
    causes = idle.texts("cause")
    python = idle["duration_us"][causes.isin(["python"])].sum()
    assert python > 0.55 * idle["duration_us"].sum()
    assert not causes.isin(["synchronise", "data_loader", "gc"]).any()


def test_clock_errors_stay_within_what_is_tolerated(capture):
    latency = capture.table(Dispatch)["latency_us"]
    assert latency.min() > -100 and 400 < np.median(latency) < 800


def test_no_operator_takes_more_than_the_step(capture):
    table = capture.table(OperatorShare)
    assert (table["alone_us"] <= table["total_us"] + 1e-6).all()
    assert table["kernel_share"].sum() == pytest.approx(2.0)
    assert set(table.texts("op_type").values()) > {"TransData", "ForeachAddList"}


def test_exposed_parts_of_collectives_add_up(capture):
    calls, split = capture.table(CollectiveCall), capture.table(Overlap)
    assert calls["exposed_us"].sum() == pytest.approx(split["exposed_comm_us"].sum(), abs=0.5)


def test_no_host_call_stands_beside_more_idle_time_than_there_is(capture):
    costs, split = capture.table(HostCost), capture.table(Overlap)
    for rank, free in zip(split["rank"].tolist(), split["free_us"].tolist(), strict=True):
        own = costs["rank"] == rank
        assert (costs["idle_us"][own] <= np.minimum(free, costs["total_us"][own]) + 1e-6).all()


def test_a_micro_benchmark_that_synchronises_every_step_is_idle_for_that_reason(real_data):
    profile = opened(real_data / "helix_fixtures" / "standalone_real_output")
    split, recorded = profile.table(Overlap), profile.table(StepTime).sorted_by("rank", "step")
    assert profile.table(LeftOutStep)["step"].tolist() == [1]
    assert np.abs(split["free_us"] - recorded["free_us"][1:]).max() < 0.5
    assert set(profile.table(Gap).texts("cause").values()) == {"synchronise"}


def test_a_pipeline_of_two_stages_shows_its_bubble_in_the_second(real_data):
    profile = opened(real_data / "msinsight_server_testdata" / "cluster_analysis_output")
    first, second = profile.table(StageTime).rows()
    assert (first["ranks"], second["ranks"]) == (8, 8)
    assert first["bubble_us"] == 0 and second["bubble_us"] > 0.4 * second["span_us"]
    assert (profile.table(Overlap)["stage"] != MISSING).all()


def test_tasks_without_a_type_leave_the_split_as_the_overlap_track_of_the_file_draws_it(real_data):
    """CANN of early 2024: 274 of 276 kernels have no type. The track sums up to 1788.25 µs and 9481.67 µs."""
    profile = opened(real_data / "msprof_analyze_tests" / "ut" / "advisor" / "timeline_advice")
    (row,) = profile.table(Overlap).rows()
    assert row["compute_us"] == pytest.approx(1788.25, abs=3)
    assert row["free_us"] == pytest.approx(9481.67, abs=3)


def test_what_the_profiler_summed_up_agrees_with_the_events_within_a_ten_thousandth(capture):
    for row in capture.table(Witness).rows():
        assert abs(row["said_us"] - row["found_us"]) < 1e-4 * row["whole_us"]


def test_gradients_of_mindspore_are_reduced_before_the_optimizer_that_they_are_moved_for(real_data):
    found = opened(next((real_data / "mindinsight_legacy" / "profiler").glob("PROF_*_COJGG*"))).table(CollectivePlace)
    (place,) = found.rows()
    assert (place["op"], place["calls"]) == ("allReduce", 1)
    assert place["after_name"] == "Default/optimizer-Momentum/FusedMulApplyMomentum-op282"


@pytest.mark.parametrize("name", [f"{export}/{level}" for export in ("text", "db") for level in ("level1", "level2")])
def test_nothing_multiplies_faster_than_the_chip_and_both_exports_know_as_much_of_it(
    real_data: Path, name: str
) -> None:
    """Its convolutions come to 92 to 138 TFLOP/s where FLOAT has 88: they are rounded to HF32, as text says."""
    found = opened(real_data / "msinsight_pytorch_matrix" / name).table("operator_rooflines")
    known = ~np.isnan(found["mfu"])
    assert known.any() and found["mfu"][known].max() < 0.6
    assert not found.texts("family").take(np.flatnonzero(known)).isin(["convolution"]).any()
