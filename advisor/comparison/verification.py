# SPDX-License-Identifier: Apache-2.0
"""Verification: did a fix move what the rule watches, and did the step win what was promised."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from advisor.messages.errors import UsageError
from advisor.messages.message import Message
from advisor.messages.text import Text
from advisor.model.comparison import Barrier, Change, Comparison, Metric, Shift, Status
from advisor.model.findings import ConfidenceName, Diagnosis, Finding, Scalar
from advisor.model.json_text import json_text

PromiseResult = Literal["kept", "partly", "not kept", "worse", "not known"]
LEAST_KEPT = 0.75
"""Part of the promise from which on it counts as kept: generated captures hold most savings to be within 25 %."""
_SHORTEST_PREFIX = 4


class Verification(BaseModel):
    """What became of one finding that somebody set out to fix."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["advisor.verification/1"] = "advisor.verification/1"
    rule: str
    fingerprint: str
    subject: dict[str, Scalar] = {}
    result: PromiseResult
    confidence: ConfidenceName
    status: Status
    """What became of the finding."""
    metrics: tuple[Metric, ...] = ()
    """What the rule watches, before and after; the values held against a threshold first."""
    barriers: tuple[Barrier, ...] = ()
    """What keeps the two captures from being compared; where anything does, the result is not known."""
    promised_us: float
    """What the finding said could be won per step; 0 where it did not estimate it."""
    freed_us: float | None = None
    """By how much what is left to win of this finding shrank per step, beyond noise; None where it is not known."""
    step: Shift | None = None
    """The mean step before and after; None where one of the two does not know it."""
    against: tuple[Change, ...] = ()
    """Other findings that are new or worse: they may have eaten what was won."""
    reasons: tuple[Text, ...] = ()
    """What limits the answer."""

    @property
    def worked(self) -> bool:
        """Whether the fix won what was promised, at least in part."""
        return self.result in ("kept", "partly")

    @property
    def won_us(self) -> float | None:
        """By how much the step became shorter."""
        return _time_won(self.step)

    @property
    def explained_us(self) -> float | None:
        """How much of what the step won this finding explains at most: no more than its own time went down by."""
        won, freed = _time_won(self.step), self.freed_us
        return None if won is None or freed is None else max(min(won, freed), 0.0)

    def to_json(self) -> str:
        """The published form."""
        return json_text(self.model_dump(mode="json"))


