# SPDX-License-Identifier: Apache-2.0
"""A simulated job obeys the laws a real one obeys."""

from __future__ import annotations

from bisect import bisect
from collections import Counter
from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from operator import itemgetter

import pytest

import corpus
from corpus.accounting import lanes, length, step_times, union, windows
from corpus.answers import HARMLESS, TIMELESS
from corpus.cases import APPLIES, FAULTS, MIXTURES, Setup, job, setup_of, small_setup, with_few_layers
from corpus.events import Job, Layout, RankTrace
from corpus.links import transit_ns
from corpus.mixtures import WITH_TRIFLES
from corpus.program import Communicate, Machine
from corpus.simulator import Deadlock, collectives_of, simulate
from corpus.transformer import Transformer
from corpus.workloads import WORKLOADS
from tests.shared_captures import AMONG_FOUR

CASES = tuple(name for name in corpus.names() if name not in MIXTURES or name == "host-bound-2-ranks")
_OF_ONE_STRENGTH = {"launch-blocking", "retransmission-stall"}
SMALL_PIPELINE = Transformer(layers=4, micro_batches=4, steps=2, hidden=1024, sequence=512)
PIPELINE = Setup(SMALL_PIPELINE, Layout(tp=2, pp=4))


@pytest.fixture(scope="module", params=CASES)
def made(request: pytest.FixtureRequest) -> Job:
    return job_of(request.param)


def job_of(case: str) -> Job:
    """The job of a case in as few ranks and layers as show it, whose events obey the same laws."""
    fewer = with_few_layers if case in AMONG_FOUR else small_setup
    return job(case, setup=fewer(setup_of(case)))


def test_one_seed_gives_one_job(made: Job) -> None:
    assert job_of(made.name).ranks == made.ranks


def test_seeds_differ() -> None:
    assert repr(job("healthy", 1).ranks) != repr(job("healthy", 2).ranks)


def test_a_fault_leaves_the_noise_of_the_rest_alone() -> None:
    """The same kernels take the same time in both, so that the truth of a saving is the fault and not luck."""
    healthy, casts = job("healthy", 3), job("cast-excess", 3)

    def durations(made: Job) -> list[int]:
        return [k.end - k.start for k in made.ranks[0].kernels() if k.kernel and k.kernel.op_type == "MatMulV3"]

    assert durations(healthy) == durations(casts)


def test_compute_exposed_and_free_make_up_the_span(made: Job) -> None:
    for trace in made.ranks:
        for row in step_times(trace):
            assert row.computing + row.exposed + row.free == row.span


def test_every_step_is_accounted_for(made: Job) -> None:
    for trace in made.ranks:
        parts = lanes(trace)
        for part, name in ((parts.computing, "computing"), (parts.exposed, "exposed"), (parts.free, "free")):
            assert sum(getattr(row, name) for row in step_times(trace)) == length(part)


def test_work_flows_from_enqueue_to_dequeue_to_launch_to_start(made: Job) -> None:
    for trace in made.ranks:
        queue: dict[int, list[int]] = {}
        for call in trace.calls:
            if call.layer == "queue":
                queue.setdefault(call.connection, []).append(call.start)
        assert all(len(times) == 2 and times[0] < times[1] for times in queue.values())
        for task in trace.tasks:
            if task.kind != "comm":
                assert task.launch_start < task.start <= task.end


def test_launches_happen_inside_their_dequeue(made: Job) -> None:
    for trace in made.ranks:
        taken = sorted((c.start, c.end) for c in trace.calls if c.name.startswith("Dequeue"))
        if taken:
            launches = [c for c in trace.calls if c.layer == "node" and c.thread != trace.pid]
            spans = union(taken)
            assert all(c.end <= spans[bisect(spans, c.start, key=itemgetter(0)) - 1][1] for c in launches)
            assert all(spans[0][0] <= c.start for c in launches)


def test_streams_run_in_order(made: Job) -> None:
    for trace in made.ranks:
        for stream in {task.stream for task in trace.tasks if task.kind != "comm"}:
            tasks = [t for t in trace.tasks if t.stream == stream and t.kind != "comm"]
            assert all(before.end <= after.start for before, after in pairwise(tasks))


