# SPDX-License-Identifier: Apache-2.0
"""What became of the rules, and what of the input could not be read, in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis, Outcome
from advisor.model.unread import SavedMessage, Unread
from advisor.report.blocks import Block, Heading, Paragraph, grid_of, quiet_line
from advisor.report.diagnosis.cards import Maker, open_title
from advisor.report.grouping import values_by_key
from advisor.report.prose import (
    Prose,
    TextPiece,
    Tone,
    clean_line,
    code_prose,
    join_prose,
    parse_long_prose,
    parse_prose,
    plain_prose,
    toned,
)
from advisor.report.words import OUTCOMES, say, say_aside, say_rule_count, word_for

_TONES: dict[str, Tone] = {"failed": "bad", "skipped": "warn", "quiet": "good", "not applicable": "quiet"}
_UNHELD = (("memory_peaks.capacity_bytes",),)
"""What rules may need and no capture holds."""


class Unchecked(Struct, frozen=True):
    """Rules that could not look, for one and the same reason."""

    reason: Prose
    rules: tuple[str, ...]
    count: str
    unheld: bool = False
    """Whether it is about what no capture holds, so that recording again does not help."""

    def names(self, language: Language) -> Prose:
        """How many rules, and all of them."""
        return (TextPiece(f" — {self.count}{say('colon', language)}"), *join_prose(" ", map(code_prose, self.rules)))


def not_checked(outcomes: Sequence[Outcome], language: Language) -> tuple[Unchecked, ...]:
    """Rules that could not look, or not at all ranks, by their reason.

    What blinds most rules comes first, what no capture holds last.
    """
    groups = values_by_key(
        (_reason_text(outcome, language), clean_line(outcome.rule))
        for outcome in outcomes
        if outcome.outcome in ("skipped", "failed") or outcome.without_ranks
    )
    unheld = {_reason_text(outcome, language) for outcome in outcomes if outcome.needs in _UNHELD}
    ordered = sorted(groups.items(), key=lambda group: (group[0] in unheld, -len(group[1]), group[0]))
    return tuple(
        Unchecked(parse_prose(reason), tuple(names), say_rule_count(len(names), language), reason in unheld)
        for reason, names in ordered
    )


def _reason_text(outcome: Outcome, language: Language) -> str:
    if outcome.reason is not None:
        return outcome.reason.say(language)
    if outcome.needs:
        return say("needs", language, tables=say("comma", language).join(f"`{name}`" for name in outcome.needs))
    return say("no_reason", language)


def say_outcome_counts(diagnosis: Diagnosis, language: Language) -> str:
    """How many rules there were, and what became of how many."""
    counted = Counter(outcome.outcome for outcome in diagnosis.outcomes)
    return say(
        "counts",
        language,
        total=len(diagnosis.outcomes),
        fired=counted["fired"],
        quiet=counted["quiet"],
        na=counted["not applicable"],
        blind=counted["skipped"] + counted["failed"],
    )


def checked_rows(diagnosis: Diagnosis, maker: Maker, *, titled: bool) -> Iterator[tuple[Prose, Prose, Prose]]:
    """Each rule, `titled` with what it finds below its id, what became of it, and why."""
    for outcome in diagnosis.outcomes:
        info = maker.rules.get(outcome.rule) if titled else None
        title = toned(open_title(info, maker.language), "note") if info else ()
        word = word_for(OUTCOMES, outcome.outcome, maker.language) or outcome.outcome
        said = TextPiece(word, strong=titled and outcome.outcome == "fired", tone=_TONES.get(outcome.outcome, ""))
        yield (*code_prose(outcome.rule), *title), (said,), _checked_reason(outcome, maker)


def _checked_reason(outcome: Outcome, maker: Maker) -> Prose:
    if outcome.outcome == "quiet" and outcome.reason is None:
        return _nearest_measure(outcome, maker)
    return parse_prose(_reason_text(outcome, maker.language) if outcome.reason or outcome.needs else "")


def _nearest_measure(outcome: Outcome, maker: Maker) -> Prose:
    """The value that kept a rule quiet where it came nearest, beside its threshold; nothing where that is none."""
    info, nearest = maker.rules.get(outcome.rule), next(iter(outcome.measures), None)
    missed = next((item for item in nearest.evidence if item.name == nearest.short_of), None) if nearest else None
    if info is None or missed is None:
        return ()
    item = maker.measure(missed, info)
    above = isinstance(missed.value, int | float) and missed.threshold is not None and missed.value > missed.threshold
    threshold = say("short_of_less" if above else "short_of", maker.language, threshold=item.threshold)
    return (*item.label, TextPiece(say("colon", maker.language)), *item.value, TextPiece(threshold))


MOST_UNREAD = 50


def unread_in_short(unread: Sequence[Unread], language: Language) -> Iterator[Block]:
    """What of the input could not be read, in a line."""
    if unread:
        yield quiet_line(first_unread(unread, language), begins=True)


def unread_in_full(unread: Sequence[Unread], language: Language) -> Iterator[Block]:
    """The same below its title: places that could not be read, a row each, and that there are more."""
    if not unread:
        return
    yield Heading(plain_prose(say("unread", language)))
    heads = (say(name, language) for name in ("file", "place", "what", "rows"))
    yield grid_of(heads, (unread_row(item, language) for item in unread[:MOST_UNREAD]))
    if len(unread) > MOST_UNREAD:
        yield Paragraph(plain_prose(say("more_unread", language, count=len(unread) - MOST_UNREAD)))


def unread_row(item: Unread, language: Language) -> tuple[Prose, Prose, Prose, str]:
    """File, place, what was wrong, and how many rows were left out."""
    return (
        code_prose(item.file),
        _said_or_quoted(item.place_message, item.place, language) if item.place else (),
        _said_or_quoted(item.what_message, item.what, language),
        _say_rows_lost(item, language) or "–",
    )


def _say_rows_lost(item: Unread, language: Language) -> str:
    """How many rows were left out, of how many where that is known; nothing where none were counted."""
    if not item.of_rows:
        return f"{item.rows:,}" if item.rows else ""
    name = "rows_lost_all" if item.rows >= item.of_rows > 1 else "rows_lost_of"
    return say(name, language, rows=f"{item.rows:,}", total=f"{item.of_rows:,}")


def first_unread(unread: Sequence[Unread], language: Language) -> Prose:
    """The first place that could not be read, and how many more there are."""
    first = unread[0]
    file, place, what, _ = unread_row(first, language)
    rows = say_aside(_say_rows_lost(first, language), language) if first.of_rows else ""
    where = join_prose(say("comma", language), filter(None, (file, place)))
    more = len(unread) - 1
    others = f"{say('semicolon', language)}{say('more_unread_short', language, count=more)}" if more else ""
    label = TextPiece(say("unread", language) + say("colon", language), tone="label")
    return (label, *where, TextPiece(" – "), *what, TextPiece(f"{rows}{others}"))


def _said_or_quoted(message: SavedMessage | None, words: str, language: Language) -> Prose:
    """A message in the language of the report; words that are none of ours, or none any more, as they are."""
    said = message.say(language) if message else None
    return parse_long_prose(said) if said else code_prose(words)
