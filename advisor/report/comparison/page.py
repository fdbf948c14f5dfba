# SPDX-License-Identifier: Apache-2.0
"""A comparison as an HTML page, in the look of the report."""

from __future__ import annotations

from advisor.messages.text import Language
from advisor.model.comparison import Comparison
from advisor.report.charts.draw import Renderer
from advisor.report.comparison.figures import comparison_charts
from advisor.report.comparison.view import comparison_view
from advisor.report.comparison.words import say
from advisor.report.diagnosis.page import LARGEST_BYTES
from advisor.report.pages import Page

ROWS = 30
"""Rows of each table; spreadsheets hold the others."""


def comparison_page(comparison: Comparison, language: Language, renderer: Renderer | None = None) -> str:
    """The comparison as one HTML document. Charts that cannot be drawn are named as missing."""
    with Renderer(start=False) as own:
        return _draw_page(comparison, language, renderer or own)


def _draw_page(comparison: Comparison, language: Language, renderer: Renderer) -> str:
    shown = comparison_view(comparison, language, ROWS)
    asked = comparison_charts(comparison, shown)
    drawn = renderer.render({chart.kind: chart.spec for chart in asked}) if asked else {}

    def words(name: str, **values: object) -> str:
        return say(name, language, **values)

    sheet = Page("comparison.html.j2", language, asked, say=words)
    text = sheet.with_charts(sheet.text(drawn, view=shown), drawn)
    for fewer in (10, 0):
        if len(text.encode("utf-8", "backslashreplace")) < LARGEST_BYTES:
            break
        text = sheet.with_charts(sheet.text(drawn, view=comparison_view(comparison, language, fewer)), drawn)
    return text
