# SPDX-License-Identifier: Apache-2.0
"""ModuleRange: mstx ranges of the domain `Module`, else the calls of modules on the Python stack."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import ModuleRange
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.device_tasks import HARDWARE
from advisor.sources.ascend.host_calls import TRACE
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import Database, Only
from advisor.sources.pytorch_words import MODULE_DOMAIN, module_names
from advisor.sources.reading import Reading

_RANGES = (1, 2)
"""Types of MSTX_EVENTS that have an end: push/pop and start/end."""
_THREAD_BITS = 0xFFFFFFFF


def _ranges_from_text(folder: Folder) -> Table[ModuleRange]:
    timeline = folder.timeline()
    slices, marks = timeline.slices, timeline.marks
    rows = marks.row[marks.domain.isin([MODULE_DOMAIN])]
    rows = rows[~timeline.tracks.of(*HARDWARE)[slices.track[rows]]]
    if len(rows):
        source, name = "mark", slices.name.take(rows)
    else:
        source, names = "python", module_names(slices.name)
        rows = np.flatnonzero((names.codes >= 0) & slices.category.isin(["python_function"]))
        name = names.take(rows)
    thread = timeline.tracks.number[slices.track[rows]]
    return _table_of_ranges(folder, source, name, thread, slices.start_ns[rows], slices.end_ns[rows])


def _ranges_from_database(folder: Folder) -> Table[ModuleRange]:
    database = folder.database()
    marked = _marks(database)
    if len(marked["start"]):
        source, name = "mark", database.texts(marked["name"])
    else:
        wanted = {"start": ["startNs"], "end": ["endNs"], "thread": ["globalTid"], "name": ["name"]}
        marked = database.integers("PYTORCH_API", wanted, Only("type", (TRACE,)))
        source, name = "python", module_names(database.texts(marked["name"]))
    thread = np.where(marked["thread"] == MISSING, MISSING, marked["thread"] & _THREAD_BITS)
    return _table_of_ranges(folder, source, name, thread, marked["start"], marked["end"])


def _marks(database: Database) -> dict[str, Array]:
    """The ranges of the domain."""
    wanted = {"start": ["startNs"], "end": ["endNs"], "thread": ["globalTid"], "name": ["message"], "of": ["domainId"]}
    found = database.integers("MSTX_EVENTS", wanted, Only("eventType", _RANGES))
    mine = database.texts(found["of"]).isin([MODULE_DOMAIN])
    return {column: values[mine] for column, values in found.items()}


def _table_of_ranges(  # noqa: PLR0917 - the columns of the table
    folder: Folder, source: str, name: Texts, thread: Array, start: Array, end: Array
) -> Table[ModuleRange]:
    """The ranges that have a name, a begin and an end.

    Raises:
        FactMissing: There are none.
    """
    good = np.flatnonzero((name.codes >= 0) & (start != MISSING) & (end >= start))
    if not len(good):
        raise FactMissing([ModuleRange.table])
    return Table.build(
        ModuleRange,
        rank=folder.rank,
        thread=thread[good],
        source=source,
        name=name.take(good),
        start_ns=start[good],
        end_ns=end[good],
    )


MODULE_RANGES = Reading(ModuleRange, {"text": _ranges_from_text, "database": _ranges_from_database})
