# SPDX-License-Identifier: Apache-2.0
"""What is shown of a diagnosis in one language: words chosen, numbers formatted, lists bounded."""

from __future__ import annotations

from collections import Counter

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis, Outcome, Severity
from advisor.model.unread import SavedMessage
from advisor.report.blocks import Blocks, SplitBlock
from advisor.report.diagnosis.cards import Card, Maker, make_cards, open_title
from advisor.report.diagnosis.headline import Headline, make_headline
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, parse_prose
from advisor.report.run_summary import RunLine, run_facts, run_line
from advisor.report.time_split import TimePart, time_parts
from advisor.report.words import OUTCOMES, say, say_rule_count, word_for

FULL_CARDS = 60
SHORT_CARDS = 300
MOST_UNREAD = 50


class Checked(Struct, frozen=True):
    """What became of one rule."""

    rule: str
    title: Prose
    outcome: str
    word: str
    reason: Prose


class Unchecked(Struct, frozen=True):
    """Rules that could not look, for one and the same reason."""

    reason: Prose
    rules: tuple[str, ...]
    count: str
    unheld: bool = False
    """Whether it is about what no capture holds, so that recording again does not help."""


class UnreadInput(Struct, frozen=True):
    """Something in the input that could not be read."""

    file: Prose
    place: Prose
    what: Prose
    rows: str


class ReportView(Struct, frozen=True):
    """All that a report shows."""

    language: Language
    name: str
    line: str
    """The run in a few words."""
    headline: Headline
    parts: tuple[TimePart, ...]
    cards: tuple[Card, ...]
    short: tuple[Card, ...]
    """Findings beyond the first, shown as one line each."""
    left_out: int
    facts: tuple[RunLine, ...]
    counts: str
    checked: tuple[Checked, ...]
    unchecked: tuple[Unchecked, ...]
    blind: int
    """Rules that could not look, or not at all ranks."""
    is_partly_blind: bool
    """Whether some of them looked at other ranks."""
    blind_note: Prose
    """What to do before anything is recorded again; empty for ordinary captures."""
    unread: tuple[UnreadInput, ...]
    more_unread: int
    version: str

    @property
    def split(self) -> Blocks:
        """The time split, where it is known."""
        return (SplitBlock(say("time_split", self.language), self.parts),) if self.parts else ()

    @property
    def ranking(self) -> tuple[Card, ...]:
        """The full cards as a list of what to do: symptoms stand right under the cause they are folded under."""
        by_anchor = {card.anchor: card for card in self.cards}
        folds = {
            card.anchor: [by_anchor[link.anchor] for link in card.folds if link.anchor in by_anchor]
            for card in self.cards
        }
        placed = {card.anchor for below in folds.values() for card in below}
        return tuple(one for card in self.cards if card.anchor not in placed for one in (card, *folds[card.anchor]))

    @property
    def recordable(self) -> tuple[Unchecked, ...]:
        """What was not checked and can be had by recording again: what no capture holds is no news at the top."""
        return tuple(group for group in self.unchecked if not group.unheld)

    @property
    def blind_words(self) -> str:
        """How many rules could not look."""
        name = "look_everywhere" if self.is_partly_blind else "record_more"
        return say(name, self.language, rules=say_rule_count(self.blind, self.language))

    @property
    def severities(self) -> tuple[tuple[str, str], ...]:
        """The severities among the cards, worst first, and their words."""
        present = {card.severity: card.severity_word for card in self.cards}
        return tuple((level.name, present[level.name]) for level in reversed(Severity) if level.name in present)

    @property
    def categories(self) -> tuple[tuple[str, str], ...]:
        """The categories among the cards, in order of first appearance, and their words."""
        return tuple({card.category: card.category_word for card in self.cards}.items())


