# SPDX-License-Identifier: Apache-2.0
"""What the device computed: kernels by operator type, and by type and inputs, per step."""

from __future__ import annotations

import re

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Groups, group_by, ratio, row_at, row_of_key
from advisor.analysis.operators.kernel_costs import OtherWork, all_work_beside, decisive_work_beside, undisturbed_ns
from advisor.analysis.operators.library_calls import calls_with_other_work
from advisor.analysis.operators.like_kernels import ALIKE, TurnTakers, find_turn_takers, group_like_kernels
from advisor.analysis.operators.token_choices import work_of_choices
from advisor.analysis.operators.totals import CONVERSIONS, of_totals
from advisor.analysis.rooflines.families import AI_CPU_CORE, communicate_inside, families_of, family_of
from advisor.analysis.rooflines.lookups import gathers_along_last
from advisor.analysis.rooflines.precision import multiplied_in_float32
from advisor.analysis.rooflines.reachable import beyond_ridge, half_precision_us, most_memory_us
from advisor.analysis.rooflines.roles import roles_of_kernels
from advisor.analysis.steps.completeness import lacks_kernel_rows
from advisor.analysis.steps.device import KERNEL, DeviceTimeline, build_timeline
from advisor.analysis.steps.recorded_clocks import clocks_at
from advisor.analysis.steps.step_levels import EqualWork, equal_work, two_levels
from advisor.facts.base import MISSING
from advisor.facts.derived import ChainedOperator, ChipLimit, OperatorShape, OperatorShare, Overlap, Removal
from advisor.facts.observed import Collective, Frequency, Kernel, OperatorTotal, StepWindow
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing

PIPES = (
    "mac_share",
    "vector_share",
    "scalar_share",
    "mte2_share",
    "mte3_share",
    "mte1_share",
    "fixpipe_share",
)
"""How busy each pipe of a core was. What the chip counts apart for its two kinds of core is the larger of both."""


class StepKernels(Struct, frozen=True):
    """The kernels that belong to a step, and per row how many steps its rank has and how long one of them is."""

    table: Table[Kernel]
    duration_us: Array
    steps: Array
    step_us: Array
    whole: Array
    """Whether these are all kernels of the steps they belong to."""
    row: Array
    """Row of `DeviceTimeline.work`."""
    once: Array
    """Part of the kernel time of its rank in which the device computed: what runs at the same time counts once."""

    def take(self, where: Array) -> StepKernels:
        columns = (self.duration_us, self.steps, self.step_us, self.whole, self.row, self.once)
        return StepKernels(self.table.take(where), *(column[where] for column in columns))


def operators(
    kernels: Table[Kernel] | None,
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    totals: Table[OperatorTotal] | None = None,
    *,
    without: Table[Removal] | None = None,
    chained: Table[ChainedOperator] | None = None,
    limits: Table[ChipLimit] | None = None,
) -> Table[OperatorShare]:
    """Kernels by rank, operator type and role, those on the AI CPU apart; those whose type is unknown count in the
    whole but have no row.

    Steps whose list of kernels lacks rows are left out. Where all of a rank do, or it has no list, the profiler's
    totals stand in; without them what is listed counts, as a part of the step as the profiler summed it up, and what
    ran alone is missing.

    Raises:
        FactMissing: Neither kernels nor totals were recorded.
    """
    if kernels is None and totals is None:
        raise FactMissing([Kernel.table])
    listed = (
        Table.empty(OperatorShare)
        if kernels is None
        else _of_kernels(kernels, collectives, windows, split, without=without, limits=limits)
    )
    listed = listed.having(**_in_chains(listed, chained))
    if totals is None:
        return _with_peaks(listed, limits)
    lacking = listed["rank"][np.isnan(listed["alone_us"])]
    stand_in = totals.take(np.isin(totals["rank"], lacking) | ~np.isin(totals["rank"], listed["rank"]))
    told = of_totals(stand_in, split)
    both = Table.concat(OperatorShare, [listed.take(~np.isin(listed["rank"], told["rank"])), told]).sorted_by("rank")
    return _with_peaks(both, limits)


def _with_peaks(found: Table[OperatorShare], limits: Table[ChipLimit] | None) -> Table[OperatorShare]:
    if limits is None:
        return found
    return found.having(peak_tflops=values_at(limits["half_tflops"], row_of_key(limits["rank"], found["rank"]), np.nan))


