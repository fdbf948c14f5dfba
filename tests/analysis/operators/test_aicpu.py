# SPDX-License-Identifier: Apache-2.0
"""What the time of operators on the AI CPU goes to, by their type."""

from __future__ import annotations

from advisor.analysis.operators.aicpu import aicpu_stages
from advisor.facts.observed import AicpuTask, Kernel
from advisor.facts.table import Table

KERNELS = Table.build(
    Kernel, rank=[0, 0], op_name=["unique_1", "add"], op_type=["Unique", "Add"], duration_us=[9.0, 1.0]
)


def tasks(**columns: object) -> Table[AicpuTask]:
    return Table.build(AicpuTask, rank=[0, 0, 0], op_name=["unique_1", "unique_1", "GetNext"], **columns)


def test_stages_are_means_by_operator_type_and_by_name_where_there_is_no_type() -> None:
    found = aicpu_stages(
        tasks(
            compute_us=[10.0, 20.0, 5.0], copy_us=[1.0, 3.0, 0.0], task_us=[12.0, 24.0, 6.0],
            dispatch_us=[2.0, 4.0, 1.0], total_us=[20.0, 40.0, 7.0],
        ),
        KERNELS,
    )  # fmt: skip
    rows = {row["op_type"]: row for row in found.rows()}
    assert rows.keys() == {"Unique", "GetNext"}
    assert [rows["Unique"][name] for name in ("calls", "total_us", "compute_us", "copy_us", "dispatch_us")] == [
        2, 30, 15, 2, 3,
    ]  # fmt: skip
    assert (rows["Unique"]["scheduling_us"], rows["GetNext"]["scheduling_us"]) == (9, 0)


def test_times_that_contradict_one_another_tell_nothing_of_waiting() -> None:
    found = aicpu_stages(tasks(task_us=[50.0] * 3, dispatch_us=[1.0] * 3, total_us=[20.0] * 3), KERNELS)
    assert {row["scheduling_us"] for row in found.rows()} == {None}
    assert {row["compute_us"] for row in found.rows()} == {None}
