# SPDX-License-Identifier: Apache-2.0
"""Captures as MindSpore's profiler writes them: the same job, with what its writers make of steps, names and queues."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

import advisor
import corpus
from advisor.pipeline import modules, open_profile
from corpus.cases import setup_of
from corpus.events import Layout
from corpus.export import EPOCH_NS
from corpus.mindspore import MODES
from corpus.workloads import WORKLOADS
from tests.sources.ascend.test_module_marks import MARKS


@cache
def _job(case: str = "data-loader") -> corpus.Job:
    base = replace(setup_of(case), layout=Layout(dp=2))
    return corpus.job(case, 5, setup=replace(base, workload=replace(base.workload, steps=2)))


def lines_of(folder: Path, name: str) -> list[dict[str, str]]:
    (path,) = sorted(folder.glob(f"*_ascend_ms/*/{name}"))[:1]
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("mode", MODES)
def test_the_job_of_both_modes_is_the_one_of_pytorch(tmp_path: Path, mode: str) -> None:
    theirs = advisor.diagnose(corpus.write(_job(), tmp_path / "ms", mindspore=mode))
    ours = advisor.diagnose(corpus.write(_job(), tmp_path / "pt"))
    assert (theirs.run.framework, theirs.run.execution, theirs.run.ranks) == ("MindSpore", mode, ours.run.ranks)
    assert (theirs.run.steps, theirs.run.step_us) == (ours.run.steps, pytest.approx(ours.run.step_us))
    assert not [note for note in theirs.findings if note.rule in ("capture/damaged-input", "capture/lost-rows")]
    assert theirs.findings[0].rule == "io/dataset-pipeline"
    assert theirs.findings[0].saving.us == pytest.approx(ours.findings[0].saving.us, rel=0.25)


@pytest.mark.parametrize("mode", MODES)
def test_others_that_wait_for_a_rank_that_waits_for_its_data_are_told_under_it(tmp_path: Path, mode: str) -> None:
    found = advisor.diagnose(corpus.write(_job("data-loader-one-rank"), tmp_path, mindspore=mode))
    assert found.findings[0].rule == "io/dataset-pipeline"
    causes = {name for one in found.findings if one.rule == "comm/exposed-communication" for name in one.causes}
    assert found.findings[0].fingerprint in causes


def test_a_kernel_bears_the_name_of_what_launched_it(tmp_path: Path) -> None:
    corpus.write(_job(), tmp_path / "pynative", mindspore="pynative")
    corpus.write(_job(), tmp_path / "graph", mindspore="graph")
    eager, graph = (lines_of(tmp_path / mode, "kernel_details.csv") for mode in ("pynative", "graph"))
    assert all(row["Name"].startswith("PynativeFramework::PyNativeLaunchTask::") for row in eager)
    kernels = [row for row in graph if "hcom_" not in row["Name"]]  # these count on
    nodes = [{row["Name"] for row in kernels if row["Step ID"] == step} for step in ("11", "12")]
    assert nodes[0] and nodes[0] == nodes[1]  # a node of a graph has one name in every step
    assert all("-op" in name and name.startswith("Kernel::KernelLaunch::") for name in nodes[0])


def test_steps_are_windows_of_the_host(tmp_path: Path) -> None:
    corpus.write(_job(), tmp_path, mindspore="graph")
    rows = lines_of(tmp_path, "step_trace_time.csv")
    assert [row["Step"] for row in rows] == [call.name.partition("#")[2] for call in _job().ranks[0].steps()]
    parts = ("Computing", "Communication(Not Overlapped)", "Free")
    spans = [sum(float(row[part]) for part in parts) for row in rows]
    lasted = [(call.end - call.start) / 1e3 for call in _job().ranks[0].steps()]
    assert all(span <= host for span, host in zip(spans, lasted, strict=True))


@pytest.mark.parametrize("mode", MODES)
def test_a_step_is_marked_with_the_module_and_event_before_its_name(tmp_path: Path, mode: str) -> None:
    corpus.write(_job(), tmp_path, mindspore=mode)
    events = json.loads(min(tmp_path.glob("*_ascend_ms/*/trace_view.json")).read_text(encoding="utf-8"))
    marks = [one["name"] for one in events if "ProfilerStep#" in one["name"]]
    assert marks == [f"Python::PythonObserved::{call.name}" for call in _job().ranks[0].steps()]
    assert advisor.diagnose(tmp_path).run.steps == tuple(int(name.partition("#")[2]) for name in marks)


def test_a_database_holds_neither_steps_nor_calls_of_the_framework(tmp_path: Path) -> None:
    corpus.write(_job(), tmp_path, "database", mindspore="graph")
    path = min(tmp_path.glob("*_ascend_ms/*/ascend_mindspore_profiler_0.db"))
    with closing(sqlite3.connect(path)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    assert {"TASK", "CANN_API", "COMMUNICATION_OP"} <= tables
    assert not tables & {"STEP_TIME", "PYTORCH_API", "CONNECTION_IDS", "MEMORY_RECORD"}
    run = advisor.diagnose(tmp_path).run
    assert (run.steps, run.framework, run.execution) == ((), "MindSpore", "")


def test_the_communication_of_a_database_is_told_without_steps_and_is_that_of_the_text(tmp_path: Path) -> None:
    job = _job("slow-link")
    corpus.write(job, tmp_path / "db", "database", mindspore="graph")
    path = min((tmp_path / "db").glob("*_ascend_ms/*/communication_analyzer.db"))
    with closing(sqlite3.connect(path)) as connection:
        columns = {
            name: [column[1] for column in connection.execute(f"PRAGMA table_info({name})")]
            for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        }
    assert sorted(columns) == ["CommAnalyzerBandwidth", "CommAnalyzerMatrix", "CommAnalyzerTime"]
    assert not {"step", "type", "op_name"} & {name for names in columns.values() for name in names}
    corpus.write(job, tmp_path / "text", mindspore="graph")
    marked = mark_steps(job, tmp_path / "db")
    told, wanted = (advisor.load_profile(folder) for folder in (marked, tmp_path / "text"))
    for table, keys in (("transfers", ("rank", "step", "name", "link")), ("links", ("rank", "step", "op", "target"))):
        assert {tuple(row[key] for key in keys) for row in told.table(table).rows()} == {
            tuple(row[key] for key in keys) for row in wanted.table(table).rows()
        }
    assert not len(told.table("damages"))
    for table, column in (("transfers", "transit_us"), ("links", "transit_us"), ("collectives", "wait_us")):
        assert sum(told.table(table)[column]) == pytest.approx(sum(wanted.table(table)[column]))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("renamed", [False, True])
def test_the_text_of_a_folder_with_a_database_beside_it_is_read_first(tmp_path: Path, mode: str, renamed: bool) -> None:
    """The database is msprof's: it knows neither the calls of the framework nor its steps."""
    job = _job("exposed-communication")
    text = corpus.write(job, tmp_path / "text", mindspore=mode)
    both = corpus.write(job, tmp_path / "both", mindspore=mode)
    corpus.write(job, tmp_path / "db", "database", mindspore=mode)
    for path in (tmp_path / "db").glob("*_ascend_ms/ASCEND_PROFILER_OUTPUT/*.db"):
        path.rename(both / path.relative_to(tmp_path / "db"))
    if renamed:
        for number, path in enumerate(sorted(both.glob("*_ascend_ms"))):
            path.rename(both / f"rank{number}")
    told, wanted = advisor.diagnose(both), advisor.diagnose(text)
    assert {capture.source for capture in told.run.captures} == {"text+database"}
    assert (told.run.steps, told.run.step_us) == (wanted.run.steps, wanted.run.step_us)
    firsts = [[(one.rule, one.saving) for one in found.findings] for found in (told, wanted)]
    assert firsts[0] == firsts[1]
    profiles = [advisor.load_profile(folder) for folder in (both, text)]
    for name in ("kernels", "launches", "host_calls", "collectives", "transfers", "links", "step_windows"):
        assert len(profiles[0].table(name)) == len(profiles[1].table(name)), name
    assert not len(profiles[0].table("damages"))


