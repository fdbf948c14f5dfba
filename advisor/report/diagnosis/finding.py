# SPDX-License-Identifier: Apache-2.0
"""A finding as blocks: what it means, its evidence, where it was seen, what to do."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import cast

from advisor.messages.text import Language, TimesOf
from advisor.report.blocks import (
    Block,
    Blocks,
    Code,
    FactLine,
    Fold,
    Grid,
    Heading,
    ListBlock,
    Paragraph,
    Section,
    bullet_list,
    led_by,
    quiet_line,
)
from advisor.report.diagnosis.cards import Card, CardLink, CardMeasure, CardStep, Where, order_of, worst_place
from advisor.report.phrases import Phrases
from advisor.report.prose import Prose, TextPiece, Tone, code_prose, flat_text, join_prose, plain_prose, strong, toned
from advisor.report.words import say, say_aside

MOST_MOMENTS = 3
ARROW = TextPiece("→", tone="good")


def remedy_list(steps: Iterable[CardStep], language: Language, run: str = "sh", code: str = "") -> Blocks:
    """The steps of a remedy, each with its commands; `run` and `code` name the languages of these."""
    care = (TextPiece(say("care", language) + say("colon", language), tone="warn"),)
    items = tuple(
        (
            *step.do,
            *([Code(step.run, run)] if step.run else []),
            *([Code(step.code, code)] if step.code else []),
            *([Section(led_by(care, step.care), "care")] if step.care else ()),
        )
        for step in steps
    )
    return (ListBlock(items, start=1, loose=True),) if items else ()


class FindingBlocks(Phrases):
    """Makes blocks of findings in one language; what makes several of those that are `shown` less certain is named by
    its number."""

    wording = say

    def __init__(self, language: Language, times_of: TimesOf = "step", shown: Iterable[Card] = ()) -> None:
        super().__init__(language, times_of)
        cited = Counter(link.number for card in shown for link in card.doubts)
        self.shared = frozenset(number for number, times in cited.items() if times > 1)

    def whole(self, card: Card, *, numbered: bool = True) -> Iterator[Block]:
        """Title, what it means, evidence, rows, remedy, and where to read more."""
        yield Heading((*plain_prose(f"{card.number} · " if numbered else ""), *card.title))
        yield FactLine((*self.about(card), plain_prose(card.gain)))
        yield from card.why
        yield from map(Paragraph, self.links(card))
        if card.measures:
            yield self.measures(card.measures)
        worst = join_prose(self.semicolon, (one.line for one in card.moments[:MOST_MOMENTS]))
        moments = [(*self.label("worst"), *worst)] if card.moments else []
        yield from bullet_list([*self.places(card), *moments, *self.called_from(card)])
        yield from self.rows(card)
        if card.actions:
            yield Paragraph((TextPiece(self.say("fix"), strong=True),))
            yield from remedy_list(card.actions, self.language)
            yield from self.watched(card)
        if card.assumes:
            yield Paragraph((*self.label("assumes"), *card.assumes))
        yield from self.references(card)

    def watched(self, card: Card) -> Iterator[Paragraph]:
        """What tells afterwards whether the remedy helped: the value that was held against a threshold, else, where
        there is time to win, the first one."""
        first = card.measures[:1] if card.finding.saving.us > 0 else ()
        watched = next(iter([*(item for item in card.measures if item.threshold), *first]), None)
        if watched is not None and not card.is_folded:
            key = "watch_value" if watched.threshold else "watch_bare_value"
            now = self.say(key, value=flat_text(watched.value), threshold=watched.threshold)
            yield Paragraph((*self.label("watch"), *watched.label, TextPiece(now)))

    def short(self, card: Card) -> ListBlock:
        """Title, saving, where, and what to do first: lines below each other, behind the number."""
        return ListBlock((tuple(self._short_lines(card)),), mark=TextPiece(f"{card.number:>2} ", strong=True))

    def titles(self, links: Iterable[CardLink]) -> Prose:
        """The titles of other findings in one line."""
        return join_prose(self.semicolon, (self.linked(link.title, link) for link in links))

    def linked(self, said: Prose, link: CardLink) -> Prose:
        """What is said of another finding; where it can lead anywhere, it leads there."""
        return said

    def doubted(self, card: Card) -> Iterator[Prose]:
        """Which findings make it less certain: in full, but those that many share by their numbers."""
        said = [self.linked(link.title, link) for link in card.doubts if link.number not in self.shared]
        links = sorted((one for one in card.doubts if one.number in self.shared), key=lambda one: order_of(one.number))
        if links:
            numbers = join_prose(self.say("listed"), (self.linked(plain_prose(link.number), link) for link in links))
            said.append((*self.prose_of("see_findings", count=len(links)), *numbers))
        if said:
            yield (*self.label("doubted_by"), *join_prose(self.semicolon, said))

    def about(self, card: Card) -> Iterator[Prose]:
        """How grave it is, of which kind, how sure, and by which rule."""
        yield (severity_piece(card),)
        yield plain_prose(card.category_word)
        yield plain_prose(self.say("confidence") + self.colon + card.confidence_word)
        yield code_prose(card.rule)

    def links(self, card: Card, *, folds_alone: bool = False) -> Iterator[Prose]:
        """What it has to do with other findings, a line for each kind; or only with those that are shown under it."""
        folds = (("same_time", card.same_time), ("part_of", card.partly))
        others = ((card.caused, card.causes), *folds, ("explains", card.other_symptoms))
        for name, links in folds if folds_alone else others:
            if links:
                yield (*self.label(name), *self.titles(links))
        yield from self.doubted(card)

    def measures(self, measures: Iterable[CardMeasure]) -> Grid:
        """What was measured, and what it was held against."""
        rows = ((one.label, one.value, one.threshold or "–", one.basis) for one in measures)
        return self.grid(("measure", "value", "threshold", "basis"), rows)

    def places(self, card: Card) -> Iterator[Prose]:
        """Where it was seen, and what it costs there."""
        for where in card.places:
            yield (TextPiece(where.place), *(self.cost(where) if where.saving else ()))
        if card.more_places:
            yield self.prose_of("more_places", count=card.more_places)

    def cost(self, where: Where) -> Prose:
        """What it costs at a place, behind the name of the place."""
        return (TextPiece(self.colon), TextPiece(where.saving, tone="quiet"))

    def called_from(self, card: Card) -> Iterator[Prose]:
        """Where in the model it is, and the user's line behind it, where they are known."""
        if card.modules:
            yield (*self.label("in_modules"), *card.modules)
        if card.line:
            yield (*self.label("called_from"), *card.line)

    def rows(self, card: Card) -> Iterator[Fold]:
        """The rows behind it, folded away."""
        rows = card.excerpt
        if rows is not None:
            note = (TextPiece(say_aside(rows.note, self.language), tone="quiet"),) if rows.note else ()
            since = (self.sentence("since_start"),) if rows.timed else ()
            yield Fold((TextPiece(self.say("excerpt")), *note), (rows.grid, *since), is_open=True)

    def references(self, card: Card) -> Iterator[Paragraph]:
        """Where to read more."""
        if card.references:
            yield Paragraph((*self.label("references"), *join_prose(self.semicolon, card.references)))

    def _short_lines(self, card: Card) -> Iterator[Block]:
        yield Paragraph(strong(card.title))
        severity, _, sure, rule = self.about(card)
        yield Paragraph((*severity, TextPiece(f"  {card.gain}  "), *toned(sure, "quiet")))
        place = worst_place(card, self.language)
        yield quiet_line((*plain_prose(f"{place}  " if place else ""), *rule))
        yield from map(quiet_line, (*self.links(card, folds_alone=True), *self.called_from(card)))
        if card.moments:
            yield quiet_line((*self.label("worst"), *card.moments[0].line))
        if card.actions:
            first = card.actions[0]
            yield ListBlock((first.do,), mark=ARROW)
            if first.run or first.code:
                yield Code(first.run or first.code)


def severity_piece(card: Card) -> TextPiece:
    """How grave it is, in its colour."""
    return TextPiece(card.severity_word, tone=cast("Tone", card.severity))
