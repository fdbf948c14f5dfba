# SPDX-License-Identifier: Apache-2.0
"""StepWindow: the annotations ProfilerStep#N; and which step device work belongs to."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.kineto.reading import EXPORT, Trace, rows_or_missing
from advisor.sources.pytorch_words import STEP_NAME
from advisor.sources.reading import Reading

_ON_HOST = ("user_annotation", "cpu_op", "Operator")


def _windows_of_trace(trace: Trace) -> Table[StepWindow]:
    slices = trace.content().slices
    numbers = [STEP_NAME.fullmatch(name) for name in slices.name.names]
    step_of = np.array([int(found[1]) if found else MISSING for found in numbers] + [MISSING], np.int64)
    step = step_of[slices.name.codes]
    rows = rows_or_missing(np.flatnonzero((step != MISSING) & slices.category.isin(_ON_HOST)), StepWindow)
    return Table.build(
        StepWindow,
        rank=np.full(len(rows), trace.rank, np.int64),
        step=step[rows],
        start_ns=slices.start_ns[rows],
        end_ns=slices.end_ns[rows],
    ).sorted_by("start_ns", "step")


STEP_WINDOWS = Reading(StepWindow, {EXPORT: _windows_of_trace})


def steps_of_work(trace: Trace, rows: Array) -> Array:
    """The step of slices on the device: the one in whose window they were launched; MISSING where none is known."""
    try:
        windows = trace.once("step windows", lambda: _windows_of_trace(trace))
    except FactMissing:
        return np.full(len(rows), MISSING, np.int64)
    asked = values_at(trace.content().slices.start_ns, trace.launching_calls(rows))
    place = np.searchsorted(windows["start_ns"], asked, "right") - 1
    inside = (place >= 0) & (asked < np.append(windows["end_ns"], MISSING)[place])
    return np.where(inside, windows["step"][np.maximum(place, 0)], MISSING)
