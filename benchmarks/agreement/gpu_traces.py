# SPDX-License-Identifier: Apache-2.0
"""The facts of traces of GPUs beside what HolisticTraceAnalysis says of the same traces."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from advisor.analysis.arrays.intervals import Spans, intersect, union
from advisor.facts.base import MISSING
from advisor.facts.observed import DeviceTask, HostCall
from advisor.facts.rank_facts import Source
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing, InputError
from advisor.sources import open_input
from benchmarks.agreement.raw_trace import (
    FIGURES,
    KERNEL_WAIT_US,
    ROUNDED,
    WORK,
    figures_of_work,
    pauses_as_told,
    read_events,
    work_by_stream,
)

TARGET = 0.005
"""Largest relative difference that needs no reason."""
SMALLEST_US = 1.0
"""Times that are apart by less are equal: old versions write whole µs."""

TOOL = Path(__file__).with_name("hta_figures.py")


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure of one trace."""

    trace: str
    figure: str
    ours: float
    theirs: float
    reasons: tuple[str, ...] = ()
    """In which ways the other selects events, where the same selection made of the raw JSON gives its figure."""

    @property
    def difference(self) -> float:
        """Relative to the other's figure; 0 where neither has one."""
        if math.isnan(self.ours) and math.isnan(self.theirs):
            return 0.0
        apart = abs(self.ours - self.theirs)
        return 0.0 if apart < SMALLEST_US and self.figure != "overlap" else apart / max(abs(self.theirs), 1e-9)


def figures_of_tool(python: Path, traces: Iterable[Path]) -> dict[str, dict[str, object]]:
    """What the other tool says of each trace, or why it says nothing."""
    paths = [str(path) for path in traces]
    done = subprocess.run([str(python), str(TOOL), *paths], capture_output=True, check=True, text=True)
    return {path: dict(found) for path, found in json.loads(done.stdout).items()}


def figures_of_facts(source: Source) -> dict[str, float]:
    """The same figures by the facts: of the time from the first task of the device to the end of the last."""
    tasks = source.read(DeviceTask)
    start, end, kind = tasks["start_ns"], tasks["end_ns"], tasks.texts("kind")
    memory = tasks.texts("task_type").isin(["gpu_memset", "Memset"]) | kind.isin(["copy"])
    busy = union(start, end)
    communication = _union_of(tasks, kind.isin(["comm"]))
    compute = _union_of(tasks, kind.isin(["kernel"]) & ~memory)
    both = intersect(compute, communication).total
    whole = int(end.max() - start.min())
    overlap = both / communication.total if communication.total else math.nan
    idle, computing = whole - busy.total, compute.total
    times = (whole / 1e3, idle / 1e3, computing / 1e3, (whole - idle - computing) / 1e3, overlap)
    return dict(zip(FIGURES, times, strict=True))


def _union_of(tasks: Table[DeviceTask], chosen: Array) -> Spans:
    return union(tasks["start_ns"][chosen], tasks["end_ns"][chosen])


def types_of_facts(source: Source) -> dict[str, float]:
    """Durations of computation, communication and memory operations, added up, µs."""
    tasks = source.read(DeviceTask)
    kind, us = tasks.texts("kind"), (tasks["end_ns"] - tasks["start_ns"]) / 1e3
    memory = tasks.texts("task_type").isin(["gpu_memset", "Memset"]) | kind.isin(["copy"])
    parts = {"COMPUTATION": kind.isin(["kernel"]) & ~memory, "COMMUNICATION": kind.isin(["comm"]), "MEMORY": memory}
    return {name: float(us[chosen].sum()) for name, chosen in parts.items() if chosen.any()}


def kernels_of_facts(source: Source) -> dict[str, float]:
    """Durations of the kernels of each name, µs."""
    tasks = source.read(DeviceTask)
    kernels = tasks.take(
        tasks.texts("kind").isin(["kernel"]) & ~tasks.texts("task_type").isin(["gpu_memset", "Memset"])
    )
    names = kernels.texts("name").in_use()
    sums = np.bincount(names.codes, (kernels["end_ns"] - kernels["start_ns"]) / 1e3, len(names.names))
    return dict(zip(names.names, sums.tolist(), strict=True))


