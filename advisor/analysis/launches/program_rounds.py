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
from advisor.facts.observed import HostCall, Kernel
from advisor.facts.table import Array, Table, Texts, ascending


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
    for kind in ("data_loader", "graph"):
        begins = np.flatnonzero(own & kinds.isin([kind]))
        if len(begins):
            return ascending(calls["start_ns"][begins])
    return _updates_after_launches(links, rank)


def number_rounds(kernels: Table[Kernel] | None, rank: Array, step: Array, start_ns: Array) -> Array:
    """Per moment of a rank on the device: its step, where the rank has steps; else the number of the round it lies in,
    by the updates of weights. Missing where neither is known.

    A round begins with an update, so that what it computes before the next one is whole.
    """
    found = step.copy()
    if kernels is None:
        return found
    for one in np.unique(rank[step == MISSING]).tolist():
        here, own = rank == one, np.flatnonzero(kernels["rank"] == one)
        if (step[here] != MISSING).any() or (kernels["step"][own] != MISSING).any():
            continue
        begins = _begins_of_updates(kernels.texts("op_type").take(own), kernels["start_ns"][own])
        if len(begins):
            found[here] = np.searchsorted(begins, start_ns[here], "right")
    return found


def _updates_after_launches(links: Table[Dispatch] | None, rank: int) -> Array:
    """When a program launched the first kernel of each update of its weights, in order of time, ns."""
    if links is None:
        return NO_BORDERS
    own = np.flatnonzero(links["rank"] == rank)
    launched = links["start_ns"][own] - np.round(links["latency_us"][own] * 1e3).astype(np.int64)
    return _begins_of_updates(links.texts("op_type").take(own), launched)


def _begins_of_updates(types: Texts, moment_ns: Array) -> Array:
    """When the first kernel of an optimizer comes each time after others have multiplied, in order of time, ns.

    By what follows each multiplication, so that an optimizer of hundreds of kernels begins one round and no hundreds.
    """
    updates = types.passing(_updates_weights)
    told = np.flatnonzero((updates | types.passing(_multiplies)) & (moment_ns != MISSING))
    order = told[np.argsort(moment_ns[told], kind="stable")]
    moment, updates = moment_ns[order], updates[order]
    passed = np.cumsum(~updates)
    after = updates & (passed > 0)
    found: Array = moment[after][group_by(passed[after]).first]
    return found


def _updates_weights(op_type: str) -> bool:
    return family_of(op_type) == "optimizer"


def _multiplies(op_type: str) -> bool:
    return family_of(op_type) in MULTIPLYING
