# SPDX-License-Identifier: Apache-2.0
"""Operators that autograd numbered, as every profiler of PyTorch writes them."""

from __future__ import annotations

from advisor.facts.observed import AutogradCall
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.sources.files.collected_events import Tracks
from advisor.sources.files.timeline import AutogradNumbers


def table_of_numbers(
    rank: int, tracks: Tracks, numbers: AutogradNumbers, *, track: Array, start: Array, end: Array
) -> Table[AutogradCall]:
    """What of the slices of a timeline is numbered; `track`, `start` and `end` are those of all slices.

    Raises:
        FactMissing: Nothing is.
    """
    if not len(numbers.row):
        raise FactMissing([AutogradCall.table])
    table = Table.build(
        AutogradCall,
        rank=rank,
        thread=tracks.number[track[numbers.row]],
        number=numbers.number,
        backward=numbers.backward,
        start_ns=start[numbers.row],
        end_ns=end[numbers.row],
    )
    return table.sorted_by("start_ns")
