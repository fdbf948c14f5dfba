# SPDX-License-Identifier: Apache-2.0
"""Where the events of findings lie: since the start of their step, and since their rank's timeline begins."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap, RecordedSpan
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table
from advisor.model.findings import Finding, Occurrence

Starts = Mapping[tuple[int | None, ...], int]
"""By rank, or by rank and step: when it begins, ns."""


def place_occurrences(
    findings: Iterable[Finding],
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None,
    spans: Table[RecordedSpan] | None,
) -> tuple[Finding, ...]:
    """The findings, their events with how long after the start of the step and of the timeline they began.

    A step begins when the host begins it; where that was not recorded, with its first kernel or collective.
    """
    marks = _starts_by_key(windows, "rank", "step")
    steps = {**_starts_by_key(split, "rank", "step"), **marks}
    begins = _starts_by_key(spans, "rank")
    return tuple(
        finding.model_copy(
            update={"occurrences": tuple(_place_occurrence(one, steps, marks, begins) for one in finding.occurrences)}
        )
        if finding.occurrences
        else finding
        for finding in findings
    )


def without_steps(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """The findings of a capture in which no step was marked: whatever number its files give it, there is none."""
    return tuple(
        finding.model_copy(
            update={
                "seen": tuple(dict.fromkeys(place.model_copy(update={"step": None}) for place in finding.seen)),
                "occurrences": tuple(one.model_copy(update={"step": None}) for one in finding.occurrences),
            }
        )
        for finding in findings
    )


def _place_occurrence(one: Occurrence, steps: Starts, marks: Starts, begins: Starts) -> Occurrence:
    within = steps.get((one.rank, one.step)) if one.step is not None else None
    return one.model_copy(
        update={
            "since_step_us": _us_since(one.start_ns, within),
            "since_mark": within is not None and (one.rank, one.step) in marks,
            "since_start_us": _us_since(one.start_ns, begins.get((one.rank,))),
        }
    )


def _us_since(moment: int, start: int | None) -> float | None:
    return None if start is None else (moment - start) / 1e3


def _starts_by_key(table: Table[StepWindow] | Table[Overlap] | Table[RecordedSpan] | None, *keys: str) -> Starts:
    """When each begins; of several rows the earliest counts."""
    if table is None:
        return {}
    start: Array = table["start_ns"]
    there = start != MISSING
    cells = zip(*(table[key][there].tolist() for key in keys), strict=True)
    found: dict[tuple[int | None, ...], int] = {}
    for key, moment in zip(cells, start[there].tolist(), strict=True):
        found[key] = min(moment, found.get(key, moment))
    return found
