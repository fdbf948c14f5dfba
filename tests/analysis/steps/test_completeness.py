# SPDX-License-Identifier: Apache-2.0
"""A list of kernels that lacks rows makes time unknown, never idle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.analysis import DERIVATIONS
from advisor.analysis.communication.collective_calls import collective_calls
from advisor.analysis.host.host_costs import host_costs
from advisor.analysis.idle.gaps import gaps
from advisor.analysis.launches.dispatch import dispatches
from advisor.analysis.operators.operators import operators
from advisor.analysis.steps.completeness import TOLERATED, lacks_kernel_rows
from advisor.analysis.steps.overlap import overlaps
from advisor.facts.base import MISSING
from advisor.facts.derived import Gap, Overlap
from advisor.facts.observed import Collective, HostCall, Kernel, Launch, StepTime
from advisor.facts.profile import Profile
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from advisor.sources import open_input

RUN = run_of_ranks(Run())

LISTS = st.lists(st.tuples(st.integers(0, 30), st.integers(1, 30)), min_size=1, max_size=14)
"""Per kernel: idle µs before it and its length."""


def listed(rows: Sequence[tuple[int, int]], per_step: int = 5) -> Table[Kernel]:
    """One kernel after another on one stream, some to a step, with the wait that the text export writes."""
    ends = np.cumsum([wait + length for wait, length in rows])
    lengths = np.array([length for _, length in rows])
    return Table.build(
        Kernel,
        rank=[0] * len(rows),
        step=[1 + i // per_step for i in range(len(rows))],
        start_ns=(ends - lengths) * 1000,
        duration_us=lengths.astype(float),
        wait_us=[0.0, *(float(wait) for wait, _ in rows[1:])],
        op_type=["MatMul"] * len(rows),
    )


def split_of(
    kernels: Table[Kernel], recorded: Table[StepTime] | None = None, collectives: Table[Collective] | None = None
) -> Table[Overlap]:
    return overlaps(RUN, kernels=kernels, collectives=collectives, tasks=None, windows=None, recorded=recorded)


def summed_up(split: Table[Overlap]) -> Table[StepTime]:
    """What the profiler itself writes of these steps."""
    names = ("rank", "step", "compute_us", "comm_us", "exposed_comm_us", "overlapped_us", "free_us")
    return Table.build(StepTime, **{name: split[name] for name in names})


def without(kernels: Table[Kernel], gone: set[int]) -> Table[Kernel]:
    return kernels.take(np.array([i not in gone for i in range(len(kernels))]))


@given(LISTS, st.booleans())
def test_nothing_changes_for_a_list_that_is_whole(rows, sums):
    kernels = listed(rows)
    plain = split_of(kernels.having(wait_us=np.full(len(rows), np.nan)))
    held = split_of(kernels, summed_up(plain) if sums else None)
    assert held.rows() == plain.rows()
    assert set(held.texts("source").values()) == {"intervals"}
    assert (held["unlisted_us"] == 0).all() and (held["listed_us"] == held["compute_us"]).all()


@settings(max_examples=60)
@given(LISTS, st.sets(st.integers(0, 13)), st.booleans())
def test_rows_taken_out_never_make_a_device_idler_than_it_was(rows, gone, timed):
    """But for what is tolerated, twice: once by the sums and once by the waits."""
    kernels = listed(rows, per_step=5 if timed else len(rows))
    if not timed:
        kernels = kernels.having(wait_us=np.full(len(rows), np.nan))
    truth = split_of(kernels)
    left = without(kernels, gone)
    found = split_of(left, summed_up(truth))
    free = {row["step"]: (row["free_us"], row["span_us"]) for row in truth.rows()}
    for row in found.rows():
        most, span = free[row["step"]]
        assert row["free_us"] <= most + 2 * TOLERATED * span + 1e-6


@given(LISTS, st.sets(st.integers(0, 13)))
def test_without_sums_the_waits_of_the_rows_tell_or_the_time_is_missing(rows, gone):
    kernels = listed(rows, per_step=len(rows))
    idle = sum(wait for wait, _ in rows[1:])
    left = without(kernels, gone)
    if not len(left):
        return
    (row,) = split_of(left).rows()
    if not np.any(left["wait_us"] > 0):
        return  # a column of zeros was not measured
    assert row["free_us"] is None or row["free_us"] <= idle + TOLERATED * row["span_us"] + 1e-6


TRIMMED = listed([(0, 10), (2, 10), (2, 10), (2, 10), (2, 10)]).take(np.array([0, 4]))
"""Two kernels of five: 20 of 50 µs of computing; 38 µs are left open, of which 2 were idle."""
SUMS = Table.build(StepTime, rank=[0], step=[1], compute_us=[50.0], comm_us=[0.0], exposed_comm_us=[0.0], free_us=[8.0])


def test_the_profilers_own_sums_stand_where_the_list_contradicts_them():
    (row,) = split_of(TRIMMED, SUMS).rows()
    assert (row["source"], row["compute_us"], row["free_us"], row["span_us"]) == ("recorded", 50, 8, 58)
    assert (row["listed_us"], row["unlisted_us"]) == (20, 30)


@pytest.mark.parametrize("sums", [(0.0, 0.0, 0.0), (-1.0, 0.0, 8.0), (50.0, -1.0, 8.0), (math.nan, 0.0, 8.0)])
def test_sums_of_nothing_or_below_nothing_are_not_believed(sums):
    kernels = listed([(0, 10), (2, 10), (2, 10)], per_step=3)
    told = Table.build(
        StepTime, rank=[0], step=[1], compute_us=sums[:1], comm_us=[0.0], exposed_comm_us=sums[1:2], free_us=sums[2:]
    )
    (row,) = split_of(kernels, told).rows()
    assert (row["source"], row["compute_us"], row["free_us"], row["span_us"]) == ("intervals", 30, 4, 34)


def test_without_sums_the_split_of_a_trimmed_step_is_missing():
    (row,) = split_of(TRIMMED).rows()
    assert row["source"] == "incomplete"
    assert row["free_us"] is row["span_us"] is row["compute_us"] is None
    assert (row["listed_us"], row["unlisted_us"]) == (20, 36)


def test_a_column_of_zeros_says_nothing_about_missing_rows():
    (row,) = split_of(TRIMMED.having(wait_us=np.zeros(2))).rows()
    assert (row["source"], row["free_us"]) == ("intervals", 36 + 2)


@pytest.mark.parametrize("wrong", [{"compute_us": [float("nan")]}, {"compute_us": [-1.0]}, {"free_us": [-900.0]}])
def test_sums_that_nobody_can_believe_overrule_nothing(wrong):
    sums = SUMS.having(**{name: np.array(value) for name, value in wrong.items()})
    (row,) = split_of(TRIMMED.having(wait_us=np.zeros(2)), sums).rows()
    assert row["source"] == "intervals"


def test_kernels_outside_of_every_step_are_no_missing_rows():
    kernels = listed([(0, 10), (2, 10), (2, 10), (2, 10)]).having(step=np.array([1, MISSING, MISSING, 2]))
    assert set(split_of(kernels).texts("source").values()) == {"intervals"}


@pytest.mark.parametrize("summed", [False, True])
def test_a_recording_that_begins_anew_is_a_whole_list_and_its_pause_no_part_of_the_step_before(summed):
    """Strung together, or repeated: the first row of each part says that nothing waited, as that of a capture does."""
    once = listed([(0, 10), (4, 10), (4, 10)])
    later = once["start_ns"] + 10**9
    twice = Table.concat(Kernel, [once, once.having(step=np.full(3, 2), start_ns=later)])
    alone = summed_up(split_of(once))
    sums = Table.concat(StepTime, [alone, alone.having(step=np.array([2]))]) if summed else None
    rows = split_of(twice, sums).rows()
    assert [(row["step"], row["span_us"], row["free_us"], row["source"]) for row in rows] == [
        (1, 38, 8, "intervals"),
        (2, 38, 8, "intervals"),
    ]


def test_one_zero_inside_a_step_still_tells_of_missing_rows():
    zero = TRIMMED.having(wait_us=np.array([2.0, 0.0]))
    assert split_of(zero).texts("source").values() == ["incomplete"]


def test_sums_that_agree_outweigh_the_waits():
    """Some versions may write another wait; what the profiler summed up is what it shows."""
    whole = listed([(0, 10), (9, 10), (9, 10)])
    strange = whole.having(wait_us=np.array([0.0, 1.0, 1.0]))
    assert split_of(strange).texts("source").values() == ["incomplete"]
    assert split_of(strange, summed_up(split_of(whole))).texts("source").values() == ["intervals"]


def test_a_step_of_which_no_kernel_is_left_keeps_its_sums():
    sums = Table.concat(StepTime, [SUMS, SUMS.having(step=np.array([2]))])
    whole = listed([(0, 10), (2, 10), (2, 10), (2, 10), (2, 10)])
    first, second = split_of(whole, sums).rows()
    assert (first["source"], second["source"]) == ("intervals", "recorded")
    assert (second["listed_us"], second["unlisted_us"]) == (0, 50)


def test_kernels_that_fill_little_of_a_step_are_missed_too():
    """Eight in ten of the step are communication; half of the computing is little of it."""
    kernels = listed([(0, 10), (0, 10)])
    comm = Table.build(Collective, rank=[0], step=[1], start_ns=[20_000], elapse_us=[380.0])
    sums = summed_up(split_of(kernels, collectives=comm))
    (row,) = split_of(without(kernels, {1}), sums, comm).rows()
    assert (row["source"], row["free_us"], row["unlisted_us"]) == ("recorded", 0, 10)


def test_a_version_that_counts_a_little_otherwise_contradicts_nothing():
    whole = listed([(0, 1000)] * 2)
    sums = summed_up(split_of(whole))
    for part, source in ((0.051, "recorded"), (0.049, "intervals")):
        other = sums.having(compute_us=sums["compute_us"] * (1 - part), free_us=sums["compute_us"] * part)
        assert split_of(whole, other).texts("source").values() == [source]


def test_a_pause_that_ends_in_a_trimmed_step_is_the_one_the_profiler_summed_up():
    whole = listed([(0, 10), (2, 10), (3, 10), (2, 10)], per_step=2)
    untold = whole.having(wait_us=np.full(4, np.nan))
    split = split_of(without(untold, {2}), summed_up(split_of(whole)))
    assert split.texts("source").values() == ["recorded", "recorded"]
    assert split["free_us"].tolist() == [2 + 3, 2]


def test_sums_with_step_numbers_are_not_added_to_a_list_without():
    kernels = listed([(0, 10), (2, 10)]).having(step=np.full(2, MISSING))
    assert split_of(kernels, SUMS)["step"].tolist() == [MISSING]


LINKS = Table.build(Launch, rank=[0, 0], host_start_ns=[0, 40_000], device_start_ns=TRIMMED["start_ns"])


@pytest.mark.parametrize("sums", [None, SUMS])
def test_gaps_and_vertical_links_of_a_trimmed_list_are_skipped_not_quiet(sums):
    split = split_of(TRIMMED, sums)
    with pytest.raises(FactMissing, match="rows missing in: kernels"):
        dispatches(TRIMMED, LINKS, None, None, None, split=split)
    with pytest.raises(FactMissing, match="rows missing in: kernels"):
        gaps(TRIMMED, links=None, collectives=None, tasks=None, calls=None, windows=None, split=split)


def test_whole_steps_beside_a_trimmed_one_keep_their_gaps():
    kernels = without(listed([(3, 10)] * 10), {7, 8})
    split = split_of(kernels)
    assert split.texts("source").values() == ["intervals", "incomplete"]
    idle = gaps(kernels, links=None, collectives=None, tasks=None, calls=None, windows=None, split=split)
    assert idle["step"].tolist() == [1] * 5
    links = Table.build(Launch, rank=[0] * 8, host_start_ns=kernels["start_ns"], device_start_ns=kernels["start_ns"])
    assert dispatches(kernels, links, None, None, None, split=split)["step"].tolist() == [1] * 5


@pytest.mark.parametrize("sums", [None, SUMS])
def test_operators_of_a_trimmed_list_are_a_part_of_the_recorded_step_or_of_none(sums):
    (row,) = operators(TRIMMED, None, None, split_of(TRIMMED, sums)).rows()
    assert (row["total_us"], row["alone_us"]) == (20, None)
    assert row["step_share"] == (None if sums is None else pytest.approx(20 / 58))


def test_operators_count_the_whole_steps_only_where_there_are_some():
    kernels = without(listed([(3, 10)] * 10), {7, 8})
    (row,) = operators(kernels, None, None, split_of(kernels)).rows()
    assert (row["calls"], row["total_us"], row["alone_us"]) == (5, 50, 50)


def test_what_is_exposed_or_idle_beside_a_trimmed_list_is_missing():
    split = split_of(TRIMMED, SUMS)
    comm = Table.build(Collective, rank=[0], step=[1], start_ns=[20_000], elapse_us=[5.0])
    calls = Table.build(
        HostCall, rank=[0], thread=[1], kind=["api"], name=["aclrtMalloc"], start_ns=[12_000], end_ns=[30_000]
    )
    assert np.isnan(collective_calls(RUN, comm, TRIMMED, split)["exposed_us"]).all()
    assert collective_calls(RUN, comm, TRIMMED)["exposed_us"].tolist() == [5]
    (cost,) = host_costs(calls, TRIMMED, None, None, split).rows()
    assert (cost["total_us"], cost["idle_us"]) == (18, None)


def test_an_event_without_a_step_counts_as_incomplete_once_one_step_is():
    split = split_of(TRIMMED)
    assert lacks_kernel_rows(split, np.array([0, 0, 1]), np.array([1, MISSING, MISSING])).tolist() == [
        True,
        True,
        False,
    ]
    assert not lacks_kernel_rows(None, np.array([0]), np.array([1])).any()


def opened(path: Path) -> Profile:
    run, sources = open_input(path)
    return Profile(run, sources, DERIVATIONS)


@pytest.mark.parametrize("name", ["test_rank_0", "test_rank_1"])
def test_kernels_trimmed_by_their_owner_leave_the_split_to_the_profilers_sums(real_data, name):
    profile = opened(real_data / "msinsight_server_testdata" / name)
    split, sums = profile.table(Overlap), profile.table(StepTime)
    assert split.texts("source").values() == ["recorded"]
    assert split["free_us"].tolist() == sums["free_us"].tolist()
    with pytest.raises(FactMissing):
        profile.table(Gap)


def test_rows_picked_out_of_a_longer_list_say_nothing_about_idle_time(real_data):
    profile = opened(real_data / "msprof_analyze_tests" / "ut" / "advisor" / "compute_advice" / "data")
    (row,) = profile.table(Overlap).rows()
    assert (row["source"], row["free_us"]) == ("incomplete", None)


@pytest.fixture(scope="module", params=["text/level0", "text/level1", "db/level1"])
def capture(request: pytest.FixtureRequest, real_data: Path) -> Profile:
    profile = opened(real_data / "msinsight_pytorch_matrix" / request.param)
    profile.prepare([Kernel, Collective, StepTime, Overlap])
    return profile


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(share=st.floats(0, 1), seed=st.integers(0, 2**32 - 1), together=st.booleans(), told=st.booleans())
def test_kernels_taken_out_of_a_real_list_never_make_its_device_idler(capture, share, seed, together, told):
    """Any of them, or a run of them; with the profiler's sums, or with nothing but the waits of the text export."""
    kernels, comm = capture.table(Kernel), capture.table(Collective)
    draw = np.random.default_rng(seed)
    where = np.arange(len(kernels)) / len(kernels)
    low = draw.uniform(0, 1 - share)
    left = kernels.take(
        ~((low <= where) & (where < low + share)) if together else draw.uniform(size=len(where)) >= share
    )
    if not len(left) or (not told and np.isnan(kernels["wait_us"]).all()):
        return
    truth = {(row["rank"], row["step"]): row for row in capture.table(Overlap).rows()}
    for row in split_of(left, capture.table(StepTime) if told else None, comm).rows():
        most = truth[row["rank"], row["step"]]
        assert row["free_us"] is None or row["free_us"] <= most["free_us"] + TOLERATED * most["span_us"]
        assert row["source"] != "recorded" or row["free_us"] == pytest.approx(most["free_us"], abs=0.5)
