# SPDX-License-Identifier: Apache-2.0
"""Blocks on the terminal: text broken to the width, lists and code set back, tables in columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from advisor.messages.text import Language
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
    text_blocks,
)
from advisor.report.console import terminal_console
from advisor.report.line_breaks import Flow, HangingText
from advisor.report.prose import Prose, TextPiece, clean_line, flat_text
from advisor.report.time_split import TimePart
from advisor.report.words import say

WIDEST = 100
_LEAST_TEXT = 12
"""Cells of the room that a column of words has at least, where its words are as long."""
LONGEST_PATH = 4096


_TONES = {
    "good": "green",
    "warn": "yellow",
    "bad": "red",
    "quiet": "dim",
    "subject": "cyan",
    "critical": "bold red",
    "high": "red",
    "medium": "yellow",
    "low": "blue",
    "info": "bright_black",
}
COLOURS = {"compute": "cyan", "comm": "dark_orange", "idle": "bright_black"}
_SIGNS = {"compute": "█", "comm": "▓", "idle": "░"}
"""Without colour the parts are still told apart."""


def print_document(
    document: Document, console: Console | None = None, written: Sequence[Path] = (), inset: int = 0
) -> None:
    """Prints a document and the files that were written; what stands under the heading of a part is `inset`."""
    out = console or terminal_console()
    above: TextBlock | None = None
    below = 0
    for block in text_blocks(document.blocks):
        is_part = isinstance(block, Heading) and block.level > 1
        apart = not below and _stands_apart(block, above)
        for number, one in enumerate(block_renderables((block,), 0 if is_part else below)):
            if apart and (number == 0 or _is_long(block)):
                out.print()
            out.print(one, width=_width_of(block, out.width), highlight=False, crop=False)
        above, below = block, inset if is_part else below
    if written:
        out.print()
    for line in written_lines(written, document.language):
        out.print(line, highlight=False, crop=False)


def count_lines(document: Document, console: Console, written: Sequence[Path] = ()) -> int:
    """How many lines `print_document` would print."""
    with console.capture() as captured:
        print_document(document, console, written)
    return captured.get().count("\n")


def _stands_apart(block: TextBlock, above: TextBlock | None) -> bool:
    """Whether an empty line parts it from what is above: tables and lists, but for notes on what was said last."""
    if above is None or (isinstance(above, Heading) and above.level > 1) or isinstance(block, Heading):
        return False
    if isinstance(block, Paragraph):
        return block.begins or isinstance(above, Grid | SplitBlock) or _is_long(above)
    return isinstance(block, Grid | SplitBlock) or _is_long(block) or not isinstance(above, Paragraph)


def _is_long(block: TextBlock) -> bool:
    """Whether it is a list of which an item is more than a sentence."""
    return isinstance(block, ListBlock) and any(len(item) > 1 for item in block.items)


def _width_of(block: TextBlock, room: int) -> int:
    """How wide a block is written: no wider than text is read, but a table as wide as its columns need."""
    needed = sum(_least_widths(block)) if isinstance(block, Grid) else 0
    return min(room, max(needed, WIDEST)) if needed <= room else min(room, WIDEST)


def written_lines(paths: Sequence[Path], language: Language) -> Iterator[Text]:
    """A line for each file that was written; the tables of a comparison, of which there are many, in one."""
    tables = [path for path in paths if path.suffix.lower() == ".csv"]
    together = tables if len(tables) > 1 else []
    for path in (path for path in paths if path not in together):
        yield _written_line("written_to", clean_line(path, LONGEST_PATH), language)
    if together:
        said = say("comma", language).join(clean_line(path, LONGEST_PATH) for path in tables)
        yield _written_line("written_tables", said, language)


def _written_line(name: str, said: str, language: Language) -> Text:
    return Text.assemble((f"{say(name, language)}{say('colon', language)}", "bold"), said)


def block_renderables(blocks: Blocks, indent: int = 0) -> Iterator[RenderableType]:
    """Each block, and each item of a list, as something to print, set back by `indent`."""
    for block in text_blocks(blocks):
        match block:
            case Heading():
                said = HangingText(styled_prose(block.said, "bold"), indent)
                yield said if block.level == 1 else Group(Text(), said)
            case Paragraph() | FactLine():
                yield HangingText(styled_prose(block.said), indent)
            case ListBlock():
                yield from (Group(*_item_renderables(mark, item, indent)) for mark, item in _marked_items(block))
            case Code():
                yield Group(code_lines(block.text, indent + 2))  # a text that is printed alone would wrap
            case Grid():
                yield _WithoutTrailingBlanks(_set_back(FittedGrid(block), indent))
            case Quote():
                yield from block_renderables(block.blocks, indent + 2)
            case SplitBlock():
                yield _set_back(SplitBar(block.parts), indent)
            case Fold():
                yield HangingText(styled_prose(block.said, "bold"), indent)
                yield from block_renderables(block.blocks, indent + 2)


class _WithoutTrailingBlanks:
    """Something whose lines end with their last letter: blanks that fill up a column are in the way where lines are
    compared or copied."""

    def __init__(self, one: RenderableType) -> None:
        self._one = one

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        for line in console.render_lines(self._one, options, pad=False):
            while line and not line[-1].control and not line[-1].text.rstrip(" "):
                line.pop()
            if line and not line[-1].control:
                line[-1] = Segment(line[-1].text.rstrip(" "), line[-1].style)
            yield from line
            yield Segment.line()


def _set_back(one: RenderableType, indent: int) -> RenderableType:
    return Padding(one, (0, 0, 0, indent), expand=False) if indent else one


def _marked_items(block: ListBlock) -> Iterator[tuple[Text, Blocks]]:
    """Each item behind what stands before it."""
    dot = styled_prose((block.mark or TextPiece("·"), TextPiece(" ")))
    return (
        (dot if number is None else Text(f"{number}. "), tuple(text_blocks(item))) for number, item in block.numbered()
    )


def _item_renderables(mark: Text, item: Blocks, indent: int) -> Iterator[RenderableType]:
    """All its lines begin below the words, not below the mark."""
    first = item[0].said if item and isinstance(item[0], Paragraph | FactLine) else ()
    yield HangingText(styled_prose(first), indent, mark)
    yield from block_renderables(item[1:] if first else item, indent + mark.cell_len)


class SplitBar:
    """A time split drawn over the width, above what its parts are."""

    def __init__(self, parts: Sequence[TimePart]) -> None:
        self._parts = parts

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._bar(options.max_width)
        yield self._legend(options.max_width)

    def _bar(self, width: int) -> Text:
        """Every part has at least one cell, and the cells add up."""
        room = max(width - len(self._parts) + 1, len(self._parts))
        cells = [max(round(part.percent / 100 * room), 1) for part in self._parts]
        cells[0] += room - sum(cells)
        pieces = ((_SIGNS[part.key] * count, COLOURS[part.key]) for part, count in zip(self._parts, cells, strict=True))
        return Text(" ").join(Text(*piece) for piece in pieces)

    def _legend(self, width: int) -> Text:
        """The parts side by side; one that does not fit begins the next line."""
        lines: list[Text] = []
        for part in self._parts:
            name = (f"{part.name} {part.time} ", "")
            said = Text.assemble((f"{_SIGNS[part.key]} ", COLOURS[part.key]), name, (part.share, "bold"))
            if lines and lines[-1].cell_len + 3 + said.cell_len <= width:
                lines[-1] = Text("   ").join((lines[-1], said))
            else:
                lines.append(said)
        return Text("\n").join(lines)


class FittedGrid:
    """A table whose numbers are never broken: columns for which a line has no room stand below each other."""

    def __init__(self, grid: Grid) -> None:
        self._grid = grid

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        grid = self._grid
        names = grid.keys or next((at for at, right in enumerate(grid.right) if right), len(grid.right)) or 1
        has_room = sum(_least_widths(grid)) <= options.max_width
        fits = has_room or (grid.subject is None and names >= len(grid.right))
        whole = sum(_least_widths(grid, whole=True)) <= options.max_width
        below = names - 1 if grid.subject is None else grid.subject
        unbroken = grid.subject if has_room else None
        yield grid_table(grid, broken=not whole, unbroken=unbroken) if fits else _entries_table(grid, below)


def _least_widths(grid: Grid, *, whole: bool = False) -> Iterator[int]:
    """How much room each column needs with the space behind it: numbers and what a row is about whole, other words
    broken where they are long.

    With `whole` the heads of numbers stay in one line.
    """
    for at, (head, right) in enumerate(zip(grid.titles, grid.right, strict=True)):
        title = flat_text(head)
        words = max(map(cell_len, [title] if whole and right else title.split()), default=0)
        longest = _longest_cell(grid, at)
        room = max(words, longest)
        yield (room if right or at == grid.subject else min(room, _LEAST_TEXT)) + 2


def _longest_cell(grid: Grid, at: int) -> int:
    return max((cell_len(flat_text(row[at])) for row in grid.rows), default=0)


def grid_table(grid: Grid, *, broken: bool = False, unbroken: int | None = None) -> Table:
    """A table whose columns stand apart, without lines; `broken` heads of numbers have a line for each word, and the
    column `unbroken` keeps its words in one line as numbers do."""
    titled = any(map(flat_text, grid.titles))
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim", show_header=titled)
    for at, (head, right) in enumerate(zip(grid.titles, grid.right, strict=True)):
        title = styled_prose(head)
        if broken and right and title.cell_len > _longest_cell(grid, at):
            title = Text("\n").join(title.split(" "))
        table.add_column(title, justify="right" if right else "left", no_wrap=right or at == unbroken)
    for row in grid.rows:
        table.add_row(*(Flow(styled_prose(cell)) for cell in row))
    return table


def _entries_table(grid: Grid, subject: int) -> Table:
    """A table whose rows are long: what follows the subject of a row stands below it, each with its head."""
    table = Table.grid(padding=(0, 2, 0, 0))
    for row in grid.rows:
        told = zip(grid.heads[subject + 1 :], row[subject + 1 :], strict=False)
        below = [_with_head(head, cell) for head, cell in told if flat_text(cell).strip("–")]
        said = Flow(Text("  ").join(Text(one.plain, "dim") for one in below))
        if grid.keys:
            table.add_row(Flow(Text("  ").join(_keys_of_row(grid, row, subject))))
            table.add_row(Padding(said, (0, 0, 0, 2)))
            continue
        table.add_row(*map(styled_prose, row[:subject]), Flow(styled_prose(row[subject])))
        if below:
            table.add_row(*[Text()] * subject, said)
    return table


def _keys_of_row(grid: Grid, row: Sequence[Prose], subject: int) -> Iterator[Text]:
    """What names a row, to its subject: a number says nothing without its head."""
    for head, cell, right in zip(grid.heads[: subject + 1], row, grid.right, strict=False):
        yield _with_head(head, cell) if right else styled_prose(cell)


def _with_head(head: Prose, cell: Prose) -> Text:
    return Text.assemble(styled_prose(head), " ", styled_prose(cell))


def code_lines(block: str, indent: int) -> Text:
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
