# SPDX-License-Identifier: Apache-2.0
"""AicpuTask: data_preprocess.csv, which msprof calls aicpu_*.csv. Old versions give some of its times in ms."""

from __future__ import annotations

import numpy as np

from advisor.facts.observed import AicpuTask
from advisor.facts.table import Table
from advisor.sources.ascend.reading import Folder
from advisor.sources.reading import Reading

_HEADINGS = {
    "op_name": ("Node",),
    "compute_us": ("Compute_time",),
    "copy_us": ("Memcpy_time",),
    "task_us": ("Task_time",),
    "dispatch_us": ("Dispatch_time",),
    "total_us": ("Total_time",),
}


def _tasks_from_text(folder: Folder) -> Table[AicpuTask]:
    columns = folder.columns(AicpuTask, "data_preprocess.csv", _HEADINGS, ("op_name", "total_us"))
    rank = np.full(len(columns["total_us"]), folder.rank, np.int64)
    return Table.build(AicpuTask, rank=rank, **columns)


AICPU_TASKS = Reading(AicpuTask, {"text": _tasks_from_text})
