# SPDX-License-Identifier: Apache-2.0
"""How near a rule came where it did not fire: what a comparison holds a finding against that came or went."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import IntEnum
from functools import lru_cache, partial

import numpy as np

from advisor.expr.frame import Frame, repeated
from advisor.expr.parse import parse
from advisor.facts.table import Array, Texts
from advisor.model.findings import Evidence, Measure, Saving, Scalar, fingerprint
from advisor.rules.bind import Rule

Subject = tuple[Scalar, ...]
"""The values of the keys that name it."""
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
        found = repeated(np.asarray(value, np.float64), frame.groups)
        apart = np.abs(np.log(np.where(found > 0, found / limit, np.nan)))
        return np.where(np.isnan(apart), np.inf, apart)
    return np.full(frame.groups, np.inf)


def first_of_quiet_subjects(subjects: Iterable[Subject], fired: Collection[Subject]) -> list[int]:
    """The positions of the first of each subject that did not fire anywhere, of no more subjects than are shown."""
    found: dict[Subject, int] = {}
    for place, subject in enumerate(subjects):
        if subject not in fired and len(found) < MOST_SUBJECTS:
            found.setdefault(subject, place)
    return list(found.values())


def measure_of_subject(
    rule: Rule, subject: Mapping[str, Scalar], saving: Saving, evidence: Sequence[Evidence]
) -> Measure:
    """What was measured of a subject that did not fire anywhere."""
    held = [(_how_met(rule, item), item) for item in map(partial(_beside_its_param, rule), evidence)]
    held.sort(key=lambda entry: entry[0])
    missed = next((item.name for met, item in held if met in (_Met.no, _Met.unlikely)), "")
    return Measure(
        subject=dict(subject),
        fingerprint=fingerprint(rule.id, subject),
        saving=saving,
        at_most=rule.saving is not None and rule.saving.at_most,
        evidence=tuple(item for _, item in held),
        short_of=missed,
    )


_Holds = Callable[[float, float], bool]
_SIGNS: Mapping[type[ast.cmpop], tuple[_Holds, _Holds]] = {
    ast.Gt: (operator.gt, operator.lt),
    ast.GtE: (operator.ge, operator.le),
    ast.Lt: (operator.lt, operator.gt),
    ast.LtE: (operator.le, operator.ge),
}
"""What a sign asks of its left side, and the same seen from its right side."""


@lru_cache(maxsize=1024)
def _comparisons_with_params(source: str) -> Mapping[tuple[str, str], _Holds]:
    """What a condition asks of a value, by its name and that of the param it stands beside."""
    found: dict[tuple[str, str], _Holds] = {}
    for node in ast.walk(parse(source)):
        match node:
            case ast.Compare(left=ast.Name(id=left), ops=[sign], comparators=[ast.Name(id=right)]) if (
                type(sign) in _SIGNS
            ):
                found[left, right], found[right, left] = _SIGNS[type(sign)]
    return found


class _Met(IntEnum):
    """Whether a value met its threshold; what kept a rule quiet stands first."""

    no = 0
    unlikely = 1
    """How the condition asks for it is not told, and it is below: most rules ask for more."""
    unknown = 2
    yes = 3


def _beside_its_param(rule: Rule, item: Evidence) -> Evidence:
    """The same, beside the threshold that the condition holds it against, where the rule shows none."""
    if item.threshold is not None:
        return item
    param = next((right for left, right in _asked(rule) if left == item.name and right in rule.params), "")
    return item.model_copy(update={"param": param, "threshold": rule.params[param].value}) if param else item


def _how_met(rule: Rule, item: Evidence) -> _Met:
    if item.threshold is None or not isinstance(item.value, int | float):
        return _Met.unknown
    holds = _asked(rule).get((item.name, item.param))
    if holds is None:
        return _Met.unlikely if item.value < item.threshold else _Met.unknown
    return _Met.yes if holds(item.value, item.threshold) else _Met.no


def _asked(rule: Rule) -> Mapping[tuple[str, str], _Holds]:
    return _comparisons_with_params(rule.when.source)
