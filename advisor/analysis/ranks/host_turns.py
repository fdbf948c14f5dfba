# SPDX-License-Identifier: Apache-2.0
"""Which rank's host is furthest behind in each step: ranks that meet in every step lose what that one does.

Pauses that no call names, or processes that take the cores away now here and now there, hold up another rank in each
step. Over all steps no rank alone loses much.
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.ranks.delay_turns import waited_us_for_ranks
from advisor.facts.derived import HostTurn, LaunchDelay, Overlap
from advisor.facts.table import Array, Table

_WAITS = ("read", "synchronise")
"""After these a host that is behind starts afresh. A value that is read is waited for as well, so both say the same
time."""


def host_turns(held: Table[LaunchDelay], split: Table[Overlap]) -> Table[HostTurn]:
    """One row per stage and step of two or more ranks. The steps of `split` are those that are compared."""
    held = held.take(held.texts("cause").isin(("host", *_WAITS)))
    at = row_at(split["rank"], split["step"], held["rank"], held["step"])
    held, at = held.take(at >= 0), at[at >= 0]
    by_cause = {
        cause: np.bincount(at, np.nan_to_num(held["lost_us"]) * held.texts("cause").isin([cause]), len(split))
        for cause in ("host", *_WAITS)
    }
    lost = by_cause["host"] + np.maximum.reduce([by_cause[wait] for wait in _WAITS])
    pause = _longest_pauses(held, at, len(split))
    steps, ranks, stages = group_by(split["stage"], split["step"]), group_by(split["rank"]), group_by(split["stage"])
    usual = steps.medians_of_others(lost)
    mean = ranks.means(lost)[ranks.of]
    last = steps.first_rows(split["rank"], -lost)
    last = last[steps.sizes[steps.of[last]] > 1]
    imposed = np.clip(lost - usual, 0.0, waited_us_for_ranks(split))
    return Table.build(
        HostTurn,
        **{name: split[name][last] for name in ("rank", "step", "stage")},
        ranks=steps.sizes[steps.of[last]].astype(np.float64),
        lost_us=lost[last],
        usual_lost_us=usual[last],
        imposed_us=imposed[last],
        held_up_us=(usual + imposed)[last],
        pause_us=pause[last],
        rank_lost_us=mean[last],
        most_lost_us=stages.largest(mean)[stages.of[last]],
        least_lost_us=stages.smallest(_of_inner_steps(split, lost))[stages.of[last]],
    )


def _of_inner_steps(split: Table[Overlap], values: Array) -> Array:
    """The values of steps between the first and the last of their stage; all of them where it has none between.

    A step at the edge lacks a pause, the last one that before a next step, so it loses less than any whole one.
    """
    stages, step = group_by(split["stage"]), split["step"].astype(np.float64)
    inner = (step > stages.smallest(step)[stages.of]) & (step < stages.largest(step)[stages.of])
    has_inner = stages.largest(inner.astype(np.float64))[stages.of] > 0
    return np.where(inner | ~has_inner, values, np.nan)


def _longest_pauses(held: Table[LaunchDelay], at: Array, cells: int) -> Array:
    """Per rank and step: the longest pause of kind `host`; missing without any."""
    longest = np.full(cells, np.nan)
    own = held.texts("cause").isin(["host"])
    np.fmax.at(longest, at[own], held["longest_us"][own])
    return longest
