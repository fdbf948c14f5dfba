# SPDX-License-Identifier: Apache-2.0
"""The small captures that signs are written into, and how their files are changed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from shutil import rmtree
from typing import Any

import corpus
from corpus.events import Job

Row = dict[str, str]


@cache
def job(case: str, workload: str | None = None) -> Job:
    """A generated job, simulated once per process."""
    return corpus.job(case, seed=11, workload=workload)


def write(
    folder: Path, case: str = "healthy-light", *, workload: str | None = None, level: int = 1, **how: Any
) -> Path:
    """Writes a generated job into a folder."""
    return corpus.write(job(case, workload), folder, level=level, **how)


def edit_json(folder: Path, name: str, change: Callable[[Any], object]) -> None:
    """Changes what the JSON files of this name hold, in every rank of a capture.

    Raises:
        FileNotFoundError: There is none: a sign that changes nothing proves nothing.
    """
    for path in _files(folder, name):
        content = json.loads(path.read_bytes())
        changed = change(content)
        path.write_text(json.dumps(content if changed is None else changed), encoding="utf-8")


def edit_rows(folder: Path, name: str, change: Callable[[list[Row]], object]) -> None:
    """Changes the rows of the CSV files of this name; columns that rows gained are written behind the others.

    Raises:
        FileNotFoundError: There is none.
    """
    for path in _files(folder, name):
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            headings, rows = list(reader.fieldnames or ()), list(reader)
        change(rows)
        headings += [key for key in dict.fromkeys(key for row in rows for key in row) if key not in headings]
        stream = io.StringIO()
        writer = csv.DictWriter(stream, headings, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(stream.getvalue(), encoding="utf-8")


def as_msprof(folder: Path) -> Path:
    """Keeps the first rank of a capture alone, in the folders, under the names and headings that msprof gives the same.

    Returns where msprof writes the files of the capture.
    """
    ranks = sorted(folder.glob("*_ascend_pt"))
    made = folder / "PROF_000001_20250109084754000_ABCDEFGHIJKLMNOP" / MSPROF_OUTPUT
    made.mkdir(parents=True)
    for name, own in _OF_MSPROF.items():
        if (written := ranks[0] / "ASCEND_PROFILER_OUTPUT" / name).is_file():
            written.rename(made / msprof_name(own))
    for heading in made.glob("op_summary_*.csv"):
        first, _, rest = heading.read_text(encoding="utf-8").partition("\n")
        named = ",".join(_OP_SUMMARY.get(column, column) for column in first.split(","))
        heading.write_text(f"{named}\n{rest}", encoding="utf-8")
    for rank in ranks:
        rmtree(rank)
    return made


MSPROF_OUTPUT = "mindstudio_profiler_output"
_OF_MSPROF = {
    "kernel_details.csv": "op_summary.csv",
    "trace_view.json": "msprof.json",
    **{name: name for name in ("op_statistic.csv", "api_statistic.csv", "memory_record.csv", "npu_module_mem.csv")},
}
_OP_SUMMARY = {
    "Name": "Op Name", "Type": "OP Type", "Accelerator Core": "Task Type", "Start Time(us)": "Task Start Time(us)",
    "Duration(us)": "Task Duration(us)", "Wait Time(us)": "Task Wait Time(us)",
}  # fmt: skip
"""Headings of kernel_details.csv that are others in op_summary.csv."""


def msprof_name(name: str) -> str:
    """A name with the moment of the export, as msprof writes it."""
    plain, dot, kind = name.rpartition(".")
    return f"{plain}_20250109084812{dot}{kind}"


def _files(folder: Path, name: str) -> list[Path]:
    found = sorted(folder.rglob(name))
    if not found:
        raise FileNotFoundError(f"{folder} holds no {name}")
    return found
