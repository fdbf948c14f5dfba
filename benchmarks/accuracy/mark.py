# SPDX-License-Identifier: Apache-2.0
"""Marks one diagnosis against the truth of its capture."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.accuracy.plan import Case
from corpus.answers import ANSWERS, ANSWERS_ON_THE_RANK, HARMLESS, PARTED, TIMELESS

WORTH = 0.05
"""From this share of the step on, an expert calls a cause a problem: it is wanted."""
HARMLESS_SHARE = 0.02
"""Below this share nobody would act: a finding of medium severity or above is wrong. In between either is right."""
TOLERATED = 0.25
"""How far an estimated saving may be from the truth."""
Answers = Mapping[str, Collection[str]]
"""Per fault the names of which any names it."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One injected cause: what fixing it wins, as a share of the step."""

    name: str
    place: dict[str, Any]
    us: float
    share: float

    @property
    def wanted(self) -> bool:
        """Whether a diagnosis has to name it."""
        return self.name in TIMELESS or (self.name not in HARMLESS and self.share >= WORTH)

    @property
    def allowed(self) -> bool:
        """Whether a diagnosis may name it."""
        return self.wanted or (self.name not in HARMLESS and self.share >= HARMLESS_SHARE)


@dataclass(frozen=True, slots=True)
class Claim:
    """One finding that counts: of medium severity or above, and not called a symptom of another."""

    rule: str
    us: float
    ranks: frozenset[int]
    stages: frozenset[int]
    subject: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Found:
    """What became of one wanted cause."""

    cause: Cause
    rule: str
    """The rule that named it; empty when none did."""
    position: int
    """Its place among the claims, from 1."""
    placed: bool | None
    """Whether the right rank, stage or link was named; None where the fault has no place."""
    error: float | None
    """Estimated saving over truth, minus 1; None where the fault costs no time or the capture has no steps."""


@dataclass(frozen=True, slots=True)
class Mark:
    """One diagnosis, marked."""

    case: Case
    causes: tuple[Cause, ...]
    claims: tuple[Claim, ...]
    found: tuple[Found, ...]
    wrong: tuple[str, ...]
    """Rules that were claimed and name no cause that is there."""
    key: Answers = field(default_factory=lambda: ANSWERS, repr=False)
    reported: bool = True
    """Whether there was a report at all: a tool that ends without one claims nothing."""
    making_s: float = 0.0
    """How long the capture took to make."""

    @property
    def leads(self) -> bool | None:
        """Whether the first claim names the strongest cause; None where nothing is wanted."""
        wanted = [cause for cause in self.causes if cause.wanted]
        if not wanted:
            return None
        strongest = max(wanted, key=lambda cause: (cause.name in TIMELESS, cause.us))
        return bool(self.claims) and _names(self.claims[0], strongest, self.key)


def mark(
    case: Case,
    causes: Sequence[Cause],
    claims: Sequence[Claim],
    answers: Answers | None = None,
    habits: Sequence[Cause] = (),
) -> Mark:
    """Marks the claims of one diagnosis. A claim is right when it names a cause that is worth naming.

    `habits` are what the job does whatever was injected: it is right to name them where they cost as much, and none has
    to be found.
    """
    key = ANSWERS if answers is None else answers
    allowed = [cause for cause in (*causes, *habits) if cause.allowed]
    return Mark(
        case,
        tuple(causes),
        tuple(claims),
        tuple(_found(cause, claims, key, timed=case.timed) for cause in causes if cause.wanted),
        tuple(claim.rule for claim in claims if not any(_names(claim, cause, key) for cause in allowed)),
        key,
    )


def _names(claim: Claim, cause: Cause, answers: Answers) -> bool:
    """Whether a claim names a cause."""
    on_the_rank = ANSWERS_ON_THE_RANK.get(cause.name, ()) if answers is ANSWERS else ()
    there = claim.ranks == {cause.place.get("rank")}
    return claim.rule in answers.get(cause.name, ()) or (there and claim.rule in on_the_rank)


def _found(cause: Cause, claims: Sequence[Claim], answers: Answers, *, timed: bool) -> Found:
    named = [(place, claim) for place, claim in enumerate(claims, 1) if _names(claim, cause, answers)]
    if not named:
        return Found(cause, "", 0, None, None)
    position, first = named[0]
    said = (sum if cause.name in PARTED else max)(claim.us for _, claim in named)
    error = None if cause.name in TIMELESS or not timed else said / cause.us - 1
    return Found(cause, first.rule, position, _placed(cause, [claim for _, claim in named]), error)


def _placed(cause: Cause, claims: Iterable[Claim]) -> bool | None:
    place = cause.place
    if "rank" in place and cause.name not in TIMELESS:
        return any(claim.ranks == {place["rank"]} for claim in claims)
    if "stage" in place:
        return any(place["stage"] in claim.stages for claim in claims)
    if "op_type" in place:
        return any(claim.subject.get("op_type", place["op_type"]) == place["op_type"] for claim in claims)
    if "link" in place:
        ends = set(place["link"])
        return any(
            ends in ({claim.subject.get("source"), claim.subject.get("target")}, claim.ranks) for claim in claims
        )
    return None
