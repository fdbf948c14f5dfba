# SPDX-License-Identifier: Apache-2.0
"""Rounds of a program whose steps nothing marks, by what it does once in each: a wait may end every one of them."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.rooflines.families import MULTIPLYING, family_of
from advisor.analysis.steps.cells import Cells
from advisor.analysis.steps.step_ends import NO_BORDERS, engine_borders_of
from advisor.facts.base import MISSING
from advisor.facts.derived import Dispatch, EngineBorder
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table, ascending


def round_borders(
    rank: int,
    cells: Cells,
    calls: Table[HostCall],
    links: Table[Dispatch] | None,
    borders: Table[EngineBorder] | None,
) -> Array:
    """When steps of a serving engine begin on one rank, or rounds of a program without steps, in order of time, ns.

    Such a round begins as the program asks a loader for data, else as it replays a graph, else as it updates its
    weights; none where it does none of that. Each of several micro-batches, or parts of a model captured apart, is such
    a round as well.
    """
    of_engine = engine_borders_of(rank, borders)
    if len(of_engine) or (cells.step[cells.rank == rank] != MISSING).any():
        return of_engine
    own, kinds = calls["rank"] == rank, calls.texts("kind")
    begins = (ascending(calls["start_ns"][own & kinds.isin([kind])]) for kind in ("data_loader", "graph"))
    return next((moments for moments in begins if len(moments)), _begins_of_updates(links, rank))


def _begins_of_updates(links: Table[Dispatch] | None, rank: int) -> Array:
    """When the first kernel of an optimizer was launched each time after others had multiplied, in order of time, ns.

    By what follows each multiplication, so that an optimizer of hundreds of kernels begins one round and no hundreds.
    """
    if links is None:
        return NO_BORDERS
    types = links.texts("op_type")
    updates, multiplies = types.passing(_updates_weights), types.passing(_multiplies)
    told = np.flatnonzero((links["rank"] == rank) & (updates | multiplies))
    launched = links["start_ns"][told] - np.round(links["latency_us"][told] * 1e3).astype(np.int64)
    order = np.argsort(launched, kind="stable")
    launched, updates = launched[order], updates[told][order]
    passed = np.cumsum(~updates)
    after = updates & (passed > 0)
    found: Array = launched[after][group_by(passed[after]).first]
    return found


def _updates_weights(op_type: str) -> bool:
    return family_of(op_type) == "optimizer"


def _multiplies(op_type: str) -> bool:
    return family_of(op_type) in MULTIPLYING
