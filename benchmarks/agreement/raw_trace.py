# SPDX-License-Identifier: Apache-2.0
"""How a trace of a GPU splits its time, by a small computation of its own: plain Python on the raw JSON.

It knows two selections of events: work on the device, and what HolisticTraceAnalysis takes for it, so that a
difference between the two is explained by the events that only one of them counts.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise
from operator import itemgetter
from pathlib import Path
from typing import Any

Event = dict[str, Any]
Intervals = list[tuple[int, int]]

WORK = frozenset({"kernel", "Kernel", "gpu_memcpy", "Memcpy", "gpu_memset", "Memset"})
_COLLECTIVE = re.compile(r"^nccl.*Kernel")
_DIRECT = re.compile(
    r"multimem_\w*(reduce|gather)|cross_device_reduce|shot_?all_?reduce|allreduce_fusion|deep_ep::", re.I
)
"""Collectives of other libraries than NCCL."""
_MEMORY = re.compile(r"^Memcpy|^Memset|^dma")
_SYNC = re.compile(r".*Sync")
_STEP = re.compile(r"ProfilerStep")

KERNEL_WAIT_US = 30
"""Pauses of a stream below that are between kernels: the default of HolisticTraceAnalysis."""
HEAD = "stands first in the file"
WAITS = "waits of streams (`cuda_sync`)"
HOST_OPERATORS = "host operators that name a stream"
DIRECT = "collectives without NCCL count as computation"
LAUNCHED = "only work with a recorded launch, before the end of the last step"
ROUNDED = "times of a quarter of a µs, and a launch at the head of the file where none was recorded"
"""In which ways HolisticTraceAnalysis counts otherwise."""
FIGURES = ("whole", "idle", "compute", "non-compute", "overlap")


@dataclass(frozen=True, slots=True)
class RawFigures:
    """Times in µs; `overlap` is the share of communication that runs beside computation."""

    whole: float
    idle: float
    compute: float
    communication: float
    overlap: float
    types: dict[str, float] = field(default_factory=dict)
    """Durations of the work of each type, added up."""
    kernels: dict[str, float] = field(default_factory=dict)
    """Durations of the computation of each name, added up."""

    def values(self) -> dict[str, float]:
        """The figures by name."""
        busy_otherwise = self.whole - self.idle - self.compute
        return dict(zip(FIGURES, (self.whole, self.idle, self.compute, busy_otherwise, self.overlap), strict=True))


def read_events(path: Path) -> list[Event]:
    """The events of a trace that have a duration, numbers as they are written."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        content = json.load(file, parse_float=Decimal)
    listed = content["traceEvents"] if isinstance(content, dict) else content
    if listed:
        listed[0][HEAD] = True
    return [event for event in listed if event.get("ph") == "X" and event.get("dur") is not None and event.get("cat")]


def device_work(events: Iterable[Event]) -> list[Event]:
    """Kernels, copies and memsets."""
    return [event for event in events if event["cat"] in WORK]


def work_by_stream(events: Iterable[Event]) -> tuple[list[Event], set[str]]:
    """What HolisticTraceAnalysis takes for work on the device, and in which ways that differs from `device_work`.

    It is whatever names a stream; and where several steps are marked, what a host event before the end of the last
    of them has the correlation of.
    """
    listed = list(events)
    chosen, ways = [event for event in listed if _stream(event) != -1], set[str]()
    on_host = [event for event in listed if _stream(event) == -1]
    if any(event["cat"] == "cuda_sync" for event in chosen):
        ways.add(WAITS)
    if any(event["cat"] not in WORK | {"cuda_sync"} for event in chosen):
        ways.add(HOST_OPERATORS)
    if any(_DIRECT.search(event["name"]) for event in device_work(chosen)):
        ways.add(DIRECT)
    if len({event["name"] for event in listed if _STEP.match(event["name"])}) > 1:
        end = max(sum(_time(event)) for event in on_host if _STEP.match(event["name"]))
        launched = {_correlation(event) for event in on_host if _time(event)[0] <= end}
        kept = [event for event in chosen if _correlation(event) in launched]
        if len(kept) < len(chosen):
            ways.add(LAUNCHED)
        chosen = kept
    return chosen, ways


