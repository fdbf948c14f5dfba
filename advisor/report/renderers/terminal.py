# SPDX-License-Identifier: Apache-2.0
"""Blocks on the terminal: text broken to the width, lists and code set back, tables in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.messages.text import Language
from advisor.report.blocks import Block, Blocks, Code, Document, Grid, Heading, ListBlock, Paragraph, Quote
from advisor.report.console import terminal_console
from advisor.report.line_breaks import Flow
from advisor.report.prose import Prose, TextPiece, clean_line, flat_text
from advisor.report.words import say

WIDEST = 100


_TONES = {"good": "green", "warn": "yellow", "bad": "red", "quiet": "dim", "subject": "cyan"}


def print_document(
    document: Document, console: Console | None = None, written: Sequence[Path] = (), inset: int = 0
) -> None:
    """Prints a document and the files that were written; what stands under the heading of a part is `inset`."""
    out = console or terminal_console()
    above: Block | None = None
    below = 0
    for block in document.blocks:
        is_part = isinstance(block, Heading) and block.level > 1
        apart = not below and _stands_apart(block, above)
        for number, one in enumerate(block_renderables((block,))):
            if apart and (number == 0 or _is_long(block)):
                out.print()
            placed = Padding(one, (0, 0, 0, 0 if is_part else below), expand=False)
            out.print(placed, width=min(out.width, WIDEST), highlight=False, crop=False)
        above, below = block, inset if is_part else below
    if written:
        out.print()
    for path in written:
        out.print(written_line(path, document.language), highlight=False, crop=False)


def _stands_apart(block: Block, above: Block | None) -> bool:
    """Whether an empty line parts it from what is above: tables and lists, but for notes on what was said last."""
    if above is None or (isinstance(above, Heading) and above.level > 1) or isinstance(block, Heading):
        return False
    if isinstance(block, Paragraph):
        return isinstance(above, Grid) or _is_long(above)
    return isinstance(block, Grid) or _is_long(block) or not isinstance(above, Paragraph)


def _is_long(block: Block) -> bool:
    """Whether it is a list of which an item is more than a sentence."""
    return isinstance(block, ListBlock) and any(len(item) > 1 for item in block.items)


def written_line(path: Path, language: Language) -> Text:
    """Which file was written."""
    return Text.assemble((f"{say('written_to', language)}{say('colon', language)}", "bold"), clean_line(path, 4096))


def block_renderables(blocks: Blocks, before: Text | None = None) -> Iterator[RenderableType]:
    """Each block as something to print, with words before the first paragraph."""
    for block in blocks:
        match block:
            case Heading():
                said = Flow(styled_prose(block.said, "bold"))
                yield said if block.level == 1 else Group(Text(), said)
            case Paragraph():
                yield Flow(Text.assemble(before or "", styled_prose(block.said)))
                before = None
            case ListBlock():
                dot = styled_prose(((block.mark or TextPiece("·")), TextPiece(" ")))
                yield from (marked_blocks(Text(f"{mark} ") if mark else dot, item) for mark, item in block.marked())
            case Code():
                yield code_lines(block.text, 2)
            case Grid():
                yield grid_table(block) if block.subject is None else _entries_table(block, block.subject)
            case Quote():
                yield Padding(Group(*block_renderables(block.blocks)), (0, 0, 0, 2))


def marked_blocks(mark: str | Text, blocks: Blocks) -> Table:
    """Blocks that begin behind a mark; all their lines begin below the words, not below the mark."""
    head = mark if isinstance(mark, Text) else Text(mark)
    table = Table.grid(padding=0)
    table.add_column(width=head.cell_len, no_wrap=True)
    table.add_column()
    table.add_row(head, Group(*block_renderables(blocks)))
    return table


def hanging_text(text: Text, indent: int) -> Table:
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
        table.add_column(styled_prose(head), justify="right" if right else "left")
    for row in grid.rows:
        table.add_row(*(Flow(styled_prose(cell)) for cell in row))
    return table


def _entries_table(grid: Grid, subject: int) -> Table:
    """A table whose rows are long: what follows the subject of a row stands below it, each with its head."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for row in grid.rows:
        below = [
            Text.assemble(styled_prose(head), " ", styled_prose(cell))
            for head, cell in zip(grid.heads[subject + 1 :], row[subject + 1 :], strict=False)
            if flat_text(cell).strip("–")
        ]
        table.add_row(*map(styled_prose, row[:subject]), Flow(styled_prose(row[subject])))
        if below:
            table.add_row(*[Text()] * subject, Flow(Text("  ").join(Text(one.plain, "dim") for one in below)))
    return table


def code_lines(block: str, indent: int = 6) -> Text:
    """Commands and code, indented. Each line stays whole: broken inside a flag or a name it could not be copied."""
    lines = "\n".join(f"{' ' * indent}{line}" for line in block.splitlines())
    return Text(lines, style="cyan", no_wrap=True, overflow="ignore")


def styled_prose(pieces: Prose, style: str = "") -> Text:
    """Pieces as they are: what stands in them is never read as markup. A link has its address behind it."""
    text = Text()
    for url, linked in groupby(pieces, key=lambda piece: piece.url):
        said = Text.assemble(*((piece.text, _piece_style(piece, style)) for piece in linked))
        text.append_text(said)
        if url and url != said.plain:
            text.append(f" ({url})", style or None)
    return text


def _piece_style(piece: TextPiece, style: str) -> str:
    marks = (_TONES.get(piece.tone, ""), "bold" * piece.strong, "italic" * (piece.code or piece.emphasis))
    return " ".join(filter(None, (style, *marks)))
