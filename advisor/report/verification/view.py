# SPDX-License-Identifier: Apache-2.0
"""What is shown of a verification in one language."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from advisor.comparison.verification import Verification, Verifications
from advisor.messages.text import Language
from advisor.model.comparison import Change, Comparison, Shift, Status
from advisor.report.comparison.amounts import signed
from advisor.report.comparison.items import Items, Value
from advisor.report.comparison.words import STATUSES
from advisor.report.prose import Prose, clean, words
from advisor.report.verification.words import say
from advisor.units import show

MOST_AGAINST = 10
_ORDER: tuple[Status, ...] = ("gone", "better", "same", "worse", "not comparable")


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


class Row(Struct, frozen=True):
    """One of all findings."""

    status: str
    """The name of its colour: a status of a comparison."""
    word: str
    title: Prose
    rule: str
    fingerprint: str
    promised: str
    freed: str
    explained: str
    reason: Prose


class Summary(Struct, frozen=True):
    """All that is shown of the findings of a capture together."""

    language: Language
    worked: bool
    says: str
    step: str
    rows: tuple[Row, ...]
    against: tuple[Beside, ...]
    reasons: tuple[Prose, ...]


def view(verification: Verification, comparison: Comparison, language: Language) -> View:
    """What is shown; titles and names come from the comparison it rests on."""
    items = Items(comparison, language)
    change = comparison.change(verification.fingerprint)
    own = items.item(change) if change is not None else None
    return View(
        language=language,
        result=verification.result,
        says=say("got_worse" if verification.result == "worse" else verification.result, language),
        title=own.title if own else (),
        rule=clean(verification.rule),
        fingerprint=verification.fingerprint,
        amounts=tuple(_amounts(verification, language)),
        values=own.values if own else (),
        against=_beside(verification.against, items),
        reasons=tuple(words(clean(reason.say(language), 500)) for reason in verification.reasons),
    )


def summary(found: Verifications, comparison: Comparison, language: Language) -> Summary:
    """What is shown of all findings."""
    items = Items(comparison, language)
    return Summary(
        language=language,
        worked=found.worked,
        says=_counted(found, language),
        step=_of_step(found.step, language),
        rows=tuple(_row(one, items) for one in found.findings),
        against=_beside([one for one in found.against if one.status == "new"], items),
        reasons=tuple(words(clean(reason.say(language), 500)) for reason in found.reasons),
    )


def _counted(found: Verifications, language: Language) -> str:
    """How many findings there were, and what became of how many."""
    if not found.findings:
        return say("nothing", language)
    counts = ((status, found.having(status)) for status in _ORDER)
    said = (
        say("count_of", language, count=count, status=status_word(status, language))
        for status, count in counts
        if count
    )
    return say("all_are", language, total=len(found.findings), counts=say("listed", language).join(said))


def _of_step(step: Shift | None, language: Language) -> str:
    """The step before and after, and what it won."""
    if step is None:
        return say("no_step", language)
    before, after = show(step.before_us, "us"), show(step.after_us, "us")
    return say(f"step_{step.status}", language, before=before, after=after, delta=show(abs(step.delta_us), "us"))


def _row(one: Verification, items: Items) -> Row:
    language, change = items.language, items.comparison.change(one.fingerprint)
    reason = change.reason if change is not None else None
    return Row(
        status=one.status,
        word=status_word(one.status, language),
        title=items.item(change).title if change is not None else (),
        rule=clean(one.rule),
        fingerprint=one.fingerprint,
        promised=show(one.promised_us, "us") if one.promised_us > 0 else "–",
        freed=_shown(one.freed_us, one.promised_us),
        explained=_shown(one.explained_us, one.promised_us),
        reason=words(clean(reason.say(language), 500)) if reason is not None else (),
    )


def status_word(status: Status, language: Language) -> str:
    """What became of a finding; one whose rule could not look again was not measured."""
    return say("not measured", language) if status == "not comparable" else STATUSES[status].say(language)


def _shown(us: float | None, promised: float) -> str:
    """A time; a dash where it is not known, or the finding had none to begin with."""
    return "–" if us is None or promised <= 0 else signed(us) if us < 0 else show(us, "us")


def _beside(changes: Sequence[Change], items: Items) -> tuple[Beside, ...]:
    beside = [(items.item(other), other) for other in changes[:MOST_AGAINST]]
    return tuple(
        Beside(item.title, item.rule, STATUSES[other.status].say(items.language), item.saving) for item, other in beside
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
        Amount(say("explained", language), _known(verification.explained_us, language)),
    ]


def _known(us: float | None, language: Language) -> str:
    return say("unknown", language) if us is None else signed(us) if us < 0 else show(us, "us")


def _part(us: float | None, promised: float, language: Language) -> str:
    """Which part of the promise this is; nothing where nothing was promised or nothing won."""
    if us is None or us <= 0 or promised <= 0:
        return ""
    return say("of_promise", language, share=show(us / promised, "share"))
