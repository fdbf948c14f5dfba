# SPDX-License-Identifier: Apache-2.0
"""Decode steps of an engine by the number of requests: which replay a graph, and what is launched in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.engine_steps import decode_sizes, engine_steps
from advisor.facts import Table, read_table
from advisor.facts.derived import EngineStep, Gap
from advisor.facts.observed import HostCall, Kernel, Launch
from advisor.model.run import Run
from advisor.pipeline import open_profile

VLLM = '"execute_context_0(0)_generation_{}({})"'
SGLANG = '"step[DECODE bs={}]"'


def sizes_of(marks: list[tuple[str, int]], replays: list[int], launches: list[int]) -> list[dict[str, object]]:
    calls = [f"operator {name} {at} {at + 1}" for name, at in marks] + [f"graph g {at} {at + 1}" for at in replays]
    table = read_table(HostCall, "\n".join(("kind name start_ns end_ns", *calls)))
    return decode_sizes(table, read_table(Launch, "\n".join(("host_start_ns", *map(str, launches))))).rows()


@pytest.mark.parametrize("mark", [VLLM, SGLANG])
def test_steps_are_told_by_their_requests(mark: str) -> None:
    marks = [(mark.format(size, size), at) for size, at in ((8, 0), (8, 1000), (40, 2000), (8, 5000))]
    eight, forty = sizes_of(marks, [10, 1010, 1020, 5010], [11, 1011, *range(2100, 2400)])
    assert eight == {"rank": 0, "requests": 8, "steps": 2, "replayed": 2, "launches": 1, "apart_us": 1}
    assert forty == {"rank": 0, "requests": 40, "steps": 1, "replayed": 0, "launches": 300, "apart_us": 3}


def test_steps_that_read_prompts_are_no_decode_steps() -> None:
    names = (
        '"execute_8192_context_9(sq8155)_generation_37(sq37)"',
        '"step[EXTEND bs=15 toks=15360]"',
        '"step[MIXED bs=2]"',
    )
    assert sizes_of([(name, at * 100) for at, name in enumerate(names * 2)], [], []) == []


def test_a_graph_of_ascend_is_replayed_by_its_own_call() -> None:
    calls = "kind name start_ns end_ns\n" + "\n".join(
        (f"operator {VLLM.format(4, 4)} 0 9", "api aclmdlRIExecuteAsync 5 6", f"operator {VLLM.format(4, 4)} 10 19")
    )
    (row,) = decode_sizes(read_table(HostCall, calls), Table.empty(Launch)).rows()
    assert (row["steps"], row["replayed"], row["launches"]) == (1, 1, 0)


def test_a_mark_inside_another_marks_the_same_step() -> None:
    calls = read_table(
        HostCall,
        f"name start_ns end_ns\n{VLLM.format(4, 4)} 0 900\n{SGLANG.format(4)} 100 800\n"
        f"{VLLM.format(4, 4)} 1000 1900\n{SGLANG.format(4)} 1100 1800\n",
    )
    (row,) = engine_steps(Run(), Table.empty(Gap), Table.empty(Kernel), calls, None, None, None, None).rows()
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
            seen = any(begin <= one < end for one in replays), sum(begin <= one < end for one in launches)
            plain.setdefault(size, []).append(seen)
    found = {row["requests"]: row for row in sizes_of(marks, replays, launches)}
    assert found.keys() == plain.keys()
    for size, seen in plain.items():
        assert found[size]["steps"] == len(seen)
        assert found[size]["replayed"] == sum(replayed for replayed, _ in seen)
        assert found[size]["launches"] == pytest.approx(sum(many for _, many in seen) / len(seen))


def test_a_real_step_that_is_marked_twice_counts_once(real_data: Path) -> None:
    trace = real_data / "gpu_kineto_models" / "sglang_qwen3-8b_prefilldecode.json.gz"
    if not trace.is_file():
        pytest.skip("this capture is not in the folder of real data")
    profile = open_profile(trace, jobs=1)
    (row,) = profile.table(EngineStep).rows()
    assert (row["steps"], row["requests"], row["tokens"]) == (1, 15, 15360)
