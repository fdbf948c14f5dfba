# SPDX-License-Identifier: Apache-2.0
"""What each part of a checked expression does: functions from a frame to values, in numpy. See `frame` for values."""

from __future__ import annotations

import ast
import operator
import re
from collections.abc import Callable, Sequence
from functools import reduce as fold
from typing import Any

import numpy as np

from advisor.expr import reduce
from advisor.expr.frame import (
    TRUE,
    UNKNOWN,
    Frame,
    Value,
    either_missing,
    is_missing,
    repeated,
    single_truth,
    three_valued_truths,
)
from advisor.facts.table import Array, Texts
from advisor.units import ValueKind

Evaluate = Callable[[Frame], Value]
_DECIMAL = re.compile(r"[-+]?\d{1,18}(\.\d*)?")

ARITHMETIC: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}
COMPARISONS: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


def of_constant(value: str | float | bool) -> Evaluate:
    """The same value for every row or group."""
    if isinstance(value, bool):
        truth = three_valued_truths(np.asarray(value))
        return lambda _: truth
    return lambda _: value


def of_missing(kind: ValueKind) -> Evaluate:
    """A number or a truth that is not known, for every row or group."""
    value = np.asarray(UNKNOWN, np.uint8) if kind == "bool" else np.nan
    return lambda _: value


def of_column(name: str) -> Evaluate:
    """A column of the table, or a `let` with one value per row."""
    return lambda frame: frame.column(name) if frame.has(name) else frame.named[name]


def of_name(name: str) -> Evaluate:
    """A param, a run name, a key of the group or a `let` with one value per group."""

    def run(frame: Frame) -> Value:
        value = frame.named[name]
        return np.nan if value is None else value

    return run


def spread_over_rows(run: Evaluate) -> Evaluate:
    """One value per group, repeated for each of its rows."""
    return lambda frame: frame.spread(run(frame))


def negated_number(run: Evaluate) -> Evaluate:
    """The number with the other sign."""
    return lambda frame: -run(frame)


def absolute_number(run: Evaluate) -> Evaluate:
    """The number without its sign."""
    return lambda frame: np.abs(run(frame))


def negated_truth(run: Evaluate) -> Evaluate:
    """Not: missing stays missing."""
    return lambda frame: TRUE - run(frame)


def all_or_any(both: bool, runs: Sequence[Evaluate]) -> Evaluate:
    """And (or) of all: the minimum (maximum) of false < missing < true."""
    join = np.minimum if both else np.maximum
    return lambda frame: fold(join, (run(frame) for run in runs))


def is_recorded(run: Evaluate) -> Evaluate:
    """True where there is a value."""
    return lambda frame: three_valued_truths(~is_missing(run(frame)))


def combined_numbers(sign: type[ast.operator], a: Evaluate, b: Evaluate, moments: bool) -> Evaluate:
    """Two numbers combined; missing with anything is missing, and so is division by zero."""
    if moments:
        return lambda frame: _ns_between(a(frame), b(frame))
    if sign is ast.Div:
        return lambda frame: _divide_or_missing(a(frame), b(frame))
    combine = ARITHMETIC[sign]
    return lambda frame: combine(a(frame), b(frame))


def _ns_between(left: Array, right: Array) -> Array:
    """The ns between two moments, exact where they are less than 104 days apart."""
    missing = either_missing(left, right)
    return np.where(missing, np.nan, np.subtract(left, right).astype(np.float64))


def _divide_or_missing(left: Value, right: Value) -> Value:
    below = np.asarray(right, np.float64)
    zero = below == 0
    if not zero.any():
        return left / below
    return np.where(zero, np.nan, left / np.where(zero, 1.0, below))


def compared_values(sign: type[ast.cmpop], kind: ValueKind, a: Evaluate, b: Evaluate) -> Evaluate:
    """Whether a comparison holds, missing where either side is."""
    compare = COMPARISONS[sign]
    if kind == "text":
        return lambda frame: _same_text(a(frame), b(frame), sign is ast.NotEq)

    def run(frame: Frame) -> Array:
        left, right = a(frame), b(frame)
        return three_valued_truths(np.asarray(compare(left, right)), either_missing(left, right))

    return run


def _same_text(left: Value, right: Value, negate: bool) -> Array:
    """Equality of texts, on codes: each distinct text is compared once."""
    if not isinstance(left, Texts):
        left, right = right, left
    if not isinstance(left, Texts):
        known = isinstance(left, str) and isinstance(right, str)
        return single_truth((left == right) != negate if known else None)
    missing = either_missing(left, right)
    if isinstance(right, Texts):
        index = {name: code for code, name in enumerate(left.names)}
        lookup = np.array([index.get(name, -2) for name in right.names] + [-1], np.int64)
        found = left.codes == lookup[right.codes]
    else:
        found = left.isin((right,))
    return three_valued_truths(~found if negate else found, missing)


