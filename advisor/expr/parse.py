# SPDX-License-Identifier: Apache-2.0
"""Text to tree. The parser is Python's own; the tree is only read, never run."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache

from advisor.expr import language
from advisor.messages.errors import ExprError
from advisor.messages.message import Message
from advisor.messages.wide_signs import hint_on_wide_sign
from advisor.units import FACTORS

SPLIT = Message("split_it")


@lru_cache(256)
def parse(text: str) -> ast.expr:
    """The tree of one expression, with places counted in the text as given; nobody may change it.

    Four of ten expressions of the shipped rules say what another one says.

    Raises:
        ExprError: It is too long, or not an expression.
    """
    if len(text) > language.MAX_SOURCE:
        raise ExprError(Message("expression_too_long", limit=language.MAX_SOURCE), text[:60] + " …", 0, SPLIT)
    lead = len(text) - len(text.lstrip())
    try:
        tree = _parse_quietly(text[lead:]) if "\\" in text else ast.parse(text[lead:], mode="eval").body
    except SyntaxError as error:
        column = lead + max((error.offset or 1) - 1, 0)
        raise ExprError(_NONE, text, min(column, len(text)), _syntax_hint(text)) from None
    except (ValueError, RecursionError, MemoryError):
        raise ExprError(_NONE, text[:60], 0) from None
    for node in ast.walk(tree) if lead else ():
        if isinstance(node, ast.expr | ast.keyword):
            node.col_offset += lead
    return tree


_NONE = Message("not_an_expression")


_ORDER = re.compile(r"\b(?P<value>\w++) ++(?:asc|desc)\w*+$", re.IGNORECASE)
_ATTACHED_UNIT = re.compile(rf"(?<![\w.\"'])(?P<number>\d++(?:\.\d++)?) ?(?P<unit>{'|'.join(FACTORS)})\b")


def _syntax_hint(text: str) -> Message | None:
    if wide := hint_on_wide_sign(text):
        return wide
    if order := _ORDER.search(text.rstrip()):
        return Message("order_by_sign", name=order["value"])
    if attached := _ATTACHED_UNIT.search(text):
        return Message("write_it_as", words=f"{attached['number']} * {attached['unit']}")
    if "&&" in text or "||" in text or "!" in text.replace("!=", ""):
        return Message("join_with_words")
    bare = text.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", "").replace("where=", "")
    return Message("compare_equal") if "=" in bare else None


def _parse_quietly(text: str) -> ast.expr:
    """Without the parser's warning about backslashes that escape nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body