def test_threads_do_one_thing_at_a_time(made: Job) -> None:
    """Calls of one thread nest or follow each other."""
    for trace in made.ranks:
        for thread in {call.thread for call in trace.calls}:
            open_: list[int] = []
            calls = [c for c in trace.calls if c.thread == thread and c.layer not in ("gc",)]
            for call in sorted(calls, key=lambda call: (call.start, -call.end)):
                while open_ and open_[-1] <= call.start:
                    open_.pop()
                assert not open_ or call.end <= open_[-1], call
                open_.append(call.end)


def test_collectives_begin_to_move_data_when_the_last_rank_is_there(made: Job) -> None:
    for met in collectives_of(made.ranks).values():
        assert len({(c.op in ("send", "receive"), c.group, c.index) for c in met}) == 1
        there = max(c.start for c in met)
        assert all(c.start + c.wait == there for c in met)
        assert len({c.end for c in met}) == 1
        assert all(c.end - c.start >= c.wait + c.transit for c in met)


def test_the_pieces_of_a_collective_lie_inside_it(made: Job) -> None:
    for trace in made.ranks:
        for collective in trace.collectives:
            assert all(collective.start <= t.start <= t.end <= collective.end for t in collective.transfers)


def test_every_event_has_an_end_and_every_id_is_used_once(made: Job) -> None:
    for trace in made.ranks:
        assert all(call.end >= call.start >= 0 for call in trace.calls)
        cann = Counter(c.connection for c in trace.calls if c.layer in ("acl", "node", "hccl", "runtime"))
        assert max(cann.values()) == 1


def test_memory_is_never_more_allocated_than_reserved(made: Job) -> None:
    for trace in made.ranks:
        assert all(moment.allocated <= moment.reserved for moment in trace.memory)
        assert all(block.released == -1 or block.released >= block.time for block in trace.allocations)


@dataclass(frozen=True, slots=True)
class Cost:
    """What a fault costs at one strength, in µs of a step."""

    step_us: float
    without_us: float

    @property
    def share(self) -> float:
        """Of the step."""
        return 1 - self.without_us / self.step_us


@cache
def cost(fault: str, strength: float) -> Cost:
    """What a fault costs, worked out once for all that ask."""
    made = job(fault, 2, strength=strength)
    return Cost(made.step_us, made.causes[0].step_us_without)


@pytest.fixture(scope="module", params=sorted(set(FAULTS) - TIMELESS - HARMLESS))
def fault(request: pytest.FixtureRequest) -> str:
    """Each fault that costs time; its tests follow each other, so that one process works out what it costs."""
    return str(request.param)


def test_a_fault_costs_time_and_more_when_it_is_stronger(fault: str) -> None:
    weak, strong = cost(fault, 0.25), cost(fault, 2.0)
    assert strong.step_us > strong.without_us
    assert strong.step_us >= weak.step_us


@pytest.mark.parametrize("workload", WORKLOADS)
def test_a_healthy_job_is_busy_computing(workload: str) -> None:
    for trace in job("healthy", 5, workload=workload).ranks:
        for row in step_times(trace):
            assert row.free < 0.05 * row.span
            assert row.exposed < 0.15 * row.span


def test_a_strength_is_as_bad_as_it_says(fault: str) -> None:
    assert cost(fault, 2.0).share > 0.12
    if fault not in _OF_ONE_STRENGTH:
        assert cost(fault, 0.25).share < 0.02
        assert 0.06 < cost(fault, 1.0).share < 0.2
        assert cost(fault, 2.0).share > 1.2 * cost(fault, 1.0).share


@pytest.mark.parametrize("fault", sorted(HARMLESS))
def test_what_is_harmless_costs_nothing(fault: str) -> None:
    made = job(fault, strength=2.0)
    assert made.step_us == pytest.approx(made.causes[0].step_us_without, rel=0.005)


@pytest.mark.parametrize("name", sorted(set(MIXTURES) - WITH_TRIFLES))
def test_each_fault_of_a_mixture_has_its_share(name: str) -> None:
    made = job(name, setup=with_few_layers(setup_of(name)))
    assert len(made.causes) > 1
    assert all(cause.step_us_without < 0.98 * made.step_us for cause in made.causes)


def test_every_fault_has_workloads_where_it_makes_sense() -> None:
    assert set(APPLIES) == set(FAULTS)
    assert {name for workloads in APPLIES.values() for name in workloads} <= set(WORKLOADS)


