# SPDX-License-Identifier: Apache-2.0
"""A verdict on the terminal: whether the run passes, what failed it and why, and how to live with a finding."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from datetime import date, timedelta
from pathlib import Path

from msgspec import Struct
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.messages.text import Language
from advisor.messages.text import Text as Words
from advisor.model.comparison import STATUSES, Comparison, Shift
from advisor.model.findings import Diagnosis
from advisor.model.verdict import Budget, Ruling, Suppression, Verdict
from advisor.report.cards import Card, cards
from advisor.report.comparison.words import JUDGEMENTS
from advisor.report.comparison.words import STATUSES as STATUS_WORDS
from advisor.report.console import terminal
from advisor.report.flow import Flow
from advisor.report.prose import clean, prose
from advisor.report.renderers.terminal import WIDEST, assembled, hanging, written_line
from advisor.report.terminal import SEVERITY_COLOURS
from advisor.report.verdict.words import many, say
from advisor.units import show

MOST_FAILING = 10
MOST_WARNINGS = 5
MOST_SUPPRESSIONS = 10
LONGEST_NOTE = 400
DAYS = 90
"""For how long a suppression is suggested: about a release."""
_PLAIN = re.compile(r"[a-z0-9-]+/[a-z0-9-]+")
_FINGERPRINT = re.compile(r"[0-9a-f]{16}")


class Judged(Struct, frozen=True):
    """A verdict and what it is about."""

    diagnosis: Diagnosis
    comparison: Comparison | None
    verdict: Verdict
    settings: str
    """The file in which a suppression would stand."""
    today: date
    written: tuple[Path, ...] = ()


class _Entry(Struct, frozen=True):
    """One finding, ready to be shown, and what the policy says of it."""

    card: Card
    ruling: Ruling


def print_verdict(judged: Judged, language: Language, console: Console | None = None) -> None:
    """Prints the verdict; never more than is needed to act on it."""
    out = console or terminal()
    for block in _Printer(judged, language).blocks():
        out.print(block, width=min(out.width, WIDEST), highlight=False, crop=False)


class _Printer:
    """The blocks of one verdict in one language."""

    def __init__(self, judged: Judged, language: Language) -> None:
        self.judged, self.language, self.verdict = judged, language, judged.verdict
        made = cards(judged.diagnosis, language)
        self.entries = [_Entry(card, one) for card, one in zip(made, self.verdict.rulings, strict=True)]
        self.failing = [e for e in self.entries if e.ruling.action == "error" and e.ruling.suppressed is None]
        warned = [e for e in self.entries if e.ruling.action == "warn" and e.ruling.suppressed is None]
        self.warned = [e for e in warned if e.ruling.status not in ("same", "better")]
        self.known = len(warned) - len(self.warned)
        self.colon, self.comma = say("colon", language), say("comma", language)

    def blocks(self) -> Iterator[RenderableType]:
        yield Flow(self.headline())
        if self.judged.comparison is not None:
            yield Flow(self.against(self.judged.comparison))
            yield from self.notes(self.judged.comparison.notes, "dim")
        for entry in self.failing[:MOST_FAILING]:
            yield Group(Text(), *self.failed(entry))
        yield from self.more(self.failing, MOST_FAILING)
        if self.warned or self.known:
            yield Group(Text(), *self.warnings())
        if self.verdict.budgets:
            yield Group(Text(), self.budgets())
        if self.verdict.notes:
            yield Group(Text(), *self.notes(self.verdict.notes, "yellow"))
        yield from self.suppressions()
        if self.failing:
            yield Group(Text(), *self.how_to_suppress())
        if self.judged.written:
            yield Group(Text(), *(written_line(path, self.language) for path in self.judged.written))

    def notes(self, notes: Iterable[Words], style: str) -> Iterator[RenderableType]:
        for note in notes:
            said = Text(clean(note.say(self.language), LONGEST_NOTE), style)
            yield hanging(Text.assemble("– ", said), 2)

    def headline(self) -> Text:
        verdict, language = self.verdict, self.language
        exceeded = [budget for budget in verdict.budgets if budget.kept is False]
        broken = sum(budget.action == "error" for budget in exceeded)
        warned = len(self.warned) + len(exceeded) - broken
        counts = [("failing", len(self.failing)), ("exceeded", broken), ("warned", warned)]
        said = self.comma.join(many(name, count, language) for name, count in counts if count)
        word = ("passed", "bold green") if verdict.passed else ("failed", "bold red")
        quiet = not (verdict.rulings or verdict.budgets or verdict.notes)
        tail = said or (say("nothing", language) if quiet else "")
        return Text.assemble(
            (say(word[0], language), word[1]), f"{self.colon}{tail}" if tail else "", say("full_stop", language)
        )

    def against(self, comparison: Comparison) -> Text:
        """How many findings are new, worse and so on, and what became of the step time."""
        language = self.language
        counted = Counter(change.status for change in comparison.changes)
        counts = [
            say("count", language, count=counted[status], word=STATUS_WORDS[status].say(language))
            for status in STATUSES
            if counted[status]
        ]
        said = Text(f"{say('against', language)}{self.colon}{self.comma.join(counts) or say('no_change', language)}")
        step = next((shift for shift in comparison.shifts if shift.name == "step"), None)
        if step is not None:
            said.append(say("semicolon", language)).append(self.time(comparison, step))
        return said.append(say("full_stop", language))

    def time(self, comparison: Comparison, step: Shift) -> Text:
        """The step time on both sides."""
        stepped = comparison.before.run.steps and comparison.after.run.steps
        said = say(
            "step_time" if stepped else "window_time",
            self.language,
            before=show(step.before_us, "us"),
            after=show(step.after_us, "us"),
            judged=JUDGEMENTS[step.status].say(self.language),
        )
        return Text(said, "yellow" if step.status == "worse" else "")

    def failed(self, entry: _Entry) -> Iterator[RenderableType]:
        card, ruling = entry.card, entry.ruling
        yield hanging(Text.assemble(("✗ ", "bold red"), assembled(card.title, "bold")), 2)
        yield Padding(Flow(self.facts(entry)), (0, 0, 0, 2))
        if card.causes:
            word = f"{say('caused_by', self.language)}{self.colon}"
            yield Padding(Flow(Text.assemble(word, assembled(card.causes[0].title))), (0, 0, 0, 2))
        by = say("because", self.language, by=clean(ruling.by))
        parts = (*self.where(card), f"{card.rule} {clean(ruling.fingerprint)}", by)
        yield Padding(Flow(Text("  ".join(parts), style="dim")), (0, 0, 0, 2))

    def where(self, card: Card) -> tuple[str, ...]:
        """The worst place, and how many more; nothing for the run as a whole."""
        place = card.places[0].place if card.places else ""
        if not place or place == say("whole_run", self.language):
            return ()
        more = f" {say('more_places', self.language, count=card.more_places)}" if card.more_places else ""
        return (place + more,)

    def facts(self, entry: _Entry) -> Text:
        """Severity, new or worse, and saving."""
        card, status = entry.card, entry.ruling.status
        return Text("  ").join(
            [
                Text(card.severity_word, SEVERITY_COLOURS[card.severity]),
                *([Text(STATUS_WORDS[status].say(self.language))] if status else []),
                Text(card.saving),
            ]
        )

    def warnings(self) -> Iterator[RenderableType]:
        if self.warned:
            yield Text(say("warnings", self.language), style="bold")
        for entry in self.warned[:MOST_WARNINGS]:
            yield hanging(Text.assemble(("! ", "yellow"), assembled(entry.card.title)), 2)
            yield Padding(Flow(Text.assemble(self.facts(entry), (f"  {entry.card.rule}", "dim"))), (0, 0, 0, 2))
        yield from self.more(self.warned, MOST_WARNINGS)
        if self.known:
            yield Text(say("known", self.language, count=self.known), style="dim")

    def more(self, entries: Sequence[object], shown: int) -> Iterator[Text]:
        if len(entries) > shown:
            yield Text(f"  {say('more', self.language, count=len(entries) - shown)}", style="dim")

    def budgets(self) -> Table:
        table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
        for name in ("budget", "limit", "measured", "result"):
            table.add_column(say(name, self.language), header_style="bold")
        for budget in self.verdict.budgets:
            name = "step_time_budget" if budget.name == "step_time" else budget.name
            limit, measured = _told_apart(budget)
            table.add_row(Text(say(name, self.language)), Text(limit), Text(measured), self.result(budget))
        return table

    def result(self, budget: Budget) -> Text:
        if budget.kept is None:
            return Text(say("unmeasured", self.language), "yellow")
        if budget.kept:
            return Text(say("kept", self.language), "green")
        if budget.action == "warn":
            return Text(say("exceeded_warn", self.language), "yellow")
        return Text(say("exceeded", self.language), "red")

    def suppressions(self) -> Iterator[RenderableType]:
        held = [entry for entry in self.entries if entry.ruling.suppressed is not None]
        if held:
            lines = (self.held(entry.card, entry.ruling.suppressed) for entry in held if entry.ruling.suppressed)
            yield Group(Text(), *self.listed(f"{say('suppressed', self.language)}{self.colon}{len(held)}", lines))
        if self.verdict.expired:
            lines = (self.named(one, say("was_until", self.language, day=one.expires)) for one in self.verdict.expired)
            yield Group(Text(), *self.listed(say("expired", self.language), lines))
        if self.verdict.unused:
            lines = (self.named(one, "") for one in self.verdict.unused)
            yield Group(Text(), *self.listed(say("unused", self.language), lines))

    def listed(self, heading: str, lines: Iterable[Text]) -> Iterator[RenderableType]:
        every = list(lines)
        yield Text(heading, style="bold")
        yield from (hanging(Text.assemble("– ", line), 2) for line in every[:MOST_SUPPRESSIONS])
        yield from self.more(every, MOST_SUPPRESSIONS)

    def held(self, card: Card, one: Suppression) -> Text:
        until = say("until", self.language, day=one.expires) if one.expires else ""
        about = self.comma.join(filter(None, (clean(one.reason, 200), clean(one.owner), until)))
        return Text.assemble(assembled(card.title), (f"  {about}", "dim"))

    def named(self, one: Suppression, when: str) -> Text:
        """A suppression by its place in the settings."""
        place = f"{clean(self.judged.settings, 400)}:{one.line}" if one.line else clean(self.judged.settings, 400)
        about = self.comma.join(filter(None, (when, clean(one.reason, 200), clean(one.owner))))
        return Text.assemble(f"{place}  ", clean(" ".join(filter(None, (one.rule, one.fingerprint)))), f"  {about}")

    def how_to_suppress(self) -> Iterator[RenderableType]:
        language = self.language
        words = say("suppress", language, file=clean(self.judged.settings, 400))
        yield Flow(assembled(prose(f"{words}{self.colon.rstrip()}")))
        first, until = self.failing[0].ruling, self.judged.today + timedelta(days=DAYS)
        if self.judged.settings.endswith(".toml"):
            yield Text("\n".join(self.in_toml(first, until)), "cyan", no_wrap=True, overflow="ignore")
            return
        lines = (
            f"  - rule: {_yaml(first.rule, _PLAIN)}",
            f"    fingerprint: {_yaml(first.fingerprint, _FINGERPRINT)}",
            f"    reason:  # {say('reason_here', language)}",
            f"    expires: {until.isoformat()}",
        )
        yield Text("\n".join(lines), "cyan", no_wrap=True, overflow="ignore")

    def in_toml(self, first: Ruling, until: date) -> tuple[str, ...]:
        """The suppression as it stands in a pyproject.toml."""
        return (
            "  [[tool.advisor.suppressions]]",
            f"  rule = {json.dumps(clean(first.rule, 400))}",
            f"  fingerprint = {json.dumps(clean(first.fingerprint, 400))}",
            f'  reason = "{say("reason_here", self.language)}"',
            f"  expires = {until.isoformat()}",
        )


def _yaml(word: str, plain: re.Pattern[str]) -> str:
    """A word as it can stand in YAML: in quotes where it is not of the usual form."""
    return word if plain.fullmatch(word) and not word.isdigit() else json.dumps(clean(word, 400))


def _told_apart(budget: Budget) -> tuple[str, str]:
    """The limit and what was measured, with as many digits as it takes to see that one is above the other."""
    limit, measured = show(budget.limit, budget.unit), show(budget.measured, budget.unit)
    if budget.measured is None or limit != measured or budget.kept:
        return limit, measured
    match budget.unit:
        case "share":
            return f"{budget.limit * 100:.5g} %", f"{budget.measured * 100:.5g} %"
        case "us":
            return f"{budget.limit:,.1f} µs", f"{budget.measured:,.1f} µs"
        case _:
            return f"{budget.limit:,.0f} B", f"{budget.measured:,.0f} B"
