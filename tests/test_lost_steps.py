# SPDX-License-Identifier: Apache-2.0
"""A step whose rows are taken out of a long recording is told with the file they were in, or the kind of rows is listed
here with the reason why nothing can tell of them."""

from __future__ import annotations

import csv
import io
import json
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

import corpus
from advisor.facts.observed import StepWindow
from advisor.machine.shipped_files import shipped_folder
from advisor.pipeline import judge_profile, open_profile
from advisor.rules.catalog import Catalog
from corpus.cases import Setup
from corpus.events import Layout
from corpus.transformer import Transformer
from tests.told_files import names, told

NOT_KNOWN = {
    "trace_view.json: X Hccl": "steps without a collective are usual, and totals name no step",
    "trace_view.json: X HCCL": "collectives are those of kernel_details.csv; who waited for whom has no counterpart",
    "trace_view.json: X Overlap Analysis": "not read",
    "trace_view.json: f async_npu": "links of operators tell of other tables, and nothing tells of them",
    "trace_view.json: s async_npu": "as f async_npu",
    "trace_view.json: f async_task_queue": "as f async_npu",
    "trace_view.json: s async_task_queue": "as f async_npu",
}
"""Rows of which those of a step can be gone without anything that tells, and why."""
STEPS = 24
"""So many that one of them holds less than what is tolerated of the whole recording."""
GONE = 13
Span = tuple[int, int]
Cut = Callable[[Path, Span], None]
Event = dict[str, object]


def write_long_capture(folder: Path, export: str) -> Path:
    setup = Setup(Transformer(layers=1, batch=1, steps=STEPS), Layout(dp=2))
    return corpus.write(corpus.job("healthy", 3, setup=setup), folder / "job", export, level=1)


def first_file(folder: Path, name: str) -> Path:
    return min(folder.rglob(name))


def ways_for_events(folder: Path) -> Iterator[tuple[str, Cut]]:
    events = json.loads(first_file(folder, "trace_view.json").read_text("utf-8"))
    lanes = {event["pid"]: event["args"]["name"] for event in events if event["name"] == "process_name"}

    def kind(event: Event) -> str:
        layer, at, _ = str(event["name"]).partition("@")
        return f"{event['ph']} {event.get('cat') or (layer if at else lanes[event['pid']])}"

    def without(gone: str) -> Cut:
        def cut(folder: Path, step: Span) -> None:
            path = first_file(folder, "trace_view.json")
            events = json.loads(path.read_text("utf-8"))
            kept = [one for one in events if not (kind(one) == gone and lies_in(float(str(one["ts"])) * 1000, step))]
            assert len(kept) < len(events)
            path.write_text(json.dumps(kept), "utf-8")

        return cut

    for name in sorted({kind(event) for event in events if event["ph"] not in "MC"}):
        yield f"trace_view.json: {name}", without(name)


def lies_in(moment: float, step: Span) -> bool:
    return step[0] <= moment < step[1]


def without_rows(name: str, column: str) -> Cut:
    def cut(folder: Path, step: Span) -> None:
        path = first_file(folder, name)
        heading, *rows = csv.reader(io.StringIO(path.read_text("utf-8"), newline=""))
        at = heading.index(column)
        kept = [row for row in rows if row[at].strip() != str(GONE)]
        assert len(kept) < len(rows)
        text = io.StringIO(newline="")
        csv.writer(text, lineterminator="\n").writerows([heading, *kept])
        path.write_text(text.getvalue(), "utf-8")

    return cut


def without_entry(name: str) -> Cut:
    def cut(folder: Path, step: Span) -> None:
        path = first_file(folder, name)
        held = json.loads(path.read_text("utf-8"))
        del held[f"step{GONE}"]
        path.write_text(json.dumps(held), "utf-8")

    return cut


def text_ways(folder: Path) -> Iterator[tuple[str, Cut]]:
    yield from ways_for_events(folder)
    yield "kernel_details.csv", without_rows("kernel_details.csv", "Step Id")
    yield "step_trace_time.csv", without_rows("step_trace_time.csv", "Step")
    yield "communication.json", without_entry("communication.json")


def database_ways(folder: Path) -> Iterator[tuple[str, Cut]]:
    def deleting(table: str, where: str) -> Cut:
        def cut(folder: Path, step: Span) -> None:
            holds = "select name from sqlite_master where name = ?"
            for file in sorted(folder.rglob("*.db")):
                with closing(sqlite3.connect(file)) as database, database:
                    if database.execute(holds, (table,)).fetchone():
                        values = {"begin": step[0], "end": step[1], "step": GONE}
                        assert database.execute(f"delete from {table} where {where}", values).rowcount
                        return

        return cut

    within = "startNs >= :begin and startNs < :end"
    for table in ("TASK", "CANN_API", "PYTORCH_API", "COMMUNICATION_OP"):
        yield table, deleting(table, within)
    yield "STEP_TIME", deleting("STEP_TIME", "id = :step")
    tasks = f"select globalTaskId from TASK where {within}"
    yield "COMPUTE_TASK_INFO", deleting("COMPUTE_TASK_INFO", f"globalTaskId in ({tasks})")
    yield "StepTraceTime", deleting("StepTraceTime", "cast(step as integer) = :step")


WAYS = {"text": text_ways, "database": database_ways}


@pytest.mark.parametrize("export", WAYS)
def test_a_step_that_is_gone_from_a_long_recording_is_told(export: str, tmp_path: Path) -> None:
    whole = write_long_capture(tmp_path, export)
    catalog = Catalog.load([shipped_folder("rules")]).select(["capture/*"])
    profile = open_profile(whole)
    windows = [row for row in profile.table(StepWindow).rows() if row["rank"] == 0 and row["step"] == GONE]
    step = (windows[0]["start_ns"], windows[0]["end_ns"])
    before = judge_profile(profile, catalog, shown=())
    assert not told(before)
    silent = set()
    for way, cut in WAYS[export](whole):
        damaged = shutil.copytree(whole, tmp_path / "damaged" / whole.name)
        cut(damaged, step)
        if not names(told(judge_profile(open_profile(damaged), catalog, shown=())), way.partition(":")[0], export):
            silent.add(way)
        shutil.rmtree(damaged)
    assert silent == (NOT_KNOWN.keys() if export == "text" else set())
