# SPDX-License-Identifier: Apache-2.0
"""Several captures with one rank number, whatever the profiler: were they recorded at once, and what the run notes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from advisor.model.run import InputNote

CLOCKS_APART_NS = 60_000_000_000
"""Hosts that keep their clocks by NTP differ by far less than this; a job is not started again as soon."""


class ProcessRecording(NamedTuple):
    """From when to when a process recorded, ns since the epoch; 0 for what is not known."""

    began_ns: int
    ended_ns: int

    @property
    def _length_ns(self) -> int:
        return self.ended_ns - self.began_ns


def are_at_once(one: ProcessRecording, other: ProcessRecording) -> bool:
    """Whether two processes recorded at one time: where they share more than half of the shorter recording. What began
    in the same ns is one recording, copied or written again under another name, or cut short by that."""
    if not all((one.began_ns, one.ended_ns, other.began_ns, other.ended_ns)):
        return False
    if one.began_ns == other.began_ns:
        return False
    shared = min(one.ended_ns, other.ended_ns) - max(one.began_ns, other.began_ns)
    return shared > min(one._length_ns, other._length_ns) / 2


def count_at_once(one: ProcessRecording, others: Iterable[ProcessRecording]) -> int:
    """How many of these other captures were recorded at the same time as this one."""
    return sum(are_at_once(one, other) for other in others)


def processes_at_once(recordings: Sequence[ProcessRecording]) -> list[list[int]]:
    """The places of recordings that were made at one time, directly or by way of others; the latest of these first.

    Where one of them does not tell its time, any two may have been made at once.
    """
    if not all(one.began_ns and one.ended_ns for one in recordings):
        return [[*range(len(recordings))]]
    left = sorted(range(len(recordings)), key=lambda place: recordings[place], reverse=True)
    groups: list[list[int]] = []
    while left:
        group = [left.pop(0)]
        for known in group:
            near = [place for place in left if are_at_once(recordings[known], recordings[place])]
            left = [place for place in left if place not in near]
            group += near
        groups.append(sorted(group))
    return groups


def are_of_newest_moment(recordings: Sequence[ProcessRecording]) -> list[bool]:
    """Which of these were recorded with the newest; of the others it is known that they had ended before."""
    newest_ns = max(one.began_ns for one in recordings)
    return [not one.ended_ns or not newest_ns or one.ended_ns + CLOCKS_APART_NS >= newest_ns for one in recordings]


def notes_on_choice(chosen: Sequence[str], others: int, at_once: int) -> tuple[InputNote, ...]:
    """What a run says of captures that were chosen among several of their ranks: their names, how many others there
    are, and how many of those another process recorded at the same time."""
    told = (
        InputNote(about="other_captures", count=others),
        InputNote(about="chosen", names=tuple(chosen)),
        *([InputNote(about="at_once_captures", count=at_once)] if at_once else []),
    )
    return told if others else ()
