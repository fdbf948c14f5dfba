# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import Any

import pytest

from advisor.analysis.pipeline import stage_times
from advisor.facts.derived import Overlap
from advisor.facts.observed import Collective
from advisor.facts.table import read_table
from advisor.run import Parallel, Run

STAGES = Run(parallel=Parallel(stages=((0,), (1,))))


def stages(text: str) -> list[dict[str, Any]]:
    return stage_times(STAGES, read_table(Overlap, text)).rows()


def test_waiting_that_no_receive_shows_is_what_a_step_lacks_to_the_longest():
    first, second, *later = stages("""
    rank step stage span_us compute_us bubble_us
    0    1    0     1000    800        150
    1    1    1     900     800        50
    0    2    0     1000    800        150
    1    2    1     1000    800        160
    """)
    assert (first["unseen_us"], second["unseen_us"]) == (0.0, 100.0)
    assert [row["unseen_us"] for row in later] == [0.0, 0.0]
    assert {row["average_waiting_us"] for row in (first, second, *later)} == {(150 + 155) / 2}


def test_micro_batches_show_as_sends_of_the_stage_with_fewest():
    split = read_table(Overlap, "rank step stage span_us\n0 1 0 9\n1 1 1 9")
    calls = read_table(Collective, "rank step op\n0 1 send x3\n1 1 send x2\n1 1 receive x5\n1 2 send")
    assert {row["least_sends"] for row in stage_times(STAGES, split, calls).rows()} == {2.0}
    assert {row["least_sends"] for row in stage_times(STAGES, split).rows()} == {None}


def test_the_heaviest_stage_is_the_one_that_computes_longest_over_all_steps():
    rows = stages("""
    rank step stage span_us compute_us bubble_us
    0    1    0     1000    810        100
    1    1    1     1000    800        100
    0    2    0     1000    780        100
    1    2    1     1000    800        100
    """)
    assert [row["heaviest"] for row in rows] == [False, True, False, True]
    assert {row["average_compute_us"] for row in rows} == {797.5}


@pytest.mark.parametrize(("first", "second", "most"), [(100, 105, 0), (100, 300, 1), (300, 100, 0)])
def test_stages_that_wait_alike_are_stood_for_by_the_first(first, second, most):
    rows = stages(f"""
    rank step stage span_us compute_us bubble_us
    0    1    0     1000    600        {first}
    1    1    1     1000    600        {second}
    """)
    assert [row["waits_most"] for row in rows] == [most == 0, most == 1]


def test_unknown_waiting_stays_missing():
    rows = stages("""
    rank step stage span_us compute_us
    0    1    0     1000    600
    1    1    1     1000    700
    """)
    assert [row["average_waiting_us"] for row in rows] == [None, None]
    assert [row["waits_most"] for row in rows] == [True, False]
    assert [row["heaviest"] for row in rows] == [False, True]
