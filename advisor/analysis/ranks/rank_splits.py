# SPDX-License-Identifier: Apache-2.0
"""Where the time of each rank and step went, with what kernels that exchange inside wait as communication."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import row_at
from advisor.analysis.replay.removals import gains_without_communication
from advisor.facts.derived import Exchange, Overlap, RankSplit, Removal
from advisor.facts.table import Array, Table

_AS_MEASURED = (
    "rank",
    "step",
    "stage",
    "start_ns",
    "span_us",
    "overlapped_us",
    "free_us",
    "copy_us",
    "event_wait_us",
    "bubble_us",
)


def rank_splits(
    split: Table[Overlap], exchanged: Table[Exchange] | None, without: Table[Removal] | None = None
) -> Table[RankSplit]:
    """One row per rank and step; the parts still add up to the span."""
    if exchanged is None:
        waits = untold = np.full(len(split), np.nan)
    else:
        at = row_at(split["rank"], split["step"], exchanged["rank"], exchanged["step"])
        told = ~np.isnan(exchanged["bare_wait_us"])
        most = np.nan_to_num(split["compute_us"])
        waits = np.minimum(_sum_by_row(at, np.where(told, exchanged["bare_wait_us"], 0.0), len(split)), most)
        untold = np.minimum(_sum_by_row(at, np.where(told, 0.0, exchanged["bare_us"]), len(split)), most - waits)
    moved = np.nan_to_num(waits)
    return Table.build(
        RankSplit,
        **{name: split[name] for name in _AS_MEASURED},
        compute_us=split["compute_us"] - moved,
        comm_us=split["comm_us"] + moved,
        exposed_comm_us=split["exposed_comm_us"] + moved,
        untold_us=untold,
        inside_wait_us=waits,
        gain_without_comm_us=gains_without_communication(split["rank"], without) + moved,
    )


def _sum_by_row(at: Array, us: Array, rows: int) -> Array:
    """Per row: the sum of what lies in it."""
    inside = at >= 0
    return np.bincount(at[inside], us[inside], rows)
