# SPDX-License-Identifier: Apache-2.0
"""How much of the kernel time was held against what the chip can do, and what the rest of it was."""

from __future__ import annotations

from advisor.messages.text import Language
from advisor.model.findings import Account, HeldTime
from advisor.model.run import Run
from advisor.report.prose import BETWEEN_SENTENCES, Prose, join_prose, parse_prose, plain_prose
from advisor.report.words import say
from advisor.units import show_value

_HELD = ("roofline", "bandwidth")
HARDLY = 0.10
"""Where less of the kernel time was held against the chip, nobody knows whether its kernels could be quicker: what is
a tenth of them says nothing of the others."""
_MUCH = 0.20
"""How to judge the rest is said of what makes up this much of it."""
_TOLD_HOW = {"": "no_shapes", "custom": "custom", "short": "short"}
"""What can be done so that more is held, by the reason why it was not."""
_MOST = 4
_LEAST = 0.02
"""Smaller parts are not named: together they are what the sentence leaves out."""


def say_held(account: Account | None, language: Language, name: str = "held") -> Prose:
    """The part that was held against something, and the largest of the rest; empty where nothing tells the chip."""
    if account is None or not account.held:
        return ()
    rest = [one for one in account.held if one.against not in _HELD and one.share >= _LEAST][:_MOST]
    parts = say("comma", language).join(_say_rest(one, language) for one in rest)
    return plain_prose(say(name if rest else f"{name}_all", language, share=show_held(account), rest=parts))


def is_hardly_held(account: Account | None) -> bool:
    """Whether kernels ran of which next to nothing was held against what the chip can do, as where nothing names it."""
    if account is None:
        return False
    computes = any(one.part == "compute" and one.name for one in account.spent)
    return _held_share(account) < HARDLY if account.held else computes


def say_how_to_hold(account: Account, run: Run, language: Language) -> Prose:
    """What to tell or to record so that more of the kernel time can be judged; empty where nothing helps."""
    if not account.held:
        return parse_prose(say(f"hold_unknown_{run.device_family}", language))
    rest = (one for one in account.held if one.against in _TOLD_HOW and one.share >= _MUCH)
    said = (parse_prose(say(f"hold_{_TOLD_HOW[one.against]}", language)) for one in rest)
    return join_prose(BETWEEN_SENTENCES[language], said)


def show_held(account: Account) -> str:
    """The part of the kernel time that was held against something."""
    return show_value(_held_share(account), "share")


def _held_share(account: Account) -> float:
    return sum(one.share for one in account.held if one.against in _HELD)


def _say_rest(one: HeldTime, language: Language) -> str:
    called = say(f"unheld_{(one.against or 'no shapes').replace(' ', '_')}", language)
    return say("part", language, share=show_value(one.share, "share"), name=called)
