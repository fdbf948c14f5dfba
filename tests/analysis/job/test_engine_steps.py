# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from statistics import median
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.job.engine_borders import EngineTables
from advisor.analysis.job.engine_steps import engine_borders, engine_steps
from advisor.facts import read_table
from advisor.facts.derived import Gap, JobSign
from advisor.facts.observed import DeviceTask, HostCall, Kernel, Launch, StepWindow
from advisor.model.job import JobKind
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

MARK = '"execute_context_0(0)_generation_8(8)"'
RUN = Run()
Rows = list[dict[str, object]]


def rows_of(calls: str, gaps: str = "", kernels: str = "", launches: str = "", run: Run = RUN, **beside: Any) -> Rows:
    return engine_steps(
        run_of_ranks(run),
        read_table(Gap, f"start_ns duration_us cause\n{gaps}"),
        EngineTables(
            read_table(Kernel, f"op_type input_shapes start_ns duration_us\n{kernels}"),
            read_table(HostCall, f"name start_ns\n{calls}"),
            beside.get("tasks"),
            beside.get("windows"),
            beside.get("signs"),
        ),
        read_table(Launch, f"host_start_ns device_start_ns\n{launches}"),
    ).rows()


def steps_of(begins: list[int], gaps: list[tuple[int, float]]) -> Rows:
    calls = "aten::mm 5\n" + "\n".join(f"{MARK} {at}" for at in begins)
    return rows_of(calls, "\n".join(f"{start} {us} -" for start, us in gaps))


def test_a_step_that_begins_on_an_idle_device_waited_for_its_schedule() -> None:
    (row,) = steps_of([0, 10_000, 20_000, 30_000], [(9_000, 3.0), (19_000, 3.0), (25_000, 1.0), (29_500, 2.0)])
    assert row == {
        "rank": 0, "engine_phase": "decode", "by": "marks", "steps": 4, "answering": 3, "requests": 8, "tokens": 8,
        "preceded": 3, "apart_us": 10, "idle_us": 3, "host_wait_us": None, "long_pauses": 0, "long_idle_us": 0,
    }  # fmt: skip


def test_a_step_that_was_scheduled_ahead_waited_for_nothing() -> None:
    (row,) = steps_of([0, 10_000, 20_000], [(15_000, 3.0)])
    assert row["idle_us"] == 0


def test_pauses_longer_than_a_step_and_five_usual_ones_are_told_apart() -> None:
    begins = [0, 10_000, 20_000, 60_000, 70_000, 80_000]
    gaps = [(9_000, 1.5), (19_000, 1.5), (30_000, 30.0), (69_000, 1.5), (79_000, 1.5)]
    (row,) = steps_of(begins, [(at, us + 0.5) for at, us in gaps])
    assert (row["idle_us"], row["long_pauses"], row["long_idle_us"]) == (2, 1, 30.5)


@pytest.mark.parametrize("cause", ["compile", "gc", "start_up"])
def test_a_long_pause_of_which_is_known_what_the_host_did_is_none_without_requests(cause: str) -> None:
    marks = "\n".join(f"{MARK} {at}" for at in (0, 10_000, 20_000, 60_000, 70_000, 80_000))
    gaps = "\n".join(f"{at} 2 -" for at in (9_000, 19_000, 69_000, 79_000))
    (row,) = rows_of(f"aten::mm 5\n{marks}", f"{gaps}\n30000 30.5 {cause}")
    assert (row["idle_us"], row["long_pauses"], row["long_idle_us"]) == (2, 0, 0)


def test_one_pause_without_requests_is_not_what_is_usual() -> None:
    (row,) = steps_of([0, 10_000, 20_000, 90_000_000], [(21_000, 89_979.0)])
    assert row["idle_us"] == 0


