# SPDX-License-Identifier: Apache-2.0
"""A comparison as a page: the parts of its document, laid out to be folded and looked at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from advisor.messages.text import Language
from advisor.model.comparison import Comparison, Shift
from advisor.model.findings import Confidence
from advisor.report.blocks import (
    BarPair,
    Block,
    Blocks,
    Document,
    FactLine,
    Fold,
    Heading,
    Paragraph,
    Quote,
    Section,
    TimeBar,
    bullet_list,
    paragraph_of,
    quiet_line,
)
from advisor.report.charts.draw import Renderer
from advisor.report.charts.specs import Chart
from advisor.report.comparison.document import ComparisonBlocks
from advisor.report.comparison.figures import comparison_charts
from advisor.report.comparison.items import Item
from advisor.report.comparison.sides import sides_chosen, sides_in_title
from advisor.report.diagnosis.finding import remedy_list
from advisor.report.pages import Drawings, bounded_page, figure_blocks, page_part
from advisor.report.prose import Prose, TextPiece, Tone, code_prose, plain_prose, quiet, strong, toned
from advisor.report.time_split import COLOURS
from advisor.units import show_value

ROWS = 30
"""Rows of each table; spreadsheets hold the others."""


def comparison_page(comparison: Comparison, language: Language, renderer: Renderer | None = None) -> str:
    """The comparison as one HTML document. Charts that cannot be drawn are named as missing."""
    shown = _PageBlocks(comparison, language, ROWS)
    return bounded_page(shown.charts, (ROWS, 10, 0), lambda: shown.page, renderer)


class _PageBlocks(ComparisonBlocks):
    """The parts of a comparison, each as a section of a page."""

    @property
    def charts(self) -> tuple[Chart, ...]:
        """What is drawn of it."""
        return comparison_charts(self.comparison, self.entries, self.language)

    def page(self, rows: int, drawn: Drawings) -> Document:
        """The page with so many rows of each table, and the charts that could be drawn."""
        self.rows = rows
        brand, sides = sides_in_title(self.comparison, self.language)
        name = f"{sides} · {self.say('report')}"
        return Document(self.language, tuple(self.sections(drawn)), self.comparison.after.version, brand, name)

    def sections(self, drawn: Drawings) -> Iterator[Block]:
        """The page from top to bottom."""
        yield Section(tuple(self.seen_first()), f"verdict verdict-{self.verdict.kind}", element="section")
        title, *account = self.account()
        figures = figure_blocks(self.charts, drawn, self.language)
        yield from page_part("moved", (title, *figures, *account), self.say("moved"))
        yield from page_part("changes", self.changes(), self.say("findings"))
        yield from page_part("tables", self.tables(), self.say("tables"))
        notes = [Quote((self.heading("notes", 4), *bullet_list(self.notes)))] if self.notes else []
        yield from page_part("runs", (self.heading("runs"), *notes, self.runs()), self.say("runs"))

    def seen_first(self) -> Iterator[Block]:
        """The answer, and both steps drawn to one scale."""
        said = self.verdict
        yield Heading(plain_prose(said.says), 1)
        yield Section(self.lead, "lead")
        tone: Tone = "warn" if self.comparison.confidence == Confidence.low else "quiet"
        yield Paragraph((TextPiece(said.sure, tone=tone),))
        yield from sides_chosen(self.comparison, self.language)
        for times in self.times():
            yield self.bars()
            yield Section((times,), "times")
            yield quiet_line(self.prose_of("split_note"))

    def bars(self) -> BarPair:
        """The step on both sides, each made of its parts where they are known."""
        (step, *parts) = self.comparison.shifts
        longest = max(step.before_us, step.after_us)
        drawn: list[tuple[str, Shift]] = [(COLOURS[one.name], one) for one in parts] or [("whole", step)]
        sides = (
            ("Before", step.before_us, [(colour, _percent(one.before_us, longest)) for colour, one in drawn]),
            ("After", step.after_us, [(colour, _percent(one.after_us, longest)) for colour, one in drawn]),
        )
        bars = (
            TimeBar(self.say(name), show_value(us, "us"), _percent(us, longest), tuple(split))
            for name, us, split in sides
        )
        return BarPair(tuple(bars))

    def item(self, item: Item, *, folded: bool) -> Iterator[Block]:
        worth = paragraph_of(*quiet(item.saving))
        title = Section((Paragraph(strong(item.title)), *worth), "line")
        severity = (TextPiece(item.severity_words, tone=cast("Tone", item.severity)),)
        sure = [plain_prose(self.say("confidence") + self.colon + item.confidence)] if item.confidence else []
        about = FactLine((severity, plain_prose(item.category), *sure, code_prose(item.rule)))
        notes = [block for said in (item.reason, self.cause(item)) for block in paragraph_of(*toned(said, "quiet"))]
        values = () if folded else bullet_list(map(self.value, item.values))
        help_fold: Blocks = ()
        if card := item.card_to_act_on:
            fix = (Section(card.why, "why"), Section(remedy_list(card.actions, self.language), "fix"))
            help_fold = (Fold(self.prose_of("how_to_fix"), fix),)
        yield Section((title, about, *notes, *values, *help_fold), "change", item.anchor)

    def run_row(self, label: str, before: Prose, after: Prose) -> tuple[Prose, ...]:
        row = super().run_row(label, before, after)
        return row if before == after else (row[0], *map(strong, row[1:]))


def _percent(us: float, longest: float) -> float:
    return round(min(max(us, 0.0) / longest, 1.0) * 100, 2) if longest > 0 else 0.0
