# SPDX-License-Identifier: Apache-2.0
"""ModuleRange and GradientLink: calls of modules on the Python stack, and the fwdbwd arrows."""

from __future__ import annotations

import numpy as np

from advisor.facts.observed import GradientLink, ModuleRange
from advisor.facts.table import Table
from advisor.sources.gradients import table_of_arrows
from advisor.sources.kineto.reading import EXPORT, Trace, rows_or_missing
from advisor.sources.pytorch_words import module_names
from advisor.sources.reading import Reading


def _ranges_of_trace(trace: Trace) -> Table[ModuleRange]:
    content = trace.content()
    slices = content.slices
    name = module_names(slices.name)
    rows = np.flatnonzero((name.codes >= 0) & slices.category.isin(["python_function"]))
    rows_or_missing(rows, ModuleRange)
    return Table.build(
        ModuleRange,
        rank=trace.rank,
        thread=content.tracks.number[slices.track[rows]],
        source="python",
        name=name.take(rows),
        start_ns=slices.start_ns[rows],
        end_ns=slices.end_ns[rows],
    )


def _links_of_trace(trace: Trace) -> Table[GradientLink]:
    return table_of_arrows(trace.rank, trace.content().gradient_links, trace.path.name, trace.notes)


MODULE_RANGES = Reading(ModuleRange, {EXPORT: _ranges_of_trace})
GRADIENT_LINKS = Reading(GradientLink, {EXPORT: _links_of_trace})
