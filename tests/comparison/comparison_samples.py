# SPDX-License-Identifier: Apache-2.0
"""Small diagnoses to compare: three rules, one idle share, steps of about a millisecond."""

from __future__ import annotations

from advisor.messages.text import Text
from advisor.model.findings import (
    Account,
    Confidence,
    Diagnosis,
    Evidence,
    Finding,
    Measure,
    Outcome,
    OutcomeName,
    Param,
    RuleInfo,
    Saving,
    Severity,
    Spent,
    StepSplit,
    TimeSplit,
    fingerprint,
)
from advisor.model.run import Capture, Run

RULES = ("host/idle", "comm/late", "compute/casts")
SOME = Text(en="x", zh="无")


def finding(rule: str = "host/idle", us: float = 200.0, share: float = 0.3, severity: str = "high") -> Finding:
    return Finding(
        rule=rule,
        fingerprint=fingerprint(rule, {}),
        severity=Severity[severity],
        confidence=Confidence.high,
        saving=Saving(us=us, share=us / 1000),
        evidence=(Evidence(name="share", value=share, unit="share", threshold=0.1),),
    )


def measure(rule: str = "host/idle", us: float = 0.0, share: float = 0.05) -> Measure:
    seen = finding(rule, us, share)
    return Measure(fingerprint=seen.fingerprint, saving=seen.saving, evidence=seen.evidence)


def outcome(rule: str, said: OutcomeName = "quiet", *near: Measure) -> Outcome:
    reason = None if said in ("quiet", "fired") else SOME
    return Outcome(rule=rule, outcome=said, reason=reason, measures=near)


def diagnosis(
    *findings: Finding,
    quiet: tuple[Measure, ...] = (),
    outcomes: tuple[Outcome, ...] = (),
    steps: tuple[float, ...] = (1000.0, 1010.0, 990.0),
    free_us: float = 200.0,
    level: str = "Level1",
    limit: float = 0.1,
    stepped: bool = True,
) -> Diagnosis:
    mean = sum(steps) / len(steps)
    fired = {one.rule for one in findings}
    near = {one.fingerprint: one for one in quiet}
    said = [
        outcome(rule, "fired" if rule in fired else "quiet", *filter(None, [near.get(fingerprint(rule, {}))]))
        for rule in RULES
        if rule not in {other.rule for other in outcomes}
    ]
    info = [
        RuleInfo(id=rule, title=SOME, why=SOME, params=(Param(name="much", value=limit, basis=SOME),)) for rule in RULES
    ]
    return Diagnosis(
        run=Run(
            level=level,
            ranks=(0,),
            steps=tuple(range(len(steps))) if stepped else (),
            captures=(Capture(rank=0, path="x", source="text", level=level),),
        ),
        split=TimeSplit(
            step_us=mean, compute_us=mean - free_us, exposed_comm_us=0.0, overlapped_us=0.0, free_us=free_us
        ),
        account=Account(
            spent=(
                Spent(part="compute", name="MatMul", us=mean - free_us, spread_us=1.0, count=10.0),
                Spent(part="free", name="python", us=free_us, spread_us=1.0, count=3.0),
            ),
            steps=tuple(
                StepSplit(step=n, step_us=us, compute_us=us - free_us, exposed_comm_us=0.0, free_us=free_us)
                for n, us in enumerate(steps)
            ),
        ),
        findings=findings,
        outcomes=(*said, *outcomes),
        rules=tuple(info),
    )
