# SPDX-License-Identifier: Apache-2.0
"""How near a rule came where it did not fire: what a comparison holds a finding against that came or went."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from advisor.engine.hit import Hit
from advisor.engine.merge import saving_with_share
from advisor.expr.frame import Frame
from advisor.facts.table import Array, Texts
from advisor.model.findings import Measure, fingerprint
from advisor.rules.bind import Rule

MOST_SUBJECTS = 5
_MOST_GROUPS = 64


def nearest_groups(rule: Rule, frame: Frame, quiet: Array) -> Array:
    """Of these groups those that came nearest to firing, nearest first."""
    apart = _distance_to_threshold(rule, frame)[quiet]
    order: Array = quiet[np.lexsort((quiet, apart))]
    return order[:_MOST_GROUPS]


def _distance_to_threshold(rule: Rule, frame: Frame) -> Array:
    """Per group: how far its measured value is from the threshold, as a logarithm; infinite where that is not known."""
    for item in rule.evidence:
        if not item.threshold:
            continue
        value, limit = frame.named.get(item.name), rule.params[item.threshold].value
        if value is None or isinstance(value, Texts | str) or limit <= 0:
            continue
        found = np.broadcast_to(np.asarray(value, np.float64), frame.groups)
        apart = np.abs(np.log(np.where(found > 0, found / limit, np.nan)))
        return np.where(np.isnan(apart), np.inf, apart)
    return np.full(frame.groups, np.inf)


def measure_quiet_subjects(near: Sequence[Hit], fired: Sequence[Hit]) -> tuple[Measure, ...]:
    """What was measured of each subject that did not fire anywhere, at the place that came nearest."""
    taken = {hit.name for hit in fired}
    found: dict[object, Hit] = {}
    for hit in near:
        if hit.name not in taken and len(found) < MOST_SUBJECTS:
            found.setdefault(hit.name, hit)
    return tuple(_measure_of_hit(hit) for hit in found.values())


def _measure_of_hit(hit: Hit) -> Measure:
    return Measure(
        subject=hit.subject,
        fingerprint=fingerprint(hit.rule.id, hit.subject),
        saving=saving_with_share(hit.saving_us, hit.run.step_us),
        evidence=hit.evidence,
    )