def _in_chains(listed: Table[OperatorShare], chained: Table[ChainedOperator] | None) -> dict[str, Array]:
    """Per row: how much of its time per step is in chains, by column."""
    columns = ("chained_us", "chained_serving_us")
    if chained is None:
        return {name: np.full(len(listed), np.nan) for name in columns}
    both = (Texts.concat([chained.texts(key), listed.texts(key)]) for key in ("op_type", "role"))
    keys = group_by(np.concatenate([chained["rank"], listed["rank"]]), *both).of
    row = row_of_key(keys[: len(chained)], keys[len(chained) :])
    return {name: np.minimum(values_at(chained[name], row, 0.0), listed["total_us"]) for name in columns}


def _of_kernels(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
    *,
    without: Table[Removal] | None,
    limits: Table[ChipLimit] | None,
) -> Table[OperatorShare]:
    """What the list of kernels says."""
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    typed = np.flatnonzero(every.table.texts("op_type").codes >= 0)
    chosen = typed_in_steps(device, kernels, split)
    table, duration = chosen.table, chosen.duration_us
    types = table.texts("op_type")
    roles, aside = roles_of_kernels(every.table).take(typed), table.texts("core").isin([AI_CPU_CORE]).astype(np.int8)
    groups = group_by(table["rank"], types, aside, roles)
    first = groups.first
    per_step = groups.sums(duration) / chosen.steps[first]
    names = types.take(first)
    row, whole = every.row[typed], every.whole[typed][first]
    core = groups.leading(table.texts("core"), duration)
    inside = calls_with_other_work(every.table).take(typed)

    def not_beside(beside: OtherWork) -> Array:
        """What ran with none of that beside it, µs per step; missing where kernels are not all listed."""
        found = undisturbed_ns(device, row, groups.of, len(groups), beside)
        return np.where(whole, found, np.nan) / chosen.steps[first] / 1e3

    rank, unshared = table["rank"][first], not_beside(decisive_work_beside(device, kernels, collectives))
    gone = sooner_by_name(without, "operator", rank, names)
    part = _parts_of_types(group_by(rank, names, aside[first]), unshared)
    return Table.build(
        OperatorShare,
        rank=rank,
        op_type=names,
        core=core,
        family=families_of(names, core),
        role=roles.take(first),
        conversion=names.isin(CONVERSIONS).astype(np.int8),
        communicates=communicate_inside(names).astype(np.int8),
        source="kernels",
        calls=groups.sizes / chosen.steps[first],
        total_us=per_step,
        alone_us=not_beside(all_work_beside(device)),
        unshared_us=unshared,
        instant_us=np.minimum(unshared, gone.instant_us * part),
        removed_us=np.minimum(unshared, gone.removed_us * part),
        without_us=np.where(np.isinf(gone.removed_us), np.nan, gone.removed_us * part),
        median_us=groups.medians(duration),
        mean_us=groups.means(duration),
        longest_us=groups.largest(duration),
        kernel_share=ratio(per_step * chosen.steps[first], _of_whole(every)[typed][first]),
        step_share=ratio(per_step, chosen.step_us[first]) * chosen.once[first],
        dynamic_share=_share_of_word(groups, table.texts("op_state"), "dynamic", duration),
        float32_share=_share_in_float32(groups, table, duration),
        beyond_ridge_share=_share_beyond_ridge(groups, table, duration, limits),
        narrowable_share=_share_with_input(_NARROWABLE, groups, table.texts("input_dtypes"), duration),
        float64_share=_share_with_input(_FLOAT64, groups, table.texts("input_dtypes"), duration),
        aclnn_share=_share_by_aclnn(groups, table, duration),
        inside_call=groups.leading(inside, duration),
        inside_share=ratio(groups.sums(duration * (inside.codes >= 0)), groups.sums(duration)),
        choosing_us=groups.sums(duration * work_of_choices(table)) / chosen.steps[first],
        busiest_share=_busiest_pipes({share: groups.means(table[share], duration) for share in PIPES})[0],
        shapes=_distinct_shapes(groups, table.texts("input_shapes")),
    )


_HALF = 0.5
_ACLNN = re.compile(r"(?:.*/)?aclnn[A-Z]")


def _share_by_aclnn(groups: Groups, table: Table[Kernel], duration: Array) -> Array:
    """Per group: the part of its time in kernels named after a call of aclnn, or of a compiled graph; NaN where no
    kernel of the table is."""
    by_aclnn = table.texts("op_name").passing(_ACLNN.match) | (table["graph"] != MISSING)
    if not by_aclnn.any():
        return np.full(len(groups), np.nan)
    return ratio(groups.sums(np.where(by_aclnn, duration, 0.0)), groups.sums(duration))


