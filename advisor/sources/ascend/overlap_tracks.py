# SPDX-License-Identifier: Apache-2.0
"""OverlapTrack: the lane Overlap Analysis of the timeline, OVERLAP_ANALYSIS in the database."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import OverlapTrack
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.reading import Reading

_NAMES = ("Computing", "Communication(Not Overlapped)", "Free")
_TYPES = (0, 2, 3)
"""Their numbers in ENUM_OVERLAP_ANALYSIS_TYPE; 1 is communication, hidden or not."""


def _tracks_from_text(folder: Folder) -> Table[OverlapTrack]:
    if folder.exports[0] == "database":  # no reason to decode the timeline beside it
        raise FactMissing([OverlapTrack.table])
    found = folder.timeline().overlap_us
    if not found or _is_cut(folder):
        raise FactMissing([OverlapTrack.table])
    return _track_table(folder, *(found.get(name, 0.0) for name in _NAMES))


def _is_cut(folder: Folder) -> bool:
    """Whether the end of the timeline is missing, and with it perhaps the end of the lane."""
    file = folder.files["trace_view.json"].name
    return any(note.kind == "truncated" and note.file == file for note in folder.notes.all())


def _tracks_from_database(folder: Folder) -> Table[OverlapTrack]:
    database = folder.database()
    if not {"startNs", "endNs", "type"} <= set(database.fields("OVERLAP_ANALYSIS")):
        raise FactMissing([OverlapTrack.table])
    wanted = {"type": ["type"], "start": ["startNs"], "end": ["endNs"]}
    track = database.integers("OVERLAP_ANALYSIS", wanted, database.on_device("OVERLAP_ANALYSIS", folder.rank))
    lasted = np.where(track["start"] == MISSING, -1, track["end"] - track["start"])
    of_type = {kind: lasted[(track["type"] == kind) & (lasted >= 0)] for kind in _TYPES}
    found = {kind: float(ns.sum()) / 1e3 for kind, ns in of_type.items() if len(ns)}
    if not found.keys() & set(_TYPES):
        raise FactMissing([OverlapTrack.table])
    return _track_table(folder, *(found.get(kind, 0.0) for kind in _TYPES))


def _track_table(folder: Folder, compute: float, exposed: float, free: float) -> Table[OverlapTrack]:
    return Table.build(
        OverlapTrack, rank=[folder.rank], compute_us=[compute], exposed_comm_us=[exposed], free_us=[free]
    )


OVERLAP_TRACKS = Reading(OverlapTrack, {"text": _tracks_from_text, "database": _tracks_from_database})
