# SPDX-License-Identifier: Apache-2.0
"""How much of the kernel time was held against what the chip can do, and what the rest of it was."""

from __future__ import annotations

from advisor.messages.text import Language
from advisor.model.findings import Account, HeldTime
from advisor.report.prose import Prose, plain_prose
from advisor.report.words import say
from advisor.units import show_value

_HELD = ("roofline", "bandwidth")
_MOST = 4
_LEAST = 0.02
"""Smaller parts are not named: together they are what the sentence leaves out."""


def say_held(account: Account | None, language: Language, name: str = "held") -> Prose:
    """The part that was held against something, and the largest of the rest; empty where nothing tells the chip."""
    if account is None or not account.held:
        return ()
    held = sum(one.share for one in account.held if one.against in _HELD)
    rest = [one for one in account.held if one.against not in _HELD and one.share >= _LEAST][:_MOST]
    parts = say("comma", language).join(_say_rest(one, language) for one in rest)
    return plain_prose(say(name if rest else f"{name}_all", language, share=show_value(held, "share"), rest=parts))


def _say_rest(one: HeldTime, language: Language) -> str:
    called = say(f"unheld_{(one.against or 'no shapes').replace(' ', '_')}", language)
    return say("part", language, share=show_value(one.share, "share"), name=called)