def test_what_a_copy_splits_between_two_steps_is_idle_all_the_same() -> None:
    """A host that fills a mask after the last kernel, copies it and only then begins the next step."""
    (row,) = rows_of(
        f"{MARK} 0\n{MARK} 100000\n{MARK} 200000",
        "70000 25 -\n95000 1 copy\n96000 14 -\n115000 9 -\n170000 25 -\n195000 1 copy\n196000 14 -",
        kernels="\n".join(
            f"MatMulV2 64,64 {at} {us}" for at, us in ((20000, 50), (110000, 5), (124000, 46), (210000, 5))
        ),
        launches="1000 20000\n101000 110000\n102000 124000\n201000 210000",
        tasks=read_table(DeviceTask, "kind start_ns end_ns\ncopy 95000 96000\ncopy 195000 196000"),
    )
    assert (row["steps"], row["preceded"], row["idle_us"]) == (3, 2, 39)


def test_a_pause_that_begins_in_the_read_of_the_tokens_lies_between_two_steps() -> None:
    """The call in which the host reads them returns a little after the copy is done; what the device then waits for is
    what the host does next."""
    (row,) = rows_of(
        f"{MARK} 0\n{MARK} 100000\n{MARK} 200000",
        "70000 2 blocking_copy\n72000 30 blocking_copy\n170000 2 blocking_copy\n172000 30 blocking_copy",
        kernels="MatMulV2 64,64 20000 50\nMatMulV2 64,64 102000 68\nMatMulV2 64,64 202000 5",
        launches="1000 20000\n101000 102000\n201000 202000",
        tasks=read_table(DeviceTask, "kind start_ns end_ns\ncopy 70000 72000\ncopy 170000 172000"),
    )
    assert row["idle_us"] == 30


def test_a_kernel_that_ran_ahead_of_its_step_leaves_nothing_between() -> None:
    (row,) = rows_of(
        f"{MARK} 0\n{MARK} 10000\n{MARK} 20000",
        "28000 4 -",
        kernels="MatMulV2 64,64 2000 9\nMatMulV2 64,64 11000 17\nMatMulV2 64,64 32000 9",
        launches="1000 2000\n10500 11000\n11500 32000",
    )
    assert row["idle_us"] == 0


def test_before_a_step_whose_graph_has_no_launches_the_pause_around_its_mark_counts() -> None:
    """Of a graph of Ascend no kernel is launched by itself; what is, comes last in its step."""
    (row,) = rows_of(
        "\n".join(f"{MARK} {at}" for at in (0, 10_000, 20_000)),
        "8500 4 -\n18500 4 -",
        kernels="\n".join(
            f"MatMulV2 64,64 {at} {us}" for at, us in ((2500, 4), (6500, 2), (12500, 4), (16500, 2), (22500, 4))
        ),
        launches="1500 6500\n11500 16500",
    )
    assert row["idle_us"] == 4


@pytest.mark.parametrize(
    ("calls", "waits"),
    [
        ("1 api cudaEventSynchronize synchronise 2000 6000\n1 api cudaEventSynchronize synchronise 12000 16000", 4),
        ("1 api cudaMemcpy blocking_copy 2000 3000\n1 api cudaStreamSynchronize synchronise 2500 5000", 1.5),
        ("2 api cudaEventSynchronize synchronise 2000 6000\n1 api cudaLaunchKernel launch 1000 1500", 0),
        ("2 api cudaEventSynchronize synchronise 2000 6000", None),
    ],
    ids=["each step", "one of two, at once", "another thread", "no call of the thread was recorded"],
)
def test_how_long_the_thread_that_runs_the_steps_waits_for_the_device_is_told(calls: str, waits: float | None) -> None:
    marks = "\n".join(f"1 operator {MARK} - {at} {at + 900}" for at in (0, 10_000, 20_000))
    told = read_table(HostCall, f"thread kind name activity start_ns end_ns\n{marks}\n{calls}")
    empty = read_table(Kernel, "op_type input_shapes start_ns duration_us")
    gaps = read_table(Gap, "start_ns duration_us cause\n9000 3.0 -\n19000 3.0 -")
    (row,) = engine_steps(run_of_ranks(RUN), gaps, EngineTables(empty, told, None, None, None), None).rows()
    assert row["host_wait_us"] == waits


