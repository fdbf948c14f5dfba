# SPDX-License-Identifier: Apache-2.0
"""Findings and diagnoses with what a test says of them, all else as usual."""

from __future__ import annotations

from advisor.messages.text import Text
from advisor.model.findings import (
    Confidence,
    Diagnosis,
    Evidence,
    Finding,
    Outcome,
    Place,
    RemedyStep,
    RuleInfo,
    Saving,
    Severity,
    TimeSplit,
)
from advisor.model.run import Run


def alike(words: str) -> Text:
    return Text(en=words, zh=words)


def rule_of(name: str) -> RuleInfo:
    return RuleInfo(
        id=name,
        title=alike(name + " costs {share}"),
        why=alike("why"),
        fix=(RemedyStep(do=alike("Do this.")),),
    )


def finding_of(
    rule: str,
    share: float = 0.0,
    *,
    severity: Severity = Severity.medium,
    restated: float | None = None,
    causes: tuple[str, ...] = (),
    symptoms: tuple[str, ...] = (),
    ranks: tuple[int, ...] = (0,),
) -> Finding:
    return Finding(
        rule=rule,
        fingerprint=rule,
        severity=severity,
        confidence=Confidence.high,
        saving=Saving(us=share * 1000, share=share),
        restated=None if restated is None else Saving(us=restated * 1000, share=restated),
        seen=tuple(Place(rank=rank) for rank in ranks),
        evidence=(Evidence(name="share", value=share, unit="share"),),
        causes=causes,
        symptoms=symptoms,
    )


def diagnosis_of(*findings: Finding, outcomes: tuple[Outcome, ...] = (), **more: object) -> Diagnosis:
    names = dict.fromkeys([*(finding.rule for finding in findings), *(outcome.rule for outcome in outcomes)])
    return Diagnosis(
        run=Run(ranks=(0, 1), steps=(1, 2), step_us=1000),
        split=TimeSplit(step_us=1000, compute_us=600, exposed_comm_us=100, overlapped_us=0, free_us=300),
        findings=findings,
        outcomes=outcomes,
        rules=tuple(rule_of(name) for name in names),
        **more,  # type: ignore[arg-type]
    )
