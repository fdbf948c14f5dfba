# SPDX-License-Identifier: Apache-2.0
"""Blocks as GitHub-flavoured Markdown, in which nothing from a profile is markup.

Names and values from a profile only ever stand in code spans and code blocks, where no format reads them. All other
text is escaped, and words that a forge would turn into mentions or links are broken with a zero-width blank.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from advisor.report.blocks import Blocks, Code, Document, Grid, Heading, ListBlock, Paragraph, Quote
from advisor.report.prose import Prose, TextPiece

_MARKS = re.compile(r"[\\`*_{}\[\]<>#|~$&^]")
_FIRST = re.compile(r"^(\s*(?:\d{1,9}(?=[.)](?:\s|$)))?)([-+=.)])")
"""What makes a list, a rule or a heading of the line it begins."""
_LINKS = re.compile(r"(?<=[@#])(?=\w)|(?<=:)(?=//)|(?<=\bwww)(?=\.)|(?<=\bmailto)(?=:)|(?<=\w@)", re.IGNORECASE)


def escape_text(text: str) -> str:
    """Text that Markdown shows as it is: no emphasis, links, mentions or HTML."""
    marked = _MARKS.sub(lambda mark: f"\\{mark[0]}", _LINKS.sub("\u200b", text))
    return _FIRST.sub(r"\1\\\2", marked)


def code_span(text: str, in_table: bool = False) -> str:
    """A code span, fenced with more backticks than it holds."""
    fence = "`" * (_longest_run(text) + 1)
    # A bar ends a cell even inside a code span, and parsers disagree on a bar behind a backslash: that one is broken.
    inner = text.replace("\\|", "\\¦").replace("|", "\\|") if in_table else text
    edge = " " if inner[:1] in "` " or inner[-1:] in "` " else ""
    return f"{fence}{edge}{inner}{edge}{fence}" if inner else ""


def markdown_prose(pieces: Prose, in_table: bool = False) -> str:
    """Pieces of text: code as spans, links as links, the rest escaped."""
    return "".join(
        _with_link("".join(_markdown_piece(piece, in_table) for piece in linked), url)
        for url, linked in groupby(pieces, key=lambda piece: piece.url)
    ).strip()


def _with_link(text: str, url: str) -> str:
    return f"[{text}](<{url}>)" if url else text


def _markdown_piece(piece: TextPiece, in_table: bool) -> str:
    text = code_span(piece.text, in_table) if piece.code else escape_text(piece.text)
    marks = "**" * piece.strong + "*" * piece.emphasis
    if not marks or not text.strip():
        return text
    inner = text.strip()  # beside a blank no mark opens or closes
    return text.replace(inner, f"{marks}{inner}{marks}", 1)


def document_text(document: Document) -> str:
    """A document as one GitHub-flavoured Markdown file."""
    return "\n".join(_trim_empty_end(block_lines(document.blocks))) + "\n"


def block_lines(blocks: Blocks) -> Iterator[str]:
    """Every line of some blocks, each block with an empty line behind it."""
    for block in blocks:
        match block:
            case Heading():
                yield f"{'#' * block.level} {markdown_prose(block.said)}"
            case Paragraph():
                yield markdown_prose(block.said)
            case ListBlock():
                for mark, item in block.marked():
                    yield from item_lines(mark or "-", item)
            case Code():
                yield from code_block(block.text, block.language)
            case Grid():
                yield from _grid_lines(block)
            case Quote():
                yield from (f"> {line}".rstrip() for line in _trim_empty_end(block_lines(block.blocks)))
        yield ""


def item_lines(mark: str, item: Blocks) -> Iterator[str]:
    """An item of a list, its further lines set back to where its words begin."""
    first, *others = _trim_empty_end(block_lines(item)) or [""]
    yield f"{mark} {first}"
    yield from indent_lines(others, len(mark) + 1)


def indent_lines(lines: Iterable[str], indent: int) -> Iterator[str]:
    """Lines as they stand inside an item of a list, without the empty ones at their end."""
    return (f"{' ' * indent}{line}" if line else "" for line in _trim_empty_end(lines))


def _trim_empty_end(lines: Iterable[str]) -> list[str]:
    """The lines without the empty ones at their end."""
    every = list(lines)
    while every and not every[-1]:
        every.pop()
    return every


def _grid_lines(grid: Grid) -> Iterator[str]:
    heads = tuple(markdown_prose(head, in_table=True) for head in grid.heads)
    rows = [tuple(markdown_prose(cell, in_table=True) for cell in row) for row in grid.rows]
    yield from _trim_empty_end(table_lines(heads, rows, grid.numeric))


def code_block(text: str, info: str = "") -> list[str]:
    """A fenced code block."""
    fence = "`" * max(_longest_run(text) + 1, 3)
    return [f"{fence}{info}", *text.splitlines(), fence]


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


def heading_lines(text: str) -> Iterable[str]:
    """A heading of a part."""
    yield f"## {escape_text(text)}"
    yield ""


def bullet_lines(lines: Iterable[str]) -> Iterable[str]:
    """A list."""
    yield from (f"- {line}" for line in lines)
    yield ""


def table_lines(heads: Sequence[str], rows: Iterable[Sequence[str]], numeric: Sequence[bool] = ()) -> Iterable[str]:
    """A table of cells that are Markdown already."""
    right = [*numeric, *[False] * (len(heads) - len(numeric))]
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join('---:' if number else '---' for number in right)} |"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
