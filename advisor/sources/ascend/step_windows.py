# SPDX-License-Identifier: Apache-2.0
"""StepWindow: ProfilerStep#N in the timeline, STEP_TIME in the database; of msprof the iterations of a graph."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.iterations import iterations_of
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import are_spans
from advisor.sources.pytorch_words import STEP_NAME
from advisor.sources.reading import Reading


def _windows_from_text(folder: Folder) -> Table[StepWindow]:
    if folder.by_msprof:
        marked = iterations_of(folder)
        return _window_table(folder, marked.step, marked.start_ns, marked.end_ns)
    slices = folder.timeline().slices
    numbers = [STEP_NAME.fullmatch(name) for name in slices.name.names]
    rows = np.flatnonzero(slices.name.hits(found is not None for found in numbers))
    step_of = np.array([int(found[1]) if found else MISSING for found in numbers] + [MISSING], np.int64)
    return _window_table(folder, step_of[slices.name.codes[rows]], slices.start_ns[rows], slices.end_ns[rows])


def _windows_from_database(folder: Folder) -> Table[StepWindow]:
    database = folder.database()
    if not database.fields("STEP_TIME"):
        raise FactMissing([StepWindow.table])
    found = database.integers("STEP_TIME", {"step": ["id"], "start": ["startNs"], "end": ["endNs"]})
    whole = (found["step"] != MISSING) & are_spans(found["start"], found["end"])
    if at_once := np.count_nonzero(whole & (found["start"] == found["end"])):
        what = Message("no_usable_value", table="STEP_TIME", column="endNs")
        database.notes.add(database.file, "STEP_TIME", what, rows=int(at_once))
    return _window_table(folder, *(found[name][whole] for name in ("step", "start", "end")))


def _window_table(folder: Folder, step: Array, start: Array, end: Array) -> Table[StepWindow]:
    if not len(step):
        raise FactMissing([StepWindow.table])
    rank = np.full(len(step), folder.rank, np.int64)
    return Table.build(StepWindow, rank=rank, step=step, start_ns=start, end_ns=end).sorted_by("start_ns", "step")


STEP_WINDOWS = Reading(StepWindow, {"text": _windows_from_text, "database": _windows_from_database})
