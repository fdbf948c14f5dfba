# SPDX-License-Identifier: Apache-2.0
"""A diagnosis as a document: the answer first, then each finding with its evidence and remedy, then the run.

`diagnosis_document` says all of it, `diagnosis_summary` what fits on a terminal, `diagnosis_overview` what stands in
the cell of a notebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import cast

from msgspec.structs import replace

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis, Finding, RuleInfo
from advisor.model.run import Run
from advisor.report.blocks import (
    Block,
    Blocks,
    Code,
    Document,
    Fold,
    Grid,
    Heading,
    ListBlock,
    Paragraph,
    Quote,
    bullet_list,
    first_paragraph,
    led_by,
    paragraph_of,
)
from advisor.report.diagnosis.cards import Card, CardLink, CardMeasure, CardStep, make_cards
from advisor.report.diagnosis.headline import Headline
from advisor.report.diagnosis.view import ReportView, diagnosis_view
from advisor.report.occurrence_times import When
from advisor.report.prose import Prose, TextPiece, Tone, clean_line, code_prose, join_prose, plain_prose, strong, toned
from advisor.report.words import say, say_rule_count

MOST_MOMENTS = 3
MOST_REASONS = 4
MOST_RULES = 3
ARROW = TextPiece("→", tone="good")


def diagnosis_document(diagnosis: Diagnosis, language: Language) -> Document:
    """Everything that a report says."""
    return _document_of(_Maker(diagnosis_view(diagnosis, language)).whole(), diagnosis, language)


def diagnosis_summary(diagnosis: Diagnosis, language: Language, top: int = 5, *, is_written: bool = False) -> Document:
    """The answer with at most `top` findings, each with its saving and its first step, and what was not checked.

    `is_written` says whether a report holds the rest.
    """
    shown = diagnosis_view(diagnosis, language, full=max(top, 1))
    return _document_of(_Maker(shown).short(top, is_written), diagnosis, language)


def diagnosis_overview(diagnosis: Diagnosis, language: Language, most: int) -> Document:
    """The answer, and at most so many findings as a table."""
    return _document_of(_Maker(diagnosis_view(diagnosis, language, full=most)).overview(), diagnosis, language)


def finding_document(finding: Finding, language: Language, info: RuleInfo | None = None) -> Document:
    """One finding with all that is known of it, its fingerprint last; `info` is what is known of its rule."""
    alone = Diagnosis(run=Run(steps=(1,)), findings=(finding,), rules=() if info is None else (info,))
    (card,) = make_cards(alone, language)
    name = Paragraph(toned(code_prose(finding.fingerprint), "quiet"))
    return _document_of((*FindingBlocks(language).whole(card, numbered=False), name), alone, language)


def _document_of(blocks: Iterable[Block], diagnosis: Diagnosis, language: Language) -> Document:
    return Document(language, tuple(blocks), clean_line(diagnosis.version, 40))


def remedy_list(steps: Iterable[CardStep], language: Language, run: str = "sh", code: str = "") -> Blocks:
    """The steps of a remedy, each with its commands; `run` and `code` name the languages of these."""
    care = (TextPiece(say("care", language) + say("colon", language), tone="warn"),)
    items = (
        (
            *step.do,
            *([Code(step.run, run)] if step.run else []),
            *([Code(step.code, code)] if step.code else []),
            *(led_by(care, step.care) if step.care else ()),
        )
        for step in steps
    )
    made = tuple(items)
    return (ListBlock(made, start=1, loose=True),) if made else ()


class FindingBlocks:
    """Makes blocks of findings in one language."""

    def __init__(self, language: Language) -> None:
        self.language = language
        self.colon, self.semicolon = say("colon", language), say("semicolon", language)

    def whole(self, card: Card, *, numbered: bool = True) -> Iterator[Block]:
        """Title, what it means, evidence, rows, remedy, and where to read more."""
        yield Heading((*plain_prose(f"{card.number} · " if numbered else ""), *card.title))
        yield Paragraph(self._meta(card))
        yield from card.why
        for name, links in (
            ("caused_by", card.causes),
            ("same_time", card.folds),
            ("explains", card.other_symptoms),
            ("doubted_by", card.doubts),
        ):
            if links:
                yield Paragraph((*self.label(name), *self.titles(links)))
        yield from self._evidence(card)
        yield from self._rows(card)
        if card.actions:
            yield Paragraph((TextPiece(say("fix", self.language), strong=True),))
            yield from remedy_list(card.actions, self.language)
        if card.assumes:
            yield Paragraph((*self.label("assumes"), *card.assumes))
        if card.references:
            sources = (tuple(replace(piece, url=one.url) for piece in one.title) for one in card.references)
            yield Paragraph((*self.label("references"), *join_prose(self.semicolon, sources)))

    def short(self, card: Card) -> ListBlock:
        """Title, saving, where, and what to do first: lines below each other, behind the number."""
        return ListBlock((tuple(self._short_lines(card)),), mark=TextPiece(f"{card.number:>2} ", strong=True))

    def label(self, name: str) -> Prose:
        """A word before what it names."""
        return plain_prose(say(name, self.language) + self.colon)

    def titles(self, links: Iterable[CardLink]) -> Prose:
        """The titles of other findings in one line."""
        return join_prose(self.semicolon, (link.title for link in links))

    def _short_lines(self, card: Card) -> Iterator[Block]:
        yield Paragraph(strong(card.title))
        yield Paragraph(
            (_severity_piece(card), TextPiece(f"  {card.saving}"), TextPiece(f"  {card.category_word}", tone="quiet"))
        )
        place = card.places[0].place if card.places else ""
        if place and place != say("whole_run", self.language):
            more = f" {say('more_places', self.language, count=card.more_places)}" if card.more_places else ""
            yield _quiet_line(plain_prose(place + more))
        for name, links in (("same_time", card.folds), ("doubted_by", card.doubts)):
            if links:
                yield _quiet_line((*self.label(name), *self.titles(links)))
        if card.line:
            yield _quiet_line((*self.label("called_from"), *card.line))
        if card.moments:
            yield _quiet_line((*self.label("worst"), *card.moments[0].line))
        if card.actions:
            first = card.actions[0]
            yield ListBlock((first.do,), mark=ARROW)
            if first.run or first.code:
                yield Code(first.run or first.code)

    def _meta(self, card: Card) -> Prose:
        said = (
            (_severity_piece(card),),
            plain_prose(card.category_word),
            (*self.label("confidence"), TextPiece(card.confidence_word)),
            code_prose(card.rule),
            plain_prose(card.saving),
        )
        return join_prose(" · ", said)

    def _evidence(self, card: Card) -> Iterator[Block]:
        if card.measures:
            heads = tuple(plain_prose(say(name, self.language)) for name in ("measure", "value", "threshold", "basis"))
            yield Grid(heads, tuple(map(_measure_row, card.measures)))
        places = [
            plain_prose(where.place + (f"{self.colon}{where.saving}" if where.saving else "")) for where in card.places
        ]
        if card.more_places:
            places.append(plain_prose(say("more_places", self.language, count=card.more_places)))
        if card.moments:
            worst = join_prose(self.semicolon, map(_moment_prose, card.moments[:MOST_MOMENTS]))
            places.append((*self.label("worst"), *worst))
        if card.line:
            places.append((*self.label("called_from"), *card.line))
        yield from bullet_list(places)

    def _rows(self, card: Card) -> Blocks:
        """The rows behind it, folded away."""
        rows = card.excerpt
        if rows is None:
            return ()
        note = plain_prose(f" ({rows.note})") if rows.note else ()
        since = (Paragraph(plain_prose(say("since_start", self.language))),) if rows.timed else ()
        return (Fold((TextPiece(say("excerpt", self.language)), *note), (rows.grid, *since)),)


class _Maker:
    def __init__(self, shown: ReportView) -> None:
        self.shown, self.language = shown, shown.language
        self.colon = say("colon", shown.language)
        self.findings = FindingBlocks(shown.language)

    def whole(self) -> Iterator[Block]:
        shown = self.shown
        yield self.heading("report", 1)
        name = (code_prose(shown.name),) if shown.name else ()
        line = (plain_prose(shown.line),) if shown.line else ()
        yield from paragraph_of(*join_prose(" · ", (*name, *line)))
        yield from self.headline()
        yield from shown.split
        yield from self.ranking()
        yield from self.notice()
        for card in shown.cards:
            yield from self.findings.whole(card)
        yield from self.others()
        if shown.facts:
            yield self.heading("run")
            yield from bullet_list((TextPiece(one.label + self.colon), *one.value) for one in shown.facts)
        yield from self.unchecked()
        yield from self.checked()
        yield from self.unread()
        yield Paragraph(plain_prose(say("made_by", self.language, version=shown.version)))

    def overview(self) -> Iterator[Block]:
        shown = self.shown
        yield from self.headline(with_step=False)
        yield from shown.split
        yield from self.ranking(titled=False)
        left = len(shown.short) + shown.left_out
        notes = [say("more_of_all", self.language, count=left)] if left else []
        notes += [shown.blind_words] if shown.blind else []
        if notes:
            yield _quiet_line(plain_prose(" · ".join(notes)))

    def short(self, top: int, is_written: bool) -> Iterator[Block]:
        shown = self.shown
        yield from self.headline_line()
        yield from shown.split
        listed = [card for card in (*shown.cards, *shown.short) if not card.is_folded]
        yield from map(self.findings.short, listed[:top])
        more = len(listed) + shown.left_out - min(len(listed), top)
        if more:
            name = "more_in_report" if is_written else "more_findings_short"
            yield _quiet_line(plain_prose(say(name, self.language, count=more)), begins=True)
        yield from self.unchecked_briefly()
        if shown.unread:
            yield _quiet_line(self.first_unread(), begins=True)

    def heading(self, name: str, level: int = 2, **values: object) -> Heading:
        return Heading(plain_prose(say(name, self.language, **values)), level)

    def headline(self, *, with_step: bool = True) -> Iterator[Block]:
        """Where the time goes, what to fix first, and its first step: a paragraph each."""
        said = self.shown.headline
        if said.time:
            yield Paragraph((TextPiece(said.time, strong=True),))
        if said.first:
            won = plain_prose(f" — {said.won}") if said.won else ()
            yield Paragraph((*self.strong_label(said.label), *said.first.title, *won))
            if said.first.actions and with_step:
                step = self.strong_label(say("next_step", self.language))
                yield Paragraph((*step, *first_paragraph(said.first.actions[0].do)))
        else:
            yield Paragraph(plain_prose(said.says))
        yield from paragraph_of(*said.beyond)

    def strong_label(self, words: str) -> Prose:
        return (TextPiece(words, strong=True), TextPiece(self.colon))

    def headline_line(self) -> Iterator[Block]:
        """The same in one line; of a symptom or a doubt it says what to do next."""
        said = self.shown.headline
        second = plain_prose(said.says) if said.says else self.leading_sentence(said)
        first = (TextPiece(said.time, strong=True),) if said.time else ()
        yield Paragraph(self.in_a_row(first, second))
        if said.beyond:
            yield _quiet_line(said.beyond)

    def leading_sentence(self, said: Headline) -> Prose:
        if said.first is None:
            return ()
        won = plain_prose(f"{' — ' if self.language == 'en' else '——'}{said.won}") if said.won else ()
        stop = TextPiece(say("full_stop", self.language))
        line = (TextPiece(said.label + self.colon), *said.first.title, *won, stop)
        if said.kind == "fix" or not said.first.actions:
            return line
        return self.in_a_row(line, (*self.findings.label("next_step"), *first_paragraph(said.first.actions[0].do)))

    def in_a_row(self, *sentences: Prose) -> Prose:
        """Sentences behind each other, as the language does it."""
        return join_prose(" " if self.language == "en" else "", filter(None, sentences))

    def ranking(self, *, titled: bool = True) -> Iterator[Block]:
        if not self.shown.cards:
            return
        if titled:
            yield self.heading("findings")
        names = ("finding", "severity", "confidence", "saving", "seen_at")
        heads = (plain_prose("#"), *(plain_prose(say(name, self.language)) for name in names))
        yield Grid(heads, tuple(map(_ranking_row, self.shown.cards)))
        yield Paragraph(plain_prose(say("rank_by", self.language)))

    def notice(self) -> Iterator[Block]:
        """What to record before the rest can be judged."""
        shown = self.shown
        if not shown.recordable:
            return
        more = plain_prose(" …") if len(shown.unchecked) > 1 else ()
        said = (TextPiece(shown.blind_words + self.colon), *shown.recordable[0].reason, *more)
        yield Quote((*paragraph_of(*shown.blind_note), Paragraph(said)))

    def others(self) -> Iterator[Block]:
        """Findings beyond the first, a line each."""
        shown = self.shown
        if not shown.short:
            return
        yield self.heading("more_findings", count=len(shown.short))
        lines = [
            join_prose(" · ", (plain_prose(card.severity_word), card.title, plain_prose(card.saving)))
            for card in shown.short
        ]
        left = [plain_prose(say("left_out", self.language, count=shown.left_out))] if shown.left_out else []
        yield from bullet_list([*lines, *left])

    def unchecked(self) -> Iterator[Block]:
        shown = self.shown
        if not shown.unchecked:
            return
        yield self.heading("unchecked")
        yield from paragraph_of(*shown.blind_note)
        yield from bullet_list(
            (*group.reason, TextPiece(f" — {group.count}{self.colon}"), *join_prose(" ", map(code_prose, group.rules)))
            for group in shown.unchecked
        )

    def unchecked_briefly(self) -> Iterator[Block]:
        shown = self.shown
        if not shown.unchecked:
            return
        said = f"{say('unchecked', self.language)}{self.colon}{say_rule_count(shown.blind, self.language)}"
        yield Paragraph((TextPiece(said, strong=True),), begins=True)
        yield from paragraph_of(*shown.blind_note)
        groups = shown.unchecked[:MOST_REASONS]
        lines = [(*group.reason, *toned(self.names_briefly(group.count, group.rules), "quiet")) for group in groups]
        yield from bullet_list(lines, TextPiece("  ·"))
        if len(shown.unchecked) > MOST_REASONS:
            yield _quiet_line(plain_prose("  " + say("and_more", self.language, count=len(shown.unchecked))))

    def names_briefly(self, count: str, rules: Sequence[str]) -> Prose:
        names = say("comma", self.language).join(rules[:MOST_RULES])
        return plain_prose(f"  {count}{self.colon}{names}{'…' if len(rules) > MOST_RULES else ''}")

    def checked(self) -> Iterator[Block]:
        shown = self.shown
        if not shown.checked:
            return
        yield self.heading("checked")
        yield Paragraph(plain_prose(shown.counts))
        heads = tuple(plain_prose(say(name, self.language)) for name in ("rule", "result", "reason"))
        rows = tuple((code_prose(item.rule), plain_prose(item.word), item.reason) for item in shown.checked)
        yield Fold(plain_prose(say("all_rules", self.language)), (Grid(heads, rows),))

    def unread(self) -> Iterator[Block]:
        shown = self.shown
        if not shown.unread:
            return
        yield self.heading("unread")
        heads = tuple(plain_prose(say(name, self.language)) for name in ("file", "place", "what", "rows"))
        yield Grid(heads, tuple((item.file, item.place, item.what, plain_prose(item.rows)) for item in shown.unread))
        if shown.more_unread:
            yield Paragraph(plain_prose(say("more_unread", self.language, count=shown.more_unread)))

    def first_unread(self) -> Prose:
        """The first place that could not be read, and how many more there are."""
        first = self.shown.unread[0]
        where = join_prose(say("comma", self.language), filter(None, (first.file, first.place)))
        more = len(self.shown.unread) - 1 + self.shown.more_unread
        others = (
            f"{say('semicolon', self.language)}{say('more_unread_short', self.language, count=more)}" if more else ""
        )
        return (*self.findings.label("unread"), *where, TextPiece(" – "), *first.what, TextPiece(others))


def _quiet_line(said: Prose, *, begins: bool = False) -> Paragraph:
    return Paragraph(toned(said, "quiet"), begins)


def _measure_row(item: CardMeasure) -> tuple[Prose, ...]:
    return (item.label, item.value, plain_prose(item.threshold or "–"), item.basis)


def _moment_prose(one: When) -> Prose:
    return (TextPiece(f"{one.brief} ("), *one.name, TextPiece(")")) if one.brief else one.name


def _ranking_row(card: Card) -> tuple[Prose, ...]:
    """A row of the ranking; what only shows the time of a finding above once more is set back."""
    amount = f"{card.saving_time} ({card.share})" if card.share else card.saving_time or "–"
    more = " …" if len(card.places) > 1 else ""
    place = card.places[0].place + more if card.places else "–"
    title = (TextPiece("↳ "), *card.title) if card.is_folded else card.title
    said = map(plain_prose, (card.confidence_word, amount, place))
    return (plain_prose(str(card.number)), title, (_severity_piece(card),), *said)


def _severity_piece(card: Card) -> TextPiece:
    return TextPiece(card.severity_word, tone=cast("Tone", card.severity))
