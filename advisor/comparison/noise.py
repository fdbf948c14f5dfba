# SPDX-License-Identifier: Apache-2.0
"""How much two captures of one and the same program differ: what a difference must exceed to count as a change."""

from __future__ import annotations

import math
from collections.abc import Sequence

from advisor.model.comparison import Tolerance
from advisor.model.findings import Diagnosis, Saving, Spent, StepSplit

WIDE = 0.10
"""Part of the step: as much as a budget for slowdowns usually allows."""
_PART_OF = {
    "compute": "compute_us",
    "comm": "exposed_comm_us",
    "host": "free_us",
    "io": "free_us",
    "env": "free_us",
    "memory": "free_us",
}
"""The part of the step in which the savings of a category lie; others take theirs from the step as a whole."""

_TELL_USUAL = 3
"""Of fewer other steps none tells what is usual."""
_Steps = tuple[StepSplit, ...]


class Noise:
    """What a difference must exceed."""

    def __init__(self, before: Diagnosis, after: Diagnosis, tolerance: Tolerance) -> None:
        self.tolerance = tolerance
        self.steps = _without_cut_steps(_step_splits(before), _step_splits(after))
        self.singles = sum(len(steps) < 2 for steps in self.steps)  # noqa: PLR2004 - a spread needs two
        """How many of the two hold a single step, whose spread is not known."""
        self.splits = before.split, after.split
        self.lengths = before.step_us, after.step_us
        """The mean steps, µs."""
        self.step_us = max(self.lengths)

    @property
    def single(self) -> bool:
        """Whether the spread of either is not known."""
        return self.singles > 0

    @property
    def relative(self) -> float:
        """Part of a value that may differ without a change."""
        return max(self.tolerance.relative, self.tolerance.one_step if self.single else 0.0)

    @property
    def is_wide(self) -> bool:
        """Whether steps differ so much that a change of a tenth of the step would not be told from noise."""
        return self.of_time("step_us", *self.lengths) > WIDE * self.step_us

    @property
    def floor_us(self) -> float:
        return self.tolerance.floor * self.step_us

    def of_time(self, name: str, before: float, after: float) -> float:
        """What the difference of a part of the step must exceed, µs."""
        return self._allowed_difference(self._spread_over_steps(name), max(before, after))

    def longest_step(self, before_us: float) -> float | None:
        """How long a step may become before that counts as a change, µs; None where no length would.

        Parts of the longer step are parts of the length that is asked for; the spread over the steps is what it is.
        """
        guessed = _length_with_part(before_us, self.tolerance.one_step)
        spread = before_us + self.tolerance.spread * self._spread_over_steps("step_us")
        by_steps = guessed if self.single else min(spread, guessed)
        longest = max(_length_with_part(before_us, self.tolerance.floor), by_steps)
        return longest if math.isfinite(longest) else None

    def of_entry(self, before: Spent | None, after: Spent | None) -> float:
        """What the difference of an entry of the account must exceed, µs."""
        spreads = [entry.spread_us or 0.0 for entry in (before, after) if entry is not None]
        return self._allowed_difference(max(spreads, default=0.0), max(us_of_entry(before), us_of_entry(after)))

    def _allowed_difference(self, spread_us: float, larger_us: float) -> float:
        """The spread over the steps, but no more than is allowed where steps are not known to differ at all.

        One step that stalls spreads the steps of a capture by more than it lengthens the mean, however long it is.
        """
        guessed = self.tolerance.one_step * larger_us
        return max(self.floor_us, guessed if self.single else min(self.tolerance.spread * spread_us, guessed))

    def saved_alike(self, rule: str, before: Saving, after: Saving) -> bool:
        """Whether two savings differ by no more than noise: theirs, or that of the part of the step they lie in."""
        own = self.relative * max(before.us, after.us)
        return abs(after.us - before.us) <= max(own, self.around(rule))

    def around(self, rule: str) -> float:
        """The noise of the part of the step in which the savings of a rule lie, µs."""
        column = _PART_OF.get(rule.split("/", 1)[0], "step_us")
        before, after = self.splits
        if before is None or after is None:
            return self.of_time("step_us", *self.lengths)
        return self.of_time(column, getattr(before, column), getattr(after, column))

    def alike(self, before: float, after: float) -> bool:
        """Whether two values of a metric differ by no more than noise."""
        return abs(after - before) <= self.relative * max(abs(before), abs(after))

    def _spread_over_steps(self, name: str) -> float:
        values = ([getattr(step, name) for step in steps] for steps in self.steps)
        return max((_sample_deviation([us for us in of_side if us is not None]) for of_side in values), default=0.0)


def _length_with_part(us: float, part: float) -> float:
    """How long a time is of which this part is added to what there was; infinite where all of it would be."""
    return us / (1.0 - part) if part < 1.0 else math.inf


def _step_splits(diagnosis: Diagnosis) -> tuple[StepSplit, ...]:
    return diagnosis.account.steps if diagnosis.account is not None else ()


def _without_cut_steps(before: _Steps, after: _Steps) -> tuple[_Steps, _Steps]:
    """The steps of both without the last one, where that is cut short in both and as many are left as tell a spread.

    A capture ends with the last task of its last step, and lacks the pause before a next one. Of as many steps that
    takes the same part from both means: it is no noise.
    """
    if len(before) == len(after) and all(_ends_short(steps) for steps in (before, after)):
        return before[:-1], after[:-1]
    return before, after


def _ends_short(steps: _Steps) -> bool:
    """Whether the last step is shorter than all before it, of which there are three or more."""
    return len(steps) > _TELL_USUAL and steps[-1].step_us < min(step.step_us for step in steps[:-1])


def _sample_deviation(values: Sequence[float]) -> float:
    """The standard deviation of a sample; 0 with fewer than two values."""
    if len(values) < 2:  # noqa: PLR2004
        return 0.0
    mean = math.fsum(values) / len(values)
    return math.sqrt(math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1))


def us_of_entry(entry: Spent | None) -> float:
    """The time of an entry; nothing was spent on what has none."""
    return 0.0 if entry is None else entry.us
