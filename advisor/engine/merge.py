# SPDX-License-Identifier: Apache-2.0
"""One problem seen on many ranks and steps becomes one finding with all its places."""

from __future__ import annotations

from collections.abc import Iterable

from advisor.engine.hit import Hit, worst_first
from advisor.findings import Finding, Saving, fingerprint


def merge(hits: Iterable[Hit]) -> tuple[Finding, ...]:
    """One finding per rule and subject, in order of first appearance. See `rank` for the order of a report."""
    return tuple(finding for finding, _ in with_worst(hits))


def with_worst(hits: Iterable[Hit]) -> tuple[tuple[Finding, Hit], ...]:
    """Each finding with its worst hit."""
    groups: dict[object, list[Hit]] = {}
    for hit in hits:
        groups.setdefault(hit.name, []).append(hit)
    return tuple(_finding(sorted(group, key=worst_first)) for group in groups.values())


def _finding(hits: list[Hit]) -> tuple[Finding, Hit]:
    worst = hits[0]
    finding = Finding(
        rule=worst.rule.id,
        fingerprint=fingerprint(worst.rule.id, worst.subject),
        severity=worst.severity,
        confidence=worst.confidence,
        saving=_saving(hits),
        subject=worst.subject,
        seen=tuple(dict.fromkeys(hit.place for hit in hits)),
        evidence=worst.evidence,
        excerpt=worst.excerpt,
    )
    return finding, worst


def _saving(hits: list[Hit]) -> Saving:
    """The savings of many places as one: steps of a rank are averaged, then ranks joined as the rule says.

    A step or rank of the run that is not among the hits saves nothing there.
    """
    run, rule = hits[0].run, hits[0].rule
    ranks: dict[int | None, dict[int | None, float]] = {}
    for hit in hits:
        steps = ranks.setdefault(hit.rank, {})
        steps[hit.step] = max(steps.get(hit.step, 0.0), hit.saving_us)
    recorded = run.step_count if "step" in rule.for_each else 1
    us = [sum(steps.values()) / max(len(steps), recorded) for _, steps in sorted(ranks.items(), key=_by_rank)]
    across = rule.saving.across if rule.saving is not None else "worst"
    return shared(_across(across, us, None if None in ranks else len({*run.ranks, *ranks})), run.step_us)


def _by_rank(entry: tuple[int | None, object]) -> int:
    return -1 if entry[0] is None else entry[0]


def _across(how: str, us: list[float], ranks: int | None) -> float:
    """`ranks` is how many ranks there are; None when the hits are not told apart by rank."""
    if how == "worst" or ranks is None:
        return max(us)
    if how == "mean":
        return sum(us) / ranks
    return min(us) if len(us) == ranks else 0.0


def shared(us: float, step_us: float) -> Saving:
    """A saving, with its part of the step."""
    us = round(max(us, 0.0), 3)
    if step_us <= 0:
        return Saving(us=us)
    us = min(us, step_us)
    return Saving(us=us, share=float(f"{min(us / step_us, 1.0):.9g}"))
