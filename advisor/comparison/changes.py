# SPDX-License-Identifier: Apache-2.0
"""What became of each finding."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain

from advisor.comparison.conditions import HOST_SIDE, PROFILER, Conditions, one_line
from advisor.comparison.dilution import AROUND, only_step_moved
from advisor.comparison.noise import Noise
from advisor.messages.text import Text
from advisor.model.comparison import STATUSES, Change, Metric, Status
from advisor.model.findings import (
    Confidence,
    Diagnosis,
    Evidence,
    Finding,
    Measure,
    Outcome,
    Saving,
    Scalar,
    number_or_none,
)

CROSSED = Text(
    en="it crossed its threshold by less than two captures of one program differ",
    zh="虽跨过阈值，但变化幅度在同一程序两次采集的正常波动之内",
)
"""Why a finding that came or went counts as the same."""
SAVES_AS_MUCH = Text(
    en="what fixing it could win is what it was; only another value that the rule asks for crossed its threshold",
    zh="修复它的收益与之前相当，跨过阈值的只是规则的其他判据",
)
"""Why a finding that came or went counts as the same though its threshold was crossed by far."""
_OF_THE_SETTING = ("capture", "env")
"""Categories of what was recorded how and set how, which is the same whatever the times are."""
NOT_CAPTURED = Text(
    en="none of the ranks on which it was seen was captured the other time",
    zh="出现该问题的卡在另一次均未采集",
)
"""Why a finding that came or went on some ranks tells nothing."""


def finding_changes(before: Diagnosis, after: Diagnosis, noise: Noise, found: Conditions) -> tuple[Change, ...]:
    """One change for each finding of either, in the order of `STATUSES`, within it as the diagnoses rank them: a cause
    before what it explains. Those that are gone follow those that are there."""
    sides = _Side(before), _Side(after)
    names = dict.fromkeys(chain(sides[1].findings, sides[0].findings))
    changes = [_change_of_finding(name, sides, noise, found) for name in names]
    return tuple(sorted(changes, key=lambda change: STATUSES.index(change.status)))


class _Side:
    """What one of the two diagnoses says of each finding of either."""

    def __init__(self, own: Diagnosis) -> None:
        self.findings, self.rules, self.run = own.by_fingerprint, own.rules, own.run
        self.outcomes = {outcome.rule: outcome for outcome in own.outcomes}
        self.measures = {one.fingerprint: one for outcome in own.outcomes for one in outcome.measures}

    def captured(self, finding: Finding) -> bool:
        """Whether any of the ranks on which a finding was seen was captured here, of those that the job has."""
        ranks = {place.rank for place in finding.seen}
        absent = set(range(self.run.rank_count)).difference(self.run.ranks)
        return not ranks or not ranks <= absent

    def of(self, name: str) -> Finding | Measure | None:
        return self.findings.get(name) or self.measures.get(name)

    def label(self, rule: str, name: str) -> Text:
        """What a value of a rule is called; its own name where nobody gave it another."""
        labels = (one for info in self.rules if info.id == rule for one in info.labels if one.name == name)
        plain = Text(en=f"`{one_line(name)}`", zh=f"`{one_line(name)}`")
        return next((one.label for one in labels), plain)


def _change_of_finding(name: str, sides: tuple[_Side, _Side], noise: Noise, found: Conditions) -> Change:
    old, new = (side.findings.get(name) for side in sides)
    finding = new or old
    assert finding is not None  # noqa: S101 - names come from the findings of either side
    seen = tuple(side.of(name) for side in sides)
    metrics = _paired_metrics(*seen)
    status, reason = _status_and_reason(finding, sides, metrics, noise, found)
    levels = [one.confidence for one in (old, new) if one is not None]
    return Change(
        rule=finding.rule,
        fingerprint=name,
        status=status,
        confidence=Confidence.low if noise.single or found.hardly_compare else min(levels),
        subject=finding.subject,
        severity_before=None if old is None else old.severity,
        severity_after=None if new is None else new.severity,
        saving_before=None if seen[0] is None else seen[0].saving,
        saving_after=None if seen[1] is None else seen[1].saving,
        metrics=metrics,
        reason=reason,
    )


def _status_and_reason(
    finding: Finding, sides: tuple[_Side, _Side], metrics: tuple[Metric, ...], noise: Noise, found: Conditions
) -> tuple[Status, Text | None]:
    status, reason = _raw_status(finding, sides, metrics, noise)
    savings = _paired_savings(finding, sides)
    costs_time = any(one is not None and one.us > 0 for one in savings)
    told_by_both = status == "same" and not costs_time and finding.rule.split("/", 1)[0] in _OF_THE_SETTING
    if found.unrelated is not None and status != "not comparable" and not told_by_both:
        return "not comparable", found.unrelated
    if found.unrelated is None and only_step_moved(status, finding.rule, savings, metrics, noise):
        return "same", AROUND
    if status in ("new", "gone") and costs_time and _save_alike(savings, noise):
        return "same", SAVES_AS_MUCH
    if finding.rule.split("/", 1)[0] in HOST_SIDE and found.forbid(status):
        return "not comparable", PROFILER
    return status, reason


def _save_alike(savings: Iterable[Saving | None], noise: Noise) -> bool:
    """Whether both savings are known, and differ by no more than values do."""
    before, after = (0.0 if one is None else one.us for one in savings)
    return before > 0 and after > 0 and noise.alike(before, after)


def _paired_savings(finding: Finding, sides: tuple[_Side, _Side]) -> tuple[Saving | None, Saving | None]:
    one, other = (side.of(finding.fingerprint) for side in sides)
    return None if one is None else one.saving, None if other is None else other.saving


def _raw_status(
    finding: Finding, sides: tuple[_Side, _Side], metrics: tuple[Metric, ...], noise: Noise
) -> tuple[Status, Text | None]:
    old, new = (side.findings.get(finding.fingerprint) for side in sides)
    if old is not None and new is not None:
        return _status_in_both(old, new, metrics, noise), None
    known, lacking = (new, sides[0]) if old is None else (old, sides[1])
    reason = _not_looked(finding.rule, lacking.outcomes.get(finding.rule))
    if reason is not None:
        return "not comparable", reason
    unknown = _kept_quiet_by_what_is_unknown(finding.fingerprint, sides)
    if unknown is not None:
        return "not comparable", unknown
    if known is not None and not lacking.captured(known):
        return "not comparable", NOT_CAPTURED
    if _hardly_crossed(metrics, noise):
        return "same", CROSSED
    return ("new" if old is None else "gone"), None


def _status_in_both(old: Finding, new: Finding, metrics: tuple[Metric, ...], noise: Noise) -> Status:
    """Worse or better by what it costs; without a known saving, by the severity a rule gives to what it measured."""
    if old.saving.us > 0 or new.saving.us > 0:
        if noise.saved_alike(old.rule, old.saving, new.saving):
            return "same"
        return "worse" if new.saving.us > old.saving.us else "better"
    if old.severity == new.severity or _all_alike(metrics, noise):
        return "same"
    return "worse" if new.severity > old.severity else "better"


def _all_alike(metrics: Iterable[Metric], noise: Noise) -> bool:
    """Whether no value that is held against a threshold moved beyond noise."""
    held = [
        (number_or_none(metric.before), number_or_none(metric.after))
        for metric in metrics
        if metric.threshold is not None
    ]
    known = [(before, after) for before, after in held if before is not None and after is not None]
    return bool(known) and all(noise.alike(before, after) for before, after in known)


def _hardly_crossed(metrics: Iterable[Metric], noise: Noise) -> bool:
    """Whether every value that crossed its threshold did so within noise; at least one must have."""
    crossed = [
        noise.alike(before, after)
        for before, after, limit in (
            (number_or_none(metric.before), number_or_none(metric.after), metric.threshold) for metric in metrics
        )
        if before is not None and after is not None and limit is not None and (before > limit) != (after > limit)
    ]
    return bool(crossed) and all(crossed)


def _kept_quiet_by_what_is_unknown(name: str, sides: tuple[_Side, _Side]) -> Text | None:
    """Why a rule that stayed quiet on one side does not say that the finding is not there: the value by which it stayed
    quiet is not known where it fired, and may be the same. None where it says so.
    """
    fired, quiet = sides if name in sides[0].findings else (sides[1], sides[0])
    finding, near = fired.findings[name], quiet.measures.get(name)
    if near is None or not near.short_of or _evidence_value(finding, near.short_of) is not None:
        return None
    called = quiet.label(finding.rule, near.short_of)
    return Text(
        en=f"what kept it from being found in one capture is not known of the other: {called.en}",
        zh=f"其中一份采集因该指标而未报告此问题，而另一份没有该指标：{called.zh}",
    )


def _evidence_value(of: Finding, name: str) -> Scalar:
    item = _evidence_by_name(of).get(name)
    return None if item is None else item.value


def _not_looked(rule: str, outcome: Outcome | None) -> Text | None:
    """Why nothing can be concluded from the silence of a rule; None where it looked."""
    rule = one_line(rule)
    if outcome is None:
        return Text(en=f"`{rule}` was not evaluated in the other capture", zh=f"另一份采集未执行规则 `{rule}`")
    if outcome.outcome in ("quiet", "fired"):
        return None
    reason = outcome.reason
    en, zh = ("", "") if reason is None else (f": {reason.en}", f"：{reason.zh}")
    words = {
        "skipped": ("skipped", "跳过"),
        "failed": ("failed", "执行出错"),
        "not applicable": ("not applicable", "不适用"),
    }
    said = words[outcome.outcome]
    return Text(en=f"`{rule}` was {said[0]} in the other capture{en}", zh=f"规则 `{rule}` 在另一份采集中{said[1]}{zh}")


def _paired_metrics(before: Finding | Measure | None, after: Finding | Measure | None) -> tuple[Metric, ...]:
    """The values of either side by name, those held against a threshold first."""
    one, other = _evidence_by_name(before), _evidence_by_name(after)
    found = [_paired_metric(name, one.get(name), other.get(name)) for name in dict.fromkeys(chain(other, one))]
    return tuple(sorted(found, key=lambda metric: metric.threshold is None))


def _evidence_by_name(of: Finding | Measure | None) -> dict[str, Evidence]:
    return {} if of is None else {item.name: item for item in of.evidence}


def _paired_metric(name: str, before: Evidence | None, after: Evidence | None) -> Metric:
    known = after or before
    assert known is not None  # noqa: S101 - the name is that of one of them
    return Metric(
        name=name,
        unit=known.unit,
        before=None if before is None else before.value,
        after=None if after is None else after.value,
        threshold=known.threshold,
    )
