# SPDX-License-Identifier: Apache-2.0
"""An explanation as Markdown. What comes from a profile stands in code spans only, as in the report."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.messages.text import Language
from advisor.model.explanation import Explanation
from advisor.report.explanation.view import Explained, Grid, Part, explained
from advisor.report.renderers.markdown import block_lines, bullets, plain, span, table, words


def document(explanation: Explanation, language: Language) -> str:
    """The explanation as one GitHub-flavoured Markdown document, with every subject."""
    shown = explained(explanation, language, most=len(explanation.cases))
    return "\n".join(_lines(shown)).rstrip() + "\n"


def _lines(shown: Explained) -> Iterator[str]:
    status = f" ({plain(shown.status)})" if shown.status else ""
    yield f"# {span(shown.rule)}{status}"
    yield ""
    yield f"**{words(shown.title)}**"
    yield ""
    yield from block_lines(shown.why)
    below = False
    for part in shown.parts:
        below = below or part.leads
        yield from _part(part, "###" if below and not part.leads else "##")


def _part(part: Part, mark: str) -> Iterator[str]:
    yield f"{mark} {words(part.title)}"
    yield ""
    for said in part.said:
        yield words(said)
        yield ""
    if part.grid is not None:
        yield from _grid(part.grid)
    if part.listed:
        yield from bullets(words(item) for item in part.listed)


def _grid(grid: Grid) -> Iterator[str]:
    heads = tuple(plain(head) for head in grid.heads)
    rows = [tuple(words(cell, in_table=True) for cell in row) for row in grid.rows]
    yield from table(heads, rows, grid.numeric)
