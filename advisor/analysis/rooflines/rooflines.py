# SPDX-License-Identifier: Apache-2.0
"""What kernels have to do beside what the chip can: how near each shape comes to the peak and to the bandwidth.

The roofline of Williams, Waterman and Patterson (2009): a kernel takes at least as long as its operations at the peak
and its bytes at the bandwidth of the memory.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by, ratio, row_of_key
from advisor.analysis.rooflines.attention_work import BACKWARD_TIMES
from advisor.analysis.rooflines.families import MULTIPLYING, go_by_index
from advisor.analysis.rooflines.held_against import held_against
from advisor.analysis.rooflines.like_shapes import beside_communication, marked_flops
from advisor.analysis.rooflines.lookups import bytes_of_rows
from advisor.analysis.rooflines.operator_work import TOLD_BY, Work, work_of_kernel
from advisor.analysis.rooflines.precision import peak_dtype
from advisor.chips.known_chips import Chip, ChipTable, peak_of_cores
from advisor.facts.derived import (
    AttentionShape,
    ChipLimit,
    FrequencyUse,
    OperatorRoofline,
    OperatorShape,
    Overlap,
    OverlapSlowdown,
    StepMfu,
)
from advisor.facts.observed import Device, Frequency, Kernel
from advisor.facts.table import Array, Table, values_at
from advisor.messages.errors import FactMissing
from advisor.model.run_of_ranks import RunOfRanks

_NEAR = 0.03
"""Clocks of all cores differ by more from chip to chip, by less than this from what counters say."""
_NO_CLOCKS = np.array([])
_WRITTEN = 0.99
"""Clocks are written in whole MHz, and those of chips lie further apart: 1500, 1800 and 1850 MHz."""
_PEAKS = {
    "FLOAT16": "half_tflops",
    "BF16": "bf16_tflops",
    "FLOAT": "float_tflops",
    "HF32": "hf32_tflops",
    "INT8": "int8_tflops",
    "INT4": "int4_tflops",
    "FP8": "fp8_tflops",
}
"""By data type of products: the column of `chip_limits` with its peak."""
_VECTOR_PEAKS = {
    "FLOAT16": "vector_half_tflops",
    "BF16": "vector_bf16_tflops",
    "FLOAT": "vector_float_tflops",
}
"""The same of vector units."""
_STEPS_OF_SOFTMAX = 4
"""Instructions of the vector unit that each score of a fused attention takes at least: forward to find the largest, to
subtract it, to exponentiate and to add up; backward to subtract and exponentiate again, to subtract and to multiply."""
_PASSES = {"attention": 1.0, "attention backward": BACKWARD_TIMES}
"""How many times the products of a forward pass each computes."""
_SLOWER_TENTHS = 0.9
TOLERATED = 0.05
"""Up to this part of the multiplying time may be in kernels whose operations are not known: a share of the peak that
leaves them out is too small by as much, which is less than identical runs differ."""


def chip_limits(
    run: RunOfRanks,
    chips: ChipTable,
    kernels: Table[Kernel],
    devices: Table[Device] | None,
    frequencies: Table[Frequency] | None = None,
) -> Table[ChipLimit]:
    """One row per rank. Cores and clock are those that the capture names, else those that its kernels counted, else
    those of the chip by its name; of a family the least of the members that can run as fast as cores were seen to.

    Raises:
        FactMissing: Nothing tells what the chip of any rank can do.
    """
    recorded, clocks = _recorded_devices(devices), _recorded_clocks(frequencies)
    ranks = np.unique(kernels["rank"]).tolist()
    rows = []
    for rank in ranks:
        named, cores, vector_cores, clock = recorded.get(rank, ("", math.nan, math.nan, math.nan))
        chip = chips.of_device(named, run.chip)
        own, seen = kernels["rank"] == rank, clocks.get(rank, _NO_CLOCKS)
        told, cube_mhz = _clock_of_cores(chip, cores * clock, kernels["cube_mhz"][own])
        if told in _MEASURED:
            running = told == "counters" and not (kernels["cube_share"][own] > 0).any()
            alike = _chips_alike(chip, cube_mhz, chips, seen if running else _NO_CLOCKS)
        else:
            alike = _members_as_fast(chip, seen.max() if len(seen) else math.nan, chips)
            cube_mhz = min((one.cube_cores * one.nominal_mhz for one in alike), default=cube_mhz)
        candidates = alike or ([chip] if chip.name else chips.counting)
        certain = bool(alike) or chips.is_exact(chip.name)
        rows.append(_Limits(chip, told, cube_mhz, cores, vector_cores, candidates, certain))
    if all(math.isnan(row.cube_mhz) and not row.chip.tflops for row in rows):
        raise FactMissing([Device.table])
    return Table.build(
        ChipLimit,
        rank=ranks,
        chip=[row.chip.name or None for row in rows],
        told_by=[row.told or None for row in rows],
        cube_mhz=[row.cube_mhz for row in rows],
        **{name: [row.cube_tflops(dtype) for row in rows] for dtype, name in _PEAKS.items()},
        **{name: [row.vector_tflops(dtype) for row in rows] for dtype, name in _VECTOR_PEAKS.items()},
        cube_cores=[row.cube_cores for row in rows],
        vector_cores=[row.vector_cores for row in rows],
        certain_cube_cores=[row.certain_cube_cores for row in rows],
        certain_vector_cores=[row.certain_vector_cores for row in rows],
        achieved_share=[_achieved_share(row.chip) for row in rows],
        memory_gbps=[row.least("memory_gbps") for row in rows],
        memory_bytes=[row.agreed("memory_bytes") for row in rows],
        l2_bytes=[row.chip.l2_bytes for row in rows],
    )


_MEASURED = ("capture", "counters")
"""What tells the clock of the cores of this very chip: that of a family by its name is the least of its members."""


class _Limits(Struct, frozen=True):
    """What is known of the chip of one rank."""

    chip: Chip
    told: str
    cube_mhz: float
    recorded_cores: float
    recorded_vector_cores: float
    candidates: Sequence[Chip]
    """The chips that it may be."""
    is_one_of_them: bool
    """Whether it surely is one of these: a family that stands for its members is none."""

    @property
    def cube_cores(self) -> float:
        return self.recorded_cores if self.recorded_cores > 0 else self.least("cube_cores")

    @property
    def vector_cores(self) -> float:
        return self.recorded_vector_cores if self.recorded_vector_cores > 0 else self.least("vector_cores")

    @property
    def certain_cube_cores(self) -> float:
        return self._certain(self.recorded_cores, "cube_cores")

    @property
    def certain_vector_cores(self) -> float:
        return self._certain(self.recorded_vector_cores, "vector_cores")

    def _certain(self, recorded: float, name: str) -> float:
        """A number that was recorded, or that all chips have which it may be; NaN where neither is so."""
        return recorded if recorded > 0 else self.agreed(name) if self.is_one_of_them else math.nan

    @property
    def _of_its_cores(self) -> Chip:
        """A chip with such cores: itself, and where nothing names it one of those that count cycles, which all have the
        same."""
        return self.chip if self.chip.name else self.candidates[0]

    def cube_tflops(self, dtype: str) -> float:
        """Peak of products in a data type, 10^12 operations per second; NaN where it is not known."""
        if self.chip.tflops:
            return self.chip.tflops.get(dtype, math.nan)
        return peak_of_cores(self.cube_mhz, self._of_its_cores.macs.get(dtype, math.nan))

    def vector_tflops(self, dtype: str) -> float:
        """Peak of the vector units in a data type, 10^12 operations per second; NaN where it is not known."""
        lanes = self._of_its_cores.lanes
        times = self.vector_cores / self.cube_cores if self.vector_cores > 0 else 1.0
        counted = {name: peak_of_cores(self.cube_mhz * times, each) for name, each in lanes.items()}
        peaks = {**counted, **self.chip.vector_tflops}
        return peaks.get(dtype, peaks["FLOAT"] if lanes else math.nan)

    def least(self, name: str) -> float:
        """The least of a number that the chips have which it may be; NaN where one of them has none."""
        return float(np.min([getattr(one, name) for one in self.candidates]))

    def agreed(self, name: str) -> float:
        """The number that all chips have which it may be; NaN where they differ, or one of them has none."""
        numbers = {getattr(one, name) for one in self.candidates}
        return float(numbers.pop()) if len(numbers) == 1 else math.nan


def _recorded_devices(devices: Table[Device] | None) -> dict[int, tuple[str, float, float, float]]:
    """By rank: the name of its device, its cube cores, its vector cores, and the clock of the former, MHz."""
    if devices is None:
        return {}
    names = [name or "" for name in devices.texts("chip").values()]
    numbers = (devices[name].tolist() for name in ("cube_cores", "vector_cores", "nominal_mhz"))
    return dict(zip(devices["rank"].tolist(), zip(names, *numbers, strict=True), strict=True))


def _clock_of_cores(chip: Chip, recorded: float, counted: Array) -> tuple[str, float]:
    """What tells the clock of all cube cores together, and that clock, MHz."""
    candidates = (
        ("capture", recorded),
        ("counters", _agreed_clock(counted)),
        ("name", math.nan if chip.tflops else chip.cube_cores * chip.nominal_mhz),
    )
    return next(((told, mhz) for told, mhz in candidates if mhz > 0), ("name" if chip.tflops else "", math.nan))


def _agreed_clock(counted: Array) -> float:
    """The median of what kernels counted; NaN where none did, or they contradict each other, as one clock cannot."""
    known = counted[counted > 0]
    if not len(known):
        return math.nan
    low, middle, high = np.quantile(known, [0.25, 0.5, 0.75]).tolist()
    return float(middle) if high - low <= _NEAR * middle else math.nan


def _chips_alike(chip: Chip, cube_mhz: float, chips: ChipTable, seen: Array) -> list[Chip]:
    """The chips that it may be: itself where its name is exact, else those with such cores, of its family if named.

    Where cores were counted at the clock at which they ran, and not at the one that utilisation is counted against, a
    chip has so many cores at a clock that was `seen`: 24 that are slowed down give what 20 give at full clock.
    """
    if chips.is_exact(chip.name) or chip.tflops:
        return [chip]
    members = _members(chip, chips)
    built = [one for one in members if _gives(one, np.array([one.nominal_mhz]), cube_mhz)]
    return [one for one in members if _gives(one, seen[seen <= one.nominal_mhz / _WRITTEN], cube_mhz)] or built


def _gives(chip: Chip, clocks: Array, cube_mhz: float) -> bool:
    """Whether the cores of a chip come to that clock together at one of these."""
    return bool((abs(chip.cube_cores * clocks - cube_mhz) <= _NEAR * cube_mhz).any())


def _members_as_fast(chip: Chip, mhz: float, chips: ChipTable) -> list[Chip]:
    """The members of a family whose clock reaches one that was seen: cores are slowed down, and never run faster than
    they were built for."""
    if chips.is_exact(chip.name) or chip.tflops or not chip.name:
        return []
    return [one for one in _members(chip, chips) if one.nominal_mhz >= mhz * _WRITTEN]


def _members(chip: Chip, chips: ChipTable) -> list[Chip]:
    """The chips of a family; of one without a name all whose kernels count cycles."""
    families = chips.families_recorded_as(chip.name)
    exact = (one for one in chips.chips if chips.is_exact(one.name))
    return [one for one in exact if (one.family in families if chip.name else one.counts_cycles)]


def _recorded_clocks(frequencies: Table[Frequency] | None) -> dict[int, Array]:
    """By rank: the clocks at which its cores were seen, MHz."""
    if frequencies is None:
        return {}
    rank, mhz = frequencies["rank"], frequencies["mhz"]
    return {one: np.unique(mhz[(rank == one) & ~np.isnan(mhz)]) for one in np.unique(rank).tolist()}


def _achieved_share(chip: Chip) -> float:
    achieved, peak = (numbers.get("BF16", math.nan) for numbers in (chip.achieved_tflops, chip.tflops))
    return achieved / peak


def peaks_of_rows(limits: Table[ChipLimit], at: Array, dtypes: Iterable[str]) -> Array:
    """For each row of limits and data type: the peak of products, 10^12 operations per second; NaN where unknown, or
    where the row is -1."""
    return _peaks_in_columns(limits, at, dtypes, _PEAKS)


def _peaks_in_columns(limits: Table[ChipLimit], at: Array, dtypes: Iterable[str], columns: Mapping[str, str]) -> Array:
    rows = zip(at.tolist(), dtypes, strict=True)
    known = {dtype: limits[name] for dtype, name in columns.items()}
    return np.array([known[one][row] if row >= 0 and one in known else np.nan for row, one in rows], float)


def operator_rooflines(
    shapes: Table[OperatorShape],
    limits: Table[ChipLimit],
    attention: Table[AttentionShape] | None = None,
    clocks: Table[FrequencyUse] | None = None,
    beside: Table[OverlapSlowdown] | None = None,
) -> Table[OperatorRoofline]:
    """One row for each of `operator_shapes`; what its shapes do not tell is missing."""
    works = _works_of_rows(shapes)
    flops, moved, least, most = (
        np.array([getattr(work, name) for work in works], float)
        for name in ("flops", "size_bytes", "least_bytes", "most_bytes")
    )
    flops = np.where(np.isnan(flops), marked_flops(shapes, attention), flops)
    side, width, per_key = (
        np.array([getattr(work, name) for work in works], float)
        for name in ("least_side", "head_width", "flops_per_key")
    )
    at = row_of_key(limits["rank"], shapes["rank"])
    peak = _peaks(shapes, works, limits, at)
    gbps = values_at(limits["memory_gbps"], at, np.nan)
    compute, memory = flops / peak / 1e6, moved / gbps / 1e3
    told = np.isnan(least) | (memory <= compute)  # where even all groups of weights need less, no matter which are read
    moved, memory = np.where(told, moved, np.nan), np.where(told, memory, np.nan)
    vector = _softmax_us(flops, width, works, limits, at)
    expected, mean = np.maximum(np.maximum(compute, memory), np.nan_to_num(vector)), shapes["mean_us"]
    reached = ratio(expected, mean)
    multiplies = np.array([work.dtype != "" for work in works], bool) | (shapes["mac_share"] > 0)
    waves = _waves(shapes["blocks"], _cores(shapes, multiplies, limits, at, "certain_"))
    table = Table.build(
        OperatorRoofline,
        **{name: shapes[name] for name in _NUMBERS},
        **{name: shapes.texts(name) for name in _TEXTS},
        full_mhz=np.nan
        if clocks is None
        else values_at(clocks["full_mhz"], row_of_key(clocks["rank"], shapes["rank"]), np.nan),
        **beside_communication(shapes, beside),
        communicates=shapes["communicates"],
        picks_last=shapes["picks_last"],
        row_bytes=bytes_of_rows(
            *(shapes.texts(name) for name in ("op_type", "input_shapes", "output_shapes", "input_dtypes"))
        ),
        goes_by_index=go_by_index(shapes.texts("op_type")).astype(np.int8),
        cube_cores=np.where(shapes.texts("core").isin(_CUBE), values_at(limits["cube_cores"], at, np.nan), np.nan),
        core_count=_cores(shapes, multiplies, limits, at),
        waves=waves.count,
        unfilled_share=waves.unfilled_share,
        dtype=[work.dtype or None for work in works],
        dense=np.where(shapes.texts("input_shapes").codes < 0, -1, [work.dense for work in works]),
        cube_work=[work.cube_work or None for work in works],
        least_side=np.where(np.isnan(side), ratio(flops, per_key), side),
        head_width=width,
        aligned_shapes=[work.aligned_shapes or None for work in works],
        misaligned=[-1 if work.misaligned is None else int(work.misaligned) for work in works],
        mega_flops=flops / 1e6,
        moved_bytes=moved,
        tflops=ratio(flops, mean) / 1e6,
        gbps=ratio(moved, mean) / 1e3,
        compute_us=compute,
        memory_us=memory,
        achieved_share=values_at(limits["achieved_share"], at, np.nan),
        vector_us=vector,
        most_memory_us=most / gbps / 1e3,
        mfu=ratio(compute, mean),
        bandwidth_share=ratio(memory, mean),
        expected_us=expected,
        roofline_share=reached,
        bound=[
            None if math.isnan(one) else word
            for one, word in zip(expected, _bounds(compute, memory, vector), strict=True)
        ],
    )
    return table.having(best_share=_best_shares(table), held_against=held_against(table))


_CUBE = ("AI_CORE", "MIX_AIC")
_VECTOR = ("AI_VECTOR_CORE", "MIX_AIV")
_NUMBERS = (
    "rank",
    "calls",
    "total_us",
    "instant_us",
    "mean_us",
    "steady_mean_us",
    "blocks",
    "step_share",
    "mac_share",
    "vector_share",
    "mte2_share",
    "scalar_share",
    "mte1_share",
    "fixpipe_share",
    "busiest_share",
    "mean_mhz",
)
_TEXTS = ("op_type", "function", "core", "family", "input_shapes", "input_dtypes", "input_formats", "output_shapes")


class _Waves(Struct, frozen=True):
    """Per row: how often cores are handed blocks, and the part of their time in which those stand idle that get none
    of the last; NaN where it is not known how many cores there are."""

    count: Array
    unfilled_share: Array


def _waves(blocks: Array, cores: Array) -> _Waves:
    count = np.where(blocks > 0, np.ceil(ratio(blocks, cores)), np.nan)
    return _Waves(count, np.where(count > 1, 1 - ratio(blocks, count * cores), count * 0))


def _cores(
    shapes: Table[OperatorShape], multiplies: Array, limits: Table[ChipLimit], at: Array, known: str = ""
) -> Array:
    """Per row: cores of the kind that its blocks run on. Not every kernel that was recorded as AI_CORE uses the cube
    unit: some versions write that of all kernels, so that only what is seen to multiply tells."""
    core = shapes.texts("core")
    vector, cube = (values_at(limits[f"{known}{kind}_cores"], at, np.nan) for kind in ("vector", "cube"))
    return np.where(core.isin(_VECTOR), vector, np.where(core.isin(_CUBE) & multiplies, cube, np.nan))


def _works_of_rows(shapes: Table[OperatorShape]) -> list[Work]:
    columns = (shapes.texts(name).values() for name in TOLD_BY)
    return [work_of_kernel(row[0] or "", *row[1:]) for row in zip(*columns, strict=True)]


def _peaks(shapes: Table[OperatorShape], works: Iterable[Work], limits: Table[ChipLimit], at: Array) -> Array:
    """Per row: the peak for its data type, 10^12 operations per second; of some in HF32 and some not, none."""
    rows = zip(shapes.texts("op_type").values(), works, shapes["hf32_share"].tolist(), strict=True)
    return peaks_of_rows(limits, at, [peak_dtype(op_type or "", work.dtype, share) for op_type, work, share in rows])


def _softmax_us(flops: Array, width: Array, works: Sequence[Work], limits: Table[ChipLimit], at: Array) -> Array:
    """Per row: what the softmax of an attention takes the vector units at least; NaN of all others, whose bytes take
    longer than any instruction on their values does."""
    times = np.array([_PASSES.get(work.cube_work, np.nan) for work in works], float)
    scores = flops / (4 * width * times)  # two products of two operations for each value of a head
    peak = _peaks_in_columns(limits, at, [work.dtype for work in works], _VECTOR_PEAKS)
    found: Array = scores * _STEPS_OF_SOFTMAX / (peak / 2) / 1e6
    return found


def _bounds(compute: Array, memory: Array, vector: Array) -> list[str]:
    longer = np.where(compute >= memory, "compute", "memory")
    return [str(word) for word in np.where(vector > np.maximum(compute, memory), "vector", longer)]


def step_mfus(kernels: Table[OperatorRoofline], split: Table[Overlap]) -> Table[StepMfu]:
    """One row per rank with a product, a convolution or an attention."""
    every, kernels = kernels, kernels.take(kernels.texts("family").isin(MULTIPLYING))
    ranks = group_by(kernels["rank"])
    spans = group_by(split["rank"])
    rank, calls = kernels["rank"][ranks.first], kernels["calls"]
    at = row_of_key(split["rank"][spans.first], rank)
    span = values_at(spans.means(split["span_us"]), at, np.nan)
    known = ~np.isnan(kernels["compute_us"])
    busy = ranks.sums(np.where(known, calls * kernels["compute_us"], 0))
    counted = ratio(ranks.sums(np.where(known, kernels["total_us"], 0)), ranks.sums(kernels["total_us"]))
    memory = _memory_of_ranks(every, rank)
    return Table.build(
        StepMfu,
        rank=rank,
        tera_flops=ranks.sums(np.where(known, calls * kernels["mega_flops"], 0)) / 1e6,
        counted_share=counted,
        span_us=span,
        mfu=np.where(counted >= 1 - TOLERATED, ratio(busy, span), np.nan),
        least_mfu=np.where(counted > 0, ratio(busy, span), np.nan),
        bandwidth_share=np.where(memory.told >= 1 - TOLERATED, ratio(memory.us, span), np.nan),
        least_bandwidth_share=np.where(memory.told > 0, ratio(memory.us, span), np.nan),
    )


class _Memory(Struct, frozen=True):
    """Per rank: what the bytes of its kernels take at the bandwidth of the memory, µs per step, and the part of their
    time in kernels of which that is known."""

    us: Array
    told: Array


def _memory_of_ranks(kernels: Table[OperatorRoofline], rank: Array) -> _Memory:
    by_index = (kernels["goes_by_index"] > 0) & np.isnan(kernels["memory_us"])
    each = np.where(np.isnan(kernels["memory_us"]), kernels["most_memory_us"], kernels["memory_us"])
    known = ~np.isnan(each) & ~by_index
    ranks = group_by(kernels["rank"])
    told = ratio(ranks.sums(np.where(known, kernels["total_us"], 0)), ranks.sums(kernels["total_us"]))
    us = ranks.sums(np.where(known, kernels["calls"] * each, 0))
    at = row_of_key(kernels["rank"][ranks.first], rank)
    return _Memory(values_at(us, at, np.nan), values_at(told, at, 0.0))


def _best_shares(table: Table[OperatorRoofline]) -> Array:
    """Per row: the share of the roofline that its like reach, nine tenths of whose time reach no more."""
    groups = group_by(table["rank"], table.texts("family"), table.texts("dtype"))
    share, weight = table["roofline_share"], np.where(np.isnan(table["roofline_share"]), 0.0, table["total_us"])
    order = groups.in_order(share)
    of, running = groups.of[order], np.cumsum(weight[order])
    whole = groups.sums(weight)
    before = np.cumsum(np.append(0.0, whole))[:-1]
    passed = (running - before[of] >= _SLOWER_TENTHS * whole[of]) & (weight[order] > 0)
    best = np.full(len(groups), np.nan)
    rows = np.flatnonzero(passed)[::-1]
    best[of[rows]] = share[order][rows]
    return best[groups.of]
