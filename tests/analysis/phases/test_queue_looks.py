# SPDX-License-Identifier: Apache-2.0
"""Where only some steps wait for data, the looks at queues of those steps tell why, and no others."""

from __future__ import annotations

import pytest

from advisor.analysis.phases.queue_looks import of_waiting_steps, telling_looks, wait_long
from advisor.facts.observed import BatchQueue, StepPhase
from advisor.facts.table import Table, read_table

LOOKS = "rank step queue size\n0 1 host 9\n0 2 host 0\n0 3 host 8\n0 2 device 1\n1 2 host 5"


def phases(*rows: str) -> Table[StepPhase]:
    return read_table(StepPhase, "\n".join(["rank step interval_us first", *rows]))


def sizes(rows: str, told: Table[StepPhase] | None) -> list[object]:
    return [row["size"] for row in telling_looks(read_table(BatchQueue, rows), told).rows()]


def test_a_step_waits_long_from_a_quarter_of_the_longest_of_its_rank_on():
    steps = phases("0 1 100 false", "0 2 25 false", "0 3 26 false", "1 1 2 false", "1 2 - false")
    assert wait_long(steps).tolist() == [True, False, True, True, False]


def test_looks_at_steps_that_wait_tell_where_others_do_not():
    steps = phases("0 1 1 false", "0 2 100 false", "0 3 1 false")
    assert of_waiting_steps(read_table(BatchQueue, LOOKS), steps).tolist() == [False, True, False, True, False]
    assert sizes(LOOKS, steps) == [0, 1, 5]  # of rank 1 nobody knows which steps wait


@pytest.mark.parametrize(
    "steps",
    [
        phases("0 1 90 false", "0 2 100 false", "0 3 95 false"),  # all wait
        phases("0 1 1 false", "0 2 100 true", "0 3 1 false"),  # the first one loads and builds
        phases("0 2 100 false"),  # of the others it is not known how long they waited
        phases("0 1 - false", "0 2 100 false"),
        phases(),
        None,
    ],
    ids=["all", "first", "alone", "unknown", "none", "not recorded"],
)
def test_where_it_is_not_some_steps_that_wait_all_looks_tell(steps: Table[StepPhase] | None):
    assert sizes(LOOKS, steps) == [9, 0, 8, 1, 5]


def test_a_queue_that_was_looked_at_in_no_waiting_step_tells_by_all_its_looks():
    rows = "rank step queue size\n0 1 host 9\n0 2 device 0\n0 3 device 4"
    assert sizes(rows, phases("0 1 1 false", "0 2 100 false", "0 3 1 false")) == [9, 0]


def test_without_looks_there_is_nothing_to_tell():
    assert not len(telling_looks(Table.empty(BatchQueue), phases("0 1 1 false", "0 2 9 false")))
