# SPDX-License-Identifier: Apache-2.0
"""Runs the cases rules bring along, and what every rule must bear: no facts at all, and empty tables."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar, cast

from advisor.engine.evaluate import evaluate
from advisor.engine.hit import Hit, RuleResult
from advisor.engine.merge import with_worst
from advisor.engine.rank import rank_findings
from advisor.facts.base import Fact
from advisor.facts.selection import Selected, Selection
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing, Mistake, Unclear
from advisor.messages.message import Message, MessageValue
from advisor.model.findings import Finding, OutcomeName
from advisor.rules.bind import Rule
from advisor.rules.cases import parse_given, run_of
from advisor.rules.catalog import Catalog, gather_rules
from advisor.rules.schema import CaseFile, cases_of_document, hint_on_percent
from advisor.yaml_files import source
from advisor.yaml_files.suggestions import suggest_known

F = TypeVar("F", bound=Fact)
_MOST_NEAREST = 3
Broken = Message | Mistake
"""What a rule promised and did not keep."""


class TablesAlone:
    """A profile that holds the given tables and nothing else."""

    def __init__(self, tables: Mapping[type[Fact], Table[Any]]) -> None:
        self._tables = tables

    def table(self, fact: type[F]) -> Table[F]:
        """A table that was given.

        Raises:
            FactMissing: It was not.
        """
        if fact not in self._tables:
            raise FactMissing([fact.table])
        return cast("Table[F]", self._tables[fact])

    def selected(self, selection: Selection) -> Selected:
        """Rows of a table that was given.

        Raises:
            FactMissing: It was not.
        """
        return selection.select(self.table(selection.fact))


def prove_all(catalog: Catalog) -> dict[str, list[Broken]]:
    """What the rules promised and did not keep, by rule id; rules that keep everything are left out."""
    return {rule.id: wrong for rule in catalog.rules if (wrong := prove_rule(rule))}


def prove_rule(rule: Rule) -> list[Broken]:
    """What a rule's own cases promised and did not get, and what it does not bear."""
    found, mistakes = cases_of_document(source.read_document(rule.path))
    broken = [Message("part", part=case.name, what=wrong) for case in found for wrong in prove_case(rule, case)]
    return [*mistakes, *broken, *prove_without_facts(rule), *prove_on_empty_tables(rule)]


def prove_case(rule: Rule, case: CaseFile) -> list[Message]:
    """What one case promised and did not get."""
    try:
        start = parse_given(case)
    except Unclear as unclear:
        return [Message("part", part="given", what=_with_hint(unclear.what, unclear.hint))]
    result = evaluate(rule, TablesAlone(start.tables), start.run)
    got = result.outcome.outcome
    if isinstance(case.expect, str):
        wrong = Message("expected_outcome", wanted=_OUTCOMES[case.expect], got=_say_outcome(result))
        return [] if got == case.expect else [wrong]
    if got != "fired":
        nearest = _nearest_values(rule, result)
        missed = Message("missed_by", condition=" ".join(rule.when.source.split()), values=nearest)
        said = Message("got_nearest", got=_say_outcome(result), missed=missed) if nearest else _say_outcome(result)
        return [Message("expected_findings", got=said)]
    pairs = {finding.fingerprint: (finding, hit) for finding, hit in with_worst(result)}
    order = rank_findings((finding for finding, _ in pairs.values()), Catalog((rule,)))
    found = [pairs[finding.fingerprint] for finding in order]
    if len(found) != len(case.expect):
        listed = "; ".join(str(_finding_values(*pair)) for pair in found[:5])
        counts = {"wanted": len(case.expect), "got": len(found)}
        return [Message("expected_count", **counts, values=listed)]
    return list(_differing_values(case.expect, found))


def prove_without_facts(rule: Rule) -> list[Message]:
    """Without any fact a rule is skipped, or does not concern the run."""
    result = evaluate(rule, TablesAlone({}), run_of("rank_count=8"))
    if result.outcome.outcome in ("skipped", "not applicable"):
        return []
    return [Message("without_facts", got=_say_outcome(result))]


