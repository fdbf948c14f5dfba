# SPDX-License-Identifier: Apache-2.0
"""What every HTML page shares: the template with its look, its one script, and charts that are put in last."""

from __future__ import annotations

import base64
import hashlib
import secrets
from collections.abc import Collection, Mapping, Sequence
from types import CodeType

from jinja2 import BytecodeCache, Environment, FileSystemLoader, StrictUndefined
from jinja2.bccache import Bucket
from markupsafe import Markup
from msgspec import Struct

from advisor.messages.text import Language
from advisor.report.blocks import Document
from advisor.report.charts.specs import Chart
from advisor.report.renderers.html import HtmlBlocks, tie_units, unbroken_code
from advisor.report.words import say
from advisor.shipped_files import shipped_folder

LOOK_OF_PAGE = HtmlBlocks()


class CompiledTemplates(BytecodeCache):
    """Each template compiled once in a process, which takes longer than to write a page with it."""

    def __init__(self) -> None:
        self._code: dict[tuple[str, str], CodeType | None] = {}

    def load_bytecode(self, bucket: Bucket) -> None:
        """Gives what was compiled of the same text."""
        bucket.code = self._code.get((bucket.key, bucket.checksum))

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps it."""
        self._code[bucket.key, bucket.checksum] = bucket.code


COMPILED = CompiledTemplates()


class Figure(Struct, frozen=True):
    """A chart and its drawing."""

    chart: Chart
    svg: Markup


class Page:
    """A page with a mark in the place of each chart. The mark is a secret, so that no name can look like one."""

    def __init__(self, template: str, language: Language, asked: Sequence[Chart], **known: object) -> None:
        self._asked = asked
        self._secret = secrets.token_hex(16)
        self._template = _page_environment(language, known).get_template(template)
        script = shipped_folder("templates").joinpath("report.js").read_text("utf-8")
        self._script, self._script_hash = Markup(script), _hash_script(script)  # noqa: S704 - our own file

    def text(self, kinds: Collection[str], **values: object) -> str:
        """The page with the charts of these kinds; the others are named as missing."""
        html: str = self._template.render(
            figures=[
                Figure(chart, Markup(self._chart_mark(chart.kind)))  # noqa: S704 - put in last
                for chart in self._asked
                if chart.kind in kinds
            ],
            missing=[chart.title for chart in self._asked if chart.kind not in kinds],
            script=self._script,
            script_hash=self._script_hash,
            **values,
        )
        return html

    def with_charts(self, text: str, drawn: Mapping[str, str]) -> str:
        """The page with its charts. The drawing process let only the elements of a chart through."""
        for kind, svg in drawn.items():
            text = text.replace(self._chart_mark(kind), svg)
        return text

    def _chart_mark(self, kind: str) -> str:
        return f"<!--{self._secret} {kind}-->"


def document_page(document: Document) -> str:
    """A document that has no page of its own as one HTML file."""
    return Page("document.html.j2", document.language, ()).text((), view=document)


def _page_environment(language: Language, known: Mapping[str, object]) -> Environment:
    environment = Environment(
        loader=FileSystemLoader(shipped_folder("templates")),
        bytecode_cache=COMPILED,
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["tied"] = tie_units
    environment.filters["unbroken"] = unbroken_code
    environment.filters["words"] = LOOK_OF_PAGE.words
    environment.filters["blocks"] = LOOK_OF_PAGE.blocks
    environment.filters["item"] = LOOK_OF_PAGE.item
    environment.globals["say"] = lambda name, **values: say(name, language, **values)
    environment.globals["colon"] = say("colon", language)
    environment.globals["language"] = language
    environment.globals.update(known)
    return environment


def _hash_script(script: str) -> str:
    """The name of the one script that the page's policy lets run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
