# SPDX-License-Identifier: Apache-2.0
"""The HTML report: one file that needs nothing else, in which nothing from a profile is markup."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Mapping

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
    renderer.begin(specs)  # drawn while the templates are compiled
    template = _environment(language).get_template("report.html.j2")
    script = Markup(shipped("templates").joinpath("report.js").read_text("utf-8"))  # noqa: S704 — our own file
    drawn = renderer.render(specs) if specs else {}
    # The drawing process let only the elements of a chart through, and the drawing library escapes the names in it.
    figures = tuple(Figure(chart, Markup(drawn[chart.kind])) for chart in asked if chart.kind in drawn)  # noqa: S704
    missing = tuple(chart.title for chart in asked if chart.kind not in drawn)
    text = ""
    for full in (FULL_CARDS, FULL_CARDS // 3, 5, 0):
        text = template.render(
            view=view(diagnosis, language, full),
            figures=figures,
            missing=missing,
            script=script,
            script_hash=_hash(script),
        )
        if len(text.encode("utf-8", "backslashreplace")) < LARGEST_BYTES:
            break
    return text


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