def prove_on_empty_tables(rule: Rule) -> list[Message]:
    """On empty tables a rule may say what it likes, as long as it does not break."""
    result = evaluate(rule, TablesAlone({fact: Table.empty(fact) for fact in rule.facts}), run_of("rank_count=8"))
    return [Message("on_empty_tables", got=_say_outcome(result))] if result.outcome.outcome == "failed" else []


_OUTCOMES: Mapping[OutcomeName, Message] = {
    "fired": Message("outcome_fired"),
    "quiet": Message("outcome_quiet"),
    "not applicable": Message("outcome_not_applicable"),
    "skipped": Message("outcome_skipped"),
    "failed": Message("outcome_failed"),
}


def _with_hint(what: Message, hint: Message | None) -> Message:
    return Message("with_hint", what=what, hint=hint) if hint else what


def _say_outcome(result: RuleResult) -> MessageValue:
    reason, got = result.outcome.reason, _OUTCOMES[result.outcome.outcome]
    if result.outcome.outcome == "fired":
        found = with_worst(result)
        listed = "; ".join(str(_finding_values(*pair)) for pair in found[:3])
        return Message("got_findings", count=len(found), values=listed)
    needs = f" [{', '.join(result.outcome.needs)}]" if result.outcome.needs else ""
    return got if reason is None else Message("got_outcome", outcome=got, reason=reason, needs=needs)


def _nearest_values(rule: Rule, result: RuleResult) -> str:
    """What a quiet rule measured where it came nearest, and the thresholds beside it, as a case writes them."""
    if result.outcome.outcome != "quiet":
        return ""
    params = {name: param.value for name, param in rule.params.items() if name in rule.when.names}
    measured = (
        {**one.subject, **{item.name: item.value for item in one.evidence}, **params}
        for one in result.outcome.measures[:_MOST_NEAREST]
    )
    return "; ".join(", ".join(f"{name} {_as_written(value)}" for name, value in one.items()) for one in measured)


def _as_written(value: object) -> str:
    return "-" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)


def _finding_values(finding: Finding, worst: Hit) -> dict[str, object]:
    """Everything a case may expect of a finding."""
    place = finding.seen[0]
    return {
        "severity": finding.severity.name,
        "confidence": finding.confidence.name,
        "saving_us": finding.saving.us,
        "places": len(finding.seen),
        "fix": [n + 1 for n in (range(len(worst.rule.fix)) if finding.fix is None else finding.fix)],
        "rank": place.rank,
        "stage": place.stage,
        "step": place.step,
        **worst.keys,
        **{name: value for name, value in worst.values.items() if name not in worst.keys},
    }


def _differing_values(
    expected: Sequence[Mapping[str, object]], found: Sequence[tuple[Finding, Hit]]
) -> Iterator[Message]:
    for number, (want, pair) in enumerate(zip(expected, found, strict=True), 1):
        have = _finding_values(*pair)
        for name, value in want.items():
            if name not in have:
                yield _with_hint(Message("finding_lacks", number=number, name=name), suggest_known(name, have))
            elif not _same_value(value, have[name]):
                values = {"wanted": str(value), "got": str(have[name])}
                yield _with_hint(Message("finding_differs", number=number, name=name, **values), hint_on_percent(value))


def _same_value(want: object, have: object) -> bool:
    if want == "-":
        want = None
    if isinstance(want, bool) or isinstance(have, bool):
        return want is have
    if isinstance(want, int | float) and isinstance(have, int | float):
        return math.isclose(want, have, rel_tol=1e-3, abs_tol=1e-6)
    return str(want) == str(have) if want is not None and have is not None else want is have


def _main(arguments: Iterable[str]) -> int:
    """Checks and proves the rules of directories; prints every mistake."""
    rules, mistakes = gather_rules(Path(name) for name in arguments)
    for mistake in mistakes:
        _print_line(mistake)
    wrong = prove_all(Catalog(tuple(rules)))
    for rule_id, told in wrong.items():
        for line in told:
            _print_line(f"{rule_id}: {line}")
    _print_line(f"{len(rules)} rules, {len(mistakes)} mistakes, {len(wrong)} rules that do not keep their promise")
    return 1 if mistakes or wrong else 0


def _print_line(line: str | Mistake) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(_main(sys.argv[1:]))