PASS = ("MatMulV2 8,64;64,192", "ReshapeAndCacheNdKernel 8,64", "PagedAttentionMaskKernel -", "MatMulV2 8,64;64,64")


@pytest.mark.parametrize(
    ("call", "waits"),
    [
        ("7 api aclrtSynchronizeStream synchronise {} {}", 60),
        ("8 api aclrtSynchronizeStream synchronise {} {}", 0),
        ("8 operator aten::to - {} {}", None),
    ],
    ids=["the thread that calls operators", "another one", "calls of the device's software were not recorded"],
)
def test_how_long_the_host_waits_is_told_of_passes_that_repeat(call: str, waits: float | None) -> None:
    """The thread that runs them is the one that calls most operators."""
    calls, kernels, copies = [], [], []
    for at in range(0, 500_000, 100_000):
        copies.append(f"copy h2d {at + 1}")
        events = [*PASS * 2, "MatMulV2 8,64;64,9999", "ArgMaxV2 8,9999"]
        kernels += [f"{one} {at + 10_000 + 1000 * number} 0.9" for number, one in enumerate(events)]
        calls += [f"7 operator aten::mm - {at + 100 * number} {at + 100 * number + 50}" for number in range(9)]
        calls += ["7 api aclrtLaunchKernel - 10 20"] if waits is not None else []
        calls.append(call.format(at + 20_000, at + 80_000))
    told = EngineTables(
        read_table(Kernel, "\n".join(("op_type input_shapes start_ns duration_us", *kernels))),
        read_table(HostCall, "\n".join(("thread kind name activity start_ns end_ns", *calls))),
        read_table(DeviceTask, "\n".join(("kind direction start_ns", *copies))),
        None,
        None,
    )
    (row,) = engine_steps(run_of_ranks(RUN), read_table(Gap, "start_ns duration_us cause"), told, None).rows()
    assert (row["by"], row["host_wait_us"]) == ("repetition", waits)


def test_without_marks_nothing_is_said() -> None:
    assert steps_of([], [(0, 9.0)]) == []


READS, BOTH = '"execute_context_1(888)_generation_0(0)"', '"execute_context_2(600)_generation_30(30)"'


@pytest.mark.parametrize(
    ("marks", "answering"),
    [
        ([READS, READS, MARK, MARK], {"prefill": 0, "decode": 1}),  # all prompts before anything is generated
        ([MARK, READS, MARK, MARK], {"prefill": 1, "decode": 1}),
        ([BOTH, MARK], {"mixed": 1, "decode": 1}),
    ],
)
def test_steps_amid_requests_that_are_answered_are_counted(marks: list[str], answering: dict[str, int]) -> None:
    rows = rows_of("aten::mm 5\n" + "\n".join(f"{mark} {10_000 * at}" for at, mark in enumerate(marks)))
    assert {row["engine_phase"]: row["answering"] for row in rows} == answering


def test_where_steps_begin_is_told_rank_by_rank_and_of_none_without_marks() -> None:
    calls = read_table(HostCall, f"rank name start_ns\n0 {MARK} 7\n1 {MARK} 9\n0 {MARK} 30\n2 aten::mm 5")
    kernels = read_table(Kernel, "rank start_ns duration_us\n2 5 1")
    rows = engine_borders(run_of_ranks(RUN), EngineTables(kernels, calls, None, None, None), None).rows()
    assert [(row["rank"], row["start_ns"]) for row in rows] == [(0, 7), (0, 30), (1, 9)]
    assert engine_borders(run_of_ranks(RUN), EngineTables(kernels, None, None, None, None), None).rows() == []


