# SPDX-License-Identifier: Apache-2.0
"""The expression language once more, slowly: plain Python, one row at a time, None for missing."""

from __future__ import annotations

import ast
import operator
import statistics
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Row = Mapping[str, Any]

_BINARY: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}


def value(node: Any, row: Row | None, rows: Sequence[Row], named: Row) -> Any:
    """The value of an expression on one row (or on the group as a whole)."""
    match node:
        case ast.Constant():
            return node.value
        case ast.Name(id="true" | "false" | "missing"):
            return {"true": True, "false": False}.get(node.id)
        case ast.Name():
            return row[node.id] if row is not None and node.id in row else named[node.id]
        case ast.UnaryOp():
            inner = value(node.operand, row, rows, named)
            return None if inner is None else -inner if isinstance(node.op, ast.USub) else not inner
        case ast.BoolOp():
            return _joined(node.op, [value(part, row, rows, named) for part in node.values])
        case ast.BinOp():
            return _binary(node.op, value(node.left, row, rows, named), value(node.right, row, rows, named))
        case ast.Compare():
            return _compared(node, row, rows, named)
        case ast.IfExp():
            test = value(node.test, row, rows, named)
            return None if test is None else value(node.body if test else node.orelse, row, rows, named)
        case ast.Call():
            return _called(node, row, rows, named)
    raise AssertionError(ast.dump(node))


def _joined(sign: ast.boolop, parts: list[Any]) -> bool | None:
    decisive = isinstance(sign, ast.Or)
    if decisive in parts:
        return decisive
    return None if None in parts else not decisive


def _binary(sign: ast.AST, left: Any, right: Any) -> Any:
    if left is None or right is None:
        return None
    if isinstance(sign, ast.Div):
        return None if right == 0 else left / right
    return _BINARY[type(sign)](left, right)


def _compared(node: ast.Compare, row: Row | None, rows: Sequence[Row], named: Row) -> bool | None:
    left = value(node.left, row, rows, named)
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        among = [value(item, row, rows, named) for item in node.comparators[0].elts]  # type: ignore[attr-defined]
        return None if left is None else (left in among) == isinstance(node.ops[0], ast.In)
    return _binary(node.ops[0], left, value(node.comparators[0], row, rows, named))


_AGGREGATES: dict[str, Callable[[list[Any]], Any]] = {
    "mean": statistics.fmean,
    "median": statistics.median,
    "min": min,
    "max": max,
    "std": statistics.pstdev,
    "first": lambda found: found[0],
    "mode": lambda found: min(Counter(found).items(), key=lambda entry: (-entry[1], entry[0]))[0],
}


def _called(node: ast.Call, row: Row | None, rows: Sequence[Row], named: Row) -> Any:
    name = node.func.id  # type: ignore[attr-defined]
    if name in ("count", "sum", "distinct", "quantile", *_AGGREGATES):
        return _aggregated(name, node, rows, named)
    parts = [value(argument, row, rows, named) for argument in node.args]
    if name == "recorded":
        return parts[0] is not None
    if None in parts:
        return None
    if name in ("startswith", "endswith"):
        return getattr(parts[0], name)(parts[1])
    if name == "contains":
        return parts[1] in parts[0]
    return {"abs": abs, "least": min, "greatest": max}[name](*parts)


def _aggregated(name: str, node: ast.Call, rows: Sequence[Row], named: Row) -> Any:
    kept = [r for r in rows if not node.keywords or value(node.keywords[0].value, r, rows, named) is True]
    if name == "count":
        return len(kept)
    everything = [value(node.args[0], r, rows, named) for r in kept]
    found = [v for v in everything if v is not None]
    if name == "sum":
        return None if everything and not found else sum(found)
    if name == "distinct":
        return len(set(found))
    if not found:
        return None
    if name == "quantile":
        return _quantile(sorted(found), node.args[1].value)  # type: ignore[attr-defined]
    return _AGGREGATES[name](found)


def _quantile(ordered: list[float], part: float) -> float:
    place = part * (len(ordered) - 1)
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)
