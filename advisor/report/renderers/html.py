# SPDX-License-Identifier: Apache-2.0
"""Blocks as HTML: everything that is said is escaped, and only what blocks are made of becomes an element.

The elements of each kind of block stand in `templates/blocks.html.j2`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import groupby
from typing import NamedTuple

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from advisor.machine.shipped_files import shipped_folder
from advisor.messages.text import Language
from advisor.report.blocks import Block, Blocks, Grid, Heading, Section
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


@cache
def page_templates() -> Environment:
    """The templates of pages, each compiled once in a process, which takes longer than to write a page with it."""
    environment = Environment(
        loader=FileSystemLoader(shipped_folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals |= {
        "kind_of": lambda block: type(block).__name__,
        "no_element_for": {},
        "section_attributes": _section_attributes,
        "tie_units": tie_units,
        "unbroken_code": unbroken_code,
        "wide_percent": WIDE_PERCENT,
    }
    return environment


def compile_templates() -> None:
    """Compiles them ahead of the first page, beside what else that waits for."""
    for name in ("blocks.html.j2", "page.html.j2"):
        page_templates().get_template(name)


class ShownGrid(NamedTuple):
    """A table by its elements: each cell with the attributes of its column."""

    titled: bool
    over: Sequence[tuple[str, int]]
    """What stands over heads, and over how many."""
    heads: Iterable[tuple[Prose, Markup]]
    rows: Iterable[Iterable[tuple[Prose, Markup]]]


class HtmlBlocks:
    """Writes blocks as HTML, in the look of a page.

    `drawings` are those of its charts by name; `styles` by element, and `colours` by what they mean, where no style
    sheet is at hand.
    """

    def __init__(
        self,
        language: Language = "en",
        drawings: Mapping[str, str] | None = None,
        styles: Mapping[str, str] | None = None,
        colours: Mapping[str, str] | None = None,
    ) -> None:
        self._styles, self._colours = styles, colours
        self._macros = (
            page_templates()
            .get_template("blocks.html.j2")
            .make_module(
                {
                    "at": self._attributes,
                    "colours": colours,
                    # only elements of a chart were let through
                    "drawings": {name: Markup(svg) for name, svg in (drawings or {}).items()},  # noqa: S704
                    "say": lambda name: say(name, language),
                    "table_of": self._shown_grid,
                    "words": self.words,
                }
            )
        )

    def blocks(self, blocks: Blocks) -> Markup:
        """Every block as an element of its own."""
        html: Markup = self._macros.blocks(blocks)  # type: ignore[attr-defined]
        return html

    def words(self, pieces: Prose) -> Markup:
        """Pieces of text: words, code, emphasis and links; neighbours meant in one way stand in one element."""
        if len(pieces) == 1 and pieces[0] == TextPiece(pieces[0].text, pieces[0].code):  # most cells of tables
            return self._piece_html(pieces[0])
        return join_markup(
            self._with_tone(self._linked_html(toned(tuple(alike), "")), "note") if noted else self._linked_html(alike)
            for noted, alike in groupby(pieces, key=lambda piece: piece.tone == "note")
        )

    def _linked_html(self, pieces: Iterable[TextPiece]) -> Markup:
        """Pieces with their links. A note stands on lines of its own, so all of it is one element around them."""
        return join_markup(
            self._with_link(join_markup(self._toned_html(linked)), url)
            for url, linked in groupby(pieces, key=lambda piece: piece.url)
        )

    def _toned_html(self, pieces: Iterable[TextPiece]) -> Iterator[Markup]:
        for tone, alike in groupby(pieces, key=lambda piece: piece.tone):
            shown = join_markup(self._marked_html(alike))
            yield self._with_tone(shown, tone) if tone else shown

    def _marked_html(self, pieces: Iterable[TextPiece]) -> Iterator[Markup]:
        for marks, alike in groupby(pieces, key=lambda piece: ("em" * piece.emphasis, "strong" * piece.strong)):
            shown = join_markup(map(self._piece_html, alike))
            for name in filter(None, marks):
                shown = self._element(name, shown)
            yield shown

    def _piece_html(self, piece: TextPiece) -> Markup:
        if not piece.code:
            return escape(tie_units(piece.text))
        width = "unbroken" if len(piece.text) <= LONGEST_WHOLE else "long"
        return self._element("code", _breakable(piece.text), {"class": width})

    def _with_tone(self, shown: Markup, tone: str) -> Markup:
        """Words that are meant in some way."""
        if self._colours is None or self._styles is None:
            return _TONES.get(tone, _TONE).format(tone, shown)
        if tone in self._colours:
            square: Markup = self._macros.square(tone)  # type: ignore[attr-defined]
            return Markup('<span style="white-space:nowrap">{}{}</span>').format(square, shown)
        return Markup('<span style="{}">{}</span>').format(self._styles[tone], shown) if tone in self._styles else shown

    def _with_link(self, text: Markup, url: str) -> Markup:
        if url.startswith("#"):
            return self._element("a", text, {"href": url})
        if not url:
            return text
        return Markup('<a href="{}" rel="noopener noreferrer nofollow" target="_blank">{}</a>').format(url, text)

    def _element(self, name: str, inner: Markup, attributes: Mapping[str, object] | None = None) -> Markup:
        return Markup(f"<{name}{self._attributes(name, attributes)}>{inner}</{name}>")  # noqa: S704 - escaped

    def _attributes(self, name: str, given: Mapping[str, object] | None = None, look: str = "") -> Markup:
        """What stands in the begin of an element: what is given, or its look where there is no style sheet."""
        attributes = given or {}
        if self._styles is not None:
            attributes = {"style": self._styles[name + look]} if name + look in self._styles else {}
        return Markup("".join(f' {key}="{escape(value)}"' for key, value in attributes.items()))  # noqa: S704 - escaped

    def _shown_grid(self, grid: Grid) -> ShownGrid:
        """A table; below the first cell of a row stands what has no column of its own on a page."""
        right = [at_right for at, at_right in enumerate(grid.right) if at != grid.below]
        head, cell = ([self._cell_look(name, at_right) for at_right in right] for name in ("th", "td"))
        heads = (said for at, said in enumerate(grid.heads) if at != grid.below)
        return ShownGrid(
            any(grid.heads),
            [(name, len(list(same))) for name, same in groupby(grid.over)],
            zip(heads, head, strict=False),
            (zip(_shown_cells(grid, row), cell, strict=False) for row in grid.rows),
        )

    def _cell_look(self, name: str, at_right: bool) -> Markup:
        """The attributes of every cell of a column."""
        scope = {"scope": "col"} if name == "th" else {}
        return self._attributes(name, {**scope, **({"class": "n"} if at_right else {})}, " right" * at_right)


def _shown_cells(grid: Grid, row: Sequence[Prose]) -> Sequence[Prose]:
    if grid.below is None:
        return row
    first, *others = (cell for at, cell in enumerate(row) if at != grid.below)
    return ((*first, *toned(row[grid.below], "note")), *others)


def _section_attributes(section: Section) -> Mapping[str, str]:
    """What a link, the style sheet, the script and a reader of screens ask of an element."""
    known = {
        "class": section.look,
        "id": section.anchor,
        "href": section.link,
        "tabindex": "-1" if section.element == "article" else "",
        "aria-label": next(filter(None, map(_title_of, section.blocks)), "") if section.anchor else "",
        **{f"data-{name}": value for name, value in section.data.items()},
    }
    return {name: value for name, value in known.items() if value}


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
        Markup('<span class="unbroken">{}</span>').format(word)
        if word.strip() and len(word) <= LONGEST_WHOLE
        else _breakable(word, _BREAKS_OF_CODE)
        for word in _BLANKS.split(text)
    )


def join_markup(parts: Iterable[Markup]) -> Markup:
    """Pieces of HTML behind each other."""
    return Markup("").join(parts)