def is_among_literals(run: Evaluate, choices: Sequence[str | float], negate: bool) -> Evaluate:
    """Whether a value is among literals, missing where it is."""

    def member(frame: Frame) -> Array:
        value = run(frame)
        if isinstance(value, Texts):
            found = value.isin(str(choice) for choice in choices)
        elif isinstance(value, str):
            found = np.asarray(value in choices)
        else:
            found = np.isin(value, np.array(choices)) if not isinstance(choices[0], str) else np.asarray(False)
        return three_valued_truths(~found if negate else found, is_missing(value))

    return member


def text_test(name: str, run: Evaluate, needle: str) -> Evaluate:
    """A test of text, made once for each distinct one."""
    test: Callable[[str], bool] = {
        "startswith": lambda text: text.startswith(needle),
        "endswith": lambda text: text.endswith(needle),
        "contains": lambda text: needle in text,
    }[name]

    def tested(frame: Frame) -> Array:
        value = run(frame)
        if isinstance(value, Texts):
            return three_valued_truths(value.passing(test), is_missing(value))
        known = isinstance(value, str)
        return three_valued_truths(np.asarray(known and test(value)), np.asarray(not known))

    return tested


def number_of(run: Evaluate) -> Evaluate:
    """The number that a text stands for, read once for each distinct one."""

    def read(frame: Frame) -> Value:
        value = run(frame)
        if not isinstance(value, Texts):
            return _parse_decimal(value) if isinstance(value, str) else np.nan
        return np.array([*map(_parse_decimal, value.names), np.nan])[value.codes]  # -1, missing, reads the last

    return read


def _parse_decimal(text: str) -> float:
    return float(text) if _DECIMAL.fullmatch(text.strip()) else float("nan")


def if_then_else(test: Evaluate, then: Evaluate, other: Evaluate) -> Evaluate:
    """One of two values; missing where the condition is."""

    def run(frame: Frame) -> Array:
        which, a, b = test(frame), np.asarray(then(frame)), np.asarray(other(frame))
        neither = np.uint8(UNKNOWN) if a.dtype == np.uint8 else np.nan
        return np.where(which == TRUE, a, np.where(which == UNKNOWN, neither, b))

    return run


def least_or_greatest(least: bool, runs: Sequence[Evaluate]) -> Evaluate:
    """The smallest (largest) of several; missing if one is."""
    pick = np.minimum if least else np.maximum
    return lambda frame: fold(pick, (run(frame) for run in runs))


def aggregate_of_group(name: str, column: Evaluate | None, where: Evaluate | None, part: Evaluate | None) -> Evaluate:
    """One value per group of the rows where the condition is true."""
    if column is None:
        return lambda frame: reduce.count(_codes_where(frame, where)[0], frame.groups)

    def run(frame: Frame) -> Value:
        codes, mask = _codes_where(frame, where)
        values = column(frame)
        values = values if mask is None else values.take(mask) if isinstance(values, Texts) else values[mask]
        return _reduce_values(name, codes, values, frame, part)

    return run


def _codes_where(frame: Frame, where: Evaluate | None) -> tuple[Array, Array | None]:
    if where is None:
        return frame.codes, None
    mask = repeated(where(frame) == TRUE, len(frame.codes))
    return frame.codes[mask], mask


def _reduce_values(name: str, codes: Array, values: Value, frame: Frame, part: Evaluate | None) -> Value:
    missing, groups, all_codes = is_missing(values), frame.groups, codes
    if missing.any():
        codes = codes[~missing]
        values = values.take(~missing) if isinstance(values, Texts) else values[~missing]
    if name == "sum":
        result = reduce.total(codes, values, groups)
        nothing = (reduce.count(codes, groups) == 0) & (reduce.count(all_codes, groups) > 0)
        return np.where(nothing, np.nan, result)
    if name == "distinct":
        return reduce.distinct(codes, values.codes if isinstance(values, Texts) else values, groups)
    if isinstance(values, Texts):
        return (reduce.mode if name == "mode" else reduce.first_text)(codes, values, groups)
    if name in ("median", "quantile"):
        return reduce.quantile(codes, values, groups, 0.5 if part is None else float(part(frame)))
    return reduce.BY_NAME[name](codes, values, groups)
