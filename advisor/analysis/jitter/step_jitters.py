# SPDX-License-Identifier: Apache-2.0
"""What makes steps of a rank longer than others and is not the doing of another rank."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.communication.transfer_paces import slow_transfers
from advisor.analysis.jitter.step_variations import part_beyond_usual
from advisor.facts.derived import CollectiveCall, Overlap, StepJitter, StepVariation
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table, values_at


def step_jitters(
    variations: Table[StepVariation],
    split: Table[Overlap] | None,
    calls: Table[CollectiveCall] | None = None,
    windows: Table[StepWindow] | None = None,
) -> Table[StepJitter]:
    """One row per rank and step.

    A rank that is held up makes its step longer and waits for nobody; the others communicate longer in that step than
    in others, beyond what the one does that communicates least: that is their wait for it, and told with it.
    """
    made_of = _parts_of_steps(variations, split)
    waited = np.zeros(len(variations)) if split is None else _waited_us(variations, made_of["exposed_comm_us"])
    taken = part_beyond_usual(variations["rank"], waited, waited <= 0, variations["left_us"])
    left = variations["left_us"] - taken
    slower = np.zeros(len(variations)) if calls is None else _slower_us(variations, calls, windows)
    moved = part_beyond_usual(variations["rank"], slower, slower <= 0, left)
    every = {name: variations[name] for name in StepVariation.columns() if name != "left_us"}
    return Table.build(StepJitter, **every, **made_of, waited_us=taken, moved_us=moved, left_us=left - moved)


def _slower_us(
    variations: Table[StepVariation], calls: Table[CollectiveCall], windows: Table[StepWindow] | None
) -> Array:
    """Per rank and step: how much longer data of equal collectives move than in quick steps, no kernel beside them."""
    found = slow_transfers(calls, windows)
    at = row_at(found.cells.rank[found.cell], found.cells.step[found.cell], variations["rank"], variations["step"])
    return values_at(found.bare_excess_us, at, 0.0)


def _parts_of_steps(variations: Table[StepVariation], split: Table[Overlap] | None) -> dict[str, Array]:
    """Per rank and step what it is made of, missing where that is not known."""
    names = ("compute_us", "exposed_comm_us", "free_us")
    if split is None:
        return {name: np.full(len(variations), np.nan) for name in names}
    at = row_at(split["rank"], split["step"], variations["rank"], variations["step"])
    return {name: values_at(split[name], at, np.nan) for name in names}


def _waited_us(variations: Table[StepVariation], exposed: Array) -> Array:
    """Per rank and step: exposed communication beyond the usual of the rank, less what every rank has of it."""
    exposed = np.nan_to_num(exposed)
    beyond = np.maximum(exposed - group_by(variations["rank"]).medians_of_others(exposed), 0.0)
    beyond = np.nan_to_num(beyond)
    steps = group_by(variations["step"])
    return np.asarray(beyond - steps.smallest(beyond)[steps.of])
