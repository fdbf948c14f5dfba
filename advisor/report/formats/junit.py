# SPDX-License-Identifier: Apache-2.0
"""JUnit XML, as Jenkins and GitLab read it: one test case for each rule, and one for each budget.

A rule fails by the policy where there is one: then only what it calls an error. Else every finding fails that is more
than a remark (severity low and above). What could not look is skipped, never passed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Literal
from xml.etree import ElementTree

from msgspec import Struct

from advisor.model.findings import Severity
from advisor.report.formats import rule_help
from advisor.report.formats.results import Result, results
from advisor.report.formats.wording import told
from advisor.report.prose import clean, flat, prose
from advisor.report.words import say
from advisor.units import show

if TYPE_CHECKING:
    from advisor.messages.text import Language
    from advisor.model.findings import Outcome, RuleInfo
    from advisor.model.verdict import Budget
    from advisor.report.reported import Reported

_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""What XML 1.0 allows in no form, not even escaped."""

Kind = Literal["failure", "error", "skipped", ""]


class Case(Struct, frozen=True):
    """One test case: what it is called, what became of it, and what is said of it."""

    group: str
    name: str
    kind: Kind = ""
    message: str = ""
    body: str = ""


def text(reported: Reported) -> str:
    """One test suite."""
    cases = tuple(_cases(reported))
    counts = {
        "tests": len(cases),
        "failures": sum(case.kind == "failure" for case in cases),
        "errors": sum(case.kind == "error" for case in cases),
    }
    root = ElementTree.Element("testsuites", _attributes(name="advisor", time=0, **counts))
    skipped = sum(case.kind == "skipped" for case in cases)
    name = clean(reported.diagnosis.run.name) or "advisor"
    suite = ElementTree.SubElement(root, "testsuite", _attributes(name=name, **counts, skipped=skipped, time=0))
    for case in cases:
        _add(suite, case)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _add(suite: ElementTree.Element, case: Case) -> None:
    element = ElementTree.SubElement(suite, "testcase", _attributes(classname=case.group, name=case.name, time=0))
    if case.kind:
        ElementTree.SubElement(element, case.kind, _attributes(message=case.message)).text = _valid(case.body) or None
    elif case.body:
        ElementTree.SubElement(element, "system-out").text = _valid(case.body)


def _cases(reported: Reported) -> Iterable[Case]:
    diagnosis, language = reported.diagnosis, reported.language
    found: dict[str, list[Result]] = {}
    for result in results(reported):
        found.setdefault(result.finding.rule, []).append(result)
    infos = {info.id: info for info in diagnosis.rules}
    outcomes = {outcome.rule: outcome for outcome in diagnosis.outcomes}
    for rule in sorted({*outcomes, *found}):
        yield _case(rule, found.get(rule, ()), outcomes.get(rule), infos.get(rule), reported)
    for budget in reported.verdict.budgets if reported.verdict else ():
        yield _budget(budget, language)


def _case(
    rule: str, found: Iterable[Result], outcome: Outcome | None, info: RuleInfo | None, reported: Reported
) -> Case:
    group, name, language = _group(rule), clean(rule), reported.language
    some = tuple(found)
    if some:
        failing = tuple(result for result in some if _fails(result, by_policy=reported.verdict is not None))
        body = "\n\n".join("\n".join([result.headline, *result.details(language)]) for result in failing or some)
        applying = rule_help.applying(info, [result.finding for result in failing]) if info else None
        help_text = rule_help.text(applying, language) if applying else ""
        said = f"{body}\n\n{help_text}" if failing and help_text else body
        return Case(group, name, "failure" if failing else "", some[0].headline if failing else "", said)
    return _unfound(group, name, outcome, language)


def _unfound(group: str, name: str, outcome: Outcome | None, language: Language) -> Case:
    """The case of a rule without findings."""
    reasons: Mapping[str, tuple[Kind, str]] = {
        "not applicable": ("skipped", "not_applicable"),
        "skipped": ("skipped", "skipped"),
        "failed": ("error", "failed"),
    }
    if outcome is None or outcome.outcome not in reasons:
        return Case(group, name)
    kind, word = reasons[outcome.outcome]
    reason = outcome.reason.say(language) if outcome.reason else ", ".join(outcome.needs)
    return Case(group, name, kind, told(word, language, reason=flat(prose(reason)) or say("no_reason", language)))


def _fails(result: Result, *, by_policy: bool) -> bool:
    if result.suppression is not None:
        return False
    return result.level == "error" if by_policy else result.finding.severity > Severity.info


def _budget(budget: Budget, language: Language) -> Case:
    name = f"budget/{budget.name}"
    unit = {"share": "share", "us": "us", "B": "B"}.get(budget.unit, budget.unit)
    limit, what = show(budget.limit, unit), told(f"budget_{budget.name}", language)
    if budget.measured is None:
        said = told("budget_unknown", language, limit=limit)
        return Case(_group(name), name, "skipped", told("where", language, key=what, value=said))
    said = told("budget_kept", language, measured=show(budget.measured, unit), limit=limit)
    line = told("where", language, key=what, value=said)
    broken = budget.kept is False and budget.action == "error"
    return Case(_group(name), name, "failure" if broken else "", line if broken else "", line)


def _group(rule: str) -> str:
    return f"advisor.{clean(rule.split('/', 1)[0])}"


def _attributes(**values: object) -> dict[str, str]:
    return {name: _valid(str(value)) for name, value in values.items()}


def _valid(said: str) -> str:
    return _NOT_XML.sub(lambda bad: f"\\u{ord(bad[0]):04x}", said)
