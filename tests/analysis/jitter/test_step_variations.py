# SPDX-License-Identifier: Apache-2.0
"""Slow kernels and a single long pause are taken out of what makes a step longer, and never more than that."""

from __future__ import annotations

import pytest

from advisor.analysis.jitter.step_variations import step_variations
from advisor.facts.derived import LaunchDelay, Overlap, Stall, StepSpan
from advisor.facts.observed import Kernel
from advisor.facts.table import Table, read_table

SPANS = """step span_us edge
0 1000 true
1 1000 false
2 1000 false
3 1600 false
4 1600 false
5 1000 true"""


def found(
    paused: str | None = None, kernels: Table[Kernel] | None = None, held: str | None = None
) -> dict[int, dict[str, object]]:
    stalls = None if paused is None else read_table(Stall, paused)
    launch_delays = None if held is None else read_table(LaunchDelay, held)
    spans = read_table(StepSpan, SPANS)
    made = step_variations(
        spans, paused=stalls, held=launch_delays, kernels=kernels, collectives=None, windows=None, split=None
    )
    return {row["step"]: row for row in made.rows()}


def slow_in_two(us: float) -> Table[Kernel]:
    took = [100.0, 100.0, 100.0, us, us, 100.0]
    return Table.build(
        Kernel,
        rank=0,
        step=list(range(6)),
        start_ns=[number * 10**6 for number in range(6)],
        op_type="MatMulV3",
        input_shapes="4,4",
        duration_us=took,
    )


def test_where_nothing_is_known_all_is_left() -> None:
    assert [row["left_us"] for row in found().values()] == [1000, 1000, 1000, 1600, 1600, 1000]


def test_a_pause_beyond_those_of_other_steps_is_taken_out() -> None:
    rows = found("step duration_us usual_us\n3 450 50\n3 60 50\n1 40 50")
    assert (rows[3]["paused_us"], rows[3]["left_us"]) == (400, 1200)
    assert (rows[1]["paused_us"], rows[1]["left_us"]) == (0, 1000)


def test_no_more_is_taken_out_than_makes_the_step_longer() -> None:
    rows = found("step duration_us usual_us\n3 5000 50\n2 300 50")
    assert (rows[3]["paused_us"], rows[3]["left_us"]) == (600, 1000)
    assert rows[2]["left_us"] == 1000


def test_what_slow_kernels_take_is_taken_out() -> None:
    rows = found(kernels=slow_in_two(500.0))
    assert (rows[3]["slowed_us"], rows[4]["left_us"]) == pytest.approx((400, 1200))
    assert found(kernels=slow_in_two(5000.0))[3]["left_us"] == 1000


def test_both_are_taken_out() -> None:
    rows = found("step duration_us usual_us\n4 400 50", slow_in_two(200.0))
    assert rows[4]["left_us"] == pytest.approx(1600 - 100 - 350)


def test_a_pause_that_makes_less_than_half_of_it_is_told_by_no_other_rule_and_left() -> None:
    rows = found("step duration_us usual_us\n4 300 50")
    assert (rows[4]["paused_us"], rows[4]["left_us"]) == (0, 1600)


def test_what_a_kind_of_host_cost_loses_beyond_other_steps_is_taken_out() -> None:
    rows = found(held="step cause lost_us\n1 synchronise 50\n2 synchronise 50\n3 synchronise 450\n5 synchronise 50")
    assert (rows[3]["held_us"], rows[3]["left_us"]) == (400, 1200)
    assert (rows[1]["held_us"], rows[4]["held_us"]) == (0, 0)


def test_what_a_replay_counts_to_the_next_step_is_taken_out_where_the_time_is() -> None:
    rows = found(held="step cause lost_us\n5 blocking_copy 450")
    assert (rows[4]["held_us"], rows[4]["left_us"]) == (450, 1150)


def test_costs_that_lie_in_each_other_are_taken_out_once_and_work_of_no_kind_is_not() -> None:
    rows = found(held="step cause lost_us\n3 blocking_copy 300\n3 synchronise 350\n3 read 350\n4 host 500")
    assert (rows[3]["held_us"], rows[4]["held_us"]) == (350, 0)


def test_work_of_no_kind_is_taken_out_where_few_steps_lose_nearly_all_of_it() -> None:
    rows = found(held="step cause lost_us lossy_steps\n3 host 300 1\n3 host 200 1")
    assert (rows[3]["held_us"], rows[4]["held_us"]) == (500, 0)


def test_copies_beyond_those_of_other_steps_are_taken_out_once_with_the_wait_for_them() -> None:
    split = read_table(Overlap, "step copy_us\n0 20\n1 20\n2 20\n3 320\n4 20\n5 20")
    held = read_table(LaunchDelay, "step cause lost_us\n3 blocking_copy 350")
    alone, both = (
        step_variations(
            read_table(StepSpan, SPANS), paused=None, held=one, kernels=None, collectives=None, windows=None,
            split=split,
        ).rows()
        for one in (None, held)
    )  # fmt: skip
    assert (alone[3]["held_us"], both[3]["held_us"], both[4]["held_us"]) == (300, 350, 0)
