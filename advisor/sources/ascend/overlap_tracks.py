# SPDX-License-Identifier: Apache-2.0
"""OverlapTrack: the lane Overlap Analysis of the timeline, OVERLAP_ANALYSIS in the database."""

from __future__ import annotations

from advisor.facts.observed import OverlapTrack
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.reading import Reading

_NAMES = ("Computing", "Communication(Not Overlapped)", "Free")
_TYPES = (0, 2, 3)
"""Their numbers in ENUM_OVERLAP_ANALYSIS_TYPE; 1 is communication, hidden or not."""


def _tracks_from_text(folder: Folder) -> Table[OverlapTrack]:
    if folder.databases:  # no reason to decode the timeline beside a database
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
    device = database.on_device("OVERLAP_ANALYSIS", folder.rank)
    sums = database.rows(
        f"SELECT type, sum(endNs - startNs) FROM OVERLAP_ANALYSIS WHERE endNs >= startNs AND {device} GROUP BY 1"  # noqa: S608
    )
    found = {kind: float(ns) / 1e3 for kind, ns in sums if isinstance(ns, int | float)}
    if not found.keys() & set(_TYPES):
        raise FactMissing([OverlapTrack.table])
    return _track_table(folder, *(found.get(kind, 0.0) for kind in _TYPES))


def _track_table(folder: Folder, compute: float, exposed: float, free: float) -> Table[OverlapTrack]:
    return Table.build(
        OverlapTrack, rank=[folder.rank], compute_us=[compute], exposed_comm_us=[exposed], free_us=[free]
    )


OVERLAP_TRACKS = Reading(OverlapTrack, {"text": _tracks_from_text, "database": _tracks_from_database})
