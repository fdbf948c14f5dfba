# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.model.findings import Place
from advisor.report.places import join_places, number_ranges

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
