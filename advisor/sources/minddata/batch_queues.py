# SPDX-License-Identifier: Apache-2.0
"""BatchQueue: how many batches lay ready for each step, on the host and, where data is sunk, on the device.

`device_queue_profiling_*.txt` and `dataset_iterator_profiling_*.txt` hold a line `1 <capacity> <step> <size>` for each
look at the queue of the host, and before it times in whole ms: `0 0 <step> <time> …` is how long a loop that takes its
batches itself waited for this one (of a queue that sends ahead of the steps it says nothing of them).
`minddata_aicpu_*.txt` holds a line `GetNext_dequeue_wait <start> <end> <size>` for each look at the one of the device.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from advisor.facts.observed import BatchQueue
from advisor.facts.table import Table
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.jsonfile import as_integer, as_number
from advisor.sources.files.text_lines import read_words
from advisor.sources.minddata.numbers_gone import note_numbers_gone, note_sizes_gone

_TIMES, _SIZES = "0", "1"
_OF_PIPELINE = "0"
"""Of the times that to get a batch from the dataset."""
_LONGEST_MS = 86_400_000.0
_LAST_STEP = 10**9
_MOST_BATCHES = 10**9


class QueueLook(NamedTuple):
    """How many batches one queue held when a step began."""

    queue: str
    sunk: bool
    step: int
    size: int
    capacity: float
    taken_us: float = math.nan
    """How long the loop waited for the batch."""


def host_looks(path: Path, notes: Notes, *, sunk: bool) -> Iterator[QueueLook]:
    """The looks at the queue of the host.

    Raises:
        Unreadable: The file cannot be opened, or is empty.
    """
    odd, timed, sized, taken = 0, set[int](), set[int](), dict[int, float]()
    for words in read_words(path, notes):
        if words[0] == _TIMES:
            timed |= {step for word in words[2:3] if (step := as_integer(word)) is not None and step > 0}
            if not sunk and words[1:2] == [_OF_PIPELINE]:
                taken |= _time_of_batch(words)
            continue
        numbers = [as_integer(word) for word in words[1:4]]
        capacity, step, size = numbers if len(numbers) == 3 else (None, None, None)  # noqa: PLR2004 - three numbers
        if words[0] != _SIZES or not _usable(step, size) or capacity is None or capacity < 0:
            odd += 1
        else:
            sized.add(step or 0)
            room = float(capacity) if capacity else math.nan
            yield QueueLook("host", sunk, step or 0, size or 0, room, taken.pop(step or 0, math.nan))
    _note_odd_lines(path, notes, odd)
    note_sizes_gone(path, timed, sized, notes)
    note_numbers_gone(path, sized, notes)


def _time_of_batch(words: list[str]) -> dict[int, float]:
    """How long the loop waited for a batch, µs by its number; nothing where the line does not say it."""
    if len(words) < 4:  # noqa: PLR2004 - two kinds, number and time
        return {}
    step, ms = as_integer(words[2]), as_number(words[3])
    return {step: ms * 1e3} if step is not None and 0 <= ms < _LONGEST_MS else {}


def device_looks(path: Path, notes: Notes) -> Iterator[QueueLook]:
    """The looks at the queue of the device, numbered in their order: one for each step.

    Raises:
        Unreadable: The file cannot be opened, or is empty.
    """
    odd, step = 0, 0
    for words in read_words(path, notes):
        if not words[0].startswith("GetNext"):
            continue
        step += 1
        size = as_integer(words[3]) if len(words) > 3 else None  # noqa: PLR2004 - name, start, end, size
        if _usable(step, size):
            yield QueueLook("device", sunk=True, step=step, size=size or 0, capacity=math.nan)
        else:
            odd += 1
    _note_odd_lines(path, notes, odd)


def _usable(step: int | None, size: int | None) -> bool:
    return step is not None and size is not None and 0 < step < _LAST_STEP and 0 <= size < _MOST_BATCHES


def _note_odd_lines(path: Path, notes: Notes, odd: int) -> None:
    if odd:
        notes.add(path.name, "", Message("line_unusable"), rows=odd)


def queue_table(rank: int, looks: list[QueueLook]) -> Table[BatchQueue]:
    """The looks as a fact."""
    return Table.build(
        BatchQueue,
        rank=[rank] * len(looks),
        step=[look.step for look in looks],
        queue=[look.queue for look in looks],
        sunk=[int(look.sunk) for look in looks],
        size=[float(look.size) for look in looks],
        capacity=[look.capacity for look in looks],
        taken_us=[look.taken_us for look in looks],
    ).sorted_by("step")


def read_looks(files: dict[str, Path], notes: Notes) -> tuple[list[QueueLook], list[str]]:
    """The looks of both queues, and the files that cannot be read. Where data is sunk, that queue counts."""
    looks, unreadable = list[QueueLook](), list[str]()
    host = "sunk_batches" if "sunk_batches" in files else "iterated_batches"
    for kind in (host, "device_batches"):
        if kind not in files:
            continue
        try:
            path = files[kind]
            looks += (
                device_looks(path, notes)
                if kind == "device_batches"
                else host_looks(path, notes, sunk=kind == "sunk_batches")
            )
        except Unreadable as wrong:
            unreadable.append(wrong.file)
    return looks, unreadable
