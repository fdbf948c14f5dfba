# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.analysis.communication.bus_rates import bus_rates
from advisor.facts.derived import CollectiveCall
from advisor.facts.table import read_table

CALLS = """rank step name op        group start_ns elapse_us exposed_us p2p   bus_bytes
0 1 reduce allReduce 0 1000000 3000 1000 false 2000000
1 1 reduce allReduce 0 3000000 1000 900 false 2000000
0 1 gather allGather 0 9000000 50 50 false -
1 1 gather allGather 0 9000000 50 50 false -
0 2 reduce allReduce 0 20000000 40 40 false 2000000"""


def test_a_collective_moves_what_it_carries_in_the_time_of_the_rank_that_came_last() -> None:
    (rate,) = bus_rates(read_table(CollectiveCall, CALLS)).rows()
    assert (rate["last_rank"], rate["shortest_us"], rate["bus_gbps"]) == (1, 1000.0, 2.0)
    assert rate["bare_us"] == 900.0  # of the rank that came last; what rank 0 shows may lie behind its wait of 2000


def test_what_the_rank_that_is_slow_hides_is_bare_on_none() -> None:
    """It computes while the data move; the others are done, and a quicker way makes no step of theirs end sooner."""
    calls = CALLS.replace("1000000 3000 1000", "3000000 1000 1000").replace("1000 900", "1000 100")
    assert [row["bare_us"] for row in bus_rates(read_table(CollectiveCall, calls)).rows()] == [100.0]


def test_calls_that_last_equally_long_on_all_ranks_count_too() -> None:
    calls = CALLS.replace("1000000 3000 1000", "3000000 1000 900")
    assert [row["bare_us"] for row in bus_rates(read_table(CollectiveCall, calls)).rows()] == [900.0]
