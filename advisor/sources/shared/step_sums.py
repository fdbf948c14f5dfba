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


_ROUGHLY = 0.05
"""How far apart communication and the sum of its parts are where nothing is wrong: up to 0.7 % in public summaries."""


def usable_step_times(found: Table[StepTime], notes: Notes, file: str, exposed: str) -> Table[StepTime]:
    """The rows that can be times of steps, each step of a rank once; what is left out is noted.

    `exposed` is what the file calls the communication that nothing overlaps.
    """
    found = _with_whole_communication(found, notes, file)
    lacking = np.isnan(found["exposed_comm_us"])
    if len(found) and lacking.all():
        notes.add(file, "", Message("lacks_column", column=exposed), kind="unreadable")
    elif count := int(np.count_nonzero(lacking)):
        notes.add(file, "", Message("no_usable_number", column=exposed), rows=count, share=count / len(found))
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


def _with_whole_communication(found: Table[StepTime], notes: Notes, file: str) -> Table[StepTime]:
    """With communication, and its part that nothing overlaps, where the rest tells them: it is the sum of both parts.

    Where all are told and contradict each other, the whole is missing and that is noted: steps are made of the parts.
    """
    whole, exposed, overlapped = (found[name] for name in ("comm_us", "exposed_comm_us", "overlapped_us"))
    exposed = np.where(np.isnan(exposed), np.maximum(whole - overlapped, 0), exposed)
    parts = exposed + overlapped
    wrong = np.abs(whole - parts) > _ROUGHLY * np.maximum(whole, parts) + 1
    wrong |= exposed > whole * (1 + _ROUGHLY) + 1
    if count := int(np.count_nonzero(wrong)):
        notes.add(file, "", Message("communication_contradicted"), rows=count, share=count / len(found))
    whole = np.where(wrong, np.nan, np.where(np.isnan(whole), parts, whole))
    return found.having(comm_us=whole, exposed_comm_us=exposed)


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