def _share_beyond_ridge(
    groups: Groups, table: Table[Kernel], duration: Array, limits: Table[ChipLimit] | None
) -> Array:
    """Per group: the part of its time in products that the peak of the chip bounds; NaN unless told of half of it."""
    types, beyond = table.texts("op_type"), np.full(len(table), np.nan)
    rows = np.flatnonzero(types.hits(family_of(name) == "matmul" for name in types.names))
    if limits is None or not len(rows):
        return np.full(len(groups), np.nan)
    beyond[rows] = beyond_ridge(table.take(rows), limits)
    known = groups.sums(np.where(np.isnan(beyond), 0.0, duration))
    share = ratio(groups.sums(np.where(beyond > 0, duration, 0.0)), known)
    return np.where(known > _HALF * groups.sums(duration), share, np.nan)


def _parts_of_types(types: Groups, unshared: Array) -> Array:
    """Per row: its part of the time that all rows of its type ran unshared; 1 where there is no such time."""
    part = ratio(unshared, types.sums(unshared)[types.of])
    return np.where(part > 0, part, 1.0)


def operator_shapes(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    *,
    without: Table[Removal] | None = None,
    limits: Table[ChipLimit] | None = None,
    clocks: Table[Frequency] | None = None,
) -> Table[OperatorShape]:
    """Kernels by rank, type, core and inputs. What Level0 does not record stays missing and makes no difference."""
    device = build_timeline(kernels, collectives, None, windows)
    chosen = typed_in_steps(device, kernels, split)
    table, duration = chosen.table, chosen.duration_us
    groups = group_like_kernels(table)
    first = groups.first
    mean, total = groups.means(duration), groups.sums(duration) / chosen.steps[first]
    types = group_by(table["rank"][first], table.texts("op_type").take(first))
    of_type = types.sums(total)[types.of]
    gone = sooner_by_name(without, "operator", table["rank"][first], table.texts("op_type").take(first))
    typed = chosen is not in_steps(device, kernels, split)
    alike = turn_takers(device, kernels, split, typed=typed)
    slower_of_call = alike.slower_us(duration)
    slower = groups.sums(slower_of_call) / chosen.steps[first]
    slower_of_type = types.sums(slower)[types.of]
    shares = {share: groups.means(table[share], duration) for share in PIPES}
    busiest, second = _busiest_pipes(shares)
    communicate = communicate_inside(table.texts("op_type").take(first))
    return Table.build(
        OperatorShape,
        rank=table["rank"][first],
        **{key: table.texts(key).take(first) for key in ALIKE},
        family=families_of(table.texts("op_type").take(first), table.texts("core").take(first)),
        in_float32=multiplied_in_float32(*(table.texts(key).take(first) for key in ("input_dtypes", "function"))),
        calls=groups.sizes / chosen.steps[first],
        total_us=total,
        instant_us=total * ratio(np.minimum(gone.instant_us, of_type), of_type),
        steady_us=slower * ratio(np.minimum(gone.steady_us, slower_of_type), slower_of_type),
        mean_us=mean,
        steady_mean_us=groups.means(duration - slower_of_call),
        spread=ratio(np.sqrt(alike.variance), mean),
        **_levels_of_steps(
            equal_work_in_steps(device, kernels, split), chosen, groups, communicate, device.cells.begin
        ),
        **{share: shares[share] for share in OperatorShape.columns().keys() & shares.keys()},
        busiest_share=busiest,
        second_share=second,
        hf32_share=_share_of_word(groups, table.texts("hf32"), "YES", duration),
        mean_mhz=np.nan
        if clocks is None
        else groups.means(clocks_at(clocks, table["rank"], table["start_ns"]), duration),
        picks_last=gathers_along_last(
            *(table.texts(key).take(first) for key in ("op_type", "input_shapes", "output_shapes"))
        ),
        most_memory_us=np.nan if limits is None else most_memory_us(table.take(first), limits),
        half_us=np.nan if limits is None else half_precision_us(table.take(first), mean, limits),
        communicates=communicate.astype(np.int8),
        blocks=groups.smallest(table["blocks"]),
        step_share=ratio(total, chosen.step_us[first]) * chosen.once[first],
    )


def turn_takers(
    device: DeviceTimeline, kernels: Table[Kernel], split: Table[Overlap] | None, *, typed: bool
) -> TurnTakers:
    """Which like kernels of those in steps, or of the typed ones, should take the same time. Worked out once."""
    return kernels.once_for_now(_turn_takers_of, device, split, int(typed))


