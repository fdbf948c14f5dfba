# SPDX-License-Identifier: Apache-2.0
"""Where captures come from that mutations begin with: jobs that are generated, and recorded ones with fewer rows."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import corpus
from benchmarks.fuzz.captures import Files, read_files
from benchmarks.fuzz.shrink import shrink_capture
from corpus.cases import job
from corpus.events import Layout
from corpus.transformer import Transformer
from corpus.workloads import Setup

REAL = "real:"
"""How the names of recorded ones begin."""
_SMALL = Transformer(layers=1, steps=2, hidden=512, sequence=512, batch=1, vocabulary=256)


def generate_job(case: str, export: str, ranks: int = 1, level: int = 1, rows: int = 0, **variants: Any) -> Files:
    """A generated job with one fault; with `rows` its tables are cut to so many."""
    made = job(case, seed=3, setup=Setup(_SMALL, Layout(dp=ranks)))
    with tempfile.TemporaryDirectory(prefix="fuzz-seed-") as folder:
        corpus.write(made, Path(folder) / "capture", export, level, **variants)
        files = read_files(Path(folder) / "capture")
    del files["truth.json"]
    return shrink_capture(files, rows) if rows else files


def record_capture(folder: str, rows: int) -> Files:
    """A recorded capture with so many rows of each kind."""
    return shrink_capture(read_files(Path(os.environ["ADVISOR_REAL_DATA"]) / folder), rows)
