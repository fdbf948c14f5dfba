# SPDX-License-Identifier: Apache-2.0
"""The order of a report: the biggest problem leads, and what causes it stands above it.

1. Findings of the category `capture` with severity high or above come first: nothing else can be trusted.
   Other `capture` findings come last.
2. A cause stands above the symptoms it explains, and as high as the largest of them would: the biggest problem leads,
   and what brings it about stands right above it.
3. A symptom that saves less than its cause is not lifted by it: it will go when the cause goes, and other problems
   that save more come before it.
4. Apart from that by saving, severity, rule id, subject, fingerprint: a total order.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from advisor.findings import Finding, Severity

Weight = tuple[int, float, float]
Links = Mapping[int, Sequence[int]]


class Explaining(Protocol):
    """A rule, as far as the order is concerned."""

    @property
    def id(self) -> str: ...
    @property
    def explains(self) -> tuple[str, ...]: ...
    @property
    def formerly(self) -> tuple[str, ...]: ...


class Rules(Protocol):
    """Gives all rules."""

    @property
    def rules(self) -> Sequence[Explaining]: ...


def ranked(findings: Iterable[Finding], catalog: Rules) -> tuple[Finding, ...]:
    """The findings in the order of a report, causes and symptoms linked by fingerprint."""
    ordered = sorted(findings, key=_alone)
    symptoms, causes = _links(ordered, catalog)
    places = [_order(number, ordered, symptoms) for number in range(len(ordered))]
    return tuple(
        ordered[number].model_copy(
            update={
                "causes": tuple(ordered[other].fingerprint for other in causes[number]),
                "symptoms": tuple(ordered[other].fingerprint for other in symptoms[number]),
            }
        )
        for number in _topological(places, symptoms, causes)
    )


def _weight(finding: Finding) -> Weight:
    """What a finding weighs by itself; more comes first."""
    capture = finding.rule.startswith("capture/")
    tier = 1 if not capture else 2 if finding.severity >= Severity.high else 0
    return tier, finding.saving.share, finding.saving.us


def _alone(finding: Finding) -> tuple[int, float, float, int, str, str, str]:
    """The order without causes and symptoms. No two findings are equal in it."""
    tier, share, us = _weight(finding)
    subject = str(sorted((key, str(value)) for key, value in finding.subject.items()))
    return -tier, -share, -us, -finding.severity, finding.rule, subject, finding.fingerprint


def _links(findings: Sequence[Finding], catalog: Rules) -> tuple[Links, Links]:
    """Symptoms and causes of each finding, by position. Links that would close a circle are left out."""
    names = {old: rule.id for rule in catalog.rules for old in rule.formerly}
    explains = {rule.id: {names.get(name, name) for name in rule.explains} for rule in catalog.rules}
    by_rule: dict[str, list[int]] = {}
    for number, finding in enumerate(findings):
        by_rule.setdefault(finding.rule, []).append(number)
    ranks = [{place.rank for place in finding.seen if place.rank is not None} for finding in findings]
    reach = _levels(explains)
    symptoms: dict[int, list[int]] = {number: [] for number in range(len(findings))}
    causes: dict[int, list[int]] = {number: [] for number in range(len(findings))}
    for number, finding in enumerate(findings):
        for name in sorted(explains.get(finding.rule, ())):
            for other in by_rule.get(name, ()) if reach.get(finding.rule, 0) > reach.get(name, 0) else ():
                if _meet(finding, findings[other], ranks[number], ranks[other]):
                    symptoms[number].append(other)
                    causes[other].append(number)
    ordered = {number: tuple(sorted(found)) for number, found in symptoms.items()}
    return ordered, {number: tuple(sorted(found)) for number, found in causes.items()}


_OF_ONE_HOST = ("host/", "io/", "memory/")
"""Categories of what a host or its allocator does: it shows on the ranks of that host alone."""


def _meet(cause: Finding, symptom: Finding, here: set[int], there: set[int]) -> bool:
    """Whether a cause can show where a symptom was seen: on a shared rank, or on any where one of them has no rank.

    A rank that is late shows on the ranks that wait for it, not on itself; but what hosts do on other ranks too does
    not come from it.
    """
    if not here or not there:
        return True
    if cause.rule.startswith("ranks/"):
        return there <= here or not symptom.rule.startswith(_OF_ONE_HOST)
    return bool(here & there)


def _levels(explains: Mapping[str, set[str]]) -> dict[str, int]:
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


def _order(number: int, findings: Sequence[Finding], symptoms: Links) -> Standing:
    """Where a finding stands: the largest weight of what it explains, then its own; `number` breaks ties."""
    reached, todo = {number}, [number]
    while todo:
        for other in symptoms[todo.pop()]:
            if other not in reached:
                reached.add(other)
                todo.append(other)
    heaviest = max(_weight(findings[member]) for member in reached)
    own = _weight(findings[number])
    return -heaviest[0], -heaviest[1], -heaviest[2], -own[0], -own[1], -own[2], number


def _topological(places: Sequence[Standing], symptoms: Links, causes: Links) -> list[int]:
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
