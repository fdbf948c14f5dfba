# SPDX-License-Identifier: Apache-2.0
"""A diagnosis as a page: the parts of its document, laid out to be searched, folded and looked at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec.structs import replace

from advisor.messages.text import Language, TimesOf
from advisor.model.findings import Diagnosis, Severity
from advisor.report.blocks import (
    Block,
    Code,
    Document,
    FactLine,
    Fold,
    Grid,
    Heading,
    ListBlock,
    Meter,
    Paragraph,
    SearchForm,
    Section,
    bullet_list,
    led_by,
    quiet_line,
)
from advisor.report.charts.draw import Renderer
from advisor.report.charts.specs import Chart, exhibit_charts
from advisor.report.diagnosis.cards import Card, CardLink, Where
from advisor.report.diagnosis.document import FULL_CARDS, DiagnosisBlocks
from advisor.report.diagnosis.finding import FindingBlocks, remedy_list, severity_piece
from advisor.report.diagnosis.outcomes import unread_in_full
from advisor.report.pages import Drawings, bounded_page, figure_blocks, page_part
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, join_prose, plain_prose, quiet, strong, toned
from advisor.report.run_summary import run_line
from advisor.report.verdict_line import verdict_line

if TYPE_CHECKING:
    from advisor.model.verdict import Verdict

CATEGORY_CHARTS: Mapping[str, tuple[str, ...]] = {
    "comm": ("step_course", "time_split", "links"),
    "host": ("step_course", "idle_causes", "launch_latency"),
    "compute": ("operators", "rooflines"),
    "ranks": ("rank_map", "time_split", "rank_steps"),
    "pipeline": ("step_course", "time_split"),
    "memory": ("memory_course",),
    "io": ("step_course", "idle_causes"),
}
"""The charts worth a look beside a finding of a category."""
_MEASURED = (False, True, True)
"""Of the columns of what was measured, those that stand to the right."""


def diagnosis_page(
    diagnosis: Diagnosis, language: Language, renderer: Renderer | None = None, judged: Verdict | None = None
) -> str:
    """The report as one HTML document; of a run that was `judged` it begins with the verdict. Charts that cannot be
    drawn are named as missing."""
    charts = exhibit_charts(diagnosis.exhibits, language, diagnosis.run.hosts, diagnosis.run.times_of)
    most = (FULL_CARDS, FULL_CARDS // 3, 5, 0)
    return bounded_page(charts, most, lambda: _PageBlocks(diagnosis, language, charts, judged).page, renderer)


class _FindingArticle(FindingBlocks):
    """A finding on a page: what to do beside its evidence, with links to other findings and to charts."""

    def __init__(self, language: Language, times_of: TimesOf, shown: Iterable[Card], charts: Sequence[Chart]) -> None:
        super().__init__(language, times_of, shown)
        self.charts = charts

    def article(self, card: Card) -> Section:
        """The whole finding."""
        won = TextPiece(card.gain, strong=True) if card.saving_time else TextPiece(card.saving, tone="quiet")
        assumes = toned((TextPiece("  "), *self.label("assumes"), *card.assumes), "quiet") if card.assumes else ()
        number = TextPiece(f"{card.number} ", tone="quiet")
        title = (Heading((number, *card.title), 3), FactLine(tuple(self.about(card))), Paragraph((won, *assumes)))
        steps = (*remedy_list(card.actions, self.language), *self.watched(card))
        fix = (self.heading("fix", 4), *steps)
        columns = (*([Section(fix, "fix")] if card.actions else []), Section(tuple(self.proof(card)), "proof"))
        return Section(
            (
                Section(title, element="header"),
                Section(card.why, "why"),
                *map(Paragraph, self.links(card)),
                Section(columns, "columns"),
                *self.moments(card),
                *self.rows(card),
                *self.chart_links(card),
                *self.references(card),
            ),
            look="finding folded" if card.is_folded else "finding",
            anchor=card.anchor,
            element="article",
            data={"severity": card.severity, "category": card.category},
        )

    def about(self, card: Card) -> Iterator[Prose]:
        yield from super().about(card)
        if card.status:
            yield plain_prose(card.status)
        yield (TextPiece("#", url=f"#{card.anchor}"),)

    def linked(self, said: Prose, link: CardLink) -> Prose:
        return link_prose(said, link.anchor)

    def cost(self, where: Where) -> Prose:  # stands at the other end of its line
        return (TextPiece(" "), TextPiece(where.saving, tone="quiet"))

    def proof(self, card: Card) -> Iterator[Block]:
        """What was measured, where, and what else was held against thresholds."""
        if card.measures:
            worst = quiet(f" {self.say('evidence_at')}" if len(card.places) > 1 else "")
            yield Heading((TextPiece(self.say("evidence")), *worst), 4)
            yield replace(self.measures(card.measures), numeric=_MEASURED, below=3)
        if card.places:
            yield self.heading("seen_at", 4)
            yield Section(bullet_list(self.places(card)), "places")
        yield from map(Paragraph, self.called_from(card))
        if card.thresholds:
            rows = ((*one.label, *toned(one.basis, "note")) for one in card.thresholds)
            grid = Grid(((), ()), tuple(zip(rows, (one.value for one in card.thresholds), strict=True)), (False, True))
            yield Fold(self.prose_of("thresholds"), (grid,))

    def moments(self, card: Card) -> Iterator[Fold]:
        """The worst events, to look at in a timeline."""
        if not card.moments:
            return
        names = ("event_name", "seen_at", "after_step", "lasts", "in_timeline", "recorded_start")
        rows = ((one.name, one.place, one.since_step, one.lasts, one.span, one.start_ns) for one in card.moments)
        grid = self.grid(names, rows, (False, False, True, True, True, True))
        title = TextPiece(self.say("occurrences") + " ")
        yield Fold((title, *toned(card.moments[0].line, "quiet")), (grid,))

    def chart_links(self, card: Card) -> Iterator[Paragraph]:
        """The charts that are worth a look beside it."""
        wanted = CATEGORY_CHARTS.get(card.category, ())
        beside = [link_prose(plain_prose(one.title), f"chart-{one.kind}") for one in self.charts if one.kind in wanted]
        if beside:
            yield Paragraph((*self.label("charts"), *join_prose(self.semicolon, beside)))


class _PageBlocks(DiagnosisBlocks):
    """The parts of a diagnosis, each as a section of a page."""

    def __init__(
        self, diagnosis: Diagnosis, language: Language, charts: Sequence[Chart], judged: Verdict | None = None
    ) -> None:
        super().__init__(diagnosis, language)
        self.charts, self.judged = charts, judged

    def page(self, full: int, drawn: Drawings) -> Document:
        """The page with so many whole findings, and the charts that could be drawn."""
        self.full = full
        charts = [chart for chart in self.charts if chart.kind in drawn]
        self.articles = _FindingArticle(self.language, self.diagnosis.run.times_of, self.made, charts)
        name = clean_line(self.diagnosis.run.name, 80)
        line = TextPiece(f"  {run_line(self.diagnosis.run, self.language)}", tone="quiet")
        return Document(
            self.language,
            tuple(self.sections(drawn)),
            self.diagnosis.version,
            (*(code_prose(name) if name else ()), line),
            " · ".join(filter(None, (name, self.say("report")))),
        )

    def sections(self, drawn: Drawings) -> Iterator[Block]:
        """The page from top to bottom."""
        yield Section(tuple(self.verdict()), f"verdict verdict-{self.headline.kind}", element="section")
        yield from page_part("findings", self.ranking(), self.say("findings"))
        yield from self.notice()
        yield from page_part("details", self.details())
        yield from page_part("more", self.others())
        figures = tuple(figure_blocks(self.charts, drawn, self.language))
        yield from page_part("charts", (self.heading("charts"), *figures) if figures else (), self.say("charts"))
        yield from page_part("run", self.run(), self.say("run"))
        yield from page_part("unchecked", self.not_checked(), self.say("unchecked_short"))
        yield from page_part("checked", self.checked(titled=True), self.say("rules_short"))
        yield from page_part("unread", unread_in_full(self.diagnosis.unread, self.language))

    def verdict(self) -> Iterator[Block]:
        """The answer, to be seen first."""
        said = self.headline
        if self.judged is not None:
            yield Section((Paragraph(strong(verdict_line(self.judged, self.language))),), "lead")
        yield Heading(plain_prose(said.time or said.says or self.say("title")), 1)
        if said.first:
            title = replace(said.first, title=link_prose(strong(said.first.title), said.first.anchor))
            yield Section((Paragraph(self.lead(title, (TextPiece(f"{said.label} ", tone="label"),))),), "lead")
            yield from self.first_step(said.first)
        elif said.time:
            yield Section((Paragraph(plain_prose(said.says)),), "lead")
        yield from self.remarks("quiet")
        yield from self.split()
        if not self.parts and self.diagnosis.outcomes:
            yield quiet_line(self.prose_of("no_split"))

    def won(self, said: str) -> Prose:
        return quiet(f" {said}")

    def first_step(self, card: Card) -> Iterator[Section]:
        """What to do first, with its command."""
        for first in card.actions[:1]:
            label = (TextPiece(self.say("next_step") + " ", tone="label"),)
            command = first.run or first.code
            yield Section((*led_by(label, first.do), *([Code(command)] if command else [])), "first-step")

    def ranking(self, *, titled: bool = True) -> Iterator[Block]:
        if not self.cards:
            return
        severities = {card.severity: card.severity_word for card in self.cards}
        search = SearchForm(
            tuple((level.name, severities[level.name]) for level in reversed(Severity) if level.name in severities),
            tuple({card.category: card.category_word for card in self.cards}.items()),
        )
        yield Section((self.heading("findings"), search), "heading")
        yield Section((ListBlock(tuple((self.ranked(card),) for card in self.cards), start=1),), "ranking")
        keys = (
            TextPiece(" "),
            *(TextPiece(key, code=True) for key in "/jk"),
            TextPiece(f" {self.say('keys')}"),
        )
        yield Paragraph((*quiet(self.say("rank_by")), *toned(keys, "keys")))

    def ranked(self, card: Card) -> Section:
        """A finding in the ranking: a line that leads to it, with what it wins drawn beside it."""
        seen_as = self.say("part_of" if card.is_partly else "same_time")
        same = quiet(seen_as + self.colon if card.is_folded else "")
        place = [plain_prose(card.place_in_short)] if card.place_in_short else []
        about = FactLine(((severity_piece(card),), plain_prose(card.category_word), *place))
        what = Section((Paragraph((*same, *strong(card.title))), about), "what")
        number = Paragraph(quiet(card.number))
        return Section(
            (number, what, Section(tuple(_saving_blocks(card)), "saving")),
            "folded" if card.is_folded else "",
            element="a",
            data={"card": card.anchor},
            link=f"#{card.anchor}",
        )

    def linked_notice(self) -> Prose:
        return link_prose(super().linked_notice(), "unchecked")

    def details(self) -> Iterator[Block]:
        """Every finding with all it holds."""
        if self.cards:
            yield self.heading("details")
            yield from map(self.articles.article, self.cards)

    def finding_line(self, card: Card) -> Block:
        return Section((super().finding_line(card),), anchor=card.anchor)


def _saving_blocks(card: Card) -> Iterator[Block]:
    """What fixing it wins, in words and as a part of the step."""
    if not card.saving_time:
        yield Paragraph(quiet(card.saving))
        return
    amount = (TextPiece(f"{card.bound} ", tone="quiet"), TextPiece(card.saving_time, strong=True))
    yield FactLine((amount, *([plain_prose(card.share)] if card.share else [])))
    yield Meter(round(min(max(card.finding.saving.share, 0.0), 1.0) * 100, 1))


def link_prose(said: Prose, anchor: str) -> Prose:
    """Words that lead to another part of the page."""
    return tuple(replace(piece, url=f"#{anchor}") for piece in said)
