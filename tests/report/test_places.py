# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.messages.text import Language
from advisor.model.findings import Place
from advisor.report.places import Hosts, join_places, number_ranges, say_whole_hosts

places = st.lists(
    st.builds(
        Place,
        rank=st.integers(0, 9),
        stage=st.none() | st.integers(0, 2),
        step=st.none() | st.integers(50, 54),
        saving_us=st.floats(0, 1e6),
    ),
    max_size=30,
)


@given(st.sets(st.integers(0, 40), max_size=8))
@settings(max_examples=60)
def test_joined_numbers_name_each_number_once(numbers: set[int]) -> None:
    named = []
    for part in [part for part in number_ranges(numbers).split(", ") if part]:
        low, _, high = part.partition("–")
        named += range(int(low), int(high or low) + 1)
    assert named == sorted(numbers)


def test_many_scattered_numbers_end_in_how_many_there_are() -> None:
    assert number_ranges(range(0, 200, 2)) == "0, 2, 4, 6, 8, 10, 12, 14, … (100 in all)"


@given(places)
@settings(max_examples=60)
def test_joining_places_loses_none_and_invents_none(seen: list[Place]) -> None:
    told = [
        (spot.stage, rank, step)
        for spot in join_places(seen)
        for rank in spot.ranks or (None,)
        for step in spot.steps or (None,)
    ]
    known = {(p.stage, p.rank, p.step) for p in seen}
    whole = {(p.stage, p.rank) for p in seen if p.step is not None}
    assert sorted(told, key=str) == sorted((k for k in known if k[2] is not None or k[:2] not in whole), key=str)


@given(places)
@settings(max_examples=60)
def test_the_worst_place_comes_first(seen: list[Place]) -> None:
    savings = [spot.saving_us for spot in join_places(seen)]
    assert savings == sorted(savings, reverse=True)
    assert max(savings, default=None) == max((place.saving_us for place in seen), default=None)


def test_ranks_with_the_same_steps_are_one_place() -> None:
    seen = [Place(rank=rank, step=step, saving_us=rank) for rank in range(8) for step in (50, 51)]
    (spot,) = join_places(seen)
    assert spot.say("en") == "ranks 0–7, steps 50–51"
    assert spot.say("zh") == "rank 0–7，step 50–51"
    assert spot.saving_us == 7


def test_a_place_without_rank_and_step_is_the_whole_run() -> None:
    assert join_places([Place()])[0].say("en") == "the run as a whole"


NODES = {f"node{i}": tuple(range(8 * i, 8 * i + 8)) for i in range(8)}


def _said(ranks: Iterable[int], hosts: Hosts | None = None, language: Language = "en") -> str:
    (spot,) = join_places(Place(rank=rank) for rank in ranks)
    return spot.say(language, NODES if hosts is None else hosts)


def test_a_whole_host_is_named_before_its_ranks() -> None:
    assert _said(range(40, 48)) == "host node5: ranks 40–47"
    assert _said(range(40, 48), language="zh") == "主机 node5：rank 40–47"
    assert _said([*range(24, 32), *range(40, 48)]) == "hosts node3, node5: ranks 24–31, 40–47"


def test_ranks_that_are_a_part_of_a_host_are_named_with_it() -> None:
    assert _said([41]) == "rank 41 (host node5)"
    assert _said([41, 43]) == "ranks 41, 43 (host node5)"
    assert _said([9, 41], language="zh") == "rank 9、41（主机 node1、node5）"


def test_ranks_on_most_hosts_or_on_unknown_ones_stand_without_hosts() -> None:
    assert _said(range(64)) == "ranks 0–63"
    assert _said(range(1, 64)) == "ranks 1–63"
    assert _said([41, 99]) == "ranks 41, 99"
    assert _said([41], {}) == "rank 41"
    assert _said([1, 9], {"a": (0, 1), "b": (8, 9)}) == "ranks 1, 9"


@given(st.sets(st.integers(0, 70), min_size=1))
@settings(max_examples=60)
def test_a_host_is_called_whole_only_where_all_its_ranks_are_meant(ranks: set[int]) -> None:
    said = say_whole_hosts(ranks, NODES, "en")
    named = [host for host, there in NODES.items() if not ranks.isdisjoint(there)]
    whole = all(ranks.issuperset(NODES[host]) for host in named) and ranks <= set(range(64))
    assert not said.startswith("all of") or whole
    assert not (whole and len(named) == 1) or said == f"all of host {named[0]}"
