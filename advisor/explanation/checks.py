# SPDX-License-Identifier: Apache-2.0
"""Conditions taken apart into their comparisons, each with what stood on both sides."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Literal

from advisor.explanation.partial_evaluation import KnownValues, has_aggregate, scope_of, shown_unit
from advisor.expr.compile import Compiled, compile_expr
from advisor.expr.parse import parse
from advisor.model.explanation import Check
from advisor.rules.bind import Rule

Decides = Literal["when", "severity", "confidence"]

_SIGNS: dict[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
}


def checks_of_rule(rule: Rule, known: KnownValues) -> Iterator[Check]:
    """Every comparison of `when`, then the condition of each severity and confidence."""
    for decides, level, text in _conditions_of_rule(rule):
        yield _check_condition(text, decides, level, rule, known)


def over_rows(rule: Rule) -> Mapping[str, Compiled]:
    """What conditions compare and only the rows of the group can tell, such as `mean(span_us)` beside a name."""
    texts = [
        text for _, _, whole in _conditions_of_rule(rule) for text in (whole, *_sides_of_comparison(whole)[::2]) if text
    ]
    scope = scope_of(rule)
    found = {text: compile_expr(text, scope) for text in texts if has_aggregate(text)}
    return {text: compiled for text, compiled in found.items() if not compiled.type.per_row}


def _conditions_of_rule(rule: Rule) -> Iterator[tuple[Decides, str, str]]:
    yield from (("when", "", text) for text in split_condition(rule.when.source))
    yield from (("severity", level.name, test.source) for level, test in rule.severity if test is not None)
    yield from (("confidence", level.name, test.source) for level, test in rule.confidence if test is not None)


def split_condition(source: str) -> Iterator[str]:
    """What `and` and `or` join in a condition, as it is written."""
    yield from (_source_of_node(source, node) for node in _flatten_condition(parse(source)))


def _flatten_condition(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BoolOp):
        for value in node.values:
            yield from _flatten_condition(value)
    else:
        yield node


def _source_of_node(source: str, node: ast.expr) -> str:
    return ast.get_source_segment(source, node) or ast.unparse(node)


def _check_condition(text: str, decides: Decides, level: str, rule: Rule, known: KnownValues) -> Check:
    names = dict.fromkeys(inner.id for inner in ast.walk(parse(text)) if isinstance(inner, ast.Name))
    holds = known.value(text)
    left, sign, right = _sides_of_comparison(text)
    listed = sign in ("in", "not in")
    return Check(
        decides=decides,
        level=level,
        text=text,
        left=known.value(left) if left else None,
        sign=sign,
        right=right if listed else known.value(right) if right else None,
        unit=_unit_of_comparison(rule, left, "" if listed else right),
        thresholds=tuple(name for name in names if name in rule.params),
        holds=holds if isinstance(holds, bool) else None,
    )


def _sides_of_comparison(text: str) -> tuple[str, str, str]:
    """Left side, sign and right side; all empty where it is no comparison of two things."""
    node = parse(text)
    if not isinstance(node, ast.Compare) or type(node.ops[0]) not in _SIGNS:
        return "", "", ""
    return _source_of_node(text, node.left), _SIGNS[type(node.ops[0])], _source_of_node(text, node.comparators[0])


def _unit_of_comparison(rule: Rule, *sides: str) -> str:
    """The unit of a comparison: a bare number takes that of the other side, and a share that the rule shows as times,
    or holds against times, is a ratio."""
    scope = scope_of(rule)
    shown = {item.name: item.show_as for item in rule.evidence}
    units = [shown.get(side) or shown_unit(compile_expr(side, scope).type) for side in sides if side]
    return "times" if "times" in units else next((unit for unit in units if unit), "")
