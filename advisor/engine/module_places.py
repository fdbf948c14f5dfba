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
from advisor.facts.table import Table
from advisor.model.findings import Finding, ModulePlace

OPERATOR = "op_type"
"""The key of a subject and the column of rows that name a type of operator, in every fact."""
PATTERN = "pattern"
"""The same of what names a pattern of chains."""
_ONE_NAME = re.compile(r'(op_type|pattern) == "([^"]+)"(?: and (?!.* or ).*)?')
MOST_NAMED = 3
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
    tables: dict[str, tuple[Table[Any], str]] = {}
    if types is not None and len(types):
        tables[OPERATOR] = types, "type_share"
    if patterns is not None and len(patterns):
        tables[PATTERN] = patterns, "pattern_share"
    return tuple(
        finding.model_copy(update={"modules": places})
        if (named := named_by_finding(finding, of_rules)) is not None
        and named.key in tables
        and (places := _places_of_name(named, finding, *tables[named.key]))
        else finding
        for finding in findings
    )


def _places_of_name(named: Named, finding: Finding, table: Table[Any], share: str) -> tuple[ModulePlace, ...]:
    rank = finding.seen[0].rank if finding.seen else None
    mine = table.texts(named.key).isin([named.name])
    here = mine & (table["rank"] == rank) if rank is not None else mine
    known = here & (table.texts("module").codes >= 0) & (table[share] >= LEAST_SHARE)
    rows = np.flatnonzero(known)[: MOST_NAMED if rank is not None else 1]
    chosen = table.take(rows)
    return tuple(
        ModulePlace(module=str(module), share=min(part, 1.0))
        for module, part in zip(chosen.texts("module").values(), chosen[share].tolist(), strict=True)
    )


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
