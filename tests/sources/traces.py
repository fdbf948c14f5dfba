# SPDX-License-Identifier: Apache-2.0
"""Small traces for tests: events, files of them, and what a reader should keep."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from advisor.facts.table import Table
from advisor.sources.ascend.reading import Folder
from advisor.sources.files import timeline
from advisor.sources.files.damage_notes import Notes
from advisor.sources.files.timeline import TraceTimeline

Json = dict[str, Any]


def event(name: str, ts: str | float, dur: float = 1.0, *, pid: int = 1, tid: int = 1, **more: object) -> Json:
    """An event with a duration."""
    return {"ph": "X", "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, **more}


def lane(pid: int, name: str) -> Json:
    """The name of a process."""
    return {"ph": "M", "name": "process_name", "pid": pid, "tid": 0, "args": {"name": name}}


def thread(pid: int, tid: int, name: str) -> Json:
    """The name of a thread."""
    return {"ph": "M", "name": "thread_name", "pid": pid, "tid": tid, "args": {"name": name}}


def arrow(identity: int | str, start: tuple[int, int, str], end: tuple[int, int, str]) -> list[Json]:
    """Both ends of a HostToDevice link, each as process, thread and time."""
    base = {"cat": "HostToDevice", "name": f"HostToDevice{identity}", "id": str(identity)}
    return [
        {**base, "ph": phase, "pid": pid, "tid": tid, "ts": ts} for phase, (pid, tid, ts) in (("s", start), ("f", end))
    ]


def write(path: Path, events: Iterable[Mapping[str, Any]]) -> Path:
    """A trace file as torch_npu writes it."""
    path.write_text(json.dumps(list(events)), encoding="utf-8")
    return path


def read(path: Path, chunk: int = 1 << 21) -> tuple[TraceTimeline, Notes]:
    """What is kept of a trace file, and what was noted."""
    notes = Notes()
    return timeline.read_timeline(path, notes, chunk=chunk), notes


def kept(found: TraceTimeline) -> list[tuple[str | None, int, int]]:
    """Name, start and end of what was kept."""
    slices = found.slices
    return list(zip(slices.name.values(), slices.start_ns.tolist(), slices.end_ns.tolist(), strict=True))


def captured(root: Path, trace: Iterable[Mapping[str, Any]] | None = None, **tables: str) -> Folder:
    """A capture with these files: `kernel_details="…"` is kernel_details.csv."""
    files = {}
    for name, content in tables.items():
        path = root / f"{name}.{'json' if content.startswith('{') else 'csv'}"
        path.write_text(content, encoding="utf-8")
        files[path.name] = path
    if trace is not None:
        files["trace_view.json"] = write(root / "trace_view.json", trace)
    return Folder(rank=3, root=root, output=root, files=files)


def of(way: Callable[[Folder], Table[Any]] | None, folder: Folder) -> list[dict[str, object]]:
    """The rows one export gives."""
    assert way is not None
    return way(folder).rows()
