# SPDX-License-Identifier: Apache-2.0
"""Hardware counters of kernels: columns of kernel_details.csv, rows of TASK_PMU_INFO in the database."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from msgspec import Struct

from advisor.facts.table import Array, Values
from advisor.sources.files.database import Database, Only, distinct_ids, match_keys


class Counter(Struct, frozen=True):
    """A number made of several counters, each in the spellings met, the best first: the largest of them, or the sum.

    The cube and the vector core of newer chips count apart, with `aic_` and `aiv_` before the name.
    """

    parts: tuple[tuple[str, ...], ...]
    adds: bool = False
    factor: float = 1.0
    """What one is worth in the unit of the column, where the database leaves the unit to the heading of the text."""


def both_cores(name: str) -> tuple[tuple[str, ...], ...]:
    """The spellings of a counter that older chips have once and newer ones for each kind of core."""
    return ((f"aic_{name}", name), (f"aiv_{name}",))


def merged_counter(columns: Mapping[str, Values], counter: Counter) -> Array | None:
    """Row by row what a text file says of a counter; None where it has none of its columns.

    The columns stand under the best spelling of each part.
    """
    merged: Array | None = None
    for values in (columns[spellings[0]] for spellings in counter.parts if spellings[0] in columns):
        assert isinstance(values, np.ndarray)  # noqa: S101 - counters are numbers
        merged = values if merged is None else _joined(merged, values, adds=counter.adds)
    return merged


def _joined(one: Array, other: Array, *, adds: bool) -> Array:
    """The larger of two, or their sum; what is missing in one is what the other says."""
    if not adds:
        found: Array = np.fmax(one, other)
        return found
    return np.where(np.isnan(one) | np.isnan(other), np.fmax(one, other), one + other)


def counters_of_tasks(database: Database, task: Array, counters: Mapping[str, Counter]) -> dict[str, Array]:
    """The counters of each task by name; none where nothing of them was recorded."""
    if not {"globalTaskId", "name", "value"} <= set(database.fields("TASK_PMU_INFO")):
        return {}
    wanted = {name: [s for spellings in counter.parts for s in spellings] for name, counter in counters.items()}
    names = [s for spellings in wanted.values() for s in spellings]
    marks = ",".join("?" * len(names))
    number = {v: i for i, v in database.rows(f"SELECT id, value FROM STRING_IDS WHERE value IN ({marks})", *names)}  # noqa: S608
    owner = {number[s]: name for name, spellings in wanted.items() for s in spellings if s in number}
    if not owner:
        return {}
    counted = database.numbers("TASK_PMU_INFO", _COUNTED, {"value"}, Only("name", tuple(owner)))
    ids, of_task = distinct_ids(task)
    place = match_keys(ids, counted.pop("task"))
    found = {}
    for name, counter in counters.items():
        rows = np.isin(counted["counter"], [i for i, of in owner.items() if of == name])
        rows &= ~np.isnan(counted["value"]) & (place >= 0)
        merged = np.full(len(ids), np.nan)
        values = counted["value"][rows] * counter.factor
        if counter.adds:
            merged[place[rows]] = 0
            np.add.at(merged, place[rows], values)
        else:
            np.fmax.at(merged, place[rows], values)
        found[name] = merged[of_task]
    return found


_COUNTED = {"task": ["globalTaskId"], "counter": ["name"], "value": ["value"]}
