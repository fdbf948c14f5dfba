# SPDX-License-Identifier: Apache-2.0
"""communication.json and communication_matrix.json of a program that was run."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from benchmarks.injected.program import Collective, Rank
from benchmarks.injected.splits import steps_of

_TIMES, _BANDWIDTHS = "Communication Time Info", "Communication Bandwidth Info"
Entry = dict[str, Any]


def communication(rank: Rank, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """communication.json: each collective of each step with its new times, and their sum."""
    groups = _groups(recorded)
    found: dict[str, Any] = {}
    for step, tasks in steps_of(rank, rank.collectives).items():
        entries = {
            f"{task.name}@{groups.get(task.name, '')}": _entry(task, rank.clock)
            for task in tasks
            if isinstance(task, Collective) and task.entry is not None
        }
        if entries:
            entries["Total Op Info"] = _total(list(entries.values()))
            found[_step_key(recorded, step)] = {"p2p": {}, "collective": entries}
    return found


def _step_key(recorded: Mapping[str, Any], step: int) -> str:
    return next(iter(recorded)) if len(recorded) == 1 and "step" not in next(iter(recorded)) else f"step{step}"


def _groups(recorded: Mapping[str, Any]) -> dict[str, str]:
    keys = [key for step in recorded.values() for kind in step.values() for key in kind if "@" in key]
    known = {name: group for name, _, group in (key.partition("@") for key in keys)}
    return defaultdict(lambda: next(iter(known.values()), ""), known)


def _entry(task: Collective, clock: int) -> Entry:
    entry = deepcopy(task.entry or {})
    times = entry[_TIMES]
    elapse = task.duration / 1e6
    come = max((other.at for other, _ in task.end.waits), default=task.begin.at)
    wait = max(times["Wait Time(ms)"] + (come - task.begin.at - task.waited) / 1e6, 0.0)
    sync = max(times["Synchronization Time(ms)"] + (come - task.begin.at - task.waited) / 1e6, 0.0)
    transit = times["Transit Time(ms)"] * task.slower
    times |= {
        "Start Timestamp(us)": (task.begin.at + clock) / 1000,
        "Elapse Time(ms)": elapse,
        "Transit Time(ms)": transit,
        "Wait Time(ms)": wait,
        "Synchronization Time(ms)": sync,
        "Idle Time(ms)": elapse - transit - wait if elapse > transit + wait else 0.0,
    }
    _set_ratios(times)
    for link in entry[_BANDWIDTHS].values():
        _slow(link, task.slower)
    return entry


def _set_ratios(times: Entry) -> None:
    for name in ("Wait", "Synchronization"):
        time, transit = times[f"{name if name == 'Wait' else 'Synchronization'} Time(ms)"], times["Transit Time(ms)"]
        times[f"{name} Time Ratio"] = round(time / (time + transit), 4) if time + transit else 0


def _slow(link: Entry, factor: float) -> None:
    link["Transit Time(ms)"] *= factor
    if link.get("Bandwidth(GB/s)"):
        link["Bandwidth(GB/s)"] = round(link["Bandwidth(GB/s)"] / factor, 4)
    for cells in link.get("Size Distribution", {}).values():
        cells[1] *= factor


def _total(entries: Sequence[Entry]) -> Entry:
    names = ("Elapse", "Transit", "Wait", "Synchronization", "Idle")
    times = {f"{name} Time(ms)": sum(entry[_TIMES][f"{name} Time(ms)"] for entry in entries) for name in names}
    _set_ratios(times)
    links: dict[str, Entry] = {}
    for entry in entries:
        for name, link in entry[_BANDWIDTHS].items():
            kept = links.setdefault(name, {"Transit Time(ms)": 0, "Transit Size(MB)": 0, "Size Distribution": {}})
            kept["Transit Time(ms)"] += link["Transit Time(ms)"]
            kept["Transit Size(MB)"] += link["Transit Size(MB)"]
            for size, (count, time) in link.get("Size Distribution", {}).items():
                cells = kept["Size Distribution"].setdefault(size, [0, 0.0])
                cells[0], cells[1] = cells[0] + count, cells[1] + time
    return {_TIMES: times, _BANDWIDTHS: links}


def matrix(rank: Rank, recorded: Mapping[str, Any]) -> dict[str, Any]:
    """communication_matrix.json: sizes and times of each step grow with those of its collectives."""
    found = deepcopy(dict(recorded))
    parts = steps_of(rank, rank.collectives)
    for number, (key, kinds) in enumerate(found.items()):
        tasks = [task for task in list(parts.values())[min(number, len(parts) - 1)] if isinstance(task, Collective)]
        grown, slower = _growth(tasks)
        named = {task.name: task.slower for task in tasks}
        for kind, cells in kinds.get("collective", {}).items():
            for pair, cell in cells.items():
                if "-total" in kind:
                    _scale(cell, grown, grown * slower * _link_factor(tasks, pair))
                else:
                    _scale(cell, 1.0, named.get(cell.get("Op Name", ""), 1.0) * _link_factor(tasks, pair))
        found[key] = kinds
    return found


def _growth(tasks: Sequence[Collective]) -> tuple[float, float]:
    """By how much sizes grew, and by how much transfers are slower, of all collectives of a step."""
    recorded = [task for task in tasks if task.begin.recorded is not None and task.entry]
    before = sum(_size(task) for task in recorded)
    after = sum(_size(task) for task in tasks if task.entry)
    times = sum(_moving(task) for task in tasks if task.entry)
    slowed = sum(_moving(task) * task.slower for task in tasks if task.entry)
    return (after / before if before else 1.0), (slowed / times if times else 1.0)


def _size(task: Collective) -> float:
    return float(sum(link["Transit Size(MB)"] for link in (task.entry or {})[_BANDWIDTHS].values()))


def _moving(task: Collective) -> float:
    return float(sum(link["Transit Time(ms)"] for link in (task.entry or {})[_BANDWIDTHS].values()))


def _link_factor(tasks: Sequence[Collective], pair: str) -> float:
    factors = [(task.links or {}).get(pair, 1.0) for task in tasks]
    return float(sum(factors) / len(factors)) if factors else 1.0


def _scale(cell: Entry, size: float, time: float) -> None:
    if cell.get("Transport Type") == "LOCAL":
        return
    cell["Transit Size(MB)"] *= size
    cell["Transit Time(ms)"] *= time
    if cell["Transit Time(ms)"]:
        cell["Bandwidth(GB/s)"] = round(cell["Transit Size(MB)"] / cell["Transit Time(ms)"], 4)
