# SPDX-License-Identifier: Apache-2.0
"""Rows of a table that meet a condition, or one row per group, in the language rules are written in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct, field

from advisor.engine.excerpt import cells_of
from advisor.expr.compile import Compiled, Scope, compile_expr
from advisor.expr.frame import TRUE, Frame, Value, column_scope, group_rows, is_missing
from advisor.expr.language import MOMENT, RESERVED, RUN_SCOPE, run_values
from advisor.expr.mismatches import say_type
from advisor.expr.settings import ENVIRONMENT, recorded_environment
from advisor.facts.base import Fact
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.model.findings import Head, Rows, Scalar
from advisor.model.run import Run
from advisor.units import Type
from advisor.yaml_files.suggestions import suggest_known

MOST_ROWS = 500
MOST_NAMES = 40
"""Columns, keys and named values a query may ask for."""


class Query(Struct, frozen=True):
    """What is asked of a table. Expressions are those of rules: `where`, `let`, and keys as in `for_each`."""

    where: str = "true"
    by: tuple[str, ...] = ()
    """With keys, or with values of groups alone, the answer has one row per group."""
    let: Mapping[str, str] = field(default_factory=dict)
    """Named values, each of which may use those before it."""
    columns: tuple[str, ...] = ()
    """Columns and named values to show; none for all."""
    sort: str = ""
    """Rows with the smallest come first; `-duration_us` puts the largest first. A text sorts by alphabet."""
    limit: int = 20

    def names_any(self, names: Iterable[str]) -> bool:
        """Whether any expression may use one of these names."""
        return any(name in text for text in (self.where, self.sort, *self.let.values()) for name in names)


def answer_query(table: Table[Any], run: Run, query: Query, settings: Table[Any] | None = None) -> Rows:
    """The answer to a query: typed columns, the first rows, and how many there were.

    `settings` holds the environment variables that expressions may ask for.

    Raises:
        ExprError: An expression is not in the language, or names, types or units do not fit.
        UsageError: A name is none, or more is asked for than is given.
    """
    _refuse_too_much(query)
    with np.errstate(all="ignore"):
        return _Answer(table, run, query, settings).rows()


class _Answer:
    """Works one query out, step by step as a rule would."""

    def __init__(self, table: Table[Any], run: Run, query: Query, settings: Table[Any] | None) -> None:
        self.query, self.fact = query, table.fact
        _check_names(query, self.fact)
        self.scope = Scope({**column_scope(self.fact), **RUN_SCOPE}, frozenset(query.by))
        frame = Frame(table)
        frame.named.update(run_values(run))
        if settings is not None:
            frame.named[ENVIRONMENT] = recorded_environment(settings, settings.texts("name").names)
        kept = _compile_condition(query.where or "true", Scope(self.scope.names))
        frame = frame.keep(np.broadcast_to(kept.run(frame), frame.length) == TRUE)
        codes, self.keys = group_rows(frame, query.by)
        groups = len(next(iter(self.keys.values()))) if self.keys else 1
        self.frame = Frame(table, frame.index, codes, groups)
        self.frame.named.update(frame.named)
        for name, values in self.keys.items():
            self.frame.named[name] = _key_values(self.fact, name, values)
        self.bound = dict(self._bind_values())

    def _bind_values(self) -> Iterable[tuple[str, Type]]:
        for name, text in self.query.let.items():
            found = compile_expr(text, self.scope)
            self.frame.named[name] = found.run(self.frame)
            self.scope = self.scope.having(name, found.type)
            yield name, found.type

    @property
    def grouped(self) -> bool:
        """Whether there is one row per group."""
        named = self.query.columns or tuple(self.bound)
        alone = bool(named) and all(name in self.bound and not self.bound[name].per_row for name in named)
        return bool(self.query.by) or alone

    def rows(self) -> Rows:
        names = self.query.columns or self._all_names()
        length = self.frame.groups if self.grouped else self.frame.length
        types = [self._type_of_name(name) for name in names]
        chosen = self._row_order(length)[: self.query.limit]
        cells = [self._cells_of_name(name, kind, length, chosen) for name, kind in zip(names, types, strict=True)]
        heads = (Head(name=n, unit="ns" if t.unit == MOMENT else t.unit) for n, t in zip(names, types, strict=True))
        return Rows(columns=tuple(heads), rows=tuple(zip(*cells, strict=True)), total=length)

    def _all_names(self) -> tuple[str, ...]:
        if self.grouped:
            return (*self.query.by, *(name for name, kind in self.bound.items() if not kind.per_row))
        return (*self.fact.columns(), *self.bound)

    def _type_of_name(self, name: str) -> Type:
        kind = self.scope.names.get(name)
        if kind is None or name in RUN_SCOPE:
            raise _no_name(name, (*self.fact.columns(), *self.bound))
        if self.grouped and kind.per_row and name not in self.query.by:
            raise UsageError(Message("row_value_in_group", name=name), Message("aggregate_it"))
        return kind

    def _cells_of_name(self, name: str, kind: Type, length: int, chosen: Array) -> list[Scalar]:
        cells = cells_of(self._values_of_name(name, kind, length), chosen)
        if name in self.fact.columns() and self.fact.columns()[name].store == "int":
            return [int(cell) if isinstance(cell, float) else cell for cell in cells]
        return cells

    def _values_of_name(self, name: str, kind: Type, length: int) -> Value:
        """A column of the answer: one value for each of its rows."""
        value = self.frame.named[name] if name in self.frame.named else self.frame.column(name)
        spread = name in self.bound and not kind.per_row and not self.grouped
        return _full_column(self.frame.spread(value) if spread else value, length)

    def _row_order(self, length: int) -> Array:
        """Positions of the rows in the order asked for; unknown values last, equal ones as in the table."""
        text = self.query.sort.strip()
        if not text:
            return np.arange(length)
        found = compile_expr(text, self.scope)
        if self.grouped and found.type.per_row:
            raise UsageError(Message("sort_has_rows"), Message("sort_by_key"))
        value = found.run(self.frame)
        value = value if self.grouped or found.type.per_row else self.frame.spread(value)
        return _sorted_positions(_full_column(value, length))


def _sorted_positions(value: Value) -> Array:
    if isinstance(value, Texts):
        return np.argsort(value.places_in_order(), kind="stable")
    unknown = is_missing(value)
    last = np.lexsort((np.where(unknown, value.dtype.type(0), value), unknown))
    return np.asarray(last)


def _full_column(value: Value, length: int) -> Value:
    """A value as a column of this length."""
    if isinstance(value, Texts):
        return value
    if value is None or isinstance(value, str):
        return Texts.constant(value, length)
    return np.broadcast_to(np.asarray(value), length)


def _key_values(fact: type[Fact], name: str, values: Sequence[object]) -> Value:
    column = fact.columns()[name]
    if column.store == "text":
        return Texts.of(value if isinstance(value, str) else None for value in values)
    filled = [column.missing if value is None else value for value in values]
    return Frame(Table.build(fact, **{name: np.array(filled, column.dtype)})).column(name)


def _compile_condition(text: str, scope: Scope) -> Compiled:
    found = compile_expr(text, scope)
    if found.type.kind != "bool":
        raise UsageError(Message("where_is_condition", found=say_type(found.type)), Message("compare_something"))
    return found


def _refuse_too_much(query: Query) -> None:
    if not 1 <= query.limit <= MOST_ROWS:
        raise UsageError(Message("limit_is", limit=query.limit), Message("limit_between", most=MOST_ROWS))
    if len(query.by) + len(query.let) + len(query.columns) > MOST_NAMES:
        raise UsageError(Message("too_many_names", most=MOST_NAMES), Message("ask_for_fewer"))


def _check_names(query: Query, fact: type[Fact]) -> None:
    columns = fact.columns()
    for name in query.by:
        if name not in columns:
            raise _no_name(name, columns)
        if columns[name].store == "float" or columns[name].unit:
            raise UsageError(Message("name_is_measured", name=name), Message("group_by_names"))
    for name in query.let:
        if not name.isidentifier() or name.startswith("_") or name in RESERVED or name in columns or name in RUN_SCOPE:
            raise UsageError(Message("name_is_taken", name=name), Message("choose_value_name"))


def _no_name(name: str, known: Iterable[str]) -> UsageError:
    listed = tuple(known)
    hint = suggest_known(name, listed) or Message("known_here", names=", ".join(listed))
    return UsageError(Message("no_column_or_value", name=name), hint)
