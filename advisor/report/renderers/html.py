# SPDX-License-Identifier: Apache-2.0
"""Blocks as HTML: everything that is said is escaped, and only what blocks are made of becomes an element."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import NamedTuple

from markupsafe import Markup, escape

from advisor.messages.text import Language
from advisor.report.blocks import (
    BarPair,
    Block,
    Blocks,
    Code,
    FactLine,
    Figure,
    Fold,
    Grid,
    Heading,
    ListBlock,
    Meter,
    Paragraph,
    Quote,
    SearchForm,
    Section,
    SplitBlock,
    TextBlock,
    TimeBar,
)
from advisor.report.prose import Prose, TextPiece, flat_text, toned
from advisor.report.words import say

LONGEST_WHOLE = 44
"""Characters of code that fit on the line of a phone; a longer word has to break somewhere."""
WIDE_PERCENT = 5
"""From here on a part of a bar is wide enough to hold its share."""
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[nµm]?s|[KMGT]?i?B|GB/s|MHz)(?!\w))")
_BLANKS = re.compile(r"(\s+)")
_BREAKS = re.compile(r"(?<=[;/])(?=[^;/\s])")
_BREAKS_OF_CODE = re.compile(r"(?<=[=(,./;:])(?=[^=(,./;:\s])")
"""Where a word of code that fits on no line may break: behind an equals sign, a bracket, a dot, a slash."""
_TONES: Mapping[str, Markup] = {
    **dict.fromkeys(("critical", "high", "medium", "low", "info"), Markup('<span class="severity {}">{}</span>')),
    **dict.fromkeys(("compute", "comm", "idle"), Markup('<i class="{}"></i>{}')),
    "note": Markup("<small>{1}</small>"),
}
_TONE = Markup('<span class="tone-{}">{}</span>')
_METER = Markup(
    '<svg class="meter" width="100%" height="6" aria-hidden="true"><rect class="room" width="100%" height="6" rx="3"/>'
    '<rect class="won" width="{}%" height="6" rx="3"/></svg>'
)
_PAIR = Markup('<div class="compared" aria-hidden="true">{}</div>')
_BAR = Markup('<span>{}</span><div><div class="bar" style="width:{}%">{}</div></div><b>{}</b>')
_PART = Markup('<span class="{}" style="flex-grow:{}"></span>')
_COPYABLE = Markup(
    '<div class="copyable"><pre tabindex="0"><code>{}</code></pre>'
    '<button type="button" class="copy" hidden aria-label="{}" data-done="{}">{}</button></div>'
)
_FIGURE = Markup(
    '<figure id="chart-{name}"{wide}><figcaption><h3>{title}</h3>{note}</figcaption>'
    '<div class="chart" role="img" aria-label="{title}">{drawing}</div>{numbers}</figure>'
)
_SEARCH = Markup(
    '<form id="controls" role="search" hidden><input type="search" id="search" placeholder="{search}" '
    'aria-label="{search}" autocomplete="off" spellcheck="false">{selects}</form>'
    '<p id="no-match" class="tone-quiet" role="status" hidden>{none}</p>'
)
_OPTION = Markup('<option value="{}">{}</option>')
_SELECT = Markup('<select id="by-{0}" aria-label="{1}"><option value="">{1}</option>{2}</select>')


class _Tag(NamedTuple):
    """Begin and end of an element; its name and attributes are words of our own, or escaped."""

    begin: str
    end: str

    def around(self, inner: Markup) -> Markup:
        return Markup(f"{self.begin}{escape(inner)}{self.end}")  # noqa: S704


class HtmlBlocks:
    """Writes blocks as HTML, in the look of a page.

    `drawings` are those of its charts by name; `styles` by element where no style sheet is at hand.
    """

    def __init__(
        self,
        language: Language = "en",
        drawings: Mapping[str, str] | None = None,
        styles: Mapping[str, str] | None = None,
    ) -> None:
        self._language = language
        self._drawings = drawings or {}
        self._styles = styles

    def words(self, pieces: Prose) -> Markup:
        """Pieces of text: words, code, emphasis and links; neighbours meant in one way stand in one element."""
        if len(pieces) == 1 and pieces[0] == TextPiece(pieces[0].text, pieces[0].code):  # most cells of tables
            return self._piece_html(pieces[0])
        return join_markup(
            self._with_link(join_markup(self._toned_html(linked)), url)
            for url, linked in groupby(pieces, key=lambda piece: piece.url)
        )

    def _toned_html(self, pieces: Iterable[TextPiece]) -> Iterator[Markup]:
        for tone, alike in groupby(pieces, key=lambda piece: piece.tone):
            shown = join_markup(self._marked_html(alike))
            yield self.with_tone(shown, tone) if tone else shown

    def _marked_html(self, pieces: Iterable[TextPiece]) -> Iterator[Markup]:
        for marks, alike in groupby(pieces, key=lambda piece: ("em" * piece.emphasis, "strong" * piece.strong)):
            shown = join_markup(map(self._piece_html, alike))
            for name in filter(None, marks):
                shown = self._element(name, shown)
            yield shown

    def blocks(self, blocks: Blocks) -> Markup:
        """Every block as an element of its own."""
        return join_markup(map(self._block_html, blocks))

    def item(self, blocks: Blocks) -> Markup:
        """What stands in an item of a list or in a cell: a first paragraph needs no element."""
        if blocks and isinstance(blocks[0], Paragraph):
            return self.words(blocks[0].said) + self.blocks(blocks[1:])
        return self.blocks(blocks)

    def _block_html(self, block: Block) -> Markup:
        match block:
            case Section():
                return self._section_html(block)
            case Figure():
                return self._figure_html(block)
            case Meter():
                return _METER.format(block.percent)
            case BarPair():
                return _PAIR.format(join_markup(map(_bar_html, block.bars)))
            case SearchForm():
                return self._search_html(block)
            case _:
                return self._text_block_html(block)

    def _text_block_html(self, block: TextBlock) -> Markup:
        match block:
            case Heading():
                return self._element(f"h{block.level}", self.words(block.said))
            case Paragraph():
                return self._element("p", self.words(block.said))
            case FactLine():
                facts = join_markup(self._element("span", self.words(fact)) for fact in block.facts)
                return self._element("p", facts, {"class": "meta"})
            case ListBlock():
                return self._list_html(block)
            case Code():
                return self.code(block.text)
            case Grid():
                return self._grid_html(block)
            case Quote():
                return self._element("blockquote", self.blocks(block.blocks))
            case Fold():
                inner = self._element("summary", self.words(block.said)) + self.blocks(block.blocks)
                return self._element("details", inner, {"open": ""} if block.is_open else {})
            case SplitBlock():
                return self.split(block)

    def _list_html(self, block: ListBlock) -> Markup:
        items = join_markup(self._element("li", self.item(item)) for item in block.items)
        if block.start is None:
            return self._element("ul", items)
        return self._element("ol", items, {"start": str(block.start)} if block.start != 1 else {})

    def code(self, text: str) -> Markup:
        """Commands and code, with a button that copies them."""
        said = (say(name, self._language) for name in ("copy_of", "copied", "copy"))
        return _COPYABLE.format(unbroken_code(text), *said)

    def split(self, split: SplitBlock) -> Markup:
        """A bar above a legend, in the colours of the page."""
        drawn = join_markup(
            Markup('<span class="{}" style="flex-grow:{}">{}</span>').format(
                part.key, part.percent, part.share if part.percent >= WIDE_PERCENT else ""
            )
            for part in split.parts
        )
        legend = join_markup(
            Markup('<li><i class="{}"></i>{} <b>{}</b> <span>{}</span>{}</li>').format(
                part.key,
                part.name,
                tie_units(part.time),
                tie_units(part.share),
                join_markup(Markup("<small>{}</small>").format(tie_units(note)) for note in part.notes),
            )
            for part in split.parts
        )
        bar = Markup('<div class="bar" aria-hidden="true">{}</div>').format(drawn)
        return Markup('<div class="split">{}<ul class="legend" aria-label="{}">{}</ul></div>').format(
            bar, split.name, legend
        )

    def _section_html(self, section: Section) -> Markup:
        """An element with what a link, the style sheet, the script and a reader of screens ask for."""
        titled = next(filter(None, map(_title_of, section.blocks)), "") if section.anchor else ""
        known = {
            "class": section.look,
            "id": section.anchor,
            "href": section.link,
            "tabindex": "-1" if section.element == "article" else "",
            "aria-label": titled,
            **{f"data-{name}": value for name, value in section.data.items()},
        }
        attributes = {name: value for name, value in known.items() if value}
        return self._element(section.element, self.blocks(section.blocks), attributes)

    def _figure_html(self, figure: Figure) -> Markup:
        """A chart; nothing where it was not drawn."""
        if figure.name not in self._drawings:
            return Markup()
        return _FIGURE.format(
            name=figure.name,
            wide=Markup(' class="wide"') if figure.wide else "",
            title=figure.title,
            note=self._element("p", self.words((TextPiece(figure.note, tone="quiet"),))) if figure.note else "",
            drawing=Markup(self._drawings[figure.name]),  # noqa: S704 - only elements of a chart were let through
            numbers=self._block_html(figure.numbers),
        )

    def _search_html(self, form: SearchForm) -> Markup:
        selects = join_markup(
            _SELECT.format(name, say(name, self._language), join_markup(itertools.starmap(_OPTION.format, options)))
            for name, options in (("severity", form.severities), ("category", form.categories))
        )
        words = {"search": say("search", self._language), "none": say("no_match", self._language)}
        return _SEARCH.format(selects=selects, **words)

    def _grid_html(self, grid: Grid) -> Markup:
        right = [at_right for at, at_right in enumerate(grid.right) if at != grid.below]
        head, cell = ([self._cell_tag(name, at_right) for at_right in right] for name in ("th", "td"))
        heads = self._row_html(head, [said for at, said in enumerate(grid.heads) if at != grid.below])
        rows = join_markup(self._row_html(cell, _shown_cells(grid, row)) for row in grid.rows)
        inner = self._element("thead", self._over_html(grid) + heads) if any(grid.heads) else Markup()
        table = self._element("table", inner + self._element("tbody", rows))
        return self._element("div", table, {"class": "scroll"})

    def _over_html(self, grid: Grid) -> Markup:
        """What stands over the heads: once for neighbours that share it."""
        if not grid.over:
            return Markup()
        spans = [(name, len(list(same))) for name, same in groupby(grid.over)]
        return self._element(
            "tr",
            join_markup(
                self._element("th", escape(name), {"scope": "colgroup", "colspan": str(count)}) for name, count in spans
            ),
        )

    def _cell_tag(self, name: str, at_right: bool) -> _Tag:
        """What every cell of a column stands in."""
        scope = {"scope": "col"} if name == "th" else {}
        return self._tag(name, {**scope, **({"class": "n"} if at_right else {})}, " right" * at_right)

    def _row_html(self, tags: Iterable[_Tag], cells: Iterable[Prose]) -> Markup:
        return self._element(
            "tr", join_markup(tag.around(self.words(cell)) for tag, cell in zip(tags, cells, strict=False))
        )

    def _piece_html(self, piece: TextPiece) -> Markup:
        if not piece.code:
            return escape(tie_units(piece.text))
        width = "unbroken" if len(piece.text) <= LONGEST_WHOLE else "long"
        return self._element("code", _breakable(piece.text), {"class": width})

    def with_tone(self, shown: Markup, tone: str) -> Markup:
        """Words that are meant in some way."""
        return _TONES.get(tone, _TONE).format(tone, shown)

    def _with_link(self, text: Markup, url: str) -> Markup:
        if url.startswith("#"):
            return self._element("a", text, {"href": url})
        if not url:
            return text
        return Markup('<a href="{}" rel="noopener noreferrer nofollow" target="_blank">{}</a>').format(url, text)

    def _element(self, name: str, inner: Markup, attributes: Mapping[str, str] | None = None) -> Markup:
        return self._tag(name, attributes or {}).around(inner)

    def _tag(self, name: str, attributes: Mapping[str, str], look: str = "") -> _Tag:
        """Begin and end of an element; where there is no style sheet its look stands in place."""
        if self._styles is not None:
            attributes = {"style": self._styles[name + look]} if name + look in self._styles else {}
        said = "".join(f' {key}="{escape(value)}"' for key, value in attributes.items())
        return _Tag(f"<{name}{said}>", f"</{name}>")


def _shown_cells(grid: Grid, row: Sequence[Prose]) -> Sequence[Prose]:
    """The cells of a row; below the first stands what has no column of its own on a page."""
    if grid.below is None:
        return row
    first, *others = (cell for at, cell in enumerate(row) if at != grid.below)
    return ((*first, *toned(row[grid.below], "note")), *others)


def _bar_html(bar: TimeBar) -> Markup:
    parts = join_markup(itertools.starmap(_PART.format, bar.parts))
    return _BAR.format(bar.name, bar.percent, parts, tie_units(bar.amount))


def _title_of(block: Block) -> str:
    """The first heading of a part."""
    match block:
        case Heading():
            return flat_text(block.said)
        case Section():
            return next(filter(None, map(_title_of, block.blocks)), "")
    return ""


def _breakable(code: str, breaks: re.Pattern[str] = _BREAKS) -> Markup:
    """A name that may break behind a semicolon, as lists of shapes do, or a slash, as paths of files and modules do."""
    return Markup("<wbr>").join(breaks.split(code))


def tie_units(text: str) -> str:
    """Numbers and their units with a blank at which no line breaks."""
    return _UNIT.sub("\u00a0", text)


def unbroken_code(text: str) -> Markup:
    """A command or code whose words stay whole: no line breaks inside a flag or a name that fits on a line; longer ones
    break where their parts end."""
    return join_markup(
        _whole_word(word) if word.strip() and len(word) <= LONGEST_WHOLE else _breakable(word, _BREAKS_OF_CODE)
        for word in _BLANKS.split(text)
    )


def _whole_word(word: str) -> Markup:
    return Markup('<span class="unbroken">{}</span>').format(word)


def join_markup(parts: Iterable[Markup]) -> Markup:
    """Pieces of HTML behind each other."""
    return Markup("").join(parts)