def mark_steps(job: corpus.Job, folder: Path) -> Path:
    """A range `step N` around each step on the thread that launches, as MindFormers marks them."""
    for trace in job.ranks:
        (path,) = folder.glob(f"*_ascend_ms/*/ascend_mindspore_profiler_{trace.rank}.db")
        thread = next(call.thread for call in trace.calls if call.layer == "queue" and call.name != "Enqueue")
        with closing(sqlite3.connect(path)) as connection, connection:
            (top,) = connection.execute("SELECT max(id) FROM STRING_IDS").fetchone()
            names = ["default", *(f"step {call.name.partition('#')[2]}" for call in trace.steps())]
            connection.executemany("INSERT INTO STRING_IDS VALUES (?, ?)", enumerate(names, top + 1))
            connection.execute(f"CREATE TABLE IF NOT EXISTS MSTX_EVENTS ({MARKS})")
            for number, call in enumerate(trace.steps(), top + 2):
                times = (call.start + EPOCH_NS, call.end + EPOCH_NS - 1000)
                row = (*times, 2, number, 0, number, thread, thread, top + 1, 0)
                connection.execute("INSERT INTO MSTX_EVENTS VALUES (?,?,?,?,?,?,?,?,?,?)", row)
    return folder


@pytest.mark.parametrize("mode", MODES)
def test_steps_that_the_program_marks_in_a_database_are_those_of_the_text(tmp_path: Path, mode: str) -> None:
    job = _job()
    text = advisor.diagnose(corpus.write(job, tmp_path / "text", mindspore=mode))
    found = advisor.diagnose(mark_steps(job, corpus.write(job, tmp_path / "db", "database", mindspore=mode)))
    assert (found.run.steps, found.run.step_us) == (text.run.steps, pytest.approx(text.run.step_us, rel=0.01))
    assert not [one for one in found.findings if one.rule == "capture/no-steps"]
    assert not [one for one in found.findings if one.rule in ("capture/damaged-input", "capture/lost-rows")]


def test_groups_are_named_by_their_members(tmp_path: Path) -> None:
    setup = WORKLOADS["pipeline"]
    small = replace(setup, workload=replace(setup.workload, layers=2, micro_batches=2, steps=1))  # type: ignore[call-arg]
    corpus.write(corpus.job("healthy", setup=small), tmp_path, mindspore="graph", level=0)
    told = json.loads(min(tmp_path.glob("*_ascend_ms/profiler_metadata.json")).read_text())["parallel_group_info"]
    names = {entry["group_name"] for entry in told.values()}
    assert "hccl_world_group" in names and len(names) > 1
    assert advisor.diagnose(tmp_path).run.parallel.stages == ((0, 1), (2, 3))


def test_marked_modules_launch_in_forward_passes_what_they_do_in_pytorch(tmp_path: Path) -> None:
    job = corpus.job("healthy", 5)
    of = {
        name: modules(open_profile(corpus.write(job, tmp_path / name, mindspore=name, modules=True))).ranks[0].tree
        for name in ("", "pynative")
    }
    theirs = {node.path: node.total_us for node in of["pynative"] if node.path}
    assert theirs == {node.path: pytest.approx(node.forward_us) for node in of[""] if node.path}
    assert set(theirs) >= {"model/layers.*/mlp", "model/layers.*/self_attn"}
