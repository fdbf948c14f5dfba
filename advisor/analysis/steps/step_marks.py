# SPDX-License-Identifier: Apache-2.0
"""How long steps are by their marks, which begin before the first work of a step or end after its last."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import row_at
from advisor.facts.base import MISSING, Fact
from advisor.facts.derived import Overlap, RankPhase
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table, values_at

MARKS: tuple[type[Fact], ...] = (StepWindow, RankPhase)


def marked_step_us(
    overlaps: Table[Overlap], windows: Table[StepWindow] | None, phases: Table[RankPhase] | None
) -> float:
    """From one mark to the next, µs: the middle one of these steps on the host, or of iterations with the pause before
    each; 0 where neither is known. One step after which the program did something else for long is no usual one."""
    host = np.empty(0) if windows is None else _lengths_of(overlaps, windows)
    whole = np.empty(0) if phases is None else phases.floats("whole_us")
    return max(_middle(host), _middle(whole))


def marked_begins(windows: Table[StepWindow] | None, rank: Array, step: Array) -> Array:
    """When the host began each of these steps, ns; missing where that was not recorded."""
    if windows is None:
        return np.full(len(rank), MISSING)
    return values_at(windows["start_ns"], row_at(windows["rank"], windows["step"], rank, step))


def _lengths_of(overlaps: Table[Overlap], windows: Table[StepWindow]) -> Array:
    start, end = windows["start_ns"], windows["end_ns"]
    known = (start != MISSING) & (end != MISSING) & (end >= start)
    lengths = np.where(known, end - np.where(known, start, end), np.nan) / 1e3
    found: Array = values_at(
        lengths, row_at(windows["rank"], windows["step"], overlaps["rank"], overlaps["step"]), np.nan
    )
    return found


def _middle(lengths: Array) -> float:
    finite = lengths[np.isfinite(lengths)]
    return float(np.median(finite)) if len(finite) else 0.0
