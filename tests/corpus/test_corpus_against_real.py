# SPDX-License-Identifier: Apache-2.0
"""Generated captures have the shape of recorded ones: files, headers, tables, kinds of events."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections import defaultdict
from contextlib import closing
from pathlib import Path
from statistics import mean, median
from typing import Any

import pytest

import corpus
from corpus.operators import fused_adam, vector

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


def _of_large_parameters(path: Path, op_type: str) -> dict[int, list[dict[str, str]]]:
    """The kernels of one type by the size of their first tensor in FP32, from a million on."""
    found: dict[int, list[dict[str, str]]] = defaultdict(list)
    with path.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["Type"] == op_type and row["Input Data Types"].startswith("FLOAT;"):
                size = row["Input Shapes"].strip('"').split(";")[0]
                if size.isdigit() and int(size) >= 1_000_000:
                    found[int(size)].append(row)
    return found


def _large_tensors(shapes: str) -> int:
    return sum(shape not in ("", "1") for shape in shapes.strip('"').split(";"))


def test_the_fused_optimizer_has_the_tensors_of_a_recorded_one_and_takes_as_long_beside_a_product(
    real_data: Path,
) -> None:
    path = real_data / "msprof_analyze_tests" / "ut/advisor/advisor_backend/compute_advice/kernel_details.csv"
    updates, products = _of_large_parameters(path, "ApplyAdamW"), _of_large_parameters(path, "Mul")
    (fused,) = fused_adam(56_623_104, 45.0).kernels
    for row in (row for rows in updates.values() for row in rows):
        assert _large_tensors(row["Input Shapes"]) == _large_tensors(fused.info.inputs.shapes)
        assert _large_tensors(row["Output Shapes"]) == _large_tensors(fused.info.outputs.shapes)

    def us(rows: list[dict[str, str]]) -> float:
        return mean(float(row["Duration(us)"]) for row in rows)

    recorded = median(us(rows) / us(products[size]) for size, rows in updates.items() if size in products)
    (product,) = vector("aten::mul_", "Mul", (56_623_104,), 45.0, dtype="FLOAT").kernels
    assert fused.us / product.us == pytest.approx(recorded, rel=0.1)
