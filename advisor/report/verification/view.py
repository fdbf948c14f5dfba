# SPDX-License-Identifier: Apache-2.0
"""What is shown of a verification in one language."""

from __future__ import annotations

from msgspec import Struct

from advisor.comparison import Comparison
from advisor.report.comparison.amounts import signed
from advisor.report.comparison.items import Items, Value
from advisor.report.comparison.words import STATUSES
from advisor.report.prose import Prose, clean, words
from advisor.report.verification.words import say
from advisor.text import Language
from advisor.units import show
from advisor.verification import Verification

MOST_AGAINST = 10


class Amount(Struct, frozen=True):
    """One of the times that are set side by side."""

    name: str
    time: str
    note: str = ""


class Beside(Struct, frozen=True):
    """Another finding that came or grew meanwhile."""

    title: Prose
    rule: str
    status: str
    saving: str


class View(Struct, frozen=True):
    """All that is shown of a verification."""

    language: Language
    result: str
    says: str
    title: Prose
    rule: str
    fingerprint: str
    amounts: tuple[Amount, ...]
    values: tuple[Value, ...]
    against: tuple[Beside, ...]
    reasons: tuple[Prose, ...]


def view(verification: Verification, comparison: Comparison, language: Language) -> View:
    """What is shown; titles and names come from the comparison it rests on."""
    items = Items(comparison, language)
    change = comparison.change(verification.fingerprint)
    own = items.item(change) if change is not None else None
    beside = [(items.item(other), other) for other in verification.against[:MOST_AGAINST]]
    return View(
        language=language,
        result=verification.result,
        says=say("got_worse" if verification.result == "worse" else verification.result, language),
        title=own.title if own else (),
        rule=clean(verification.rule),
        fingerprint=verification.fingerprint,
        amounts=tuple(_amounts(verification, language)),
        values=own.values if own else (),
        against=tuple(
            Beside(item.title, item.rule, STATUSES[other.status].say(language), item.saving) for item, other in beside
        ),
        reasons=tuple(words(clean(reason.say(language), 500)) for reason in verification.reasons),
    )


def _amounts(verification: Verification, language: Language) -> list[Amount]:
    promised, won = verification.promised_us, verification.won_us
    step = verification.step
    moved = f"{show(step.before_us, 'us')} → {show(step.after_us, 'us')}" if step is not None else ""
    return [
        Amount(say("promised", language), show(promised, "us") if promised > 0 else say("not_estimated", language)),
        Amount(
            say("freed", language),
            _known(verification.freed_us, language),
            _part(verification.freed_us, promised, language),
        ),
        Amount(
            say("won", language),
            _known(won, language),
            "  ".join(filter(None, [_part(won, promised, language), moved])),
        ),
    ]


def _known(us: float | None, language: Language) -> str:
    return say("unknown", language) if us is None else signed(us) if us < 0 else show(us, "us")


def _part(us: float | None, promised: float, language: Language) -> str:
    """Which part of the promise this is; nothing where nothing was promised or nothing won."""
    if us is None or us <= 0 or promised <= 0:
        return ""
    return say("of_promise", language, share=show(us / promised, "share"))
