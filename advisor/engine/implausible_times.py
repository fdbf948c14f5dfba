# SPDX-License-Identifier: Apache-2.0
"""What rests on the times of kernels that cannot be: each finding of it would be the same one mistake, told again."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from advisor.facts.observed import Collective, Kernel
from advisor.messages.text import Text
from advisor.model.findings import Finding, Outcome, Severity

CONTRADICTED = "capture/contradicted-times"
"""The rule that holds kernels against the profiler's own sums; where it is grave, one is more than twice the other."""
_TIMED = frozenset({Kernel.table, Collective.table})
"""Tables whose times stand in one list."""
_WHY = Text(
    en="times of kernels are not plausible: together they last more than twice as long as the profiler saw the device "
    f"compute (`{CONTRADICTED}`)",
    zh=f"kernel 的时间不可信：总和超过 profiler 自身统计的计算时间的两倍（`{CONTRADICTED}`）",
)


def without_implausible(
    findings: Iterable[Finding], outcomes: Iterable[Outcome], needed: Mapping[str, Collection[str]]
) -> tuple[tuple[Finding, ...], tuple[Outcome, ...]]:
    """The findings but those that were seen on such ranks alone and need kernels or collectives, and the outcomes:
    rules of which nothing is left could not look.

    `needed` are the recorded tables that a rule cannot do without, by its name. Symptoms stay: where time went, the
    profiler's own sums tell.
    """
    found = tuple(findings)
    wrong = {one.fingerprint: {place.rank for place in one.seen} for one in found if _are_too_long(one)}
    gone = {
        number
        for number, one in enumerate(found)
        if not _TIMED.isdisjoint(needed.get(one.rule, ())) and not one.is_symptom and _seen_there_alone(one, wrong)
    }
    left = tuple(one for number, one in enumerate(found) if number not in gone)
    blind = {found[number].rule for number in gone} - {one.rule for one in left}
    return left, tuple(
        one.model_copy(update={"outcome": "skipped", "reason": _WHY}) if one.rule in blind else one for one in outcomes
    )


def _are_too_long(finding: Finding) -> bool:
    """Whether a finding says that kernels last more than twice as long as the profiler summed up."""
    if finding.rule != CONTRADICTED or finding.severity < Severity.medium:
        return False
    values = {one.name: one.value for one in finding.evidence}
    found, said = values.get("found_compute_us"), values.get("said_compute_us")
    return isinstance(found, float) and isinstance(said, float) and found > 2 * said


def _seen_there_alone(finding: Finding, wrong: Mapping[str, Collection[int | None]]) -> bool:
    """Whether a finding is doubted for such times, and was seen on none but their ranks."""
    ranks = {rank for name in finding.doubted_by for rank in wrong.get(name, ())}
    return bool(ranks) and all(place.rank in ranks for place in finding.seen)
