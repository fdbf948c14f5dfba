# SPDX-License-Identifier: Apache-2.0
"""What a difference must exceed, as figures."""

from __future__ import annotations

import math

import pytest
from comparison_samples import diagnosis

from advisor.comparison.noise import Noise, us_of_entry
from advisor.model.comparison import Tolerance
from advisor.model.findings import Diagnosis, Saving, Spent, TimeSplit

ALLOWED = Tolerance(floor=0.01, relative=0.2, spread=2.0, one_step=0.3)
STEPS = (980.0, 1000.0, 1020.0)
"""20 apart by the standard deviation of a sample."""


def noise(before: Diagnosis | None = None, after: Diagnosis | None = None, allowed: Tolerance = ALLOWED) -> Noise:
    return Noise(before or diagnosis(steps=STEPS), after or diagnosis(steps=STEPS), allowed)


def test_a_step_must_change_by_twice_the_standard_deviation_of_a_sample() -> None:
    assert noise().of_time("step_us", 1000, 1000) == pytest.approx(40)


def test_of_two_captures_the_one_whose_steps_differ_more_tells_the_noise() -> None:
    calm = diagnosis(steps=(999.0, 1000.0, 1001.0))
    assert noise(before=calm).of_time("step_us", 1000, 1000) == pytest.approx(40)
    assert noise(after=calm).of_time("step_us", 1000, 1000) == pytest.approx(40)


def test_no_spread_allows_more_than_one_step_alone_would_of_the_larger_time() -> None:
    wild = noise(diagnosis(steps=(1.0, 1000.0, 1999.0)))
    assert wild.of_time("step_us", 500, 1000) == wild.of_time("step_us", 1000, 500) == pytest.approx(300)


CUT = (980.0, 1000.0, 1020.0, 600.0)
"""The last step ends with its last task, without the pause before a next one."""


def test_a_last_step_that_lacks_its_pause_in_both_captures_alike_is_no_noise() -> None:
    both = noise(diagnosis(steps=CUT), diagnosis(steps=CUT))
    assert both.of_time("step_us", 900, 900) == pytest.approx(40)
    assert not both.is_wide
    assert [[step.step_us for step in steps] for steps in both.steps] == [[*CUT[:3]], [*CUT[:3]]]


def test_a_last_step_that_is_only_as_short_as_another_lacks_nothing() -> None:
    even = diagnosis(steps=(980.0, 1000.0, 1020.0, 980.0))
    assert [len(steps) for steps in noise(even, even).steps] == [4, 4]


@pytest.mark.parametrize(
    "other",
    [(980.0, 1000.0, 1020.0, 1000.0), (*CUT[:3], 1000.0, 600.0), (600.0, *CUT[:3])],
    ids=["its last step is whole", "of more steps it moves the mean less", "another step is short"],
)
def test_a_short_last_step_counts_where_the_other_capture_is_not_short_alike(
    other: tuple[float, ...],
) -> None:
    assert noise(diagnosis(steps=CUT), diagnosis(steps=other)).is_wide


def test_of_three_steps_the_last_counts_for_two_do_not_tell_what_is_usual() -> None:
    short = diagnosis(steps=(1000.0, 1020.0, 600.0))
    assert noise(short, short).is_wide


def test_no_difference_below_the_floor_counts_and_the_floor_is_of_the_longer_step() -> None:
    even = diagnosis(steps=(1000.0,) * 3)
    for pair in ((even, diagnosis(steps=(2000.0,) * 3)), (diagnosis(steps=(2000.0,) * 3), even)):
        assert noise(*pair).floor_us == pytest.approx(20)
        assert noise(*pair).of_time("step_us", 0, 0) == pytest.approx(20)


