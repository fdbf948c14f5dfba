# SPDX-License-Identifier: Apache-2.0
"""StepWindow: ProfilerStep#N in the timeline, STEP_TIME in the database; of msprof the iterations of a graph.

MindSpore writes what `prof.step()` marks into its timeline alone: its database is that of msprof, with the ranges that
programs mark. MindFormers marks each step as such a range, `step N`, where marks are recorded (`ProfileMonitor` and
`MFLossMonitor` in mindformers/core/callback/callback.py), and calls no `prof.step()`.
"""

from __future__ import annotations

import re

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.call_words import STEP_MARK
from advisor.sources.ascend.iterations import iterations_of
from advisor.sources.ascend.program_marks import HostMarks, marks_of_database, marks_of_timeline
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import are_spans
from advisor.sources.reading import Reading

_DOMAIN = "default"
"""Of marks whose program names none."""
_STEP_RANGE = re.compile(r"step (\d{1,18})")


def _windows_from_text(folder: Folder) -> Table[StepWindow]:
    if folder.by_msprof:
        marked = iterations_of(folder)
        return _window_table(folder, marked.step, marked.start_ns, marked.end_ns)
    slices = folder.timeline().slices
    numbers = [STEP_MARK.fullmatch(name) for name in slices.name.names]
    rows = np.flatnonzero(slices.name.hits(found is not None for found in numbers))
    if folder.by_mindspore and not len(rows):
        return _windows_of_marks(folder, marks_of_timeline(folder))
    step_of = np.array([int(found[2]) if found else MISSING for found in numbers] + [MISSING], np.int64)
    return _window_table(folder, step_of[slices.name.codes[rows]], slices.start_ns[rows], slices.end_ns[rows])


def _windows_from_database(folder: Folder) -> Table[StepWindow]:
    database = folder.database()
    if folder.by_mindspore and not folder.parts("trace_view.json"):  # which would tell of `prof.step()`
        return _windows_of_marks(folder, marks_of_database(folder))
    if not database.fields("STEP_TIME"):
        raise FactMissing([StepWindow.table])
    found = database.integers("STEP_TIME", {"step": ["id"], "start": ["startNs"], "end": ["endNs"]})
    whole = (found["step"] != MISSING) & are_spans(found["start"], found["end"])
    if at_once := np.count_nonzero(whole & (found["start"] == found["end"])):
        what = Message("no_usable_value", table="STEP_TIME", column="endNs")
        database.notes.add(database.file, "STEP_TIME", what, rows=int(at_once))
    return _window_table(folder, *(found[name][whole] for name in ("step", "start", "end")))


def _windows_of_marks(folder: Folder, marks: HostMarks) -> Table[StepWindow]:
    """The ranges `step N`, of those with one number the first. A step lasts until the next number begins, as between
    two calls of `prof.step()`: the batch is fetched between the ranges."""
    marks = marks.of(_DOMAIN, lasting=True)
    numbers = [_STEP_RANGE.fullmatch(message) for message in marks.message.names]
    step = np.array([int(found[1]) if found else MISSING for found in numbers] + [MISSING])[marks.message.codes]
    order = np.lexsort((marks.start, step))
    order = order[step[order] != MISSING]
    order = order[np.append(True, step[order][1:] != step[order][:-1])[: len(order)]]
    order = order[np.argsort(marks.start[order], kind="stable")]
    step, start, end = step[order], marks.start[order], marks.end[order]
    follows = step[1:] == step[:-1] + 1
    end[:-1] = np.where(follows, start[1:], np.minimum(end[:-1], start[1:]))
    return _window_table(folder, step, start, end)


def _window_table(folder: Folder, step: Array, start: Array, end: Array) -> Table[StepWindow]:
    if not len(step):
        raise FactMissing([StepWindow.table])
    rank = np.full(len(step), folder.rank, np.int64)
    return Table.build(StepWindow, rank=rank, step=step, start_ns=start, end_ns=end).sorted_by("start_ns", "step")


STEP_WINDOWS = Reading(StepWindow, {"text": _windows_from_text, "database": _windows_from_database})
