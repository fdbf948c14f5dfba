# SPDX-License-Identifier: Apache-2.0
"""What is counted as lost is what a plain walk over the rows finds lost."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.coverage import coverage
from advisor.facts.derived import Coverage
from advisor.facts.observed import HostCall, Kernel, Launch, RankCapture, StepTime, StepWindow
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.pipeline import open_profile

TORCH = Run(framework="PyTorch")


def kernels_of(*rows: tuple[int, int]) -> Table[Kernel]:
    rank, start = zip(*rows, strict=True)
    return Table.build(Kernel, rank=rank, start_ns=start, duration_us=[1.0] * len(rows))


def launches_of(*rows: tuple[int, int, int]) -> Table[Launch]:
    if not rows:
        return Table.empty(Launch)
    rank, host, device = zip(*rows, strict=True)
    return Table.build(Launch, rank=rank, host_start_ns=host, device_start_ns=device)


def calls_of(*rows: tuple[int, str, int, int]) -> Table[HostCall]:
    rank, kind, start, end = zip(*rows, strict=True)
    return Table.build(HostCall, rank=rank, kind=kind, start_ns=start, end_ns=end)


def counted(run: Run = TORCH, **tables: object) -> dict[tuple[int, str, str], tuple[float, float]]:
    given = dict.fromkeys(("kernels", "launches", "calls", "collectives", "tasks", "windows", "steps", "captures"))
    try:
        table: Table[Coverage] = coverage(run, **{**given, **tables})  # type: ignore[arg-type]
    except FactMissing:
        return {}
    return {(row["rank"], row["of"], row["by"]): (row["needed"], row["found"]) for row in table.rows()}  # type: ignore[misc]


TIMES = st.integers(0, 6)
RANKS = st.sampled_from([0, 3])


@given(
    st.lists(st.tuples(RANKS, TIMES), min_size=1, max_size=8),
    st.lists(st.tuples(RANKS, TIMES, TIMES), max_size=8),
    st.lists(st.tuples(RANKS, st.sampled_from(["python", "api", "operator"]), TIMES, TIMES), min_size=1, max_size=6),
)
def test_every_row_that_needs_another_is_counted_once(kernels, launches, calls):
    calls = [(rank, kind, min(a, b), max(a, b)) for rank, kind, a, b in calls]
    hosts = {rank for rank, *_ in calls}
    software = [call for call in calls if call[1] == "api"]
    found = counted(kernels=kernels_of(*kernels), launches=launches_of(*launches), calls=calls_of(*calls))
    for rank in (0, 3):
        begun = {device for at, _, device in launches if at == rank}
        own = [start for at, start in kernels if at == rank and at in hosts]
        held = [call for call in (software if any(c[0] == rank for c in software) else calls) if call[0] == rank]
        issued = [host for at, host, _ in launches if at == rank]
        led = [device for at, _, device in launches if at == rank]
        expected = {
            ("launches", "kernels"): (len(own), sum(start in begun for start in own)),
            ("host_calls", "launches"): (len(issued), sum(any(a <= at <= b for _, _, a, b in held) for at in issued)),
            ("device_tasks", "launches"): (len(led), sum((rank, start) in kernels for start in led)),
        }
        for (of, by), (needed, there) in expected.items():
            assert found.get((rank, of, by)) == ((needed, there) if needed else None)


@given(st.lists(st.tuples(RANKS, st.sampled_from(["enqueue", "dequeue", "python"])), min_size=1, max_size=12))
def test_the_two_ends_of_the_task_queue_tell_of_the_same_tasks(calls):
    found = counted(calls=calls_of(*((rank, kind, 0, 1) for rank, kind in calls)), launches=launches_of((0, 0, 0)))
    for rank in (0, 3):
        counts = [calls.count((rank, kind)) for kind in ("enqueue", "dequeue")]
        expected = (max(counts), min(counts)) if max(counts) else None
        assert found.get((rank, "host_calls", "host_calls")) == expected


def test_where_no_row_needs_another_nothing_is_said():
    with pytest.raises(FactMissing):
        coverage(TORCH, **dict.fromkeys(inspect.signature(coverage).parameters.keys() - {"run"}))


@given(st.sets(st.integers(1, 5)), st.sets(st.integers(1, 5)), st.booleans())
def test_the_steps_that_were_summed_up_are_those_that_were_marked(marked, summed, hosts):
    windows = Table.build(StepWindow, rank=0, step=sorted(marked), start_ns=0, end_ns=1) if marked else None
    steps = Table.build(StepTime, rank=0, step=sorted(summed)) if summed else Table.empty(StepTime)
    tables = {"windows": windows, "steps": steps, "calls": calls_of((0, "python", 0, 1)) if hosts else None}
    found = counted(**tables)
    both = len(marked & summed)
    assert found.get((0, "step_windows", "step_times")) == ((len(summed), both) if summed and hosts else None)
    assert found.get((0, "step_times", "step_windows")) == ((len(marked), both) if marked else None)


def test_a_trace_without_launches_lacks_them_where_torch_wrote_it():
    tables = {"kernels": kernels_of((0, 5)), "calls": calls_of((0, "python", 0, 9))}
    assert counted(**tables) == {(0, "launches", "kernels"): (1, 0)}
    assert counted(Run(framework="MindSpore"), **tables) == {}


def test_kernels_of_a_graph_need_no_launch_of_their_own():
    tables = {"kernels": kernels_of((0, 5)), "calls": calls_of((0, "graph", 0, 9)), "launches": launches_of((0, 1, 5))}
    assert (0, "launches", "kernels") not in counted(**tables)


def test_above_level0_a_launch_lies_in_a_call_into_the_software_of_the_device():
    captures = Table.build(RankCapture, rank=[0], source=["text"], level_number=[1.0])
    tables = {"calls": calls_of((0, "python", 0, 9)), "launches": launches_of((0, 1, 5))}
    assert counted(**tables)[0, "host_calls", "launches"] == (1, 1)
    assert counted(**tables, captures=captures)[0, "host_calls", "launches"] == (1, 0)


def test_no_row_of_a_real_capture_lacks_its_counterpart(real_data: Path):
    folders = [
        *(
            real_data / "msinsight_pytorch_matrix" / export / f"level{level}"
            for export in ("text", "db")
            for level in range(3)
        ),
        real_data / "helix_fixtures/standalone_real_output",
        real_data / "msprof_analyze_tests/ut/advisor/timeline_advice",
    ]
    for folder in folders:
        table = open_profile(folder).table(Coverage)
        assert len(table) >= 4
        assert np.array_equal(table["found"], table["needed"]), folder
