# SPDX-License-Identifier: Apache-2.0
"""Whether the list of kernels holds a step whole, and what may still be said of the steps that it does not.

A list that was cut or trimmed leaves time open in which the device may well have computed. Two witnesses tell: the
profiler's own sums of the step, and the idle time that the text export writes before each kernel, which is the gap to
the row that stood above it before rows were taken out.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import row_at
from advisor.analysis.arrays.intervals import unions_by_cell
from advisor.analysis.steps.cells import Cells
from advisor.analysis.steps.device import DeviceTimeline, collective_times, kernel_times
from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing

TOLERATED = 0.05
"""Part of a step that may be contradicted. Lists that are whole agree within 0.5 µs (16 real steps), trimmed ones miss
half of the step and more; between them lies what a version of the profiler may count otherwise."""
_TOLERATED_PART, _NEVER_BELOW = 0.1, 0.02
"""Where communication fills the step, half of the kernels may be missing within that: so a tenth of the computing or of
the exposed time may be contradicted, as long as that lies between 2 % of the step and what is tolerated of it."""

_SPLIT = ("span_us", "compute_us", "comm_us", "exposed_comm_us", "overlapped_us", "free_us", "bubble_us")


def reconcile_with_sums(
    split: Table[Overlap],
    sums: Table[Overlap],
    device: DeviceTimeline,
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
) -> Table[Overlap]:
    """The recomputed split where it stands, the profiler's sums where it does not, and both missing without sums.

    Steps that only the sums know are added. A step whose sums agree is whole, whatever the waits of its rows say.
    """
    at = row_at(sums["rank"], sums["step"], split["rank"], split["step"])
    differs, contradicted, span = _difference_to_sums(split, sums, at)
    idler = split["free_us"] - np.append(sums["free_us"], np.nan)[at]
    agreed = ~contradicted & (idler <= TOLERATED * span)
    if agreed.all():
        return Table.concat(Overlap, [split, _only_in_sums(split, sums)])
    opened = left_open(device, kernels, collectives)
    doubtful = contradicted | (~agreed & (opened > TOLERATED * np.where(np.isnan(span), split["span_us"], span)))
    doubtful |= ~agreed & ~np.isnan(span) & _running_on(split, doubtful)
    unlisted = np.where(contradicted, differs, np.fmax(opened, 0.0))
    swap, lost = doubtful & ~np.isnan(span), doubtful & np.isnan(span)
    kept = {name: split[name][swap] for name in ("start_ns", "listed_us", "listed_exposed_us")}
    taken = sums.take(at[swap]).having(**kept, unlisted_us=unlisted[swap])
    unknown = split.take(lost).having(
        **dict.fromkeys((*_SPLIT, "copy_us", "to_host_us", "device_copy_us", "event_wait_us", "graph_idle_us"), np.nan),
        unlisted_us=unlisted[lost],
        source="incomplete",
    )
    return Table.concat(Overlap, [split.take(~doubtful), taken, unknown, _only_in_sums(split, sums)])


def without_sums_of_host_windows(
    framework: str, sums: Table[Overlap], kernels: Table[Kernel], windows: Table[StepWindow] | None
) -> Table[Overlap]:
    """The sums without those of ranks whose device is behind their host.

    MindSpore adds up what begins on the device while the host is in a step, whichever step launched it. Where the host
    runs ahead that is part of the work, of other steps.
    """
    if framework != "MindSpore" or windows is None or not len(sums):
        return sums
    at = row_at(windows["rank"], windows["step"], kernels["rank"], kernels["step"])
    known = (at >= 0) & (kernels["duration_us"] >= 0)
    rank, at, start = kernels["rank"][known], at[known], kernels["start_ns"][known]
    lasts = kernels["duration_us"][known]
    outside = (start < windows["start_ns"][at]) | (start > windows["end_ns"][at])
    ranks, of = np.unique(rank, return_inverse=True)
    behind = np.bincount(of, weights=lasts * outside, minlength=len(ranks))
    whole = np.bincount(of, weights=lasts, minlength=len(ranks))
    return sums.take(~np.isin(sums["rank"], ranks[behind > TOLERATED * whole]))


def left_open(device: DeviceTimeline, kernels: Table[Kernel], collectives: Table[Collective] | None) -> Array:
    """Per cell: idle time before kernels beyond what their own rows say, µs; NaN where the rows do not say.

    All rows count, those outside of every step too: the wait of a row is the gap to the one above it, whatever it is.
    A 0 in the first row of a step is none: so begins a recording (see `device.begun_anew`).
    """
    collectives = Table.empty(Collective) if collectives is None else collectives
    compute, comm = kernel_times(kernels), collective_times(collectives)
    ranks = kernels["rank"][compute.row]
    rank, start, end = idle_between(
        np.concatenate([ranks, collectives["rank"][comm.row]]),
        np.concatenate([compute.start, comm.start]),
        np.concatenate([compute.end, comm.end]),
    )
    wait = kernels["wait_us"][compute.row]
    wait = np.where(np.isin(ranks, np.unique(ranks[wait > 0])) & (wait >= 0), wait, np.nan)  # zeros alone: not measured
    order = np.lexsort((-wait, compute.start))
    ended = row_at(ranks[order], compute.start[order], rank, end)
    said = np.append(wait[order], np.nan)[ended]
    said[(said == 0) & first_of_step(device.cells, rank, end)] = np.nan
    beyond = (end - start) / 1e3 - said
    cell = device.cells.at(rank, start)
    told = ~np.isnan(beyond) & (cell >= 0)
    total = np.bincount(cell[told], weights=np.maximum(beyond[told], 0), minlength=len(device.cells))
    seen = np.bincount(cell[told], minlength=len(device.cells)) > 0
    return np.where(seen, total, np.nan)


def first_of_step(cells: Cells, rank: Array, moment: Array) -> Array:
    """Per moment: whether a numbered step begins with it on the device."""
    cell = cells.at(rank, moment)
    begins = np.append(np.where(cells.step == MISSING, MISSING, cells.begin), MISSING)
    found: Array = begins[cell] == moment
    return found


def idle_between(rank: Array, start: Array, end: Array) -> tuple[Array, Array, Array]:
    """Rank, start and end of the idle time between the intervals of each rank."""
    names, of = np.unique(rank, return_inverse=True)
    owner, begins, ends = unions_by_cell(of, start, end, len(names))
    same = np.diff(owner) == 0
    return names[owner[1:][same]], ends[:-1][same], begins[1:][same]


def _running_on(split: Table[Overlap], doubtful: Array) -> Array:
    """Per step: whether its last pause ends in a step whose list lacks rows, perhaps its first ones."""
    next_one = (np.diff(split["rank"]) == 0) & (np.diff(split["step"]) == 1)
    return np.append(next_one & doubtful[1:], False)[: len(doubtful)]


def _difference_to_sums(split: Table[Overlap], sums: Table[Overlap], at: Array) -> tuple[Array, Array, Array]:
    """Per recomputed step: by how much the profiler's sums differ, whether that is too much, and their span.

    NaN and no without believable sums.
    """
    known = {name: np.append(sums[name], np.nan)[at] for name in ("compute_us", "exposed_comm_us", "span_us")}
    believable = (known["compute_us"] >= 0) & (known["exposed_comm_us"] >= 0) & (known["span_us"] > 0)
    span = np.where(believable, known["span_us"], np.nan)
    apart = {name: np.abs(split[name] - known[name]) for name in ("compute_us", "exposed_comm_us")}
    over = [
        by > np.clip(_TOLERATED_PART * known[name], _NEVER_BELOW * span, TOLERATED * span) for name, by in apart.items()
    ]
    return np.where(believable, np.maximum(*apart.values()), np.nan), over[0] | over[1], span


def _only_in_sums(split: Table[Overlap], sums: Table[Overlap]) -> Table[Overlap]:
    """Ranks without a list, and numbered steps of which the list holds nothing."""
    listed = np.isin(sums["rank"], split["rank"])
    numbered = np.isin(sums["rank"], split["rank"][split["step"] != MISSING]) & (sums["step"] != MISSING)
    cut = numbered & (row_at(split["rank"], split["step"], sums["rank"], sums["step"]) < 0)
    nothing = np.where(cut, 0.0, np.nan)
    unlisted = np.where(cut, np.fmax(sums["compute_us"], sums["exposed_comm_us"]), np.nan)
    return sums.having(listed_us=nothing, listed_exposed_us=nothing, unlisted_us=unlisted).take(cut | ~listed)


def lacks_kernel_rows(split: Table[Overlap] | None, rank: Array, step: Array) -> Array:
    """Per rank and step: whether its list of kernels lacks rows. Without a step: whether that of any step does."""
    if split is None:
        return np.zeros(len(rank), bool)
    lacking = split.take(split.texts("source").isin(["recorded", "incomplete"]) & ~np.isnan(split["listed_us"]))
    exact = row_at(lacking["rank"], lacking["step"], rank, step) >= 0
    found: Array = exact | ((step == MISSING) & np.isin(rank, lacking["rank"]))
    return found


def only_whole(device: DeviceTimeline, split: Table[Overlap] | None) -> Array:
    """Per cell: whether its list of kernels is whole.

    Raises:
        FactMissing: There are cells, and none is.
    """
    whole = ~lacks_kernel_rows(split, device.cells.rank, device.cells.step)
    if len(whole) and not whole.any():
        raise FactMissing([], incomplete=[Kernel.table])
    return whole
