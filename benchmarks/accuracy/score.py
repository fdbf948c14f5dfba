# SPDX-License-Identifier: Apache-2.0
"""Marks summed up: precision, recall, lead, place and saving, per fault, per rule and in all."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from benchmarks.accuracy.mark import TOLERATED, Found, Mark
from benchmarks.accuracy.plan import ABOVE, wanted


def ratio(part: int, whole: int) -> float | None:
    """None of nothing."""
    return part / whole if whole else None


@dataclass(slots=True)
class Score:
    """What came of some cases."""

    cases: int = 0
    quiet_cases: int = 0
    """Cases in which there was nothing to find: healthy, or below what matters."""
    kept_quiet: int = 0
    wanted: int = 0
    found: int = 0
    claims: int = 0
    wrong: int = 0
    leads: int = 0
    lead_cases: int = 0
    placed: int = 0
    places: int = 0
    savings: int = 0
    close: int = 0
    errors: list[float] = field(default_factory=list)
    positions: list[int] = field(default_factory=list)
    """Where among the claims the causes were named, from 1."""

    @property
    def recall(self) -> float | None:
        """Of the causes to be named, how many were."""
        return ratio(self.found, self.wanted)

    @property
    def precision(self) -> float | None:
        """Of the causes claimed, how many are there."""
        return ratio(self.claims - self.wrong, self.claims)

    def add(self, mark: Mark) -> None:
        """Counts one case."""
        self.cases += 1
        self.claims += len(mark.claims)
        self.wrong += len(mark.wrong)
        if mark.leads is None:
            self.quiet_cases += 1
            self.kept_quiet += not mark.claims
        else:
            self.lead_cases += 1
            self.leads += mark.leads
        for found in mark.found:
            self.add_cause(found)

    def add_cause(self, found: Found) -> None:
        """Counts one wanted cause."""
        self.wanted += 1
        self.found += bool(found.rule)
        if found.rule:
            self.positions.append(found.position)
        if found.placed is not None:
            self.places += 1
            self.placed += found.placed
        if found.error is not None:
            self.savings += 1
            self.close += abs(found.error) <= TOLERATED
            self.errors.append(found.error)


def total(marks: Iterable[Mark]) -> Score:
    """All of them together."""
    score = Score()
    for mark in marks:
        score.add(mark)
    return score


def by_fault(marks: Sequence[Mark]) -> dict[str, Score]:
    """Per fault: the cases in which it was injected, alone or with others."""
    names = sorted({cause.name for mark in marks for cause in mark.causes})
    scores = {}
    for name in names:
        score = Score()
        for mark in marks:
            if any(cause.name == name for cause in mark.causes):
                score.add(mark)
        scores[name] = score
    return scores


def strong(marks: Iterable[Mark]) -> Score:
    """Single faults at twice the strength of a problem."""
    return total(m for m in marks if len(m.causes) == 1 and m.case.strength >= ABOVE and wanted(m.case))


def healthy(marks: Iterable[Mark]) -> Score:
    """Jobs without any fault."""
    return total(mark for mark in marks if not mark.causes)


def by_rule(marks: Iterable[Mark]) -> dict[str, Score]:
    """Per rule: its claims, and the causes it named or was to name; what another rule named is not held against it."""
    scores: dict[str, Score] = defaultdict(Score)
    for mark in marks:
        for claim in mark.claims:
            scores[claim.rule].claims += 1
        for rule in mark.wrong:
            scores[rule].wrong += 1
        for found in mark.found:
            for rule in [found.rule] if found.rule else mark.key.get(found.cause.name, ()):
                scores[rule].add_cause(found)
    return dict(sorted(scores.items()))
