# SPDX-License-Identifier: Apache-2.0
"""Blocks as GitHub-flavoured Markdown, in which nothing from a profile is markup.

Names and values from a profile only ever stand in code spans and code blocks, where no format reads them. All other
text is escaped, and words that a forge would turn into mentions or links are broken with a zero-width blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import groupby

from markupsafe import escape

from advisor.report.blocks import (
    Blocks,
    Code,
    Document,
    FactLine,
    Fold,
    Grid,
    Heading,
    ListBlock,
    Paragraph,
    Quote,
    SplitBlock,
    TextBlock,
    grid_of,
    text_blocks,
)
from advisor.report.prose import Prose, TextPiece, flat_text

ZERO_WIDTH = "\u200b"
_MARKS = re.compile(r"[\\`*_{}\[\]<>|~$&^]")
_FIRST = re.compile(r"^(\s*(?:\d{1,9}(?=[.)](?:\s|$)))?)([-+=.)#])")
"""What makes a list, a rule or a heading of the line it begins."""
_LINKS = re.compile(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=\bmailto)(?=:)|(?<=\w@)", re.IGNORECASE)


def _escape_inside(text: str) -> str:
    """Text that Markdown shows as it is in a line that has begun: no emphasis, links, mentions or HTML."""
    return _MARKS.sub(lambda mark: f"\\{mark[0]}", _LINKS.sub(ZERO_WIDTH, text))


def code_span(text: str, in_table: bool = False) -> str:
    """A code span, fenced with more backticks than it holds."""
    fence = "`" * (_longest_run(text) + 1)
    # A bar ends a cell even inside a code span, and parsers disagree on a bar behind a backslash: that one is broken.
    inner = text.replace("\\|", "\\¦").replace("|", "\\|") if in_table else text
    edge = " " if inner[:1] in "` " or inner[-1:] in "` " else ""
    return f"{fence}{edge}{inner}{edge}{fence}" if inner else ""


def markdown_prose(pieces: Prose, in_table: bool = False) -> str:
    """Pieces of text: code as spans, links as links, the rest escaped."""
    said = ""
    for url, linked in groupby(pieces, key=lambda piece: piece.url):
        if url and said.endswith("!"):
            said = f"{said[:-1]}\\!"  # a bare one before a link makes an image of it
        said += _with_link(_marked_pieces(linked, in_table), url)
    said = said.strip()
    begins_with_text = next((not piece.code for piece in pieces if piece.text.strip()), False)
    return _FIRST.sub(r"\1\\\2", said) if begins_with_text and not in_table else said


def _with_link(text: str, url: str) -> str:
    return f"[{text}](<{url}>)" if url else text


def _marked_pieces(pieces: Iterable[TextPiece], in_table: bool) -> str:
    """Pieces between the marks of their emphasis; neighbours that are emphasised alike share them."""
    return "".join(
        _with_marks("".join(_escape_piece(piece, in_table) for piece in alike), marks)
        for marks, alike in groupby(pieces, key=lambda piece: "**" * piece.strong + "*" * piece.emphasis)
    )


def _escape_piece(piece: TextPiece, in_table: bool) -> str:
    return code_span(piece.text, in_table) if piece.code else _escape_inside(piece.text)


def _with_marks(text: str, marks: str) -> str:
    if not marks or not text.strip():
        return text
    inner = text.strip()  # beside a blank no mark opens or closes
    return text.replace(inner, f"{marks}{inner}{marks}", 1)


def document_text(document: Document) -> str:
    """A document as one GitHub-flavoured Markdown file."""
    return "\n".join(_trim_empty_end(block_lines(document.blocks))) + "\n"


def block_lines(blocks: Blocks) -> Iterator[str]:
    """Every line of some blocks, each block with an empty line behind it."""
    for block in text_blocks(blocks):
        yield from _lines_of_block(block)
        yield ""


def _lines_of_block(block: TextBlock) -> Iterable[str]:
    match block:
        case Heading():
            return (f"{'#' * block.level} {markdown_prose(block.said)}",)
        case Paragraph() | FactLine():
            return (markdown_prose(block.said),)
        case ListBlock():
            return _list_lines(block)
        case Code():
            return _code_lines(block.text, block.language)
        case Grid():
            return _grid_lines(block)
        case SplitBlock():
            return _grid_lines(_split_grid(block))
        case Quote():
            return (f"> {line}".rstrip() for line in _trim_empty_end(block_lines(block.blocks)))
        case Fold():
            return _fold_lines(block)


def _list_lines(block: ListBlock) -> Iterator[str]:
    for at, (number, item) in enumerate(block.numbered()):
        if at and block.loose:
            yield ""
        yield from _item_lines("-" if number is None else f"{number}.", item)


def _item_lines(mark: str, item: Blocks) -> Iterator[str]:
    """An item of a list, its further lines set back to where its words begin."""
    first, *others = _trim_empty_end(_lines_in_item(item)) or [""]
    yield f"{mark} {first}"
    yield from _indent_lines(others, len(mark) + 1)


def _indent_lines(lines: Iterable[str], indent: int) -> Iterator[str]:
    """Lines as they stand inside an item of a list."""
    return (f"{' ' * indent}{line}" if line else "" for line in lines)


def _lines_in_item(item: Blocks) -> Iterator[str]:
    """The lines of what stands in an item: a list right below a paragraph belongs to it."""
    said = tuple(text_blocks(item))
    for block, below in zip(said, (*said[1:], None), strict=True):
        yield from _lines_of_block(block)
        if not (isinstance(block, Paragraph) and isinstance(below, ListBlock) and not below.loose):
            yield ""


def _fold_lines(fold: Fold) -> Iterator[str]:
    """The element stands alone on its line: what follows an empty line is Markdown again."""
    yield f"<details><summary>{escape(_LINKS.sub(ZERO_WIDTH, flat_text(fold.said)))}</summary>"
    yield ""
    yield from block_lines(fold.blocks)
    yield "</details>"


def _split_grid(split: SplitBlock) -> Grid:
    return grid_of((part.name for part in split.parts), [(f"{part.time} ({part.share})" for part in split.parts)])


def _trim_empty_end(lines: Iterable[str]) -> list[str]:
    """The lines without the empty ones at their end."""
    every = list(lines)
    while every and not every[-1]:
        every.pop()
    return every


def _grid_lines(grid: Grid) -> Iterator[str]:
    yield _row_line(markdown_prose(head, in_table=True) for head in grid.titles)
    yield _row_line("---:" if right else "---" for right in grid.right)
    yield from (_row_line(markdown_prose(cell, in_table=True) for cell in row) for row in grid.rows)


def _row_line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _code_lines(text: str, info: str = "") -> list[str]:
    """A fenced code block."""
    fence = "`" * max(_longest_run(text) + 1, 3)
    return [f"{fence}{info}", *text.splitlines(), fence]


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)
