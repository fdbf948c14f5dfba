# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.idle.interruptions import interruptions
from advisor.facts.derived import Dispatch
from advisor.facts.observed import Collective, DeviceTask
from advisor.facts.table import Table, read_table
from tests.analysis.timelines import host_calls

LINKS = """
step kind   op_type start_ns latency_us idle_before_us vertical
1    kernel A       0        500        -              -
1    comm   allReduce 100000 400        0              false
1    kernel B       5150000  20         50             true
1    kernel C       5300000  20         60             true
1    kernel D       5400000  20         40             true
1    kernel E       5500000  900        0              false
1    kernel F       5600000  20         30             true
"""
REDUCE = "step start_ns elapse_us op p2p\n1 100000 5000 allReduce false"


def test_a_long_collective_heads_the_vertical_links_that_follow_it():
    (row,) = interruptions(read_table(Dispatch, LINKS), read_table(Collective, REDUCE), None, None).rows()
    assert row["op"] == "allReduce" and row["kind"] == "comm" and row["head_us"] == 5000.0
    assert row["links"] == 3.0 and row["idle_us"] == 150.0
    assert row["synchronised"] is None


def test_a_pause_longer_than_those_before_launches_is_no_refilling_of_the_queue() -> None:
    """The host saves or logs after the transfer: that is no cost of the queue that ran dry."""
    links = LINKS.replace("kernel C       5300000  20         60 ", "kernel C       9300000  20         4060 ")
    (row,) = interruptions(read_table(Dispatch, links), read_table(Collective, REDUCE), None, None).rows()
    assert (row["links"], row["idle_us"]) == (3.0, 90.0)


def test_a_copy_can_be_the_head():
    tasks = read_table(DeviceTask, "kind start_ns end_ns\ncopy 100000 5100000")
    (row,) = interruptions(read_table(Dispatch, LINKS), None, tasks, None).rows()
    assert row["kind"] == "copy" and row["op"] == "copy"


def test_a_head_shorter_than_the_usual_gap_is_none():
    short = "step start_ns elapse_us op p2p\n1 5090000 10 allReduce false"
    assert not len(interruptions(read_table(Dispatch, LINKS), read_table(Collective, short), None, None))


def test_a_collective_that_ended_before_the_device_ran_dry_is_no_head():
    early = "step start_ns elapse_us op p2p\n1 100000 4000 allReduce false"
    assert not len(interruptions(read_table(Dispatch, LINKS), read_table(Collective, early), None, None))


def test_a_second_long_task_begins_a_stretch_of_its_own():
    two = read_table(Collective, REDUCE + "\n1 5170000 70 broadcast false")
    rows = interruptions(read_table(Dispatch, LINKS), two, None, None).rows()
    assert [(r["op"], r["links"], r["idle_us"]) for r in rows] == [("allReduce", 1.0, 50.0), ("broadcast", 2.0, 100.0)]


def test_a_host_that_was_behind_before_a_transfer_has_no_queue_that_it_could_drain() -> None:
    behind = LINKS.replace("400        0              false", "20         30             true")
    copy = read_table(DeviceTask, "kind start_ns end_ns\ncopy 200000 5100000")
    assert not len(interruptions(read_table(Dispatch, behind), None, copy, None))


def test_a_second_transfer_while_the_queue_is_still_refilled_counts_in_the_next_step_too() -> None:
    links = read_table(
        Dispatch, LINKS.replace("1    kernel C", "2    kernel C").replace("1    kernel D", "2    kernel D")
    )
    two = read_table(Collective, REDUCE + "\n1 5170000 70 broadcast false")
    assert [row["op"] for row in interruptions(links, two, None, None).rows()] == ["allReduce", "broadcast"]


@pytest.mark.parametrize(
    ("start_ns", "end_ns", "waited"),
    [(200_000, 5_110_000, True), (200_000, 300_000, False), (5_200_000, 5_300_000, False)],
)
def test_a_synchronising_call_that_lasts_to_its_end_waited_for_it(start_ns, end_ns, waited):
    calls = host_calls(f"thread kind name start_ns end_ns\n1 api aclrtSynchronizeStream {start_ns} {end_ns}")
    (row,) = interruptions(read_table(Dispatch, LINKS), read_table(Collective, REDUCE), None, calls).rows()
    assert row["synchronised"] is waited


def test_stretches_end_with_the_step():
    links = read_table(Dispatch, LINKS.replace("1    kernel C", "2    kernel C"))
    (row,) = interruptions(links, read_table(Collective, REDUCE), None, None).rows()
    assert row["links"] == 1.0


def test_no_links_have_no_interruptions():
    assert not len(interruptions(Table.empty(Dispatch), None, None, None))
