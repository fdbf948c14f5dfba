# SPDX-License-Identifier: Apache-2.0
"""What a finding about the capture takes from the certainty of the others, and from what they win."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from typing import Protocol

from advisor.model.findings import Confidence, Finding, Outcome


class Doubting(Protocol):
    """A rule, as far as doubt is concerned."""

    @property
    def id(self) -> str: ...
    @property
    def doubts(self) -> tuple[str, ...]: ...
    @property
    def coverage(self) -> Mapping[str, float]: ...


class Estimate(Protocol):
    """What a rule says of its savings, as far as the time that they are of is concerned."""

    @property
    def host_time(self) -> bool: ...


class Estimating(Protocol):
    """A rule, as far as times that recording changed are concerned."""

    @property
    def id(self) -> str: ...
    @property
    def inflates(self) -> str: ...
    @property
    def saving(self) -> Estimate | None: ...


_STANDS_IN_FOR = {"step_times": "kernels"}
"""Of a table what is read of another where that one lost rows or was not recorded: sums that the profiler made."""


def with_doubts(
    findings: Iterable[Finding],
    rules: Iterable[Doubting],
    needed: Mapping[str, Collection[str]] | None = None,
    timed: Collection[int] = (),
) -> tuple[Finding, ...]:
    """The findings; those seen where the times they rest on are in doubt are one level less certain, and name why.

    What is said of the capture itself stays as certain as it is, and so does what rests on nothing of a table of which
    rows were lost. `needed` are the recorded tables that a rule cannot do without, by its name, and `timed` the ranks
    whose kernels tell how long their steps were: where these hold what another table only stands in for, and are whole,
    nothing rests on that but what needs it.
    """
    found, known = tuple(findings), tuple(rules)
    patterns = {rule.id: rule.doubts for rule in known if rule.doubts}
    lossy = {one.subject.get("of") for one in found}
    unread = {table for table, source in _STANDS_IN_FOR.items() if source not in lossy}
    there = {one.subject.get("of") for one in found if _concerns_no_other(one, timed)}
    spared = {rule.id: {table for table, part in rule.coverage.items() if part <= 0} for rule in known}
    for name, tables in (needed or {}).items():
        instead = {table for table in unread if table in there or _STANDS_IN_FOR[table] in tables}
        spared[name] = spared.get(name, set()) | instead.difference(tables)
    return tuple(_less_certain(one, _doubts_about(one, found, patterns, spared.get(one.rule, ()))) for one in found)


def with_inflated_savings(findings: Iterable[Finding], rules: Iterable[Estimating]) -> tuple[Finding, ...]:
    """The findings; what those win by host time is an upper bound where recording made the host slower.

    That takes no more from one than from another, so the order stays as it is.
    """
    found, known = tuple(findings), tuple(rules)
    inflating, of_host = _rules_that_inflate(known), _rules_of_host_time(known)
    causes = [one for one in found if one.rule in inflating]
    return tuple(
        one.model_copy(update={"at_most": True})
        if one.rule in of_host and one.saving.us > 0 and any(_share_rank(one, cause) for cause in causes)
        else one
        for one in found
    )


def with_inflated_measures(
    outcomes: Iterable[Outcome], findings: Iterable[Finding], rules: Iterable[Estimating]
) -> tuple[Outcome, ...]:
    """The outcomes; the same of what rules measured that did not fire, wherever that was: it has no place."""
    known = tuple(rules)
    inflating, of_host = _rules_that_inflate(known), _rules_of_host_time(known)
    if not any(one.rule in inflating for one in findings):
        return tuple(outcomes)
    return tuple(_with_bounded_measures(one) if one.rule in of_host else one for one in outcomes)


def _rules_that_inflate(rules: Iterable[Estimating]) -> frozenset[str]:
    return frozenset(rule.id for rule in rules if rule.inflates == "host_time")


def _rules_of_host_time(rules: Iterable[Estimating]) -> frozenset[str]:
    return frozenset(rule.id for rule in rules if rule.saving is not None and rule.saving.host_time)


def _with_bounded_measures(outcome: Outcome) -> Outcome:
    measures = (one.model_copy(update={"at_most": one.saving.us > 0}) for one in outcome.measures)
    return outcome.model_copy(update={"measures": tuple(measures)})


def _concerns_no_other(doubt: Finding, ranks: Collection[int]) -> bool:
    """Whether it was seen on some of these ranks, and nowhere else."""
    return bool(doubt.seen) and all(place.rank in ranks for place in doubt.seen)


def _doubts_about(
    finding: Finding, found: Iterable[Finding], patterns: Mapping[str, tuple[str, ...]], spared: Collection[str]
) -> tuple[str, ...]:
    """Fingerprints of the findings that put this one in doubt; lost rows of the spared tables do not."""
    if finding.rule.startswith("capture/"):
        return ()
    return tuple(
        one.fingerprint
        for one in found
        if any(fnmatchcase(finding.rule, pattern) for pattern in patterns.get(one.rule, ()))
        and _share_rank(finding, one)
        and one.subject.get("of") not in spared
    )


def _share_rank(finding: Finding, other: Finding) -> bool:
    """Whether both were seen on one rank; what has no rank was seen on any."""
    here, there = ({place.rank for place in one.seen} for one in (finding, other))
    return None in here or None in there or not here or bool(here & there)


def _less_certain(finding: Finding, doubts: tuple[str, ...]) -> Finding:
    if not doubts:
        return finding
    confidence = Confidence(max(finding.confidence - 1, Confidence.low))
    return finding.model_copy(update={"confidence": confidence, "doubted_by": doubts})
