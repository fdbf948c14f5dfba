# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of a diagnosis, a finding, a comparison or a table: a small piece of HTML.

It brings its look along in place, has no script, and takes letters and ground from what surrounds it, so that it is
legible in light and dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from markupsafe import Markup

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.model.findings import Diagnosis, Finding, RuleInfo
from advisor.report.blocks import Document, Paragraph, grid_of
from advisor.report.comparison.document import comparison_overview
from advisor.report.diagnosis.document import diagnosis_overview, finding_document
from advisor.report.prose import TextPiece, clean_line
from advisor.report.renderers.html import HtmlBlocks
from advisor.report.words import say

MOST = 10
"""Findings, changes and rows that are shown."""
LONGEST_CELL = 60

_GREY = "rgba(128,128,128,0.35)"
_CELL = f"padding:0.3em 0.9em 0.3em 0;border-bottom:1px solid {_GREY};vertical-align:top;text-align"
LOOK: Mapping[str, str] = {
    "h1": "margin:0.2em 0;font-size:1.1em;font-weight:600",
    "h2": "margin:0.2em 0;font-size:1em;font-weight:600",
    "p": "margin:0.3em 0",
    "span": "margin-right:0.9em",
    "quiet": "opacity:0.75;font-size:0.9em",
    "table": "border-collapse:collapse;margin:0.6em 0;background:none;color:inherit",
    "tr": "background:none",
    "th": f"{_CELL}:left;font-weight:600",
    "td": f"{_CELL}:left;max-width:34em",
    "th right": f"{_CELL}:right;font-weight:600",
    "td right": f"{_CELL}:right;white-space:nowrap",
    "code": "background:none;color:inherit;padding:0;font-size:0.95em;overflow-wrap:anywhere",
    "pre": "background:none;color:inherit;margin:0.3em 0;padding:0;white-space:pre-wrap",
}
"""By element, or by what words mean."""
COLOURS: Mapping[str, str] = {
    "compute": "#3987c7",
    "comm": "#d97b29",
    "idle": "#8f8f8f",
    "critical": "#d03b3b",
    "high": "#d97b29",
    "medium": "#c2a01f",
    "low": "#3987c7",
    "info": "#8f8f8f",
}
"""Of middle lightness: told apart from light and from dark."""


@cache
def _in_place() -> HtmlBlocks:
    """Blocks without a style sheet: letters keep the colour of what surrounds them, colours are small squares."""
    return HtmlBlocks(styles=LOOK, colours=COLOURS)


def document_html(document: Document) -> str:
    """A document in the look of a notebook."""
    html = Markup('<div style="max-width:70em;line-height:1.45">{}</div>').format(_in_place().blocks(document.blocks))
    return html.encode("utf-8", "backslashreplace").decode()


def diagnosis_html(diagnosis: Diagnosis, language: Language) -> str:
    """Verdict, time split and the first findings."""
    return document_html(diagnosis_overview(diagnosis, language, MOST))


def finding_html(finding: Finding, language: Language, info: RuleInfo | None = None) -> str:
    """One finding: what it wins, its evidence, where it was seen; where its rule is known its title and what to do."""
    return document_html(finding_document(finding, language, info))


def comparison_html(comparison: Comparison, language: Language) -> str:
    """Step and split side by side, and the findings that changed."""
    return document_html(comparison_overview(comparison, language, MOST))


def table_html(
    name: str, columns: Iterable[str], rows: Sequence[Sequence[object]], total: int, language: Language
) -> str:
    """The first rows of a table; cells cut where they are long."""
    note = say("rows_of", language, shown=len(rows), total=f"{total:,}")
    title = Paragraph((TextPiece(name, code=True), TextPiece(f" {note}", tone="quiet")))
    cells = (map(_cell_text, row) for row in rows)
    return document_html(Document(language, (title, grid_of(columns, cells))))


def _cell_text(value: object) -> str:
    return "–" if value is None else f"{value:,.6g}" if isinstance(value, float) else clean_line(value, LONGEST_CELL)
