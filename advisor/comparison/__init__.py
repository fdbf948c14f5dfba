# SPDX-License-Identifier: Apache-2.0
"""Compares two diagnoses: what is new, worse, the same, better or gone, and what moved the step.

A difference counts as a change only when it is larger than what two captures of one and the same program show: the
spread over the steps, a part of the step, and a part of the value itself. Where one of the two holds a single step,
its spread is unknown and a wide part of the value is allowed instead. Windows of an engine are compared by as many of
its steps.
"""

from __future__ import annotations

from advisor.comparison.changes import finding_changes
from advisor.comparison.conditions import Conditions, conditions_between
from advisor.comparison.engine_steps import with_as_many_steps
from advisor.comparison.noise import Noise
from advisor.comparison.times import moved_entries, step_shifts
from advisor.model.comparison import Comparison, Tolerance
from advisor.model.findings import Confidence, Diagnosis

DEFAULT = Tolerance()

__all__ = ["DEFAULT", "compare"]


def compare(before: Diagnosis, after: Diagnosis, tolerance: Tolerance = DEFAULT) -> Comparison:
    """What changed from one diagnosis to the other. Neither needs its capture any more."""
    told = after
    after, said = with_as_many_steps(before, after)
    noise = Noise(before, after, tolerance)
    found = conditions_between(before, after, singles=noise.singles, wide=noise.is_wide)
    return Comparison(
        before=before,
        after=told,
        tolerance=tolerance,
        confidence=_comparison_confidence(noise, found),
        shifts=tuple(step_shifts(before, after, noise, found)),
        changes=finding_changes(before, after, noise, found),
        moved=() if found.unrelated is not None else moved_entries(before.account, after.account, noise),
        barriers=found.barriers,
        notes=found.notes if said is None else (said, *found.notes),
    )


def _comparison_confidence(noise: Noise, found: Conditions) -> Confidence:
    if noise.single or found.hardly_compare:
        return Confidence.low
    return Confidence.medium if found.differ or noise.is_wide else Confidence.high
