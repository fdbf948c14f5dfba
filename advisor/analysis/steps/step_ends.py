# SPDX-License-Identifier: Apache-2.0
"""The waits with which a step ends: a job reads its loss, an engine the tokens it made, and neither is a fault."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.intervals import Spans
from advisor.analysis.steps.cells import Cells
from advisor.facts.derived import EngineBorder
from advisor.facts.table import Array, Table, ascending

NO_BORDERS = np.empty(0, np.int64)


def engine_borders_of(rank: int, borders: Table[EngineBorder] | None) -> Array:
    """When the steps of a serving engine on one rank begin, in order of time, ns; empty where none are known."""
    return NO_BORDERS if borders is None else ascending(borders["start_ns"][borders["rank"] == rank])


def last_waits_of_steps(waits: Spans, rank: int, cells: Cells, engine_ns: Array) -> Spans:
    """Of the waits of one rank, in order of time, the last of each step, and those outside of every step.

    Steps of a serving engine, or rounds of a program without steps, which begin at `engine_ns`, end with a wait too.
    """
    cell = cells.on_host(np.full(len(waits), rank), waits.end - 1)
    turn = np.searchsorted(engine_ns, waits.end)
    ends = np.append((cell[1:] != cell[:-1]) | (turn[1:] != turn[:-1]), True)[: len(cell)]
    last = ends | (cell < 0)
    return Spans(waits.start[last], waits.end[last])
