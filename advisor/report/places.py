# SPDX-License-Identifier: Apache-2.0
"""Many places as few words: `ranks 0–7, steps 50–54`."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.findings import Place
from advisor.report.words import say

_MOST_RUNS = 8


class JoinedPlaces(Struct, frozen=True):
    """Places that share their stage and their steps, and the most that any of them costs, µs."""

    stage: int | None
    ranks: tuple[int, ...]
    steps: tuple[int, ...]
    saving_us: float

    def say(self, language: Language) -> str:
        """The place in words."""
        parts = [
            *([say("stage", language, items=self.stage)] if self.stage is not None else []),
            *([_say_numbers("rank", self.ranks, language)] if self.ranks else []),
            *([_say_numbers("step", self.steps, language)] if self.steps else []),
        ]
        return say("comma", language).join(parts) or say("whole_run", language)


def join_places(places: Iterable[Place]) -> tuple[JoinedPlaces, ...]:
    """Places joined where stage and steps agree, worst first."""
    steps: dict[tuple[int | None, int | None], set[int]] = {}
    worst: dict[tuple[int | None, int | None], float] = {}
    for place in places:
        key = (place.stage, place.rank)
        steps.setdefault(key, set()).update([] if place.step is None else [place.step])
        worst[key] = max(worst.get(key, 0.0), place.saving_us)
    together: dict[tuple[int | None, tuple[int, ...]], list[int | None]] = {}
    for (stage, rank), seen in steps.items():
        together.setdefault((stage, tuple(sorted(seen))), []).append(rank)
    joined = [
        JoinedPlaces(
            stage,
            tuple(sorted(rank for rank in ranks if rank is not None)),
            seen,
            max(worst[stage, rank] for rank in ranks),
        )
        for (stage, seen), ranks in together.items()
    ]
    return tuple(sorted(joined, key=lambda spot: (-spot.saving_us, spot.stage or 0, spot.ranks, spot.steps)))


def number_ranges(numbers: Iterable[int], language: Language = "en") -> str:
    """Whole numbers with neighbours joined: `0–2, 5`. Many runs end in how many numbers there are in all."""
    ordered = sorted(set(numbers))
    pieces: list[list[int]] = []
    for number in ordered:
        if pieces and number == pieces[-1][1] + 1:
            pieces[-1][1] = number
        else:
            pieces.append([number, number])
    shown = [str(low) if low == high else f"{low}–{high}" for low, high in pieces[:_MOST_RUNS]]
    if len(pieces) > _MOST_RUNS:
        shown.append(say("and_more", language, count=len(ordered)))
    return ("、" if language == "zh" else ", ").join(shown)


def _say_numbers(word: str, numbers: tuple[int, ...], language: Language) -> str:
    return say(word if len(numbers) == 1 else f"{word}s", language, items=number_ranges(numbers, language))
