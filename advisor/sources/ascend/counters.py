# SPDX-License-Identifier: Apache-2.0
"""Hardware counters of kernels: columns of kernel_details.csv, rows of TASK_PMU_INFO in the database."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

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
    ids, of_task = distinct_ids(task)
    merged = {name: np.full(len(ids), np.nan) for name in counters}
    number_of = {name: place for place, name in enumerate(counters)}
    known = np.array(sorted(owner))
    counter_of = np.array([number_of[owner[one]] for one in known.tolist()], np.int16)
    blocks = database.number_blocks("TASK_PMU_INFO", _COUNTED, {"value"}, Only("name", tuple(owner)))
    for block in _joined_blocks(blocks):  # there are tens of them for each task
        place = match_keys(ids, block["task"])
        kind = counter_of[np.searchsorted(known, block["counter"])]
        kind[np.isnan(block["value"]) | (place < 0)] = -1
        for name, counter in counters.items():
            rows = np.flatnonzero(kind == number_of[name])
            _merge_values(merged[name], place[rows], block["value"][rows] * counter.factor, adds=counter.adds)
    return {name: merged.pop(name)[of_task] for name in counters}


def _merge_values(merged: Array, place: Array, values: Array, *, adds: bool) -> None:
    """Takes values into what stands at these places: added to it, or the larger of the two."""
    if adds:
        first = place[np.isnan(merged[place])]
        merged[first] = 0
        np.add.at(merged, place, values)
    else:
        np.fmax.at(merged, place, values)


def _joined_blocks(blocks: Iterator[dict[str, Array]]) -> Iterator[dict[str, Array]]:
    """The same in fewer blocks: what is looked up of each costs as much for one row as for a million."""
    left: list[dict[str, Array]] = []
    for block in blocks:
        left.append(block)
        if sum(len(one["task"]) for one in left) >= _AT_ONCE:
            yield _join_columns(left)
    if left:
        yield _join_columns(left)


def _join_columns(blocks: list[dict[str, Array]]) -> dict[str, Array]:
    """The columns of these blocks, which are let go as they are taken over."""
    found = {name: np.concatenate([block.pop(name) for block in blocks]) for name in [*blocks[0]]}
    blocks.clear()
    return found


_AT_ONCE = 1 << 18
"""Values of counters that are looked up at a time."""
_COUNTED = {"task": ["globalTaskId"], "counter": ["name"], "value": ["value"]}
