# SPDX-License-Identifier: Apache-2.0
"""The order of a report: what to fix first leads, and a symptom never stands above what explains a part of it.

1. Findings of the category `capture` with severity high or above come first: nothing else can be trusted.
   Other `capture` findings come last, those that a report begins with where it has nothing else before what is only
   told for information.
2. Findings that can be acted on follow by saving. A cause stands above other such findings that it explains, and as
   high as the largest of them would; one that wins too little to be fixed first, or less than a third of what it
   explains (half of a slow rank and of a bubble), and a slight one without an estimate, stand where they would alone;
   that is not what to begin with, unless nothing else explains a symptom and nothing else is worth fixing. Another
   cause without an estimate may be worth what no other cause explains of its symptoms, and stands where that puts it.
   Two savings that are close are not told apart: then what can be copied stands above what has yet to be worked out,
   where it is sure; what may be the remedy of something else does not. What is not sure, and told with the most that it
   can win, counts for half of that. Neither puts what is not worth fixing above what is.
   A cause that rests on a file of which so much is lost that it may show it by chance comes after the others, before
   what is only told for information. A doubt that all share puts none behind another.
3. Symptoms, findings of rules that say where time goes and not why, are such findings only while nothing explains
   them. Explained, they come after everything that can be acted on: their time is the same time.
4. Apart from that by saving, severity, rule id, subject, fingerprint: a total order.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Protocol

from msgspec import Struct

from advisor.model.findings import (
    TOLD_APART,
    WORTH_SHARE,
    Confidence,
    Finding,
    RemedyStep,
    Severity,
    is_grave_doubt,
    seen_by_chance,
    steps_for,
    unexplained_part,
)

Weight = tuple[int, float, float]
CauseLinks = Mapping[int, Sequence[int]]


class Bounding(Protocol):
    """How a rule estimates, as far as the order is concerned."""

    @property
    def at_most(self) -> bool: ...


class Explaining(Protocol):
    """A rule, as far as the order is concerned."""

    @property
    def id(self) -> str: ...
    @property
    def explains(self) -> tuple[str, ...]: ...
    @property
    def formerly(self) -> tuple[str, ...]: ...
    @property
    def own_reason(self) -> str: ...
    @property
    def fix(self) -> tuple[RemedyStep, ...]: ...
    @property
    def saving(self) -> Bounding | None: ...


class Rules(Protocol):
    """Gives all rules."""

    @property
    def rules(self) -> Sequence[Explaining]: ...


def rank_findings(
    findings: Iterable[Finding],
    catalog: Rules,
    captured: Collection[int] = (),
    undoubted: Mapping[str, Confidence] = MappingProxyType({}),
) -> tuple[Finding, ...]:
    """The findings in the order of a report, causes and symptoms linked by fingerprint.

    `captured` are all ranks of the run, those without a finding too; what all of them have alike is known by these.
    `undoubted` is how certain findings were before the capture was doubted, by fingerprint.
    """
    ordered = sorted(findings, key=_order_alone)
    symptoms, causes = _link_findings(ordered, catalog, captured)
    unsure = _find_unsure(ordered, undoubted)
    ready, guessed = _find_ready(ordered, catalog) - unsure, _find_bounded(ordered, catalog) & unsure
    lineup = _Lineup(ordered, symptoms, causes, _find_chance(ordered), ready, guessed)
    first = {
        number: [other for other in found if lineup.stands_above(number, other)] for number, found in symptoms.items()
    }
    after = {other: [number for number in found if other in first[number]] for other, found in causes.items()}
    return tuple(
        ordered[number].model_copy(
            update={
                "causes": tuple(ordered[other].fingerprint for other in causes[number]),
                "symptoms": tuple(ordered[other].fingerprint for other in symptoms[number]),
            }
        )
        for number in _topological_order(lineup.standings(), first, after)
    )


_DOUBT, _ACT, _CHANCE, _EXPLAINED, _REMARK = 4, 3, 2, 1, 0
"""Tiers: nothing else can be trusted; to be acted on; a cause in what is left of a file; the same time seen again; a
remark on the capture."""


def _tier_of_finding(finding: Finding) -> int:
    """The tier of a finding that nothing explains."""
    if not finding.rule.startswith("capture/"):
        return _ACT
    return _DOUBT if finding.severity >= Severity.high else _REMARK


def _weight_of_finding(finding: Finding) -> Weight:
    """What a finding weighs by itself, a cause by what it wins, a symptom by its time; more comes first."""
    return _tier_of_finding(finding), finding.worth.share, finding.worth.us


def _order_alone(finding: Finding) -> tuple[int, float, float, int, str, str, str]:
    """The order without causes and symptoms. No two findings are equal in it."""
    tier, share, us = _weight_of_finding(finding)
    subject = str(sorted((key, str(value)) for key, value in finding.subject.items()))
    return -tier, -share, -us, -finding.severity, finding.rule, subject, finding.fingerprint


def _link_findings(
    findings: Sequence[Finding], catalog: Rules, captured: Collection[int]
) -> tuple[CauseLinks, CauseLinks]:
    """Symptoms and causes of each finding, by position. Links that would close a circle are left out."""
    names = {old: rule.id for rule in catalog.rules for old in rule.formerly}
    explains = {rule.id: {names.get(name, name) for name in rule.explains} for rule in catalog.rules}
    by_rule: dict[str, list[int]] = {}
    for number, finding in enumerate(findings):
        by_rule.setdefault(finding.rule, []).append(number)
    ranks = [{place.rank for place in finding.seen if place.rank is not None} for finding in findings]
    reach = _levels_of_rules(explains)
    reasons = {rule.id: rule.own_reason for rule in catalog.rules if rule.own_reason}
    explained = [not _tells(finding, reasons.get(finding.rule)) for finding in findings]
    alike = [_is_input_of_all_alike(finding, captured) for finding in findings]
    symptoms: dict[int, list[int]] = {number: [] for number in range(len(findings))}
    causes: dict[int, list[int]] = {number: [] for number in range(len(findings))}
    for number, finding in enumerate(findings):
        for name in sorted(explains.get(finding.rule, ())):
            if reach.get(finding.rule, 0) <= reach.get(name, 0) or (alike[number] and name.startswith(_OF_MEETINGS)):
                continue
            for other in by_rule.get(name, ()):
                if explained[other] and _can_explain(finding, findings[other], ranks[number], ranks[other]):
                    causes[other].append(number)
    for other, found in causes.items():
        if findings[other].rule == _COMES_LAST and any(ranks[cause] & ranks[other] for cause in found):
            causes[other] = [cause for cause in found if not ranks[cause] or ranks[cause] & ranks[other]]
        for cause in causes[other]:
            symptoms[cause].append(other)
    ordered = {number: tuple(sorted(found)) for number, found in symptoms.items()}
    return ordered, {number: tuple(sorted(found)) for number, found in causes.items()}


def _tells(finding: Finding, name: str | None) -> bool:
    """Whether a piece of evidence of a finding is known."""
    return any(one.name == name and one.value is not None for one in finding.evidence)


_COMES_LAST = "ranks/late-rank"
"""Of a group with a slow rank others may come last to where groups meet; one with a reason of its own has that."""
_OF_INPUT, _OF_MEETINGS = "io/", "comm/"
_OF_DIFFERENCES = "host/step-jitter"
"""What is told of steps that differ."""
_IN_SOME_STEPS = "some_steps"
"""The piece of evidence that says in how many steps a cost is had, of a rule that knows; missing where in all alike. In
few of the steps ranks may take turns."""
_OF_ONE_RANK = ("host/", "io/", "memory/", "compute/")
"""Categories of what a host, its allocator or the kernels of a device do: it shows on the ranks of these alone."""
_OF_KERNELS = "compute/"
_OPERATOR = "op_type"
"""The key of the subject of findings about one type of operator."""


def _can_explain(cause: Finding, symptom: Finding, here: set[int], there: set[int]) -> bool:
    """Whether a cause can show where a symptom was seen: on a shared rank, or on any where one of them has no rank.

    A rank that is late, by its host or its kernels, shows on the ranks that wait for it, not on itself; but what hosts
    or kernels do on other ranks too does not come from it, except where more than twice what the others have is that
    rank's alone. Nor does what all ranks have alike make one of them late, unless that is what it has more of, nor does
    what is wrong with one rank or its links show on those of others. Kernels that are slow on one rank alone shorten
    its waits. What costs all steps alike makes none longer. What one operator does explains nothing of another.
    """
    own, other = (one.subject.get(_OPERATOR) for one in (cause, symptom))
    if own is not None and other is not None and own != other:
        return False
    if symptom.rule == _OF_DIFFERENCES and _is_of_all_steps(cause):
        return False
    if not here or not there:
        return True
    if cause.rule.startswith("ranks/") and symptom.rule.startswith("ranks/") and symptom.rule != _COMES_LAST:
        return bool(here & there)
    if cause.rule.startswith("ranks/"):
        return there <= here or not symptom.rule.startswith(_OF_ONE_RANK) or _is_mostly_seen_on(here, symptom)
    if symptom.is_symptom and symptom.rule.startswith("comm/") and cause.rule.startswith(_OF_ONE_RANK):
        return not cause.rule.startswith(_OF_KERNELS) or len(here) > 1 or here != there
    if symptom.rule.startswith("ranks/") and cause.rule.startswith(_OF_ONE_RANK):
        makes_up = 0 < symptom.saving.us <= cause.extra_us_on(there) * TOLD_APART
        return bool(here & there) and (makes_up or _is_mostly_seen_on(there, cause))
    return bool(here & there)


def _is_input_of_all_alike(finding: Finding, captured: Collection[int]) -> bool:
    """Whether all captured ranks wait for input alike in every step: then none of them keeps another waiting."""
    if not finding.rule.startswith(_OF_INPUT) or _tells(finding, _IN_SOME_STEPS):
        return False
    us = [finding.us_by_rank.get(rank, 0.0) for rank in captured]
    return len(us) > 1 and 0 < max(us) <= min(us) * TOLD_APART


def _is_of_all_steps(cause: Finding) -> bool:
    """Whether a cause says in how many steps it costs, where not in all of them, and names none."""
    return any(one.name == _IN_SOME_STEPS and one.value is None for one in cause.evidence)


def _is_mostly_seen_on(ranks: set[int], finding: Finding) -> bool:
    """Whether all other ranks have less than a third of what the worst of these has.

    What goes with these ranks is then more than twice what is left. Where it is less, that all ranks have it is a
    problem of its own, which may well be the larger one.
    """
    us = finding.us_by_rank
    there = max((us[rank] for rank in us.keys() & ranks), default=0.0)
    return max((us[rank] for rank in us.keys() - ranks), default=0.0) < there / 3


def _levels_of_rules(explains: Mapping[str, set[str]]) -> dict[str, int]:
    """A number per rule that is larger than that of everything it explains, circles aside."""
    level: dict[str, int] = {}

    def settle(name: str, above: frozenset[str]) -> int:
        if name not in level:
            inner = [settle(s, above | {name}) for s in sorted(explains.get(name, ())) if s not in above | {name}]
            level[name] = 1 + max(inner, default=0)
        return level[name]

    for name in sorted(explains):
        settle(name, frozenset())
    return level


Standing = tuple[int, float, float, int, float, float, int]

_LITTLE = 1 / 3
"""A cause that accounts for less than this part of what it explains leaves that to its own remedies."""
_MOST = 1 / 2
"""The same of a rank that is slow, and of a pipeline that waits: where most of it has another reason, such as too few
micro-batches, one call or rank that is slow with it is not what to begin with."""
_WHOLE = ("ranks/", "pipeline/")
_JUST_BELOW = math.nextafter(WORTH_SHARE, 0.0)
_OF_A_GUESS = 1 / 2
"""What may be nothing, and at most so much, is half of that: the middle of what it can be."""
_MADE_ELSEWHERE = ("comm/", "ranks/late-rank")
"""How rules begin that say that ranks wait: their remedies lie with what makes them wait, where that is known. A rank
whose host or device is slow has remedies of its own."""


def _least_part(explained: str) -> float:
    """The part of what a rule found that a cause has to account for to stand above it."""
    if explained.startswith(_MADE_ELSEWHERE):
        return 0.0
    return _MOST if explained.startswith(_WHOLE) else _LITTLE


def _within_worth(share: float, times: float) -> float:
    """How many times a saving counts so that what is worth fixing stays above what is not, as the headline has it."""
    if share <= 0:
        return times
    return max(times, WORTH_SHARE / share) if share >= WORTH_SHARE else min(times, _JUST_BELOW / share)


class _Lineup(Struct, frozen=True):
    """Findings with their links by position."""

    findings: Sequence[Finding]
    symptoms: CauseLinks
    causes: CauseLinks
    chance: frozenset[str] = frozenset()
    """Fingerprints of findings that what is left of a file may show by chance."""
    ready: frozenset[str] = frozenset()
    """Fingerprints of causes that are sure, and whose first remedy is there to be copied."""
    guessed: frozenset[str] = frozenset()
    """Fingerprints of causes that are not sure, and of which no more is known than the most that they can win."""

    def stands_above(self, cause: int, other: int) -> bool:
        """Whether a cause stands above what it explains."""
        explained = self.findings[other]
        if self._is_chance_alone(cause, other):
            return False
        if explained.is_symptom or explained.worth.us <= 0:
            return True
        return not self.findings[cause].is_slight and not self._wins_too_little(cause, other)

    def _is_chance_alone(self, cause: int, other: int) -> bool:
        """Whether a cause may be seen by chance, and what it explains is sure."""
        return self.findings[cause].fingerprint in self.chance and self.findings[other].fingerprint not in self.chance

    def _wins_too_little(self, cause: int, other: int) -> bool:
        """Whether a cause is too little to be fixed first, or for what it explains, and that is not."""
        worth, explained = self.findings[cause].worth, self.findings[other].worth
        least = max(min(WORTH_SHARE, explained.share), _least_part(self.findings[other].rule) * explained.share)
        return worth.us > 0 and worth.share < least

    def standings(self) -> list[Standing]:
        """Where each finding stands: the largest weight of what it brings about, then its own, then its position."""
        weights = [self._weight_at(number) for number in range(len(self.findings))]
        return [self._standing_at(number, weights) for number in range(len(weights))]

    def _weight_at(self, number: int) -> Weight:
        finding = self.findings[number]
        tier, share, us = _weight_of_finding(finding)
        tier = _CHANCE if finding.fingerprint in self.chance else tier
        if tier == _REMARK and is_grave_doubt(finding):
            return _CHANCE, math.ulp(0.0), 0.0
        if finding.is_symptom:
            explained = any(not self._is_chance_alone(cause, number) for cause in self.causes[number])
            return (_EXPLAINED if explained else tier), share, us
        if tier == _ACT and finding.severity == Severity.info and us <= 0:
            return _CHANCE, share, us
        if us > 0 or tier not in (_ACT, _CHANCE):
            ahead = TOLD_APART if finding.fingerprint in self.ready else 1.0
            ahead *= _OF_A_GUESS if finding.fingerprint in self.guessed else 1.0
            ahead = _within_worth(share, ahead)
            return tier, share * ahead, us * ahead
        if finding.is_slight:
            return (tier, *max((self._lifted_by(other) for other in self.symptoms[number]), default=(share, us)))
        left = [self._unexplained_at(other) for other in self.symptoms[number] if self.findings[other].is_symptom]
        return (tier, *max(left, default=(share, us)))

    def _lifted_by(self, symptom: int) -> tuple[float, float]:
        """As what a slight cause of a symptom counts: as just worth fixing where nothing else explains it, for then the
        report begins with it as soon as nothing is worth more."""
        found = self.findings[symptom]
        if not found.is_symptom or not all(self.findings[cause].is_slight for cause in self.causes[symptom]):
            return 0.0, 0.0
        part = min(1.0, WORTH_SHARE / found.worth.share) if found.worth.share > 0 else 1.0
        return found.worth.share * part, found.worth.us * part

    def _unexplained_at(self, symptom: int) -> tuple[float, float]:
        """What is left of a symptom, as a share and in µs."""
        left = unexplained_part(self.findings[symptom], (self.findings[cause] for cause in self.causes[symptom]))
        return left.share, left.us

    def _standing_at(self, number: int, weights: Sequence[Weight]) -> Standing:
        reached, todo = {number}, [number]
        while todo:
            at = todo.pop()
            for other in self.symptoms[at]:
                lifts = not (self.findings[other].is_symptom or self._is_chance_alone(at, other))
                lifts = lifts and not self._wins_too_little(at, other)
                if lifts and other not in reached:
                    reached.add(other)
                    todo.append(other)
        heaviest, own = max(weights[member] for member in reached), weights[number]
        return -heaviest[0], -heaviest[1], -heaviest[2], -own[0], -own[1], -own[2], number


def _contends(finding: Finding) -> bool:
    """Whether it is for the order to say if this comes before others: remarks stand behind them anyway."""
    return not finding.rule.startswith("capture/") and not finding.is_slight


def _find_unsure(findings: Sequence[Finding], undoubted: Mapping[str, Confidence]) -> frozenset[str]:
    """Fingerprints of findings of which certainty is lacking; a doubt of all alike says nothing of any one of them."""
    shared = set[str]().union(*(one.doubted_by for one in findings))
    for one in filter(_contends, findings):
        shared.intersection_update(one.doubted_by)
    return frozenset(
        one.fingerprint
        for one in findings
        if (undoubted.get(one.fingerprint, one.confidence) if shared.issuperset(one.doubted_by) else one.confidence)
        <= Confidence.low
    )


def _find_chance(findings: Sequence[Finding]) -> frozenset[str]:
    """Fingerprints of what the rest of a file may show by chance; of none where that is all there is to compare."""
    chance = seen_by_chance(findings)
    return chance if any(one.fingerprint not in chance for one in filter(_contends, findings)) else frozenset()


def _find_ready(findings: Sequence[Finding], catalog: Rules) -> frozenset[str]:
    """Fingerprints of findings whose first remedy is a command or code, not work that has yet to be thought out."""
    steps = {rule.id: rule.fix for rule in catalog.rules}
    first = ((finding.fingerprint, steps_for((finding,), steps.get(finding.rule, ()))[:1]) for finding in findings)
    return frozenset(fingerprint for fingerprint, said in first if any(step.run or step.code for step in said))


def _find_bounded(findings: Sequence[Finding], catalog: Rules) -> frozenset[str]:
    """Fingerprints of findings of rules whose estimates are upper bounds."""
    bounding = {rule.id for rule in catalog.rules if rule.saving is not None and rule.saving.at_most}
    return frozenset(one.fingerprint for one in findings if one.rule in bounding)


def _topological_order(places: Sequence[Standing], symptoms: CauseLinks, causes: CauseLinks) -> list[int]:
    """Positions in order, each after its causes, the best placed first."""
    waiting = {number: len(causes[number]) for number in range(len(places))}
    ready = [places[number] for number, left in waiting.items() if left == 0]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        number = int(heapq.heappop(ready)[-1])
        order.append(number)
        for other in symptoms[number]:
            waiting[other] -= 1
            if waiting[other] == 0:
                heapq.heappush(ready, places[other])
    return order
