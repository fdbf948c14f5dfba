# SPDX-License-Identifier: Apache-2.0
"""JUnit XML, as Jenkins and GitLab read it: one test case for each rule, and one for each budget.

A rule fails by the policy where there is one: then only what it calls an error. Else every finding fails that is more
than a remark (severity low and above). What could not look is skipped, never passed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING
from xml.etree import ElementTree

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


def text(reported: Reported) -> str:
    """One test suite."""
    cases = tuple(_test_cases(reported))
    became = Counter(kind.tag for case in cases for kind in case)
    counts = {"tests": len(cases), "failures": became["failure"], "errors": became["error"]}
    root = ElementTree.Element("testsuites", _xml_attributes(name="advisor", time=0, **counts))
    name = clean_line(reported.diagnosis.run.name) or "advisor"
    of_suite = _xml_attributes(name=name, **counts, skipped=became["skipped"], time=0)
    ElementTree.SubElement(root, "testsuite", of_suite).extend(cases)
    ElementTree.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ElementTree.tostring(root, encoding="unicode")}\n'


def _test_case(name: str, kind: str = "", message: str = "", body: str = "") -> ElementTree.Element:
    """A test case by the name of its rule: what became of it, nothing where it passed, and what is said of it."""
    group = f"advisor.{clean_line(name.split('/', 1)[0])}"
    case = ElementTree.Element("testcase", _xml_attributes(classname=group, name=clean_line(name), time=0))
    if kind:
        ElementTree.SubElement(case, kind, _xml_attributes(message=message)).text = _valid_xml(body) or None
    elif body:
        ElementTree.SubElement(case, "system-out").text = _valid_xml(body)
    return case


def _test_cases(reported: Reported) -> Iterable[ElementTree.Element]:
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
) -> ElementTree.Element:
    some, language = tuple(found), reported.language
    if not some:
        return _case_without_findings(rule, outcome, language)
    failing = tuple(result for result in some if _is_failure(result, by_policy=reported.verdict is not None))
    body = "\n\n".join("\n".join(result.lines(language)) for result in failing or some)
    if not failing:
        return _test_case(rule, body=body)
    applying = rule_help.keep_applying_steps(info, [result.finding for result in failing]) if info else None
    help_text = rule_help.plain_help(applying, language) if applying else ""
    return _test_case(rule, "failure", some[0].headline, "\n\n".join(filter(None, (body, help_text))))


def _case_without_findings(rule: str, outcome: Outcome | None, language: Language) -> ElementTree.Element:
    kinds = {"not applicable": "skipped", "skipped": "skipped", "failed": "error"}
    if outcome is None or outcome.outcome not in kinds:
        return _test_case(rule)
    reason = outcome_reason(outcome, language) or say("no_reason", language)
    said = say_in_format(outcome.outcome.replace(" ", "_"), language, reason=reason)
    return _test_case(rule, kinds[outcome.outcome], said)


def _is_failure(result: ToolResult, *, by_policy: bool) -> bool:
    if result.suppression is not None:
        return False
    return result.level == "error" if by_policy else result.finding.severity > Severity.info


def _budget_case(budget: Budget, language: Language) -> ElementTree.Element:
    limit, measured = (show_value(value, budget.unit) for value in (budget.limit, budget.measured))
    word = "budget_unknown" if budget.measured is None else "budget_kept"
    said = say_in_format(word, language, measured=measured, limit=limit)
    line = say_in_format("where", language, key=BUDGETS[budget.name].say(language), value=said)
    kind = "skipped" if budget.measured is None else "failure" if budget.fails else ""
    name = f"budget/{budget.name}"
    return _test_case(name, kind, line if kind else "", "" if kind == "skipped" else line)


def _xml_attributes(**values: object) -> dict[str, str]:
    return {name: _valid_xml(str(value)) for name, value in values.items()}


def _valid_xml(said: str) -> str:
    return _NOT_XML.sub(lambda bad: f"\\u{ord(bad[0]):04x}", said)
