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
from advisor.report.formats.results import ToolResult, outcome_reason, reported_results
from advisor.report.formats.words import say_in_format
from advisor.report.grouping import values_by_key
from advisor.report.prose import clean_line
from advisor.report.verdict.words import BUDGETS
from advisor.report.words import say
from advisor.units import show_value

if TYPE_CHECKING:
    from advisor.messages.text import Language
    from advisor.model.findings import Outcome, RuleInfo
    from advisor.model.verdict import Budget
    from advisor.report.output_formats import Reported

_NOT_XML = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
"""What XML 1.0 allows in no form, not even escaped."""

JUnitKind = Literal["failure", "error", "skipped", ""]


class JUnitCase(Struct, frozen=True):
    """One test case: what it is called, what became of it, and what is said of it."""

    group: str
    name: str
    kind: JUnitKind = ""
    message: str = ""
    body: str = ""


def text(reported: Reported) -> str:
    """One test suite."""
    cases = tuple(_test_cases(reported))
    counts = {
        "tests": len(cases),
        "failures": sum(case.kind == "failure" for case in cases),
        "errors": sum(case.kind == "error" for case in cases),
    }
    root = ElementTree.Element("testsuites", _xml_attributes(name="advisor", time=0, **counts))
    skipped = sum(case.kind == "skipped" for case in cases)
    name = clean_line(reported.diagnosis.run.name) or "advisor"
    suite = ElementTree.SubElement(root, "testsuite", _xml_attributes(name=name, **counts, skipped=skipped, time=0))
    for case in cases:
        _add_case(suite, case)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _add_case(suite: ElementTree.Element, case: JUnitCase) -> None:
    element = ElementTree.SubElement(suite, "testcase", _xml_attributes(classname=case.group, name=case.name, time=0))
    if case.kind:
        ElementTree.SubElement(element, case.kind, _xml_attributes(message=case.message)).text = (
            _valid_xml(case.body) or None
        )
    elif case.body:
        ElementTree.SubElement(element, "system-out").text = _valid_xml(case.body)


def _test_cases(reported: Reported) -> Iterable[JUnitCase]:
    diagnosis, language = reported.diagnosis, reported.language
    found = values_by_key((result.finding.rule, result) for result in reported_results(reported))
    infos = {info.id: info for info in diagnosis.rules}
    outcomes = {outcome.rule: outcome for outcome in diagnosis.outcomes}
    for rule in sorted({*outcomes, *found}):
        yield _rule_case(rule, found.get(rule, ()), outcomes.get(rule), infos.get(rule), reported)
    for budget in reported.verdict.budgets if reported.verdict else ():
        yield _budget_case(budget, language)


def _rule_case(
    rule: str, found: Iterable[ToolResult], outcome: Outcome | None, info: RuleInfo | None, reported: Reported
) -> JUnitCase:
    group, name, language = _group_name(rule), clean_line(rule), reported.language
    some = tuple(found)
    if some:
        failing = tuple(result for result in some if _is_failure(result, by_policy=reported.verdict is not None))
        body = "\n\n".join("\n".join(result.lines(language)) for result in failing or some)
        applying = rule_help.keep_applying_steps(info, [result.finding for result in failing]) if info else None
        help_text = rule_help.plain_help(applying, language) if applying else ""
        said = f"{body}\n\n{help_text}" if failing and help_text else body
        return JUnitCase(group, name, "failure" if failing else "", some[0].headline if failing else "", said)
    return _case_without_findings(group, name, outcome, language)


def _case_without_findings(group: str, name: str, outcome: Outcome | None, language: Language) -> JUnitCase:
    """The case of a rule without findings."""
    reasons: Mapping[str, tuple[JUnitKind, str]] = {
        "not applicable": ("skipped", "not_applicable"),
        "skipped": ("skipped", "skipped"),
        "failed": ("error", "failed"),
    }
    if outcome is None or outcome.outcome not in reasons:
        return JUnitCase(group, name)
    kind, word = reasons[outcome.outcome]
    reason = outcome_reason(outcome, language) or say("no_reason", language)
    return JUnitCase(group, name, kind, say_in_format(word, language, reason=reason))


def _is_failure(result: ToolResult, *, by_policy: bool) -> bool:
    if result.suppression is not None:
        return False
    return result.level == "error" if by_policy else result.finding.severity > Severity.info


def _budget_case(budget: Budget, language: Language) -> JUnitCase:
    name = f"budget/{budget.name}"
    limit, what = show_value(budget.limit, budget.unit), BUDGETS[budget.name].say(language)
    if budget.measured is None:
        said = say_in_format("budget_unknown", language, limit=limit)
        return JUnitCase(_group_name(name), name, "skipped", say_in_format("where", language, key=what, value=said))
    said = say_in_format("budget_kept", language, measured=show_value(budget.measured, budget.unit), limit=limit)
    line = say_in_format("where", language, key=what, value=said)
    broken = budget.kept is False and budget.action == "error"
    return JUnitCase(_group_name(name), name, "failure" if broken else "", line if broken else "", line)


def _group_name(rule: str) -> str:
    return f"advisor.{clean_line(rule.split('/', 1)[0])}"


def _xml_attributes(**values: object) -> dict[str, str]:
    return {name: _valid_xml(str(value)) for name, value in values.items()}


def _valid_xml(said: str) -> str:
    return _NOT_XML.sub(lambda bad: f"\\u{ord(bad[0]):04x}", said)
