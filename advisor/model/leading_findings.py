# SPDX-License-Identifier: Apache-2.0
"""What to act on first, and what stays beside it: which findings lead, what they leave unexplained, the next gain."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from itertools import takewhile
from typing import Literal

from advisor.model.findings import (
    WORTH_SHARE,
    Confidence,
    Diagnosis,
    Finding,
    Measure,
    Saving,
    Severity,
    is_grave_doubt,
    seen_by_chance,
    unexplained_part,
)
from advisor.model.symptoms import folded_under, symptom_fingerprints

LEAST_SHARE = 0.005
"""Below this part of the step nothing is called the next gain: it is the part that shares are rounded to."""
MUCH = 0.10
"""An unexplained part of the step above this is said beside a cause that is smaller than it: free or exposed time above
10 % calls for attention in the tuning guides of MindStudio and MindSpeed-LLM."""

LeadKind = Literal["fix", "look", "record", "fine", "blind"]
"""A cause to fix; a symptom without one; a capture that cannot be trusted; nothing to fix; nothing checked."""


def first_findings(diagnosis: Diagnosis, aside: Collection[str] = ()) -> tuple[LeadKind, tuple[Finding, ...]]:
    """What to act on first, in order, and of which kind it is; none where nothing needs fixing or nothing was checked.

    A symptom with causes stands for the highest of them. `aside` are fingerprints that a project lives with.
    """
    restating, folded = symptom_fingerprints(diagnosis), folded_under(diagnosis)
    by_name = diagnosis.by_fingerprint
    chance = seen_by_chance(diagnosis.findings)
    trusted = [one for one in diagnosis.findings if one.fingerprint not in chance]
    stepless = diagnosis.split is None and not any(map(_hides_time, diagnosis.findings))
    worth = [one.fingerprint for one in trusted if _is_worth_acting(one, restating, stepless=stepless)]
    leading = {_unpriced_cause(folded.get(name, name), diagnosis, chance) for name in worth}
    names = dict.fromkeys(one.fingerprint for one in diagnosis.findings if one.fingerprint in leading)
    names = names or dict.fromkeys(one.fingerprint for one in diagnosis.findings if is_grave_doubt(one))
    names = names or dict.fromkeys(one.fingerprint for one in trusted if one.may_weigh_much)
    found = [by_name[name] for name in names if name not in aside]
    if not found:
        return "fine" if quiet_by_category(diagnosis) or asked_rules_fired(diagnosis) else "blind", ()
    kind = _headline_kind(found[0])
    return kind, tuple(finding for finding in found if _headline_kind(finding) == kind)


def _hides_time(finding: Finding) -> bool:
    """Whether time is unknown because most kernels are gone: it may lie elsewhere than what is left of them says."""
    return finding.rule == "capture/incomplete-kernels" and is_grave_doubt(finding)


def _unpriced_cause(name: str, diagnosis: Diagnosis, chance: Collection[str]) -> str:
    """The cause without an estimate that stands above a finding and explains it: worth what that one wins. What is said
    of the capture is brought about by that alone."""
    of_capture = diagnosis.by_fingerprint[name].rule.startswith("capture/")
    above = takewhile(lambda one: one.fingerprint != name, diagnosis.findings)
    causes = {*diagnosis.by_fingerprint[name].causes}
    found = (one for one in above if one.fingerprint in causes.difference(chance) and one.may_weigh_much)
    return next((one.fingerprint for one in found if one.rule.startswith("capture/") == of_capture), name)


def _is_worth_acting(finding: Finding, restating: frozenset[str], *, stepless: bool) -> bool:
    """Whether a finding may lead: by what it wins; without an estimate by how grave it is and what it brings about.

    `stepless` is a capture in which no time of a step is known to hold it against.
    """
    if finding.rule.startswith("capture/"):
        return finding.severity >= Severity.high
    if finding.worth.share > 0:
        return finding.worth.share >= WORTH_SHARE
    if finding.worth.nothing:
        return False
    brings_about = not restating.isdisjoint(finding.symptoms)
    return finding.severity >= (Severity.medium if brings_about or finding.worth.us > 0 or stepless else Severity.high)


def _headline_kind(lead: Finding) -> LeadKind:
    """What a leading finding asks for."""
    if lead.rule.startswith("capture/"):
        return "record"
    return "look" if lead.is_symptom else "fix"


def largest_explained(lead: Finding, diagnosis: Diagnosis) -> Saving:
    """What the largest of the findings that a cause brings about wins, symptoms aside; the most that it may win."""
    by_name = diagnosis.by_fingerprint
    brought = [by_name[name].saving for name in lead.symptoms if name in by_name and not by_name[name].is_symptom]
    return max(brought, key=lambda saving: saving.us, default=Saving())


def largest_unexplained(lead: Finding, diagnosis: Diagnosis) -> tuple[Finding, float] | None:
    """The symptom of which most stays unexplained, and that part of the step, where that is much and more than what the
    first finding wins.

    What a cause without an estimate explains of a symptom nobody knows: of that nothing is said, slight ones aside.
    """
    by_name = diagnosis.by_fingerprint
    unpriced = {name for name, one in by_name.items() if one.may_weigh_much}
    chance = seen_by_chance(diagnosis.findings)
    left = [
        (symptom, unexplained_part(symptom, (by_name[name] for name in symptom.causes if name in by_name)).share)
        for symptom in diagnosis.findings
        if symptom.is_symptom
        and symptom is not lead
        and symptom.fingerprint not in chance
        and unpriced.isdisjoint(symptom.causes)
    ]
    most = max(left, key=lambda entry: entry[1], default=None)
    return most if most is not None and most[1] > max(MUCH, lead.saving.share) else None


def next_gain(diagnosis: Diagnosis) -> Finding | None:
    """The largest of what was found or measured though it does not lead; None where that is nothing worth a word."""
    return max(_small_gains(diagnosis), key=lambda finding: finding.saving.us, default=None)


def _small_gains(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Findings that do not lead, and what quiet rules measured short of a threshold, as findings; with a saving."""
    titled = {info.id for info in diagnosis.rules if not info.symptom}
    yield from (one for one in diagnosis.findings if one.saving.share >= LEAST_SHARE and one.rule in titled)
    for outcome in diagnosis.outcomes:
        if outcome.outcome == "quiet" and outcome.rule in titled:
            short = (one for one in outcome.measures if one.short_of and one.saving.share >= LEAST_SHARE)
            yield from (_as_finding(outcome.rule, one) for one in short)


def _as_finding(rule: str, measure: Measure) -> Finding:
    """What a quiet rule measured, in the form in which titles are filled."""
    return Finding(
        rule=rule,
        fingerprint=measure.fingerprint,
        severity=Severity.info,
        confidence=Confidence.low,
        saving=measure.saving,
        at_most=measure.at_most,
        subject=measure.subject,
        evidence=measure.evidence,
    )


def quiet_by_category(diagnosis: Diagnosis) -> Counter[str]:
    """By category how many rules looked and found all in order.

    Those on the capture itself say nothing of the job, and count where they were asked for.
    """
    quiet = (outcome.rule.split("/", 1)[0] for outcome in diagnosis.outcomes if outcome.outcome == "quiet")
    return Counter(category for category in quiet if category != "capture" or diagnosis.asked)


def asked_rules_fired(diagnosis: Diagnosis) -> bool:
    """Whether rules were asked for alone, and found something."""
    return bool(diagnosis.asked) and any(outcome.outcome == "fired" for outcome in diagnosis.outcomes)
