# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.host.cpu_operators import cpu_operators
from advisor.analysis.launches.delayed_launches import launch_delays
from advisor.analysis.launches.delaying_calls import delaying_calls
from advisor.analysis.steps.device import build_timeline
from advisor.facts.derived import Dispatch
from advisor.facts.observed import DeviceTask, Kernel
from advisor.facts.table import Table, read_table
from tests.analysis.timelines import host_calls

MS = 1_000_000
KERNELS = read_table(Kernel, f"start_ns duration_us\n0 1000\n{3 * MS} 1000\n{4 * MS} 1000")
TASKS = f"kind direction start_ns end_ns\ncopy d2h {MS} 1010000\ncopy h2d 2020000 2030000"
LINKS = read_table(
    Dispatch,
    f"start_ns latency_us idle_before_us vertical\n0 10 - -\n{MS} 900 0 false\n2020000 20 990 true\n"
    f"{3 * MS} 10 970 true\n{4 * MS} 900 0 false",
)
CALLS = (
    "thread kind name start_ns end_ns\n1 api aclrtMemcpy 100000 1020000\n1 operator aten::sum 1050000 1060000\n"
    "{operator}1 api aclrtMemcpy 2000000 2040000\n1 api launch 2990000 2995000\n"
)
CUMSUM = "1 operator aten::cumsum 1100000 1900000\n1 operator aten::_cumsum 1110000 1890000\n"


def found(operator: str = CUMSUM, tasks: str = TASKS, more: str = "") -> tuple[list[str | None], list[tuple[int, int]]]:
    table = host_calls(CALLS.format(operator=operator) + more)
    device = build_timeline(KERNELS, None, read_table(DeviceTask, tasks), None)
    one = cpu_operators(table, 0, device, LINKS)
    stretches = zip(one.stretches.start.tolist(), one.stretches.end.tolist(), strict=True)
    return table.texts("name").take(one.calls.row).values(), list(stretches)


def test_an_operator_between_a_copy_to_the_host_and_one_back_holds_the_device_up_from_the_one_to_the_other() -> None:
    assert found() == (["aten::cumsum"], [(100000, 2040000)])


def test_without_a_copy_back_it_does_until_it_is_done() -> None:
    assert found(tasks=TASKS.replace("h2d", "d2d")) == (["aten::cumsum"], [(100000, 1900000)])


@pytest.mark.parametrize(
    "operator",
    [
        "1 operator aten::cumsum 1100000 1150000\n",  # as short as one that only launches
        "1 operator aten::randint 1100000 1900000\n",  # takes no tensor
        "1 operator forward 1100000 1900000\n",  # a range of the program
        "1 python train.py(7):log 1100000 1900000\n",
        "1 operator aten::cumsum 1100000 2100000\n",  # launches
        "1 data_loader load 1100000 1900000\n1 operator aten::stack 1110000 1890000\n",
    ],
)
def test_what_does_not_compute_on_the_host_what_was_copied_is_none(operator: str) -> None:
    assert found(operator) == ([], [])


def test_after_the_read_of_a_value_nothing_works_on_a_tensor_of_the_device() -> None:
    assert found("1 operator aten::item 90000 1030000\n" + CUMSUM) == ([], [])


def test_after_a_copy_to_the_device_neither() -> None:
    assert found(tasks=TASKS.replace("d2h", "h2d")) == ([], [])


QUEUED = """thread kind name start_ns end_ns connection
1 api aclrtMemcpy 100000 1020000 -
1 operator aten::sum 1050000 1060000 -
1 operator aten::cumsum 1100000 1900000 -
1 api aclrtMemcpy 2000000 2040000 -
1 enqueue Enqueue@x {put} 7
2 dequeue Dequeue@x 2985000 2999000 {taken}
"""


def queued(put: str, taken: str = "7") -> list[str | None]:
    """The operators where a second thread makes the launch at 2990000, by when it was handed over."""
    table = host_calls(QUEUED.format(put=put, taken=taken))
    one = cpu_operators(table, 0, build_timeline(KERNELS, None, read_table(DeviceTask, TASKS), None), LINKS)
    return table.texts("name").take(one.calls.row).values()


def test_where_a_second_thread_launches_an_operator_launches_what_it_hands_over() -> None:
    assert queued("2100000 2101000") == ["aten::cumsum"]
    assert queued("1200000 1201000") == []


def test_where_it_is_not_known_what_a_second_thread_was_given_nothing_is() -> None:
    assert queued("2100000 2101000", taken="8") == []


def launch_delay(calls: Table) -> dict[str, float]:  # type: ignore[type-arg]
    rows = launch_delays(
        KERNELS, calls, links=LINKS, collectives=None, tasks=read_table(DeviceTask, TASKS), windows=None
    ).rows()
    return {cause: sum(row["lost_us"] for row in rows if row["cause"] == cause) for cause in {r["cause"] for r in rows}}  # type: ignore[misc]


def test_its_cost_is_the_operator_with_its_copies_and_no_work_of_the_host_beside_them() -> None:
    lost = launch_delay(host_calls(CALLS.format(operator=CUMSUM)))
    assert lost["cpu_operator"] == pytest.approx(1940, abs=100)
    assert lost["cpu_operator"] + lost["host"] <= 2000
    assert lost.get("blocking_copy", 0.0) == 0  # its copies are lost to it already


def test_the_operators_are_listed_with_their_time() -> None:
    rows = delaying_calls(
        KERNELS, host_calls(CALLS.format(operator=CUMSUM)), windows=None, idle=None, links=LINKS,
        tasks=read_table(DeviceTask, TASKS),
    ).rows()  # fmt: skip
    assert [(r["name"], r["duration_us"]) for r in rows if r["cause"] == "cpu_operator"] == [("aten::cumsum", 800.0)]


UNTOLD = TASKS.replace("d2h", "-").replace("h2d", "-")


@pytest.mark.parametrize(
    ("operator", "tasks", "costs"),
    [
        (CUMSUM, TASKS, [(1.0, 800.0)]),
        (CUMSUM, UNTOLD, [(None, None)]),
        ("1 operator aten::cumsum 1100000 1150000\n", UNTOLD, []),
        (CUMSUM, TASKS.replace("d2h", "h2d"), []),
    ],
    ids=["to the host", "not recorded", "not recorded and nothing computes", "to the device"],
)
def test_what_it_costs_is_missing_where_it_is_not_known_whether_a_copy_went_to_the_host(
    operator: str, tasks: str, costs: list[tuple[float | None, float | None]]
) -> None:
    rows = launch_delays(
        KERNELS, host_calls(CALLS.format(operator=operator)),
        links=LINKS, collectives=None, tasks=read_table(DeviceTask, tasks), windows=None,
    ).rows()  # fmt: skip
    assert [(r["to_host_share"], r["host_us"]) for r in rows if r["cause"] == "cpu_operator"] == costs
