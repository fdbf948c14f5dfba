# SPDX-License-Identifier: Apache-2.0
"""The HTML report: one file that needs nothing else, in which nothing from a profile is markup."""

from __future__ import annotations

import base64
import hashlib
import re
import secrets
from collections.abc import Collection, Mapping, Sequence

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from msgspec import Struct

from advisor.findings import Diagnosis
from advisor.report.charts import Renderer
from advisor.report.specs import Chart, charts
from advisor.report.view import FULL_CARDS, view
from advisor.report.words import say
from advisor.shipped import shipped
from advisor.text import Language

LARGEST_BYTES = 1_500_000
"""A report stays below this, so that it opens at once: beyond it, fewer findings show all they hold."""

_UNIT = re.compile(r"(?<=\d) (?=(?:%|[nµm]?s|[KMGT]?i?B|GB/s|MHz)(?!\w))")

CATEGORY_CHARTS: Mapping[str, tuple[str, ...]] = {
    "comm": ("time_split", "links"),
    "host": ("idle_causes", "launch_latency"),
    "compute": ("operators",),
    "ranks": ("time_split", "rank_steps"),
    "pipeline": ("time_split",),
    "io": ("idle_causes",),
}
"""The charts worth a look beside a finding of a category."""


class Figure(Struct, frozen=True):
    """A chart and its drawing."""

    chart: Chart
    svg: Markup


def page(diagnosis: Diagnosis, language: Language, renderer: Renderer | None = None) -> str:
    """The report as one HTML document. Charts that cannot be drawn are named as missing."""
    with Renderer(start=False) as own:
        return _page(diagnosis, language, renderer or own)


def _page(diagnosis: Diagnosis, language: Language, renderer: Renderer) -> str:
    asked = charts(diagnosis.exhibits, language)
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
    """The page with a mark in the place of each chart. The mark is a secret, so that no name can look like one."""

    def __init__(self, diagnosis: Diagnosis, language: Language, asked: Sequence[Chart]) -> None:
        self._diagnosis, self._language, self._asked = diagnosis, language, asked
        self._secret = secrets.token_hex(16)
        self._template = _environment(language).get_template("report.html.j2")
        script = shipped("templates").joinpath("report.js").read_text("utf-8")
        self._script, self._script_hash = Markup(script), _hash(script)  # noqa: S704 - our own file

    def text(self, full: int, kinds: Collection[str]) -> str:
        """The page with this many full cards and the charts of these kinds; the others are named as missing."""
        html: str = self._template.render(
            view=view(self._diagnosis, self._language, full),
            figures=[Figure(chart, Markup(self._mark(chart.kind))) for chart in self._asked if chart.kind in kinds],  # noqa: S704
            missing=[chart.title for chart in self._asked if chart.kind not in kinds],
            script=self._script,
            script_hash=self._script_hash,
        )
        return html

    def with_charts(self, text: str, drawn: Mapping[str, str]) -> str:
        """The page with its charts. The drawing process let only the elements of a chart through."""
        for kind, svg in drawn.items():
            text = text.replace(self._mark(kind), svg)
        return text

    def _mark(self, kind: str) -> str:
        return f"<!--{self._secret} {kind}-->"


def tied(text: str) -> str:
    """Numbers and their units with a blank at which no line breaks."""
    return _UNIT.sub("\u00a0", text)


def _environment(language: Language) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(shipped("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["tied"] = tied
    environment.globals["say"] = lambda name, **values: say(name, language, **values)
    environment.globals["colon"] = say("colon", language)
    environment.globals["language"] = language
    environment.globals["category_charts"] = CATEGORY_CHARTS
    return environment


def _hash(script: str) -> str:
    """The name of the one script that the page's policy lets run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
