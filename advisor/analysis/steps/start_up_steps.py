# SPDX-License-Identifier: Apache-2.0
"""What collectives take in the first recorded steps that are set apart: there they wait for ranks that start later, or
for communicators to be opened."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import row_at
from advisor.analysis.arrays.intervals import unions_by_cell
from advisor.analysis.steps.device import collective_times
from advisor.analysis.steps.left_out_steps import START_UP
from advisor.facts.derived import LeftOutStep, StartUpStep
from advisor.facts.observed import Collective
from advisor.facts.table import Table


def start_up_steps(left_out: Table[LeftOutStep], collectives: Table[Collective] | None) -> Table[StartUpStep]:
    """One row per rank and first step that does not count; those of which a file holds a part are none."""
    steps = left_out.take(left_out.texts("reason").isin([START_UP]))
    calls = Table.empty(Collective) if collectives is None else collectives
    times = collective_times(calls)
    of = row_at(steps["rank"], steps["step"], calls["rank"][times.row], calls["step"][times.row])
    times = times.placed(of)
    cell, start, end = unions_by_cell(times.cell, times.start, times.end, len(steps))
    met = np.bincount(times.cell, minlength=len(steps)) > 0
    longest, order = np.full(len(steps), -1), np.argsort(times.end - times.start, kind="stable")
    longest[times.cell[order]] = times.row[order]
    return Table.build(
        StartUpStep,
        **{name: steps[name] for name in ("rank", "step", "start_ns", "span_us", "longest_us")},
        collectives_us=np.where(met, np.bincount(cell, end - start, len(steps)) / 1e3, np.nan),
        collectives_wait_us=np.where(met, np.bincount(times.cell, calls["wait_us"][times.row], len(steps)), np.nan),
        op=calls.texts("op").at(longest),
    )
