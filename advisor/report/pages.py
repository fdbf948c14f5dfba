# SPDX-License-Identifier: Apache-2.0
"""Documents as HTML pages: one file that needs nothing else, in which nothing from a profile is markup."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache

from markupsafe import Markup

from advisor.machine.shipped_files import shipped_folder
from advisor.messages.text import Language
from advisor.report.blocks import Block, Document, Figure, Fold, Paragraph, Section, grid_of
from advisor.report.charts.draw import Renderer
from advisor.report.charts.specs import Chart
from advisor.report.prose import TextPiece, clean_line, plain_prose
from advisor.report.renderers.html import HtmlBlocks, compile_templates, page_templates
from advisor.report.words import say

LARGEST_BYTES = 1_500_000
"""A page stays below this, so that it opens at once: beyond it, less is shown with all it holds."""

Drawings = Mapping[str, str]
"""Charts as SVG, by their kind."""
MakePage = Callable[[int, Drawings], Document]
"""What makes a page with so many of what it lists, and with the charts that were drawn."""


def bounded_page(
    charts: Sequence[Chart], most: Sequence[int], prepare: Callable[[], MakePage], renderer: Renderer | None
) -> str:
    """The first page that is not too large: of documents made with fewer and fewer of what they list.

    What makes them is prepared, and templates are compiled, while the charts are drawn; it is not given those that
    cannot be drawn.
    """
    specs = {chart.kind: chart.spec for chart in charts}
    with Renderer(start=False) as own:
        draws = renderer or own
        draws.begin(specs)
        make = prepare()
        compile_templates()
        drawn = draws.render(specs) if specs else {}
    return first_small_page(document_page(make(count, drawn), drawn) for count in most)


def first_small_page(pages: Iterable[str]) -> str:
    """The first page that is not too large; the last where all are."""
    text = ""
    for text in pages:
        if len(text.encode("utf-8", "backslashreplace")) < LARGEST_BYTES:
            break
    return text


def document_page(document: Document, drawn: Drawings | None = None) -> str:
    """A document as one HTML file, with the drawings of its charts by name."""
    html: str = (
        page_templates()
        .get_template("page.html.j2")
        .render(
            **_page_script(),
            say=lambda name, **values: say(name, document.language, **values),
            document=document,
            version=clean_line(document.version, 40),
            listed=[block for block in document.blocks if isinstance(block, Section) and block.listed],
            html=HtmlBlocks(document.language, drawn),
        )
    )
    return html


def page_part(name: str, blocks: Iterable[Block], listed: str = "") -> Iterator[Section]:
    """A part of a page, where there is anything in it; `listed` is what the contents call it."""
    if made := tuple(blocks):
        yield Section(made, anchor=name, element="section", listed=listed)


def figure_blocks(charts: Iterable[Chart], drawn: Drawings, language: Language) -> Iterator[Block]:
    """The charts that were drawn, beside each other, below the names of those that were not."""
    if missing := [chart.title for chart in charts if chart.kind not in drawn]:
        said = say("chart_missing", language, names=say("comma", language).join(missing))
        yield Section((Paragraph(plain_prose(said)),), "notice")
    if figures := tuple(_figure_of(chart, language) for chart in charts if chart.kind in drawn):
        yield Section(figures, "figures")


def _figure_of(chart: Chart, language: Language) -> Figure:
    """A chart and its numbers in words."""
    cut = say("rows_of", language, shown=len(chart.numbers), total=chart.total)
    note = (TextPiece(" "), TextPiece(cut, tone="quiet")) if chart.total > len(chart.numbers) else ()
    numbers = Fold((TextPiece(say("numbers", language)), *note), (grid_of(chart.heads, chart.numbers),))
    return Figure(chart.kind, chart.title, chart.note, numbers, chart.wide)


@cache
def _page_script() -> Mapping[str, object]:
    """The one script of a page, and its name by which the page's policy lets it run."""
    script = shipped_folder("templates").joinpath("report.js").read_text("utf-8")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return {"script": Markup(script), "script_hash": f"sha256-{digest}"}  # noqa: S704 - our own file
