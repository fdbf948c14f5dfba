# SPDX-License-Identifier: Apache-2.0
"""A verification as a document: of one finding, or of all findings of a capture."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from advisor.comparison.verification import PromiseResult, Verification, Verifications
from advisor.messages.text import Language, Text
from advisor.model.comparison import Change, Comparison, Shift, Status
from advisor.report.blocks import Block, Document, Grid, Heading, Paragraph, bullet_list
from advisor.report.comparison.amounts import signed_amount
from advisor.report.comparison.apart import compared_times, say_barriers, say_both_times
from advisor.report.comparison.items import Items, WatchedValue
from advisor.report.comparison.words import JUDGEMENTS, STATUSES
from advisor.report.prose import Prose, TextPiece, Tone, clean_line, code_prose, plain_prose
from advisor.report.verification.words import say
from advisor.report.words import say as say_report
from advisor.report.words import say_aside
from advisor.units import show_value

MOST_AGAINST = 10
_ORDER: tuple[Status, ...] = ("gone", "better", "same", "worse", "not comparable")
_RESULTS: dict[str, Tone] = {"kept": "good", "partly": "warn", "not kept": "bad", "worse": "bad"}
_BECAME: dict[str, Tone] = {"gone": "good", "better": "good", "worse": "bad", "not comparable": "warn"}


def verification_document(found: Verification | Verifications, comparison: Comparison, language: Language) -> Document:
    """Whether fixes worked, what was promised and what was won; titles and names come from the comparison.

    Of one finding; of all it says how much of a shorter step each explains at most.
    """
    items = Items(comparison, language)
    blocks = _all_blocks(found, items) if isinstance(found, Verifications) else _finding_blocks(found, items)
    return Document(language, tuple(blocks), comparison.after.version)


def _finding_blocks(verification: Verification, items: Items) -> Iterator[Block]:
    language, result = items.language, verification.result
    change = items.comparison.change(verification.fingerprint)
    own = items.item(change) if change is not None else None
    says = _say_result(result, items)
    yield Heading((TextPiece(says, tone=_RESULTS.get(result, "")),), 1)
    yield Paragraph(_title_with_rule(items.title_before(change) if change is not None else (), verification))
    times = plain_prose(say(f"per_{compared_times(items.comparison)}", language))
    yield Grid(((), times, ()), tuple(_amount_rows(verification, items)))
    if own is not None and own.values and not items.comparison.unrelated:
        yield Heading(plain_prose(say("watched", language)))
        heads = tuple(plain_prose(say(name, language)) for name in ("value", "before", "after", "threshold"))
        yield Grid(heads, tuple(map(_value_row, own.values)))
    yield from _caveat_blocks(verification.against, verification.reasons, items)


def _title_with_rule(title: Prose, one: Verification) -> Prose:
    return (*title, TextPiece(" — "), *code_prose(one.rule), TextPiece(" "), *code_prose(one.fingerprint))


def _value_row(value: WatchedValue) -> tuple[Prose, ...]:
    return (value.label, value.before, value.after, plain_prose(value.threshold or "–"))


def _all_blocks(found: Verifications, items: Items) -> Iterator[Block]:
    language = items.language
    yield Heading(_answer_to_all(found, items), 1)
    yield Paragraph(plain_prose(_of_step(found.step, items)))
    if found.findings:
        names = ("became", "finding", "promised_short", "freed_short", "explained_short")
        heads = tuple(plain_prose(say(name, language)) for name in names)
        yield Grid(heads, tuple(_finding_row(one, items) for one in found.findings), subject=1)
        if not found.barriers:
            yield Paragraph((TextPiece(say("no_sum", language), tone="quiet"),))
    yield from _caveat_blocks([one for one in found.against if one.status == "new"], found.reasons, items)


def _finding_row(one: Verification, items: Items) -> tuple[Prose, ...]:
    language, change = items.language, items.comparison.change(one.fingerprint)
    title = items.title_before(change) if change is not None else ()
    reason = change.reason if change is not None and not one.barriers else None
    why = plain_prose(say_aside(clean_line(reason.say(language), 500), language)) if reason is not None else ()
    return (
        (TextPiece(_became_word(one, language), tone=_BECAME.get(one.status, "")),),
        (*_title_with_rule(title, one), *why),
        plain_prose(show_value(one.promised_us, "us") if one.promised_us > 0 else "–"),
        plain_prose(_time_or_dash(one.freed_us, one.promised_us)),
        plain_prose(_time_or_dash(one.explained_us, one.promised_us)),
    )


def _say_result(result: PromiseResult, items: Items) -> str:
    """Whether it was fixed, or why that cannot be told."""
    if result == "not known" and items.comparison.apart:
        why = say_barriers(items.comparison, items.comparison.apart, items.language)
        return say("not known because", items.language, why=why)
    said = say("got_worse" if result == "worse" else result, items.language)
    return said + _say_condition(items)


def _say_condition(items: Items) -> str:
    """On what an answer rests where the two captures may be of different programs."""
    return say("if_one_program", items.language) if "program" in items.comparison.barriers else ""


def _answer_to_all(found: Verifications, items: Items) -> Prose:
    """What became of how many findings, or why that cannot be told."""
    if found.findings and found.barriers:
        why = say_barriers(items.comparison, found.barriers, items.language)
        return (TextPiece(say("none known because", items.language, why=why), tone="warn"),)
    said = _say_counts(found, items.language) + (_say_condition(items) if found.findings else "")
    return (TextPiece(said, tone="good" if found.worked else "bad"),)


def _say_counts(found: Verifications, language: Language) -> str:
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


def _of_step(step: Shift | None, items: Items) -> str:
    """The step before and after, and what it won."""
    language = items.language
    if step is None:
        return say("no_step", language)
    if items.comparison.apart:
        return say_both_times(step, items.comparison, language)
    before, after = show_value(step.before_us, "us"), show_value(step.after_us, "us")
    times_of = compared_times(items.comparison)
    return say(
        step.status if times_of == "step" else f"{step.status}_window",
        language,
        times_of,
        before=before,
        after=after,
        delta=show_value(abs(step.delta_us), "us"),
    )


def status_word(status: Status, language: Language) -> str:
    """What became of a finding; one whose rule could not look again was not measured."""
    return say("not measured", language) if status == "not comparable" else STATUSES[status].say(language)


def _became_word(one: Verification, language: Language) -> str:
    """What became of a finding; of captures that do not compare that cannot be told."""
    return JUDGEMENTS["not comparable"].say(language) if one.barriers else status_word(one.status, language)


def _time_or_dash(us: float | None, promised: float) -> str:
    """A time; a dash where it is not known, or the finding had none to begin with."""
    return "–" if us is None or promised <= 0 else signed_amount(us) if us < 0 else show_value(us, "us")


def _caveat_blocks(changes: Sequence[Change], reasons: Iterable[Text], items: Items) -> Iterator[Block]:
    """What came or grew meanwhile, and what limits the answer."""
    language = items.language
    if changes:
        yield Heading(plain_prose(say("against", language)))
        yield from bullet_list(_change_prose(change, items) for change in changes[:MOST_AGAINST])
    if said := [plain_prose(clean_line(reason.say(language), 500)) for reason in reasons]:
        yield Heading(plain_prose(say("reasons", language)))
        yield from bullet_list(said)


def _change_prose(change: Change, items: Items) -> Prose:
    item = items.item(change)
    told = filter(None, [STATUSES[change.status].say(items.language), item.saving])
    about = say_aside(say_report("comma", items.language).join(told), items.language)
    return (*item.title, TextPiece(f"{about} "), *code_prose(item.rule))


def _amount_rows(verification: Verification, items: Items) -> Iterator[tuple[Prose, ...]]:
    """The times that are set side by side: what they are, how much, and what part of the promise."""
    language, times_of = items.language, compared_times(items.comparison)
    promised, won = verification.promised_us, verification.won_us
    moved = _say_step_moved(verification.step, items)
    named = (
        ("promised", show_value(promised, "us") if promised > 0 else say("not_estimated", language), ""),
        (
            "freed",
            _time_or_unknown(verification.freed_us, language),
            _share_of_promise(verification.freed_us, promised, language),
        ),
        (
            "won",
            _time_or_unknown(won, language),
            "  ".join(filter(None, [_share_of_promise(won, promised, language), moved])),
        ),
        ("explained", _time_or_unknown(verification.explained_us, language), ""),
    )
    for name, time, note in named:
        label = plain_prose(say("won_window" if name == "won" and times_of != "step" else name, language, times_of))
        yield label, plain_prose(time), (TextPiece(note, tone="quiet"),) if note else ()


def _say_step_moved(step: Shift | None, items: Items) -> str:
    """The step before and after; for what each of them is where the captures do not compare."""
    if step is None:
        return ""
    if items.comparison.apart:
        return say_both_times(step, items.comparison, items.language)
    return f"{show_value(step.before_us, 'us')} → {show_value(step.after_us, 'us')}"


def _time_or_unknown(us: float | None, language: Language) -> str:
    return say("unknown", language) if us is None else signed_amount(us) if us < 0 else show_value(us, "us")


def _share_of_promise(us: float | None, promised: float, language: Language) -> str:
    """Which part of the promise this is; nothing where nothing was promised or nothing won."""
    if us is None or us <= 0 or promised <= 0:
        return ""
    return say("of_promise", language, share=show_value(us / promised, "share"))
