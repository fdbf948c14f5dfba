# SPDX-License-Identifier: Apache-2.0
"""What a rule reads and when it speaks, as plain data; and which of its thresholds a project has moved."""

from __future__ import annotations

from collections.abc import Iterator

from advisor.engine.vocabulary import TABLES
from advisor.facts.base import Fact
from advisor.messages.text import Text
from advisor.model.explanation import Clause, Logic, ReadColumn, Threshold
from advisor.model.findings import Param, RuleInfo
from advisor.policy.settings import Settings
from advisor.rules.bind import Rule


def logic_of_rule(rule: Rule) -> Logic:
    """What a rule looks at, and when it speaks."""
    return Logic(
        table=rule.fact.table,
        means=meaning_of_table(rule.fact),
        called=TABLES.get(rule.fact.table, Text("", "")),
        record_with=rule.fact.record_with,
        columns=tuple(columns_of_rule(rule)),
        requires=tuple(fact.table for fact in rule.requires),
        clauses=tuple(Clause(key=key, text=text) for key, text in rule.logic()),
        explains=rule.explains,
    )


def meaning_of_table(fact: type[Fact]) -> str:
    """What a table holds, in the words of the reference, on one line."""
    return " ".join((fact.__doc__ or "").split())


def columns_of_rule(rule: Rule) -> Iterator[ReadColumn]:
    """The columns of its table that a rule names anywhere, in the order of the table."""
    named = {*rule.for_each, *(name for expression in rule.expressions() for name in expression.names)}
    if rule.excerpt is not None and rule.excerpt.fact is None:
        named |= {name for name, _ in rule.excerpt.columns}
    for name, column in rule.fact.columns().items():
        if name in named:
            yield ReadColumn(name=name, kind=column.kind, unit=column.unit, means=column.doc)


def thresholds_in_force(info: RuleInfo, rule: Rule | None, settings: Settings | None) -> tuple[Threshold, ...]:
    """The thresholds as they were in force, with what the rule file says and where a project says otherwise."""
    written = _written_thresholds(rule) if rule is not None else {}
    return tuple(
        Threshold(
            name=param.name,
            value=param.value,
            unit=param.unit,
            basis=param.basis,
            overridden=param.overridden,
            shipped=written.get(param.name) if param.overridden else None,
            where=_place_of_override(param, rule, settings) if param.overridden and rule is not None else "",
        )
        for param in info.params
    )


def _written_thresholds(rule: Rule) -> dict[str, float]:
    """The thresholds in the rule file; a number may stand there alone or with its unit and basis."""
    params = rule.document.data.get("params") or {}
    values = {name: one.get("value") if isinstance(one, dict) else one for name, one in params.items()}
    return {name: float(value) for name, value in values.items() if isinstance(value, int | float)}


def _place_of_override(param: Param, rule: Rule, settings: Settings | None) -> str:
    """The place in the settings that wins for this threshold: the id of now before those of former times."""
    if settings is None or settings.document is None:
        return ""
    for key in (rule.id, *reversed(rule.formerly)):
        override = settings.rules.get(key)
        if override is not None and param.name in override.params:
            return str(settings.document.place(("rules", key, "params", param.name), key=True))
    return ""
