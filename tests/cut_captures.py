# SPDX-License-Identifier: Apache-2.0
"""Captures of every export with a row of every fact, and every way to take rows out of one of their files."""

from __future__ import annotations

import json
import random
import re
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path

import corpus
from benchmarks.fuzz.captures import read_files, write_files
from corpus import gpu_traces
from corpus.export import EPOCH_NS
from corpus.mindinsight import stage_times, trace, write_one_rank, write_pipeline
from corpus.msprof import as_msprof
from tests.further_recordings import record_further

Cut = Callable[[Path], None]
Rows = list[str]
Event = dict[str, object]


def halves(chance: random.Random) -> Callable[[Rows], Rows]:
    return lambda rows: [row for row in rows if chance.random() < 0.5]


def ways_to_cut_rows() -> Iterator[tuple[str, Callable[[Rows], Rows]]]:
    yield "empty", lambda rows: []
    yield "half", halves(random.Random(7))  # noqa: S311
    yield "tail gone", lambda rows: rows[: len(rows) // 2]
    yield "middle gone", lambda rows: rows[: len(rows) * 2 // 5] + rows[len(rows) * 3 // 5 :]


def ways_for_csv(name: str) -> Iterator[tuple[str, Cut]]:
    def cut_by(keep: Callable[[Rows], Rows]) -> Cut:
        def cut(folder: Path) -> None:
            path = next(folder.rglob(name))
            lines = re.split(r"(?<=\n)(?=[^\n])", path.read_text("utf-8"))
            path.write_text("".join([lines[0], *keep(lines[1:])]), "utf-8")

        return cut

    for way, keep in ways_to_cut_rows():
        yield f"{name}: {way}", cut_by(keep)


def ways_for_json(name: str) -> Iterator[tuple[str, Cut]]:
    def cut_by(keep: Callable[[Rows], Rows]) -> Cut:
        def thinned(value: object, depth: int) -> object:
            if not isinstance(value, dict):
                return value
            if depth:
                return {key: thinned(inner, depth - 1) for key, inner in value.items()}
            return {key: value[key] for key in keep(list(value))}

        def cut(folder: Path) -> None:
            path = next(folder.rglob(name))
            path.write_text(json.dumps(thinned(json.loads(path.read_text("utf-8")), 2)), "utf-8")

        return cut

    for way, keep in ways_to_cut_rows():
        yield f"{name}: {way}", cut_by(keep)


def events_of(held: list[Event] | dict[str, list[Event]]) -> list[Event]:
    return held["traceEvents"] if isinstance(held, dict) else held


def ways_for_trace(folder: Path, name: str = "trace_view.json") -> Iterator[tuple[str, Cut]]:
    def lane(event: dict[str, object]) -> str:
        layer, at, _ = str(event.get("name")).partition("@")
        return f"{event.get('ph')} {event.get('cat') or (layer if at else '')}"

    def rewrite(folder: Path, keep: Callable[[list[Event]], list[Event]]) -> None:
        path = next(folder.rglob(name))
        held = json.loads(path.read_text("utf-8"))
        kept = keep(events_of(held))
        path.write_text(json.dumps({**held, "traceEvents": kept} if isinstance(held, dict) else kept), "utf-8")

    def without(gone: Callable[[dict[str, object]], bool]) -> Cut:
        def cut(folder: Path) -> None:
            rewrite(folder, lambda events: [event for event in events if not gone(event)])

        return cut

    def tail(folder: Path) -> None:
        rewrite(folder, lambda events: events[: len(events) // 2])

    def middle(folder: Path) -> None:
        def outside(events: list[Event]) -> list[Event]:
            moments = sorted(float(str(event["ts"])) for event in events if "ts" in event)
            low, high = (moments[len(moments) * part // 5] for part in (2, 3))
            return [event for event in events if "ts" not in event or not low <= float(str(event["ts"])) < high]

        rewrite(folder, outside)

    events = events_of(json.loads(next(folder.rglob(name)).read_text("utf-8")))
    for kind in sorted({lane(event) for event in events if event["ph"] != "M"}):
        chance = random.Random(7)  # noqa: S311
        yield f"{name}: no {kind}", without(lambda event, kind=kind: lane(event) == kind)
        yield (
            f"{name}: half of {kind}",
            without(lambda event, kind=kind, chance=chance: lane(event) == kind and chance.random() < 0.5),
        )
    chance = random.Random(7)  # noqa: S311
    yield f"{name}: half", without(lambda event: event["ph"] != "M" and chance.random() < 0.5)
    yield f"{name}: tail gone", tail
    yield f"{name}: middle gone", middle


def ways_for_lines(name: str) -> Iterator[tuple[str, Cut]]:
    def cut_by(keep: Callable[[Rows], Rows]) -> Cut:
        def cut(folder: Path) -> None:
            path = next(folder.rglob(name))
            path.write_text("".join(keep(path.read_text("utf-8").splitlines(keepends=True))), "utf-8")

        return cut

    for way, keep in ways_to_cut_rows():
        yield f"{name}: {way}", cut_by(keep)


def file_ways(folder: Path) -> Iterator[tuple[str, Cut]]:
    """Of every file with rows."""
    for path in sorted(path for path in folder.rglob("*") if path.is_file() and not path.name.startswith("profiler_")):
        if path.suffix == ".csv":
            yield from ways_for_csv(path.name)
        elif path.suffix == ".txt":
            yield from ways_for_lines(path.name)
        elif "trace" in path.name or path.name.startswith("msprof_"):
            yield from ways_for_trace(folder, path.name)
        else:
            yield from ways_for_json(path.name)


EVENT_TABLES = (
    "AICORE_FREQ",
    "CANN_API",
    "COMMUNICATION_OP",
    "COMPUTE_TASK_INFO",
    "CONNECTION_IDS",
    "CPU_USAGE",
    "CommAnalyzerBandwidth",
    "CommAnalyzerMatrix",
    "HCCS",
    "HOST_DISK_USAGE",
    "HOST_MEM_USAGE",
    "HOST_NETWORK_USAGE",
    "MEMORY_RECORD",
    "MSTX_EVENTS",
    "NIC",
    "NPU_MODULE_MEM",
    "OP_MEMORY",
    "QOS",
    "PYTORCH_API",
    "STEP_TIME",
    "STRING_IDS",
    "StepTraceTime",
    "TASK",
    "TASK_PMU_INFO",
)


def database_ways(folder: Path) -> Iterator[tuple[str, Cut]]:
    def run(statement: str, table: str) -> Cut:
        def cut(folder: Path) -> None:
            for file in folder.rglob("*.db"):
                with sqlite3.connect(file) as database:
                    rows = f"select name from sqlite_master where name = '{table}'"
                    if database.execute(rows).fetchone():
                        database.execute(statement.format(f'"{table}"'))
                database.close()

        return cut

    for table in EVENT_TABLES:
        yield f"{table}: gone", run("drop table {}", table)
        yield f"{table}: empty", run("delete from {}", table)
        yield f"{table}: half", run("delete from {} where (rowid * 7919) % 2", table)
        middle = f'(select (min(rowid) + max(rowid)) / 2 from "{table}")'
        yield f"{table}: tail gone", run(f"delete from {{}} where rowid > {middle}", table)
        low, high = (
            f'(select min(rowid) + (max(rowid) - min(rowid) + 1) * {part} / 5 from "{table}")' for part in (2, 3)
        )
        yield f"{table}: middle gone", run(f"delete from {{}} where rowid >= {low} and rowid < {high}", table)


# captures


def first_rank(folder: Path, export: str) -> Path:
    """The first of two ranks, as the profiler of the framework writes it, with all that can be recorded beside."""
    written = corpus.write(corpus.job("host-bound-2-ranks"), folder / "job", export, level=2, modules=True)
    write_files(record_further(read_files(written), EPOCH_NS // 1000), folder / "whole")
    return next(path for path in sorted((folder / "whole").iterdir()) if path.name.endswith("_ascend_pt"))


def of_msprof(folder: Path, export: str) -> Path:
    """The same as msprof writes it, which marks no steps."""
    write_files(as_msprof(read_files(first_rank(folder, export).parent)), folder / "msprof")
    return next((folder / "msprof").iterdir())


def trace_of_gpu(folder: Path) -> Path:
    return gpu_traces.write(folder / "gpu" / "host_7.1.pt.trace.json", gpu_traces.trace(gpu_traces.training(5))).parent


STEPS = 9
COSTS = "step_num,communication_cost,wait_cost,link_info,communication_operator_cost\n"


def folder_of_mindinsight(folder: Path) -> Path:
    """The first rank of a pipeline, with all that the old profiler writes of one."""
    write_pipeline(folder / "pipeline")
    made = write_one_rank(folder / "profiler")
    for path in (folder / "pipeline").glob("*_0.*"):
        shutil.copy(path, made)
    listed = '{""stream_1_0_Receive-op1"": [""receive"", 1.5, 0.5, {}]}'
    (made / "step_trace_raw_0_detail_time.csv").write_text(trace([(8000, 1500, 500)] * STEPS))
    (made / "ascend_cluster_analyse_pipeline-parallel_2_4_0.csv").write_text(stage_times([(1, 0.5, 0.1)] * STEPS))
    rows = "".join(f'{step},1,1,{{}},"{listed}"\n' for step in (*range(1, STEPS + 1), "-"))
    (made / "hccl_raw_0.csv").write_text(COSTS + rows)
    return made


CAPTURES: dict[str, tuple[Callable[[Path], Path], Callable[[Path], Iterator[tuple[str, Cut]]]]] = {
    "text": (lambda folder: first_rank(folder, "text"), file_ways),
    "database": (lambda folder: first_rank(folder, "database"), database_ways),
    "msprof": (lambda folder: of_msprof(folder, "text"), file_ways),
    "msprof database": (lambda folder: of_msprof(folder, "database"), database_ways),
    "GPU trace": (trace_of_gpu, file_ways),
    "MindSpore Insight": (folder_of_mindinsight, file_ways),
}
"""By export: what writes a capture of one rank into a folder, and how rows of one of its files are taken out."""
