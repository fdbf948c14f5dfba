# SPDX-License-Identifier: Apache-2.0
"""Text to tree. The parser is Python's own; the tree is only read, never run."""

from __future__ import annotations

import ast
import warnings

from advisor.expr import language
from advisor.messages.errors import ExprError

SPLIT = "split it with `let`"


def parse(text: str) -> ast.expr:
    """The tree of one expression, with places counted in the text as given.

    Raises:
        ExprError: It is too long, or not an expression.
    """
    if len(text) > language.MAX_SOURCE:
        raise ExprError(f"expression is longer than {language.MAX_SOURCE} characters", text[:60] + " …", 0, SPLIT)
    lead = len(text) - len(text.lstrip())
    try:
        tree = _quietly(text[lead:]) if "\\" in text else ast.parse(text[lead:], mode="eval").body
    except SyntaxError as error:
        column = lead + max((error.offset or 1) - 1, 0)
        raise ExprError("not an expression", text, min(column, len(text)), _syntax_hint(text)) from None
    except (ValueError, RecursionError, MemoryError):
        raise ExprError("not an expression", text[:60], 0) from None
    for node in ast.walk(tree) if lead else ():
        if isinstance(node, ast.expr | ast.keyword):
            node.col_offset += lead
    return tree


def _syntax_hint(text: str) -> str:
    if "&&" in text or "||" in text or "!" in text.replace("!=", ""):
        return "join with `and`, `or`, `not`"
    bare = text.replace("==", "").replace("<=", "").replace(">=", "").replace("!=", "").replace("where=", "")
    return "compare with `==`" if "=" in bare else ""


def _quietly(text: str) -> ast.expr:
    """Without the parser's warning about backslashes that escape nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return ast.parse(text, mode="eval").body
