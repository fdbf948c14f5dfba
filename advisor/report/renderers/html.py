# SPDX-License-Identifier: Apache-2.0
"""Blocks as HTML: everything that is said is escaped, and only what blocks are made of becomes an element."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import groupby

from markupsafe import Markup, escape

from advisor.report.blocks import Block, Blocks, Code, Fold, Grid, Heading, ListBlock, Paragraph, Quote, SplitBlock
from advisor.report.prose import Prose, TextPiece

LONGEST_WHOLE = 44
"""Characters of code that fit on the line of a phone; a longer word has to break somewhere."""
WIDE_PERCENT = 5
"""From here on a part of a bar is wide enough to hold its share."""
_UNIT = re.compile(r"(?<=\d) (?=(?:%|[nµm]?s|[KMGT]?i?B|GB/s|MHz)(?!\w))")
_BLANKS = re.compile(r"(\s+)")


class HtmlBlocks:
    """Writes blocks as HTML, in the look of a page; `styles` by element where no style sheet is at hand."""

    def __init__(self, styles: Mapping[str, str] | None = None) -> None:
        self._styles = styles

    def words(self, pieces: Prose) -> Markup:
        """Pieces of text: words, code, emphasis and links."""
        return join_markup(
            self._with_link(join_markup(map(self._piece_html, linked)), url)
            for url, linked in groupby(pieces, key=lambda piece: piece.url)
        )

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
            case Heading():
                return self._wrap_element(f"h{block.level}", self.words(block.said))
            case Paragraph():
                return self._wrap_element("p", self.words(block.said))
            case ListBlock():
                items = join_markup(self._wrap_element("li", self.item(item)) for item in block.items)
                if block.start is None:
                    return self._wrap_element("ul", items)
                return self._wrap_element(
                    "ol", items, Markup(' start="{}"').format(block.start) if block.start != 1 else ""
                )
            case Code():
                return self._wrap_element(
                    "pre", self._wrap_element("code", self._code_html(block.text)), ' tabindex="0"'
                )
            case Grid():
                return self._grid_html(block)
            case Quote():
                return self._wrap_element("blockquote", self.blocks(block.blocks))
            case Fold():
                summary = self._wrap_element("summary", self.words(block.said))
                return self._wrap_element("details", summary + self.blocks(block.blocks))
            case SplitBlock():
                return self.split(block)

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

    def _grid_html(self, grid: Grid) -> Markup:
        heads = self._row_html("th", grid.heads, grid.right, ' scope="col"')
        rows = join_markup(self._row_html("td", row, grid.right) for row in grid.rows)
        inner = self._wrap_element("thead", heads) + self._wrap_element("tbody", rows)
        return Markup('<div class="scroll">{}</div>').format(self._wrap_element("table", inner))

    def _row_html(self, name: str, cells: Iterable[Prose], right: Iterable[bool], attributes: str = "") -> Markup:
        made = (
            self._wrap_element(name, self.words(cell), attributes + ' class="n"' * at_right, " right" * at_right)
            for cell, at_right in zip(cells, right, strict=False)
        )
        return self._wrap_element("tr", join_markup(made))

    def _piece_html(self, piece: TextPiece) -> Markup:
        if piece.code:
            width = "unbroken" if len(piece.text) <= LONGEST_WHOLE else "long"
            shown = self._wrap_element("code", escape(piece.text), Markup(' class="{}"').format(width))
        else:
            shown = escape(tie_units(piece.text))
        for name, asked in (("em", piece.emphasis), ("strong", piece.strong)):
            shown = self._wrap_element(name, shown) if asked else shown
        return self.with_tone(shown, piece.tone) if piece.tone else shown

    def with_tone(self, shown: Markup, tone: str) -> Markup:
        """Words that are meant in some way."""
        if self._styles is None:
            return Markup('<span class="tone-{}">{}</span>').format(tone, shown)
        style = self._styles.get(tone)
        return Markup('<span style="{}">{}</span>').format(style, shown) if style else shown

    def _with_link(self, text: Markup, url: str) -> Markup:
        if not url:
            return text
        return Markup('<a href="{}" rel="noopener noreferrer nofollow" target="_blank">{}</a>').format(url, text)

    def _code_html(self, text: str) -> Markup:
        return unbroken_code(text) if self._styles is None else escape(text)

    def _wrap_element(self, name: str, inner: Markup, attributes: str = "", look: str = "") -> Markup:
        """An element; where there is no style sheet its look stands in place."""
        if self._styles is not None:
            style = self._styles.get(name + look)
            attributes = Markup(' style="{}"').format(style) if style else ""
        return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), Markup(attributes), inner)  # noqa: S704 - our own


def tie_units(text: str) -> str:
    """Numbers and their units with a blank at which no line breaks."""
    return _UNIT.sub("\u00a0", text)


def unbroken_code(text: str) -> Markup:
    """A command or code whose words stay whole: no line breaks inside a flag or a name that fits on a line."""
    return join_markup(
        _whole_word(word) if word.strip() and len(word) <= LONGEST_WHOLE else escape(word)
        for word in _BLANKS.split(text)
    )


def _whole_word(word: str) -> Markup:
    return Markup('<span class="unbroken">{}</span>').format(word)


def join_markup(parts: Iterable[Markup]) -> Markup:
    """Pieces of HTML behind each other."""
    return Markup("").join(parts)