def test_one_step_on_either_side_allows_what_is_guessed() -> None:
    single = diagnosis(steps=(1000.0,))
    for one in (noise(before=single), noise(after=single)):
        assert one.single
        assert one.of_time("step_us", 1000, 900) == pytest.approx(300)
        assert one.relative == 0.3
    assert not noise().single
    assert noise().relative == 0.2
    tight = Tolerance(floor=0.01, relative=0.2, spread=2.0, one_step=0.1)
    assert noise(before=single, allowed=tight).relative == 0.2


@pytest.mark.parametrize("steps", [(1000.0,), STEPS, (1000.0,) * 3, (1.0, 1000.0, 1999.0)])
@pytest.mark.parametrize("allowed", [ALLOWED, Tolerance(floor=0.4), Tolerance(one_step=0.0)])
def test_the_longest_step_that_counts_as_the_same_does_not_move_with_the_step_that_is_measured(
    steps: tuple[float, ...], allowed: Tolerance
) -> None:
    """Where it lies a difference is just what it must exceed: a little less is noise, a little more is not."""
    found = noise(diagnosis(steps=steps), diagnosis(steps=(1000.0,) * 3), allowed)
    longest = found.longest_step(1000.0)
    assert longest is not None
    for beyond in (1e-6, -1e-6, 1.0, -1.0, 5000.0):
        after = longest + beyond
        split = TimeSplit(step_us=after, compute_us=0, exposed_comm_us=0, overlapped_us=0, free_us=0)
        slower = diagnosis(steps=(1000.0,) * 3).model_copy(update={"split": split})
        anew = noise(diagnosis(steps=steps), slower, allowed)
        assert anew.longest_step(1000.0) == longest
        assert (after - 1000.0 > anew.of_time("step_us", 1000.0, after)) is (beyond > 0 and after > 1000.0)


def test_where_all_of_a_step_may_be_noise_no_length_counts() -> None:
    assert noise(allowed=Tolerance(floor=1.0)).longest_step(1000.0) is None


def test_two_steps_have_a_spread() -> None:
    two = diagnosis(steps=(990.0, 1010.0))
    assert not noise(two, two).single
    assert noise(two, two).of_time("step_us", 1000, 1000) == pytest.approx(2 * math.sqrt(200))


def test_an_entry_of_the_account_may_differ_by_the_larger_of_both_spreads() -> None:
    calm, wild = (Spent(part="compute", name="x", us=1000.0, spread_us=us) for us in (1.0, 60.0))
    for pair in ((calm, wild), (wild, calm), (None, wild), (wild, None)):
        assert noise().of_entry(*pair) == pytest.approx(120)
    assert (us_of_entry(None), us_of_entry(calm)) == (0.0, 1000.0)
    assert noise().of_entry(calm, calm) == pytest.approx(10)  # the floor


@pytest.mark.parametrize(("won_us", "alike"), [(240.0, True), (241.0, True), (251.0, False)])
def test_savings_are_alike_within_their_own_noise_or_that_of_their_part_of_the_step(won_us: float, alike: bool) -> None:
    """200 may differ by the larger of a fifth of the larger saving, 50, and what idle time may: 20."""
    even = diagnosis(steps=(1000.0,) * 3)
    less, more = (Saving(us=us, share=us / 1000) for us in (200.0, won_us))
    assert noise(even, even).saved_alike("host/idle", less, more) is alike
    assert noise(even, even).saved_alike("host/idle", more, less) is alike


def test_small_savings_are_alike_within_the_noise_of_their_part_of_the_step() -> None:
    less, more = Saving(us=1.0, share=0.001), Saving(us=36.0, share=0.036)
    assert noise().saved_alike("compute/casts", less, more)  # compute differs by 40
    even = diagnosis(steps=(1000.0,) * 3)
    assert not noise(even, even).saved_alike("compute/casts", less, more)


def test_values_of_a_metric_are_alike_up_to_the_part_that_may_differ_whatever_their_sign() -> None:
    assert noise().alike(100, 125)
    assert noise().alike(-100, -125)
    assert not noise().alike(100, 125.1)
    assert not noise().alike(10, -10)
