# SPDX-License-Identifier: Apache-2.0
"""Reviewdog Diagnostic Format: findings for reviewdog, which comments on any code host with them.

See `proto/rdf` of reviewdog/reviewdog. By default reviewdog keeps only what lies in changed lines: use
`-filter-mode=nofilter` for findings of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from advisor.model.json_text import json_text
from advisor.report.formats.results import RULE, ResultLevel, ToolResult, nothing_checked, open_results, stand_in

if TYPE_CHECKING:
    from advisor.report.output_formats import Reported

_SEVERITIES: Mapping[ResultLevel, str] = {"error": "ERROR", "warning": "WARNING", "note": "INFO"}


def text(reported: Reported) -> str:
    """One DiagnosticResult."""
    document = {"source": {"name": "advisor"}, "diagnostics": list(_finding_diagnostics(reported))}
    return json_text(document)


def _finding_diagnostics(reported: Reported) -> Iterable[dict[str, Any]]:
    for result in open_results(reported):
        at = result.location
        yield {
            "message": "\n".join(result.lines(reported.language)),
            "location": {
                "path": at.file if at else stand_in(reported),
                **({"range": {"start": {"line": at.line}}} if at else {}),
            },
            "severity": _SEVERITIES[result.level],
            "code": _rule_code(result),
        }
    if blind := nothing_checked(reported):
        yield {
            "message": blind,
            "location": {"path": stand_in(reported)},
            "severity": "WARNING",
            "code": {"value": RULE},
        }


def _rule_code(result: ToolResult) -> dict[str, str]:
    urls = [piece.url for title in result.card.references for piece in title if piece.url]
    return {"value": result.card.rule, **({"url": urls[0]} if urls else {})}
