# SPDX-License-Identifier: Apache-2.0
"""GitLab code quality: a list of findings for the merge request widget (docs.gitlab.com, "Code Quality").

GitLab demands a path and a line of every entry, and compares fingerprints with those of the target branch.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from advisor.model.findings import Severity
from advisor.model.json_text import json_text
from advisor.report.formats.results import RULE, ResultLevel, ToolResult, nothing_checked, open_results, stand_in
from advisor.report.prose import clean_line

if TYPE_CHECKING:
    from advisor.report.output_formats import Reported
    from advisor.report.sources import Location

_SEVERITIES: Mapping[Severity, str] = {
    Severity.critical: "blocker",
    Severity.high: "critical",
    Severity.medium: "major",
    Severity.low: "minor",
    Severity.info: "info",
}
_BY_POLICY: Mapping[ResultLevel, str] = {"error": "blocker", "warning": "minor", "note": "info"}


def text(reported: Reported) -> str:
    """A JSON list without a byte order mark, which GitLab does not take."""
    return json_text(list(_finding_entries(reported)))


def _finding_entries(reported: Reported) -> Iterable[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for result in open_results(reported):
        name = clean_line(result.finding.fingerprint) or clean_line(result.finding.rule)
        seen[name] += 1
        yield {
            "description": result.message(reported.language),
            "check_name": result.card.rule,
            # the same fingerprint twice can only come from a file that was edited by hand
            "fingerprint": name if seen[name] == 1 else f"{name}-{seen[name]}",
            "severity": _severity_word(result, judged=reported.verdict is not None),
            "location": _location_json(result.location, reported),
        }
    if blind := nothing_checked(reported):
        place = _location_json(None, reported)
        yield {"description": blind, "check_name": RULE, "fingerprint": RULE, "severity": "info", "location": place}


def _severity_word(result: ToolResult, *, judged: bool) -> str:
    """What the policy says; where no setting of it decided, the severity, but nothing that passes blocks."""
    if result.is_decided:
        return _BY_POLICY[result.level]
    word = _SEVERITIES[result.finding.severity]
    return "critical" if judged and word == "blocker" else word


def _location_json(at: Location | None, reported: Reported) -> dict[str, Any]:
    return {"path": at.file if at else stand_in(reported), "lines": {"begin": at.line if at else 1}}
