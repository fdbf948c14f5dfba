# SPDX-License-Identifier: Apache-2.0
"""The small captures that signs are written into, and how their files are changed."""

from __future__ import annotations

import csv
import io
import json
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pytest import approx

import corpus
from corpus.cases import setup_of, small_setup
from corpus.events import Job, KernelInfo, Layout, Task
from corpus.program import Instruction
from corpus.troubles import Troubles
from corpus.workloads import Setup, Workload

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Altered:
    """A workload of which each rank does in each step what `change` makes of its instructions."""

    model: Workload
    change: Callable[[Iterator[Instruction], int], Iterator[Instruction]]
    """Of the instructions of a step and its place among those recorded."""

    @property
    def steps(self) -> int:
        """How many steps are recorded."""
        return self.model.steps

    @property
    def first_step(self) -> int:
        """The number of the first of them."""
        return self.model.first_step

    @property
    def troubles(self) -> Troubles:
        """The faults it has."""
        return self.model.troubles

    def step(self, layout: Layout, rank: int, number: int) -> Iterator[Instruction]:
        """What one rank does in one step."""
        return self.change(self.model.step(layout, rank, number), number)


def write_setup(folder: Path, setup: Setup, case: str = "healthy", **how: Any) -> Path:
    """Writes a case of a job that is not among the workloads."""
    return corpus.write(corpus.job(case, seed=11, setup=replace(setup, name="")), folder, **how)


@cache
def job(
    case: str, workload: str | None = None, without: tuple[str, ...] = (), strength: float = 1.0, *, small: bool = True
) -> Job:
    """A generated job of few ranks and layers, simulated once per process; `without` one of its faults."""
    setup = small_setup(setup_of(case, workload)) if small else None
    return corpus.job(case, 11, workload=workload, setup=setup, without=without, strength=strength)


def write(
    folder: Path,
    case: str = "healthy-light",
    *,
    workload: str | None = None,
    without: tuple[str, ...] = (),
    strength: float = 1.0,
    small: bool = True,
    export: str = "text",
    level: int = 1,
    **how: Any,
) -> Path:
    """Writes a generated job into a folder: what was written before in this process is copied."""
    asked = repr((case, workload, without, strength, small, export, level, sorted(how.items())))
    if asked not in _WRITTEN:
        kept = Path(_kept_folder().name) / str(len(_WRITTEN))
        made = job(case, workload, without, strength, small=small)
        _WRITTEN[asked] = corpus.write(made, kept, export, level, **how)
    return shutil.copytree(_WRITTEN[asked], folder, copy_function=shutil.copyfile, dirs_exist_ok=True)


_WRITTEN: dict[str, Path] = {}
"""Where captures lie that many signs begin with."""


@cache
def _kept_folder() -> TemporaryDirectory[str]:
    return TemporaryDirectory(prefix="signs-")


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
    base = job(case, small=False)
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
