# SPDX-License-Identifier: Apache-2.0
"""How fast the AI Cores ran, weighted by time: a sample holds until the next one, the last until the last kernel."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import ratio
from advisor.analysis.arrays.intervals import Spans, covered_ns, union
from advisor.analysis.operators.like_kernels import group_like_kernels
from advisor.analysis.rooflines.families import communicate_inside
from advisor.analysis.steps.device import KERNEL, DeviceTimeline, build_timeline
from advisor.analysis.steps.recorded_clocks import usable_clocks
from advisor.chips.known_chips import ChipTable
from advisor.facts.derived import FrequencyUse
from advisor.facts.observed import Collective, Device, Frequency, Kernel, StepWindow
from advisor.facts.table import Array, Table
from advisor.model.run_of_ranks import RunOfRanks

LOW = 0.95
"""Share of the full clock below which the cores count as slowed: the definition of `low_share`."""
_WHOLLY = 0.99
"""Part of a kernel at a lowered clock from which all of it counts as such."""
_ENOUGH = 0.5
"""Where less of the slowed time has its like at the full clock, what it lost is no measurement."""


def frequency_uses(  # noqa: PLR0917 - its needs are its parameters
    run: RunOfRanks,
    chips: ChipTable,
    samples: Table[Frequency],
    kernels: Table[Kernel] | None,
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    devices: Table[Device] | None,
) -> Table[FrequencyUse]:
    """One row per rank; `compute_us` is the computation per step while the frequency was low."""
    good = usable_clocks(samples)
    device = None if kernels is None else build_timeline(kernels, collectives, None, windows)
    nominal = {} if devices is None else _nominal_mhz_by_rank(devices, run.chip, chips)
    usual = chips.known_of(run.chip).nominal_mhz
    ranks = np.unique(good["rank"]).tolist()
    listed = Table.empty(Kernel) if kernels is None else kernels
    parts = (
        _of_rank(good.take(good["rank"] == rank), device, rank, listed, nominal.get(rank, usual)) for rank in ranks
    )
    return Table.concat(FrequencyUse, list(parts))


def _nominal_mhz_by_rank(devices: Table[Device], chip: str, chips: ChipTable) -> dict[int, float]:
    """By rank: the clock its device was built for, MHz; NaN where neither the capture nor a chip's name tells.

    `chip` is that of the run, which counts where the name of the device is a family or missing.
    """
    by_chip = [chips.of_device(name or "", chip).nominal_mhz for name in devices.texts("chip").values()]
    said = devices["nominal_mhz"]
    return dict(zip(devices["rank"].tolist(), np.where(said > 0, said, by_chip).tolist(), strict=True))


def _of_rank(
    samples: Table[Frequency], device: DeviceTimeline | None, rank: int, kernels: Table[Kernel], nominal: float
) -> Table[FrequencyUse]:
    mhz, start = samples["mhz"], samples["time_ns"]
    compute, steps = _compute_of_rank(device, rank)
    end = np.append(start[1:], max(int(start[-1]), int(compute.end[-1]) if len(compute) else 0))
    lasts = (end - start).astype(np.float64)
    weights = lasts if lasts.sum() > 0 else np.ones(len(lasts))
    full = np.fmax(mhz.max(), nominal)
    low = mhz < LOW * full
    slowed = covered_ns(compute, start[low], end[low]).sum() / 1e3
    own = kernels["rank"] == rank
    slower = _slower_us(kernels.take(own), _lie_in_steps(device, len(kernels))[own], union(start[low], end[low]))
    return Table.build(
        FrequencyUse,
        rank=[rank],
        highest_mhz=[mhz.max()],
        nominal_mhz=[nominal],
        full_mhz=[full],
        lowest_mhz=[mhz.min()],
        mean_mhz=[np.average(mhz, weights=weights)],
        low_share=[weights[low].sum() / weights.sum()],
        compute_us=[slowed / steps if steps else np.nan],
        beyond_full_us=[slower / steps if steps else np.nan],
    )


def _lie_in_steps(device: DeviceTimeline | None, kernels: int) -> Array:
    """Per kernel: whether it is of a step."""
    found = np.zeros(kernels, bool)
    if device is not None:
        found[device.work.row[device.work.kind == KERNEL]] = True
    return found


def _slower_us(kernels: Table[Kernel], in_steps: Array, low: Spans) -> float:
    """What kernels of steps take at a lowered clock beyond their like at the full one; NaN where too few have a like.

    Those that the change of the clock cuts, and those that wait for other ranks inside, tell nothing.
    """
    start, us = kernels["start_ns"], kernels["duration_us"]
    types = kernels.texts("op_type")
    at_low = ratio(covered_ns(low, start, start + (us * 1e3).astype(np.int64)) / 1e3, us)
    told = (types.codes >= 0) & (us > 0) & ~communicate_inside(types)
    slowed, full = told & in_steps & (at_low > _WHOLLY), told & (at_low <= 0)
    like = group_like_kernels(kernels)
    usual = like.means(np.where(full, us, np.nan))[like.of]
    known = slowed & ~np.isnan(usual)
    if not us[known].sum() > _ENOUGH * us[slowed].sum():
        return np.nan
    return max(float((us - usual)[known].sum()), 0.0)


def _compute_of_rank(device: DeviceTimeline | None, rank: int) -> tuple[Spans, int]:
    """When kernels of the rank ran, by the clock, and in how many steps."""
    if device is None:
        return Spans.none(), 0
    cell, start, end = device.on_clock(device.compute)
    own: Array = device.cells.rank[cell] == rank
    return union(start[own], end[own]), int((device.cells.rank == rank).sum())
