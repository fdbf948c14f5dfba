# SPDX-License-Identifier: Apache-2.0
"""An explanation on the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from advisor.messages.text import Language
from advisor.model.explanation import Explanation
from advisor.report.console import terminal
from advisor.report.explanation.view import Explained, Grid, Part, explained
from advisor.report.flow import Flow
from advisor.report.prose import clean
from advisor.report.renderers.terminal import WIDEST, assembled, renderables
from advisor.report.words import say


def print_explanation(
    explanation: Explanation, language: Language, console: Console | None = None, written: Sequence[Path] = ()
) -> None:
    """Prints the grounds of a rule's word: the first few subjects, and the files written."""
    out = console or terminal()
    for block in _blocks(explained(explanation, language)):
        out.print(block, width=min(out.width, WIDEST), highlight=False)
    for path in written:
        out.print(Text.assemble((f"{say('written_to', language)}{say('colon', language)}", "bold"), clean(path, 4096)))


def _blocks(shown: Explained) -> Iterator[RenderableType]:
    yield Text.assemble((shown.rule, "bold"), (f"  {shown.status}" if shown.status else "", "yellow"))
    yield Flow(assembled(shown.title, "bold"))
    yield Group(Text(), *renderables(shown.why))
    for part in shown.parts:
        yield Group(Text(), *_part(part))


def _part(part: Part) -> Iterator[RenderableType]:
    yield Flow(assembled(part.title, "bold cyan" if part.leads else "bold"))
    for said in part.said:
        yield Padding(Flow(assembled(said)), (0, 0, 0, 2))
    if part.grid is not None:
        yield Padding(_grid(part.grid), (0, 0, 0, 2))
    for item in part.listed:
        yield Padding(Flow(assembled(item)), (0, 0, 0, 2))


def _grid(grid: Grid) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False)
    right = [*grid.numeric, *[False] * (len(grid.heads) - len(grid.numeric))]
    for head, numeric in zip(grid.heads, right, strict=True):
        table.add_column(head, header_style="dim", justify="right" if numeric else "left")
    for row in grid.rows:
        table.add_row(*(assembled(cell) for cell in row))
    return table
