# SPDX-License-Identifier: Apache-2.0
"""What a remedy that only makes communication shorter can win: no more than the step would if it took no time.

What a rule measures, such as the exposed time of a kind of collective, is lost only as far as the host has launched
what comes after: beyond that the host sets the pace, and the same time is spent idle instead.
"""

from __future__ import annotations

import numpy as np

from advisor.engine.profile_like import ProfileLike
from advisor.engine.rank_means import means_by_rank
from advisor.engine.savings import promised_us
from advisor.expr.frame import Frame
from advisor.facts.derived import RankSplit
from advisor.facts.table import Array
from advisor.messages.errors import FactMissing
from advisor.model.findings import Severity
from advisor.rules.rule import GAIN_WITHOUT_COMM, Rule

WORTH = 0.05
"""Share of the step that is worth acting on first; as in `comm/exposed-communication`, which says where it is from."""


def bound_by_free_communication(rule: Rule, frame: Frame, profile: ProfileLike) -> None:
    """Names per group what the step would win if communication took no time, µs, where the rule promises more.

    Of the rank of the group, else the mean over ranks. Missing where nothing limits the saving: where the rule does not
    ask for it, where it promises less, and where launches were not recorded.
    """
    if not rule.frees_communication:
        return
    promised = promised_us(rule, frame) / _steps_of_saving(rule, frame)
    gain = _gains_of_groups(frame, profile) if (promised > 0).any() else np.nan
    frame.named[GAIN_WITHOUT_COMM] = np.where(gain < promised, gain, np.nan)


def saving_of_groups(rule: Rule, frame: Frame) -> Array:
    """What the remedy would win in each group, µs: what the rule promises, and no more than communication that takes no
    time would win (see `bound_by_free_communication`); missing where the rule does not say it."""
    promised = promised_us(rule, frame)
    if not rule.frees_communication:
        return promised
    limited: Array = np.fmin(promised, frame.named[GAIN_WITHOUT_COMM] * _steps_of_saving(rule, frame))
    return limited


def soften_severity(
    rule: Rule, frame: Frame, groups: Array, severity: list[Severity], step_us: float
) -> list[Severity]:
    """The severity of findings in these groups: low where so limited a saving is too little to act on first.

    A severity that is always the same, such as one that a user set, stays.
    """
    if not rule.frees_communication or len(rule.severity) == 1:
        return severity
    little = np.asarray(frame.named[GAIN_WITHOUT_COMM])[groups] <= WORTH * step_us  # not so where it is missing
    return [min(one, Severity.low) if small else one for one, small in zip(severity, little.tolist(), strict=True)]


def _steps_of_saving(rule: Rule, frame: Frame) -> Array | float:
    """Over how many steps a saving of the rule is averaged later: what a single step loses counts for all of them."""
    return np.maximum(frame.named["step_count"], 1) if "step" in rule.for_each else 1.0


def _gains_of_groups(frame: Frame, profile: ProfileLike) -> Array | float:
    """Per group, µs per step; missing where nothing tells it."""
    try:
        split = profile.table(RankSplit)
    except FactMissing:
        return np.nan
    gains = split.once(means_by_rank, GAIN_WITHOUT_COMM)
    rank = frame.named.get("rank")
    if isinstance(rank, np.ndarray):
        return gains.of_groups(rank, gains.means, np.nan)
    return float(gains.means.mean()) if len(gains.means) else np.nan
