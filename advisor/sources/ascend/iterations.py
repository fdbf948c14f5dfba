# SPDX-License-Identifier: Apache-2.0
"""Iterations of a graph, which msprof marks on the device where a framework runs whole graphs: they are its steps.

They stand in step_trace_*.csv, in step_trace_*.json, and in old versions in the timeline itself. Times are those of the
device. Of several models in one capture the one that ran longest counts. A program that calls for the same model again
and again shows by its calls where each run of it begins (`executions`): then a step lasts from one call to the next,
for what the host does between two runs is what the device waits for.
"""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING, Column
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.executions import Executions, executions_of
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.database import match_keys
from advisor.sources.files.timeline import TraceTimeline, read_timeline

TRACE, LANE = "step_trace.csv", "step_trace.json"
_ITERATION = re.compile(r"Iteration (\d{1,18})")
_PASSES = re.compile(r"FP_BP Time (\d{1,18})")
_CATEGORY, _CATEGORY_OF_PASSES = "Iteration Time", "FP_BP Time"
_COLUMNS = {
    "model": Column("Model, of which a capture may hold several.", "int"),
    "step": Column("Iteration.", "int"),
    "end_ns": Column("End.", "int", "ns"),
    "lasts_us": Column("How long it took.", "float", "us"),
    "forward_ns": Column("Start of its first operator.", "int", "ns"),
    "backward_ns": Column("End of the last operator of its backward pass.", "int", "ns"),
}
_HEADINGS = {
    "model": ("Model ID",),
    "step": ("Iteration ID",),
    "end_ns": ("Iteration End",),
    "lasts_us": ("Iteration Time",),
    "forward_ns": ("FP Start",),
    "backward_ns": ("BP End",),
}


class Iterations(Struct, frozen=True):
    """The iterations of one model, in order of their start."""

    step: Array
    start_ns: Array
    end_ns: Array
    forward_ns: Array
    """When its first operator started; missing where that was not recorded, as the next."""
    backward_ns: Array
    """When the last operator of its backward pass ended."""

    def at(self, asked_ns: Array) -> Array:
        """The iteration of each moment; missing outside of every one."""
        if not len(self.step):
            return np.full(len(asked_ns), MISSING, np.int64)
        place = np.searchsorted(self.start_ns, asked_ns, "right") - 1
        inside = (place >= 0) & (asked_ns <= self.end_ns[place])
        return np.where(inside, self.step[place], MISSING)


def iterations_of(folder: Folder) -> Iterations:
    """The iterations of a capture of msprof; none where no graph was run, or another profiler recorded."""
    return folder.once("iterations", lambda: _read_iterations(folder))


def _read_iterations(folder: Folder) -> Iterations:
    if not folder.by_msprof:
        return Iterations(*(np.empty(0, np.int64),) * 5)
    marked, calls = _marked_iterations(folder), executions_of(folder)
    if not len(marked.step):
        runs = calls.equal_runs
        unknown = np.full(len(runs), MISSING)
        return Iterations(np.arange(1, len(runs) + 1), runs.begin, runs.end, unknown, unknown)
    from_calls = (_from_call_to_call(marked, runs) for runs in (calls, calls.equal_runs))
    return next((found for found in from_calls if found is not None), marked)


def _from_call_to_call(marked: Iterations, runs: Executions) -> Iterations | None:
    """The iterations from the call that executes each to the next one; None where not each has its own.

    What had begun before the first call that was recorded is left out.
    """
    run = np.searchsorted(runs.begin, marked.start_ns, "right") - 1
    called = run >= 0
    if not len(runs) or not np.array_equal(run[called], np.arange(len(runs))):
        return None
    return Iterations(marked.step[called], runs.begin, runs.end, marked.forward_ns[called], marked.backward_ns[called])


def _marked_iterations(folder: Folder) -> Iterations:
    for name, read in ((TRACE, _in_table), (LANE, _in_lane), ("trace_view.json", _in_timeline)):
        try:
            found = read(folder) if name in folder.files else None
        except (FactMissing, Unreadable):  # noted; another file may say the same
            continue
        if found is not None and len(found.step):
            return found
    return _longest_model(*(np.empty(0, np.int64),) * 6)


def _in_table(folder: Folder) -> Iterations:
    found = folder.columns(StepWindow, TRACE, _HEADINGS, ("step", "end_ns", "lasts_us"), _COLUMNS)
    model, step, end, lasts, *passes = (found.get(name) for name in _COLUMNS)
    assert isinstance(step, np.ndarray) and isinstance(end, np.ndarray) and isinstance(lasts, np.ndarray)  # noqa: S101
    models = model if isinstance(model, np.ndarray) else np.zeros(len(step), np.int64)
    known = [one if isinstance(one, np.ndarray) else np.full(len(step), MISSING) for one in passes]
    return _longest_model(models, step, end - np.rint(lasts * 1000).astype(np.int64), end, *known)


def _in_lane(folder: Folder) -> Iterations:
    first, *others = folder.parts(LANE)
    return _of_slices(read_timeline(first, folder.notes, more=others))


def _in_timeline(folder: Folder) -> Iterations:
    return _of_slices(folder.timeline())


def _of_slices(timeline: TraceTimeline) -> Iterations:
    slices = timeline.slices
    rows, step = _numbered_slices(timeline, _ITERATION, _CATEGORY)
    passes, of = _numbered_slices(timeline, _PASSES, _CATEGORY_OF_PASSES)
    _, same = np.unique(
        np.stack([np.append(slices.track[passes], slices.track[rows]), np.append(of, step)], 1),
        axis=0,
        return_inverse=True,
    )
    at = match_keys(same[: len(passes)], same[len(passes) :])
    forward, backward = (values_at(times[passes], at, MISSING) for times in (slices.start_ns, slices.end_ns))
    return _longest_model(slices.track[rows], step, slices.start_ns[rows], slices.end_ns[rows], forward, backward)


def _numbered_slices(timeline: TraceTimeline, name: re.Pattern[str], category: str) -> tuple[Array, Array]:
    """The slices of a category that are called so, and the number in the name of each."""
    slices = timeline.slices
    numbers = [name.fullmatch(one) for one in slices.name.names]
    rows = np.flatnonzero(slices.name.hits(found is not None for found in numbers) & slices.category.isin([category]))
    number = np.array([int(found[1]) if found else MISSING for found in numbers] + [MISSING], np.int64)
    return rows, number[slices.name.codes[rows]]


def _longest_model(  # noqa: PLR0917 - the columns of one table
    model: Array, step: Array, start: Array, end: Array, forward: Array, backward: Array
) -> Iterations:
    """The iterations of the model that ran longest, each once: files of old versions repeat them."""
    rows = np.unique(np.stack([model, start, step, end, forward, backward], 1), axis=0)
    model, start, step, end, forward, backward = rows.T
    names, of = np.unique(model, return_inverse=True)
    if len(names) > 1:
        own = of == np.argmax(np.bincount(of, weights=(end - start).astype(np.float64)))
        start, step, end, forward, backward = (one[own] for one in (start, step, end, forward, backward))
    return Iterations(step, start, end, forward, backward)
