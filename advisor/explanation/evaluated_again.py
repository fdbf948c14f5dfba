# SPDX-License-Identifier: Apache-2.0
"""A rule held against its tables once more, for what a diagnosis does not keep: every value, and more of the rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from msgspec import structs

from advisor.engine.evaluate import evaluate
from advisor.engine.hit import Hit
from advisor.engine.merge import with_worst
from advisor.engine.profile_like import ProfileLike
from advisor.explanation.checks import over_rows
from advisor.explanation.logic import columns_of_rule
from advisor.expr.compile import Compiled, Scope, compile_expr, compile_for_columns
from advisor.expr.frame import column_scope
from advisor.model.findings import Evidence, Measure, Scalar
from advisor.model.run import Run
from advisor.rules.bind import ExcerptSpec, Rule

MOST_ROWS = 1000
_MOST_COLUMNS = 12


def hits_of_findings(rule: Rule, profile: ProfileLike, run: Run, rows: int) -> dict[str, Hit]:
    """The worst place of each finding, by fingerprint, with as many rows as asked for."""
    found = with_worst(evaluate(_rule_with_rows(rule, rows), profile, run))
    return {finding.fingerprint: hit for finding, hit in found}


def hits_of_measures(
    rule: Rule, profile: ProfileLike, run: Run, rows: int, wanted: tuple[Measure, ...]
) -> dict[str, Hit]:
    """The place each of these measures was taken from, by fingerprint."""
    if not wanted:
        return {}
    always = replace(_rule_with_rows(rule, rows), when=compile_expr("true", Scope({})))
    by_subject = {tuple(measure.subject.items()): measure for measure in wanted}
    found: dict[str, Hit] = {}
    for hit in evaluate(always, profile, run).hits:
        measure = by_subject.get(tuple(hit.subject.items()))
        if measure is not None and _values_shown(hit.evidence) == _values_shown(measure.evidence):
            found.setdefault(measure.fingerprint, hit)
    return found


def _values_shown(evidence: Iterable[Evidence]) -> Mapping[str, Scalar]:
    """The values by name: a measure shows first what kept its rule quiet, beside thresholds that findings leave out."""
    return {one.name: one.value for one in evidence}


def _rule_with_rows(rule: Rule, rows: int) -> Rule:
    """The rule with so many rows in its excerpt, and with what its conditions look up in rows among its values."""
    top = max(1, min(rows, MOST_ROWS))
    excerpt = structs.replace(rule.excerpt, top=top) if rule.excerpt is not None else _default_excerpt(rule, top)
    return replace(rule, excerpt=excerpt, let={**rule.let, **over_rows(rule)})


def _default_excerpt(rule: Rule, top: int) -> ExcerptSpec | None:
    """The columns a rule reads, largest first; None where nothing in them has a size."""
    scope = column_scope(rule.fact)
    named = [column.name for column in columns_of_rule(rule)][:_MOST_COLUMNS]
    sizes = [name for name in named if rule.fact.columns()[name].store == "float"]
    if not sizes:
        return None
    shown = tuple((name, scope[name]) for name in named)
    return ExcerptSpec(shown, _compile_for_rule("true", rule), _compile_for_rule(f"-{sizes[0]}", rule), top)


def _compile_for_rule(text: str, rule: Rule) -> Compiled:
    return compile_for_columns(text, rule.fact)
