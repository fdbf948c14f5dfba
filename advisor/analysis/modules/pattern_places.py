# SPDX-License-Identifier: Apache-2.0
"""Where in the model chains of small operators run, and which operators of the framework they are."""

from __future__ import annotations

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import Parts, group_by, parts_of_names, ratio
from advisor.analysis.fusion.chain_search import chains_in_steps, pattern_of_chains
from advisor.analysis.modules.module_calls import ChargedWork, LaunchTables, charge_work
from advisor.analysis.modules.modules import modules_in_steps
from advisor.analysis.operators.launching_operators import HostRecords, called_by_operators
from advisor.analysis.operators.operators import StepKernels, in_steps
from advisor.analysis.steps.device import DeviceTimeline, build_timeline
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.derived import Overlap, PatternModule, PatternOperator
from advisor.facts.observed import (
    ModuleRange,
    StepWindow,
)
from advisor.facts.table import Array, Table, Texts


def pattern_modules(
    ranges: Table[ModuleRange],
    recorded: LaunchTables,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
    patterns: ChainPatterns,
) -> Table[PatternModule]:
    """One row per rank, pattern and innermost module that launched kernels of such chains; longest first."""
    chained = _chained_work(ranges, recorded, windows, split, patterns)
    module = modules_in_steps(chained.work, chained.device, chained.every)
    parts = chained.parts(module)
    row = chained.row[parts.first]
    return Table.build(
        PatternModule,
        rank=chained.every.table["rank"][row],
        pattern=chained.pattern.take(parts.first),
        module=module.take(row),
        total_us=parts.total,
        pattern_share=parts.share,
    )


def pattern_operators(
    ranges: Table[ModuleRange] | None,
    recorded: LaunchTables,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
    patterns: ChainPatterns,
) -> Table[PatternOperator]:
    """One row per rank, pattern and operator behind kernels of such chains; longest first."""
    chained = _chained_work(ranges, recorded, windows, split, patterns)
    work, rank = chained.work, chained.every.table["rank"]
    operator = work.operators.texts("name").at(work.operator[chained.device.work.row[chained.every.row]])
    parts, led_to = chained.parts(operator), group_by(rank, operator)
    row = chained.row[parts.first]
    table = Table.build(
        PatternOperator,
        rank=rank[row],
        pattern=chained.pattern.take(parts.first),
        operator=operator.take(row),
        total_us=parts.total,
        operator_share=ratio(parts.total, led_to.sums(chained.us)[led_to.of[row]]),
    )
    return table.take(np.flatnonzero(table.texts("operator").codes >= 0))


class _ChainedWork(Struct, frozen=True):
    """The kernels of the steps, what launched them, and those of them that stand in chains."""

    work: ChargedWork
    device: DeviceTimeline
    every: StepKernels
    row: Array
    """Rows of `every`, chain by chain."""
    pattern: Texts
    """Per such row: the pattern of its chain."""

    @property
    def us(self) -> Array:
        """Per kernel of the steps: its time per step."""
        return self.every.duration_us / self.every.steps

    def parts(self, parts: Texts) -> Parts:
        """The time of the chains by rank, pattern and these parts, told for every kernel of the steps."""
        return parts_of_names(self.every.table["rank"][self.row], self.pattern, self.us[self.row], parts.take(self.row))


def _chained_work(
    ranges: Table[ModuleRange] | None,
    recorded: LaunchTables,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
    patterns: ChainPatterns,
) -> _ChainedWork:
    kernels, collectives = recorded.kernels, recorded.collectives
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    host = HostRecords(recorded.calls, recorded.launches, recorded.links)
    found = chains_in_steps(
        called_by_operators(kernels, host, patterns), collectives, windows, split, patterns, host=host
    )
    names = pattern_of_chains(found, patterns).take(found.chain)
    return _ChainedWork(charge_work(ranges, recorded), device, every, found.row, names)
