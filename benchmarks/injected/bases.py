# SPDX-License-Identifier: Apache-2.0
"""The captures that faults are put into: one as it was recorded, one made healthy, with more steps and ranks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.injected.balance import Health, balance
from benchmarks.injected.capture import Capture, captures, read_capture
from benchmarks.injected.raw_data import keep_device_info
from benchmarks.injected.reading import program
from benchmarks.injected.repeating import repeated, with_ranks
from benchmarks.injected.rerun import rerun
from benchmarks.injected.writing import write


@dataclass(frozen=True, slots=True)
class Base:
    """How a capture that faults are put into is made from a recorded one."""

    name: str
    source: str
    """Folder of the recorded captures, below that of all real data."""
    steps: int = 1
    ranks: int = 0
    """As many as recorded when 0."""
    health: Health | None = None
    """What is made of it; nothing when it stays as recorded."""


def make(base: Base, data: Path, folder: Path, seed: int = 1) -> Path:
    """Writes a base into a folder that does not exist yet; returns it."""
    found: Sequence[Capture] = [read_capture(path) for path in captures(data / base.source)]
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
    return write(job, found, folder)
