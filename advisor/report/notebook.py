# SPDX-License-Identifier: Apache-2.0
"""What a notebook shows of a diagnosis, a finding, a comparison or a table: a small piece of HTML.

It brings its look along in place, has no script, and takes letters and ground from what surrounds it, so that it is
legible in light and dark.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from advisor.messages.text import Language, Text
from advisor.model.comparison import Comparison
from advisor.model.findings import Diagnosis, Finding, RuleInfo
from advisor.model.run import Run
from advisor.report.blocks import Document
from advisor.report.cards import make_cards
from advisor.report.comparison.view import comparison_view as view_of_comparison
from advisor.report.comparison.words import say as say_compared
from advisor.report.comparison.words import say_column
from advisor.report.renderers.html import HtmlBlocks, tie_units
from advisor.report.view import diagnosis_view
from advisor.report.words import say
from advisor.shipped_files import shipped_folder

MOST = 10
"""Findings, changes and rows that are shown."""

_GREY = "rgba(128,128,128,0.35)"
LOOK: Mapping[str, str] = {
    "whole": "max-width:70em;line-height:1.45",
    "lead": "margin:0.2em 0;font-weight:600",
    "line": "margin:0.3em 0",
    "note": "margin:0.3em 0;opacity:0.75;font-size:0.9em",
    "quiet": "opacity:0.75;font-size:0.9em",
    "table": "border-collapse:collapse;margin:0.6em 0;background:none;color:inherit",
    "head": f"text-align:left;padding:0.2em 0.9em 0.2em 0;border-bottom:1px solid {_GREY};font-weight:600;"
    "vertical-align:bottom",
    "cell": f"text-align:left;padding:0.3em 0.9em 0.3em 0;border-bottom:1px solid {_GREY};vertical-align:top;"
    "max-width:34em",
    "number": f"text-align:right;padding:0.3em 0.9em 0.3em 0;border-bottom:1px solid {_GREY};vertical-align:top;"
    "opacity:0.75",
    "code": "background:none;color:inherit;padding:0;font-size:0.95em;overflow-wrap:anywhere",
}
IN_PLACE = HtmlBlocks(
    {
        "code": LOOK["code"],
        "h1": LOOK["lead"],
        "p": LOOK["line"],
        "quiet": LOOK["quiet"],
        "table": LOOK["table"],
        "td": LOOK["cell"],
        "th": LOOK["head"],
    }
)
"""What blocks look like where there is no style sheet."""
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
MORE = Text(en="Further findings: {count}", zh="另有 {count} 个问题")


def diagnosis_html(diagnosis: Diagnosis, language: Language) -> str:
    """Verdict, time split and the first findings."""
    shown = diagnosis_view(diagnosis, language, full=MOST)
    return _render_macro("diagnosis", language, shown, shown.cards, _more_note(len(diagnosis.findings), language))


def finding_html(finding: Finding, language: Language, info: RuleInfo | None = None) -> str:
    """One finding: what it wins, its evidence, where it was seen; where its rule is known its title and what to do."""
    rules = () if info is None else (info,)
    (card,) = make_cards(Diagnosis(run=Run(steps=(1,)), findings=(finding,), rules=rules), language)
    return _render_macro("finding", language, card, finding.fingerprint)


def comparison_html(comparison: Comparison, language: Language) -> str:
    """Step and split side by side, and the findings that changed."""
    shown = view_of_comparison(comparison, language, 0)
    changed = [(group.word, item) for group in shown.groups if not group.folded for item in group.items]
    heads = [say_compared("delta", language), say_compared("judged", language), say_column("status", language)]
    return _render_macro("comparison", language, shown, heads, changed[:MOST], _more_note(len(changed), language))


def document_html(document: Document) -> str:
    """A document in the look of a notebook."""
    html = f'<div style="{LOOK["whole"]}">{IN_PLACE.blocks(document.blocks)}</div>'
    return html.encode("utf-8", "backslashreplace").decode()


def table_html(
    name: str, columns: Iterable[str], rows: Sequence[Sequence[object]], total: int, language: Language
) -> str:
    """The first rows of a table; cells as they are, cut where they are long."""
    note = say("rows_of", language, shown=len(rows), total=f"{total:,}")
    return _render_macro(
        "table", language, name, list(columns), [[_cell_text(cell) for cell in row] for row in rows], note
    )


def _cell_text(value: object, longest: int = 60) -> str:
    text = "–" if value is None else f"{value:,.6g}" if isinstance(value, float) else str(value)
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _more_note(count: int, language: Language) -> str:
    return MORE.fill(language, count=count - MOST) if count > MOST else ""


def _render_macro(macro: str, language: Language, *values: Any) -> str:
    module = _notebook_environment(language).get_template("notebook.html.j2").module
    html = str(getattr(module, macro)(*values))
    return html.encode("utf-8", "backslashreplace").decode()


def _notebook_environment(language: Language) -> Environment:
    made = Environment(
        loader=FileSystemLoader(shipped_folder("templates")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["tied"] = tie_units
    made.filters["words"] = IN_PLACE.words
    made.filters["item"] = IN_PLACE.item
    made.globals["say"] = lambda name, **holes: say(name, language, **holes)
    made.globals.update(colon=say("colon", language), look=LOOK, colours=COLOURS)
    return made
