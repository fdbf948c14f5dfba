# SPDX-License-Identifier: Apache-2.0
"""One finding in a comment: a line, what became of it since the baseline, and what to do first.

A forge reads more into text than Markdown: `!12`, `%3`, `~label` and `GH-7` become links on some, a slash at the
beginning of a line a command. Names from a profile stand in code spans, where nothing is read; in all other text such
signs are parted from what follows, and no line begins with text of either kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from advisor.bot.words import say
from advisor.messages.text import Language
from advisor.model.comparison import Change, Comparison
from advisor.model.findings import Diagnosis, Finding, wins_at_most
from advisor.report.blocks import Blocks, ListBlock, Paragraph, followed_by, led_by, paragraph_of
from advisor.report.comparison.items import saving_time
from advisor.report.comparison.words import STATUSES
from advisor.report.diagnosis.cards import Card, make_cards, open_title
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, join_prose, parse_long_prose, strong
from advisor.report.words import SEVERITIES
from advisor.units import show_value

_REFERENCES = re.compile(r'(?<=[!~%&$^@#])(?=[\w"{\[])|(?<=GH)(?=-\d)|(?<=\w/)(?=\w+[#!@])', re.IGNORECASE)
_LONGEST = 400
_FINGERPRINT = re.compile(r"[0-9A-Za-z_]{1,64}")
_RULE = re.compile(r"[0-9a-z_]+(?:[-/][0-9a-z_]+)*")


class ListEntry(Struct, frozen=True):
    """One item of a list, and what names the finding where people do not see it."""

    item: Blocks
    key: str = ""


def without_references(pieces: Prose) -> Prose:
    """The text with links as their addresses, and with nothing that a forge takes for a reference."""
    unlinked = (
        part for url, linked in groupby(pieces, key=lambda piece: piece.url) for part in _link_as_text(url, linked)
    )
    broken = [piece if piece.code else replace(piece, text=_REFERENCES.sub("\u200b", piece.text)) for piece in unlinked]
    begins_command = broken and broken[0].text.startswith("/")
    return (TextPiece("\u200b"), *broken) if begins_command else tuple(broken)


def _link_as_text(url: str, pieces: Iterable[TextPiece]) -> Iterator[TextPiece]:
    yield from (replace(piece, url="") for piece in pieces)
    if url:
        yield from (TextPiece(" "), TextPiece(url, code=True))


def sentence_prose(text: str) -> Prose:
    """A sentence: one of our own may quote what a profile says of itself."""
    return parse_long_prose(text, _LONGEST)


def _bounded_findings(of: Diagnosis) -> Iterator[str]:
    """The findings whose savings are upper bounds."""
    rules = {info.id: info for info in of.rules}
    return (one.fingerprint for one in of.findings if wins_at_most(one, rules.get(one.rule)))


class Entries:
    """Makes the entries of one comment; `cards` are those of the diagnosis."""

    def __init__(
        self, diagnosis: Diagnosis, comparison: Comparison | None, language: Language, cards: Iterable[Card]
    ) -> None:
        self.language, self._comparison = language, comparison
        self._times_of = diagnosis.run.times_of
        self._findings = diagnosis.by_fingerprint
        self._cards = {card.finding.fingerprint: card for card in cards}
        sides = (diagnosis, comparison.before) if comparison else (diagnosis,)
        self._bounded = {name for side in sides for name in _bounded_findings(side)}
        earlier = make_cards(comparison.before, language) if comparison else ()
        self._earlier = {card.finding.fingerprint: card for card in earlier}

    def full(self, fingerprint: str) -> ListEntry:
        """What it is, what it costs, where, and what to do first; of what is the same time as a cause, that cause."""
        entry = self.short(fingerprint)
        card = self._cards.get(fingerprint)
        if card is not None and card.is_folded and card.causes:
            word = TextPiece(say(card.caused, self.language) + say("colon", self.language))
            return ListEntry((*entry.item, ListBlock((paragraph_of(word, *card.causes[0].title),))), entry.key)
        if card is None or not card.actions:
            return entry
        first = card.actions[0]
        command = next((line for line in first.run.splitlines() if line.strip()), "")
        word = TextPiece(say("first_fix", self.language) + say("colon", self.language))
        run = (TextPiece(" "), *code_prose(command)) if command else ()
        step = followed_by(led_by((word,), first.do), run)
        return ListEntry((*entry.item, ListBlock((step,))), entry.key)

    def short(self, fingerprint: str, *, suppressed: bool = False) -> ListEntry:
        """One line."""
        change = self._comparison.change(fingerprint) if self._comparison else None
        card = self._cards.get(fingerprint) or self._earlier.get(fingerprint)
        marks = [
            *([STATUSES[change.status].say(self.language)] if change else []),
            *([say("suppressed", self.language)] if suppressed else []),
        ]
        place = [card.place_in_short] if card and card.place_in_short else []
        facts = [*map(sentence_prose, marks), *self._saving_facts(card, change), *map(sentence_prose, place)]
        title = card.title if card else self._title_of_rule(change)
        line = join_prose(" · ", (strong(sentence_prose(self._severity_word(card, change))), title))
        about = (TextPiece(" — "), *join_prose(" · ", facts)) if facts else ()
        return ListEntry((Paragraph((*line, *about)),), self._hidden_key(fingerprint, change))

    def has_saving(self, fingerprint: str) -> bool:
        """Whether its entry says what fixing it wins."""
        card = self._cards.get(fingerprint)
        return card is not None and bool(card.saving_time)

    def _severity_word(self, card: Card | None, change: Change | None) -> str:
        if card:
            return card.severity_word
        if change is None:
            return "–"
        level = change.severity_before if change.severity_after is None else change.severity_after
        return "–" if level is None else SEVERITIES[level.name].say(self.language)

    def _title_of_rule(self, change: Change | None) -> Prose:
        """The title of a finding that neither diagnosis holds any more: that of its rule, or the id of it."""
        rule = change.rule if change else ""
        known = [*self._comparison.after.rules, *self._comparison.before.rules] if self._comparison else []
        info = next((info for info in known if info.id == rule), None)
        return open_title(info, self.language) if info else code_prose(rule or "–")

    def _saving_facts(self, card: Card | None, change: Change | None) -> list[Prose]:
        """What fixing it wins, and what it would have won before."""
        known = [sentence_prose(card.gain)] if card and card.saving_time else []
        if change is None:
            return known
        before, after = saving_time(change.saving_before), saving_time(change.saving_after)
        if change.status in ("worse", "better") and before and after:
            return [sentence_prose(self._wins(f"{before} → {after}", change))]
        if change.status == "gone":
            return [sentence_prose(say("before", self.language, saving=self._wins(before, change)))] if before else []
        return known or ([] if card else self._metric_facts(change))

    def _wins(self, time: str, change: Change) -> str:
        """What can be won: at most that much, where it is a bound."""
        word = "saves_at_most" if change.fingerprint in self._bounded else "saves"
        return say(word if self._times_of == "step" else f"{word}_in_all", self.language, time=time)

    def _metric_facts(self, change: Change) -> list[Prose]:
        """The value that is held against a threshold, where no saving is known."""
        if not change.metrics:
            return []
        first = change.metrics[0]
        before, after = (clean_line(show_value(value, first.unit)) for value in (first.before, first.after))
        return [(*code_prose(first.name), TextPiece(" "), *code_prose(before), TextPiece(" → "), *code_prose(after))]

    def _hidden_key(self, fingerprint: str, change: Change | None) -> str:
        finding: Finding | None = self._findings.get(fingerprint)
        rule = finding.rule if finding else change.rule if change else ""
        sound = _FINGERPRINT.fullmatch(fingerprint) and _RULE.fullmatch(rule)
        return f"{fingerprint} {rule}" if sound else ""
