# SPDX-License-Identifier: Apache-2.0
"""SARIF 2.1.0 (OASIS): findings for GitHub code scanning and for editors.

GitHub refuses a whole file when one result has no location, so what belongs to no line is located at the capture. It
takes the 5,000 gravest results, reads 1,024 characters of each description of a rule and 10 of its tags, and knows
neither `baselineState` nor `suppressions` (docs.github.com, "SARIF support for code scanning").
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from advisor.model.json_text import json_text
from advisor.report.diagnosis.cards import unknown_rule
from advisor.report.formats import rule_help
from advisor.report.formats.results import (
    ToolResult,
    outcome_reason,
    reported_results,
    stand_in,
    suppression_text,
)
from advisor.report.formats.words import say_in_format
from advisor.report.prose import clean_line

if TYPE_CHECKING:
    from advisor.messages.text import Language
    from advisor.model.comparison import Status
    from advisor.model.findings import Diagnosis, Outcome, RuleInfo
    from advisor.model.unread import Unread
    from advisor.report.output_formats import Reported

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
FINGERPRINT = "advisorFinding/v1"
"""Our own key: `primaryLocationLineHash` belongs to GitHub, which computes it from the line of the location."""
MOST_RESULTS = 5_000
LONGEST_DESCRIPTION = 1_024
LONGEST_NAME = 255
_STATES: Mapping[Status, str] = {"new": "new", "worse": "updated", "better": "updated", "same": "unchanged"}
"""What is gone is no result of this run; what cannot be compared has no state."""
_LANGUAGES: Mapping[Language, str] = {"en": "en-US", "zh": "zh-CN"}

SarifObject = dict[str, Any]


def text(reported: Reported) -> str:
    """One run with all rules that were evaluated, every finding, and what could not be looked at."""
    document = {"$schema": SCHEMA, "version": "2.1.0", "runs": [_run_json(reported)]}
    return json_text(document)


def _run_json(reported: Reported) -> SarifObject:
    diagnosis, language = reported.diagnosis, reported.language
    found = reported_results(reported)
    known = {info.id: rule_help.keep_applying_steps(info, diagnosis.findings) for info in diagnosis.rules}
    rules = [
        *known.values(),
        *map(unknown_rule, dict.fromkeys(f.rule for f in diagnosis.findings if f.rule not in known)),
    ]
    index = {info.id: number for number, info in enumerate(rules)}
    return {
        "tool": {"driver": _driver_json(diagnosis, rules, language)},
        "language": _LANGUAGES[language],
        "columnKind": "unicodeCodePoints",
        "invocations": [
            {
                "executionSuccessful": True,
                "toolExecutionNotifications": _tool_notifications(reported, found, index),
                "toolConfigurationNotifications": list(_of_settings(reported)),
            }
        ],
        "results": [_result_json(result, index, reported) for result in found[:MOST_RESULTS]],
        "properties": {"run": clean_line(diagnosis.run.name), "stepUs": diagnosis.run.step_us},
    }


def _driver_json(diagnosis: Diagnosis, rules: Iterable[RuleInfo], language: Language) -> SarifObject:
    version = clean_line(diagnosis.version, 40)
    return {
        "name": "advisor",
        **({"version": version, "fullName": f"advisor {version}"} if version else {}),
        "language": _LANGUAGES[language],
        "rules": [_rule_json(info, language) for info in rules],
    }


def _rule_json(info: RuleInfo, language: Language) -> SarifObject:
    return {
        "id": info.id,
        "name": clean_line(info.id.rpartition("/")[2] or info.id, LONGEST_NAME),
        "shortDescription": {"text": _cut_description(rule_help.title_text(info, language))},
        "fullDescription": {"text": _cut_description(rule_help.why_text(info, language))},
        "help": {
            "text": rule_help.plain_help(info, language),
            "markdown": rule_help.markdown_help(info, language),
        },
        "defaultConfiguration": {"level": "warning"},
        "properties": {"tags": ["performance", clean_line(info.category)], "status": info.status},
    }


def _result_json(result: ToolResult, index: Mapping[str, int], reported: Reported) -> SarifObject:
    finding, change, language = result.finding, result.change, reported.language
    state = _STATES.get(change.status) if change else None
    us, share = finding.saving.told
    return {
        "ruleId": finding.rule,
        "ruleIndex": index[finding.rule],
        "level": result.level,
        "message": {"text": _escape_message(result.message(language))},
        "locations": [_location_json(result, reported)],
        "partialFingerprints": {FINGERPRINT: finding.fingerprint},
        **({"baselineState": state} if state else {}),
        **({"suppressions": [_suppression_json(result, language)]} if result.suppression else {}),
        "properties": {
            "severity": finding.severity.name,
            "confidence": finding.confidence.name,
            "category": result.card.category,
            "savingUs": us,
            "savingShare": share,
            "savingAtMost": result.card.at_most,
            "subject": finding.subject,
        },
    }


def _location_json(result: ToolResult, reported: Reported) -> SarifObject:
    at, source = result.location, result.finding.source
    line = at.line if at else 1
    place: SarifObject = {
        "physicalLocation": {
            "artifactLocation": {"uri": _file_uri(at.file if at else stand_in(reported))},
            # GitHub wants all four; an empty stretch at the beginning of a line is one that every line has
            "region": {"startLine": line, "startColumn": 1, "endLine": line, "endColumn": 1},
        }
    }
    if at and at.recorded and source and source.function:
        place["logicalLocations"] = [{"name": clean_line(source.function), "kind": "function"}]
    return place


def _suppression_json(result: ToolResult, language: Language) -> SarifObject:
    assert result.suppression  # noqa: S101 - asked for only where there is one
    return {
        "kind": "external",
        "status": "accepted",
        "justification": _escape_message(suppression_text(result.suppression, language)),
    }


def _tool_notifications(
    reported: Reported, found: tuple[ToolResult, ...], index: Mapping[str, int]
) -> list[SarifObject]:
    """What stands between this file and the whole truth."""
    diagnosis, language = reported.diagnosis, reported.language
    said = [
        _note_of_outcome(outcome, index, language) for outcome in diagnosis.outcomes if outcome.outcome in _UNLOOKED
    ]
    said += [_note_of_unread(item, language) for item in diagnosis.unread]
    if (lost := len(found) - MOST_RESULTS) > 0:
        said.append(_note_json("warning", say_in_format("too_many", language, count=lost, most=MOST_RESULTS)))
    if without := sum(result.location is None for result in found):
        said.append(_note_json("note", say_in_format("unplaced", language, count=without, total=len(found))))
    return said


def _of_settings(reported: Reported) -> Iterator[SarifObject]:
    """What is to be said of the settings of the project."""
    if reported.verdict is None:
        return
    expired = (("warning", "expired", item) for item in reported.verdict.expired)
    for level, name, item in (*expired, *(("note", "unused", item) for item in reported.verdict.unused)):
        what, date = clean_line(item.rule or item.fingerprint), clean_line(item.expires)
        yield _note_json(level, say_in_format(name, reported.language, what=what, date=date))


_UNLOOKED = {"skipped": "note", "failed": "error"}


def _note_of_outcome(outcome: Outcome, index: Mapping[str, int], language: Language) -> SarifObject:
    reason = outcome_reason(outcome, language)
    said = _note_json(_UNLOOKED[outcome.outcome], say_in_format(outcome.outcome, language, reason=reason))
    rule = {"id": outcome.rule, **({"index": index[outcome.rule]} if outcome.rule in index else {})}
    return {**said, "associatedRule": rule}


def _note_of_unread(item: Unread, language: Language) -> SarifObject:
    what = (item.what_message and item.what_message.say(language)) or item.what
    said = [say_in_format("unread", language, what=clean_line(what))]
    if item.rows:
        said.append(say_in_format("rows_lost", language, rows=item.rows))
    note = _note_json("warning", "; ".join(said))
    if item.file:
        note["locations"] = [{"physicalLocation": {"artifactLocation": {"uri": _file_uri(item.file)}}}]
    return note


def _note_json(level: str, said: str) -> SarifObject:
    return {"level": level, "message": {"text": _escape_message(said)}}


def _file_uri(file: str) -> str:
    """A path as a URI reference: an absolute one with its scheme, everything unusual percent-encoded."""
    path = quote(file.replace("\\", "/"), errors="replace")
    if re.match(r"[A-Za-z]%3A/", path):
        return f"file:///{path}"
    return f"file://{path}" if path.startswith("/") else path


def _cut_description(said: str) -> str:
    return said if len(said) <= LONGEST_DESCRIPTION else said[: LONGEST_DESCRIPTION - 1] + "…"


def _escape_message(said: str) -> str:
    """A message as the standard wants it (3.11.5): braces doubled; and nothing that becomes a link."""
    return said.replace("](", "] (").replace("{", "{{").replace("}", "}}")
