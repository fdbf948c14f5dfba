# SPDX-License-Identifier: Apache-2.0
"""Diagnoses, comparisons and policies to hold against each other, and strategies that make them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from hypothesis import strategies as st

from advisor.messages.text import Text
from advisor.model.comparison import STATUSES, Change, Comparison, Shift, Status
from advisor.model.findings import (
    Confidence,
    Diagnosis,
    Finding,
    Outcome,
    OutcomeName,
    Place,
    RuleInfo,
    Saving,
    Severity,
    TimeSplit,
    fingerprint,
)
from advisor.model.run import Run
from advisor.model.verdict import Action, Suppression
from advisor.policy.policy import FailCondition, Policy

RULES = ("host/free-time", "host/late-launches", "memory/near-capacity", "comm/small-packets", "compute/cast-excess")


def info(rule: str, *formerly: str) -> RuleInfo:
    return RuleInfo(
        id=rule,
        title=Text(en=f"State of {rule}", zh=f"{rule} 的状况"),
        why=Text(en="It matters.", zh="重要。"),
        formerly=formerly,
    )


def finding(rule: str, severity: Severity = Severity.high, us: float = 100.0, op: str = "") -> Finding:
    subject = {"op_type": op} if op else {}
    return Finding(
        rule=rule,
        fingerprint=fingerprint(rule, subject),
        severity=severity,
        confidence=Confidence.high,
        saving=Saving(us=us, share=us / 1000),
        subject=dict(subject),
        seen=(Place(rank=0, saving_us=us),),
    )


def diagnosis(
    *findings: Finding, outcomes: Mapping[str, OutcomeName] | None = None, infos: Sequence[RuleInfo] = ()
) -> Diagnosis:
    """A run of two steps of 1 ms, 300 µs of it idle; every rule without a finding is quiet unless said otherwise."""
    said = dict.fromkeys(RULES, "quiet") | {one.rule: "fired" for one in findings} | dict(outcomes or {})
    return Diagnosis(
        run=Run(name="job", ranks=(0,), steps=(1, 2), step_us=1000.0),
        split=TimeSplit(step_us=1000, compute_us=600, exposed_comm_us=100, overlapped_us=0, free_us=300),
        peak_memory_bytes=50 * 1024.0**3,
        findings=findings,
        outcomes=tuple(Outcome.model_validate({"rule": rule, "outcome": what}) for rule, what in sorted(said.items())),
        rules=tuple(infos) or tuple(info(rule) for rule in sorted(said)),
    )


def comparison(after: Diagnosis, statuses: Mapping[str, Status], step: tuple[float, float] | None = None) -> Comparison:
    """Against a baseline in which each finding had this status, by fingerprint; `step` is the time before and after."""
    changes = tuple(
        Change(
            rule=one.rule,
            fingerprint=one.fingerprint,
            status=statuses[one.fingerprint],
            confidence=Confidence.high,
            severity_after=one.severity,
        )
        for one in after.findings
        if one.fingerprint in statuses
    )
    shifts = ()
    if step:
        status = "worse" if step[1] - step[0] > 50 else "same"
        shifts = (Shift(name="step", before_us=step[0], after_us=step[1], noise_us=50.0, status=status),)
    return Comparison(before=diagnosis(), after=after, confidence=Confidence.high, changes=changes, shifts=shifts)


def everything() -> Suppression:
    return Suppression(rule="*", reason="a fire drill")


actions = st.sampled_from(("off", "warn", "error"))
severities = st.sampled_from(list(Severity))
rules = st.sampled_from(RULES)
patterns = st.one_of(rules, st.sampled_from(("host/*", "host/l*", "memory/*", "*")))
bars = st.lists(st.builds(FailCondition, severities, st.sampled_from(("", "new", "worse"))), max_size=3).map(tuple)
findings = st.lists(
    st.builds(finding, rules, severities, st.floats(0, 1000), st.sampled_from(("", "Cast", "MatMul"))),
    max_size=6,
    unique_by=lambda one: one.fingerprint,
)
diagnoses = findings.map(lambda found: diagnosis(*found))
policies = st.builds(
    Policy,
    rules=st.dictionaries(patterns, actions, max_size=4),
    categories=st.dictionaries(st.sampled_from(("host", "memory", "compute")), actions),
    severities=st.dictionaries(severities, actions),
)


@st.composite
def cases(draw: st.DrawFn) -> tuple[Diagnosis, Comparison]:
    """A diagnosis, and its comparison with some baseline."""
    after = draw(diagnoses)
    known = {one.fingerprint: draw(st.sampled_from(STATUSES)) for one in after.findings}
    return after, comparison(after, known)


def milder(policy: Policy, lower: Mapping[Action, Action]) -> Policy:
    """The same policy with each action replaced by one that asks for no more."""

    def eased(given: Mapping[object, Action]) -> dict[object, Action]:
        return {key: lower[action] for key, action in given.items()}

    return Policy(eased(policy.rules), eased(policy.categories), eased(policy.severities))  # type: ignore[arg-type]