def test_one_step_has_sizes_and_no_length() -> None:
    (row,) = steps_of([7], [(0, 9.0)])
    assert (row["steps"], row["preceded"], row["requests"]) == (1, 0, 8)
    assert (row["apart_us"], row["idle_us"]) == (None, None)


@pytest.mark.parametrize(
    ("mark", "phase", "requests", "tokens"),
    [
        ("execute_context_1(888_788544)_generation_0(0)", "prefill", 1, 888),
        ("execute_context_2(600)_generation_30(30)", "mixed", 32, 630),
        ("execute_context_0(0)_generation_8(8)", "decode", 8, 8),
        ("execute_context_3_generation_2", "mixed", 5, None),
        ("execute_context_0(0)_generation_0(0)", "unknown", 0, 0),
        ("execute_8192_context_9(sq8155sk8430sqsq7475785sqsk7671310)_generation_37(sq37sk34489)", "mixed", 46, 8192),
        ("step[EXTEND bs=15 toks=15360]", "prefill", 15, 15360),
        ("step[DECODE bs=8]", "decode", 8, 8),
        ("step[DECODE bs=8 toks=24]", "decode", 8, 24),
        ("step[MIXED bs=9]", "mixed", 9, None),
    ],
)
def test_marks_say_what_a_step_does(mark: str, phase: str, requests: int, tokens: int | None) -> None:
    (row,) = rows_of(f'"{mark}" 5')
    assert (row["engine_phase"], row["requests"], row["tokens"]) == (phase, requests, tokens)


def test_each_phase_has_its_own_length_and_pause() -> None:
    """Five long prompts among many tokens: what the median of all would hide."""
    marks = "\n".join(
        f"{mark} {at}" for mark, at in ((MARK, 0), ('"step[EXTEND bs=1 toks=900]"', 9_000), (MARK, 99_000))
    )
    prefill, decode = rows_of(marks, "8000 2 -\n98000 4 -")
    assert (prefill["engine_phase"], prefill["apart_us"], prefill["idle_us"]) == ("prefill", 90, 2)
    assert (decode["engine_phase"], decode["steps"], decode["apart_us"], decode["idle_us"]) == ("decode", 2, 9, 4)


def test_steps_of_a_host_that_runs_ahead_last_as_long_as_on_the_device() -> None:
    """The host begins a step each 10 us; the one that reads a prompt keeps the device busy for 90."""
    begins = ((MARK, 0), ('"step[EXTEND bs=1 toks=900]"', 10_000), (MARK, 20_000), (MARK, 30_000))
    device = ((1_000, 2_000, 8), (11_000, 12_000, 90), (21_000, 102_000, 8), (31_000, 112_000, 8))
    rows = rows_of(
        "\n".join(f"{mark} {at}" for mark, at in begins),
        kernels="\n".join(f"MatMulV2 64,64 {start} {us}" for _, start, us in device),
        launches="\n".join(f"{launched} {start}" for launched, start, _ in device),
    )
    assert [(row["engine_phase"], row["apart_us"]) for row in rows] == [("prefill", 90), ("decode", 10)]


LAYER = ("MatMulV2 {0},64;64,192", "ReshapeAndCacheNdKernel {0},64", "MatMulV2 {0},64;64,64")
FUNCTIONS = (
    '"prepare input"',
    '"gpu_model_runner: preprocess"',
    '"vllm_ascend/worker/model_runner_v1.py(2103): execute_model"',
    '"/usr/lib/vllm/v1/worker/gpu_model_runner.py(2907): execute_model"',
    '"/sgl-workspace/sglang/python/sglang/srt/model_executor/model_runner.py(3123): forward"',
    '"mindie_llm/text_generator/generator.py(600): generate_token"',
)


