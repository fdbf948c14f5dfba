# SPDX-License-Identifier: Apache-2.0
"""Whether a finding changed by itself, or only the step that it is a part of.

Most rules hold a share of the step against a threshold, and count as saving what exceeds a tolerated part of the step.
Where something else is fixed the step becomes shorter, and the share and the saving of what takes the same time as
before grow. Where the step becomes longer by idle time, what runs as it did could be made up for sooner, and its saving
grows too. A finding is worse only if its time is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from advisor.comparison.noise import Noise
from advisor.messages.text import Text
from advisor.model.comparison import Metric, Status
from advisor.model.findings import Saving, number_or_none

AROUND = Text(
    en="within noise it takes the time that it took; only the step around it changed",
    zh="其自身耗时的变化在噪声范围内，变化的主要是单步总时长",
)
"""Why a finding whose share or saving moved counts as the same."""
_HALF, _TENTH = 0.5, 0.1
"""What takes twice as long, or half, and that by a tenth of the shorter step, does not take the time that it took,
however much noise there is in the longer one."""
_GREW: tuple[Status, ...] = ("new", "worse")
_SHRANK: tuple[Status, ...] = ("gone", "better")


def only_step_moved(
    status: Status, rule: str, savings: tuple[Saving | None, Saving | None], metrics: Iterable[Metric], noise: Noise
) -> bool:
    """Whether a change of status comes from the length of the step alone.

    So it is where the step moved by at least as much as the saving did, and no value that the rule shows moved along
    with the status beyond noise: of shares the time that they are. At least one such value must be known; where the
    step moved the same way as the status, a time or a share of the step, for counts alone tell nothing then.
    """
    sign = 1 if status in _GREW else -1 if status in _SHRANK else 0
    old, new = noise.lengths
    if not sign or old <= 0 or new <= 0 or new == old:
        return False
    before, after = (0.0 if saving is None else saving.us for saving in savings)
    if abs(after - before) > abs(new - old):
        return False
    told = tuple(metric for metric in metrics if sign * (new - old) < 0 or metric.unit != "count")
    moved = [sign * by > allowed for by, allowed in _metric_moves(told, rule, noise, (old, new))]
    return bool(moved) and not any(moved)


def _metric_moves(
    metrics: Iterable[Metric], rule: str, noise: Noise, steps: tuple[float, float]
) -> Iterator[tuple[float, float]]:
    """By how much each value moved, and what of that is noise: times, shares as times of their step, and counts."""
    for metric in metrics:
        before, after = number_or_none(metric.before), number_or_none(metric.after)
        if before is None or after is None:
            continue
        if metric.unit == "share":
            before, after = before * steps[0], after * steps[1]
        if metric.unit in ("us", "share"):
            clear = max(_HALF * max(abs(before), abs(after)), _TENTH * min(steps))
            yield after - before, min(noise.around(rule), clear)
        elif metric.unit == "count":
            yield after - before, noise.relative * max(abs(before), abs(after))
