# SPDX-License-Identifier: Apache-2.0
"""Hit: one group in which a rule fired, before hits of one subject become one finding."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from advisor.findings import Confidence, Evidence, Outcome, Place, Rows, Scalar, Severity, fingerprint
from advisor.rules.bind import Rule
from advisor.run import Run


@dataclass(frozen=True, slots=True)
class Hit:
    """One group in which a rule fired."""

    rule: Rule
    run: Run
    keys: Mapping[str, Scalar]
    """Every key of `for_each`, rank and step included."""
    severity: Severity
    confidence: Confidence
    saving_us: float
    """Between 0 and the step."""
    evidence: tuple[Evidence, ...]
    values: Mapping[str, Scalar]
    """Every `let` with one value per group, for the rule's own tests."""
    excerpt: Rows | None = None
    """Made only for the worst hit of a subject."""

    @property
    def subject(self) -> dict[str, Scalar]:
        """The keys that stay the same from one run to the next."""
        return {key: self.keys[key] for key in self.rule.identity}

    @property
    def fingerprint(self) -> str:
        return fingerprint(self.rule.id, self.subject)

    @property
    def rank(self) -> int | None:
        """The rank it was seen on; of a link the sending one, of a meeting the one that came last."""
        for key in ("rank", "last_rank", "source"):
            found = self.keys.get(key)
            if isinstance(found, int):
                return found
        return None

    @property
    def place(self) -> Place:
        """Where it was seen."""
        stage, step, rank = self.keys.get("stage"), self.keys.get("step"), self.rank
        if not isinstance(stage, int):
            stage = self.run.parallel.stage_of(rank) if rank is not None else None
        step = step if isinstance(step, int) else None
        return Place(rank=rank, stage=stage, step=step, saving_us=self.saving_us)


Order = tuple[float, ...]


def worst_first(hit: Hit) -> tuple[int, float, Order, str]:
    """The order of hits of one subject: severity, saving, then the smallest rank, stage and step."""
    place = hit.place
    numbers = tuple(-1.0 if n is None else float(n) for n in (place.rank, place.stage, place.step))
    return -int(hit.severity), -hit.saving_us, numbers, str(sorted((k, str(v)) for k, v in hit.keys.items()))


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What became of one rule, and the groups in which it fired."""

    outcome: Outcome
    hits: tuple[Hit, ...] = ()
