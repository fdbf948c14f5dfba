# SPDX-License-Identifier: Apache-2.0
"""Chains of small operators that do the work of one fused operator: what they cost, and what the fused one would."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by, ratio
from advisor.analysis.arrays.intervals import covered_ns, subtract, union
from advisor.analysis.fusion.chain_search import (
    FoundChains,
    chains_in_steps,
    fused_us_of_chains,
    kept_kernels,
    parts_of_passes,
    pattern_of_chains,
)
from advisor.analysis.fusion.joined_kernels import ARROW, members_of, read_joined
from advisor.analysis.operators.kernel_costs import OtherWork, decisive_work_beside, undisturbed_ns
from advisor.analysis.operators.launching_operators import HostRecords, called_by_operators
from advisor.analysis.operators.operators import StepKernels, in_steps, sooner_by_name
from advisor.analysis.rooflines.families import MULTIPLYING, families_of
from advisor.analysis.rooflines.operator_work import TOLD_BY, work_of_kernel
from advisor.analysis.rooflines.roles import roles_of_kernels
from advisor.analysis.steps.device import COPY, DeviceTimeline, build_timeline
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.derived import ChainedOperator, ChipLimit, FusibleChain, Overlap, Removal
from advisor.facts.observed import Collective, DeviceTask, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing

_MOSTLY = 0.5


def fusible_chains(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    *,
    tasks: Table[DeviceTask] | None = None,
    without: Table[Removal] | None = None,
    limits: Table[ChipLimit] | None = None,
    host: HostRecords | None = None,
    patterns: ChainPatterns,
) -> Table[FusibleChain]:
    """One row per rank and pattern that occurs.

    Raises:
        FactMissing: None does, and most of the time outside of products is that of kernels that a graph compiler joined
            of operators which their names do not tell.
    """
    found = chains_in_steps(kernels, collectives, windows, split, patterns, host=host)
    kernels = called_by_operators(kernels, host, patterns)
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    if not len(found.row):
        if _are_unread(every, patterns):
            raise FactMissing([], unnamed=[Kernel.table])
        return Table.empty(FusibleChain)
    beside = decisive_work_beside(device, kernels, collectives)
    idle_us = _idle_within(found, every, build_timeline(kernels, collectives, tasks, windows), split, tasks)
    fused_us = fused_us_of_chains(found, patterns, every, limits)
    chains = _sum_chains(found, patterns, every, (device, beside), (idle_us, fused_us))
    gone = sooner_by_name(without, "chain", chains["rank"], chains.texts("pattern"))
    removed = np.minimum(chains["removed_us"], gone.removed_us)
    unreplayed = np.maximum(removed - chains["fused_us"], 0)
    won = np.where(np.isinf(gone.fused_us), unreplayed, np.minimum(gone.fused_us, chains["spared_us"]))
    return chains.having(removed_us=removed, spared_us=won)


def _are_unread(every: StepKernels, patterns: ChainPatterns) -> bool:
    """Whether most of the time outside of products is that of kernels whose operators nothing tells."""
    unread = read_joined(every.table, patterns).unread
    if not unread.any():
        return False
    small = ~families_of(every.table.texts("op_type"), every.table.texts("core")).isin(MULTIPLYING)
    us = every.duration_us
    return bool(us[unread].sum() > _MOSTLY * us[small | unread].sum())


def chained_operators(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    *,
    host: HostRecords | None = None,
    patterns: ChainPatterns,
) -> Table[ChainedOperator]:
    """One row per rank, operator type and role that stands in chains."""
    every = in_steps(build_timeline(kernels, collectives, None, windows), kernels, split)
    found = chains_in_steps(
        called_by_operators(kernels, host, patterns), collectives, windows, split, patterns, host=host
    )
    typed = every.table.texts("op_type").codes[found.row] >= 0
    row, serves = found.row[typed], np.array([one.workload == "inference" for one in patterns.of_orders], bool)
    serving = serves[found.order][found.chain[typed]]
    types, rank = every.table.texts("op_type").take(row), every.table["rank"][row]
    roles = roles_of_kernels(every.table).take(row)
    groups = group_by(rank, types, roles)
    steps = every.steps[row[groups.first]]
    return Table.build(
        ChainedOperator,
        rank=rank[groups.first],
        op_type=types.take(groups.first),
        role=roles.take(groups.first),
        chained_us=groups.sums(every.duration_us[row] * ~serving) / steps,
        chained_serving_us=groups.sums(every.duration_us[row] * serving) / steps,
    )


def _idle_within(
    found: FoundChains,
    every: StepKernels,
    device: DeviceTimeline,
    split: Table[Overlap] | None,
    tasks: Table[DeviceTask] | None,
) -> Array:
    """Per chain: for how long from its first kernel to its last no kernel ran, and no copy on its stream. Collectives
    and copies of other streams hold nothing up by running beside it.

    Missing where the split does not know which pauses are the job's.
    """
    work, row, head = device.work, every.row[found.row], found.row[found.begin]
    shift = device.axis.shift[work.cell[row]]
    begin = np.minimum.reduceat(work.start[row] + shift, found.begin)
    end = np.maximum.reduceat(work.end[row] + shift, found.begin)
    filled = covered_ns(device.compute, begin, end)
    rank, stream = every.table["rank"][head], every.table["stream"][head]
    if tasks is not None:
        copies = np.flatnonzero(work.kind == COPY)
        shift = device.axis.shift[work.cell[copies]]
        moved = work.start[copies] + shift, work.end[copies] + shift
        both = (
            np.concatenate([tasks[key][work.row[copies]], own]) for key, own in (("rank", rank), ("stream", stream))
        )
        lane = group_by(*both).of
        of_copy, of_chain = lane[: len(copies)], lane[len(copies) :]
        for one in np.intersect1d(of_copy, of_chain).tolist():
            own = subtract(union(*(moment[of_copy == one] for moment in moved)), device.compute)
            here = of_chain == one
            filled[here] += covered_ns(own, begin[here], end[here])
    idle = (end - begin - filled) / 1e3
    if split is None:
        return idle
    known = ~np.isnan(split["free_us"])
    unknown = np.setdiff1d(split["rank"][~known], split["rank"][known])
    return np.where(np.isin(rank, unknown), np.nan, idle)


def _sum_chains(
    found: FoundChains,
    patterns: ChainPatterns,
    every: StepKernels,
    seen: tuple[DeviceTimeline, OtherWork],
    costs: tuple[Array, Array],
) -> Table[FusibleChain]:
    """`costs` are, per chain, the pauses within it and what the fused operator needs."""
    (device, beside), (idle_us, fused) = seen, costs
    row, chain, begin, size = found.row, found.chain, found.begin, found.size
    duration = every.duration_us[row]
    total, longest = np.bincount(chain, duration), np.maximum.reduceat(duration, begin)
    start, end = device.work.start[every.row], device.work.end[every.row]
    began = np.minimum.reduceat(start[row], begin)
    lasted = (np.maximum.reduceat(end[row], begin) - began) / 1e3
    names = pattern_of_chains(found, patterns)
    types, passed = every.table.texts("op_type").take(row), found.moves
    between = np.bincount(chain, duration * passed)
    head = row[begin]
    groups = group_by(every.table["rank"][head], names)
    of_kernels = Groups(groups.of[chain], begin[groups.first])
    steps = every.steps[head[groups.first]]
    whole = every.whole[head[groups.first]]
    worst = groups.first_rows(began, -lasted)
    unshared = undisturbed_ns(device, every.row[row], groups.of[chain], len(groups), beside) / 1e3
    spared = _spared_bytes(found, patterns, every)
    pause = np.nan_to_num(idle_us)
    return Table.build(
        FusibleChain,
        rank=every.table["rank"][head[groups.first]],
        **_about_patterns(names.take(groups.first), patterns),
        **_about_orders(found, patterns, groups, (lasted, total / steps[groups.of])),
        chains=groups.sizes / steps,
        kernels=groups.sums(size) / groups.sizes,
        total_us=groups.sums(total) / steps,
        compiled_us=groups.sums(total * found.compiled) / steps,
        unshared_us=np.where(whole, unshared, np.nan) / steps,
        longest_us=groups.sums(longest) / steps,
        between_us=groups.sums(between) / steps,
        between_type=of_kernels.leading(
            Texts(np.where(passed, types.codes, -1).astype(np.int32), types.names), duration
        ),
        fused_us=groups.sums(fused) / steps,
        removed_us=(np.where(whole, unshared, np.nan) + groups.sums(np.minimum(pause, total))) / steps,
        gap_us=np.where(groups.sums(np.isnan(idle_us) * 1.0) > 0, np.nan, groups.sums(pause)) / steps,
        spared_us=np.maximum(groups.sums(total + pause - fused) / steps, 0),
        spared_bytes=np.where(groups.sums(np.isnan(spared).astype(float)) > 0, np.nan, groups.sums(spared)) / steps,
        step_share=ratio(groups.sums(total) / steps, every.step_us[head[groups.first]]),
        worst_start_ns=began[worst],
        worst_us=lasted[worst],
    )


def _about_patterns(names: Texts, patterns: ChainPatterns) -> dict[str, Texts | Array]:
    """What the patterns of these names are for, as columns."""
    known = {one.name: one for one in patterns.patterns}
    told = [known[name] for name in (names.names[code] for code in names.codes)]
    return {
        "pattern": names,
        "operator": Texts.of(one.operator for one in told),
        "serves": Texts.of(one.workload or None for one in told),
        "has_remedy": np.array([one.has_remedy for one in told], np.int8),
    }


def _about_orders(
    found: FoundChains,
    patterns: ChainPatterns,
    groups: Groups,
    times: tuple[Array, Array],
) -> dict[str, Texts | Array]:
    """Per group of chains: those whose members run in another order than the fused operator takes, as columns.

    `times` are how long each chain lasted and what its kernels take per step, µs.
    """
    lasted, per_step = times
    apart = np.array([bool(order.wanted) for order in patterns.orders], bool)[found.order]
    longest = groups.last_rows(lasted, apart)
    texts = [_orders_of_chain(found, patterns, one) if apart[one] else (None, None) for one in longest]
    return {
        "reordered_us": groups.sums(per_step * apart),
        "found_order": Texts.of(here for here, _ in texts),
        "wanted_order": Texts.of(wanted for _, wanted in texts),
    }


def _orders_of_chain(found: FoundChains, patterns: ChainPatterns, chain: int) -> tuple[str, str]:
    """The operators of one chain as they run, and in the order that the fused operator takes."""
    order = patterns.orders[found.order[chain]]
    rows = np.arange(found.begin[chain], found.begin[chain] + found.size[chain])
    kernels = [found.called.names[code] for code in found.called.codes[rows[found.is_member[rows]]]]
    members = [one for kernel in kernels for one in members_of(kernel)]
    form = next(
        form
        for form, _ in order.forms
        if len(form) == len(members)
        and all(one in order.members[at].types for one, at in zip(members, form, strict=True))
    )
    named = dict(zip(form, members, strict=True))
    return ARROW.join(members), ARROW.join(named[at] for at in order.wanted if at in named)


def _spared_bytes(found: FoundChains, patterns: ChainPatterns, every: StepKernels) -> Array:
    """Per chain: what its members read and write, less as much of it as the fused operator does; those that are kept
    aside. NaN where shapes or data types of a member are not known."""
    part, kept = parts_of_passes(found, patterns, every), kept_kernels(found, patterns)
    moved = np.where(kept, 0, _moved_bytes(every.table.take(found.row)))
    passes = np.array([order.passes for order in patterns.orders])[found.order]
    pass_us = every.duration_us[found.row] * part
    longest = np.maximum.reduceat(pass_us, found.begin)[found.chain]
    passing = np.maximum.reduceat(np.where(~kept & (pass_us >= longest), moved * part, 0), found.begin)
    spared: Array = np.maximum(np.add.reduceat(moved, found.begin) - passes * passing, 0)
    return spared


def _moved_bytes(kernels: Table[Kernel]) -> Array:
    """Per kernel: what it reads and writes, NaN where that is not known."""
    texts = [kernels.texts(name) for name in TOLD_BY]
    alike = group_by(*texts)
    rows = zip(*(column.take(alike.first).values() for column in texts), strict=True)
    sizes = [work_of_kernel(op_type or "", *others).size_bytes for op_type, *others in rows]
    return np.array(sizes, float)[alike.of]
