# SPDX-License-Identifier: Apache-2.0
"""Cells of communication files and of analysis.db, which says the same (`communication`), whole columns at once: words
that stand in many rows are read once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.table import Array, Texts
from advisor.sources.ascend.communication import step_number
from advisor.sources.ascend.groups import communicator_hash
from advisor.sources.files.names import bounded_name


def distinct_cells(cells: Sequence[object]) -> tuple[Array, list[Any]]:
    """Per cell the number of its value among the distinct ones, and these, in order of appearance. Values of different
    types are never the same."""
    typed = list(zip(map(type, cells), cells, strict=True))
    index = dict(zip(dict.fromkeys(typed), itertools.count(), strict=False))
    return np.fromiter(map(index.__getitem__, typed), np.intp, len(typed)), [value for _, value in index]


def texts_of_cells(cells: Sequence[object], read: Callable[[object], str | None]) -> Texts:
    """What each cell says as a text."""
    of, distinct = distinct_cells(cells)
    return Texts.of(map(read, distinct)).take(of)


def steps_of_cells(cells: Sequence[object]) -> Array:
    """The number in `step13`; missing where there is none."""
    of, distinct = distinct_cells(cells)
    numbers = [step_number(str(cell or "")) for cell in distinct]
    return np.array([MISSING if number is None else number for number in numbers], np.int64)[of]


def groups_of_cells(cells: Sequence[object]) -> Texts:
    """The communicators by their hashes."""
    return texts_of_cells(cells, lambda cell: communicator_hash(bounded_name(str(cell or ""))))


def number_rows(columns: Sequence[Array]) -> Array:
    """Per row the number of its values among the distinct ones, in their order by the first column, then the second."""
    order = np.lexsort(columns[::-1])
    new = np.zeros(len(order), bool)
    for column in columns:
        new[1:] |= np.diff(column[order]) != 0
    numbers = np.empty(len(order), np.intp)
    numbers[order] = np.cumsum(new)
    return numbers
