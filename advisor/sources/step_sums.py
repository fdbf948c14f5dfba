# SPDX-License-Identifier: Apache-2.0
"""Which of the times that a profiler summed up for steps can be times of steps."""

from __future__ import annotations

import numpy as np

from advisor.facts.observed import StepTime
from advisor.facts.table import Array, Table
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Notes

_TIMES = ("compute_us", "exposed_comm_us", "free_us")
"""They add up to the step."""
_DAY_US = 86_400e6
_APART = 100.0
"""Ranks go through a step together: in public summaries the longest of 16 takes 1.4 times as long as the shortest. A
hundred times is another unit."""
_OTHERS = 3
"""With fewer ranks nobody knows which of them is wrong."""


def usable_step_times(found: Table[StepTime], notes: Notes, file: str) -> Table[StepTime]:
    """The rows that can be times of steps, each step of a rank once; what is left out is noted."""
    repeated, disagreeing = _repeated_rows(found)
    impossible = _impossible_rows(found) & ~repeated & ~disagreeing
    for what, rows in (
        ("step_rows_repeated", repeated),
        ("step_rows_disagree", disagreeing),
        ("step_times_impossible", impossible),
    ):
        if count := int(np.count_nonzero(rows)):
            notes.add(file, "", Message(what), rows=count, share=count / len(found))
    return found.take(~(repeated | disagreeing | impossible))


def _repeated_rows(found: Table[StepTime]) -> tuple[Array, Array]:
    """Per row: whether it says again what an earlier one says; and whether another one of its step says otherwise."""
    keys = np.stack([found["rank"], found["step"]], axis=1)
    _, first, of = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    of = of.reshape(-1)  # NumPy 2.0 gives it the shape of the keys
    cells = np.stack([np.nan_to_num(found[name], nan=-1.0) for name in _TIMES], axis=1)
    same = (cells == cells[first[of]]).all(axis=1)
    disagree = np.bincount(of, weights=~same, minlength=len(first))[of] > 0
    again = np.ones(len(found), bool)
    again[first] = False
    return again & ~disagree, disagree


def _impossible_rows(found: Table[StepTime]) -> Array:
    """Per row: whether no step takes that long, or none does that the other ranks went through too."""
    span = np.sum([np.nan_to_num(found[name]) for name in _TIMES], axis=0)
    too_long = span > _DAY_US
    _, of, sizes = np.unique(found["step"], return_inverse=True, return_counts=True)
    ordered, last = span[np.lexsort((span, of))], np.cumsum(sizes) - 1
    usual = ((ordered[last - sizes // 2] + ordered[last - (sizes - 1) // 2]) / 2)[of]
    together = sizes[of] > _OTHERS
    apart = (span * _APART < usual) | (span > usual * _APART)
    impossible: Array = too_long | (together & (usual > 0) & apart)
    return impossible
