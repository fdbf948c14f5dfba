# SPDX-License-Identifier: Apache-2.0
"""Sends stand with their receives, and who waited for whom."""

from __future__ import annotations

import pytest

from advisor.analysis.communication.paired_calls import paired_calls
from advisor.facts.derived import CollectiveCall
from advisor.facts.table import read_table
from advisor.messages.errors import FactMissing

CALLS = """
rank step name              op            group p2p   start_ns elapse_us size_bytes
0    1    hcom_send__1_0    send          pp    true  1000     50        64
2    1    hcom_receive__1_0 receive       pp    true  1020     30        64
0    1    hcom_receive__1_1 receive       pp    true  2000     10        32
2    1    hcom_send__1_1    send          pp    true  1900     90        32
0    2    hcom_send__1_0    send          pp    true  9000     5         64
2    2    hcom_receive__1_0 receive       pp    true  9000     5         64
0    2    hcom_send__1_1    send          pp    true  9500     5         64
1    1    b__3_0            batchSendRecv pq    true  100      7         8
3    1    b__3_0            batchSendRecv pq    true  100      9         8
0    1    hcom_allReduce_   allReduce     dp    false 100      9         8
1    1    hcom_allReduce_   allReduce     dp    false 100      7         8
"""


def test_the_side_that_comes_first_waits_and_a_send_that_nobody_received_is_no_pair() -> None:
    rows = paired_calls(read_table(CollectiveCall, CALLS)).rows()
    columns = ("step", "op", "source", "target", "size_bytes", "together_us", "source_wait_us", "target_wait_us")
    assert [tuple(row[name] for name in columns) for row in rows] == [
        (1, "batchSendRecv", 1, 3, 8, 7, 0, 2),
        (1, "send", 0, 2, 64, 30, 20, 0),
        (1, "send", 2, 0, 32, 10, 80, 0),
        (2, "send", 0, 2, 64, 5, 0, 0),
    ]


def test_two_sides_that_both_send_are_no_pair() -> None:
    lines = CALLS.strip().splitlines()
    both = [lines[0], lines[1], lines[2].replace("receive ", "send    ")]
    with pytest.raises(FactMissing):
        paired_calls(read_table(CollectiveCall, "\n".join(both)))
    with pytest.raises(FactMissing):
        paired_calls(read_table(CollectiveCall, "\n".join(lines[:2])))
