# SPDX-License-Identifier: Apache-2.0
"""Storage and memory of the host that hold a job up are told in every export, and sound ones are not."""

from __future__ import annotations

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import advisor
from benchmarks.fuzz.captures import read_files, write_files
from corpus.export import EPOCH_NS
from corpus.msprof import as_msprof
from tests.shared_captures import SharedCaptures

SYSTEM = "Device_id,Memory Total(kB),Memory Free(kB),Buffers(kB),Cached(kB),Share Memory(kB)\n"


def sampled(capture: Path, folder: Path, waits: float) -> Path:
    """A copy of a capture whose profiler sampled the storage: the process waits for it so many per cent of its time."""
    made = shutil.copytree(capture, folder / "sampled", copy_function=shutil.copyfile)
    for info in made.rglob("profiler_info*.json"):
        held = json.loads(info.read_text())
        held["config"]["experimental_config"]["_host_sys"] = ["disk"]
        info.write_text(json.dumps(held))
    for trace in made.rglob("trace_view.json"):
        events = json.loads(trace.read_text())
        moments = (f"{EPOCH_NS // 1000 + at}.5" for at in range(8))
        lane = {"ph": "C", "name": "Disk Usage", "pid": 9, "tid": 0, "args": {"Usage(%)": waits}}
        trace.write_text(json.dumps([*events, *({**lane, "ts": moment} for moment in moments)]))
    for file in made.rglob("ascend_pytorch_profiler*.db"):
        with closing(sqlite3.connect(file)) as database:
            database.execute("CREATE TABLE HOST_DISK_USAGE (timestampNs, readRate, writeRate, usage)")
            rows = [(EPOCH_NS + at, 2e8, 1e6, waits) for at in range(8)]
            database.executemany("INSERT INTO HOST_DISK_USAGE VALUES (?, ?, ?, ?)", rows)
            database.commit()
    return made


def fired(capture: Path) -> set[str]:
    return {one.rule for one in advisor.diagnose(capture).outcomes if one.outcome == "fired"}


@pytest.mark.parametrize("export", ["text", "database"])
def test_a_process_that_waits_for_storage_explains_its_slow_loader(
    export: str, shared: SharedCaptures, tmp_path: Path
) -> None:
    capture = shared.written("data-loader", export=export, small=True, strength=3.0)
    diagnosis = advisor.diagnose(sampled(capture, tmp_path, 80.0))
    found = [one.rule for one in diagnosis.findings]
    assert found.index("io/slow-storage") < found.index("io/data-loader")


@pytest.mark.parametrize("export", ["text", "database"])
def test_a_loader_that_is_slow_by_itself_waits_for_no_storage(
    export: str, shared: SharedCaptures, tmp_path: Path
) -> None:
    capture = shared.written("data-loader", export=export, small=True, strength=3.0)
    found = fired(sampled(capture, tmp_path, 5.0))
    assert "io/data-loader" in found
    assert "io/slow-storage" not in found


@pytest.mark.parametrize(("free", "told"), [(10_000, True), (300_000, False)])
def test_a_full_host_is_told_of_what_msprof_sampled(
    free: int, told: bool, shared: SharedCaptures, tmp_path: Path
) -> None:
    write_files(as_msprof(read_files(shared.written("healthy", export="text", small=True))), tmp_path / "msprof")
    (output,) = (tmp_path / "msprof").rglob("mindstudio_profiler_output")
    (output / "sys_mem_20250101000000.csv").write_text(f"{SYSTEM}host,1000000,{free},5000,90000,80000\n")
    assert ("memory/host-near-capacity" in fired(tmp_path / "msprof")) == told
