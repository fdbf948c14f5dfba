# SPDX-License-Identifier: Apache-2.0
"""Both exports of one job are valid files and hold the same rows, at every level and in every spelling."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import corpus
from corpus.accounting import step_times
from corpus.cases import Setup, job
from corpus.events import Job, Layout
from corpus.export import EPOCH_NS
from corpus.planes import group_hash
from corpus.transformer import Transformer
from corpus.troubles import Troubles

LEVELS = (0, 1, 2)
SMALL = Setup(workload=Transformer(layers=1, steps=2, troubles=Troubles(collection_us=900.0)), layout=Layout(dp=2))
VARIANTS: dict[str, dict[str, Any]] = {
    "plain": {},
    "device column": {"device_column": True},
    "block num": {"block_word": "Num"},
    "communication": {"communication_word": "COMMUNICATION"},
    "no steps": {"steps": False},
    "no memory": {"memory": False},
    "clock behind": {"clock_ns": -80_000},
    "versions": {"versions": True},
    "untyped": {"typed": False},
    "no groups": {"grouped": False},
    "all idle": {"all_idle": True},
}


@pytest.fixture(scope="module")
def small() -> Job:
    return job("synchronise-per-layer", setup=SMALL)


@pytest.fixture(scope="module", params=LEVELS)
def both(
    request: pytest.FixtureRequest, small: Job, tmp_path_factory: pytest.TempPathFactory
) -> tuple[int, Path, Path]:
    level = request.param
    folder = tmp_path_factory.mktemp(f"level{level}")
    text = corpus.write(small, folder / "text", "text", level)
    return level, text, corpus.write(small, folder / "db", "database", level)


def _output(folder: Path, rank: int = 0) -> Path:
    return sorted(folder.glob("*_ascend_pt/ASCEND_PROFILER_OUTPUT"))[rank]


def _rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (_output(folder) / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _events(folder: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads((_output(folder) / "trace_view.json").read_text())
    return events


def _query(folder: Path, sql: str, name: str = "ascend_pytorch_profiler_0.db") -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(_output(folder) / name)) as connection:
        return connection.execute(sql).fetchall()


def _ns(text: str) -> int:
    whole, _, fraction = text.strip().partition(".")
    return int(whole) * 1000 + int(fraction.ljust(3, "0"))


@pytest.mark.parametrize("variant", VARIANTS.values(), ids=list(VARIANTS))
@pytest.mark.parametrize("level", LEVELS)
def test_every_spelling_writes_files_that_parse(
    small: Job, tmp_path: Path, level: int, variant: dict[str, Any]
) -> None:
    corpus.write(small, tmp_path / "text", "text", level, **variant)
    corpus.write(small, tmp_path / "db", "database", level, **variant)
    for path in (tmp_path / "text").rglob("*.json"):
        json.loads(path.read_text(encoding="utf-8"))
    for path in (tmp_path / "text").rglob("*.csv"):
        with path.open(newline="", encoding="utf-8") as file:
            header, *rows = list(csv.reader(file))
        assert rows, path
        assert all(len(row) == len(header) for row in rows), path
        assert len(set(header)) == len(header)
    for path in (tmp_path / "db").rglob("*.db"):
        with closing(sqlite3.connect(path)) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]


def test_kernels_of_both_exports_are_the_same_rows(both: tuple[int, Path, Path]) -> None:
    level, text, database = both
    core = "co.value" if level else "'N/A'"
    rows = _query(
        database,
        f"""SELECT n.value, ty.value, {core}, t.startNs, t.endNs - t.startNs, c.blockDim
        FROM COMPUTE_TASK_INFO c JOIN TASK t USING(globalTaskId) JOIN STRING_IDS n ON n.id = c.name
        JOIN STRING_IDS ty ON ty.id = c.opType JOIN STRING_IDS co ON co.id = c.taskType
        UNION ALL SELECT n.value, ty.value, 'HCCL', startNs, endNs - startNs, 0 FROM COMMUNICATION_OP o
        JOIN STRING_IDS n ON n.id = o.opName JOIN STRING_IDS ty ON ty.id = o.opType ORDER BY 4""",
    )
    told = [
        (
            r["Name"],
            r["Type"],
            r["Accelerator Core"],
            _ns(r["Start Time(us)"]),
            _ns(r["Duration(us)"]),
            int(r["Block Dim"]),
        )
        for r in _rows(text, "kernel_details.csv")
    ]
    assert sorted(told) == sorted(rows)
    assert told == sorted(told, key=lambda row: row[3])


def test_step_times_of_both_exports_are_the_models(both: tuple[int, Path, Path], small: Job) -> None:
    _, text, database = both
    model = [(row.computing, row.exposed, row.free) for row in step_times(small.ranks[0])]
    told = [
        (_ns(r["Computing"]), _ns(r["Communication(Not Overlapped)"]), _ns(r["Free"]))
        for r in _rows(text, "step_trace_time.csv")
    ]
    stored = _query(database, "SELECT computing, communication_not_overlapped, free FROM StepTraceTime", "analysis.db")
    assert told == model
    assert [tuple(round(value * 1000) for value in row) for row in stored] == model


def test_flows_pair_and_end_on_events(both: tuple[int, Path, Path]) -> None:
    _, text, _ = both
    events = _events(text)
    starts = {(e["pid"], e["tid"], e["ts"]) for e in events if e["ph"] == "X"}
    for category in ("HostToDevice", "async_npu", "async_task_queue"):
        ends = {ph: Counter(str(e["id"]) for e in events if e.get("cat") == category and e["ph"] == ph) for ph in "sf"}
        assert ends["s"] == ends["f"]
        assert set(ends["s"].values()) == {1}
        assert all(
            (e["pid"], e["tid"], e["ts"]) in starts for e in events if e.get("cat") == category and e["ph"] == "f"
        )


def test_launches_of_both_exports_link_the_same_moments(both: tuple[int, Path, Path]) -> None:
    _, text, database = both
    linked = sorted(_ns(e["ts"]) for e in _events(text) if e.get("cat") == "HostToDevice" and e["ph"] == "f")
    stored = _query(
        database,
        """SELECT DISTINCT t.startNs FROM TASK t JOIN CANN_API a ON a.connectionId = t.connectionId
        JOIN STRING_IDS k ON k.id = t.taskType WHERE k.value NOT IN ('SDMA', 'Write Value', 'Notify Wait')
        UNION SELECT o.startNs FROM COMMUNICATION_OP o JOIN CANN_API a ON a.connectionId = o.connectionId""",
    )
    assert linked == sorted(row[0] for row in stored)


def test_host_calls_of_both_exports_are_the_same(both: tuple[int, Path, Path]) -> None:
    level, text, database = both
    told = Counter(
        (e["name"].partition("@")[2], _ns(e["ts"]))
        for e in _events(text)
        if e["ph"] == "X" and e["name"].startswith(("AscendCL@", "Node@", "Hccl@", "Runtime@"))
    )
    stored = Counter(_query(database, "SELECT s.value, a.startNs FROM CANN_API a JOIN STRING_IDS s ON s.id = a.name"))
    assert (told == stored) if level else (stored and not told)
    operators = Counter(_ns(e["ts"]) for e in _events(text) if e.get("cat") in ("cpu_op", "enqueue", "dequeue"))
    assert operators == Counter(row[0] for row in _query(database, "SELECT CAST(startNs AS INTEGER) FROM PYTORCH_API"))


def test_memory_of_both_exports_is_the_same(both: tuple[int, Path, Path]) -> None:
    _, text, database = both
    told = sorted(
        (
            _ns(r["Timestamp(us)"]),
            round(float(r["Total Allocated(MB)"]) * 2**20),
            round(float(r["Total Reserved(MB)"]) * 2**20),
        )
        for r in _rows(text, "memory_record.csv")
        if r["Component"] != "APP"
    )
    assert told == sorted(_query(database, "SELECT timestamp, totalAllocated, totalReserved FROM MEMORY_RECORD"))


def test_communication_of_both_exports_is_the_same(both: tuple[int, Path, Path]) -> None:
    level, text, database = both
    path = _output(text) / "communication.json"
    assert path.exists() == bool(level)
    if not level:
        return
    told = {
        (step, name.split("@")[0]): entry["Communication Time Info"]["Elapse Time(ms)"]
        for step, kinds in json.loads(path.read_text()).items()
        for name, entry in kinds["collective"].items()
        if name != "Total Op Info"
    }
    stored = _query(database, "SELECT step, hccl_op_name, elapse_time FROM CommAnalyzerTime", "analysis.db")
    assert told == {(step, name): elapse for step, name, elapse in stored}


def test_collections_are_in_both_exports(both: tuple[int, Path, Path]) -> None:
    _, text, database = both
    told = sorted(_ns(e["ts"]) for e in _events(text) if e.get("cat") == "GC")
    assert told == [row[0] for row in _query(database, "SELECT startNs FROM GC_RECORD ORDER BY 1")] != []


def test_level0_knows_neither_types_nor_cann(both: tuple[int, Path, Path]) -> None:
    level, text, database = both
    lanes = {e["args"]["name"] for e in _events(text) if e["name"] == "process_name"}
    assert ("CANN" in lanes) == bool(level)
    assert (_output(text) / "op_statistic.csv").exists() == bool(level)
    assert any(e.get("cat") == "HostToDevice" and e["ph"] == "s" for e in _events(text))
    types = {
        row[0]
        for row in _query(
            database, "SELECT DISTINCT s.value FROM COMPUTE_TASK_INFO c JOIN STRING_IDS s ON s.id = c.opType"
        )
    }
    assert (types == {"N/A"}) == (level == 0)
    runtime = _query(database, "SELECT COUNT(*) FROM CANN_API WHERE type = 5000")
    assert bool(runtime[0][0]) == (level == 2)


def test_the_device_clock_can_run_behind_the_hosts(small: Job, tmp_path: Path) -> None:
    corpus.write(small, tmp_path, clock_ns=-80_000)
    events = _events(tmp_path)
    sent = {e["id"]: _ns(e["ts"]) for e in events if e.get("cat") == "HostToDevice" and e["ph"] == "s"}
    delays = [_ns(e["ts"]) - sent[e["id"]] for e in events if e.get("cat") == "HostToDevice" and e["ph"] == "f"]
    assert min(delays) < 0 < max(delays)


def test_totals_are_all_that_is_there_where_only_they_were_kept(small: Job, tmp_path: Path) -> None:
    corpus.write(small, tmp_path, totals=True)
    assert {path.name for path in _output(tmp_path).iterdir()} == {"op_statistic.csv", "api_statistic.csv"}


def test_the_timeline_of_early_2024_types_nothing_but_operators_of_the_ai_cpu(tmp_path: Path) -> None:
    corpus.write(job("aicpu-exposed", setup=SMALL), tmp_path, typed=False, tables=False)
    assert {path.name for path in _output(tmp_path).iterdir()} == {"trace_view.json"}
    types = {e["args"]["Task Type"] for e in _events(tmp_path) if "Task Type" in e.get("args", {})}
    assert types == {"Other", "AI_CPU"}
    assert not any("Physic Stream Id" in e.get("args", {}) for e in _events(tmp_path))


def test_plain_ddp_tells_of_no_layout_and_reduces_over_the_default_group(tmp_path: Path) -> None:
    plain = Setup(workload=Transformer(layers=1, steps=2), layout=Layout(dp=2, plain=True))
    corpus.write(job("healthy", setup=plain), tmp_path / "named")
    corpus.write(job("healthy", setup=plain), tmp_path / "nameless", grouped=False)
    named, nameless = (
        json.loads(next((tmp_path / which).rglob("profiler_metadata.json")).read_text())
        for which in ("named", "nameless")
    )
    assert [group["group_name"] for group in named["parallel_group_info"].values()] == ["default_group"]
    assert named.keys() - nameless.keys() == {"parallel_group_info"}
    assert nameless.keys() == {"ENV_VARIABLES"}


def test_a_clock_that_is_always_low_stands_beside_the_one_the_device_was_built_for(tmp_path: Path) -> None:
    corpus.write(job("constant-low-clock", setup=SMALL), tmp_path)
    (device,) = json.loads(next(tmp_path.rglob("info.json.0")).read_text())["DeviceInfo"]
    assert {e["args"]["MHz"] for e in _events(tmp_path) if e["name"] == "AI Core Freq" and e["ph"] == "C"} == {1440}
    assert device["aic_frequency"] == "1800"


def test_groups_can_be_found_by_their_hash(small: Job, tmp_path: Path) -> None:
    corpus.write(small, tmp_path)
    metadata = json.loads(next(tmp_path.rglob("profiler_metadata.json")).read_text())
    hashes = {group_hash(name) for name in metadata["parallel_group_info"]}
    used = {c.group for trace in small.ranks for c in trace.collectives}
    assert {group_hash(name) for name in used} <= hashes


def test_damage_is_what_it_says(tmp_path: Path) -> None:
    corpus.write(job("damaged-trace", setup=SMALL), tmp_path / "cut")
    traces = sorted((tmp_path / "cut").rglob("trace_view.json"))
    json.loads(traces[0].read_text())
    with pytest.raises(json.JSONDecodeError):
        json.loads(traces[-1].read_text())
    corpus.write(job("killed-capture", setup=SMALL), tmp_path / "killed")
    assert all("end_info" not in path.read_text() for path in (tmp_path / "killed").rglob("profiler_info_*.json"))


def test_the_truth_stands_beside_the_capture(small: Job, tmp_path: Path) -> None:
    corpus.write(small, tmp_path)
    truth = json.loads((tmp_path / "truth.json").read_text())
    assert truth["causes"][0]["name"] == "synchronise-per-layer"
    assert 0 < truth["causes"][0]["step_us_without"] < truth["step_us"]


def test_times_are_those_of_the_epoch(small: Job, tmp_path: Path) -> None:
    corpus.write(small, tmp_path)
    assert all(_ns(r["Start Time(us)"]) > EPOCH_NS for r in _rows(tmp_path, "kernel_details.csv"))


def test_a_capture_is_not_written_over_another(small: Job, tmp_path: Path) -> None:
    corpus.write(small, tmp_path)
    with pytest.raises(FileExistsError):
        corpus.write(small, tmp_path)