def idle_of_streams(source: Source) -> dict[str, float]:
    """Pauses of each stream before its tasks, by what they wait for, added up, µs: the host, or the kernel before.

    A pause is the host's when the call that launched the task began after the task before it had ended; else one
    below `KERNEL_WAIT_US` is between kernels.
    """
    tasks, calls = source.read(DeviceTask), source.read(HostCall)
    launching = calls.take(calls.texts("kind").isin(["api", "graph"]) & (calls["connection"] != MISSING))
    asked_ns = dict(zip(launching["connection"].tolist(), launching["start_ns"].tolist(), strict=True))
    found = {"host_wait": 0.0, "kernel_wait": 0.0, "other": 0.0}
    for stream in np.unique(tasks["stream"]):
        own = tasks.take(tasks["stream"] == stream).sorted_by("start_ns")
        asked = np.array([asked_ns.get(connection, MISSING) for connection in own["connection"].tolist()])[1:]
        ended = own["end_ns"][:-1]
        pause = own["start_ns"][1:] - ended
        host = asked > ended
        short = ~host & (pause < KERNEL_WAIT_US * 1000)
        for name, chosen in (("host_wait", host), ("kernel_wait", short), ("other", ~host & ~short)):
            found[name] += float(pause[chosen].sum()) / 1e3
    return found


def compare_traces(folder: Path, python: Path, traces: Iterable[Path]) -> tuple[list[Compared], dict[str, str]]:
    """Every figure of every trace that both read; and the traces that one of them does not, with why."""
    listed = list(traces)
    told = figures_of_tool(python, listed)
    compared: list[Compared] = []
    unread: dict[str, str] = {}
    for path in listed:
        name, theirs = path.relative_to(folder).as_posix(), told[str(path)]
        source = _open_trace(path)
        if source is None or "error" in theirs:
            readers = ("neither" if source is None else "only ours") if "error" in theirs else "only the other"
            unread[name] = f"{readers}; {theirs.get('error', 'it holds no work of a GPU')}"
        else:
            compared += compare_trace(name, path, source, theirs)
    return compared, unread


def _open_trace(path: Path) -> Source | None:
    try:
        (source,) = open_input(path)[1]
        source.read(DeviceTask)
    except (InputError, FactMissing):
        return None
    return source


def compare_trace(name: str, path: Path, source: Source, theirs: Mapping[str, object]) -> Iterator[Compared]:
    """Every figure of one trace."""
    events = read_events(path)
    chosen, ways = work_by_stream(events)
    selected = figures_of_work(chosen, direct=False)
    for figure, ours in figures_of_facts(source).items():
        yield _with_reasons(Compared(name, figure, ours, float(str(theirs[figure]))), selected.values()[figure], ways)
    for kind, us in sorted(_numbers(theirs["types"]).items()):
        ours = types_of_facts(source).get(kind, 0.0)
        yield _with_reasons(Compared(name, f"kernels: {kind.lower()}", ours, us), selected.types.get(kind, 0.0), ways)
    told, again = _numbers(theirs["kinds of idle"]), pauses_as_told(events, [e for e in chosen if e["cat"] in WORK])
    for kind, us in idle_of_streams(source).items():
        one = Compared(name, f"idle: {kind.replace('_', ' ')}", us, told.get(kind, 0.0))
        yield _with_reasons(
            one,
            again[kind],
            ways or {ROUNDED},
        )
    kernels, others = kernels_of_facts(source), _numbers(theirs["kernels"])
    each = [Compared(name, "kernel apart most", kernels.get(k, 0.0), us, (k,)) for k, us in sorted(others.items())]
    apart = max(each, key=lambda one: one.difference, default=None)
    if apart is not None:
        yield _with_reasons(apart, selected.kernels.get(apart.reasons[0], 0.0), ways)


def _numbers(listed: object) -> dict[str, float]:
    assert isinstance(listed, dict)  # noqa: S101 - a benchmark's own output
    return {str(name): float(value) for name, value in listed.items()}


def _with_reasons(one: Compared, selected: float, ways: set[str]) -> Compared:
    """The same, with its reasons where the other's selection of events leads to the other's figure."""
    again = Compared(one.trace, one.figure, selected, one.theirs)
    explained = one.difference > TARGET and again.difference <= TARGET
    return Compared(one.trace, one.figure, one.ours, one.theirs, tuple(sorted(ways)) if explained else ())
