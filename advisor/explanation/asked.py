# SPDX-License-Identifier: Apache-2.0
"""Which rule and which finding somebody asks about, by id, fingerprint or its first characters."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from advisor.messages.errors import UsageError
from advisor.messages.text import Text
from advisor.model.findings import Diagnosis, RuleInfo
from advisor.rules.bind import Rule
from advisor.rules.catalog import Catalog, unknown_rule

SHORTEST = 4
"""Fewer characters of a fingerprint are no name: they would mean another finding tomorrow."""
_MOST_NAMED = 5


class Asked(Struct, frozen=True):
    """What is to be explained."""

    info: RuleInfo
    """The rule as it was evaluated."""
    rule: Rule | None
    """None where it is not at hand, such as a rule of somebody's own in a saved report."""
    fingerprint: str = ""
    """Empty for everything the rule said."""


def asked(rule_id: str, fingerprint: str, diagnosis: Diagnosis | None, catalog: Catalog) -> Asked:
    """The rule and the finding that are meant.

    Raises:
        UsageError: There is no such rule or finding; the message names those that come near.
    """
    if fingerprint:
        name, found_id = _finding(fingerprint, rule_id, diagnosis, catalog)
        return _rule(found_id, name, diagnosis, catalog)
    if rule_id:
        return _rule(rule_id, "", diagnosis, catalog)
    found = {one.fingerprint: one.rule for one in diagnosis.findings} if diagnosis is not None else {}
    there = f": {_listed(found, found)}" if found else ""
    raise UsageError(
        Text("neither a rule nor a finding is named", "未指定规则或问题"),
        Text(
            f"name a rule such as host/free-time, or a finding with --finding{there}",
            f"请给出规则（例如 host/free-time），或用 --finding 指定问题{there.replace(': ', '：')}",
        ),
    )


def _rule(rule_id: str, fingerprint: str, diagnosis: Diagnosis | None, catalog: Catalog) -> Asked:
    rule = catalog.by_id.get(rule_id)
    infos = {info.id: info for info in diagnosis.rules} if diagnosis is not None else {}
    info = infos.get(rule_id) or (infos.get(rule.id) if rule is not None else None)
    if info is None and rule is None:
        raise unknown_rule(rule_id, sorted({*catalog.by_id, *infos}))
    return Asked(info or _info(rule), rule, fingerprint)


def _info(rule: Rule | None) -> RuleInfo:
    assert rule is not None  # noqa: S101 - one of the two is there
    return rule.info()


def _finding(start: str, rule_id: str, diagnosis: Diagnosis | None, catalog: Catalog) -> tuple[str, str]:
    """The fingerprint that begins like this, and its rule."""
    if diagnosis is None:
        raise UsageError(
            Text("a finding is looked up in a diagnosis, and none is given", "查找问题需要一份诊断，但未给出"),
            Text("give the capture, or a saved report with --in", "请给出采集目录，或用 --in 给出已保存的报告"),
        )
    former = catalog.by_id.get(rule_id)
    ids = {rule_id, former.id} if former is not None else {rule_id}
    names = {name: rule for name, rule in _names(diagnosis).items() if not rule_id or rule in ids}
    wanted = start.strip().lower()
    found = [name for name in names if name.startswith(wanted)] if len(wanted) >= SHORTEST else []
    if wanted in names or len(found) == 1:
        name = wanted if wanted in names else found[0]
        return name, names[name]
    if found:
        raise UsageError(
            Text(f"several findings begin with `{start}`", f"有多个问题以 `{start}` 开头"),
            Text(f"give more of it: {_listed(found, names)}", f"请多给几位：{_listed(found, names)}"),
        )
    raise _unknown_finding(start, rule_id, names)


def _unknown_finding(start: str, rule_id: str, names: Mapping[str, str]) -> UsageError:
    if len(start.strip()) < SHORTEST and names:
        return UsageError(
            Text(f"`{start}` is too short for a finding", f"`{start}` 太短，无法确定问题"),
            Text(f"give at least {SHORTEST} characters of it", f"请至少给出 {SHORTEST} 位"),
        )
    here = (f" of rule `{rule_id}`", f"规则 `{rule_id}` 的") if rule_id else ("", "")
    hint = Text(f"there are {_listed(names, names)}", f"现有：{_listed(names, names)}") if names else None
    return UsageError(Text(f"no finding `{start}`{here[0]}", f"没有{here[1]}问题 `{start}`"), hint)


def _names(diagnosis: Diagnosis) -> dict[str, str]:
    """Every subject with a fingerprint, and its rule: findings first, then what came near."""
    near = {one.fingerprint: outcome.rule for outcome in diagnosis.outcomes for one in outcome.measures}
    return {**{finding.fingerprint: finding.rule for finding in diagnosis.findings}, **near}


def _listed(fingerprints: Mapping[str, str] | list[str], names: Mapping[str, str]) -> str:
    shown = [f"{name} ({names[name]})" for name in list(fingerprints)[:_MOST_NAMED]]
    return ", ".join(shown) + (" …" if len(fingerprints) > _MOST_NAMED else "")
