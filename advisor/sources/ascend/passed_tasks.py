# SPDX-License-Identifier: Apache-2.0
"""PassedTask: the async_mindspore arrows of the timeline. No database of MindSpore holds them.

In PyNative mode a thread that passes a task on records a moment named `flow` with the number of the task, and the
thread that carries it out records the task with the same number. The timeline shows the moment as the beginning of the
arrow alone, without an event of its own, and the task as an event that begins at the end of the arrow
(`FwkTimelineCreator` and `AscendTimelineAssembler` of MindSpore 2.5 to 2.7).
"""

from __future__ import annotations

import numpy as np

from advisor.facts.observed import PassedTask
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.arrows import pair_ends, slices_begun_at
from advisor.sources.ascend.reading import Folder
from advisor.sources.reading import Reading


def _tasks_from_text(folder: Folder) -> Table[PassedTask]:
    timeline = folder.timeline()
    arrows, slices = timeline.passed_tasks, timeline.slices
    starts, ends = np.flatnonzero(~arrows.end), np.flatnonzero(arrows.end)
    start_of = pair_ends(arrows, starts, ends) if len(starts) and len(ends) else np.full(len(ends), -1)
    start, end = starts[start_of[start_of >= 0]], ends[start_of >= 0]
    task = slices_begun_at(timeline, arrows.track[end], arrows.time_ns[end])
    whole = (task >= 0) & (arrows.time_ns[start] <= arrows.time_ns[end])
    start, end, task = start[whole], end[whole], task[whole]
    if not len(task):
        raise FactMissing([PassedTask.table])
    return Table.build(
        PassedTask,
        rank=folder.rank,
        thread=timeline.tracks.number[arrows.track[start]],
        passed_ns=arrows.time_ns[start],
        worker=timeline.tracks.number[arrows.track[end]],
        start_ns=slices.start_ns[task],
        end_ns=slices.end_ns[task],
    ).sorted_by("start_ns", "worker")


PASSED_TASKS = Reading(PassedTask, {"text": _tasks_from_text})
