# SPDX-License-Identifier: Apache-2.0
"""Compares two diagnoses: what is new, worse, the same, better or gone, and what moved the step.

A difference counts as a change only when it is larger than what two captures of one and the same program show: the
spread over the steps, a part of the step, and a part of the value itself. Where one of the two holds a single step,
its spread is unknown and a wide part of the value is allowed instead.
"""

from __future__ import annotations

from advisor.comparison.changes import changes
from advisor.comparison.conditions import Conditions, conditions
from advisor.comparison.noise import Noise
from advisor.comparison.times import moved, shifts
from advisor.model.comparison import Comparison, Tolerance
from advisor.model.findings import Confidence, Diagnosis

DEFAULT = Tolerance()

__all__ = ["DEFAULT", "compare"]


def compare(before: Diagnosis, after: Diagnosis, tolerance: Tolerance = DEFAULT) -> Comparison:
    """What changed from one diagnosis to the other. Neither needs its capture any more."""
    noise = Noise(before, after, tolerance)
    found = conditions(before, after, single=noise.single)
    return Comparison(
        before=before,
        after=after,
        tolerance=tolerance,
        confidence=_confidence(noise, found),
        shifts=tuple(shifts(before, after, noise, found)),
        changes=changes(before, after, noise, found),
        moved=() if found.window else moved(before.account, after.account, noise),
        notes=found.notes,
    )


def _confidence(noise: Noise, found: Conditions) -> Confidence:
    if noise.single or found.window or found.other_program:
        return Confidence.low
    return Confidence.medium if found.differ else Confidence.high
