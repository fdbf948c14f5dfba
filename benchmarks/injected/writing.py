# SPDX-License-Identifier: Apache-2.0
"""Writes the captures of a program that was run: every file that holds times agrees with the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec

from benchmarks.injected import sheets, talk, trace
from benchmarks.injected.capture import COMMUNICATION, KERNELS, MATRIX, OPERATORS, OUTPUT, TRACE, Capture, Sheet
from benchmarks.injected.program import Job, Rank
from benchmarks.injected.splits import Split, splits

_ANEW: dict[str, Callable[[Rank, Sheet], Sheet]] = {
    KERNELS: sheets.kernels,
    OPERATORS: sheets.operators,
    "op_statistic.csv": sheets.operator_totals,
    "api_statistic.csv": sheets.api_totals,
}


def write(job: Job, captures: Sequence[Capture], folder: Path) -> Path:
    """Writes all captures into a folder that does not exist yet; returns it."""
    for rank, capture in zip(job.ranks, captures, strict=True):
        _write_capture(rank, capture, folder / capture.name)
    return folder


def _write_capture(rank: Rank, capture: Capture, folder: Path) -> None:
    output = folder / OUTPUT
    output.mkdir(parents=True)
    for name, content in capture.beside.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    split, moved = splits(rank), trace.Moved(rank)
    (output / TRACE).write_bytes(msgspec.json.encode(list(trace.events(rank, capture, split, moved))))
    for name, sheet in capture.sheets.items():
        (output / name).write_text(_sheet(name, sheet, rank, split, moved).text(), encoding="utf-8", newline="")
    if capture.communication:
        (output / COMMUNICATION).write_bytes(msgspec.json.encode(talk.communication(rank, capture.communication)))
    if capture.matrix:
        (output / MATRIX).write_bytes(msgspec.json.encode(talk.matrix(rank, capture.matrix)))


def _sheet(name: str, sheet: Sheet, rank: Rank, split: list[Split], moved: trace.Moved) -> Sheet:
    if name == "step_trace_time.csv":
        return sheets.step_times(split, sheet.headings)
    if name == OPERATORS and not any(call.row for call in rank.calls):
        return sheet
    if name in _ANEW:
        return _ANEW[name](rank, sheet)
    return sheets.shifted(sheet, moved)