class Verifications(BaseModel):
    """What became of every finding of the first capture. The same time may stand in several: nothing adds up."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    format: Literal["advisor.verifications/1"] = "advisor.verifications/1"
    confidence: ConfidenceName
    step: Shift | None = None
    """The mean step before and after; None where one of the two does not know it."""
    barriers: tuple[Barrier, ...] = ()
    """What keeps the two captures from being compared; where anything does, nothing can be told of any finding."""
    findings: tuple[Verification, ...] = ()
    """Each with what became of it alone, in the order in which the first capture ranks them."""
    against: tuple[Change, ...] = ()
    """Findings that only the second capture has, or that are worse in it."""
    reasons: tuple[Text, ...] = ()
    """What stands between the two captures."""

    @property
    def worked(self) -> bool:
        """Whether a finding is gone or better and none is worse; so it is too where there was nothing to fix."""
        results = {one.result for one in self.findings}
        return not results or (bool(results & {"kept", "partly"}) and "worse" not in results)

    def having(self, status: Status) -> int:
        """Of how many findings this became."""
        return sum(one.status == status for one in self.findings)

    def to_json(self) -> str:
        """The published form."""
        return json_text(self.model_dump(mode="json"))


def verify_all(comparison: Comparison) -> Verifications:
    """What became of each finding of the first capture of a comparison."""
    found = tuple(verify_finding(comparison, finding.fingerprint) for finding in comparison.before.findings)
    notes = set(comparison.notes)
    return Verifications(
        confidence=comparison.confidence,
        step=_compared_step(comparison),
        barriers=comparison.apart,
        findings=tuple(
            one.model_copy(update={"against": (), "reasons": tuple(r for r in one.reasons if r not in notes)})
            for one in found
        ),
        against=_new_or_worse(comparison),
        reasons=comparison.notes,
    )


def verify_finding(comparison: Comparison, name: str) -> Verification:
    """Whether the finding of this name (see `finding_named`) was fixed between the two captures of a comparison.

    Raises:
        UsageError: The first capture has no such finding.
    """
    finding = finding_named(comparison.before, name)
    change = comparison.change(finding.fingerprint)
    assert change is not None  # noqa: S101 - every finding of either side has one
    if comparison.apart:
        change = change.model_copy(update={"status": "not comparable"})
    step = _compared_step(comparison)
    promised = finding.saving.us
    return Verification(
        rule=finding.rule,
        fingerprint=finding.fingerprint,
        subject=finding.subject,
        result=_result_of_change(change, promised, step),
        confidence=change.confidence,
        status=change.status,
        metrics=change.metrics,
        barriers=comparison.apart,
        promised_us=promised,
        freed_us=_time_freed(change, promised),
        step=step,
        against=tuple(one for one in _new_or_worse(comparison) if one.fingerprint != change.fingerprint),
        reasons=tuple(_limiting_reasons(change, promised, step, comparison)),
    )


def _compared_step(comparison: Comparison) -> Shift | None:
    """What became of the step; where anything keeps the two captures from being compared, that cannot be told."""
    step = comparison.step
    if step is None or not comparison.apart:
        return step
    return step.model_copy(update={"status": "not comparable"})


def _new_or_worse(comparison: Comparison) -> tuple[Change, ...]:
    """What may have eaten what was won; nothing can be told of that where the two captures do not compare."""
    return () if comparison.apart else comparison.having("new", "worse")


def _time_won(step: Shift | None) -> float | None:
    return None if step is None or step.status == "not comparable" else -step.delta_us


def finding_named(diagnosis: Diagnosis, name: str) -> Finding:
    """The finding with this fingerprint, or the beginning of one, or the only one of this rule.

    Raises:
        UsageError: There is none, or several; the message lists what there is.
    """
    found = [
        finding
        for finding in diagnosis.findings
        if name in (finding.fingerprint, finding.rule)
        or (len(name) >= _SHORTEST_PREFIX and finding.fingerprint.startswith(name))
    ]
    if len(found) == 1:
        return found[0]
    there = found or diagnosis.findings
    listed = ", ".join(f"{finding.fingerprint} {finding.rule}" for finding in there[:10]) + (" …" if there[10:] else "")
    if found:
        trouble = Message("names_findings", name=name, count=len(found))
    elif any(finding.fingerprint.startswith(name) for finding in there) and name:
        trouble = Message("name_too_short", name=name, count=_SHORTEST_PREFIX)
    else:
        trouble = Message("no_finding_before", name=name)
    if not there:
        raise UsageError(trouble, Message("has_no_findings"))
    raise UsageError(trouble, Message("name_one_of", names=listed))


def _result_of_change(change: Change, promised: float, step: Shift | None) -> PromiseResult:
    """What the finding says decides; how much of its own time is won, and shows in the step, tells kept from partly."""
    if change.status == "not comparable":
        return "not known"
    if change.status in ("worse", "same", "new"):
        return "worse" if change.status == "worse" else "not kept"
    if promised <= 0:
        return "kept" if change.status == "gone" else "partly"
    return "kept" if _seen_in_step(_time_freed(change, promised), step) >= LEAST_KEPT * promised else "partly"


def _seen_in_step(freed: float | None, step: Shift | None) -> float:
    """What of the freed time the step shows; all of it where the step says nothing, or moved by less than noise."""
    freed = freed or 0.0
    if step is None or step.status == "not comparable" or (step.status == "same" and freed <= step.noise_us):
        return freed
    return min(freed, -step.delta_us)


def _time_freed(change: Change, promised: float) -> float | None:
    """What is no longer left to win: all of it when the finding is gone and nothing of it was measured any more."""
    if change.status == "not comparable":
        return None
    if change.status == "same":
        return 0.0
    left = change.saving_after.us if change.saving_after is not None else 0.0
    return promised - left


def _limiting_reasons(change: Change, promised: float, step: Shift | None, comparison: Comparison) -> list[Text]:
    if comparison.apart:
        return list(comparison.notes)
    said = [change.reason] if change.reason is not None else []
    if promised <= 0:
        said.append(Text(en="the finding promised no time", zh="该问题未给出预计收益"))
    if step is not None and step.status == "same":
        said.append(
            Text(
                en="the step time did not change by more than it differs from one run to the next",
                zh="单步耗时的变化未超出正常波动",
            )
        )
    return [*said, *comparison.notes]
