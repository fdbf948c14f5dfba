# SPDX-License-Identifier: Apache-2.0
"""Names by which what the profilers for Ascend write is told, whoever else writes beside it."""

from __future__ import annotations

import re
from collections.abc import Iterable

TEXT_FILES = (
    "step_trace_time.csv",
    "kernel_details.csv",
    "trace_view.json",
    "communication.json",
    "communication_matrix.json",
    "op_statistic.csv",
    "api_statistic.csv",
    "operator_details.csv",
    "memory_record.csv",
    "operator_memory.csv",
    "npu_module_mem.csv",
    "l2_cache.csv",
)
OUTPUT = "ASCEND_PROFILER_OUTPUT"
PROFILER_DATABASE = re.compile(r"^ascend_(pytorch|mindspore)(?:_profiler)?(?:_(\d{1,9}))?\.db$")
ANALYSIS_DATABASES = ("analysis.db", "communication_analyzer.db")
RAW_FOLDER = re.compile(r"^PROF_\d+_\d+_[0-9a-zA-Z]+")
"""A folder of raw data; what comes out of it is written into it."""


def is_output(files: Iterable[str]) -> bool:
    """Whether these are the files of a parsed capture."""
    return any(name in TEXT_FILES or name in ANALYSIS_DATABASES or PROFILER_DATABASE.match(name) for name in files)
