# SPDX-License-Identifier: Apache-2.0
"""Captures with known answers: a model of a training job, the faults it may have, and writers of both real exports.

    corpus.write(corpus.job("data-loader", seed=3, strength=2.0), Path("out"), export="database", level=2)

Not shipped: tests and benchmarks use it, and `python -m corpus` writes cases by hand.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from corpus.cases import habits, job, names
from corpus.database_writer import write_database
from corpus.events import Job
from corpus.export import Export
from corpus.mindspore import write_mindspore, write_mindspore_database
from corpus.text_writer import write_text

__all__ = ["Export", "Job", "habits", "job", "names", "write"]
_WRITERS = {"text": write_text, "database": write_database}
_MINDSPORE = {"text": write_mindspore, "database": write_mindspore_database}


def write(job: Job, folder: Path | str, export: str = "text", level: int = 1, **variants: Any) -> Path:
    """Write a job as a capture with one folder per rank, and `truth.json` beside them.

    `variants` are the other fields of `Export`, such as `device_column=True`.

    Raises:
        KeyError: The export is neither `text` nor `database`.
        FileExistsError: The folder already holds this capture.
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    how = Export(level=level, **variants)
    (_MINDSPORE if how.mindspore else _WRITERS)[export](job, folder, how)
    if job.damage == "truncated":
        _truncate(folder, next(c.place["rank"] for c in job.causes if c.name == "damaged-trace"))
    truth = {"case": job.name, "seed": job.seed, "step_us": job.step_us, "causes": [asdict(c) for c in job.causes]}
    (folder / "truth.json").write_text(json.dumps(truth, indent=2) + "\n", encoding="utf-8")
    return folder


def _truncate(folder: Path, rank: int) -> None:
    """Cut the timeline of one rank in its middle, as a full disk or a killed analysis leaves it."""
    traces = sorted(folder.rglob("trace_view.json")) or sorted(folder.rglob("ascend_pytorch_profiler_*.db"))
    content = traces[rank].read_bytes()
    traces[rank].write_bytes(content[: len(content) * 3 // 5])
