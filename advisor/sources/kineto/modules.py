# SPDX-License-Identifier: Apache-2.0
"""ModuleRange, GradientLink and AutogradCall: modules on the Python stack, fwdbwd arrows, arguments of operators."""

from __future__ import annotations

import numpy as np

from advisor.facts.observed import AutogradCall, GradientLink, ModuleRange
from advisor.facts.table import Table
from advisor.sources.kineto.reading import EXPORT, Trace, rows_or_missing
from advisor.sources.reading import Reading
from advisor.sources.shared.autograd import table_of_numbers
from advisor.sources.shared.gradients import table_of_arrows
from advisor.sources.shared.pytorch_words import module_names


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


def _numbers_of_trace(trace: Trace) -> Table[AutogradCall]:
    content = trace.content()
    slices = content.slices
    return table_of_numbers(
        trace.rank,
        content.tracks,
        content.autograd,
        track=slices.track,
        start=slices.start_ns,
        end=slices.end_ns,
    )


MODULE_RANGES = Reading(ModuleRange, {EXPORT: _ranges_of_trace})
GRADIENT_LINKS = Reading(GradientLink, {EXPORT: _links_of_trace})
AUTOGRAD_CALLS = Reading(AutogradCall, {EXPORT: _numbers_of_trace})
