# SPDX-License-Identifier: Apache-2.0
"""The mean step in parts, ready to be said and drawn."""

from __future__ import annotations

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.findings import TimeSplit
from advisor.report.words import say
from advisor.units import show_value

LEAST_TOLD = 0.005
"""Below this part of the computation nothing is told of what it was: shares are rounded to as much."""


class TimePart(Struct, frozen=True):
    """One class of device time in a mean step."""

    key: str
    """`compute`, `comm` or `idle`: the name of its colour."""
    name: str
    time: str
    share: str
    percent: float
    notes: tuple[str, ...] = ()


def _exchanging(split: TimeSplit, language: Language) -> tuple[str, ...]:
    """What of the computation counts while ranks wait for each other, where that is more than a rounded share."""
    us = split.exchanging_us or 0.0
    return (say("exchange_note", language, time=show_value(us, "us")),) if us > LEAST_TOLD * split.compute_us else ()


def time_parts(split: TimeSplit | None, language: Language) -> tuple[TimePart, ...]:
    """The classes of device time, longest first; those without any time are left out."""
    if split is None:
        return ()
    hidden = say("hidden_note", language, time=show_value(split.overlapped_us, "us"))
    inside = [
        say(note, language, time=show_value(us, "us"))
        for note, us in (("copy_note", split.copy_us), ("wait_note", split.event_wait_us))
        if us is not None and us > 0
    ]
    within = [
        say("inside_wait_note", language, time=show_value(us, "us"))
        for us in (split.inside_wait_us,)
        if us is not None and us > LEAST_TOLD * split.step_us
    ]
    amounts = (
        ("compute", split.compute_us, (*([hidden] if split.overlapped_us > 0 else ()), *_exchanging(split, language))),
        ("comm", split.exposed_comm_us, tuple(within)),
        ("idle", split.free_us, tuple(inside)),
    )
    total = sum(max(us, 0.0) for _, us, _ in amounts)
    return tuple(
        TimePart(
            key,
            say(key, language),
            show_value(us, "us"),
            show_value(us / total, "share"),
            round(us / total * 100, 2),
            notes,
        )
        for key, us, notes in sorted(amounts, key=lambda amount: -amount[1])
        if us > 0
    )
