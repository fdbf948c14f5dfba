# SPDX-License-Identifier: Apache-2.0
"""Where in the model the operator of a finding runs, where calls of modules were recorded."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

import numpy as np

from advisor.expr.compile import Compiled
from advisor.facts.derived import ModuleType
from advisor.facts.table import Table
from advisor.model.findings import Finding, ModulePlace

OPERATOR = "op_type"
"""The key of a subject and the column of rows that name a type of operator, in every fact."""
NO_RULES: Mapping[str, str] = MappingProxyType({})
_ONE_TYPE = re.compile(r'op_type == "([^"]+)"')
MOST_NAMED = 3
LEAST_SHARE = 0.1
"""Modules with less of the time of an operator are not named: all else of it runs elsewhere."""
_ABOUT_THE_HOST = ("host/", "io/")
"""Categories whose rows are launches and waits: the operator of the first one is not what the finding is about."""


class ReadingRows(Protocol):
    """A rule, as far as the rows it reads are concerned."""

    @property
    def id(self) -> str: ...
    @property
    def where(self) -> Compiled | None: ...


def operators_of_rules(rules: Iterable[ReadingRows]) -> Mapping[str, str]:
    """By rule: the one type of operator whose rows it reads, for rules that read one alone (`op_type == "Cast"`)."""
    found = {rule.id: _ONE_TYPE.fullmatch(rule.where.source.strip()) for rule in rules if rule.where is not None}
    return {name: match[1] for name, match in found.items() if match is not None}


def with_modules(
    findings: Sequence[Finding], types: Table[ModuleType] | None, of_rules: Mapping[str, str] = NO_RULES
) -> tuple[Finding, ...]:
    """The findings, those about an operator with the modules that run it; `types` is None where none are known.

    `of_rules` names the operator of rules that read one alone.
    """
    if types is None or not len(types):
        return tuple(findings)
    named = [(finding, operator_of_finding(finding, of_rules)) for finding in findings]
    return tuple(
        finding.model_copy(update={"modules": places})
        if (places := _places_of_operator(operator, finding, types))
        else finding
        for finding, operator in named
    )


def _places_of_operator(operator: str, finding: Finding, types: Table[ModuleType]) -> tuple[ModulePlace, ...]:
    if not operator:
        return ()
    rank = finding.seen[0].rank if finding.seen else None
    mine = types.texts(OPERATOR).isin([operator])
    here = mine & (types["rank"] == rank) if rank is not None else mine
    known = here & (types.texts("module").codes >= 0) & (types["type_share"] >= LEAST_SHARE)
    rows = np.flatnonzero(known)[: MOST_NAMED if rank is not None else 1]
    chosen = types.take(rows)
    return tuple(
        ModulePlace(module=str(module), share=min(share, 1.0))
        for module, share in zip(chosen.texts("module").values(), chosen["type_share"].tolist(), strict=True)
    )


def operator_of_finding(finding: Finding, of_rules: Mapping[str, str] = NO_RULES) -> str:
    """The type of operator it is about, by its subject or its rule, else that of the worst of its rows."""
    named = finding.subject.get(OPERATOR, of_rules.get(finding.rule))
    if isinstance(named, str):
        return named
    columns = [head.name for head in finding.excerpt.columns] if finding.excerpt else []
    if finding.excerpt is None or OPERATOR not in columns or not finding.excerpt.rows:
        return ""
    if finding.rule.startswith(_ABOUT_THE_HOST):
        return ""
    cell = finding.excerpt.rows[0][columns.index(OPERATOR)]
    return cell if isinstance(cell, str) else ""
