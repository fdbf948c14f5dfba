# SPDX-License-Identifier: Apache-2.0
"""Expressions worked out from the few values that are known of one group, instead of from its rows."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping

import numpy as np

from advisor.expr.compile import Compiled, Scope, compile_expr
from advisor.expr.frame import TRUE, UNKNOWN, Frame, Value, column_scope, three_valued_truths
from advisor.expr.language import AGGREGATE_NAMES, MOMENT, RUN_SCOPE, run_values
from advisor.expr.parse import parse
from advisor.expr.settings import ENVIRONMENT
from advisor.facts.base import MISSING
from advisor.messages.errors import ExprError
from advisor.model.findings import Scalar
from advisor.model.run import Run
from advisor.rules.bind import Rule
from advisor.units import Type

_LATEST = int(np.iinfo(np.int64).max)
_LARGEST = float(np.finfo(np.float64).max)


class KnownValues:
    """Values of one group by name. A name that is absent is not known; None was looked for and not recorded."""

    def __init__(self, rule: Rule, run: Run, params: Mapping[str, float], values: Mapping[str, Scalar]) -> None:
        """`params` are the thresholds as they were in force when the values were taken."""
        declared = types_of(rule)
        given: dict[str, Scalar] = {**run_values(run), **params, **values}
        self.values = {name: value for name, value in given.items() if _fits_type(value, declared.get(name))}
        self.types = {name: declared[name] for name in self.values if name in declared}
        for name, compiled in rule.let.items():
            if name not in self.values and not compiled.type.per_row and self.computable(compiled.source):
                self.values[name] = self.value(compiled.source)
                self.types[name] = declared[name]

    def computable(self, text: str) -> bool:
        """Whether an expression rests on known values alone."""
        return text in self.values or self._compile_if_known(text) is not None

    def value(self, text: str) -> Scalar:
        """What an expression gives; None where it is missing or cannot be told."""
        if text in self.values:
            return self.values[text]
        compiled = self._compile_if_known(text)
        return None if compiled is None else self._evaluate_compiled(compiled)

    def _compile_if_known(self, text: str) -> Compiled | None:
        if has_aggregate(text):
            return None
        try:
            return compile_expr(text, Scope(self.types))
        except ExprError:
            return None

    def _evaluate_compiled(self, compiled: Compiled) -> Scalar:
        frame = Frame(None)
        frame.named.update({name: _stored_value(self.values[name], kind) for name, kind in self.types.items()})
        with np.errstate(all="ignore"):
            return plain_value(compiled.run(frame))


def types_of(rule: Rule) -> dict[str, Type]:
    """The type of every name that has one value per group."""
    columns = rule.fact.columns()
    keys = {name: Type(columns[name].kind, MOMENT if columns[name].unit == "ns" else "") for name in rule.for_each}
    params = {name: Type("number", param.unit) for name, param in rule.params.items()}
    lets = {name: compiled.type for name, compiled in rule.let.items() if not compiled.type.per_row}
    return {**RUN_SCOPE, **keys, **params, **lets}


def scope_of(rule: Rule) -> Scope:
    """Every name the conditions of a rule may use."""
    lets = {name: compiled.type for name, compiled in rule.let.items()}
    return Scope({**types_of(rule), **column_scope(rule.fact), **lets}, frozenset(rule.for_each))


def has_aggregate(text: str) -> bool:
    """Whether an expression looks at the rows of the group, or at settings: at what no diagnosis keeps."""
    calls = (node for node in ast.walk(parse(text)) if isinstance(node, ast.Call))
    return any(isinstance(call.func, ast.Name) and call.func.id in {*AGGREGATE_NAMES, ENVIRONMENT} for call in calls)


def shown_unit(kind: Type) -> str:
    """The unit as findings write it."""
    return "ns" if kind.unit == MOMENT else kind.unit


def _fits_type(value: Scalar, kind: Type | None) -> bool:
    """Whether a value is what its name holds: a file may say anything of a name it saved."""
    if value is None or kind is None:
        return True
    if kind.kind != "number":
        return isinstance(value, str if kind.kind == "text" else bool)
    most = _LATEST if kind.unit == MOMENT else _LARGEST
    return not isinstance(value, bool | str) and abs(value) <= most  # NaN is not


def _stored_value(value: Scalar, kind: Type) -> Value:
    """A value as expressions hold it."""
    if kind.kind == "bool":
        return np.uint8(UNKNOWN) if value is None else three_valued_truths(np.asarray(bool(value)))
    if kind.unit == MOMENT:
        return np.int64(value if isinstance(value, int | float) else MISSING)
    return float(value) if isinstance(value, int) else value


def plain_value(value: Value) -> Scalar:
    """One value as findings hold it; None where it is missing. Numbers with nine digits, as in evidence."""
    if value is None or isinstance(value, str):
        return value
    one = np.asarray(value).reshape(-1)[0]
    if one.dtype == np.uint8:
        return None if one == UNKNOWN else bool(one == TRUE)
    if one.dtype == np.int64:
        return None if one == MISSING else int(one)
    return float(f"{float(one):.9g}") if math.isfinite(float(one)) else None
