# SPDX-License-Identifier: Apache-2.0
"""Text on the terminal, broken into lines where its language breaks it.

Rich breaks at blanks alone. Chinese has none, so that a whole sentence would count as one word. Here a line may end
after any Chinese character, but never before a closing mark, after an opening one, or between a number and its sign or
its unit.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.measure import Measurement
from rich.text import Text

_OPEN = "“‘（《「【"
_CLOSE = "，。；：！？、）”’》」】…"
_HAN = "\u2e80-\u2fff\u3040-\u9fff\uf900-\ufaff"
_UNIT = r"(?:%|[µmn]?s\b|min\b|h\b|B\b|[KMGT]iB\b|GB/s|MHz|倍)"
_PIECE = re.compile(
    rf"[{_OPEN}]*(?:[+−-]?\d[\d.,]* {_UNIT}[.,;:!?)]*|[{_HAN}]|[^\s{_HAN}{_OPEN}{_CLOSE}]+)?(?:——|[{_CLOSE}])*\s*"
)


BELOW = "·\u00a0"
"""What stands before a name in a tree for each one around it."""
_LEAST_NAME = 8
"""Cells that a name in a tree has at least; what stands before it gives way."""


class Flow:
    """Text that is broken to the width it is given; a word that is wider goes on in the next line.

    A name in a tree goes on below its own beginning.
    """

    def __init__(self, text: Text) -> None:
        self.text = text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        marks = len(self.text) - len(self.text.plain.lstrip(BELOW))
        lead = min(marks, max(options.max_width - _LEAST_NAME, 0))
        before, words = self.text.divide([lead])
        lines = break_lines(words, options.max_width - lead, inside=True).split("\n")
        below = (Text.assemble(" " * lead, line) for line in lines[1:])
        said = Text("\n").join((Text.assemble(before, *lines[:1]), *below))
        said.overflow = "fold"
        yield said

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        widest = max((cell_len(line) for line in self.text.plain.splitlines()), default=0)
        return Measurement(min(widest, options.max_width), min(widest, options.max_width))


class HangingText:
    """Text set back by `indent`, behind a mark: its further lines begin below its words, not below the mark.

    An address stays whole, wider than the line or not: broken it leads nowhere.
    """

    def __init__(self, text: Text, indent: int = 0, mark: Text | None = None) -> None:
        self.text, self.indent, self.mark = text, indent, mark or Text()

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        blank = Text(" " * (self.indent + self.mark.cell_len))
        width = max(options.max_width - len(blank), 1)
        before = Text.assemble(" " * self.indent, self.mark)
        for broken in break_lines(self.text, width).split("\n"):
            whole = broken.cell_len <= width or "://" in broken.plain
            for line in [broken] if whole else broken.wrap(console, width, overflow="fold"):
                yield Text.assemble(before, line, no_wrap=True, overflow="ignore")
                before = blank


_PART_ENDS = re.compile(r"(?<=[_/.:;,])(?=[^\W_]|_[/.:;,]*(?![\w/.:;,]))|(?<=[A-Za-z0-9])(?=[A-Z][a-z])")
"""Where a part of a name ends: behind the marks before its next word, before the last `_` of those before none, and
before a word that only its capital tells from the one before."""


def _pieces_of_text(text: str, width: int | None) -> Iterator[tuple[int, str]]:
    """What no line breaks inside of, and where it begins; words wider than `width` in the parts of their names."""
    for piece in _PIECE.finditer(text):
        if width is None or cell_len(piece[0].rstrip()) <= width:
            yield piece.start(), piece[0]
        else:
            ends = (found.start() for found in _PART_ENDS.finditer(piece[0]))
            for begin, end in pairwise([0, *ends, len(piece[0])]):
                for at in range(begin, end, max(width, 1)):
                    yield piece.start() + at, piece[0][at : min(at + max(width, 1), end)]


def break_lines(text: Text, width: int, *, inside: bool = False) -> Text:
    """The text with line breaks, so that no line is wider; a single word that is wider stays as it is.

    With `inside` such a word may break where a part of a name ends.
    """
    breaks, line = [], 0
    for start, piece in _pieces_of_text(text.plain, width if inside else None):
        if line and piece.strip() and line + cell_len(piece.rstrip()) > width:
            breaks.append(start)
            line = 0
        line += cell_len(piece)
    lines = text.divide(breaks)
    for part in lines:
        part.rstrip()
    return Text("\n").join(lines)
