# SPDX-License-Identifier: Apache-2.0
"""Whether the list of kernels holds a step whole, and what may still be said of the steps that it does not.

A list that was cut or trimmed leaves time open in which the device may well have computed. Two witnesses tell: the
profiler's own sums of the step, and the idle time that the text export writes before each kernel, which is the gap to
the row that stood above it before rows were taken out.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.device import KERNEL, Timeline
from advisor.analysis.grouping import row_at
from advisor.errors import FactMissing
from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table

TOLERATED = 0.05
"""Part of a step that may be contradicted. Lists that are whole agree within 0.5 µs (16 real steps), trimmed ones miss
half of the step and more; between them lies what a version of the profiler may count otherwise."""

_SPLIT = ("span_us", "compute_us", "comm_us", "exposed_comm_us", "overlapped_us", "free_us", "bubble_us")


def left_open(device: Timeline, kernels: Table[Kernel]) -> Array:
    """Per cell: idle time before kernels beyond what their own rows say, µs; NaN where the rows do not say."""
    work = device.work
    mine = np.flatnonzero(work.kind == KERNEL)
    mine = mine[np.lexsort((-kernels["wait_us"][work.row[mine]], work.start[mine]))]
    rank = device.cells.rank[work.cell[mine]]
    wait = kernels["wait_us"][work.row[mine]]
    speaking = np.unique(rank[wait > 0])  # a column of zeros was not measured
    wait = np.where(np.isin(rank, speaking) & (wait >= 0), wait, np.nan)
    cell, start, end = device.on_clock(device.free)
    ends = row_at(rank, work.start[mine], device.cells.rank[cell], end)
    beyond = (end - start) / 1e3 - np.append(wait, np.nan)[ends]
    told = ~np.isnan(beyond)
    total = np.bincount(cell[told], weights=np.maximum(beyond[told], 0), minlength=len(device.cells))
    seen = np.bincount(cell[told], minlength=len(device.cells)) > 0
    return np.where(seen, total, np.nan)


def reconciled(split: Table[Overlap], sums: Table[Overlap], opened: Array) -> Table[Overlap]:
    """The recomputed split where it stands, the profiler's sums where it does not, and both missing without sums.

    Steps that only the sums know are added.
    """
    at = row_at(sums["rank"], sums["step"], split["rank"], split["step"])
    differs, span = _difference(split, sums, at)
    opened = np.nan_to_num(opened, nan=0.0)
    contradicted = differs > TOLERATED * span
    doubtful = contradicted | (opened > TOLERATED * np.where(np.isnan(span), split["span_us"], span))
    unlisted = np.where(contradicted, np.fmax(differs, 0.0), opened)
    swap, lost = doubtful & ~np.isnan(span), doubtful & np.isnan(span)
    taken = sums.take(at[swap]).having(listed_us=split["listed_us"][swap], unlisted_us=unlisted[swap])
    unknown = split.take(lost).having(
        **dict.fromkeys((*_SPLIT, "copy_us", "event_wait_us"), np.nan),
        unlisted_us=unlisted[lost],
        source="incomplete",
    )
    return Table.concat(Overlap, [split.take(~doubtful), taken, unknown, _only_in_sums(split, sums)])


def _difference(split: Table[Overlap], sums: Table[Overlap], at: Array) -> tuple[Array, Array]:
    """Per recomputed step: by how much the profiler's sums differ, and their span; NaN without believable sums."""
    known = {name: np.append(sums[name], np.nan)[at] for name in ("compute_us", "exposed_comm_us", "span_us")}
    believable = (known["compute_us"] >= 0) & (known["exposed_comm_us"] >= 0) & (known["span_us"] > 0)
    apart = [np.abs(split[name] - known[name]) for name in ("compute_us", "exposed_comm_us")]
    return np.where(believable, np.maximum(*apart), np.nan), np.where(believable, known["span_us"], np.nan)


def _only_in_sums(split: Table[Overlap], sums: Table[Overlap]) -> Table[Overlap]:
    """Ranks without a list, and numbered steps of which the list holds nothing."""
    listed = np.isin(sums["rank"], split["rank"])
    numbered = np.isin(sums["rank"], split["rank"][split["step"] != MISSING]) & (sums["step"] != MISSING)
    cut = numbered & (row_at(split["rank"], split["step"], sums["rank"], sums["step"]) < 0)
    nothing = np.where(cut, 0.0, np.nan)
    unlisted = np.where(cut, np.fmax(sums["compute_us"], sums["exposed_comm_us"]), np.nan)
    return sums.having(listed_us=nothing, unlisted_us=unlisted).take(cut | ~listed)


def incomplete(split: Table[Overlap] | None, rank: Array, step: Array) -> Array:
    """Per rank and step: whether its list of kernels lacks rows. Without a step: whether that of any step does."""
    if split is None:
        return np.zeros(len(rank), bool)
    lacking = split.take(split.texts("source").isin(["recorded", "incomplete"]) & ~np.isnan(split["listed_us"]))
    exact = row_at(lacking["rank"], lacking["step"], rank, step) >= 0
    found: Array = exact | ((step == MISSING) & np.isin(rank, lacking["rank"]))
    return found


def only_whole(device: Timeline, split: Table[Overlap] | None) -> Array:
    """Per cell: whether its list of kernels is whole.

    Raises:
        FactMissing: There are cells, and none is.
    """
    whole = ~incomplete(split, device.cells.rank, device.cells.step)
    if len(whole) and not whole.any():
        raise FactMissing([], incomplete=[Kernel.table])
    return whole
