# SPDX-License-Identifier: Apache-2.0
"""What a rule promises of each of its groups, and that it is never more than the step."""

from __future__ import annotations

import numpy as np

from advisor.expr.compile import Compiled
from advisor.expr.frame import Frame, repeated
from advisor.facts.table import Array
from advisor.model.run import Run
from advisor.rules.rule import Rule

_PROMISED = "saving.us"
"""What `promised_us` has worked out, among the names of groups; no expression can have such a name."""


def promised_us(rule: Rule, frame: Frame) -> Array:
    """What a rule says that its remedy wins in each group, µs; missing where it does not say it.

    Worked out once for these groups: those that fired, that came near and that others are held against ask for it.
    """
    if _PROMISED not in frame.named:
        frame.named[_PROMISED] = time_of_groups(rule.saving.us if rule.saving is not None else None, frame)
    found: Array = frame.named[_PROMISED]
    return found


def time_of_groups(expression: Compiled | None, frame: Frame) -> Array:
    """Such a time of each group, µs; missing where a rule does not say it."""
    if expression is None:
        return np.full(frame.groups, np.nan)
    return repeated(np.asarray(expression.run(frame), np.float64), frame.groups)


def most_of_group(rule: Rule, run: Run) -> float:
    """The most that can be won in a group of such a rule, µs: the step, and of a single step no more than of all."""
    if run.step_us <= 0:
        return float(np.finfo(np.float64).max)
    return run.step_us * (max(run.step_count, 1) if "step" in rule.for_each else 1)


def within_step(us: Array, rule: Rule, run: Run) -> list[float]:
    """Times of groups, µs: never negative, never more than the step where that is known; 0 where nobody knows."""
    most = most_of_group(rule, run)
    return [round(one, 3) for one in np.clip(np.nan_to_num(us, nan=0.0, posinf=most), 0.0, most).tolist()]
