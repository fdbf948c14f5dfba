# SPDX-License-Identifier: Apache-2.0
"""A text capture as it lies on disk: trace events, CSV rows and JSON, unchanged."""

from __future__ import annotations

import csv
import io
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.injected.program import Event, Row

OUTPUT = "ASCEND_PROFILER_OUTPUT"
TRACE, KERNELS, OPERATORS = "trace_view.json", "kernel_details.csv", "operator_details.csv"
COMMUNICATION, MATRIX = "communication.json", "communication_matrix.json"


@dataclass(slots=True)
class Sheet:
    """A CSV file."""

    headings: list[str]
    rows: list[Row]

    def text(self) -> str:
        """The file again."""
        stream = io.StringIO()
        writer = csv.DictWriter(stream, self.headings, lineterminator="\n", extrasaction="ignore")
        writer.writeheader()
        writer.writerows(self.rows)
        return stream.getvalue()


@dataclass(slots=True)
class Capture:
    """What the profiler wrote of one rank."""

    name: str
    rank: int
    events: list[Event]
    sheets: dict[str, Sheet] = field(default_factory=dict)
    communication: dict[str, Any] = field(default_factory=dict)
    matrix: dict[str, Any] = field(default_factory=dict)
    beside: dict[str, bytes] = field(default_factory=dict)
    """Files beside the output folder, by their path: settings, what raw data say of the device."""
    around: dict[str, Any] | None = None
    """Of a trace of a GPU: what it says beside its events. Other captures have none."""


def nanoseconds(text: object) -> int:
    """A time in µs, exact."""
    whole, _, fraction = str(text).strip().partition(".")
    return int(whole) * 1000 + int((fraction + "000")[:3])


def microseconds(time: int) -> str:
    """A time in ns as the files write it."""
    return f"{time // 1000}.{time % 1000:03d}"


def captures(folder: Path) -> list[Path]:
    """The captures in a folder, by rank."""
    return sorted((path for path in folder.glob("*_ascend_pt") if (path / OUTPUT / TRACE).is_file()), key=rank_of)


def rank_of(folder: Path) -> int:
    """The rank a capture is of, by the name of its profiler_info file."""
    for path in folder.glob("profiler_info_*.json"):
        return int(re.findall(r"\d+", path.name)[-1])
    return 0


def read_capture(folder: Path) -> Capture:
    """All that is edited, decoded; all that is not, as bytes."""
    output = folder / OUTPUT
    content = json.loads((output / TRACE).read_bytes())
    capture = Capture(folder.name, rank_of(folder), content["traceEvents"] if isinstance(content, dict) else content)
    for path in sorted(output.glob("*.csv")):
        with path.open(encoding="utf-8", newline="") as file:
            reader = csv.DictReader(file)
            capture.sheets[path.name] = Sheet(list(reader.fieldnames or ()), list(reader))
    capture.communication = _object(output / COMMUNICATION)
    capture.matrix = _object(output / MATRIX)
    beside = [*(path for path in folder.iterdir() if path.is_file()), *folder.glob("PROF_*/device_*/info.json.*")]
    capture.beside = {path.relative_to(folder).as_posix(): path.read_bytes() for path in beside}
    return capture


def _object(path: Path) -> dict[str, Any]:
    return json.loads(path.read_bytes()) if path.is_file() else {}
