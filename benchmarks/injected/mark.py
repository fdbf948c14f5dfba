# SPDX-License-Identifier: Apache-2.0
"""Marks one diagnosis of a real capture with a fault in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from advisor.model.findings import Diagnosis
from benchmarks.standing import standing_findings

WORTH = 0.05
"""From this part of the step on a fault is to be named."""
SMALL = 0.02
"""Below this part nobody would act."""
TOLERATED = 0.25
"""How far an estimated saving may be from the truth."""
SAME = 1.5
"""A finding that the base has as well may be this much larger with the fault."""
MARGIN = 0.02
"""And by this part of the step more."""
EQUAL = 0.03
"""By this part of each other two savings differ and are the same: equal runs differ by as much."""


@dataclass(frozen=True, slots=True)
class Claim:
    """One finding of medium severity or above that the report does not show under another."""

    rule: str
    us: float | None
    ranks: frozenset[int]
    severity: str = ""


@dataclass(frozen=True, slots=True)
class Key:
    """What a diagnosis is held against."""

    named_by: frozenset[str]
    shown_by: frozenset[str]
    ranks: frozenset[int]


@dataclass(frozen=True, slots=True)
class Case:
    """One capture."""

    base: str
    fault: str
    """Empty for the base itself."""
    growth: float
    """By what part the step is to get longer."""
    control: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """One diagnosis, marked."""

    case: Case
    key: Key
    step_us: float
    """Of the run with the fault."""
    true_us: float
    """By how much the step is longer than without the fault."""
    claims: tuple[Claim, ...]
    base_claims: tuple[Claim, ...]
    tried: Mapping[str, float] = field(default_factory=dict)
    """Per rule that would be wrong: what mending it wins, in µs, by another run."""

    @property
    def part(self) -> float:
        """The true saving as a part of the step."""
        return self.true_us / self.step_us

    @property
    def wanted(self) -> bool:
        """Whether the fault is to be named."""
        return bool(self.case.fault) and not self.case.control and self.part >= WORTH * 0.9

    @property
    def named(self) -> tuple[Claim, ...]:
        """The claims that name the fault."""
        return tuple(claim for claim in self.claims if claim.rule in self.key.named_by and not self._known(claim))

    def _known(self, claim: Claim) -> bool:
        """Whether the base has the same finding at a similar size."""
        before = [other for other in self.base_claims if other.rule == claim.rule]
        largest = max((other.us or 0 for other in before), default=0.0)
        return bool(before) and (claim.us or 0) <= largest * SAME + self.step_us * MARGIN

    @property
    def found(self) -> bool:
        """Whether the fault is named."""
        return bool(self.named)

    @property
    def placed(self) -> bool | None:
        """Whether the right ranks are named; None where it is all of them."""
        if not self.key.ranks or not self.found:
            return None
        return any(claim.ranks == self.key.ranks for claim in self.named)

    @property
    def leads(self) -> bool:
        """Whether the first claim names the fault, or something of the base that costs as much."""
        if not self.claims:
            return False
        first = self.claims[0]
        if first in self.named:
            return True
        worth = self.tried.get(first.rule, (first.us or 0) if self._known(first) else 0.0)
        return self.found and worth >= self.true_us * (1 - EQUAL)

    @property
    def wrong(self) -> tuple[str, ...]:
        """Rules that were claimed and name nothing that is there."""
        return tuple(claim.rule for claim in self.doubtful if not self._confirmed(claim))

    @property
    def in_question(self) -> tuple[Claim, ...]:
        """Claims that another run is to try out: those in doubt, and the first if it is not the fault."""
        first = [claim for claim in self.claims[:1] if claim not in self.named and claim not in self.doubtful]
        return (*first, *self.doubtful)

    @property
    def doubtful(self) -> tuple[Claim, ...]:
        """Claims that name neither the fault nor what the base has."""
        allowed = frozenset() if self.case.control else self.key.named_by | self.key.shown_by
        return tuple(claim for claim in self.claims if claim.rule not in allowed and not self._known(claim))

    def _confirmed(self, claim: Claim) -> bool:
        """Whether mending it wins what it says, in another run, and enough to act on."""
        won = self.tried.get(claim.rule, 0.0)
        return won >= self.step_us * SMALL and (claim.us or 0) <= won * SAME

    @property
    def error(self) -> float | None:
        """Estimated saving over truth, minus 1; what the base has of the same rule is taken off."""
        estimates = [
            (claim.us or 0) - max((b.us or 0 for b in self.base_claims if b.rule == claim.rule), default=0.0)
            for claim in self.named
        ]
        return max(estimates) / self.true_us - 1 if estimates and self.true_us > 0 else None


def claims(diagnosis: Diagnosis) -> tuple[Claim, ...]:
    """The findings that count, in the order of the report."""
    return tuple(
        Claim(
            finding.rule,
            finding.saving.us if finding.saving else None,
            frozenset(place.rank for place in finding.seen if place.rank is not None),
            finding.severity.name,
        )
        for finding in standing_findings(diagnosis)
    )


@dataclass(frozen=True, slots=True)
class Score:
    """Marks summed up."""

    wanted: int
    found: int
    leads: int
    claims: int
    wrong: int
    savings: int
    close: int
    controls: int
    quiet: int


def score(marks: Sequence[Mark]) -> Score:
    """All of them together; claims are those of captures with a fault, controls included."""
    wanted = [mark for mark in marks if mark.wanted]
    errors = [mark.error for mark in wanted if mark.error is not None]
    controls = [mark for mark in marks if mark.case.control]
    faulty = [mark for mark in marks if mark.case.fault]
    return Score(
        len(wanted),
        sum(mark.found for mark in wanted),
        sum(mark.leads for mark in wanted),
        sum(len(mark.claims) for mark in faulty),
        sum(len(mark.wrong) for mark in faulty),
        len(errors),
        sum(abs(error) <= TOLERATED for error in errors),
        len(controls),
        sum(not mark.wrong for mark in controls),
    )
