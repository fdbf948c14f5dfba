# SPDX-License-Identifier: Apache-2.0
"""Texts of rules are Markdown: CommonMark and tables, links to the web, no raw HTML and no pictures.

What is not allowed is shown as it stands, and `find_refusals` finds it before anybody sees it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import TYPE_CHECKING, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

from advisor.messages.text import HOLE

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


class Refusal(NamedTuple):
    """Something that a rule may not say in its texts."""

    at: int
    """Where it begins in the text, in characters from 0."""
    kind: Literal["html", "picture", "link"]
    written: str
    """As it was written, in one line."""


def web_address(url: str) -> str:
    """The address if it is one of the web, else nothing: a rule file may hold any scheme."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    good = parts.scheme in ("http", "https") and parts.netloc and not re.search(r"[\s\x00-\x20\"'<>`]", url)
    return url if good and not HOLE.search(unquote(url)) else ""


@cache
def rule_text_parser() -> MarkdownIt:
    """Reads what a rule may say; raw HTML, pictures and other links stay plain text."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    made.validateLink = lambda url: bool(web_address(url))  # type: ignore[method-assign]
    return made


@cache
def code_span_parser() -> MarkdownIt:
    """Reads words in which nothing but `code` is set apart: titles, labels, messages."""
    from markdown_it import MarkdownIt

    return MarkdownIt("zero").enable("backticks")


@cache
def _lenient_parser() -> MarkdownIt:
    """Reads everything that Markdown knows, to find what a rule may not say."""
    from markdown_it import MarkdownIt

    made = MarkdownIt("commonmark", {"html": True}).enable("table")
    made.validateLink = lambda _: True  # type: ignore[method-assign,assignment]
    return made


def find_refusals(text: str) -> Iterator[Refusal]:
    """What a rule may not say in its texts, in order of appearance."""
    for token in _lenient_parser().parse(text):
        for one in (token, *(token.children or ())):
            if found := _refusal_of_token(one):
                kind, given = found
                line = given.strip().splitlines()[0] if given.strip() else "()"
                yield Refusal(max(text.find(line), 0), kind, line[:80].replace("`", "'"))


def _refusal_of_token(token: Token) -> tuple[Literal["html", "picture", "link"], str] | None:
    match token.type:
        case "html_block" | "html_inline":
            return "html", token.content
        case "image":
            return "picture", unquote(str(token.attrs["src"]))
        case "link_open" if not web_address(str(token.attrs["href"])):
            return "link", unquote(str(token.attrs["href"]))
    return None
