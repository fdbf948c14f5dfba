# SPDX-License-Identifier: Apache-2.0
"""Launch: the HostToDevice arrows of the timeline; in the database, tasks and host calls of one connection id.

Kernels of a graph may have no arrow: their call is told by its turn (`graph_launches`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import Launch
from advisor.facts.table import Array, Table, values_at
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.arrows import pair_ends, slices_around
from advisor.sources.ascend.device_tasks import HARDWARE, KIND_OF_NAME, task_columns, waits_and_marks
from advisor.sources.ascend.graph_launches import CALL, with_graphs
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import query_rows
from advisor.sources.files.database import Database, match_keys
from advisor.sources.reading import Reading

if TYPE_CHECKING:
    from advisor.sources.files.timeline import TraceTimeline

_LAUNCH = "Node@launch"
_CALLS = "AscendCL@"
_THREAD_BITS = 0xFFFFFFFF


def _launches_from_text(folder: Folder) -> Table[Launch]:
    recorded = launches_by_arrows(folder)
    names = folder.timeline().slices.name.names
    return with_graphs(folder, recorded) if any(CALL.search(name) for name in names) else recorded


def launches_by_arrows(folder: Folder) -> Table[Launch]:
    """What the timeline draws; nothing of the kernels of a graph to which no arrow leads.

    Raises:
        FactMissing: No arrow has both ends.
    """
    timeline = folder.timeline()
    links = timeline.links
    if not len(links.track):
        raise FactMissing([Launch.table])
    starts, ends = np.flatnonzero(~links.end), np.flatnonzero(links.end)
    if not (len(starts) and len(ends)):
        file = folder.timeline_name
        folder.notes.add(file, "", Message("arrows_lack_an_end"), rows=len(links.track), share=1.0)
        raise FactMissing([Launch.table], [file])
    ends = ends[~_to_nothing(timeline, ends)]
    start_of = pair_ends(links, starts, ends)
    starts, ends = starts[start_of[start_of >= 0]], ends[start_of >= 0]
    calls = _launching_slices(timeline, links.track[starts], links.time_ns[starts])
    slices, known = timeline.slices, calls >= 0
    track = links.track[ends]
    on_stream = timeline.tracks.of(*HARDWARE)[track]
    return Table.build(
        Launch,
        rank=folder.rank,
        thread=np.where(known, timeline.tracks.number[links.track[starts]], MISSING),
        host_start_ns=np.where(known, values_at(slices.start_ns, calls), links.time_ns[starts]),
        host_end_ns=values_at(slices.end_ns, calls),
        device_start_ns=links.time_ns[ends],
        stream=np.where(on_stream, timeline.tracks.number[track], MISSING),
    ).sorted_by("device_start_ns", "stream")


def _to_nothing(timeline: TraceTimeline, ends: Array) -> Array:
    """Whether an arrow ends at an event or a place holder: newer exporters draw those, older ones do not."""
    track, moment = timeline.links.track[ends], timeline.links.time_ns[ends]
    found = slices_around(timeline, waits_and_marks(timeline), track, moment)
    same: Array = values_at(timeline.slices.start_ns, found) == moment
    return same


def _launching_slices(timeline: TraceTimeline, track: Array, moment: Array) -> Array:
    """The slice that launched at each moment: Node@launch around it, else the AscendCL call that begins there."""
    name = timeline.slices.name
    launch = slices_around(timeline, name.isin([_LAUNCH]), track, moment)
    call = slices_around(timeline, name.hits(n.startswith(_CALLS) for n in name.names), track, moment)
    return np.where(launch >= 0, launch, call)


def _launches_from_database(folder: Folder) -> Table[Launch]:
    database = folder.database()
    if not all(map(database.has_rows, ("TASK", "COMPUTE_TASK_INFO", "CANN_API"))):
        raise FactMissing([Launch.table])
    found = launched_tasks(database, folder.rank)
    wanted = {"start": ["startNs"], "end": ["endNs"], "thread": ["globalTid"], "connection": ["connectionId"]}
    calls = database.integers("CANN_API", wanted)
    place = match_keys(calls["connection"], found["connection"])
    known = place >= 0
    place = place[known]
    thread = calls["thread"][place]
    recorded = Table.build(
        Launch,
        rank=folder.rank,
        thread=np.where(thread == MISSING, MISSING, thread & _THREAD_BITS),
        host_start_ns=calls["start"][place],
        host_end_ns=calls["end"][place],
        device_start_ns=found["start"][known],
        stream=found["stream"][known],
    ).sorted_by("device_start_ns", "stream")
    runs_graphs = query_rows(folder, "profiler", "SELECT 1 FROM STRING_IDS WHERE value GLOB 'aclmdl*Execute*' LIMIT 1")
    return with_graphs(folder, recorded) if runs_graphs else recorded


def launched_tasks(database: Database, rank: int) -> dict[str, Array]:
    """What HostToDevice arrows point at: kernels, copies, and whole collectives in the place of their tasks."""
    task = task_columns(database, rank)
    kernels = database.integers("COMPUTE_TASK_INFO", {"task": ["globalTaskId"]})["task"]
    copies = [name for name, kind in KIND_OF_NAME.items() if kind == "copy"]
    chosen = (match_keys(kernels, task["task"]) >= 0) | database.texts(task["type"]).isin(copies)
    wanted = {"start": ["startNs"], "end": ["endNs"], "connection": ["connectionId"]}
    collectives = database.integers("COMMUNICATION_OP", wanted, database.on_device("COMMUNICATION_OP", rank))
    found = {name: np.concatenate([task[name][chosen], collectives[name]]) for name in wanted}
    found["stream"] = np.append(task["stream"][chosen], np.full(len(collectives["start"]), MISSING, np.int64))
    return found


LAUNCHES = Reading(Launch, {"text": _launches_from_text, "database": _launches_from_database})
