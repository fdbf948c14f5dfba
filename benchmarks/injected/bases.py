# SPDX-License-Identifier: Apache-2.0
"""The captures that faults are put into: one as it was recorded, one made healthy, with more steps and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.injected import gpu_traces, reading, writing
from benchmarks.injected.balance import Health, balance
from benchmarks.injected.capture import Capture, captures, read_capture
from benchmarks.injected.program import Job
from benchmarks.injected.rank_faults import scale_host
from benchmarks.injected.raw_data import keep_device_info
from benchmarks.injected.reading import program
from benchmarks.injected.repeating import repeated, with_ranks
from benchmarks.injected.rerun import rerun

_APART = 0.01
"""By what part of its work the host of each further rank of a trace of a GPU is slower than the one before."""


@dataclass(frozen=True, slots=True)
class Base:
    """How a capture that faults are put into is made from a recorded one."""

    name: str
    source: str
    """Folder of the recorded captures, below that of all real data."""
    steps: int = 1
    """As many as recorded when 0: traces of GPUs are not repeated."""
    ranks: int = 0
    """As many as recorded when 0."""
    hosts: float = 1.0
    """Of a trace of a GPU: host work, of what was recorded."""
    health: Health | None = None
    """What is made of it; nothing when it stays as recorded."""


def make(base: Base, data: Path, folder: Path, seed: int = 1) -> Path:
    """Writes a base into a folder that does not exist yet; returns it."""
    place = data / base.source
    if not captures(place):
        return _make_of_traces(base, place, folder)
    found: Sequence[Capture] = [read_capture(path) for path in captures(place)]
    if base.ranks:
        found = with_ranks(found, base.ranks)
    if base.steps > 1:
        found = repeated(found, base.steps)
    job = program(found)
    if base.health is not None:
        balance(job, base.health, seed)
        rerun(job)
        rerun(job)
        keep_device_info(found)
    return writing.write(job, found, folder)


def job_of(folder: Path) -> tuple[Job, Sequence[Capture]]:
    """The program of what was written into a folder, and the captures."""
    if captures(folder):
        return reading.job_of(folder)
    found = [gpu_traces.read_trace(path) for path in gpu_traces.traces(folder)]
    return gpu_traces.program(found), found


def write(job: Job, found: Sequence[Capture], folder: Path) -> Path:
    """Writes the captures of a program that was run into a folder that does not exist yet; returns it."""
    form = writing.write if found[0].around is None else gpu_traces.write
    return form(job, found, folder)


def _make_of_traces(base: Base, place: Path, folder: Path) -> Path:
    found = [gpu_traces.read_trace(path) for path in gpu_traces.traces(place)]
    if base.ranks:
        found = gpu_traces.with_ranks(found[0], base.ranks)
    job = gpu_traces.program(found)
    for number, rank in enumerate(job.ranks):
        scale_host(rank, base.hosts * (1 + number * _APART))
    rerun(job)
    return gpu_traces.write(job, found, folder)
