# SPDX-License-Identifier: Apache-2.0
"""Which findings only say where time goes, and under which of their causes each of them is shown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from advisor.model.findings import (
    TOLD_APART,
    Diagnosis,
    Finding,
    Occurrence,
    RuleInfo,
    seen_by_chance,
    unexplained_part,
)
from advisor.model.run import Run

_ALIKE = 1.005
"""Times that differ by less are told with the same three digits."""
OF_RANKS = "ranks/"
"""What one rank costs the others is estimated from their waits: it is what it loses by whatever makes it late."""
_COMES_LAST = "ranks/late-rank"
"""What the others wait for a rank holds what they wait in groups that it holds up by way of others, too."""
_IN_TURN = "-in-turn"
"""What ranks lose in turn holds what each of them loses."""
_HEAVY_STAGE = "pipeline/stage-imbalance"
"""A slow rank makes its stage heavy only where no other rank of it was captured."""
_WAITING = "comm/"
"""What all ranks wait in their collectives they wait for those that are late."""
_OF_WAITS = (_WAITING, _COMES_LAST)
"""How rules begin that say what ranks wait, which may have several reasons at once."""

_HALF = 0.5
_MOSTLY = 2.0
"""What rests on the events of its cause alone is that time and some more; mostly that, up to twice as much."""
_OF_DATA, _OF_HOSTS = "io/", "host/"
"""A host that waits for its data loses that time, whether the wait was measured or the pause that it leaves; so it does
where it waits for a copy, which the device makes meanwhile."""


def symptom_fingerprints(diagnosis: Diagnosis) -> frozenset[str]:
    """Fingerprints of the findings that say where time goes and not why."""
    return frozenset(finding.fingerprint for finding in diagnosis.findings if finding.is_symptom)


def finding_numbers(diagnosis: Diagnosis) -> Mapping[str, str]:
    """By fingerprint what reports number it: `2` is the second finding that stands for itself, `2.1` the first that is
    folded under it."""
    folded = folded_under(diagnosis)
    names = [finding.fingerprint for finding in diagnosis.findings]
    numbers = {name: str(place) for place, name in enumerate((one for one in names if one not in folded), 1)}
    below: Counter[str] = Counter()
    for name in names:
        if name in folded:
            below[folded[name]] += 1
            numbers[name] = f"{numbers[folded[name]]}.{below[folded[name]]}"
    return numbers


def folded_under(diagnosis: Diagnosis) -> Mapping[str, str]:
    """By fingerprint of an explained symptom, or of a finding that wins what its cause wins: the highest such cause.

    Its time is the same time, so it is shown there and not as a finding of its own. What may be chance explains nothing
    that is sure.
    """
    chance = seen_by_chance(diagnosis.findings)
    place = {name: number for number, name in enumerate(diagnosis.by_fingerprint)}
    restating = symptom_fingerprints(diagnosis)
    rules = {rule.id: rule for rule in diagnosis.rules}
    folded: dict[str, str] = {}
    for finding in diagnosis.findings:
        known = [
            name for name in finding.causes if name in place and (name not in chance or finding.fingerprint in chance)
        ]
        causes = sorted(
            (place[name], name)
            for name in known
            if (
                finding.fingerprint in restating
                or _is_included(finding, diagnosis.findings[place[name]], rules)
                or _win_the_same(finding, diagnosis.findings[place[name]], diagnosis.run)
            )
        )
        if not causes and finding.rule.startswith(_OF_WAITS):
            apart = [one for one in known if one not in folded]
            causes = _causes_together(finding, [diagnosis.findings[place[name]] for name in apart], place)
        causes = _on_own_stage(finding, causes, diagnosis)
        if causes:
            folded[finding.fingerprint] = causes[0][1]
    return {name: root for name in folded if (root := _root_of(name, folded, place)) != name}


def _causes_together(finding: Finding, causes: Iterable[Finding], place: Mapping[str, int]) -> list[tuple[int, str]]:
    """The places and names of the causes that together make up what ranks wait, though none of them does alone; else
    none. A rank comes last by what lies on it."""
    seen, won = _ranks_seen(finding), finding.saving.us
    parts = [
        cause
        for cause in causes
        if not cause.is_symptom
        and 0 < cause.brings_about.us <= won * TOLD_APART
        and (finding.rule != _COMES_LAST or _ranks_seen(cause) <= seen)
    ]
    made_up = 0 < won <= sum(part.brings_about.us for part in parts) * TOLD_APART
    return sorted((place[part.fingerprint], part.fingerprint) for part in parts) if made_up else []


def _on_own_stage(finding: Finding, causes: list[tuple[int, str]], diagnosis: Diagnosis) -> list[tuple[int, str]]:
    """The causes without those that lie on other pipeline stages, where what host or device of these ranks lose is
    accounted for by one that does not: a stage that waits for its data is idle for that, however heavy another one is.
    """
    seen = _ranks_seen(finding)
    if None in seen or not finding.rule.startswith(_OF_HOSTS):
        return causes
    own = []
    for place, name in causes:
        of_stages = _ranks_of_stages(diagnosis.findings[place], diagnosis.run)
        if not of_stages or of_stages & seen:
            own.append((place, name))
    most = max((diagnosis.findings[place].brings_about.us for place, _ in own), default=0.0)
    return own if finding.worth.us <= most * TOLD_APART else causes


def partly_explained(diagnosis: Diagnosis) -> frozenset[str]:
    """Fingerprints of explained symptoms of which less than half is what their causes win, where all say what they do.

    Causes that are symptoms themselves only say the same time again.
    """
    by_name = {name: finding for name, finding in diagnosis.by_fingerprint.items() if not finding.is_symptom}
    found = set()
    for symptom in diagnosis.findings:
        causes = [by_name[name] for name in symptom.causes if name in by_name] if symptom.is_symptom else []
        told = bool(causes) and all(cause.worth.us > 0 for cause in causes)
        if told and unexplained_part(symptom, causes).us > symptom.worth.us / 2:
            found.add(symptom.fingerprint)
    return frozenset(found)


def caused_in_part(diagnosis: Diagnosis) -> frozenset[str]:
    """Fingerprints of findings that win more than twice of what all of their causes win together, where these say what
    they do; symptoms as `partly_explained` says.

    Nobody shall look for the reason of the whole where the least of it lies.
    """
    by_name = diagnosis.by_fingerprint
    found = set(partly_explained(diagnosis))
    for finding in diagnosis.findings:
        won = [by_name[name].brings_about.us for name in finding.causes if name in by_name]
        if not finding.is_symptom and won and min(won) > 0 and sum(won) < finding.saving.us / 2:
            found.add(finding.fingerprint)
    return frozenset(found)


def _root_of(name: str, folded: Mapping[str, str], place: Mapping[str, int]) -> str:
    """The cause that is folded under none; the highest of those that are said to explain each other."""
    way = [name]
    while (cause := folded.get(way[-1])) is not None:
        if cause in way:
            return min(way[way.index(cause) :], key=place.__getitem__)
        way.append(cause)
    return way[-1]


def _is_included(finding: Finding, cause: Finding, rules: Mapping[str, RuleInfo]) -> bool:
    """Whether what a finding loses is part of what its cause loses, as the rule of that says, on the same ranks."""
    own, of_cause = rules.get(finding.rule), rules.get(cause.rule)
    names = {finding.rule, *(own.formerly if own else ())}
    seen, seen_on = _ranks_seen(finding), _ranks_seen(cause)
    return (
        of_cause is not None
        and not names.isdisjoint(of_cause.includes)
        and (None in seen_on or seen <= seen_on)
        and finding.saving.us <= cause.brings_about.us * TOLD_APART
    )


def _win_the_same(finding: Finding, cause: Finding, run: Run) -> bool:
    """Whether what both could win is the same time, as far as estimates tell.

    What is a mean over all ranks, as their waits are, has the late one's own in it, which is none: of two ranks it is
    half of what that one costs; and they wait in collectives and inside of kernels, each of which is a part. What some
    of the ranks have makes these late. That ranks are slow on which the cause lies is the same time or a part of it; so
    is that one of them is slower than the others by what it has more of the cause than they, and what these wait for
    it. A host waits for data before each step, and what it leaves are the pauses between two of them. What rests on the
    events of its cause alone is part of that time.
    """
    won, wins = finding.saving.us, cause.brings_about.us
    of_ranks = [one.rule.startswith(OF_RANKS) for one in (finding, cause)]
    waits_for_data = {_OF_DATA, _OF_HOSTS} == {f"{one.rule.partition('/')[0]}/" for one in (cause, finding)}
    within = _part_within(finding, cause)
    apart = TOLD_APART if any(of_ranks) or waits_for_data or within > _HALF else _ALIKE
    if waits_for_data and cause.rule.startswith(_OF_DATA):
        won = max(won, min(won * _steps_per_border(run), wins))
    seen = _ranks_seen(finding)
    seen_on = _ranks_seen(cause)
    if finding.rule == _COMES_LAST and of_ranks[1] and finding.seen and finding.seen[0].rank in seen_on - {None}:
        return 0 < won <= wins * _MOSTLY
    if cause.rule.endswith(_IN_TURN) and None not in seen:
        return 0 < won <= wins * apart
    if of_ranks[0] and None not in seen and seen == seen_on:
        return 0 < won <= wins * apart
    if of_ranks[0] and not of_ranks[1] and 0 < won <= cause.extra_us_on(seen) * apart:
        return True
    if of_ranks[1] and finding.rule == _HEAVY_STAGE and not _ranks_of_stages(finding, run) <= seen_on:
        return False
    of_all = all(place.rank is None for place in finding.seen)
    of_some = finding.rule.startswith(_WAITING) and None not in seen_on and seen_on < {*run.ranks}
    if of_all and of_ranks[1] and finding.rule.startswith(_WAITING):
        return 0 < won <= wins * TOLD_APART
    uneven = of_all and seen_on == {*run.ranks} and finding.rule.startswith(_WAITING)
    if uneven and 0 < won <= cause.missing_us_on(run.ranks) * TOLD_APART:
        return True
    if within >= 1:
        return 0 < won <= wins * _MOSTLY
    is_mean = of_all and (of_ranks[1] or of_some)
    apart = TOLD_APART if of_all and of_some else apart
    return won > 0 and wins <= won * apart * (2 if is_mean else 1) and won <= wins * apart


def _steps_per_border(run: Run) -> float:
    """How many steps there are to each border between two of them: a wait before the first one is in no pause."""
    return len(run.steps) / (len(run.steps) - 1) if len(run.steps) > 1 else 1.0


def _ranks_of_stages(finding: Finding, run: Run) -> set[int]:
    """The captured ranks of the pipeline stages that a finding is about."""
    stages = {place.stage for place in finding.seen if place.rank is None}
    return {rank for stage, ranks in enumerate(run.parallel.stages) if stage in stages for rank in ranks} & {*run.ranks}


def _ranks_seen(finding: Finding) -> frozenset[int | None]:
    return frozenset(place.rank for place in finding.seen)


def _part_within(finding: Finding, cause: Finding) -> float:
    """Of the time of the events behind a finding the part that lies within events behind its cause on that rank, as a
    pause of the device lies within the call that the host waits in."""
    spans = [(one.rank, one.start_ns, one.start_ns + 1e3 * one.duration_us) for one in cause.occurrences]
    own = [(one.duration_us, any(_lies_in(one, span) for span in spans)) for one in finding.occurrences]
    whole = sum(us for us, _ in own)
    return sum(us for us, inside in own if inside) / whole if whole > 0 else 0.0


def _lies_in(event: Occurrence, span: tuple[int | None, int, float]) -> bool:
    """Whether the middle of an event lies in a span of its rank, from one moment to another."""
    rank, start_ns, end_ns = span
    return event.rank == rank and start_ns <= event.start_ns + 500 * event.duration_us <= end_ns
