# SPDX-License-Identifier: Apache-2.0
"""One problem seen on many ranks and steps becomes one finding with all its places."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

from msgspec import Struct

from advisor.engine.hit import Elsewhere, Hit, RuleResult, worst_first
from advisor.model.findings import WORTH_SHARE, Finding, Saving, Severity, fingerprint
from advisor.model.run import Parallel
from advisor.rules.bind import Rule

_ALIKE = 0.1
"""Two savings that differ by less than this part are not told apart in words."""
Slack = Mapping[int, float]
"""By rank: how much longer it waits for other ranks in a step than the one that waits least, µs."""
StageWorth = Mapping[int, float]
"""By pipeline stage: how much sooner a step ends if no other one waits for it, µs; missing where that is not known."""


def merge(result: RuleResult, slack: Slack | None = None, stage_worth: StageWorth | None = None) -> tuple[Finding, ...]:
    """One finding per rule and subject, in order of first appearance. See `rank` for the order of a report."""
    return tuple(finding for finding, _ in with_worst(result, slack, stage_worth))


def with_worst(
    result: RuleResult, slack: Slack | None = None, stage_worth: StageWorth | None = None
) -> tuple[tuple[Finding, Hit], ...]:
    """Each finding with its worst hit."""
    groups: dict[object, list[Hit]] = {}
    for hit in result.hits:
        groups.setdefault(hit.name, []).append(hit)
    others: dict[object, list[Elsewhere]] = {}
    for one in result.elsewhere:
        others.setdefault(one.name, []).append(one)
    return tuple(
        _finding_of_hits(sorted(group, key=worst_first), others.get(name, []), slack or {}, stage_worth or {})
        for name, group in groups.items()
    )


def _finding_of_hits(
    hits: list[Hit], elsewhere: list[Elsewhere], slack: Slack, stage_worth: StageWorth
) -> tuple[Finding, Hit]:
    worst = hits[0]
    joined = _within_stage(_join_savings(hits, elsewhere, slack), hits, stage_worth)
    nothing = joined.leaves_nothing or all(hit.wins_nothing for hit in hits)
    finding = Finding(
        rule=worst.rule.id,
        fingerprint=fingerprint(worst.rule.id, worst.subject),
        severity=_severity_of_joined(worst, joined),
        confidence=worst.confidence,
        saving=joined.saving.model_copy(update={"nothing": True}) if nothing else joined.saving,
        at_most=worst.rule.saving is not None and worst.rule.saving.at_most,
        alone=joined.alone,
        imposed=_imposed_of_hits(hits),
        restated=_restated_of_hits(hits),
        subject=worst.subject,
        seen=tuple(dict.fromkeys(hit.place for hit in hits)),
        step_us=worst.step_us,
        evidence=worst.evidence,
        excerpt=worst.excerpt,
        occurrences=worst.occurrences,
        fix=worst.fix,
    )
    return finding, worst


class _Joined(Struct, frozen=True):
    """The savings of many places as one."""

    saving: Saving
    of_worst_rank: Saving
    """What the rank wins by itself that wins most; of rules that do not bound it by other ranks, the same."""
    alone: Saving | None = None
    """That, where it is known that the step wins less because another rank is then the last."""

    @property
    def leaves_nothing(self) -> bool:
        """Whether it is known that the step wins none of it."""
        return self.alone is not None and self.saving.us <= 0


def _join_savings(hits: list[Hit], elsewhere: list[Elsewhere], slack: Slack) -> _Joined:
    """Steps of a rank are averaged, then ranks joined as the rule says.

    A step or rank of the run that is not among the hits saves nothing there; where the rank that saves least decides,
    one that only just keeps the rule quiet saves what the same remedy wins there.
    """
    run, rule = hits[0].run, hits[0].rule
    us = _by_rank(_saving_by_place(hits), rule)
    across = rule.saving.across if rule.saving is not None else "worst"
    if across == "worst_or_critical":
        # what holds up all of them does so at other moments on each, and they wait for each other in turn; of an RL job
        # it may be that one works, and the controller lets the others wait for it
        slack = _slack_among_peers(slack, us, run.parallel)
        of_all = us.keys() >= {*run.ranks} and run.job.workload != "RL"
        across = "critical" if slack and not of_all else "worst"
    most = saving_with_share(max(us.values()), run.step_us)
    bounded = None not in us and (across == "least" or (across == "critical" and bool(slack)))
    if bounded:
        everywhere = _by_rank(_saving_by_place([*hits, *elsewhere]), rule)
        if across == "critical":
            last_us = _of_last(everywhere, slack)
            saving = saving_with_share(min(last_us or 0.0, most.us), run.step_us)
            return _Joined(saving, most, most if last_us is not None and _is_clearly_less(saving, most) else None)
        us = {rank: one for rank, one in everywhere.items() if math.isfinite(one)}
    every = None if None in us else len({*run.ranks, *us})
    saving = saving_with_share(_join_across_ranks(across, list(us.values()), every), run.step_us)
    return _Joined(saving, most if bounded else saving)


def _within_stage(joined: _Joined, hits: list[Hit], stage_worth: StageWorth) -> _Joined:
    """No more than is left until another pipeline stage sets the pace, of what holds up ranks of a single one."""
    run, rule = hits[0].run, hits[0].rule
    stages = {None if hit.rank is None else run.parallel.stage_of(hit.rank) for hit in hits}
    bounds = [stage_worth.get(stage, math.inf) for stage in stages if stage is not None]
    bounded = rule.saving is not None and rule.saving.across == "worst_or_critical" and len(stages) == 1
    if not bounded or not bounds or joined.saving.us <= bounds[0]:
        return joined
    saving, most = saving_with_share(bounds[0], run.step_us), joined.alone or joined.saving
    return _Joined(saving, joined.of_worst_rank, most if _is_clearly_less(saving, most) else None)


def _severity_of_joined(worst: Hit, joined: _Joined) -> Severity:
    """That of the worst place; no more than low where the other ranks leave too little of what that rank would win.

    Of symptoms the time counts that they say again, not what is won.
    """
    left_little = joined.saving.share < WORTH_SHARE <= joined.of_worst_rank.share
    return min(worst.severity, Severity.low) if left_little and worst.rule.symptom is None else worst.severity


def _slack_among_peers(slack: Slack, us: Mapping[int | None, float], parallel: Parallel) -> Slack:
    """How long the ranks of the pipeline stages in which something was seen wait beyond the one that waits least in
    their stage: stages wait for each other in turn, so that of one says nothing of when another one is late.

    All ranks, where whole stages have it.
    """
    seen = {parallel.stage_of(rank) for rank in us if rank is not None}
    peers = {rank: waited for rank, waited in slack.items() if parallel.stage_of(rank) in seen}
    if us.keys() >= peers.keys():
        return slack
    least: dict[int | None, float] = {}
    for rank, waited in peers.items():
        stage = parallel.stage_of(rank)
        if math.isfinite(waited):
            least[stage] = min(waited, least.get(stage, waited))
    return {rank: waited - least.get(parallel.stage_of(rank), 0.0) for rank, waited in peers.items()}


def _imposed_of_hits(hits: list[Hit]) -> Saving | None:
    """What others lose by it now, of the rank by which they lose most; None where the rule says nothing of that."""
    run, rule = hits[0].run, hits[0].rule
    if rule.saving is None or rule.saving.imposes is None:
        return None
    us = _by_rank([(hit, hit.imposed_us) for hit in hits], rule)
    return saving_with_share(max(us.values()), run.step_us)


def _restated_of_hits(hits: list[Hit]) -> Saving | None:
    """The time a symptom says again; None of a cause.

    Where all ranks show it, the mean over them, as in the split of the step: what causes save is saved of that step.
    Where some do not, that of the rank which shows it most, as one rank holds up all.
    """
    run, rule = hits[0].run, hits[0].rule
    if rule.symptom is None:
        return None
    us = _by_rank([(hit, hit.restated_us) for hit in hits], rule)
    on_all = None not in us and us.keys() >= run.captured
    return saving_with_share(sum(us.values()) / len(us) if on_all else max(us.values()), run.step_us)


def _saving_by_place(places: Iterable[Hit | Elsewhere]) -> list[tuple[Hit | Elsewhere, float]]:
    return [(place, place.saving_us) for place in places]


def _by_rank(places: Iterable[tuple[Hit | Elsewhere, float]], rule: Rule) -> dict[int | None, float]:
    """The mean over the recorded steps of each rank of the times of these places, in order of rank."""
    ranks: dict[int | None, dict[int | None, float]] = {}
    recorded: dict[int | None, int] = {}
    for place, us in places:
        steps = ranks.setdefault(place.rank, {})
        steps[place.step] = max(us, steps.get(place.step, us))
        recorded[place.rank] = place.step_count if "step" in rule.for_each else 1
    ordered = sorted(ranks.items(), key=lambda entry: -1 if entry[0] is None else entry[0])
    return {rank: sum(steps.values()) / max(len(steps), recorded[rank]) for rank, steps in ordered}


def _is_clearly_less(saving: Saving, most: Saving) -> bool:
    return saving.us < (1 - _ALIKE) * most.us


def _of_last(us: Mapping[int | None, float], slack: Slack) -> float | None:
    """How much sooner that rank ends which is then the last: each ends sooner by what it saves, and by what it waited.

    Ranks of which one of both is not known are left out; None where none is left.
    """
    sooner = [waited + us.get(rank, 0.0) for rank, waited in slack.items()]
    return min((one for one in sooner if math.isfinite(one)), default=None)


def _join_across_ranks(how: str, us: list[float], ranks: int | None) -> float:
    """`ranks` is how many ranks there are; None when the hits are not told apart by rank."""
    if how == "worst" or ranks is None:
        return max(us)
    if how == "least":
        return min(us) if len(us) == ranks else 0.0
    return sum(us) / ranks


def saving_with_share(us: float, step_us: float) -> Saving:
    """A saving, with its part of the step."""
    us = round(max(us, 0.0), 3)
    if step_us <= 0:
        return Saving(us=us)
    us = min(us, step_us)
    return Saving(us=us, share=float(f"{min(us / step_us, 1.0):.9g}"))