def _turn_takers_of(
    kernels: Table[Kernel], device: DeviceTimeline, split: Table[Overlap] | None, typed: int
) -> TurnTakers:
    chosen = (typed_in_steps if typed else in_steps)(device, kernels, split)
    return find_turn_takers(chosen.table, chosen.duration_us, device.work.cell[chosen.row])


def _levels_of_steps(
    work: EqualWork, every: StepKernels, groups: Groups, communicate: Array, begin: Array
) -> dict[str, Array]:
    """Per group: in how many steps it is slow, by how much and how clearly, and what all others do then, by column."""
    of = group_by(work.group)
    levels = two_levels(of, work.us, begin[work.cell])
    own = np.where(communicate[work.group], 0.0, work.us)
    others = np.bincount(work.cell, own, len(begin))[work.cell] - own
    slow, quick = (of.means(np.where(chosen, others, np.nan)) for chosen in (levels.is_slow, ~levels.is_slow))
    group = work.group[of.first]
    count = of.sums(levels.is_slow.astype(float))
    usual = of.means(np.where(levels.is_slow, np.nan, work.us))
    beyond = of.sums(np.where(levels.is_slow, work.us, 0.0)) - count * usual
    found = {
        "slow_steps": count,
        "slowdown": levels.slowdown,
        "excess_us": beyond / every.steps[groups.first[group]],
        "contrast": levels.contrast,
        "others_slowdown": ratio(slow, quick),
    }
    columns = {name: np.full(len(groups), np.nan) for name in found}
    for name, values in found.items():
        columns[name][group] = np.where(levels.are_told, values, np.nan)
    return columns


def _busiest_pipes(shares: dict[str, Array]) -> tuple[Array, Array]:
    """The busiest pipe of each row and the next one, of those that were recorded; both missing unless loading, scalar
    and the cube or the vector unit were.

    Where none was ever busy nothing was measured, as on the AI CPU: whatever runs on a core keeps its scalar unit busy.
    """
    told = ~np.isnan(shares["mte2_share"] + shares["scalar_share"])
    told &= ~np.isnan(np.fmax(shares["mac_share"], shares["vector_share"]))
    second, busiest = np.sort(np.nan_to_num(np.stack(list(shares.values()))), axis=0)[-2:]
    told &= busiest > 0
    return np.where(told, busiest, np.nan), np.where(told, second, np.nan)


class Sooner(Struct, frozen=True):
    """How much sooner a step ends, µs; without bound where the rank was not replayed."""

    instant_us: Array
    removed_us: Array
    steady_us: Array
    fused_us: Array


def sooner_by_name(without: Table[Removal] | None, kind: str, rank: Array, names: Texts) -> Sooner:
    """Per rank and name: how much sooner a step ends if these take no time, without them, and if all are quick."""
    columns = Sooner.__struct_fields__
    if without is None:
        return Sooner(*(np.full(len(rank), np.inf) for _ in columns))
    without = without.take(without.texts("kind").isin([kind]))
    both = Texts.concat([without.texts("name"), names])
    keys = group_by(np.concatenate([without["rank"], rank]), both).of
    at = row_of_key(keys[: len(without)], keys[len(without) :])
    return Sooner(*(values_at(without[name], at, np.inf) for name in columns))


def in_steps(device: DeviceTimeline, kernels: Table[Kernel], split: Table[Overlap] | None) -> StepKernels:
    """The kernels of steps that are whole; of ranks without such a step those of all. Worked out once for all."""
    return kernels.once_for_now(_find_in_steps, device, split)


def typed_in_steps(device: DeviceTimeline, kernels: Table[Kernel], split: Table[Overlap] | None) -> StepKernels:
    """Those of them whose type is known. Worked out once for all."""
    return kernels.once_for_now(_find_typed_in_steps, device, split)


def _find_typed_in_steps(kernels: Table[Kernel], device: DeviceTimeline, split: Table[Overlap] | None) -> StepKernels:
    every = in_steps(device, kernels, split)
    typed = every.table.texts("op_type").codes >= 0
    return every if typed.all() else every.take(np.flatnonzero(typed))


def equal_work_in_steps(device: DeviceTimeline, kernels: Table[Kernel], split: Table[Overlap] | None) -> EqualWork:
    """What of kernels whose type is known, grouped as by `group_like_kernels`, may be held against other steps.

    Worked out once for all.
    """
    return kernels.once_for_now(_find_equal_work, device, split)


