# SPDX-License-Identifier: Apache-2.0
"""Which rank is held up most by its host in each step: ranks that meet in every step lose what the slowest one does.

Where loaders are slow, or Python collects garbage, now on one rank and now on another, no rank alone loses much.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.facts.derived import DelayTurn, LaunchDelay, Overlap
from advisor.facts.table import Array, Table, Texts


def delay_turns(held: Table[LaunchDelay], split: Table[Overlap]) -> Table[DelayTurn]:
    """One row per stage, step and kind of cost, of those that cost one rank more than the others of its stage.

    The steps of `split` are those that are compared; a rank without a row of a kind loses nothing by it, and a row
    without a cause is of no kind. What a rank loses in each of its steps is no turn of its.
    """
    at = row_at(split["rank"], split["step"], held["rank"], held["step"])
    known = (at >= 0) & (held.texts("cause").codes >= 0)
    held, at = held.take(known), at[known]
    causes = held.texts("cause").in_use()
    kinds = len(causes.names)
    lost = np.zeros((len(split), kinds))
    np.add.at(lost, (at, causes.codes), np.nan_to_num(held["lost_us"]))
    row, code, flat = np.repeat(np.arange(len(split)), kinds), np.tile(np.arange(kinds), len(split)), lost.ravel()
    cells = group_by(split["stage"][row], split["step"][row], code)
    usual = cells.medians_of_others(flat)
    most = cells.first_rows(split["rank"][row], -flat)
    row, code = row[most], code[most]
    beyond = flat[most] - np.maximum(usual[most], _least_us_of_ranks(split, lost)[row, code])
    imposed = np.clip(beyond, 0.0, waited_us_for_ranks(split)[row])
    ranks, steps = group_by(split["rank"][row], code), group_by(split["rank"])
    table = Table.build(
        DelayTurn,
        rank=split["rank"][row],
        step=split["step"][row],
        stage=split["stage"][row],
        cause=Texts(code.astype(np.int32), causes.names),
        ranks=cells.sizes.astype(np.float64),
        lost_us=flat[most],
        usual_lost_us=usual[most],
        imposed_us=imposed,
        rank_imposed_us=ranks.sums(imposed)[ranks.of] / steps.sizes[steps.of[row]],
    )
    return table.take(imposed > 0)


def _least_us_of_ranks(split: Table[Overlap], lost: Array) -> Array:
    """Per rank and step, and kind of cost: what the rank loses by it in each of its steps, its last one among them only
    where some rank loses anything in it: what is lost between two steps is counted to the earlier one.
    """
    own, cells = group_by(split["rank"]), group_by(split["stage"], split["step"])
    last = split["step"] == own.largest(split["step"].astype(np.float64))[own.of]
    found = np.empty_like(lost)
    for code in range(lost.shape[1]):
        untold = last & (cells.largest(lost[:, code])[cells.of] == 0)
        found[:, code] = own.smallest(np.where(untold, np.nan, lost[:, code]))[own.of]
    return np.nan_to_num(found)


def waited_us_for_ranks(split: Table[Overlap]) -> Array:
    """Per rank and step: by how much the others of its stage communicate longer, on average, in it or in the next.

    What a host loses between two steps is counted to the earlier one; the others wait for it in the later one.
    """
    exposed = split["exposed_comm_us"]
    longer = group_by(split["stage"], split["step"]).means_of_others(exposed) - exposed
    order = np.lexsort((split["step"], split["rank"]))
    following = np.full(len(split), np.nan)
    same = np.diff(split["rank"][order]) == 0
    following[order[:-1][same]] = longer[order[1:][same]]
    return np.asarray(np.maximum(np.nan_to_num(np.fmax(longer, following)), 0.0))
