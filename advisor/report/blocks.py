# SPDX-License-Identifier: Apache-2.0
"""What documents are made of, whatever format they are written in: headings, paragraphs, lists, tables, code, folds.

A module makes one kind of document out of what is to be said; `renderers` write documents in every format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from advisor.messages.text import Language
from advisor.report.prose import Prose, Said, TextPiece, as_prose, flat_text, join_prose, toned
from advisor.report.time_split import TimePart


class Heading(Struct, frozen=True):
    """The title of a document (level 1), or of a part of it."""

    said: Prose
    level: int = 2


class Paragraph(Struct, frozen=True):
    """One or more sentences."""

    said: Prose
    begins: bool = False
    """Whether something else begins with it: where lines stand close, it stands apart from what is above."""


class FactLine(Struct, frozen=True):
    """A few short facts beside each other."""

    facts: tuple[Prose, ...]

    @property
    def said(self) -> Prose:
        """All of them in a sentence."""
        return join_prose(" · ", self.facts)


class ListBlock(Struct, frozen=True):
    """A list; numbered from `start` on where there is one."""

    items: tuple[Blocks, ...]
    start: int | None = None
    mark: TextPiece | None = None
    """What stands before each item on a terminal, in place of a dot."""
    loose: bool = False
    """Whether its items stand apart in text: each is more than a line."""

    def numbered(self) -> Iterator[tuple[int | None, Blocks]]:
        """Each item with its number; None where the list has none."""
        for at, item in enumerate(self.items):
            yield None if self.start is None else self.start + at, item


class Code(Struct, frozen=True):
    """Commands or code, with the name of their language where it is known."""

    text: str
    language: str = ""


class Grid(Struct, frozen=True):
    """A table; `numeric` says which columns stand to the right."""

    heads: tuple[Prose, ...]
    rows: tuple[tuple[Prose, ...], ...]
    numeric: tuple[bool, ...] = ()
    subject: int | None = None
    """The column that says what a row is about. Where a line is short, what follows that column stands below it."""
    keys: int = 0
    """How many columns at its begin name a row, which stay together where the others stand below them."""
    below: int | None = None
    """The column that a page shows small below the first."""
    over: tuple[str, ...] = ()
    """What stands over each head; neighbours that share it stand under one."""

    @property
    def right(self) -> tuple[bool, ...]:
        """Of each column whether it stands to the right."""
        return (*self.numeric, *[False] * (len(self.heads) - len(self.numeric)))

    @property
    def titles(self) -> tuple[Prose, ...]:
        """The head of each column with what stands over it."""
        if not self.over:
            return self.heads
        pairs = zip(self.over, self.heads, strict=True)
        return tuple(join_prose(" ", filter(None, ((TextPiece(over),), head))) for over, head in pairs)


class Quote(Struct, frozen=True):
    """What is set apart from the text around it."""

    blocks: Blocks


class Fold(Struct, frozen=True):
    """A part that is folded away where a format can: what it holds, in a few words, and then what it holds."""

    said: Prose
    blocks: Blocks
    is_open: bool = False
    """Whether a page shows it unfolded at first."""


class Section(Struct, frozen=True):
    """Blocks that belong together: on a page an element with a look and an anchor of its own, in text only they."""

    blocks: Blocks
    look: str = ""
    anchor: str = ""
    element: Literal["div", "section", "article", "header", "a"] = "div"
    listed: str = ""
    """What it is called in the contents of the page."""
    data: Mapping[str, str] = {}
    """What the script of the page asks for."""
    link: str = ""
    """The anchor that a click on it leads to."""


class Figure(Struct, frozen=True):
    """A chart by its name among the drawings of a page, and its numbers in words."""

    name: str
    title: str
    note: str
    numbers: Fold
    wide: bool = False


class Meter(Struct, frozen=True):
    """A part of the whole, in per cent, as a bar: what text says in a number beside it."""

    percent: float


class TimeBar(Struct, frozen=True):
    """A time as a bar of its parts: each by the name of its colour, all in per cent of the longest bar."""

    name: str
    amount: str
    percent: float
    parts: tuple[tuple[str, float], ...]


class BarPair(Struct, frozen=True):
    """Times to be compared, drawn to one scale."""

    bars: tuple[TimeBar, ...]


class SearchForm(Struct, frozen=True):
    """What findings can be narrowed by: severities and categories, by name and in words."""

    severities: tuple[tuple[str, str], ...]
    categories: tuple[tuple[str, str], ...]


class SplitBlock(Struct, frozen=True):
    """A time and the parts it is made of, longest first: a bar where one can be drawn."""

    name: str
    parts: tuple[TimePart, ...]


TextBlock = Heading | Paragraph | FactLine | ListBlock | Code | Grid | Quote | Fold | SplitBlock
"""What every format shows."""
PageBlock = Section | Figure | Meter | BarPair | SearchForm
"""What only a page shows; in text stands what a section holds."""
Block = TextBlock | PageBlock
Blocks = tuple[Block, ...]


class Document(Struct, frozen=True):
    """All that is said, in one language, in the order in which it is read."""

    language: Language
    blocks: Blocks
    version: str = ""
    """Of the advisor that found it."""
    brand: Prose = ()
    """What stands at the top of its page: which capture it is about."""
    name: str = ""

    @property
    def title(self) -> str:
        """What it is called: its name, or its first heading."""
        if self.name:
            return self.name
        return next((flat_text(block.said) for block in self.blocks if isinstance(block, Heading)), "")


def text_blocks(blocks: Blocks) -> Iterator[TextBlock]:
    """The blocks as they stand in text."""
    for block in blocks:
        if isinstance(block, Section):
            yield from text_blocks(block.blocks)
        elif isinstance(block, TextBlock):
            yield block


def paragraph_of(*pieces: TextPiece) -> Blocks:
    """One paragraph, or nothing where nothing is said."""
    return (Paragraph(pieces),) if pieces else ()


def quiet_line(said: Prose, *, begins: bool = False) -> Paragraph:
    """A sentence beside what matters."""
    return Paragraph(toned(said, "quiet"), begins)


def bullet_list(items: Iterable[Prose], mark: TextPiece | None = None) -> Blocks:
    """A list of sentences, or nothing where there are none."""
    made = tuple(paragraph_of(*item) for item in items)
    return (ListBlock(made, mark=mark),) if made else ()


def grid_of(
    heads: Iterable[Said],
    rows: Iterable[Iterable[Said]],
    numeric: Sequence[bool] = (),
    subject: int | None = None,
) -> Grid:
    """A table of stretches of text, and of words of our own as they stand."""
    cells = tuple(tuple(map(as_prose, row)) for row in rows)
    return Grid(tuple(map(as_prose, heads)), cells, tuple(numeric), subject)


def first_paragraph(blocks: Blocks) -> Prose:
    """What is said where there is room for a line: the first paragraph; where it ends in a colon, what that leads to,
    of a list the first item and of code the first line."""
    for block, *below in (blocks[at : at + 2] for at in range(len(blocks))):
        match block:
            case ListBlock():
                return (*first_paragraph(block.items[0]), *([TextPiece(" …")] if len(block.items) > 1 else []))
            case Code() if block.text:
                first, *others = block.text.splitlines()
                return (TextPiece(first, code=True), *([TextPiece(" …")] if others else []))
            case Paragraph():
                colon = block.said[-1].text.rstrip()[-1:] if block.said else ""
                leads_to = first_paragraph(tuple(below)) if colon in (":", "：") else ()
                between = (TextPiece(" "),) if leads_to and colon == ":" else ()
                return (*block.said, *between, *leads_to)
    return ()


def led_by(words: Prose, blocks: Blocks) -> Blocks:
    """The blocks with these words before all others."""
    if blocks and isinstance(blocks[0], Paragraph):
        return (Paragraph((*words, *blocks[0].said)), *blocks[1:])
    return (*paragraph_of(*words), *blocks)


def followed_by(blocks: Blocks, words: Prose) -> Blocks:
    """The blocks with these words after all others."""
    if blocks and isinstance(blocks[-1], Paragraph):
        return (*blocks[:-1], Paragraph((*blocks[-1].said, *words)))
    return (*blocks, *paragraph_of(*words))


def with_prose(blocks: Blocks, change: Callable[[Prose], Prose]) -> Blocks:
    """The blocks with all that is said in them changed."""
    return tuple(_with_prose(block, change) for block in text_blocks(blocks))


def _with_prose(block: TextBlock, change: Callable[[Prose], Prose]) -> Block:
    match block:
        case Heading() | Paragraph():
            return replace(block, said=change(block.said))
        case FactLine():
            return FactLine(tuple(map(change, block.facts)))
        case Fold():
            return replace(block, said=change(block.said), blocks=with_prose(block.blocks, change))
        case ListBlock():
            return replace(block, items=tuple(with_prose(item, change) for item in block.items))
        case Grid():
            rows = tuple(tuple(map(change, row)) for row in block.rows)
            return replace(block, heads=tuple(map(change, block.heads)), rows=rows)
        case Quote():
            return Quote(with_prose(block.blocks, change))
        case Code() | SplitBlock():
            return block


def one_line(blocks: Blocks) -> str:
    """All that is said, in one line."""
    return " ".join(plain_lines(blocks))


def plain_text(blocks: Blocks) -> str:
    """All that is said, for programs that show plain text."""
    return "\n".join(plain_lines(blocks))


def plain_lines(blocks: Blocks) -> Iterator[str]:
    """Every paragraph, line of code and row of a table as a line; what stands in a list is marked and set back."""
    for block in text_blocks(blocks):
        match block:
            case Heading() | Paragraph() | FactLine():
                yield flat_text(block.said)
            case ListBlock():
                for number, item in block.numbered():
                    first, *others = [*plain_lines(item), ""]
                    yield f"{'-' if number is None else f'{number}.'} {first}"
                    yield from (f"  {line}" for line in others if line)
            case Code():
                yield from block.text.splitlines()
            case Grid():
                yield from (" | ".join(map(flat_text, row)) for row in (block.titles, *block.rows))
            case Quote():
                yield from plain_lines(block.blocks)
            case Fold():
                yield flat_text(block.said)
                yield from plain_lines(block.blocks)
            case SplitBlock():
                yield from (f"{part.name} {part.time} ({part.share})" for part in block.parts)
