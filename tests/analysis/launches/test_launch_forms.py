# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.analysis.launches.launch_forms import launch_forms
from advisor.facts import read_table
from advisor.facts.derived import PhaseLaunch


def forms(parts: str) -> list[tuple[object, ...]]:
    table = launch_forms(read_table(PhaseLaunch, f"rank engine_phase kernels lost_us phase_us\n{parts}"))
    return [(row["rank"], row["engine_phase"], row["kernels"], row["lost_us"], row["phase_us"]) for row in table.rows()]


def test_ranks_without_phases_are_judged_as_a_whole() -> None:
    assert forms("0 - 200 7 -\n1 - 300 8 -") == [(0, None, 200, 7, None), (1, None, 300, 8, None)]


def test_one_phase_on_all_ranks_is_the_whole() -> None:
    assert forms("0 - 200 7 -\n0 decode 200 7 50\n1 - 300 8 -\n1 decode 290 8 50") == [
        (0, None, 200, 7, None),
        (1, None, 300, 8, None),
    ]


def test_several_phases_stand_for_the_whole() -> None:
    assert forms("0 - 200 7 -\n0 prefill 150 2 40\n0 decode 50 5 10") == [
        (0, "prefill", 150, 2, 40),
        (0, "decode", 50, 5, 10),
    ]


def test_ranks_of_one_phase_each_are_told_apart_too() -> None:
    """As where one engine reads the prompts for which another generates."""
    found = forms("0 - 200 7 -\n0 prefill 150 2 40\n1 - 50 5 -\n1 decode 50 5 10")
    assert [row[:2] for row in found] == [(0, "prefill"), (1, "decode")]


def test_a_rank_of_which_nothing_tells_keeps_all_whole() -> None:
    assert [row[1] for row in forms("0 - 200 7 -\n0 prefill 150 2 40\n0 decode 50 5 10\n1 - 300 8 -")] == [None, None]


def test_steps_of_which_nothing_tells_what_they_do_are_no_phase() -> None:
    assert [row[1] for row in forms("0 - 200 7 -\n0 decode 150 2 40\n0 unknown 50 5 10")] == [None]
    assert [row[1] for row in forms("0 - 9 7 -\n0 prefill 1 2 4\n0 decode 2 2 4\n0 unknown 5 5 1")] == [
        "prefill",
        "decode",
    ]


def test_what_generates_stands_for_a_job_that_does_more_beside_it() -> None:
    found = forms("0 - 200 7 -\n0 other 50 2 40\n0 decode 150 5 10\n1 - 200 7 -\n1 other 50 2 40\n1 decode 150 5 10")
    assert [row[:2] for row in found] == [(0, "decode"), (1, "decode")]
    assert [row[1] for row in forms("0 - 200 7 -\n0 other 50 2 40\n0 unknown 150 5 10")] == [None]
