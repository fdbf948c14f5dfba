# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.host.giving_back import waits_to_give_back
from advisor.analysis.launches.delayed_launches import launch_delays
from advisor.facts.derived import Dispatch
from advisor.facts.observed import Kernel
from advisor.facts.table import read_table
from tests.analysis.timelines import host_calls

CALLS = "thread kind name start_ns end_ns\n"
WAIT = "1 api aclrtSynchronizeDevice 100 200\n"
FREE = "1 api aclrtFreePhysical 210 220"


def found(rows: str) -> list[bool]:
    return waits_to_give_back(host_calls(CALLS + rows)).tolist()


def test_a_wait_after_which_memory_is_given_back_is_the_allocators():
    assert found(WAIT + FREE) == [True, False]


def test_a_wait_within_it_is_the_same_one():
    assert found(WAIT + "1 runtime rtDeviceSynchronize 110 190\n" + FREE) == [True, True, False]


@pytest.mark.parametrize(
    "between",
    [
        "1 launch launch 201 205\n",
        "1 enqueue Enqueue@aclnnMul 201 205\n",
        "1 operator aten::mul 201 205\n",
        "1 api aclrtMallocPhysical 201 205\n1 operator aten::mul 206 207\n",
    ],
)
def test_a_wait_after_which_the_program_goes_on_was_asked_for_by_the_program(between: str) -> None:
    assert not any(found(WAIT + between + FREE))


def test_of_two_waits_the_one_before_the_return_is_the_allocators():
    assert found("1 api aclrtSynchronizeDevice 10 90\n" + WAIT + FREE) == [False, True, False]


def test_what_another_thread_gives_back_tells_nothing_of_a_wait():
    assert not any(found(WAIT + FREE.replace("1 api", "2 api")))


def test_memory_that_is_taken_after_a_wait_tells_nothing_of_it():
    assert not any(found(WAIT + FREE.replace("FreePhysical", "MallocPhysical")))


def test_what_such_a_wait_costs_is_lost_to_the_memory_and_not_to_a_synchronisation_too():
    """Waiting, giving back and taking again: the device stands still for 400 µs that it would not without them."""
    kernels = "start_ns duration_us\n0 400\n400000 400\n1220000 400\n1620000 400"
    links = (
        "start_ns latency_us idle_before_us vertical\n0 10 - -\n400000 380 0 false\n1220000 10 420 true\n"
        "1620000 380 0 false"
    )
    calls = host_calls(
        CALLS + "1 api aclrtSynchronizeDevice 30000 805000\n1 api aclrtFreePhysical 806000 1000000\n"
        "1 api aclrtMallocPhysical 1001000 1200000\n1 launch launch 1210000 1215000\n"
        "1 api aclrtSynchronizeStream 1630000 2030000"
    )
    rows = launch_delays(
        read_table(Kernel, kernels),
        calls,
        links=read_table(Dispatch, links),
        collectives=None,
        tasks=None,
        windows=None,
    ).rows()
    lost = {row["cause"]: row["lost_us"] for row in rows}
    assert lost["allocate"] == pytest.approx(420, abs=30)
    assert lost["synchronise"] == 0