def test_the_seed_chooses_where_a_fault_strikes() -> None:
    fault, dense = FAULTS["data-loader-one-rank"], WORKLOADS["dense"]
    struck = {fault(dense, 1.0, seed)[1]["rank"] for seed in range(1, 50)}
    assert struck == {0, 1, 2, 3}


@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_where_others_use_the_network_equal_data_move_longer_in_two_steps_and_not_in_the_first_or_between(
    seed: int,
) -> None:
    made = job("disturbed-links", seed, setup=small_setup(setup_of("disturbed-links")))
    moved: dict[int, int] = {}
    for collective in made.ranks[0].collectives:
        moved[collective.step] = moved.get(collective.step, 0) + collective.transit
    usual = min(moved.values())
    slow = sorted(step for step, us in moved.items() if us > 2 * usual)
    steps = sorted(moved)
    assert len(steps) == 6
    assert slow in (steps[2:4], steps[4:])
    assert {us for step, us in moved.items() if step not in slow} == {usual}


def test_tokens_travel_to_their_experts_and_back_in_both_passes() -> None:
    made = job("healthy", workload="experts")
    layers, steps = 3, 3
    for trace in made.ranks:
        kinds = Counter(c.op for c in trace.collectives)
        assert kinds["alltoallv"] == 4 * layers * steps


def test_the_others_wait_for_the_rank_whose_experts_are_crowded() -> None:
    made = job("expert-imbalance")
    crowded = made.causes[0].place["rank"]
    waits = [sum(c.wait for c in trace.collectives if c.op == "alltoallv") for trace in made.ranks]
    grouped = [sum(k.end - k.start for k in trace.kernels() if "GroupedMatmul" in k.name) for trace in made.ranks]
    assert waits[crowded] == min(waits)
    assert grouped[crowded] == max(grouped)


@pytest.mark.parametrize(
    ("fault", "fused", "instead"),
    [
        ("unfused-attention", "FlashAttentionScore", {"BatchMatMulV3", "SoftmaxV2", "SoftmaxGrad", "MaskedFill"}),
        ("unfused-norm", "RmsNorm", {"Pow", "ReduceMean", "Rsqrt"}),
        ("unfused-rotary", "RotaryMul", {"Slice", "Neg", "ConcatD"}),
        ("unfused-optimizer", "ApplyAdamWV2", {"Lerp", "Addcmul", "Sqrt", "Addcdiv"}),
    ],
)
def test_small_operators_take_the_place_of_the_fused_one(fault: str, fused: str, instead: set[str]) -> None:
    def types(made: Job) -> set[str]:
        return {k.kernel.op_type for k in made.ranks[0].kernels() if k.kernel}

    assert fused in types(job("healthy", workload=APPLIES[fault][0]))
    assert instead <= types(job(fault))
    assert fused not in types(job(fault, strength=4.0))


def test_what_one_rank_is_given_more_of_the_others_have_less_of() -> None:
    def computed_us(without: tuple[str, ...] = ()) -> list[float]:
        ranks = job("slow-rank-data", 2, strength=2.0, without=without).ranks
        return [sum(row.computing for row in step_times(trace)) for trace in ranks]

    given, even = computed_us(), computed_us(("slow-rank-data",))
    assert max(given) > 1.2 * max(even)
    assert sum(given) == pytest.approx(sum(even), rel=0.02)


def test_pipeline_and_tensor_groups_meet_in_any_layout() -> None:
    made = job("healthy", setup=PIPELINE)
    assert {c.op for trace in made.ranks for c in trace.collectives} == {"allReduce", "send", "receive"}
    batched = replace(PIPELINE, workload=replace(SMALL_PIPELINE, batched_p2p=True))
    made = job("healthy", setup=batched)
    assert {c.op for trace in made.ranks for c in trace.collectives} == {"allReduce", "batchSendRecv"}


def test_the_slow_rank_does_not_wait_for_the_others() -> None:
    made = job("slow-rank-compute")
    waits = [sum(c.wait for c in trace.collectives) for trace in made.ranks]
    assert waits[-1] == min(waits)
    assert made.causes[0].place == {"rank": 3}


def test_ranks_that_never_meet_are_an_error() -> None:
    def lonely(rank: int) -> list[Communicate]:
        return [Communicate("c10d::allreduce_", "allReduce", (0, 1), 1024, "dp")] if rank == 0 else []

    with pytest.raises(Deadlock):
        simulate([lonely(0), lonely(1)], Machine(), 0)