def called(function: str, run: Run = RUN, **beside: Any) -> Rows:
    """Two steps, of a prompt of 512 tokens and of 8 requests; the kernels run later than they are launched."""
    names = [
        *(one.format(512) for one in LAYER),
        "MatMulV2 1,64;64,999",
        *(one.format(8) for one in LAYER),
        "MatMulV2 8,64;64,999",
    ]
    host = [10, 20, 30, 40, 110, 120, 130, 140]
    kernels = "\n".join(f"{name} {at + 75} 1" for name, at in zip(names, host, strict=True))
    launches = "\n".join(f"{at} {at + 75}" for at in host)
    return rows_of(f"{function} 0\n{function} 100\naten::mm 7", "", kernels, launches, run, **beside)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_a_function_of_the_engine_tells_where_steps_begin(function: str) -> None:
    prefill, decode = called(function)
    assert (prefill["engine_phase"], prefill["by"], prefill["requests"], prefill["tokens"]) == (
        "prefill",
        "calls",
        1,
        512,
    )
    assert (decode["engine_phase"], decode["steps"], decode["requests"], decode["tokens"]) == ("decode", 1, 8, 8)


def test_marks_say_it_better_than_functions() -> None:
    (row,) = rows_of(f"{FUNCTIONS[0]} 0\n{MARK} 1\n{FUNCTIONS[0]} 10\n{MARK} 11")
    assert (row["by"], row["steps"]) == ("marks", 2)


def test_where_steps_were_recorded_or_something_trains_functions_say_nothing() -> None:
    assert called(FUNCTIONS[0], Run(steps=(1, 2))) == []
    assert called(FUNCTIONS[0], Run(job=JobKind(workload="training"))) == []
    assert called(FUNCTIONS[0], windows=read_table(StepWindow, "step start_ns end_ns\n1 0 50")) == []
    assert called(FUNCTIONS[0], signs=read_table(JobSign, "tells seen_as name calls\nbackward call x 1")) == []


@given(
    st.lists(st.integers(0, 50), min_size=2, max_size=20, unique=True),
    st.lists(st.tuples(st.integers(0, 5), st.integers(1, 9)), min_size=0, max_size=8),
)
def test_gaps_are_found_as_a_person_would(begins: list[int], pieces: list[tuple[int, int]]) -> None:
    gaps, at = [], 0
    for pause, length in pieces:
        gaps.append((at + pause, length))
        at += pause + length
    ordered = sorted(begins)
    here = [next((length for start, length in gaps if start <= one < start + length), 0) for one in ordered[1:]]
    (row,) = steps_of([one * 1000 for one in begins], [(start * 1000, float(length)) for start, length in gaps])
    assert row["idle_us"] == median(here)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 9), st.integers(1, 9)), min_size=1, max_size=25))
def test_idle_time_before_steps_is_what_no_kernel_fills_between_theirs(ran: list[tuple[int, int, int]]) -> None:
    """Kernels one after another, each in the step of the one before it or up to three later, with a pause before it."""
    host, device, gaps, at, step = [], [], [], 0, 0
    before: dict[int, int] = {}
    for ahead, pause, length in ran:
        step += ahead
        if ahead and device:
            before[step] = pause
        gaps.append((at, pause))
        at += pause
        host.append(step * 1000 + len(host))
        device.append((at, length))
        at += length
    rows = rows_of(
        "\n".join(f"{MARK} {number * 1000}" for number in range(step + 1)),
        "\n".join(f"{start * 1000} {us} -" for start, us in gaps if us),
        kernels="\n".join(f"MatMulV2 64,64 {start * 1000} {us}" for start, us in device),
        launches="\n".join(f"{launched} {start * 1000}" for launched, (start, _) in zip(host, device, strict=True)),
    )
    held = [next((us for start, us in gaps[1:] if start <= one < start + us), 0) for one in range(1, step + 1)]
    here = [max(before.get(one, 0), held[one - 1]) for one in range(1, step + 1)]
    assert rows[0]["preceded"] == step
    assert rows[0]["idle_us"] == (median(here) if here else None)
