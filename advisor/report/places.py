# SPDX-License-Identifier: Apache-2.0
"""Many places as few words: `ranks 0–7, steps 50–54`."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from msgspec import Struct

from advisor.messages.text import Language
from advisor.model.findings import Place
from advisor.report.grouping import values_by_key
from advisor.report.prose import clean_line
from advisor.report.words import say

_MOST_RUNS = 8
_MOST_HOSTS = 4
_LONGEST_HOST = 40

Hosts = Mapping[str, tuple[int, ...]]
"""The captured ranks of each host, as `Run.hosts` tells them."""


class JoinedPlaces(Struct, frozen=True):
    """Places that share their stage and their steps, and the most that any of them costs, µs."""

    stage: int | None
    ranks: tuple[int, ...]
    steps: tuple[int, ...]
    saving_us: float

    def say(self, language: Language, hosts: Hosts | None = None) -> str:
        """The place in words, with the hosts of the ranks where they are few of those there are."""
        parts = [
            *([say("stage", language, items=self.stage)] if self.stage is not None else []),
            *([say_ranks(self.ranks, hosts or {}, language)] if self.ranks else []),
            *([_say_numbers("step", self.steps, language)] if self.steps else []),
        ]
        return say("comma", language).join(parts) or say("whole_run", language)


def join_places(places: Iterable[Place]) -> tuple[JoinedPlaces, ...]:
    """Places joined where stage and steps agree, worst first."""
    apart = values_by_key(((one.stage, one.rank), one) for one in places)
    together = values_by_key(
        ((stage, tuple(sorted({one.step for one in some if one.step is not None}))), (rank, some))
        for (stage, rank), some in apart.items()
    )
    joined = [
        JoinedPlaces(
            stage,
            tuple(sorted(rank for rank, _ in ranks if rank is not None)),
            steps,
            max(0.0, *(one.saving_us for _, some in ranks for one in some)),
        )
        for (stage, steps), ranks in together.items()
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
    return say("listed", language).join(shown)


def _say_numbers(word: str, numbers: tuple[int, ...], language: Language) -> str:
    return say(word if len(numbers) == 1 else f"{word}s", language, items=number_ranges(numbers, language))


def say_ranks(ranks: tuple[int, ...], hosts: Hosts, language: Language) -> str:
    """Ranks in words, with their hosts where these are few of those there are."""
    named = say_hosts(ranks, hosts, language)
    if not named:
        return _say_numbers("rank", ranks, language)
    if _are_whole(ranks, hosts):
        return say("ranks_of_host", language, host=named, ranks=number_ranges(ranks, language))
    return say("ranks_on_host", language, host=named, ranks=_say_numbers("rank", ranks, language))


def say_hosts(ranks: Collection[int], hosts: Hosts, language: Language) -> str:
    """`host node5`: where these ranks are; empty where that is not known, or they are on most hosts there are.

    Of ranks that are all that was captured of their hosts more hosts are named than of others.
    """
    on = _hosts_of(ranks, hosts)
    if sum(len(ranks_there.intersection(ranks)) for ranks_there in on.values()) < len(set(ranks)):
        return ""
    whole = _are_whole(ranks, hosts)
    if (len(on) * 2 > len(hosts) and len(on) > 1) or not (whole or len(on) <= _MOST_HOSTS):
        return ""
    names = [clean_line(host, _LONGEST_HOST) for host in on]
    more = [say("and_more", language, count=len(names))] if len(names) > _MOST_HOSTS else []
    joined = say("listed", language).join([*names[:_MOST_HOSTS], *more])
    return say("host" if len(on) == 1 else "hosts", language, items=joined)


def say_whole_hosts(ranks: Collection[int], hosts: Hosts, language: Language) -> str:
    """`all of host node5`: several ranks that are all that was captured of it, or else where they are."""
    named = say_hosts(ranks, hosts, language)
    return say("all_of_host", language, host=named) if named and _are_whole(ranks, hosts) else named


def _are_whole(ranks: Collection[int], hosts: Hosts) -> bool:
    """Whether these are all ranks of their hosts, of which one has several."""
    on = _hosts_of(ranks, hosts)
    return any(len(there) > 1 for there in on.values()) and all(there.issubset(ranks) for there in on.values())


def _hosts_of(ranks: Collection[int], hosts: Hosts) -> dict[str, frozenset[int]]:
    """The hosts on which some of these ranks are, with all their ranks."""
    wanted = frozenset(ranks)
    return {host: frozenset(there) for host, there in hosts.items() if not wanted.isdisjoint(there)}