def test_an_unknown_case_names_those_there_are() -> None:
    with pytest.raises(KeyError, match="data-loader"):
        job("no-such-fault")


def test_a_mesh_takes_as_long_as_its_slowest_link() -> None:
    members = (0, 1, 2, 3)
    even = transit_ns("allReduce", 1 << 26, members, Machine())
    uneven = transit_ns("allReduce", 1 << 26, members, Machine(slow_links={(0, 3): 1.65}))
    assert uneven > 9 * even


def test_windows_follow_each_other(made: Job) -> None:
    for trace in made.ranks:
        starts = [start for _, start, _ in windows(trace)]
        assert starts == sorted(starts)


def test_step_numbers_are_those_of_the_host(made: Job) -> None:
    trace: RankTrace = made.ranks[0]
    assert [f"ProfilerStep#{row.step}" for row in step_times(trace)] == [call.name for call in trace.steps()]


def test_shapes_go_on_changing_where_they_cost_nothing_any_more() -> None:
    """A job with images of one size would be another one."""
    broken = corpus.job("dynamic-shapes", 2, workload="convolution")
    fixed = corpus.job("dynamic-shapes", 2, workload="convolution", without=["dynamic-shapes"])
    assert fixed.step_us == broken.causes[0].step_us_without
    computed = [row.computing for row in step_times(fixed.ranks[0])]
    assert max(computed) > 1.2 * min(computed)
    assert not any(call.name == "opCompile" for call in fixed.ranks[0].calls)


def test_a_fault_left_out_gives_the_step_time_its_truth_promised() -> None:
    broken = corpus.job("host-bound-2-ranks")
    cause = next(cause for cause in broken.causes if cause.name == "python-busy")
    fixed = corpus.job("host-bound-2-ranks", without=["python-busy"])
    assert fixed.step_us == cause.step_us_without < broken.step_us
    assert "python-busy" not in {cause.name for cause in fixed.causes}
    with pytest.raises(KeyError, match="no fault `data-loader`"):
        corpus.job("host-bound-2-ranks", without=["data-loader"])


def test_gradients_go_out_in_buckets_of_whole_weights_and_only_the_last_has_nothing_to_hide_behind() -> None:
    made = job("healthy", 3, workload="plain")
    workload = WORKLOADS["plain"].workload
    assert isinstance(workload, Transformer)
    for row in step_times(made.ranks[0]):
        sent = sorted((one for one in made.ranks[0].collectives if one.step == row.step), key=lambda one: one.start)
        sizes = [2 * one.count for one in sent]
        assert sum(sizes) == pytest.approx(2 * 11.5 * workload.hidden**2 * workload.layers, rel=1e-4)
        assert {round(size / 2 / workload.hidden**2, 2) for size in sizes} == {7.5, 4.0}
        assert min(sizes) >= workload.bucket_bytes
        assert row.exposed <= 1.1 * (sent[-1].end - sent[-1].start)


def _allocated_per_step(job: Job) -> list[tuple[list[int], int]]:
    """Per rank what operators hold at the end of each step, and the most they ever held."""
    found = []
    for rank in job.ranks:
        held = [(moment.time, moment.allocated) for moment in rank.memory if moment.component == "PTA"]
        ends = [call.end for call in rank.calls if call.layer == "step"]
        found.append(
            ([[size for time, size in held if time <= end][-1] for end in ends], max(size for _, size in held))
        )
    return found


@pytest.mark.parametrize("workload", ["dense", "pipeline", "interleaved", "tensor", "convolution", "inference"])
def test_a_step_leaves_no_more_memory_in_use_than_the_one_before_it(workload: str) -> None:
    made = job("healthy", setup=setup_of("healthy", workload))
    assert all(len(set(ends)) == 1 for ends, _ in _allocated_per_step(made))


def test_more_micro_batches_hold_no_more_memory_than_those_in_flight() -> None:
    few, many = (
        job("healthy", setup=Setup(replace(SMALL_PIPELINE, micro_batches=number), Layout(pp=4))) for number in (8, 16)
    )
    for (_, one), (_, other) in zip(_allocated_per_step(few), _allocated_per_step(many), strict=True):
        assert other <= one * 1.02
