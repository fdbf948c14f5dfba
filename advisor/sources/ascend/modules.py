# SPDX-License-Identifier: Apache-2.0
"""ModuleRange: mstx ranges of the domain `Module`, else the calls of modules on the Python stack."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import ModuleRange
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.host_calls import TRACE
from advisor.sources.ascend.program_marks import marks_of_database, marks_of_timeline
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import Only, are_spans
from advisor.sources.reading import Reading
from advisor.sources.shared.pytorch_words import MODULE_DOMAIN, module_names

_THREAD_BITS = 0xFFFFFFFF


def _ranges_from_text(folder: Folder) -> Table[ModuleRange]:
    marked = marks_of_timeline(folder).of(MODULE_DOMAIN, lasting=True)
    if len(marked.start):
        return _table_of_ranges(folder, "mark", marked.message, marked.thread, marked.start, marked.end)
    timeline = folder.timeline()
    slices, names = timeline.slices, module_names(timeline.slices.name)
    rows = np.flatnonzero((names.codes >= 0) & slices.category.isin(["python_function"]))
    thread = timeline.tracks.number[slices.track[rows]]
    return _table_of_ranges(folder, "python", names.take(rows), thread, slices.start_ns[rows], slices.end_ns[rows])


def _ranges_from_database(folder: Folder) -> Table[ModuleRange]:
    marked = marks_of_database(folder).of(MODULE_DOMAIN, lasting=True)
    if len(marked.start):
        return _table_of_ranges(folder, "mark", marked.message, marked.thread, marked.start, marked.end)
    database = folder.database()
    wanted = {"start": ["startNs"], "end": ["endNs"], "thread": ["globalTid"], "name": ["name"]}
    calls = database.integers("PYTORCH_API", wanted, Only("type", (TRACE,)))
    name = module_names(database.texts(calls.pop("name")))
    number = calls.pop("thread")
    thread = np.where(number == MISSING, MISSING, number & _THREAD_BITS)
    del number
    return _table_of_ranges(folder, "python", name, thread, calls["start"], calls["end"])


def _table_of_ranges(  # noqa: PLR0917 - the columns of the table
    folder: Folder, source: str, name: Texts, thread: Array, start: Array, end: Array
) -> Table[ModuleRange]:
    """The ranges that have a name, a begin and an end.

    Raises:
        FactMissing: There are none.
    """
    good = np.flatnonzero((name.codes >= 0) & are_spans(start, end))
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
