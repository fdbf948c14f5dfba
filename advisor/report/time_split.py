# SPDX-License-Identifier: Apache-2.0
"""The mean step in parts, ready to be said and drawn."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from advisor.messages.text import Language, Text
from advisor.model.findings import TimeSplit
from advisor.report.prose import StepPart
from advisor.report.words import WORDS, say
from advisor.units import show_value

COLOURS: Mapping[str, StepPart] = {"compute": "compute", "communication": "comm", "free": "idle"}
"""The parts of a step as accounts name them, and their colours."""
PARTS: Mapping[str, Text] = {part: WORDS[name] for part, name in COLOURS.items()}
"""What reports call them."""
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


def _say_times(language: Language, *told: tuple[str, float | None, float]) -> tuple[str, ...]:
    """Notes on times, µs, where these are known and more than the least that is told of each."""
    known = ((name, us) for name, us, least in told if us is not None and us > least)
    return tuple(say(name, language, time=show_value(us, "us")) for name, us in known)


def time_parts(split: TimeSplit | None, language: Language) -> tuple[TimePart, ...]:
    """The classes of device time, longest first; those without any time are left out."""
    if split is None:
        return ()
    hidden = ("hidden_note", split.overlapped_us, 0.0)
    exchanging = ("exchange_note", split.exchanging_us, LEAST_TOLD * split.compute_us)
    within = ("inside_wait_note", split.inside_wait_us, LEAST_TOLD * split.step_us)
    inside = (("copy_note", split.copy_us, 0.0), ("wait_note", split.event_wait_us, 0.0))
    amounts = (
        ("compute", split.compute_us, _say_times(language, hidden, exchanging)),
        ("comm", split.exposed_comm_us, _say_times(language, within)),
        ("idle", split.free_us, _say_times(language, *inside)),
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
