# SPDX-License-Identifier: Apache-2.0
"""Blocks on the terminal: text broken to the width, lists and code set back, tables in columns."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.report.blocks import Blocks, Code, Grid, Listing, Paragraph, Quote
from advisor.report.flow import Flow
from advisor.report.prose import Piece, Prose

WIDEST = 100


def renderables(blocks: Blocks, before: Text | None = None) -> Iterator[RenderableType]:
    """Each block as something to print, with words before the first paragraph."""
    for block in blocks:
        match block:
            case Paragraph():
                yield Flow(Text.assemble(before or "", assembled(block.said)))
                before = None
            case Listing():
                yield from (beginning(f"{mark or '·'} ", item) for mark, item in block.marked())
            case Code():
                yield code_lines(block.text, 2)
            case Grid():
                yield grid_table(block)
            case Quote():
                yield Padding(Group(*renderables(block.blocks)), (0, 0, 0, 2))


def beginning(mark: str | Text, blocks: Blocks) -> Table:
    """Blocks that begin behind a mark; all their lines begin below the words, not below the mark."""
    head = mark if isinstance(mark, Text) else Text(mark)
    table = Table.grid(padding=0)
    table.add_column(width=head.cell_len, no_wrap=True)
    table.add_column()
    table.add_row(head, Group(*renderables(blocks)))
    return table


def hanging(text: Text, indent: int) -> Table:
    """Text whose further lines begin below its words, not below its number."""
    table = Table.grid(padding=0)
    table.add_column(width=indent, no_wrap=True)
    table.add_column()
    table.add_row(text[:indent], Flow(text[indent:]))
    return table


def grid_table(grid: Grid) -> Table:
    """A table whose columns stand apart, without lines."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for head, right in zip(grid.heads, grid.right, strict=True):
        table.add_column(assembled(head), justify="right" if right else "left")
    for row in grid.rows:
        table.add_row(*(Flow(assembled(cell)) for cell in row))
    return table


def code_lines(block: str, indent: int = 6) -> Text:
    """Commands and code, indented. Each line stays whole: broken inside a flag or a name it could not be copied."""
    lines = "\n".join(f"{' ' * indent}{line}" for line in block.splitlines())
    return Text(lines, style="cyan", no_wrap=True, overflow="ignore")


def assembled(pieces: Prose, style: str = "") -> Text:
    """Pieces as they are: what stands in them is never read as markup. A link has its address behind it."""
    text = Text()
    for url, linked in groupby(pieces, key=lambda piece: piece.url):
        said = Text.assemble(*((piece.text, _style(piece, style)) for piece in linked))
        text.append_text(said)
        if url and url != said.plain:
            text.append(f" ({url})", style or None)
    return text


def _style(piece: Piece, style: str) -> str:
    return " ".join(filter(None, (style, "bold" * piece.strong, "italic" * (piece.code or piece.emphasis))))
