# SPDX-License-Identifier: Apache-2.0
"""The csv and json files of ASCEND_PROFILER_OUTPUT of one rank."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from corpus import rows
from corpus.communication import matrix, times_and_bandwidths
from corpus.events import Job, RankTrace
from corpus.export import Export, new_output
from corpus.trace_writer import write_trace


def write_text(job: Job, folder: Path, export: Export) -> None:
    """Write one `*_ascend_pt` folder per rank."""
    for trace in job.ranks:
        output = new_output(job, trace, folder, export, "text")
        if not export.totals:
            write_trace(trace, output / "trace_view.json", export)
        if export.tables:
            _write_tables(trace, output, export)
        if export.tables and not export.totals and export.level and trace.collectives:
            _write_json(output / "communication.json", times_and_bandwidths(trace, export))
            _write_json(output / "communication_matrix.json", matrix(trace, export))


def _write_tables(trace: RankTrace, output: Path, export: Export) -> None:
    tables = {} if export.totals else dict(rows.ALWAYS)
    if export.level:
        tables |= rows.FROM_LEVEL1
    if export.memory and not export.totals:
        tables |= rows.WITH_MEMORY
    for name, table in tables.items():
        header, lines = table(trace, export)
        # torch_npu ends the lines of the one file it writes from scratch with CRLF.
        _write_csv(output / name, header, lines, "\r\n" if export.windows or name == "step_trace_time.csv" else "\n")


def _write_csv(path: Path, header: Sequence[str], lines: Iterable[Sequence[object]], ending: str) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator=ending)
        writer.writerow(header)
        writer.writerows(lines)


def _write_json(path: Path, content: object) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")
