# SPDX-License-Identifier: Apache-2.0
"""Hit: one group in which a rule fired, before hits of one subject become one finding."""

from __future__ import annotations

import math
from collections.abc import Mapping

from msgspec import Struct

from advisor.messages.text import Text
from advisor.model.findings import (
    Confidence,
    Evidence,
    Occurrence,
    Outcome,
    Place,
    Rows,
    Scalar,
    Severity,
    number_or_none,
)
from advisor.model.run import UNEVEN, Run
from advisor.rules.bind import Rule


class Hit(Struct, frozen=True):
    """One group in which a rule fired."""

    rule: Rule
    run: Run
    keys: Mapping[str, Scalar]
    """Every key of `for_each`, rank and step included."""
    severity: Severity
    confidence: Confidence
    saving_us: float
    """Between 0 and the step; 0 where nobody knows, too."""
    restated_us: float
    """The time that the rule only says again, between 0 and the step; 0 for a cause."""
    values: Mapping[str, Scalar]
    """Every key, every `let` with one value per group, and all that is shown as evidence."""
    imposed_us: float = 0.0
    """What others lose by it now, where the rule says that this is more than fixing it wins, between 0 and the step."""
    wins_nothing: bool = False
    """Whether what fixing it wins is known, and none."""
    fix: tuple[int, ...] | None = None
    """Which steps of the remedy apply here, counted from 0; None for all."""
    step_us: float | None = None
    """The mean step of its rank, µs; None where one stands for all."""
    step_count: int = 1
    """How many steps of its rank were recorded."""
    excerpt: Rows | None = None
    """Made only for the worst hit of a subject."""
    occurrences: tuple[Occurrence, ...] = ()
    """The worst events of all hits of the subject; given only to the worst of them."""

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """Made when it is asked for: of many hits of one subject only the worst shows it."""
        return evidence_of_values(self.rule, self.values)

    @property
    def subject(self) -> dict[str, Scalar]:
        """The keys that stay the same from one run to the next."""
        return {key: self.keys[key] for key in self.rule.identity}

    @property
    def name(self) -> tuple[str, tuple[Scalar, ...]]:
        """Hits of one name become one finding. Much cheaper than the fingerprint, which says the same."""
        return self.rule.id, tuple(self.keys[key] for key in self.rule.identity)

    @property
    def rank(self) -> int | None:
        """The rank it was seen on; of a link the sending one, of a meeting the one that came last."""
        return self._whole_key("rank", "last_rank", "source")

    @property
    def stage(self) -> int | None:
        """The pipeline stage it was seen on, where that is known."""
        stage, rank = self._whole_key("stage"), self.rank
        return self.run.parallel.stage_of(rank) if stage is None and rank is not None else stage

    @property
    def step(self) -> int | None:
        """The step it was seen in."""
        return self._whole_key("step")

    def _whole_key(self, *names: str) -> int | None:
        """The first of these keys that is a whole number."""
        for name in names:
            found = self.keys.get(name)
            if isinstance(found, int):
                return found
        return None

    @property
    def place(self) -> Place:
        """Where it was seen."""
        return Place(rank=self.rank, stage=self.stage, step=self.step, saving_us=self.saving_us)


class Elsewhere(Struct, frozen=True):
    """One group in which a rule did not fire, while it fired elsewhere: what the same remedy would win there."""

    name: tuple[str, tuple[Scalar, ...]]
    """As that of the hits of the same subject."""
    rank: int | None
    step: int | None
    saving_us: float
    """Between 0 and the step; NaN where nobody knows."""
    step_count: int
    """How many steps of its rank were recorded."""


Order = tuple[int, float, int, int, int, int, tuple[str, ...]]
_TOLD_APART = 0.1
"""Values that differ by less than this part of them are alike: runs of one program do."""


def worst_first(hit: Hit) -> Order:
    """The order of hits of one subject: severity, what each is about, how far each is beyond the first threshold, then
    the smallest rank, stage and step.

    A symptom is about the time that it says again, a cause about what fixing it wins.
    """
    us = hit.saving_us if hit.rule.symptom is None else hit.restated_us
    spot = (-1 if n is None else n for n in (hit.rank, hit.stage, hit.step))
    beyond = _beyond_threshold(hit)
    return -int(hit.severity), -us, -beyond, next(spot), next(spot), next(spot), tuple(map(str, hit.keys.values()))


def evidence_of_values(rule: Rule, values: Mapping[str, Scalar]) -> tuple[Evidence, ...]:
    """What a finding shows of one group, from its values by name."""
    return tuple(
        Evidence(
            name=shown.name,
            value=_at_most_all(shown.name, values[shown.name]),
            unit=shown.unit,
            threshold=rule.params[shown.threshold].value if shown.threshold else None,
            param=shown.threshold or "",
        )
        for shown in rule.evidence
    )


def _at_most_all(name: str, value: Scalar) -> Scalar:
    """A share of the mean step that fills a step slightly longer is all of it."""
    slightly_more = isinstance(value, float) and name.endswith("_share") and 1 < value <= 1 + UNEVEN
    return 1.0 if slightly_more else value


def _beyond_threshold(hit: Hit) -> int:
    """How far the first value that has a threshold is beyond it, in steps of a tenth; 0 where that says nothing."""
    shown = next((one for one in hit.rule.evidence if one.threshold), None)
    if shown is None or not shown.threshold:
        return 0
    number = number_or_none(_at_most_all(shown.name, hit.values[shown.name]))
    threshold = hit.rule.params[shown.threshold].value
    if number is None or not threshold or number / threshold <= 0:
        return 0
    return round(abs(math.log(number / threshold)) / _TOLD_APART)


class RuleResult(Struct, frozen=True):
    """What became of one rule, and the groups in which it fired."""

    outcome: Outcome
    hits: tuple[Hit, ...] = ()
    elsewhere: tuple[Elsewhere, ...] = ()
    """Only of rules whose savings are joined across ranks as `critical`."""
    hints: tuple[Text, ...] = ()
    """Of a rule that could not look: what would have it look next time."""
