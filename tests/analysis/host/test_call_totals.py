# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.analysis.host.call_totals import call_totals
from advisor.facts.observed import ApiTotal, HostCall, OperatorTotal
from advisor.facts.table import Table

BUILD = "aclopCompileAndExecute"
TOTALS = Table.build(
    ApiTotal,
    rank=[0, 0, 0, 0, 1],
    level=["acl", "acl", "runtime", "acl", "acl"],
    name=[BUILD + "V2", "aclrtSynchronizeStream", "rtStreamSynchronize", "aclnnAdd", BUILD],
    calls=[100.0, 8.0, 8.0, 50.0, 3.0],
    total_us=[70_000.0, 2_544_000.0, 2_540_000.0, 700.0, 5.0],
    max_us=[4000.0, 400_000.0, 390_000.0, 20.0, 4.0],
    activity=["dispatch", "synchronise", None, None, "dispatch"],
)
KERNELS = Table.build(
    OperatorTotal, rank=[0, 0], op_type=["MatMul", "allreduceAicpuKernel"], core=None, total_us=[9000.0, 90.0]
)


def test_calls_of_one_activity_count_together_and_those_of_the_runtime_inside_them_not_again():
    found = {(row["rank"], row["activity"]): row for row in call_totals(TOTALS, None, KERNELS).rows()}
    assert sorted(found) == [(0, "dispatch"), (0, "synchronise"), (1, "dispatch")]
    waits = found[0, "synchronise"]
    assert (waits["calls"], waits["mean_us"], waits["longest_us"]) == (8, 318_000, 400_000)
    assert (waits["kernel_us"], found[1, "dispatch"]["kernel_us"]) == (9000, None)


def test_waits_that_the_runtime_names_as_its_callers_do_count_once():
    totals = Table.build(
        ApiTotal,
        rank=0,
        level=["runtime", "runtime", "acl", "acl"],
        name=["DeviceSynchronize", "StreamSynchronize", "aclrtSynchronizeDeviceWithTimeout", "aclrtSynchronizeStream"],
        calls=[8.0, 65.0, 8.0, 41.0],
        total_us=[318_000.0, 111_000.0, 318_100.0, 110_400.0],
        max_us=[158_000.0, 50_000.0, 159_000.0, 50_600.0],
        activity="synchronise",
    )
    (waits,) = call_totals(totals, None, None).rows()
    assert (waits["calls"], waits["total_us"], waits["name"]) == (73, 429_000, "DeviceSynchronize")


def test_what_waits_inside_an_operator_is_told_beside_the_waits_and_never_as_more_than_these():
    totals = Table.build(
        ApiTotal,
        rank=[0, 0, 0, 0, 1, 2],
        level="acl",
        name=[
            "aclrtSynchronizeStream",
            "aclnnNonzeroV2",
            "aclnnUnique2",
            "aclopCompileAndExecute",
            "aclrtSynchronizeStream",
            "aclnnNonzeroV2",
        ],
        calls=[8.0, 3.0, 1.0, 2.0, 4.0, 9.0],
        total_us=[1000.0, 600.0, 500.0, 7.0, 2000.0, 100.0],
        activity=["synchronise", "await_size", "await_size", "dispatch", "synchronise", "await_size"],
    )
    found = [
        (row["rank"], row["activity"], row["inner_operator"], row["inner_calls"], row["inner_us"])
        for row in call_totals(totals, None, None).rows()
    ]
    assert sorted(found) == [
        (0, "dispatch", None, 0, 0),
        (0, "synchronise", "aclnnNonzeroV2", 4, 1000),
        (1, "synchronise", None, 0, 0),
    ]


def test_ranks_whose_calls_were_recorded_need_no_totals():
    calls = Table.build(HostCall, rank=[0, 1], kind=["api", "operator"], name=["aclnnAdd", "aten::add"])
    assert [row["rank"] for row in call_totals(TOTALS, calls, None).rows()] == [1]
