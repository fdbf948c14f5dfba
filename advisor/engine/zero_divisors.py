# SPDX-License-Identifier: Apache-2.0
"""What a condition divides by that is zero everywhere: then it is missing though all was recorded."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import numpy as np

from advisor.expr.compile import Scope, compile_expr
from advisor.expr.frame import Frame, column_scope
from advisor.expr.language import RUN_SCOPE
from advisor.expr.parse import parse
from advisor.rules.bind import Rule
from advisor.units import Type


def zero_divisors(rule: Rule, frame: Frame, sources: Iterable[str], *, grouped: bool) -> list[str]:
    """Divisors in these expressions of a rule, as written, that are zero wherever they are known."""
    scope = _scope_of_rule(rule, grouped=grouped)
    written = dict.fromkeys(divisor for source in sources for divisor in _divisors(source.strip()))
    return [divisor for divisor in written if _is_zero(divisor, scope, frame)]


def _divisors(source: str) -> Iterator[str]:
    for node in ast.walk(parse(source)):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div):
            yield ast.get_source_segment(source, node.right) or ""


def _scope_of_rule(rule: Rule, *, grouped: bool) -> Scope:
    """The names of a rule; those it defines count once its rows are in groups."""
    names = {**column_scope(rule.fact), **{name: Type("number", one.unit) for name, one in rule.params.items()}}
    names |= RUN_SCOPE
    if not grouped:
        return Scope(names)
    return Scope(names | {name: one.type for name, one in rule.let.items()}, frozenset(rule.for_each))


def _is_zero(divisor: str, scope: Scope, frame: Frame) -> bool:
    values = np.asarray(compile_expr(divisor, scope).run(frame), np.float64)
    known = values[~np.isnan(values)] if values.ndim else values
    return bool(known.size) and bool(np.all(known == 0))
