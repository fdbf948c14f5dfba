# SPDX-License-Identifier: Apache-2.0
"""Wall time and peak memory of a command with all its children (Linux)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

_PROC = Path("/proc")
_EVERY_S = 0.1
"""Looking at every process takes a few ms of a core, which on a small machine the measured command would miss."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What one run took."""

    seconds: float
    peak_bytes: int
    """The largest sum over the tree at one moment; pages that processes share count once (PSS)."""
    code: int
    output: str
    cpu_seconds: float = 0.0
    """Of the processor, by the command and all it started and waited for."""
    largest_bytes: int = 0
    """The most that one process of the tree had at any moment, where the tree is watched."""
    worker_bytes: int = 0
    """The most that one process which the command started had to itself (USS): without pages that others have too."""


def measure(
    command: Sequence[str], *, watch: bool = True, folder: Path | None = None, beside: Sequence[int] = ()
) -> Measured:
    """Run a command to its end. Watching its process tree, and processes beside it that work for it, gives its memory
    as a whole, and slows it a little; without, the memory is that of its largest process.
    """
    began = time.perf_counter()
    read, write = os.pipe()
    # an installed program is compiled once; where this is set, each run of one that is not would compile it anew
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    process = subprocess.Popen(
        command, stdout=write, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, cwd=folder, env=environment
    )
    os.close(write)
    os.set_blocking(read, False)
    output, peak, largest, worker, ended, usage = b"", 0, 0, 0, 0, None
    while not ended:
        output += _drain(read)
        if watch:
            tree = [*_tree(process.pid), *beside]
            held = [_bytes_held(pid) for pid in tree]
            peak, largest = max(peak, sum(part for part, _ in held)), max(largest, *map(peak_of_process, tree))
            worker = max(worker, *(alone for _, alone in held[1:]), 0)
        time.sleep(_EVERY_S if watch else _EVERY_S / 20)
        ended, status, usage = os.wait4(process.pid, os.WNOHANG)
    seconds = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    output += _drain(read)
    os.close(read)
    # the kernel counts the starting process into the largest size, so that stands in only where nothing was seen
    peak = peak or usage.ru_maxrss * 1024
    cpu = usage.ru_utime + usage.ru_stime
    return Measured(seconds, peak, process.returncode, output.decode(errors="replace"), cpu, largest, worker)


def best(command: Sequence[str], runs: int, *, watch: bool = True, folder: Path | None = None) -> Measured:
    """The fastest of several runs, with the largest memory of all; for `watch`, one run more that is only watched."""
    every = [measure(command, watch=False, folder=folder) for _ in range(runs)]
    fastest = min(every, key=lambda one: one.seconds)
    watched = [measure(command, folder=folder)] if watch else []
    every += watched
    return replace(
        fastest,
        peak_bytes=max(one.peak_bytes for one in every),
        largest_bytes=max(one.largest_bytes for one in every),
        worker_bytes=max(one.worker_bytes for one in every),
    )


def _drain(read: int) -> bytes:
    found = b""
    with suppress(BlockingIOError):
        while part := os.read(read, 65536):
            found += part
    return found


def _tree(root: int) -> list[int]:
    """A process and all below it."""
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            children.setdefault(_parent(entry), []).append(int(entry.name))
    found = [root]
    for pid in found:
        found += children.get(pid, [])
    return found


def _parent(entry: Path) -> int:
    """The parent of a process; -1 when it has just ended."""
    with suppress(OSError):
        # The name, in parentheses, may hold anything; the parent is the second word after it.
        return int((entry / "stat").read_text().rpartition(")")[2].split()[1])
    return -1


def _bytes_held(pid: int) -> tuple[int, int]:
    """Its part of the pages it has (PSS), and those that no other process has (USS)."""
    found = _bytes_told(pid, "smaps_rollup", "Pss:", "Private_Clean:", "Private_Dirty:")
    return found[0], found[1] + found[2]


def peak_of_process(pid: int) -> int:
    """The most memory that a process had so far, with what it shares; 0 when it has ended.

    The kernel's own counter, which begins with the program: `ru_maxrss` begins with what started it.
    """
    return _bytes_told(pid, "status", "VmHWM:")[0]


def _bytes_told(pid: int, file: str, *names: str) -> list[int]:
    """What the system says under these names; 0 of a process that has ended."""
    said: dict[str, int] = {}
    with suppress(OSError):
        for line in (_PROC / str(pid) / file).read_text().splitlines():
            name, *cells = line.split()
            if name in names:
                said[name] = int(cells[0]) * 1024
    return [said.get(name, 0) for name in names]


def measured_alone(script: str, what: Path) -> dict[str, Any]:
    """What a script prints as JSON of one thing it is asked to `--measure`, in a process of its own.

    A peak of memory is one of a whole life.
    """
    command = [sys.executable, script, "--measure", str(what)]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return found
