# SPDX-License-Identifier: Apache-2.0
"""ProgramMark: mstx marks and ranges, out of the timeline or MSTX_EVENTS; what others read of one domain of them."""

from __future__ import annotations

from functools import partial

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.observed import ProgramMark
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.device_tasks import HARDWARE
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import Database, Only, are_spans
from advisor.sources.reading import Reading

_MOMENTS, _RANGES = (0, 3), (1, 2)
"""Types of MSTX_EVENTS: marker and marker_ex; push/pop and start/end, which have an end."""
_THREAD_BITS = 0xFFFFFFFF


class HostMarks(Struct, frozen=True):
    """Marks of a program on the host; `end` is `start` of those that are moments."""

    thread: Array
    domain: Texts
    message: Texts
    start: Array
    end: Array
    lasts: Array
    """Whether it is a range; the timeline does not tell, so that all count as such."""

    def of(self, domain: str, *, lasting: bool = False) -> HostMarks:
        """Those of one domain, and of these the ranges where only they are asked for."""
        rows = np.flatnonzero(self.domain.isin([domain]) & (self.lasts | (not lasting)))
        texts = self.domain.take(rows), self.message.take(rows)
        return HostMarks(self.thread[rows], *texts, self.start[rows], self.end[rows], self.lasts[rows])


def marks_of_timeline(folder: Folder) -> HostMarks:
    """All marks whose domain is recorded, but for their copies on the device."""
    timeline = folder.timeline()
    slices, marks = timeline.slices, timeline.marks
    here = ~timeline.tracks.of(*HARDWARE)[slices.track[marks.row]]
    rows = marks.row[here]
    thread = timeline.tracks.number[slices.track[rows]]
    domain = marks.domain.take(np.flatnonzero(here))
    lasts = np.ones(len(rows), bool)
    return HostMarks(thread, domain, slices.name.take(rows), slices.start_ns[rows], slices.end_ns[rows], lasts)


def marks_of_database(folder: Folder) -> HostMarks:
    """All marks; ranges without a believable end are left out."""
    return folder.once("program_marks", partial(_read_marks, folder.database()))


def _read_marks(database: Database) -> HostMarks:
    wanted = {
        "start": ["startNs"], "end": ["endNs"], "thread": ["globalTid"], "name": ["message"], "of": ["domainId"],
        "type": ["eventType"],
    }  # fmt: skip
    found = database.integers("MSTX_EVENTS", wanted, Only("eventType", (*_MOMENTS, *_RANGES)))
    moment = np.isin(found["type"], _MOMENTS)
    end = np.where(moment, found["start"], found["end"])
    rows = np.flatnonzero(are_spans(found["start"], end))
    thread = np.where(found["thread"] == MISSING, MISSING, found["thread"] & _THREAD_BITS)
    domain, message = (database.texts(found[name][rows]) for name in ("of", "name"))
    return HostMarks(thread[rows], domain, message, found["start"][rows], end[rows], ~moment[rows])


def _table_of_marks(folder: Folder, marks: HostMarks) -> Table[ProgramMark]:
    """The marks that say something.

    Raises:
        FactMissing: There are none.
    """
    rows = np.flatnonzero((marks.message.codes >= 0) & are_spans(marks.start, marks.end))
    if not len(rows):
        raise FactMissing([ProgramMark.table])
    return Table.build(
        ProgramMark,
        rank=folder.rank,
        thread=marks.thread[rows],
        domain=marks.domain.take(rows),
        name=marks.message.take(rows),
        start_ns=marks.start[rows],
        end_ns=marks.end[rows],
    )


def _table_from_text(folder: Folder) -> Table[ProgramMark]:
    return _table_of_marks(folder, marks_of_timeline(folder))


def _table_from_database(folder: Folder) -> Table[ProgramMark]:
    return _table_of_marks(folder, marks_of_database(folder))


PROGRAM_MARKS = Reading(ProgramMark, {"text": _table_from_text, "database": _table_from_database})
