# SPDX-License-Identifier: Apache-2.0
"""The small captures that signs are written into, and how their files are changed."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pytest import approx

import corpus
from corpus.events import Job, KernelInfo, Task

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
    """Changes the rows of the CSV files of this name; columns that rows gained are written behind the others, and those
    that all rows lost are gone.

    Raises:
        FileNotFoundError: There is none.
    """
    for path in _files(folder, name):
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            headings, rows = list(reader.fieldnames or ()), list(reader)
        change(rows)
        headings = [key for key in headings if not rows or any(key in row for row in rows)]
        headings += [key for key in dict.fromkeys(key for row in rows for key in row) if key not in headings]
        stream = io.StringIO()
        writer = csv.DictWriter(stream, headings, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        path.write_text(stream.getvalue(), encoding="utf-8")


def _files(folder: Path, name: str) -> list[Path]:
    found = sorted(folder.rglob(name))
    if not found:
        raise FileNotFoundError(f"{folder} holds no {name}")
    return found


def with_kernels(
    folder: Path, change: Callable[[Task], KernelInfo | None], case: str = "healthy-light", **how: Any
) -> Path:
    """Writes the first rank of a generated job, with other kernels in the place of some: as long, and of what they are
    `change` tells by the task; None leaves it. Names follow the type as CANN writes them."""
    base = job(case)
    first = base.ranks[0]
    tasks = [_as(task, change(task)) if task.kernel else task for task in first.tasks]
    return corpus.write(replace(base, ranks=[replace(first, tasks=tasks)]), folder, **how)


def _as(task: Task, info: KernelInfo | None) -> Task:
    if info is None or task.kernel is None:
        return task
    kept = info.op_type == task.kernel.op_type
    return replace(task, kernel=info, name=task.name if kept else f"aclnn{info.op_type}_{info.op_type}_{info.op_type}")


def about(value: float, part: float = 0.005) -> object:
    """Equal to what differs from this value by no more than this part of it."""
    return approx(value, rel=part)
