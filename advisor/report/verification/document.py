# SPDX-License-Identifier: Apache-2.0
"""A verification as a document: of one finding, or of all findings of a capture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from advisor.comparison.verification import Verification, Verifications
from advisor.messages.text import Language, Text
from advisor.model.comparison import Change, Comparison, Shift, Status
from advisor.report.blocks import Block, Document, Grid, Heading, Paragraph, bullets
from advisor.report.comparison.amounts import signed
from advisor.report.comparison.items import Items, Value
from advisor.report.comparison.words import STATUSES
from advisor.report.prose import Piece, Prose, Tone, clean, code, words
from advisor.report.verification.words import say
from advisor.units import show

MOST_AGAINST = 10
_ORDER: tuple[Status, ...] = ("gone", "better", "same", "worse", "not comparable")
_RESULTS: dict[str, Tone] = {"kept": "good", "partly": "warn", "not kept": "bad", "worse": "bad"}
_BECAME: dict[str, Tone] = {"gone": "good", "better": "good", "worse": "bad", "not comparable": "warn"}


def document(verification: Verification, comparison: Comparison, language: Language) -> Document:
    """Whether a fix worked, what was promised and what was won; titles and names come from the comparison."""
    return Document(language, tuple(_one(verification, Items(comparison, language))), comparison.after.version)


def document_of_all(found: Verifications, comparison: Comparison, language: Language) -> Document:
    """What became of each finding, and how much of a shorter step each explains at most."""
    return Document(language, tuple(_all(found, Items(comparison, language))), comparison.after.version)


def _one(verification: Verification, items: Items) -> Iterator[Block]:
    language, result = items.language, verification.result
    change = items.comparison.change(verification.fingerprint)
    own = items.item(change) if change is not None else None
    says = say("got_worse" if result == "worse" else result, language)
    yield Heading((Piece(says, tone=_RESULTS.get(result, "")),), 1)
    yield Paragraph(_named(own.title if own else (), verification))
    yield Grid(((), words(say("per_step", language)), ()), tuple(_amounts(verification, language)))
    if own is not None and own.values:
        yield Heading(words(say("watched", language)))
        heads = tuple(words(say(name, language)) for name in ("value", "before", "after", "threshold"))
        yield Grid(heads, tuple(map(_value, own.values)))
    yield from _beside(verification.against, verification.reasons, items)


def _named(title: Prose, one: Verification) -> Prose:
    return (*title, Piece(" — "), *code(one.rule), Piece(" "), *code(one.fingerprint))


def _value(value: Value) -> tuple[Prose, ...]:
    return (value.label, value.before, value.after, words(value.threshold or "–"))


def _all(found: Verifications, items: Items) -> Iterator[Block]:
    language = items.language
    yield Heading((Piece(_counted(found, language), tone="good" if found.worked else "bad"),), 1)
    yield Paragraph(words(_of_step(found.step, language)))
    if found.findings:
        names = ("became", "finding", "promised_short", "freed_short", "explained_short")
        heads = tuple(words(say(name, language)) for name in names)
        yield Grid(heads, tuple(_row(one, items) for one in found.findings), subject=1)
        yield Paragraph((Piece(say("no_sum", language), tone="quiet"),))
    yield from _beside([one for one in found.against if one.status == "new"], found.reasons, items)


def _row(one: Verification, items: Items) -> tuple[Prose, ...]:
    language, change = items.language, items.comparison.change(one.fingerprint)
    title = items.item(change).title if change is not None else ()
    reason = change.reason if change is not None else None
    why = words(f" ({clean(reason.say(language), 500)})") if reason is not None else ()
    return (
        (Piece(status_word(one.status, language), tone=_BECAME.get(one.status, "")),),
        (*_named(title, one), *why),
        words(show(one.promised_us, "us") if one.promised_us > 0 else "–"),
        words(_shown(one.freed_us, one.promised_us)),
        words(_shown(one.explained_us, one.promised_us)),
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


def status_word(status: Status, language: Language) -> str:
    """What became of a finding; one whose rule could not look again was not measured."""
    return say("not measured", language) if status == "not comparable" else STATUSES[status].say(language)


def _shown(us: float | None, promised: float) -> str:
    """A time; a dash where it is not known, or the finding had none to begin with."""
    return "–" if us is None or promised <= 0 else signed(us) if us < 0 else show(us, "us")


def _beside(changes: Sequence[Change], reasons: Iterable[Text], items: Items) -> Iterator[Block]:
    """What came or grew meanwhile, and what limits the answer."""
    language = items.language
    if changes:
        yield Heading(words(say("against", language)))
        yield from bullets(_other(change, items) for change in changes[:MOST_AGAINST])
    if said := [words(clean(reason.say(language), 500)) for reason in reasons]:
        yield Heading(words(say("reasons", language)))
        yield from bullets(said)


def _other(change: Change, items: Items) -> Prose:
    item = items.item(change)
    about = ", ".join(filter(None, [STATUSES[change.status].say(items.language), item.saving]))
    return (*item.title, Piece(f" ({about}) "), *code(item.rule))


def _amounts(verification: Verification, language: Language) -> Iterator[tuple[Prose, ...]]:
    """The times that are set side by side: what they are, how much, and what part of the promise."""
    promised, won, step = verification.promised_us, verification.won_us, verification.step
    moved = f"{show(step.before_us, 'us')} → {show(step.after_us, 'us')}" if step is not None else ""
    named = (
        ("promised", show(promised, "us") if promised > 0 else say("not_estimated", language), ""),
        ("freed", _known(verification.freed_us, language), _part(verification.freed_us, promised, language)),
        ("won", _known(won, language), "  ".join(filter(None, [_part(won, promised, language), moved]))),
        ("explained", _known(verification.explained_us, language), ""),
    )
    for name, time, note in named:
        yield words(say(name, language)), words(time), (Piece(note, tone="quiet"),) if note else ()


def _known(us: float | None, language: Language) -> str:
    return say("unknown", language) if us is None else signed(us) if us < 0 else show(us, "us")


def _part(us: float | None, promised: float, language: Language) -> str:
    """Which part of the promise this is; nothing where nothing was promised or nothing won."""
    if us is None or us <= 0 or promised <= 0:
        return ""
    return say("of_promise", language, share=show(us / promised, "share"))
