# SPDX-License-Identifier: Apache-2.0
"""Where in the model the operator or the chain of a finding runs, where calls of modules were recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

import numpy as np

from advisor.expr.compile import Compiled
from advisor.facts.derived import ModuleType, PatternModule
from advisor.facts.table import Array, Table
from advisor.model.findings import Finding, ModulePlace

OPERATOR = "op_type"
"""The key of a subject and the column of rows that name a type of operator, in every fact."""
PATTERN = "pattern"
"""The same of what names a pattern of chains."""
_ONE_NAME = re.compile(r'(op_type|pattern) == "([^"]+)"(?: and (?!.* or ).*)?')
MOST_NAMED = 3
_INPUTS = ("input_shapes", "input_dtypes")
"""Columns of rows that tell operators of one type apart."""
LEAST_SHARE = 0.1
"""Modules with less of the time of an operator are not named: all else of it runs elsewhere."""
_ABOUT_THE_HOST = ("host/", "io/")
"""Categories whose rows are launches and waits: the operator of the first one is not what the finding is about."""


class Named(NamedTuple):
    """What a finding about kernels is about: operators of one type, or chains of one pattern."""

    key: str
    """`op_type` or `pattern`."""
    name: str


NO_RULES: Mapping[str, Named] = MappingProxyType({})


class ReadingRows(Protocol):
    """A rule, as far as the rows it reads are concerned."""

    @property
    def id(self) -> str: ...
    @property
    def where(self) -> Compiled | None: ...


def names_of_rules(rules: Iterable[ReadingRows]) -> Mapping[str, Named]:
    """By rule: the type or pattern it reads, for rules that read rows of one alone (`op_type == "TransData"`)."""
    found = {rule.id: _ONE_NAME.fullmatch(rule.where.source.strip()) for rule in rules if rule.where is not None}
    return {name: Named(match[1], match[2]) for name, match in found.items() if match is not None}


def with_modules(
    findings: Sequence[Finding],
    types: Table[ModuleType] | None,
    of_rules: Mapping[str, Named] = NO_RULES,
    patterns: Table[PatternModule] | None = None,
) -> tuple[Finding, ...]:
    """The findings, those about an operator or a chain with the modules that run it.

    `types` and `patterns` are None where no modules are known; `of_rules` names what rules read that read one alone.
    """
    given: dict[str, Table[Any] | None] = {OPERATOR: types, PATTERN: patterns}
    tables = {key: table for key, table in given.items() if table is not None}
    return tuple(
        finding.model_copy(update={"modules": places})
        if (named := named_by_finding(finding, of_rules)) is not None
        and named.key in tables
        and (places := _places_of_name(named, finding, tables[named.key]))
        else finding
        for finding in findings
    )


def _places_of_name(named: Named, finding: Finding, table: Table[Any]) -> tuple[ModulePlace, ...]:
    rank = finding.seen[0].rank if finding.seen else None
    mine = rows_of_finding(named, finding, table)
    chosen = table.take(mine & (table["rank"] == rank) if rank is not None else mine)
    modules, whole = chosen.texts("module"), float(chosen["total_us"].sum())
    spent = np.bincount(modules.codes + 1, chosen["total_us"], len(modules.names) + 1)[1:]
    order = np.argsort(-spent, kind="stable")[: MOST_NAMED if rank is not None else 1]
    return tuple(
        ModulePlace(module=modules.names[code], share=min(spent[code] / whole, 1.0))
        for code in order.tolist()
        if whole > 0 and spent[code] >= LEAST_SHARE * whole
    )


def rows_of_finding(named: Named, finding: Finding, table: Table[Any]) -> Array:
    """Which rows of a table by operator type and inputs, or by pattern, a finding is about: of a type whose inputs its
    own rows list, those with these inputs alone."""
    mine = table.texts(named.key).isin([named.name])
    if named.key != OPERATOR:
        return mine
    for column in _INPUTS:
        if told := _cells_of_rows(finding, column, named.name):
            mine &= table.texts(column).isin(told)
    return mine


def _cells_of_rows(finding: Finding, column: str, op_type: str) -> frozenset[str]:
    """What the rows of a finding hold in a column of texts, those about this type; nothing where one does not tell."""
    excerpt = finding.excerpt
    heads = [head.name for head in excerpt.columns] if excerpt else []
    if excerpt is None or column not in heads:
        return frozenset()
    types = heads.index(OPERATOR) if OPERATOR in heads else None
    rows = (row for row in excerpt.rows if types is None or row[types] == op_type)
    cells = [row[heads.index(column)] for row in rows]
    return frozenset(cell for cell in cells if isinstance(cell, str)) if all(cells) else frozenset()


def named_by_finding(finding: Finding, of_rules: Mapping[str, Named] = NO_RULES) -> Named | None:
    """What it is about by its subject or its rule, else the type of operator of the worst of its rows."""
    for key in (OPERATOR, PATTERN):
        if isinstance(name := finding.subject.get(key), str):
            return Named(key, name)
    if finding.rule in of_rules:
        return of_rules[finding.rule]
    columns = [head.name for head in finding.excerpt.columns] if finding.excerpt else []
    if finding.excerpt is None or OPERATOR not in columns or not finding.excerpt.rows:
        return None
    if finding.rule.startswith(_ABOUT_THE_HOST):
        return None
    cell = finding.excerpt.rows[0][columns.index(OPERATOR)]
    return Named(OPERATOR, cell) if isinstance(cell, str) and cell else None
