# SPDX-License-Identifier: Apache-2.0
"""DeviceTask: kernels, collectives and copies as they ran on the device."""

from __future__ import annotations

import re

import numpy as np

from advisor.facts.observed import DeviceTask
from advisor.facts.table import Table, Texts
from advisor.sources.kineto.kernels import sizes_of_work, streams_of_work
from advisor.sources.kineto.reading import COPIES, EXPORT, WORK, Trace, rows_or_missing
from advisor.sources.reading import Reading

_KINDS = ("kernel", "copy", "comm")
_DIRECTIONS = ("h2d", "d2h", "d2d")
_SPELLED = tuple(map(re.compile, (r"Memcpy (HtoD|[HM]2D)\b", r"Memcpy (DtoH|D2[HM])\b", r"Memcpy (DtoD|D2D)\b")))
"""How names of copies begin, for each direction; Level Zero tells memory of the system (M) from that of USM (H)."""


def _tasks_of_trace(trace: Trace) -> Table[DeviceTask]:
    slices = trace.content().slices
    rows = rows_or_missing(slices.of(*WORK), DeviceTask)
    inner = trace.work_of_collectives()[rows]
    copy = slices.category.isin(COPIES)[rows]
    directions = [_direction_of_copy(name) for name in slices.name.names]
    direction = np.array([*directions, -1], np.int32)[slices.name.codes[rows]]
    return Table.build(
        DeviceTask,
        rank=trace.rank,
        stream=streams_of_work(trace, rows),
        name=slices.name.take(rows),
        kind=Texts(np.where(copy, 1, np.where(inner, 2, 0)).astype(np.int32), _KINDS),
        task_type=slices.category.take(rows),
        start_ns=slices.start_ns[rows],
        end_ns=slices.end_ns[rows],
        connection=slices.correlation[rows],
        size_bytes=np.where(copy, sizes_of_work(trace, rows), np.nan),
        direction=Texts(np.where(copy, direction, -1).astype(np.int32), _DIRECTIONS),
    ).sorted_by("start_ns", "end_ns", "stream")


def _direction_of_copy(name: str) -> int:
    """The place among the directions of the one that a copy of this name goes; -1 where it goes none of them."""
    return next((code for code, spelled in enumerate(_SPELLED) if spelled.match(name)), -1)


DEVICE_TASKS = Reading(DeviceTask, {EXPORT: _tasks_of_trace})
