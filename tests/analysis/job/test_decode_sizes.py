# SPDX-License-Identifier: Apache-2.0
"""Decode steps of an engine by the number of requests: which replay a graph, and what is launched in them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor import load_rules
from advisor.analysis.job.engine_borders import EngineTables
from advisor.analysis.job.engine_steps import decode_sizes, engine_steps
from advisor.facts import Table, read_table
from advisor.facts.derived import EngineStep, Gap
from advisor.facts.observed import DeviceTask, HostCall, Kernel, Launch
from advisor.messages.errors import FactMissing
from advisor.model.findings import Confidence
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
from advisor.pipeline import judge_profile, open_profile
from corpus.replayed_steps import replay_steps
from tests.analysis.job.test_engine_passes import serving

RUN = run_of_ranks(Run())

VLLM = '"execute_context_0(0)_generation_{}({})"'
SGLANG = '"step[DECODE bs={}]"'


def sizes_of(marks: list[tuple[str, int]], replays: list[int], launches: list[int]) -> list[dict[str, object]]:
    calls = [f"operator {name} {at} {at + 1}" for name, at in marks] + [f"graph g {at} {at + 1}" for at in replays]
    table = read_table(HostCall, "\n".join(("kind name start_ns end_ns", *calls)))
    return sizes(table, read_table(Launch, "\n".join(("host_start_ns", *map(str, launches)))))


def sizes(calls: Table[HostCall], launches: Table[Launch]) -> list[dict[str, object]]:
    return decode_sizes(RUN, calls, launches, None, None, None, None, None).rows()


@pytest.mark.parametrize("mark", [VLLM, SGLANG])
def test_steps_are_told_by_their_requests(mark: str) -> None:
    marks = [(mark.format(size, size), at) for size, at in ((8, 0), (8, 1000), (40, 2000), (8, 5000))]
    eight, forty = sizes_of(marks, [10, 1010, 1020, 5010], [11, 1011, *range(2100, 2400)])
    unknown = (
        "replayed_idle_us",
        "eager_idle_us",
        "busy_us",
        "between_idle_us",
        "update_idle_us",
        "host_wait_us",
        "drains",
    )
    idle = dict.fromkeys(unknown)
    assert eight == {
        "rank": 0,
        "by": "marks",
        "requests": 8,
        "steps": 2,
        "replayed": 2,
        "launches": 1,
        "apart_us": 1,
        "replays": 1.5,
        "update_us": 0,
        **idle,
    }
    assert forty == {
        "rank": 0,
        "by": "marks",
        "requests": 40,
        "steps": 1,
        "replayed": 0,
        "launches": 300,
        "apart_us": 3,
        "replays": None,
        "update_us": None,
        **idle,
    }


def test_kernels_of_one_replay_are_one_launch_and_idle_time_is_told_for_steps_with_a_graph_and_without() -> None:
    """Two steps that replay one graph, two that launch each kernel and idle before it, and where these end."""
    calls, launches, kernels, gaps = ["kind name start_ns end_ns"], [], [], []
    for number, (size, replayed) in enumerate(((8, True), (8, True), (8, False), (40, False), (8, True))):
        begin = number * 100_000
        calls.append(f"operator {VLLM.format(size, size)} {begin} {begin + 9_000}")
        calls += [f"graph g {begin + 10} {begin + 20}"] if replayed else []
        for at in range(4):
            starts = begin + 20_000 + at * 20_000
            launches.append(f"{begin + (10 if replayed else 100 * (at + 1))} {starts}")
            kernels.append(f"MatMulV2 64,64 {starts} {20 if replayed else 15 - number}")
            gaps += [] if replayed else [f"{starts + (15 - number) * 1000} {5 + number} python"]
    gaps.append("301000 1 copy")
    rows = decode_sizes(
        RUN,
        read_table(HostCall, "\n".join(calls)),
        read_table(Launch, "\n".join(("host_start_ns device_start_ns", *launches))),
        read_table(Gap, "\n".join(("start_ns duration_us cause", *gaps))),
        read_table(Kernel, "\n".join(("op_type input_shapes start_ns duration_us", *kernels))),
        read_table(DeviceTask, "kind start_ns end_ns\ncopy 301000 302000"),
        None,
        None,
    ).rows()
    wanted = ("requests", "steps", "replayed", "launches", "replayed_idle_us", "eager_idle_us")
    assert [tuple(row[name] for name in wanted) for row in rows] == [(8, 3, 2, 2, 0, 28), (40, 1, 0, 4, None, 32)]


@pytest.mark.parametrize(("until", "drains"), [(1_000, 0), (60_000, 1)])
def test_a_wait_right_before_a_graph_is_replayed_hides_what_was_prepared_before_it(until: int, drains: int) -> None:
    """As vLLM-Ascend waits, lest one replay overtakes another; an engine that waits for tokens prepares after that."""
    calls = ["kind thread name activity start_ns end_ns"]
    for begin in (0, 200_000, 400_000):
        calls.append(f"operator 1 {VLLM.format(8, 8)} - {begin} {begin + 190_000}")
        calls.append(f"api 1 aclrtSynchronizeStream synchronise {begin + 10_000} {begin + 50_000}")
        calls.append(f"api 1 aclmdlRIExecuteAsync replay {begin + 50_000 + until} {begin + 52_000 + until}")
    (row,) = sizes(read_table(HostCall, "\n".join(calls)), Table.empty(Launch))
    assert (row["host_wait_us"], row["drains"]) == (40, drains)


@pytest.mark.parametrize(("wait", "drains"), [("aclrtSynchronizeStream", 1), ("aclrtSynchronizeEvent", 0)])
def test_what_the_device_idles_between_replays_and_while_captured_tasks_are_brought_up_to_date_is_told(
    wait: str, drains: int
) -> None:
    """Two steps of two graphs each, 200 µs apart. The host updates from 20 to 50, and waits from 60 to 75 µs."""
    calls = ["kind thread name activity start_ns end_ns"]
    for begin in (0, 200_000, 400_000):
        calls.append(f"operator 1 {VLLM.format(8, 8)} - {begin} {begin + 90_000}")
        for name, does, at, end in (
            ("aclmdlRIExecuteAsync", "replay", 10, 12),
            ("aclmdlRICaptureTaskUpdateBegin", "update", 20, 21),
            ("aclmdlRICaptureTaskUpdateEnd", "update", 29, 30),
            ("aclmdlRICaptureTaskUpdateBegin", "update", 40, 41),
            ("aclmdlRICaptureTaskUpdateEnd", "update", 49, 50),
            ("aclmdlRIExecuteAsync", "replay", 55, 58),
        ):
            calls.append(f"api 1 {name} {does} {begin + at * 1000} {begin + end * 1000}")
        calls.append(f"api 1 {wait} synchronise {begin + 60_000} {begin + 75_000}")
    idle = [f"{begin + at} {us} -" for begin in (0, 200_000) for at, us in ((5_000, 7), (31_000, 8), (46_000, 20))]
    (row,) = decode_sizes(
        RUN,
        read_table(HostCall, "\n".join(calls)),
        Table.empty(Launch),
        read_table(Gap, "\n".join(("start_ns duration_us cause", *idle))),
        *(None,) * 4,
    ).rows()
    told = ("steps", "replays", "replayed_idle_us", "busy_us", "between_idle_us")
    assert [row[name] for name in told] == [2, 2, 35, 165, 19]  # from 10 to 55
    assert [row[name] for name in ("update_us", "update_idle_us", "host_wait_us", "drains")] == [30, 12, 15, drains]


def test_steps_that_read_prompts_are_no_decode_steps() -> None:
    names = (
        '"execute_8192_context_9(sq8155)_generation_37(sq37)"',
        '"step[EXTEND bs=15 toks=15360]"',
        '"step[MIXED bs=2]"',
    )
    assert sizes_of([(name, at * 100) for at, name in enumerate(names * 2)], [], []) == []


def test_a_graph_of_ascend_is_replayed_by_its_own_call() -> None:
    mark = f"operator {VLLM.format(4, 4)} -"
    calls = f"kind name activity start_ns end_ns\n{mark} 0 9\napi aclmdlRIExecuteAsync replay 5 6\n{mark} 10 19"
    (row,) = sizes(read_table(HostCall, calls), Table.empty(Launch))
    assert (row["steps"], row["replayed"], row["launches"]) == (1, 1, 0)


def test_a_mark_inside_another_marks_the_same_step() -> None:
    calls = read_table(
        HostCall,
        f"name start_ns end_ns\n{VLLM.format(4, 4)} 0 900\n{SGLANG.format(4)} 100 800\n"
        f"{VLLM.format(4, 4)} 1000 1900\n{SGLANG.format(4)} 1100 1800\n",
    )
    told = EngineTables(Table.empty(Kernel), calls, None, None, None)
    (row,) = engine_steps(RUN, Table.empty(Gap), told, None).rows()
    assert (row["steps"], row["apart_us"]) == (2, 1)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(1, 30)), min_size=1, max_size=12),
    st.lists(st.integers(0, 400), max_size=10, unique=True),
    st.lists(st.integers(0, 400), max_size=30),
)
def test_sizes_are_counted_as_a_person_would(
    steps: list[tuple[int, int]], replays: list[int], launches: list[int]
) -> None:
    begins, at = [], 0
    for _, length in steps:
        begins.append(at)
        at += length
    marks = [(SGLANG.format(size), begin) for (size, _), begin in zip(steps, begins, strict=True)]
    ends = begins[1:]
    plain: dict[int, list[tuple[bool, int]]] = {}
    for (size, _), begin, end in zip(steps, begins, ends, strict=False):
        if size:
            seen = any(begin <= one < end for one in replays), sum(begin <= one < end for one in set(launches))
            plain.setdefault(size, []).append(seen)
    found = {row["requests"]: row for row in sizes_of(marks, replays, launches)}
    assert found.keys() == plain.keys()
    for size, seen in plain.items():
        assert found[size]["steps"] == len(seen)
        assert found[size]["replayed"] == sum(replayed for replayed, _ in seen)
        assert found[size]["launches"] == pytest.approx(sum(many for _, many in seen) / len(seen))


LAYER = (
    "MatMulV2 {0},64;64,192",
    "ReshapeAndCacheNdKernel {0},64",
    "PagedAttentionMaskKernel -",
    "MatMulV2 {0},64;64,64",
)
LAST = ("MatMulV2 {0},64;64,9999", "ArgMaxV2 {0},9999")
FUNCTION = '"vllm_ascend/worker/model_runner_v1.py(9): execute_model"'
PASS_NS = 1_000_000


def unmarked(passes: list[tuple[int, bool]], *, named: bool) -> list[dict[str, object]]:
    """Passes of a server of two layers one after the other, by their requests and whether they replay a graph, of whose
    kernels no shapes are known; what chooses the tokens is launched by itself."""
    calls, launches, kernels, copies = ["kind name activity start_ns end_ns"], ["host_start_ns device_start_ns"], [], []
    for number, (requests, replayed) in enumerate(passes):
        begin = number * PASS_NS
        copies.append(begin + 1)
        if named:
            calls.append(f"python {FUNCTION} - {begin} {begin + 900_000}")
        if replayed:
            calls.append(f"api aclmdlRIExecuteAsync replay {begin + 10} {begin + 20}")
        for at, event in enumerate([*LAYER * 2, *LAST]):
            op, shapes = event.format(requests).split()
            alone = not replayed or op == "ArgMaxV2"
            starts = begin + 500_000 + at * 10_000
            kernels.append(f"{op} {shapes if alone else '-'} {starts} 4")
            if alone:
                launches.append(f"{begin + 1_000 * (at + 1)} {starts}")
    tables = (
        read_table(HostCall, "\n".join(calls)),
        read_table(Launch, "\n".join(launches)),
        read_table(Kernel, "\n".join(("op_type input_shapes start_ns duration_us", *kernels))),
        read_table(DeviceTask, "\n".join(("kind direction start_ns", *(f"copy h2d {at}" for at in copies)))),
    )
    return decode_sizes(RUN, *tables[:2], None, *tables[2:], None, None).rows()


@pytest.mark.parametrize("named", [True, False])
def test_without_marks_steps_that_replay_nothing_are_told_by_their_sizes(named: bool) -> None:
    """By the function of the engine, or by what repeats; a last step that nothing follows, or a first, is left out."""
    rows = unmarked([(8, True)] * 4 + [(40, False)] * 2 + [(8, True)] * 3, named=named)
    by = "calls" if named else "repetition"
    assert [(row["by"], row["requests"], row["steps"], row["replayed"]) for row in rows] == [
        (by, 40, 2, 0), (by, None, 6, 6)
    ]  # fmt: skip
    assert [row["launches"] for row in rows] == [10, 1]
    assert all(row["apart_us"] == pytest.approx(PASS_NS / 1e3, rel=0.02) for row in rows)


def test_without_marks_every_size_that_is_replayed_is_told_so() -> None:
    assert [(row["steps"], row["replayed"]) for row in unmarked([(8, True)] * 9, named=False)] == [(8, 8)]


def test_where_nothing_tells_steps_no_sizes_are_told() -> None:
    with pytest.raises(FactMissing):
        unmarked([(8, False)] * 2, named=False)


RULE = "host/missed-graph-sizes"


@pytest.mark.parametrize("missed", [True, False])
def test_a_server_whose_batches_outgrow_its_graphs_is_told_so(missed: bool, tmp_path: Path) -> None:
    """Without a single mark; its twin, which replays a graph in every step that generates, is told nothing."""
    folder = serving(tmp_path, steps=20)
    replay_steps(folder, lambda step: step > 0 and (step % 5 != 3 or not missed))
    catalog = load_rules().select([RULE, "capture/*"])  # its device works as before, so no time is lost
    rules = (rule.tuned({"notable": -1}, None) if rule.id == RULE else rule for rule in catalog.rules)
    diagnosis = judge_profile(open_profile(folder, jobs=1), replace(catalog, rules=tuple(rules)), shown=())
    found = [one for one in diagnosis.findings if one.rule == RULE]
    assert "capture/lost-rows" not in {one.rule for one in diagnosis.findings}
    if missed:
        values = {one.name: one.value for one in found[0].evidence}
        assert (values["eager_share"], values["least_eager"]) == (pytest.approx(4 / 19), 32)
        assert found[0].confidence == Confidence.low
    else:
        (outcome,) = (one.outcome for one in diagnosis.outcomes if one.rule == RULE)
        assert outcome == "quiet"


def test_a_real_step_that_is_marked_twice_counts_once(real_data: Path) -> None:
    trace = real_data / "gpu_kineto_models" / "sglang_qwen3-8b_prefilldecode.json.gz"
    if not trace.is_file():
        pytest.skip("this capture is not in the folder of real data")
    profile = open_profile(trace, jobs=1)
    (row,) = profile.table(EngineStep).rows()
    assert (row["steps"], row["requests"], row["tokens"]) == (1, 15, 15360)
