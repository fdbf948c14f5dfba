# SPDX-License-Identifier: Apache-2.0
"""What network ports lost is what their counters grew by between the first look and the last."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.communication.ports import port_uses
from advisor.facts.observed import PortCounters
from advisor.facts.table import Table


def test_a_port_is_as_busy_as_its_busier_way() -> None:
    counted = Table.build(
        PortCounters, rank=[0, 0], network="RoCE", port=[0, 0], time_ns=[1, 2], bandwidth_gbps=[25.0, 25.0],
        received_gbps=[5.0, 15.0], sent_gbps=[20.0, 10.0],
    )  # fmt: skip
    (row,) = port_uses(counted).rows()
    assert (row["busiest_share"], row["bandwidth_gbps"], row["dropped"]) == (pytest.approx(0.6), 25.0, None)


def test_one_look_tells_nothing_of_what_was_lost() -> None:
    counted = Table.build(PortCounters, rank=[0], network="device", time_ns=[1], repeated=[7.0], packets=[100.0])
    (row,) = port_uses(counted).rows()
    assert (row["repeated"], row["packets"]) == (None, None)


def test_what_was_lost_before_the_capture_does_not_count() -> None:
    counted = Table.build(PortCounters, rank=[0] * 3, network="device", time_ns=[3, 1, 2], repeated=[9.0, 7.0, 7.0])
    assert port_uses(counted).rows()[0]["repeated"] == 2.0


@given(
    st.lists(
        st.tuples(st.integers(0, 1), st.integers(0, 1), st.none() | st.integers(0, 9)), min_size=1, max_size=25
    )
)  # fmt: skip
def test_counters_grow_as_a_loop_over_looks_finds(looks: list[tuple[int, int, int | None]]) -> None:
    rank, port, dropped = zip(*looks, strict=True)
    counted = Table.build(
        PortCounters, rank=list(rank), network="NIC", port=list(port), time_ns=list(range(len(looks))),
        dropped=np.array([math.nan if count is None else count for count in dropped], float),
    )  # fmt: skip
    expected: dict[tuple[int, int], float | None] = {}
    for one in dict.fromkeys(zip(rank, port, strict=True)):
        seen = [count for *key, count in looks if tuple(key) == one and count is not None]
        steps = [b - a if b >= a else b for a, b in pairwise(seen)]
        expected[one] = float(sum(steps)) if steps else None
    assert {(row["rank"], row["port"]): row["dropped"] for row in port_uses(counted).rows()} == expected
