# SPDX-License-Identifier: Apache-2.0
"""Which rule and which finding somebody asks about, by id, fingerprint or its first characters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.model.findings import Diagnosis, RuleInfo
from advisor.model.symptoms import finding_numbers
from advisor.rules.bind import Rule
from advisor.rules.catalog import Catalog, unknown_rule

SHORTEST = 4
"""Fewer characters of a fingerprint are no name: they would mean another finding tomorrow."""
_MOST_NAMED = 5


class AskedSubject(Struct, frozen=True):
    """What is to be explained."""

    info: RuleInfo
    """The rule as it was evaluated."""
    rule: Rule | None
    """None where it is not at hand, such as a rule of somebody's own in a saved report."""
    fingerprint: str = ""
    """Empty for everything the rule said."""


def find_rule_and_finding(
    rule_id: str, fingerprint: str, diagnosis: Diagnosis | None, catalog: Catalog
) -> AskedSubject:
    """The rule and the finding that are meant; for a rule may stand the number that reports give a finding.

    Raises:
        UsageError: There is no such rule or finding; the message names those that come near.
    """
    if not fingerprint and diagnosis is not None and rule_id[:1].isdigit():
        numbered = finding_numbers(diagnosis)
        fingerprint = next((name for name, number in numbered.items() if number == rule_id), "")
        if not fingerprint and rule_id.replace(".", "").isdigit():
            raise UsageError(Message("no_finding_numbered", number=rule_id), _hint_on_numbers(numbered.values()))
        if fingerprint:
            rule_id = ""
    if fingerprint:
        name, found_id = _find_finding(fingerprint, rule_id, diagnosis, catalog)
        return _find_rule(found_id, name, diagnosis, catalog)
    if rule_id:
        return _find_rule(rule_id, "", diagnosis, catalog)
    found = _rules_of_findings(diagnosis) if diagnosis is not None else {}
    names = (
        Message("name_rule_or_these", names=_list_fingerprints(found, found))
        if found
        else Message("name_rule_or_finding")
    )
    raise UsageError(Message("nothing_asked"), names)


def _hint_on_numbers(numbers: Iterable[str]) -> Message:
    """Which numbers findings have."""
    known = ", ".join(sorted(numbers, key=lambda number: [int(part) for part in number.split(".")]))
    return Message("findings_numbered", numbers=known) if known else Message("no_findings_numbered")


def _find_rule(rule_id: str, fingerprint: str, diagnosis: Diagnosis | None, catalog: Catalog) -> AskedSubject:
    rule = catalog.by_id.get(rule_id)
    infos = {info.id: info for info in diagnosis.rules} if diagnosis is not None else {}
    info = infos.get(rule_id) or (infos.get(rule.id) if rule is not None else None)
    if info is None:
        if rule is None:
            raise unknown_rule(rule_id, sorted({*catalog.by_id, *infos}))
        info = rule.info()
    elif diagnosis is not None and rule is not None and not info.fix:  # kept of rules alone that found something
        full = rule.info(diagnosis.run.readers)
        info = info.model_copy(update={"fix": full.fix, "references": full.references})
    return AskedSubject(info, rule, fingerprint)


def _find_finding(start: str, rule_id: str, diagnosis: Diagnosis | None, catalog: Catalog) -> tuple[str, str]:
    """The fingerprint that begins like this, and its rule."""
    if diagnosis is None:
        raise UsageError(Message("no_diagnosis_asked"), Message("give_capture_or_report"))
    former = catalog.by_id.get(rule_id)
    ids = {rule_id, former.id} if former is not None else {rule_id}
    names = {name: rule for name, rule in _rules_by_fingerprint(diagnosis).items() if not rule_id or rule in ids}
    wanted = start.strip().lower()
    found = [name for name in names if name.startswith(wanted)] if len(wanted) >= SHORTEST else []
    if wanted in names or len(found) == 1:
        name = wanted if wanted in names else found[0]
        return name, names[name]
    if found:
        raise UsageError(
            Message("several_findings", start=start),
            Message("give_more_of_it", names=_list_fingerprints(found, names)),
        )
    raise _unknown_finding(start, rule_id, names)


def _unknown_finding(start: str, rule_id: str, names: Mapping[str, str]) -> UsageError:
    if len(start.strip()) < SHORTEST and names:
        return UsageError(Message("too_short_for_finding", start=start), Message("give_at_least", count=SHORTEST))
    hint = Message("there_are", names=_list_fingerprints(names, names)) if names else None
    none = Message("no_finding_of_rule", start=start, rule=rule_id) if rule_id else Message("no_finding", start=start)
    return UsageError(none, hint)


def _rules_by_fingerprint(diagnosis: Diagnosis) -> dict[str, str]:
    """Every subject with a fingerprint, and its rule: findings first, then what came near."""
    near = {one.fingerprint: outcome.rule for outcome in diagnosis.outcomes for one in outcome.measures}
    return {**_rules_of_findings(diagnosis), **near}


def _rules_of_findings(diagnosis: Diagnosis) -> dict[str, str]:
    return {name: finding.rule for name, finding in diagnosis.by_fingerprint.items()}


def _list_fingerprints(fingerprints: Mapping[str, str] | list[str], names: Mapping[str, str]) -> str:
    shown = [f"{name} ({names[name]})" for name in list(fingerprints)[:_MOST_NAMED]]
    return ", ".join(shown) + (" …" if len(fingerprints) > _MOST_NAMED else "")
