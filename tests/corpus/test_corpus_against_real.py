# SPDX-License-Identifier: Apache-2.0
"""Generated captures have the shape of recorded ones: files, headers, tables, kinds of events."""

from __future__ import annotations

import csv
import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import corpus

SAMPLED = {"NPU_OP_MEM", "HBM", "SOC_BANDWIDTH_LEVEL", "LLC", "ACC_PMU"}
"""Tables of hardware sampling and of GE's allocator, which the simulation has not."""
LEVELS = (0, 1, 2)


@pytest.fixture(scope="module")
def job() -> corpus.Job:
    return corpus.job("host-bound-2-ranks")


def _output(capture: Path) -> Path:
    return sorted(capture.rglob("ASCEND_PROFILER_OUTPUT"))[0]


def _recorded(real_data: Path, export: str, level: int) -> Path:
    return real_data / "msinsight_pytorch_matrix" / export / f"level{level}"


def _header(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return next(csv.reader(file))


def _shapes_of_events(output: Path) -> set[tuple[Any, ...]]:
    """Phase, category, keys and arguments of the events, without lanes and without what stacks and shapes add."""
    optional = {"Call stack", "Input Dims", "Input type"}
    events = json.loads((output / "trace_view.json").read_text(encoding="utf-8"))
    return {
        (e["ph"], e.get("cat"), tuple(sorted(e)), tuple(sorted(set(e.get("args") or {}) - optional)))
        for e in events
        if e["ph"] != "M"
    }


def _tables(output: Path, name: str) -> dict[str, list[tuple[str, str]]]:
    path = next(output.glob(name))
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as connection:
        names = [row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: [row[1:3] for row in connection.execute(f"PRAGMA table_info({name})")] for name in names}


@pytest.mark.parametrize("level", LEVELS)
def test_text_files_and_their_headers_are_those_of_a_recording(
    job: corpus.Job, real_data: Path, tmp_path: Path, level: int
) -> None:
    ours, real = _output(corpus.write(job, tmp_path, "text", level)), _output(_recorded(real_data, "text", level))
    assert {path.name for path in ours.iterdir()} == {path.name for path in real.iterdir()}
    for path in real.glob("*.csv"):
        assert _header(ours / path.name) == _header(path), path.name


@pytest.mark.parametrize("level", LEVELS)
def test_no_event_has_a_shape_no_recording_has(job: corpus.Job, real_data: Path, tmp_path: Path, level: int) -> None:
    ours, real = _output(corpus.write(job, tmp_path, "text", level)), _output(_recorded(real_data, "text", level))
    assert _shapes_of_events(ours) <= _shapes_of_events(real)


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", ["ascend_pytorch_profiler_*.db", "analysis.db"])
def test_tables_are_those_of_a_recording(
    job: corpus.Job, real_data: Path, tmp_path: Path, level: int, name: str
) -> None:
    ours = _tables(_output(corpus.write(job, tmp_path, "database", level)), name)
    rank1 = _recorded(real_data, "db", level) / "rank1_ascend_pt"  # rank 0 of Level1 was changed by a viewer
    real = _tables(_output(rank1), name)
    assert set(ours) == set(real) - SAMPLED
    assert ours == {table: real[table] for table in ours}


@pytest.mark.parametrize("level", LEVELS)
def test_profiler_info_has_the_keys_of_a_recording(
    job: corpus.Job, real_data: Path, tmp_path: Path, level: int
) -> None:
    ours = json.loads(next(corpus.write(job, tmp_path, "text", level).rglob("profiler_info_0.json")).read_text())
    real = json.loads(next(_recorded(real_data, "text", level).rglob("profiler_info_0.json")).read_text())
    assert ours.keys() == real.keys()
    for part in ("common_config", "experimental_config"):
        assert ours["config"][part].keys() == real["config"][part].keys()
    assert ours["config"]["experimental_config"]["_profiler_level"] == f"Level{level}"
