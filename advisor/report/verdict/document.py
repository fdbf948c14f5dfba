# SPDX-License-Identifier: Apache-2.0
"""A verdict as a document: whether the run passes, what failed it and why, and how to live with a finding."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from msgspec import Struct

from advisor.messages.text import Language, Text
from advisor.model.comparison import Comparison, Shift
from advisor.model.findings import FINGERPRINT, Diagnosis
from advisor.model.verdict import Budget, Ruling, Suppression, Verdict
from advisor.report.blocks import (
    Block,
    Blocks,
    Code,
    Document,
    Grid,
    Heading,
    ListBlock,
    Paragraph,
    bullet_list,
    quiet_line,
)
from advisor.report.comparison.answer import say_status_counts
from advisor.report.comparison.sides import compared_times, say_barriers, sides_chosen
from advisor.report.comparison.words import JUDGEMENTS
from advisor.report.comparison.words import STATUSES as STATUS_WORDS
from advisor.report.diagnosis.cards import Card, make_cards, worst_place
from advisor.report.diagnosis.outcomes import unread_in_short
from advisor.report.phrases import Phrases
from advisor.report.prose import Prose, TextPiece, Tone, clean_line, code_prose, parse_prose, plain_prose, quiet, strong
from advisor.report.run_summary import captures_chosen
from advisor.report.verdict.words import BUDGETS, say
from advisor.report.verdict_line import verdict_line
from advisor.units import show_value

MOST_FAILING = 10
MOST_WARNINGS = 5
MOST_SUPPRESSIONS = 10
LONGEST_NOTE = 400
DAYS = 90
"""For how long a suppression is suggested: about a release."""
_RESULTS: dict[bool | None, tuple[str, Tone]] = {
    True: ("kept", "good"),
    False: ("exceeded", "bad"),
    None: ("unmeasured", "warn"),
}
_SEVERITIES: dict[str, Tone] = {"critical": "bad", "high": "bad", "medium": "warn"}
_PLAIN = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")


class Judged(Struct, frozen=True):
    """A verdict and what it is about."""

    diagnosis: Diagnosis
    comparison: Comparison | None
    verdict: Verdict
    settings: str
    """The file in which a suppression would stand."""
    today: date


_Entry = tuple[Card, Ruling]
"""One finding, ready to be shown, and what the policy says of it."""


def verdict_document(judged: Judged, language: Language) -> Document:
    """The verdict; never more than is needed to act on it."""
    return Document(language, tuple(_Maker(judged, language).blocks()), judged.diagnosis.version)


class _Maker(Phrases):
    """Makes the blocks of one verdict in one language."""

    wording = say

    def __init__(self, judged: Judged, language: Language) -> None:
        super().__init__(language)
        self.judged, self.verdict = judged, judged.verdict
        made = make_cards(judged.diagnosis, language)
        self.entries = list(zip(made, self.verdict.rulings, strict=True))
        self.failing = [(card, one) for card, one in self.entries if one.fails]
        self.warned = [(card, one) for card, one in self.entries if one.warns and not one.is_known]
        self.known = sum(one.warns and one.is_known for one in self.verdict.rulings)

    def blocks(self) -> Iterator[Block]:
        yield Heading(verdict_line(self.verdict, self.language), 1)
        yield from self.chosen()
        if self.judged.comparison is not None:
            yield Paragraph(self.against(self.judged.comparison))
            yield from self.notes(self.judged.comparison.notes, "quiet")
        if self.failing:
            items = tuple(tuple(map(Paragraph, self.failed(*entry))) for entry in self.failing[:MOST_FAILING])
            yield ListBlock(items, mark=TextPiece("✗", tone="bad"))
            yield from self.left_over("more", len(self.failing) - MOST_FAILING)
        if self.warned or self.known:
            yield from self.warnings()
        yield from unread_in_short(self.judged.diagnosis.unread, self.language)
        if self.verdict.budgets:
            yield self.budgets()
        yield from self.notes(self.verdict.notes, "warn")
        yield from self.suppressions()
        if self.failing:
            yield from self.how_to_suppress()

    def chosen(self) -> Iterator[Paragraph]:
        """Which captures were judged, where more of a rank were found; with a baseline, on each side."""
        if self.judged.comparison is not None:
            yield from sides_chosen(self.judged.comparison, self.language)
        elif said := captures_chosen(self.judged.diagnosis.run.notes, self.language):
            yield quiet_line(said)

    def notes(self, notes: Iterable[Text], tone: Tone) -> Blocks:
        said = ((TextPiece(clean_line(note.say(self.language), LONGEST_NOTE), tone=tone),) for note in notes)
        return bullet_list(said, TextPiece("–"))

    def against(self, comparison: Comparison) -> Prose:
        """How many findings are new, worse and so on, and what became of the step time."""
        counts = self.comma.join(say_status_counts(comparison, self.wording, self.language))
        said = f"{self.say('against')}{self.colon}{counts or self.say('no_change')}"
        step = comparison.step
        time = (TextPiece(self.say("semicolon")), self.time(comparison, step)) if step is not None else ()
        return (TextPiece(said), *time, TextPiece(self.say("full_stop")))

    def time(self, comparison: Comparison, step: Shift) -> TextPiece:
        """The step time on both sides."""
        if comparison.apart:
            why = say_barriers(comparison, comparison.apart, self.language)
            return TextPiece(self.say("apart", why=why), tone="warn")
        times_of, judged = compared_times(comparison), JUDGEMENTS[step.status].say(self.language)
        name = "step_time" if times_of == "step" else "window_time"
        before, after = show_value(step.before_us, "us"), show_value(step.after_us, "us")
        said = say(name, self.language, times_of, before=before, after=after, judged=judged)
        said = said[:1].lower() + said[1:]  # goes on behind a semicolon
        return TextPiece(said, tone="warn" if step.status == "worse" else "")

    def failed(self, card: Card, ruling: Ruling) -> Iterator[Prose]:
        yield strong(card.title)
        yield self.facts(card, ruling)
        if card.causes:
            yield (TextPiece(f"{self.say(card.caused)}{self.colon}"), *card.causes[0].title)
        by = self.say("because", by=clean_line(ruling.by))
        place = worst_place(card, self.language)
        where = f"{place}  " if place else ""
        yield (*quiet(where), *self.rule(card, ruling.fingerprint), *quiet(f"  {by}"))

    def rule(self, card: Card, fingerprint: str = "") -> Prose:
        said = " ".join(filter(None, (card.rule, clean_line(fingerprint))))
        return (TextPiece(said, code=True, tone="quiet"),)

    def facts(self, card: Card, ruling: Ruling) -> Prose:
        """Severity, new or worse, and saving."""
        became = f"  {STATUS_WORDS[ruling.status].say(self.language)}" if ruling.status else ""
        severity = TextPiece(card.severity_word, tone=_SEVERITIES.get(card.severity, ""))
        return (severity, TextPiece(f"{became}  {card.gain}"))

    def warnings(self) -> Iterator[Block]:
        if self.warned:
            yield self.heading("warnings")
            items = (
                (Paragraph(card.title), Paragraph((*self.facts(card, one), TextPiece("  "), *self.rule(card))))
                for card, one in self.warned[:MOST_WARNINGS]
            )
            yield ListBlock(tuple(items), mark=TextPiece("!", tone="warn"))
        yield from self.left_over("more", len(self.warned) - MOST_WARNINGS)
        if self.known:
            yield quiet_line(self.prose_of("known", count=self.known))

    def budgets(self) -> Grid:
        rows = (
            (BUDGETS[one.name].say(self.language), *_told_apart(one), (self.result(one),))
            for one in self.verdict.budgets
        )
        return self.grid(("budget", "limit", "measured", "result"), rows)

    def result(self, budget: Budget) -> TextPiece:
        name, tone = _RESULTS[budget.kept]
        if budget.kept is False and budget.action == "warn":
            name, tone = "exceeded_warn", "warn"
        return TextPiece(self.say(name), tone=tone)

    def suppressions(self) -> Iterator[Block]:
        held = [self.held(card, one.suppressed) for card, one in self.entries if one.suppressed is not None]
        over = [self.named(one, self.say("was_until", day=one.expires)) for one in self.verdict.expired]
        unused = [self.named(one, "") for one in self.verdict.unused]
        in_force = f"{self.say('suppressed')}{self.colon}{len(held)}"
        for title, lines in ((in_force, held), (self.say("expired"), over), (self.say("unused"), unused)):
            if lines:
                yield Heading(plain_prose(title))
                yield from bullet_list(lines[:MOST_SUPPRESSIONS], TextPiece("–"))
                yield from self.left_over("more", len(lines) - MOST_SUPPRESSIONS)

    def held(self, card: Card, one: Suppression) -> Prose:
        until = self.say("until", day=one.expires) if one.expires else ""
        about = self.comma.join(filter(None, (clean_line(one.reason, 200), clean_line(one.owner), until)))
        return (*card.title, *quiet(f"  {about}"))

    def named(self, one: Suppression, when: str) -> Prose:
        """A suppression by its place in the settings."""
        place = clean_line(self.judged.settings, 400) + (f":{one.line}" if one.line else "")
        about = self.comma.join(filter(None, (when, clean_line(one.reason, 200), clean_line(one.owner))))
        which = clean_line(" ".join(filter(None, (one.rule, one.fingerprint))))
        return (*code_prose(place, 420), TextPiece("  "), *code_prose(which), TextPiece(f"  {about}"))

    def how_to_suppress(self) -> Iterator[Block]:
        said = self.say("suppress", file=clean_line(self.judged.settings, 400))
        yield Heading(parse_prose(f"{said}{self.colon.rstrip()}"))
        first, until = self.failing[0][1], self.judged.today + timedelta(days=DAYS)
        is_toml = self.judged.settings.endswith(".toml")
        written = (_IN_TOML if is_toml else _IN_YAML).format(
            rule=_quote_word(first.rule, None if is_toml else _PLAIN),
            fingerprint=_quote_word(first.fingerprint, None if is_toml else FINGERPRINT),
            reason=self.say("reason_here"),
            until=until.isoformat(),
        )
        yield Code(written, "toml" if is_toml else "yaml")


_IN_YAML = """\
- rule: {rule}
  fingerprint: {fingerprint}
  reason:  # {reason}
  expires: {until}"""
_IN_TOML = """\
[[tool.advisor.suppressions]]
rule = {rule}
fingerprint = {fingerprint}
reason = "{reason}"
expires = {until}"""
"""A suppression as it stands in the settings of a project."""


def _quote_word(word: str, plain: re.Pattern[str] | None) -> str:
    """A word in quotes, but in YAML one of the usual form."""
    return word if plain and plain.fullmatch(word) and not word.isdigit() else json.dumps(clean_line(word, 400))


def _told_apart(budget: Budget) -> tuple[str, str]:
    """The limit and what was measured, with as many digits as it takes to see that one is above the other."""
    limit, measured = show_value(budget.limit, budget.unit), show_value(budget.measured, budget.unit)
    if budget.measured is None or limit != measured or budget.kept:
        return limit, measured
    match budget.unit:
        case "share":
            return f"{budget.limit * 100:.5g} %", f"{budget.measured * 100:.5g} %"
        case "us":
            return f"{budget.limit:,.1f} µs", f"{budget.measured:,.1f} µs"
        case _:
            return f"{budget.limit:,.0f} B", f"{budget.measured:,.0f} B"
