# SPDX-License-Identifier: Apache-2.0
"""JSON Lines: the run, each finding, and each rule that could not look, for log stores, `jq` and data frames.

Every line is one object with a `type`. Names and values are as in the diagnosis; a missing value is null.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from advisor.report.formats.results import ToolResult, reported_results

if TYPE_CHECKING:
    from advisor.model.findings import Outcome
    from advisor.report.output_formats import Reported


def text(reported: Reported) -> str:
    """One object per line."""
    lines = (json.dumps(line, ensure_ascii=False, allow_nan=False) for line in _json_objects(reported))
    # characters that some readers take for the end of a line, though JSON does not
    return "".join(f"{line}\n" for line in lines).translate({0x85: "\\u0085", 0x2028: "\\u2028", 0x2029: "\\u2029"})


def _json_objects(reported: Reported) -> Iterable[dict[str, Any]]:
    yield _run_json(reported)
    for result in reported_results(reported):
        yield _finding_json(result, reported)
    for outcome in reported.diagnosis.outcomes:
        if outcome.outcome in ("skipped", "failed"):
            yield _outcome_json(outcome, reported)


def _run_json(reported: Reported) -> dict[str, Any]:
    diagnosis, run = reported.diagnosis, reported.diagnosis.run
    return {
        "type": "run",
        "name": run.name,
        "advisor": diagnosis.version,
        "framework": run.framework,
        "workload": run.job.workload,
        "stack": run.job.stack,
        "chip": run.chip,
        "cann": run.cann_version,
        "torch_npu": run.torch_npu_version,
        "ranks": len(run.ranks),
        "world_size": run.world_size,
        "steps": len(run.steps),
        "step_us": run.step_us,
        "split": diagnosis.split.model_dump() if diagnosis.split else None,
        "passed": reported.verdict.passed if reported.verdict else None,
    }


def _finding_json(result: ToolResult, reported: Reported) -> dict[str, Any]:
    finding, at = result.finding, result.location
    us, share = finding.saving.told
    return {
        "type": "finding",
        "rule": finding.rule,
        "fingerprint": finding.fingerprint,
        "severity": finding.severity.name,
        "confidence": finding.confidence.name,
        "level": result.level,
        "saving_us": us,
        "saving_share": share,
        "saving_at_most": result.card.at_most,
        "title": result.headline,
        "subject": finding.subject,
        "evidence": {item.name: item.value for item in finding.evidence},
        "seen": [place.model_dump() for place in finding.seen],
        "causes": list(finding.causes),
        "file": at.file if at else None,
        "line": at.line if at else None,
        "status": result.change.status if result.change else None,
        "suppressed": result.suppression.reason if result.suppression else None,
        "run": reported.diagnosis.run.name,
    }


def _outcome_json(outcome: Outcome, reported: Reported) -> dict[str, Any]:
    return {
        "type": outcome.outcome,
        "rule": outcome.rule,
        "reason": outcome.reason.say(reported.language) if outcome.reason else None,
        "needs": list(outcome.needs),
        "run": reported.diagnosis.run.name,
    }
