# SPDX-License-Identifier: Apache-2.0
"""Chains of small operators that do the work of one fused operator: what they cost, and what the fused one would."""

from __future__ import annotations

import numpy as np

from advisor.analysis.chain_search import FoundChains, chains_in_steps, pattern_of_chains
from advisor.analysis.device import DeviceTimeline, build_timeline
from advisor.analysis.grouping import group_by, ratio
from advisor.analysis.kernel_costs import Beside, decisive_work_beside, undisturbed_ns
from advisor.analysis.operators import StepKernels, in_steps, sooner_by_name
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.derived import FusibleChain, Overlap, Removal
from advisor.facts.observed import Collective, Kernel, StepWindow
from advisor.facts.table import Array, Table, Texts


def fusible_chains(
    kernels: Table[Kernel],
    collectives: Table[Collective] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
    *,
    without: Table[Removal] | None = None,
    patterns: ChainPatterns,
) -> Table[FusibleChain]:
    """One row per rank and pattern that occurs."""
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    found = chains_in_steps(kernels, collectives, windows, split, patterns)
    if not len(found.row):
        return Table.empty(FusibleChain)
    beside = decisive_work_beside(device, kernels, collectives)
    chains = _sum_chains(found, patterns, every, device, beside)
    gone = sooner_by_name(without, "chain", chains["rank"], chains.texts("pattern"))
    return chains.having(removed_us=np.minimum(chains["unshared_us"] + chains["gap_us"], gone.removed_us))


def _sum_chains(
    found: FoundChains, patterns: ChainPatterns, every: StepKernels, device: DeviceTimeline, beside: Beside
) -> Table[FusibleChain]:
    row, chain, begin, size = found.row, found.chain, found.begin, found.size
    duration = every.duration_us[row]
    total, longest = np.bincount(chain, duration), np.maximum.reduceat(duration, begin)
    fused = np.minimum(_fused_us(found, patterns, every), total)
    start, end = device.work.start[every.row], device.work.end[every.row]
    began = np.minimum.reduceat(start[row], begin)
    lasted = (np.maximum.reduceat(end[row], begin) - began) / 1e3
    names = pattern_of_chains(found, patterns)
    between = np.bincount(chain, duration * every.table.texts("op_type").take(row).isin(patterns.passed_over))
    head = row[begin]
    groups = group_by(every.table["rank"][head], names)
    steps = every.steps[head[groups.first]]
    whole = every.whole[head[groups.first]]
    worst = np.lexsort((began, -lasted, groups.of))[np.cumsum(groups.sizes) - groups.sizes]
    unshared = undisturbed_ns(device, every.row[row], groups.of[chain], len(groups), beside) / 1e3
    return Table.build(
        FusibleChain,
        rank=every.table["rank"][head[groups.first]],
        **_about_patterns(names.take(groups.first), patterns),
        chains=groups.sizes / steps,
        kernels=groups.sums(size) / groups.sizes,
        total_us=groups.sums(total) / steps,
        unshared_us=np.where(whole, unshared, np.nan) / steps,
        longest_us=groups.sums(longest) / steps,
        between_us=groups.sums(between) / steps,
        fused_us=groups.sums(fused) / steps,
        gap_us=groups.sums(np.clip(lasted - total, 0, total)) / steps,
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


def _fused_us(found: FoundChains, patterns: ChainPatterns, every: StepKernels) -> Array:
    """Per chain: what the fused operator needs: the members that are kept, and its passes at the pace of the longest
    of the others."""
    types, duration = every.table.texts("op_type").take(found.row), every.duration_us[found.row]
    kept = np.zeros(len(found.row), bool)
    for number, order in enumerate(patterns.orders):
        if order.kept_types:
            kept |= types.isin(order.kept_types) & (found.order[found.chain] == number)
    passes = np.array([order.passes for order in patterns.orders])[found.order]
    longest = np.maximum.reduceat(np.where(kept, 0, duration), found.begin)
    fused: Array = np.bincount(found.chain, duration * kept) + passes * longest
    return fused
