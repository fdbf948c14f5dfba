# SPDX-License-Identifier: Apache-2.0
"""One finding in a comment: a line, what became of it since the baseline, and what to do first.

A forge reads more into text than Markdown: `!12`, `%3`, `~label` and `GH-7` become links on some, a slash at the
beginning of a line a command. Names from a profile stand in code spans, where nothing is read; in all other text such
signs are parted from what follows, and no line begins with text of either kind.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby

from msgspec import Struct
from msgspec.structs import replace

from advisor.bot.words import say
from advisor.messages.text import Language
from advisor.model.comparison import Change, Comparison, Status
from advisor.model.findings import Diagnosis, Finding, Saving
from advisor.report.blocks import followed_by, led_by, with_prose
from advisor.report.cards import Card, cards, outline
from advisor.report.prose import Piece, Prose, clean, code, prose
from advisor.report.renderers.markdown import indented, item_lines, words
from advisor.report.words import SEVERITIES
from advisor.report.words import say as report_word
from advisor.units import show

BECAME: Mapping[Status, str] = {
    "new": "is_new",
    "worse": "is_worse",
    "same": "is_same",
    "better": "is_better",
    "gone": "is_gone",
    "not comparable": "is_incomparable",
}
_REFERENCES = re.compile(r'(?<=[!~%&$^@#])(?=[\w"{\[])|(?<=GH)(?=-\d)|(?<=\w/)(?=\w+[#!@])', re.IGNORECASE)
_LONGEST = 400
_FINGERPRINT = re.compile(r"[0-9A-Za-z_]{1,64}")
_RULE = re.compile(r"[0-9a-z_]+(?:[-/][0-9a-z_]+)*")


class Entry(Struct, frozen=True):
    """One item of a list, its Markdown lines, and what names the finding where people do not see it."""

    lines: tuple[str, ...]
    key: str = ""


def safe(pieces: Prose) -> str:
    """Markdown of some text in which no forge finds anything to link, to mention or to do."""
    return words(harmless(pieces))


def harmless(pieces: Prose) -> Prose:
    """The text with links as their addresses, and with nothing that a forge takes for a reference."""
    unlinked = (part for url, linked in groupby(pieces, key=lambda piece: piece.url) for part in _unlinked(url, linked))
    broken = [piece if piece.code else replace(piece, text=_REFERENCES.sub("\u200b", piece.text)) for piece in unlinked]
    begins_command = broken and broken[0].text.startswith("/")
    return (Piece("\u200b"), *broken) if begins_command else tuple(broken)


def _unlinked(url: str, pieces: Iterable[Piece]) -> Iterator[Piece]:
    yield from (replace(piece, url="") for piece in pieces)
    if url:
        yield from (Piece(" "), Piece(url, code=True))


def said(text: str) -> str:
    """Markdown of a sentence, made harmless: one of our own may quote what a profile says of itself."""
    return safe(prose(clean(text, _LONGEST)))


class Entries:
    """Makes the entries of one comment."""

    def __init__(self, diagnosis: Diagnosis, comparison: Comparison | None, language: Language) -> None:
        self.language, self._comparison = language, comparison
        self._is_stepped = bool(diagnosis.run.steps)
        self._findings = diagnosis.by_fingerprint
        self._cards = _by_fingerprint(diagnosis, language)
        self._earlier = _by_fingerprint(comparison.before, language) if comparison else {}

    def full(self, fingerprint: str) -> Entry:
        """What it is, what it costs, where, and what to do first."""
        entry = self.short(fingerprint)
        card = self._cards.get(fingerprint)
        if card is None or not card.actions:
            return entry
        first = card.actions[0]
        command = next((line for line in first.run.splitlines() if line.strip()), "")
        word = Piece(say("first_step", self.language) + report_word("colon", self.language))
        run = (Piece(" "), *code(command)) if command else ()
        step = item_lines("-", with_prose(followed_by(led_by((word,), first.do), run), harmless))
        return Entry((*entry.lines, *indented(step, 2)), entry.key)

    def short(self, fingerprint: str, *, suppressed: bool = False) -> Entry:
        """One line."""
        change = self._comparison.change(fingerprint) if self._comparison else None
        card = self._cards.get(fingerprint) or self._earlier.get(fingerprint)
        title = safe(card.title) if card else self._outline(change)
        severity = f"**{said(self._severity(card, change))}**"
        marks = [
            *([say(BECAME[change.status], self.language)] if change else []),
            *([say("suppressed", self.language)] if suppressed else []),
        ]
        facts = [*map(said, marks), *self._cost(card, change), *_where(card)]
        line = f"- {severity} · {title}" + (f" — {' · '.join(facts)}" if facts else "")
        return Entry((line,), self._key(fingerprint, change))

    def _severity(self, card: Card | None, change: Change | None) -> str:
        if card:
            return card.severity_word
        if change is None:
            return "–"
        level = change.severity_before if change.severity_after is None else change.severity_after
        return "–" if level is None else SEVERITIES[level.name].say(self.language)

    def _outline(self, change: Change | None) -> str:
        """The title of a finding that neither diagnosis holds any more: that of its rule, or the id of it."""
        rule = change.rule if change else ""
        known = [*self._comparison.after.rules, *self._comparison.before.rules] if self._comparison else []
        info = next((info for info in known if info.id == rule), None)
        return safe(outline(info, self.language)) if info else safe(code(rule or "–"))

    def _cost(self, card: Card | None, change: Change | None) -> list[str]:
        """What fixing it wins, and what it would have won before."""
        known = [said(card.saving)] if card and card.saving_time else []
        if change is None:
            return known
        before, after = _time(change.saving_before), _time(change.saving_after)
        if change.status in ("worse", "better") and before and after:
            return [said(self._up_to(f"{before} → {after}"))]
        if change.status == "gone":
            return [said(say("before", self.language, saving=self._up_to(before)))] if before else []
        return known or ([] if card else self._metric(change))

    def _up_to(self, time: str) -> str:
        return report_word("saves" if self._is_stepped else "saves_window", self.language, time=time)

    def _metric(self, change: Change) -> list[str]:
        """The value that is held against a threshold, where no saving is known."""
        if not change.metrics:
            return []
        first = change.metrics[0]
        before, after = (clean(show(value, first.unit)) for value in (first.before, first.after))
        return [safe((*code(first.name), Piece(" "), *code(before), Piece(" → "), *code(after)))]

    def _key(self, fingerprint: str, change: Change | None) -> str:
        finding: Finding | None = self._findings.get(fingerprint)
        rule = finding.rule if finding else change.rule if change else ""
        sound = _FINGERPRINT.fullmatch(fingerprint) and _RULE.fullmatch(rule)
        return f"{fingerprint} {rule}" if sound else ""


def _by_fingerprint(diagnosis: Diagnosis, language: Language) -> Mapping[str, Card]:
    made = zip(diagnosis.findings, cards(diagnosis, language), strict=True)
    return {finding.fingerprint: card for finding, card in made}


def _where(card: Card | None) -> list[str]:
    if card is None or not card.places:
        return []
    more = " …" if len(card.places) + card.more_places > 1 else ""
    return [said(card.places[0].place) + more]


def _time(saving: Saving | None) -> str:
    return show(saving.us, "us") if saving is not None and saving.us > 0 else ""
