# SPDX-License-Identifier: Apache-2.0
"""A comparison as a document: the verdict, the step and its parts, what moved it, what became of the findings.

`comparison_document` says all of it, `comparison_summary` what fits on a terminal, `comparison_overview` what stands
in the cell of a notebook.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.blocks import (
    Block,
    Blocks,
    Document,
    Fold,
    Grid,
    Heading,
    ListBlock,
    Paragraph,
    Quote,
    bullet_list,
    led_by,
    paragraph_of,
)
from advisor.report.comparison.amounts import signed_amount
from advisor.report.comparison.items import FindingGroup, Item, WatchedValue, values_line
from advisor.report.comparison.tables import DifferenceSheet
from advisor.report.comparison.view import AccountEntry, ComparisonView, TimeChange, comparison_view
from advisor.report.comparison.words import say, say_column
from advisor.report.diagnosis.document import ARROW
from advisor.report.prose import Prose, TextPiece, Tone, code_prose, join_prose, plain_prose, strong, toned

ROWS = 15
"""Rows of each table: enough for a comment; spreadsheets hold the others."""
_TONES: dict[str, Tone] = {
    "worse": "bad",
    "slower": "bad",
    "new": "bad",
    "better": "good",
    "faster": "good",
    "gone": "good",
}
_ASIDE = ("rest", "step")
"""Entries of the account that stand for others."""


def comparison_document(comparison: Comparison, language: Language) -> Document:
    """Everything that a report says."""
    return _document_of(_Maker(comparison_view(comparison, language, ROWS)).whole(), comparison, language)


def comparison_summary(comparison: Comparison, language: Language, top: int = 5) -> Document:
    """The answer, with at most `top` entries of the account and `top` findings of each kind."""
    return _document_of(_Maker(comparison_view(comparison, language, 0)).short(max(top, 1)), comparison, language)


def comparison_overview(comparison: Comparison, language: Language, most: int) -> Document:
    """The answer, and at most so many findings that changed as a table."""
    return _document_of(_Maker(comparison_view(comparison, language, 0)).overview(most), comparison, language)


def _document_of(blocks: Iterable[Block], comparison: Comparison, language: Language) -> Document:
    return Document(language, tuple(blocks), comparison.after.version)


class _Maker:
    def __init__(self, shown: ComparisonView) -> None:
        self.shown, self.language = shown, shown.language
        self.colon, self.semicolon = say("colon", shown.language), say("semicolon", shown.language)

    def whole(self) -> Iterator[Block]:
        shown = self.shown
        yield self.heading("report", 1)
        for side in shown.sides:
            line = (plain_prose(side.line),) if side.line else ()
            yield Paragraph((TextPiece(side.word + self.colon), *join_prose(" · ", (code_prose(side.name), *line))))
        yield from self.verdict()
        if shown.times:
            yield self.times()
        yield from self.account()
        if shown.groups:
            yield self.heading("changes")
            for group in shown.groups:
                yield from self.group(group)
        yield from self.sheets()
        if shown.notes:
            yield self.heading("notes")
            yield from bullet_list(shown.notes)
        yield self.runs()
        yield Paragraph(plain_prose(say("made_by", self.language, version=shown.version)))

    def short(self, top: int) -> Iterator[Block]:
        shown = self.shown
        yield Grid(
            ((), (), ()),
            tuple((_quiet(side.word), plain_prose(side.name), _quiet(side.line)) for side in shown.sides),
        )
        yield from self.verdict()
        if shown.times:
            yield self.times()
        if any(one.us for one in shown.entries):
            yield self.heading("moved")
            yield Grid(((), (), ()), tuple(self.account_rows(top)), (True,))
        for group in shown.groups:
            yield from self.group_briefly(group, top)
        if shown.notes:
            yield self.heading("notes")
            yield from bullet_list(shown.notes)

    def overview(self, most: int) -> Iterator[Block]:
        shown, language = self.shown, self.language
        yield from self.verdict()
        if shown.times:
            yield self.times()
        changed = [(group.word, item) for group in shown.groups if not group.folded for item in group.items]
        if changed:
            heads = (
                say_column("status", language),
                *(say(name, language) for name in ("finding", "saving", "severity")),
            )
            rows = tuple(self.overview_row(word, item) for word, item in changed[:most])
            yield Grid(tuple(map(plain_prose, heads)), rows)
        if (left := len(changed) - most) > 0:
            yield Paragraph(_quiet(say("more_short", language, count=left)))
        yield from map(Paragraph, shown.notes)

    def heading(self, name: str, level: int = 2) -> Heading:
        return Heading(plain_prose(say(name, self.language)), level)

    def heads(self, *names: str) -> tuple[Prose, ...]:
        return tuple(plain_prose(say(name, self.language)) for name in names)

    def aside(self, words: str) -> str:
        return say("aside", self.language, words=words)

    def verdict(self) -> Iterator[Block]:
        verdict = self.shown.verdict
        between = " " if self.language == "en" else ""
        mainly = (TextPiece(between), *verdict.mainly) if verdict.mainly else ()
        yield Paragraph((TextPiece(verdict.says, strong=True), *mainly))
        yield Paragraph(plain_prose(verdict.findings))
        yield Paragraph(_quiet(verdict.sure))

    def times(self) -> Grid:
        heads = self.heads("part", "Before", "After", "Delta", "Noise", "judged")
        return Grid(heads, tuple(map(self.time_row, self.shown.times)), (False, True, True, True, True, False))

    def time_row(self, one: TimeChange) -> tuple[Prose, ...]:
        tone = _TONES.get(one.status, "")
        delta = f"{one.delta} ({one.percent})" if one.percent else one.delta
        return (
            (TextPiece(one.name, strong=one.key == "step"),),
            plain_prose(one.before),
            plain_prose(one.after),
            (TextPiece(delta, tone=tone),),
            _quiet(one.noise),
            (TextPiece(one.judged, tone=tone),),
        )

    def account(self) -> Iterator[Block]:
        """Why the step moved: each entry, and their sum."""
        yield self.heading("moved")
        if not self.shown.entries:
            yield Paragraph(plain_prose(say("no_account", self.language)))
            return
        heads = self.heads("Delta", "where", "what", "Before", "After", "count_column")
        rows = tuple(map(self.account_row, self.shown.entries))
        yield Grid(heads, rows, (True, False, False, True, True, True))
        yield Paragraph(plain_prose(say("moved_note_text", self.language)))

    def account_row(self, one: AccountEntry) -> tuple[Prose, ...]:
        cells = (one.delta, one.part, one.before, one.after, one.count)
        delta, part, before, after, count = map(plain_prose, cells)
        if one.key == "step":
            return strong(delta), (), strong(one.name), strong(before), strong(after), ()
        noisy = plain_prose(self.aside(say("within_noise", self.language))) if one.noisy and one.part else ()
        return delta, part, (*one.name, *noisy), before, after, count

    def account_rows(self, top: int) -> Iterator[tuple[Prose, ...]]:
        """The largest entries; the others and the sum as one line each, so that they add up."""
        entries = self.shown.entries
        own = [one for one in entries if one.key not in _ASIDE]
        for one in own[:top]:
            tone: Tone = "quiet" if one.noisy else "bad" if one.us > 0 else "good"
            noisy = self.aside(say("within_noise", self.language)) if one.noisy else ""
            count = f"  {one.count}" if "→" in one.count else ""
            yield (TextPiece(one.delta, tone=tone),), plain_prose(one.part), (*one.name, *_quiet(count + noisy))
        if len(own) > top or any(one.key == "rest" for one in entries):
            rest = signed_amount(round(entries[-1].us - sum(one.us for one in own[:top]), 6))
            yield _quiet(rest), (), _quiet(say("others", self.language))
        yield strong(plain_prose(entries[-1].delta)), (), strong(entries[-1].name)

    def group(self, group: FindingGroup) -> Blocks:
        """The findings of one kind of change."""
        name = plain_prose(f"{group.word} ({group.count})")
        items = [tuple(self.item(item, folded=group.folded)) for item in group.items]
        left = paragraph_of(*self.more(group.left_out)) if group.left_out else ()
        listed = (ListBlock((*items, *([left] if left else []))),)
        return (Fold(name, listed),) if group.folded else (Heading(name, 3), *listed)

    def more(self, count: int) -> Prose:
        return plain_prose(say("more_of_them", self.language, count=count))

    def item(self, item: Item, *, folded: bool) -> Iterator[Block]:
        said = (plain_prose(item.severity_words), code_prose(item.rule), plain_prose(item.saving))
        about = join_prose(" · ", (part for part in said if part[0].text))
        yield Paragraph((*strong(item.title), TextPiece(" — "), *about))
        below: list[Blocks] = [paragraph_of(*item.reason)] if item.reason else []
        below += [paragraph_of(*self.value(one)) for one in (() if folded else item.values)]
        if item.status in ("new", "worse") and item.card and item.card.actions:
            below.append(led_by(plain_prose(say("fix", self.language) + self.colon), item.card.actions[0].do))
        if below:
            yield ListBlock(tuple(below))

    def value(self, one: WatchedValue) -> Prose:
        """`share: 4 % → 12 % (+200 %); threshold: 10 %`."""
        after = self.aside(one.change) if one.change else ""
        if one.threshold:
            after += f"{self.semicolon}{say('threshold', self.language)}{self.colon}{one.threshold}"
        return (*one.label, TextPiece(self.colon), *one.before, TextPiece(" → "), *one.after, *plain_prose(after))

    def group_briefly(self, group: FindingGroup, top: int) -> Iterator[Block]:
        name = (TextPiece(group.word, strong=True, tone=_TONES.get(group.status, "")), TextPiece(f" ({group.count})"))
        if group.folded:
            names = say("comma", self.language).join(dict.fromkeys(item.rule for item in group.items[:top]))
            yield Paragraph((*name, *_quiet(f"  {names}{' …' if group.count > top else ''}")), begins=True)
            if group.status == "not-comparable" and group.items[0].reason:
                yield Quote(paragraph_of(*toned(group.items[0].reason, "quiet")))
            return
        yield Paragraph(name, begins=True)
        for item in group.items[:top]:
            yield Quote(tuple(self.item_briefly(item)))
        if group.count > top:
            yield Quote(paragraph_of(*_quiet(say("more_short", self.language, count=group.count - top))))

    def item_briefly(self, item: Item) -> Iterator[Block]:
        yield Paragraph(strong(item.title))
        parts = (item.severity_words, item.saving, values_line(item.values[:1], self.language))
        below: list[Block] = [Paragraph((TextPiece("  ".join(filter(None, parts))), *_quiet(f"  {item.rule}")))]
        if item.status in ("new", "worse") and item.card and item.card.actions:
            below.append(ListBlock((item.card.actions[0].do,), mark=ARROW))
        yield Quote(tuple(below))

    def overview_row(self, word: str, item: Item) -> tuple[Prose, ...]:
        title = (*item.title, TextPiece(" — "), *code_prose(item.rule))
        return plain_prose(word), title, plain_prose(item.saving), plain_prose(item.severity_words)

    def sheets(self) -> Iterator[Block]:
        if not self.shown.sheets:
            return
        yield self.heading("tables")
        yield Paragraph(plain_prose(say("tables_note", self.language)))
        yield from map(self.sheet, self.shown.sheets)

    def sheet(self, one: DifferenceSheet) -> Fold:
        heads = (
            f"{column.label} {say(column.when, self.language)}" if column.when else column.label
            for column in one.columns
        )
        rows = tuple(tuple(cell.says for cell in row) for row in one.rows)
        grid = Grid(tuple(map(plain_prose, heads)), rows, tuple(column.numeric for column in one.columns))
        more = paragraph_of(*plain_prose(say("more_rows", self.language))) if one.cut else ()
        return Fold(plain_prose(f"{one.title} ({one.note})"), (grid, *more))

    def runs(self) -> Fold:
        dash = plain_prose("–")
        rows = ((plain_prose(one.label), one.before or dash, one.after or dash) for one in self.shown.facts)
        return Fold(
            plain_prose(say("runs", self.language)),
            (Grid(((), *self.heads("Before", "After")), tuple(rows)),),
        )


def _quiet(words: str) -> Prose:
    return (TextPiece(words, tone="quiet"),) if words else ()
