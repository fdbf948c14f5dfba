# SPDX-License-Identifier: Apache-2.0
"""What is counted as lost is what a plain walk over the rows finds lost."""

from __future__ import annotations

import inspect
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.arrays.counted import AT_ENDS, longest_holes
from advisor.analysis.capture.coverage import rank_coverage
from advisor.facts.base import MISSING
from advisor.facts.derived import Coverage, RankCoverage
from advisor.facts.observed import (
    ApiTotal,
    Collective,
    DeviceTask,
    HostCall,
    Kernel,
    Launch,
    OperatorLink,
    OperatorTotal,
    RankCapture,
    StepTime,
    StepWindow,
    Transfer,
)
from advisor.facts.table import Table, Texts
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks
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


def links_of(*rows: tuple[int, int, int]) -> Table[OperatorLink]:
    rank, operator, device = zip(*rows, strict=True)
    return Table.build(OperatorLink, rank=rank, operator_start_ns=operator, device_start_ns=device)


TABLES = inspect.signature(rank_coverage).parameters.keys() - {"run"}


def counted(run: Run = TORCH, **tables: object) -> dict[tuple[int, str, str], tuple[float, float]]:
    try:
        table: Table[RankCoverage] = rank_coverage(run_of_ranks(run), **{**dict.fromkeys(TABLES), **tables})  # type: ignore[arg-type]
    except FactMissing:
        return {}
    sums: dict[tuple[int, str, str], tuple[float, float]] = {}
    for row in table.rows():
        if row["step"] is None:
            sums[row["rank"], row["of"], row["by"]] = (row["needed"], row["matched"])  # type: ignore[index, assignment]
    return sums


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
    kinds = {call[:2] for call in calls}
    software = [call for call in calls if call[1] == "api"]
    found = counted(kernels=kernels_of(*kernels), launches=launches_of(*launches), calls=calls_of(*calls))
    for rank in (0, 3):
        begun = {device for at, _, device in launches if at == rank}
        own = [start for at, start in kernels if at == rank and at in hosts and begun and start >= min(begun)]
        held = [call for call in (software if any(c[0] == rank for c in software) else calls) if call[0] == rank]
        issued = [host for at, host, _ in launches if at == rank]
        led = [device for at, _, device in launches if at == rank]
        expected = {
            ("launches", "kernels"): (
                (len(own), sum(start in begun for start in own)) if begun and (rank, "api") in kinds else (0, 0)
            ),
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
        rank_coverage(run_of_ranks(TORCH), **dict.fromkeys(TABLES))


@given(st.sets(st.integers(1, 5)), st.sets(st.integers(1, 5)), st.booleans())
def test_the_steps_that_were_summed_up_are_those_that_were_marked(marked, summed, hosts):
    windows = Table.build(StepWindow, rank=0, step=sorted(marked), start_ns=0, end_ns=1) if marked else None
    steps = Table.build(StepTime, rank=0, step=sorted(summed)) if summed else Table.empty(StepTime)
    tables = {"windows": windows, "steps": steps, "calls": calls_of((0, "python", 0, 1)) if hosts else None}
    found = counted(**tables)
    both = len(marked & summed)
    assert found.get((0, "step_windows", "step_times")) == ((len(summed), both) if summed and hosts else None)
    assert found.get((0, "step_times", "step_windows")) == ((len(marked), both) if marked else None)


@given(st.sets(st.integers(1, 5), min_size=1), st.sets(st.integers(1, 5)))
def test_the_steps_that_the_host_marked_are_those_of_the_table(marked, listed):
    windows = Table.build(StepWindow, rank=0, step=sorted(listed), start_ns=0, end_ns=1)
    names = Texts.of([*(f"ProfilerStep#{step}" for step in sorted(marked)), "ProfilerStep#9"])
    kinds = Texts.of([*("step" for _ in marked), "python"])
    calls = Table.build(
        HostCall, rank=0, kind=kinds, name=names, start_ns=range(len(names)), end_ns=range(9, 9 + len(names))
    )
    found = counted(windows=windows, calls=calls)
    assert found[0, "step_windows", "host_calls"] == (len(marked), len(marked & listed))


@given(
    st.lists(st.tuples(RANKS, TIMES, TIMES), min_size=1, max_size=8),
    st.lists(st.tuples(RANKS, TIMES, TIMES), max_size=8),
    st.lists(st.tuples(RANKS, TIMES), min_size=1, max_size=8),
    st.lists(st.tuples(RANKS, TIMES), min_size=1, max_size=6),
)
def test_what_operators_led_to_was_launched_and_they_were_called(links, launches, kernels, starts):
    calls = calls_of(*((rank, "operator", at, at) for rank, at in starts))
    found = counted(links=links_of(*links), launches=launches_of(*launches), calls=calls, kernels=kernels_of(*kernels))
    begun = {(rank, device) for rank, _, device in launches}
    for rank in (0, 3):
        own = [(rank, device) for at, _, device in links if at == rank and (rank, device) in kernels]
        called = [(rank, operator) for at, operator, _ in links if at == rank]
        expected = (len(own), sum(one in begun for one in own)) if own else None
        assert found.get((rank, "launches", "operator_links")) == expected
        expected = (len(called), sum(one in starts for one in called)) if called else None
        assert found.get((rank, "host_calls", "operator_links")) == expected


def test_a_trace_without_launches_lacks_them_where_operators_led_to_work():
    tables = {"kernels": kernels_of((0, 5)), "calls": calls_of((0, "operator", 0, 9))}
    assert (0, "launches", "operator_links") not in counted(**tables)
    assert counted(**tables, links=links_of((0, 0, 5)))[0, "launches", "operator_links"] == (1, 0)


@pytest.mark.parametrize(("kind", "needed"), [("mark", 1), ("wait", 1), ("copy", 2)])
def test_waits_and_marks_that_operators_led_to_need_no_launch(kind: str, needed: int):
    tasks = Table.build(DeviceTask, rank=0, kind=["kernel", kind], start_ns=[5, 8], name=["MatMul", "record_event"])
    tables = {"kernels": kernels_of((0, 5)), "calls": calls_of((0, "operator", 0, 9)), "tasks": tasks}
    found = counted(**tables, links=links_of((0, 0, 5), (0, 6, 8)), launches=launches_of((0, 1, 5)))
    assert found[0, "launches", "operator_links"] == (needed, 1)


def test_a_trace_of_a_version_that_draws_no_links_lacks_nothing():
    assert counted(kernels=kernels_of((0, 5)), calls=calls_of((0, "python", 0, 9))) == {}


def test_an_operator_that_the_database_lost_is_missed_by_its_link():
    tables = {"links": links_of((0, MISSING, 5), (0, 2, 6)), "calls": calls_of((0, "operator", 2, 9))}
    assert counted(**tables)[0, "host_calls", "operator_links"] == (2, 1)


def test_kernels_before_the_first_that_was_launched_here_were_launched_before_the_recording():
    tables = {"kernels": kernels_of((0, 2), (0, 5), (0, 8)), "launches": launches_of((0, 1, 5))}
    assert counted(**tables, calls=calls_of((0, "api", 0, 9)))[0, "launches", "kernels"] == (2, 1)


def test_kernels_of_a_graph_need_no_launch_of_their_own():
    tables = {"kernels": kernels_of((0, 8)), "launches": launches_of((0, 1, 7))}
    for kinds in (("graph", "api"), ("python",)):  # without calls into the software below, a graph is not seen
        calls = calls_of(*((0, kind, 0, 9) for kind in kinds))
        assert (0, "launches", "kernels") not in counted(**tables, calls=calls)
    assert counted(**tables, calls=calls_of((0, "api", 0, 9)))[0, "launches", "kernels"] == (1, 0)


@given(
    st.sets(st.tuples(RANKS, TIMES), min_size=1, max_size=6),
    st.lists(st.tuples(RANKS, st.sampled_from(["kernel", "copy"]), TIMES), min_size=1, max_size=8),
)
def test_kernels_are_tasks_of_the_device_and_its_kernels_are_listed(kernels, tasks):
    rank, kind, start = zip(*tasks, strict=True)
    table = Table.build(DeviceTask, rank=rank, kind=kind, start_ns=start, name="task")
    found = counted(kernels=kernels_of(*kernels), tasks=table)
    for rank in (0, 3):
        drawn = [start for at, kind, start in tasks if (at, kind) == (rank, "kernel")]
        every = {start for at, _, start in tasks if at == rank}
        own = [start for at, start in kernels if at == rank]
        expected = (len(drawn), sum((rank, start) in kernels for start in drawn)) if drawn else None
        assert found.get((rank, "kernels", "device_tasks")) == expected
        expected = (len(own), sum(start in every for start in own)) if drawn and own else None
        assert found.get((rank, "device_tasks", "kernels")) == expected


def test_kernels_by_which_hccl_runs_a_collective_are_not_missed():
    tasks = Table.build(DeviceTask, rank=0, kind="kernel", start_ns=[5, 6], name=["MatMul", "allreduceAicpuKernel"])
    assert counted(kernels=kernels_of((0, 5)), tasks=tasks)[0, "kernels", "device_tasks"] == (1, 1)


def test_totals_tell_how_many_kernels_there_were_and_may_leave_some_out():
    def totals(calls: float) -> Table[OperatorTotal]:
        return Table.build(OperatorTotal, rank=0, op_type=["MatMul", "allreduceAicpuKernel"], calls=[calls, 9])

    kernels = kernels_of((0, 5), (0, 6))
    assert counted(kernels=kernels, operators=totals(5))[0, "kernels", "operator_totals"] == (5, 2)
    assert counted(kernels=kernels, operators=totals(1))[0, "kernels", "operator_totals"] == (1, 1)


def test_totals_tell_how_many_calls_of_a_level_there_were_unless_none_of_it_was_written():
    totals = Table.build(ApiTotal, rank=0, kind=["api", "runtime"], name=["a", "b"], calls=[3, 7])
    captures = Table.build(RankCapture, rank=[0], source=["text"], level_number=[1.0])
    tables = {"calls": calls_of((0, "api", 0, 9)), "interfaces": totals}
    assert counted(**tables, captures=captures)[0, "host_calls", "api_totals"] == (3, 1)
    assert counted(**tables) == {}  # nothing says that such calls were recorded


def test_collectives_are_known_by_what_they_moved_and_by_their_launches():
    tables = {
        "collectives": Table.build(Collective, rank=0, step=1, name=["a", "b"], start_ns=[1000, 9000], size_bytes=8.0),
        "transfers": Table.build(Transfer, rank=0, step=1, name=["a", "a", "c"]),
        "launches": launches_of((0, 1, 1400), (0, 1, 20_000)),
    }
    found = counted(**tables)
    assert found[0, "collectives", "transfers"] == (2, 1)
    assert found[0, "collectives", "launches"] == (2, 1)
    assert found[0, "transfers", "collectives"] == (2, 1)


def test_what_is_received_may_be_listed_by_the_rank_that_sent_it():
    sides = {"op": ["send", "receive"], "transit_us": [5.0, 5.0], "size_bytes": 8.0}
    collectives = Table.build(Collective, rank=0, step=1, name=["a", "b"], **sides)
    transfers = Table.build(Transfer, rank=0, step=1, name=["a"])
    assert counted(collectives=collectives, transfers=transfers)[0, "transfers", "collectives"] == (1, 1)


def test_a_collective_that_took_time_to_move_data_moved_some():
    collectives = Table.build(Collective, rank=0, step=1, name=["a", "b", "c"], transit_us=[5.0, 0.0, np.nan])
    none = Table.empty(Transfer)
    assert counted(collectives=collectives, transfers=none)[0, "transfers", "collectives"] == (1, 0)


@pytest.mark.filterwarnings("error")
def test_collectives_of_a_size_that_no_integer_holds_are_counted():
    collectives = Table.build(Collective, rank=0, step=1, name=["a", "b"], size_bytes=9e29)
    transfers = Table.build(Transfer, rank=0, step=1, name=["a"])
    assert counted(collectives=collectives, transfers=transfers)[0, "transfers", "collectives"] == (2, 1)


def test_collectives_of_another_size_may_have_moved_nothing():
    collectives = Table.build(Collective, rank=0, step=1, name=["a", "b"], size_bytes=[8.0, 4.0])
    transfers = Table.build(Transfer, rank=0, step=1, name=["a"])
    assert counted(collectives=collectives, transfers=transfers)[0, "transfers", "collectives"] == (1, 1)


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
        assert len(table) >= 7
        assert np.array_equal(table["matched"], table["needed"]), folder
        assert not np.nansum(table["hole"]), folder


@given(st.lists(st.tuples(st.booleans(), st.integers(0, 2)), max_size=12))
def test_a_hole_is_the_longest_run_between_two_that_are_there_of_the_group_it_begins_in(rows):
    there, of = (np.array([row[place] for row in rows], kind) for place, kind in ((0, bool), (1, int)))
    longest = [0, 0, 0]
    begin = None
    for place, (found, _) in enumerate(rows):
        if found:
            if begin is not None:
                longest[rows[begin][1]] = max(longest[rows[begin][1]], place - begin)
            begin = None
        elif begin is None and any(found for found, _ in rows[:place]):
            begin = place
    assert longest_holes(there, of, 3).tolist() == longest


def test_a_hole_in_the_middle_is_told_and_not_what_lies_at_the_ends():
    launched = [(0, at, at) for at in (2, 3, 7, 8)]
    table = rank_coverage(
        run_of_ranks(TORCH),
        **{  # type: ignore[arg-type]
            **dict.fromkeys(TABLES),
            "kernels": kernels_of(*((0, at) for at in range(10))),
            "launches": launches_of(*launched),
            "calls": calls_of(*((0, "api", at, at) for at in range(10))),
        },
    )
    row = next(row for row in table.rows() if row["of"] == "launches")
    assert (row["needed"], row["matched"], row["hole"]) == (8, 4, 3)


@given(
    st.lists(TIMES, min_size=1, max_size=8, unique=True),
    st.sets(TIMES),
    st.lists(st.tuples(TIMES, st.sampled_from([4, 7, 9])), max_size=3, unique_by=(lambda w: w[0], lambda w: w[1])),
)
def test_a_step_that_lacks_rows_has_a_count_of_its_own_beside_that_of_the_whole_recording(needing, there, windows):
    launches = launches_of(*((0, 0, at) for at in needing))
    found = [at in there for at in sorted(needing)]
    steps: dict[int | None, list[bool]] = {}
    for place, at in enumerate(sorted(needing)):
        begun = max((window for window in windows if window[0] <= at), default=None)
        if begun and any(found[: place + 1]) and any(found[place:]):  # not at an end of the recording
            steps.setdefault(begun[1], []).append(at in there)
    expected = {step: (len(own), sum(own)) for step, own in steps.items() if not all(own)}
    expected[None] = (len(found), sum(found))
    table = rank_coverage(
        run_of_ranks(TORCH),
        **{  # type: ignore[arg-type]
            **dict.fromkeys(TABLES),
            "kernels": kernels_of(*((0, at) for at in [*there, 99])),
            "launches": launches,
            "windows": Table.build(
                StepWindow, rank=0, step=[w[1] for w in windows], start_ns=[w[0] for w in windows], end_ns=99
            )
            if windows
            else None,
        },
    )
    rows = [row for row in table.rows() if (row["of"], row["by"]) == ("device_tasks", "launches")]
    assert {row["step"]: (row["needed"], row["matched"]) for row in rows} == expected


def test_of_mindspore_that_lists_those_in_steps_alone_no_transfers_are_missed():
    collectives = Table.build(
        Collective, rank=0, step=1, name=["a", "b"], op=["allReduce"] * 2, size_bytes=[8.0, 8.0], transit_us=[1.0, 1.0]
    )
    transfers = Table.build(Transfer, rank=0, step=1, name=["a"])
    tables = {"collectives": collectives, "transfers": transfers}
    missed = counted(**tables).keys() - counted(Run(framework="MindSpore"), **tables).keys()
    assert missed == {(0, "transfers", "collectives")}


@pytest.mark.parametrize("stepless", ["collectives", "transfers"])
def test_collectives_and_what_they_moved_are_one_where_one_of_both_is_in_no_step(stepless: str) -> None:
    steps = {name: MISSING if name == stepless else 1 for name in ("collectives", "transfers")}
    collectives = Table.build(
        Collective, rank=0, step=steps["collectives"], name=["a", "b"], group="g", op="allReduce", size_bytes=8.0,
        transit_us=1.0,
    )  # fmt: skip
    transfers = Table.build(Transfer, rank=0, step=steps["transfers"], name=["a", "b"])
    found = counted(collectives=collectives, transfers=transfers)
    assert found[0, "collectives", "transfers"] == (2, 2)
    assert found[0, "transfers", "collectives"] == (2, 2)


def test_transfers_that_one_step_lacks_are_told_with_it():
    tables = {
        "collectives": Table.build(Collective, rank=0, step=[1, 2, 2], name=["a", "a", "b"], size_bytes=8.0),
        "transfers": Table.build(Transfer, rank=0, step=[1, 2], name=["a", "a"]),
    }
    table = rank_coverage(run_of_ranks(TORCH), **{**dict.fromkeys(TABLES), **tables})  # type: ignore[arg-type]
    lacking = [row for row in table.rows() if row["step"]]
    assert [(row["step"], row["of"], row["needed"], row["matched"]) for row in lacking] == [(2, "transfers", 2, 1)]


@pytest.mark.parametrize("gone", [AT_ENDS - 1, AT_ENDS])
@pytest.mark.parametrize("at_the_end", [False, True])
def test_few_rows_at_an_end_of_the_recording_are_lost_in_no_step(gone: int, at_the_end: bool) -> None:
    launched = range(100 - gone) if at_the_end else range(gone, 100)
    launches = launches_of(*((0, at, at) for at in range(100)))
    windows = Table.build(StepWindow, rank=0, step=[1, 2], start_ns=[0, 50], end_ns=[50, 100])
    tables = {"kernels": kernels_of(*((0, at) for at in launched)), "launches": launches, "windows": windows}
    table = rank_coverage(run_of_ranks(TORCH), **{**dict.fromkeys(TABLES), **tables})  # type: ignore[arg-type]
    lacking = [(row["step"], row["needed"], row["matched"]) for row in table.rows() if row["step"]]
    assert lacking == ([(1 + at_the_end, 50, 50 - gone)] if gone == AT_ENDS else [])
