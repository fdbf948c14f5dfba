# SPDX-License-Identifier: Apache-2.0
"""What collectives take in first steps that do not count."""

from __future__ import annotations

from advisor.analysis.steps.start_up_steps import start_up_steps
from advisor.facts.derived import LeftOutStep
from advisor.facts.observed import Collective
from advisor.facts.table import Table, read_table

LEFT_OUT = read_table(
    LeftOutStep,
    """rank step reason   start_ns span_us longest_us
       0    1    start_up 0        100     40
       1    1    start_up 0        100     40
       0    9    cut      900000   50      -""",
)


def test_collectives_that_run_beside_each_other_count_once_and_those_of_other_steps_do_not() -> None:
    calls = read_table(
        Collective,
        """rank step op        start_ns elapse_us wait_us
           0    1    allReduce 0        40        30
           0    1    allGather 20000    50        10
           0    2    allReduce 100000   20        20
           0    9    allReduce 900000   20        20
           1    1    allReduce 0        30        -
           2    1    broadcast 0        99        -""",
    )
    first, second = start_up_steps(LEFT_OUT, calls).rows()
    assert (first["collectives_us"], first["collectives_wait_us"], first["op"]) == (70.0, 40.0, "allGather")
    assert (second["collectives_us"], second["collectives_wait_us"], second["op"]) == (30.0, None, "allReduce")


def test_without_collectives_nothing_is_said_of_them() -> None:
    rows = start_up_steps(LEFT_OUT, None).rows()
    assert [row["rank"] for row in rows] == [0, 1]
    assert {(row["collectives_us"], row["collectives_wait_us"], row["op"]) for row in rows} == {(None, None, None)}
    assert not len(start_up_steps(Table.empty(LeftOutStep), None))
