# SPDX-License-Identifier: Apache-2.0
"""A collective behind another one of its communicator is told, where no kernel begins between them."""

from __future__ import annotations

from advisor.analysis.communication.queued_collectives import ops_queued_behind
from advisor.facts.observed import Collective, Kernel
from advisor.facts.table import read_table

CALLS = """
rank step group op            start_ns elapse_us
0    1    dp    reduceScatter 1000     10
0    1    dp    allGather     12000    5
0    1    dp    reduceScatter 30000    5
0    1    tp    allGather     35000    5
0    1    dp    allGather     50000    5
0    2    dp    allGather     55000    5
1    1    -     reduceScatter 1000     10
1    1    -     allGather     12000    5
"""
KERNELS = "rank step start_ns duration_us\n0 1 500 4\n0 1 17000 10\n0 1 45000 5\n1 1 99000 1"


def test_a_call_that_its_communicator_begins_before_the_next_kernel_queues_behind_the_former() -> None:
    found = ops_queued_behind(read_table(Collective, CALLS), read_table(Kernel, KERNELS))
    assert found.values() == ["allGather", None, None, None, None, None, None, None]


def test_without_kernels_nothing_is_known_of_queues() -> None:
    assert set(ops_queued_behind(read_table(Collective, CALLS), None).values()) == {None}
