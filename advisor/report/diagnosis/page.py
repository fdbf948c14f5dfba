# SPDX-License-Identifier: Apache-2.0
"""The HTML report: one file that needs nothing else, in which nothing from a profile is markup."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from advisor.messages.text import Language
from advisor.model.findings import Diagnosis
from advisor.report.charts.draw import Renderer
from advisor.report.charts.specs import Chart, exhibit_charts
from advisor.report.diagnosis.view import FULL_CARDS, diagnosis_view
from advisor.report.pages import Page

LARGEST_BYTES = 1_500_000
"""A report stays below this, so that it opens at once: beyond it, fewer findings show all they hold."""

CATEGORY_CHARTS: Mapping[str, tuple[str, ...]] = {
    "comm": ("time_split", "links"),
    "host": ("idle_causes", "launch_latency"),
    "compute": ("operators",),
    "ranks": ("time_split", "rank_steps"),
    "pipeline": ("time_split",),
    "io": ("idle_causes",),
}
"""The charts worth a look beside a finding of a category."""


def diagnosis_page(diagnosis: Diagnosis, language: Language, renderer: Renderer | None = None) -> str:
    """The report as one HTML document. Charts that cannot be drawn are named as missing."""
    with Renderer(start=False) as own:
        return _draw_page(diagnosis, language, renderer or own)


def _draw_page(diagnosis: Diagnosis, language: Language, renderer: Renderer) -> str:
    asked = exhibit_charts(diagnosis.exhibits, language)
    specs = {chart.kind: chart.spec for chart in asked}
    renderer.begin(specs)
    draft = _Draft(diagnosis, language, asked)
    text = draft.text(FULL_CARDS, specs)  # written while the charts are drawn
    drawn = renderer.render(specs) if specs else {}
    if len(drawn) < len(asked):
        text = draft.text(FULL_CARDS, drawn)
    for fewer in (FULL_CARDS // 3, 5, 0):
        if len(draft.with_charts(text, drawn).encode("utf-8", "backslashreplace")) < LARGEST_BYTES:
            break
        text = draft.text(fewer, drawn)
    return draft.with_charts(text, drawn)


class _Draft:
    """The page before its charts are drawn."""

    def __init__(self, diagnosis: Diagnosis, language: Language, asked: Sequence[Chart]) -> None:
        self._diagnosis, self._language = diagnosis, language
        self._page = Page("report.html.j2", language, asked, category_charts=CATEGORY_CHARTS)

    def text(self, full: int, kinds: Collection[str]) -> str:
        """The page with this many full cards and the charts of these kinds; the others are named as missing."""
        return self._page.text(kinds, view=diagnosis_view(self._diagnosis, self._language, full))

    def with_charts(self, text: str, drawn: Mapping[str, str]) -> str:
        """The page with its charts."""
        return self._page.with_charts(text, drawn)