def pauses_as_told(events: Iterable[Event], work: Iterable[Event]) -> dict[str, float]:
    """Pauses of each stream before this work by what they wait for, as HolisticTraceAnalysis tells them, added up, µs.

    Its times are binary numbers of 53 bits, at today's clock a quarter of a µs apart, and many kernels follow each
    other closer than that. Work whose launch was not recorded has the head of the file for its launch.
    """
    listed = list(events)
    first = min(float(event["ts"]) for event in listed)
    asked = {_correlation(event): float(event["ts"]) - first for event in listed if _stream(event) == -1}
    unknown = next((float(event["ts"]) - first for event in listed if event.get(HEAD)), -1.0)
    by_stream: dict[int, list[tuple[float, float, float]]] = {}
    for event in work:
        start, launched = float(event["ts"]) - first, asked.get(_correlation(event), unknown)
        by_stream.setdefault(_stream(event), []).append((start, start + float(event["dur"]), launched))
    found = {"host_wait": 0.0, "kernel_wait": 0.0, "other": 0.0}
    for times in by_stream.values():
        times.sort(key=itemgetter(0))
        for (_, ended, _), (start, _, launched) in pairwise(times):
            kind = "host_wait" if launched > ended else "kernel_wait" if start - ended < KERNEL_WAIT_US else "other"
            found[kind] += start - ended
    return found


def figures_of_work(work: Iterable[Event], *, direct: bool = True) -> RawFigures:
    """How the time from the first of these events to the end of the last one splits.

    Collectives without NCCL count as communication where they are `direct`, else as computation.
    """
    every: Intervals = []
    kernels: dict[str, float] = {}
    of_type: dict[str, Intervals] = {"COMPUTATION": [], "COMMUNICATION": [], "MEMORY": [], "OTHER": []}
    for event in work:
        start, length = _time(event)
        every.append((start, start + length))
        kind = "COMMUNICATION" if direct and is_collective(event) else _type_of_work(event["name"])
        of_type[kind].append(every[-1])
        if kind == "COMPUTATION":
            kernels[event["name"]] = kernels.get(event["name"], 0.0) + length / 1000
    merged = {name: merge(intervals) for name, intervals in of_type.items()}
    whole = max(end for _, end in every) - min(start for start, _ in every) if every else 0
    both = length_of(common(merged["COMPUTATION"], merged["COMMUNICATION"]))
    communication = length_of(merged["COMMUNICATION"])
    return RawFigures(
        whole=whole / 1000,
        idle=(whole - length_of(merge(every))) / 1000,
        compute=length_of(merged["COMPUTATION"]) / 1000,
        communication=communication / 1000,
        overlap=both / communication if communication else float("nan"),
        types={name: sum(end - start for start, end in intervals) / 1000 for name, intervals in of_type.items()},
        kernels=kernels,
    )


def merge(intervals: Intervals) -> Intervals:
    """The union, in order."""
    merged: Intervals = []
    for start, end in sorted(intervals):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return merged


def common(some: Intervals, others: Intervals) -> Intervals:
    """What lies in both unions."""
    found: Intervals = []
    one = two = 0
    while one < len(some) and two < len(others):
        start, end = max(some[one][0], others[two][0]), min(some[one][1], others[two][1])
        if start < end:
            found.append((start, end))
        if some[one][1] < others[two][1]:
            one += 1
        else:
            two += 1
    return found


def length_of(intervals: Intervals) -> int:
    """How long all of them are."""
    return sum(end - start for start, end in intervals)


def _time(event: Event) -> tuple[int, int]:
    """Start and duration in ns."""
    return int(Decimal(event["ts"]) * 1000), round(Decimal(event["dur"]) * 1000)


def _stream(event: Event) -> int:
    try:
        return int((event.get("args") or {}).get("stream", -1))
    except ValueError:
        return -1


def _correlation(event: Event) -> object:
    return (event.get("args") or {}).get("correlation", -1)


def is_collective(event: Event) -> bool:
    """Whether work on the device is a collective, of NCCL or not."""
    return event["cat"] in WORK and bool(_COLLECTIVE.match(event["name"]) or _DIRECT.search(event["name"]))


def _type_of_work(name: str) -> str:
    for words, kind in ((_COLLECTIVE, "COMMUNICATION"), (_MEMORY, "MEMORY"), (_SYNC, "OTHER")):
        if words.match(name):
            return kind
    return "COMPUTATION"