def diagnosis_view(diagnosis: Diagnosis, language: Language, full: int = FULL_CARDS) -> ReportView:
    """What is shown of a diagnosis; `full` findings with all they hold, the others in short."""
    made = make_cards(diagnosis, language)
    parts = time_parts(diagnosis.split, language)
    unchecked = not_checked(diagnosis, language)
    return ReportView(
        language=language,
        name=clean_line(diagnosis.run.name, 80),
        line=run_line(diagnosis.run, language),
        headline=make_headline(diagnosis, made, parts, language),
        parts=parts,
        cards=made[:full],
        short=made[full : full + SHORT_CARDS],
        left_out=max(len(made) - full - SHORT_CARDS, 0),
        facts=run_facts(diagnosis.run, language),
        counts=_say_counts(diagnosis, language),
        checked=_checked_rules(diagnosis, language),
        unchecked=unchecked,
        blind=sum(len(group.rules) for group in unchecked),
        is_partly_blind=any(outcome.without_ranks for outcome in diagnosis.outcomes),
        blind_note=parse_prose(say("summary_only", language)) if unchecked and diagnosis.run.is_summary else (),
        unread=tuple(
            UnreadInput(
                code_prose(item.file),
                _said_or_quoted(item.place_message, item.place, language) if item.place else (),
                _said_or_quoted(item.what_message, item.what, language),
                f"{item.rows:,}" if item.rows else "–",
            )
            for item in diagnosis.unread[:MOST_UNREAD]
        ),
        more_unread=max(len(diagnosis.unread) - MOST_UNREAD, 0),
        version=clean_line(diagnosis.version, 40),
    )


def _said_or_quoted(message: SavedMessage | None, words: str, language: Language) -> Prose:
    """A message in the language of the report; words that are none of ours, or none any more, as they are."""
    said = message.say(language) if message else None
    return parse_prose(clean_line(said)) if said else code_prose(words)


_UNHELD = (("memory_peaks.capacity_bytes",),)
"""What rules may need and no capture holds."""


def not_checked(diagnosis: Diagnosis, language: Language) -> tuple[Unchecked, ...]:
    """Rules that could not look, or not at all ranks, by their reason.

    What blinds most rules comes first, what no capture holds last.
    """
    groups: dict[str, list[str]] = {}
    for outcome in diagnosis.outcomes:
        if outcome.outcome in ("skipped", "failed") or outcome.without_ranks:
            groups.setdefault(_reason_text(outcome, language), []).append(clean_line(outcome.rule))
    unheld = {_reason_text(outcome, language) for outcome in diagnosis.outcomes if outcome.needs in _UNHELD}
    ordered = sorted(groups.items(), key=lambda group: (group[0] in unheld, -len(group[1]), group[0]))
    return tuple(
        Unchecked(
            parse_prose(reason),
            tuple(names),
            say_rule_count(len(names), language),
            reason in unheld,
        )
        for reason, names in ordered
    )


def _reason_text(outcome: Outcome, language: Language) -> str:
    if outcome.reason is not None:
        return outcome.reason.say(language)
    if outcome.needs:
        return say("needs", language, tables=say("comma", language).join(f"`{name}`" for name in outcome.needs))
    return say("no_reason", language)


def _say_counts(diagnosis: Diagnosis, language: Language) -> str:
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


def _checked_rules(diagnosis: Diagnosis, language: Language) -> tuple[Checked, ...]:
    maker = Maker(diagnosis, language)
    return tuple(
        Checked(
            rule=clean_line(outcome.rule),
            title=open_title(maker.rules[outcome.rule], language) if outcome.rule in maker.rules else (),
            outcome=outcome.outcome.replace(" ", "-"),
            word=word_for(OUTCOMES, outcome.outcome, language) or outcome.outcome,
            reason=_nearest_measure(outcome, maker)
            if outcome.outcome == "quiet" and outcome.reason is None
            else parse_prose(_reason_text(outcome, language) if outcome.reason or outcome.needs else ""),
        )
        for outcome in diagnosis.outcomes
    )


def _nearest_measure(outcome: Outcome, maker: Maker) -> Prose:
    """What a quiet rule measured where it came nearest, beside the threshold; nothing where it measures nothing."""
    info = maker.rules.get(outcome.rule)
    held = [item for item in outcome.measures[0].evidence if item.threshold is not None] if outcome.measures else []
    if info is None or not held or held[0].value is None:
        return ()
    item = maker.measure(held[0], info)
    threshold = say("short_of", maker.language, threshold=item.threshold)
    return (*item.label, TextPiece(say("colon", maker.language)), *item.value, TextPiece(threshold))