def _find_equal_work(kernels: Table[Kernel], device: DeviceTimeline, split: Table[Overlap] | None) -> EqualWork:
    every = typed_in_steps(device, kernels, split)
    cell = device.work.cell[every.row]
    return equal_work(device.cells, group_like_kernels(every.table), cell, every.duration_us, every.table["blocks"])


def _find_in_steps(kernels: Table[Kernel], device: DeviceTimeline, split: Table[Overlap] | None) -> StepKernels:
    cells, work = device.cells, device.work
    names, of = np.unique(cells.rank, return_inverse=True)
    whole = ~lacks_kernel_rows(split, cells.rank, cells.step)
    some = np.bincount(of[whole], minlength=len(names)) > 0
    counted = whole | ~some[of]
    mine = np.flatnonzero((work.kind == KERNEL) & counted[work.cell])
    rank = of[work.cell[mine]]
    per_rank = Groups(of[counted], np.zeros(len(names), np.intp))
    return StepKernels(
        kernels.take(work.row[mine]),
        (work.end[mine] - work.start[mine]) / 1e3,
        per_rank.sizes[rank],
        per_rank.means(_span_of_cells(device, split, whole)[counted])[rank],
        some[rank],
        mine,
        _counted_once(device, of, mine, counted)[rank],
    )


def _counted_once(device: DeviceTimeline, of: Array, kernels: Array, counted: Array) -> Array:
    """Per rank: the time in which the device computed over the time of all kernels, at most 1."""
    ranks = int(of.max(initial=-1)) + 1
    each = device.work.end[kernels] - device.work.start[kernels]
    every = np.bincount(of[device.work.cell[kernels]], weights=each, minlength=ranks) / 1e3
    busy = np.bincount(of[counted], weights=device.per_cell(device.compute)[counted], minlength=ranks)
    return np.minimum(ratio(busy, every), 1)


def _span_of_cells(device: DeviceTimeline, split: Table[Overlap] | None, whole: Array) -> Array:
    """Per cell: its span as the split has it, else, where all its kernels are listed, from first to last, µs."""
    summed = _summed_up(device, split)
    span: Array = np.where(whole & np.isnan(summed), device.window.lengths / 1e3, summed)
    return span


def _summed_up(device: DeviceTimeline, split: Table[Overlap] | None) -> Array:
    """Per cell: its span as the split has it, µs; missing where it has none."""
    if split is None:
        return np.full(len(device.cells), np.nan)
    at = row_at(split["rank"], split["step"], device.cells.rank, device.cells.step)
    span: Array = values_at(split["span_us"], at, np.nan)
    return span


def _of_whole(every: StepKernels) -> Array:
    """Per kernel: the time of all kernels of its rank."""
    groups = group_by(every.table["rank"])
    return groups.sums(every.duration_us)[groups.of]


def _share_of_word(groups: Groups, said: Texts, word: str, duration: Array) -> Array:
    """Part of each group's time in kernels of which this was said, of those of which anything was."""
    known = said.codes >= 0
    return ratio(groups.sums(duration * said.isin([word])), groups.sums(duration * known))


def _share_in_float32(groups: Groups, kernels: Table[Kernel], duration: Array) -> Array:
    """Part of each group's time in kernels that multiply float32, of those that tell what they multiply."""
    told = multiplied_in_float32(kernels.texts("input_dtypes"), kernels.texts("function"))
    return ratio(groups.sums(duration * (told == 1)), groups.sums(duration * (told >= 0)))


_NARROWABLE = re.compile(r"(?<![A-Z])(DT_)?(DOUBLE|U?INT(16|64)|COMPLEX)")
"""Types that AI Cores lack altogether or in many of their operators, and that smaller ones stand for."""


_FLOAT64 = re.compile(r"(?<![A-Z])(DT_)?DOUBLE")


def _share_with_input(types: re.Pattern[str], groups: Groups, dtypes: Texts, duration: Array) -> Array:
    """Part of each group's time in kernels with an input of such a type, of those whose types are known."""
    found = dtypes.passing(types.search)
    return ratio(groups.sums(duration * found), groups.sums(duration * (dtypes.codes >= 0)))


def _distinct_shapes(groups: Groups, shapes: Texts) -> Array:
    """Distinct shapes per group; missing where none was recorded."""
    known = np.flatnonzero(shapes.codes >= 0)
    pairs = group_by(groups.of[known], shapes.take(known))
    count = np.bincount(groups.of[known[pairs.first]], minlength=len(groups)).astype(np.float64)
    return np.where(count > 0, count, np.nan)
