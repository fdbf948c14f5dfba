# SPDX-License-Identifier: Apache-2.0
"""Runs of one model, by the calls of the host that execute it: where msprof marks no iteration, these are its steps.

A program that loads a model once and executes it for one input after another says by `aclmdlExecute` where each run
begins. They count only where each is followed by as many kernels as any other one until the next: then it is one model,
and the host waits for it before it calls again. Of several models in turn, or of calls that run ahead of the device,
that is not so, and nothing is said.
"""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.table import Array
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.device_tasks import DEVICE_TASKS
from advisor.sources.ascend.host_calls import HOST_CALLS
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.damage_notes import Unreadable

EXECUTION = "aclmdlExecute"
"""How the calls of AscendCL begin that run a loaded model from its first operator to its last."""
_CALLS = tuple(EXECUTION + form for form in ("", "V2", "Async", "AsyncV2"))


def executions_of(folder: Folder) -> tuple[Array, Array]:
    """When each run of the model begins on the host, and when the next one does; the last ends with the last task."""
    for way in ("text", "database"):
        try:
            calls = HOST_CALLS.ways[way](folder)
            begin = np.unique(calls["start_ns"][calls.texts("name").isin(_CALLS) & calls.texts("kind").isin(["api"])])
            tasks = DEVICE_TASKS.ways[way](folder) if len(begin) > 1 else None
        except (FactMissing, Unreadable):  # noted where they are read; the other export may hold them
            continue
        if tasks is not None:
            kernels = tasks["start_ns"][tasks.texts("kind").isin(["kernel"])]
            return _equal_runs(begin, kernels, int(tasks["end_ns"].max(initial=MISSING)))
    return np.empty(0, np.int64), np.empty(0, np.int64)


def _equal_runs(begin: Array, kernels: Array, last: int) -> tuple[Array, Array]:
    """The runs with their ends; none where they differ. A call behind which nothing ran is for another device."""
    run = np.searchsorted(begin, kernels, "right") - 1
    count = np.bincount(run[run >= 0], minlength=len(begin))
    begin, count = begin[count > 0], count[count > 0]
    if len(begin) < 2 or (count != count[0]).any():  # noqa: PLR2004 - one run repeats nothing
        return begin[:0], begin[:0]
    return begin, np.append(begin[1:], max(last, int(begin[-1])))
