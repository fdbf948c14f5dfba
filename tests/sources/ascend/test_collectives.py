# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
import json
import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.collectives import COLLECTIVES, DTYPE_BYTES, DTYPES
from advisor.sources.family import GroupMembers
from tests.sources.traces import captured, event, lane, of, thread

GROUP = "11022204950826225271"
DETAILS = """Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)
50,hcom_allReduce__271_0_1,hcom_allReduce_,{core},100.500\t,80.25,0
50,aclnnAdd_Add,Add,AI_VECTOR_CORE,90.000,1,0
"""
TIMES = {
    "Start Timestamp(us)": 100.5,
    "Elapse Time(ms)": 0.08025,
    "Transit Time(ms)": 0.01,
    "Wait Time(ms)": 0.02,
    "Synchronization Time(ms)": 0.015,
    "Idle Time(ms)": 0.05025,
}
TRACE = (
    lane(15, "HCCL"),
    thread(15, 0, "Group 0 Communication"),
    thread(15, 1, "Plane 0"),
    event(
        "hcom_allReduce__271_0_1",
        "100.500",
        80.25,
        pid=15,
        tid=0,
        args={"data_type": "FP32", "alg_type": "MESH-RING", "count": 1000},
    ),
    event("Memcpy", "101.000", 5.0, pid=15, tid=1),
)


def told(step: str = "step50") -> str:
    entry = {"Communication Time Info": TIMES, "Communication Bandwidth Info": {}}
    return json.dumps(
        {step: {"p2p": {}, "collective": {f"hcom_allReduce__271_0_1@{GROUP}": entry, "Total Op Info": entry}}}
    )


@pytest.mark.parametrize("core", ["HCCL", "COMMUNICATION", "N/A"])
def test_one_operator_is_put_together_from_three_files(tmp_path: Path, core: str) -> None:
    capture = captured(tmp_path, TRACE, kernel_details=DETAILS.format(core=core), communication=told())
    folder = replace(capture, groups={GROUP: GroupMembers("dp", (0, 1))})
    assert of(COLLECTIVES.ways["text"], folder) == [
        {
            "rank": 3,
            "step": 50,
            "name": "hcom_allReduce__271_0_1",
            "op": "allReduce",
            "group": GROUP,
            "group_kind": "dp",
            "p2p": False,
            "start_ns": 100_500,
            "elapse_us": 80.25,
            "transit_us": 10.0,
            "wait_us": 20.0,
            "sync_us": 15.0,
            "idle_us": 50.25,
            "size_bytes": 4000.0,
            "bus_bytes": None,
            "dtype": "FP32",
            "algorithm": "MESH-RING",
        }
    ]


@pytest.mark.parametrize("kept", ["", "50,hcom_allReduce__271_0_1,hcom_allReduce_,HCCL,100.500,80.25,0\n"])
def test_an_operator_whose_row_the_table_of_kernels_lost_is_taken_from_the_communication_file(
    kept: str, tmp_path: Path
) -> None:
    entry = {"Communication Time Info": TIMES, "Communication Bandwidth Info": {}}
    later = {"Communication Time Info": {**TIMES, "Start Timestamp(us)": 300.5}, "Communication Bandwidth Info": {}}
    listed = {f"hcom_allReduce__271_0_1@{GROUP}": entry, f"hcom_allReduce__271_1_1@{GROUP}": later}
    details = DETAILS.splitlines(keepends=True)[0] + kept + DETAILS.splitlines(keepends=True)[2]
    capture = captured(
        tmp_path, kernel_details=details, communication=json.dumps({"step50": {"p2p": {}, "collective": listed}})
    )
    rows = of(COLLECTIVES.ways["text"], capture)
    assert [(row["step"], row["start_ns"], row["elapse_us"], row["wait_us"]) for row in rows] == [
        (50, 100_500, 80.25, 20.0),
        (50, 300_500, 80.25, 20.0),
    ]


def test_where_the_communication_file_names_operators_otherwise_none_is_counted_twice(tmp_path: Path) -> None:
    other = told().replace("hcom_allReduce__271_0_1", "hcom_allReduce__999_7")
    rows = of(
        COLLECTIVES.ways["text"], captured(tmp_path, kernel_details=DETAILS.format(core="HCCL"), communication=other)
    )
    assert [row["name"] for row in rows] == ["hcom_allReduce__271_0_1"]


def test_communicators_with_equal_last_digits_are_told_apart_by_when_their_operators_began(tmp_path: Path) -> None:
    others = GROUP.replace("1", "9", 1)
    ran = {GROUP: (100.5, 300.25), others: (200.5,)}
    listed = [
        (f"hcom_allReduce__271_{number}_1", group, start, wait)
        for wait, (group, starts) in enumerate(ran.items(), 1)
        for number, start in enumerate(starts)
    ]
    rows = [f"50,{name},x,HCCL,{start}00\t,10,0" for name, _, start, _ in listed]
    details = "\n".join([DETAILS.partition("\n")[0], *rows, ""])
    # starts of this file have fewer digits
    entries = {
        f"{name}@{group}": {
            "Communication Time Info": {**TIMES, "Start Timestamp(us)": start + 0.1, "Wait Time(ms)": wait}
        }
        for name, group, start, wait in listed
    }
    for ordered in (entries, dict(reversed(entries.items()))):
        told = json.dumps({"step50": {"p2p": {}, "collective": ordered}})
        folder = captured(tmp_path, kernel_details=details, communication=told)
        found = [(row["start_ns"], row["group"], row["wait_us"]) for row in of(COLLECTIVES.ways["text"], folder)]
        assert found == [(100_500, GROUP, 1000.0), (200_500, others, 2000.0), (300_250, GROUP, 1000.0)]


def test_a_file_that_names_no_operator_is_told_where_there_are_collectives(tmp_path: Path) -> None:
    folder = captured(
        tmp_path, kernel_details=DETAILS.format(core="HCCL"), communication='{"step50": {"collective": {}}}'
    )
    assert len(of(COLLECTIVES.ways["text"], folder)) == 1
    (note,) = folder.notes.all()
    assert (note.file, note.what) == ("communication.json", Message("names_no_operator"))
    (tmp_path / "alone").mkdir()
    alone = captured(tmp_path / "alone", communication='{"step50": {}}')
    assert not of(COLLECTIVES.ways["text"], alone)
    assert not alone.notes.all()


def test_of_a_host_that_is_ahead_mindspore_lists_no_operator_and_that_is_no_damage(tmp_path: Path) -> None:
    (tmp_path / "w_1_ascend_ms").mkdir()
    folder = captured(
        tmp_path / "w_1_ascend_ms",
        kernel_details=DETAILS.format(core="HCCL"),
        communication='{"step50": {"p2p": {}, "collective": {}}}',
    )
    assert len(of(COLLECTIVES.ways["text"], folder)) == 1
    assert not folder.notes.all()


def test_at_level0_the_group_is_the_one_of_the_run_that_ends_in_the_digits_of_the_name(tmp_path: Path) -> None:
    folder = captured(tmp_path, TRACE, kernel_details=DETAILS.format(core="HCCL"))
    (unknown,) = of(COLLECTIVES.ways["text"], folder)
    assert (unknown["group"], unknown["transit_us"], unknown["size_bytes"]) == ("271", None, 4000.0)
    groups = {GROUP: GroupMembers("tp", (0, 1)), "5": GroupMembers("pp", (0, 2))}
    (known,) = of(COLLECTIVES.ways["text"], replace(folder, groups=groups))
    assert (known["group"], known["group_kind"]) == (GROUP, "tp")


def test_without_a_table_of_kernels_the_timeline_says_when_and_without_it_the_communication_file(
    tmp_path: Path,
) -> None:
    (seen,) = of(COLLECTIVES.ways["text"], captured(tmp_path, TRACE, communication=told()))
    assert (seen["start_ns"], seen["elapse_us"], seen["wait_us"], seen["size_bytes"]) == (100_500, 80.25, 20.0, 4000.0)
    alone = tmp_path / "alone"
    alone.mkdir()
    (row,) = of(COLLECTIVES.ways["text"], captured(alone, communication=told()))
    assert (row["start_ns"], row["elapse_us"], row["step"], row["size_bytes"]) == (100_500, 80.25, 50, None)


@pytest.mark.parametrize("start", [1e29, 9.3e15, float("nan"), -1.0])
def test_a_start_that_no_clock_shows_is_none(tmp_path: Path, start: float) -> None:
    entries = json.loads(json.dumps(told()).replace("100.5", json.dumps(start)))
    assert of(COLLECTIVES.ways["text"], captured(tmp_path, communication=entries)) == []


def test_a_start_is_the_one_the_launch_ends_at_though_the_table_cuts_off_a_nanosecond(tmp_path: Path) -> None:
    table = DETAILS.format(core="HCCL").replace("100.500", "100.499")
    (row,) = of(COLLECTIVES.ways["text"], captured(tmp_path, TRACE, kernel_details=table))
    assert (row["start_ns"], row["size_bytes"]) == (100_500, 4000.0)


@pytest.mark.parametrize("op", ["send", "receive", "batchSendRecv"])
def test_sends_and_receives_are_point_to_point(tmp_path: Path, op: str) -> None:
    table = DETAILS.format(core="HCCL").replace("allReduce", op)
    (row,) = of(COLLECTIVES.ways["text"], captured(tmp_path, kernel_details=table))
    assert (row["op"], row["p2p"]) == (op, True)


def test_a_capture_without_any_of_the_files_has_no_collectives(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(COLLECTIVES.ways["text"], captured(tmp_path))


NUMBERS_OF_HCCL = {
    0: "INT8",
    1: "INT16",
    2: "INT32",
    3: "FP16",
    4: "FP32",
    5: "INT64",
    6: "UINT64",
    7: "UINT8",
    8: "UINT16",
    9: "UINT32",
    10: "FP64",
    11: "BFP16",
    12: "INT128",
    14: "HIF8",
    15: "FP8E4M3",
    16: "FP8E5M2",
    17: "FP8E8M0",
}


def test_every_data_type_has_the_number_that_hccl_gives_it() -> None:
    assert {number: name for number, name in DTYPES.items() if name != "-"} == NUMBERS_OF_HCCL


@pytest.mark.parametrize("name", NUMBERS_OF_HCCL.values())
def test_an_element_has_as_many_bytes_as_the_name_of_its_type_has_bits(name: str) -> None:
    bits = int("".join(itertools.takewhile(str.isdigit, name.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ"))))
    assert DTYPE_BYTES[name] * 8 == bits


def test_no_other_data_type_has_a_size() -> None:
    assert set(DTYPE_BYTES) == set(NUMBERS_OF_HCCL.values())


NAMES = ("hcom_allReduce__271_0_1", "hcom_allGather__9_1_1", "hcom_send__5_2_1")
some_calls = st.lists(st.tuples(st.sampled_from(NAMES), st.integers(0, 40), st.integers(1, 3)), max_size=8)
some_told = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(["step", "step1", "step2"]), st.integers(0, 9)), max_size=8
)
some_slices = st.lists(
    st.tuples(st.sampled_from(NAMES), st.integers(0, 40), st.integers(0, 9)), max_size=8, unique_by=lambda row: row[:2]
)


@given(some_calls, some_told, some_slices)
@settings(max_examples=60, deadline=None)
def test_each_operator_has_the_split_of_its_step_or_of_its_name_and_the_payload_that_begins_nearest(
    calls: list[tuple[str, int, int]], told: list[tuple[str, str, int]], slices: list[tuple[str, int, int]]
) -> None:
    rows = [f"{step},{name},x,HCCL,{100 + at}.000,1.0,0" for name, at, step in calls]
    listed: dict[str, dict[str, dict[str, object]]] = {}
    for name, step, wait in told:
        entry = {"Communication Time Info": {"Wait Time(ms)": wait}}
        listed.setdefault(step, {"collective": {}})["collective"].pop(f"{name}@{GROUP}", None)
        listed[step]["collective"][f"{name}@{GROUP}"] = entry
    shown = [
        event(name, f"{100 + at}.000", 1.0, pid=15, tid=0, args={"data_type": "FP32", "count": count})
        for name, at, count in slices
    ]
    in_order = [
        (name, None if step == "step" else int(step[4:]), entry["Communication Time Info"]["Wait Time(ms)"])
        for step, kinds in listed.items()
        for name, entry in ((key.partition("@")[0], entry) for key, entry in kinds["collective"].items())
    ]
    wanted = []
    for name, at, step in calls:
        of_step = [wait for one, of, wait in in_order if (one, of) == (name, step)]
        of_any = [wait for one, _, wait in in_order if one == name]
        near = sorted((abs(other - at), other, count) for one, other, count in slices if one == name)
        start = near[0][1] if near and near[0][0] <= 1 else at
        wait = (of_step or of_any or [None])[-1]
        wanted.append((start, name, None if wait is None else wait * 1e3, near[0][2] * 4 if near else None))
    with tempfile.TemporaryDirectory() as place:
        details = "\n".join(["Step Id,Name,Type,Accelerator Core,Start Time(us),Duration(us),Wait Time(us)", *rows, ""])
        trace = (lane(15, "HCCL"), thread(15, 0, "Group 0 Communication"), *shown)
        folder = captured(Path(place), trace, kernel_details=details, communication=json.dumps(listed))
        found = of(COLLECTIVES.ways["text"], folder)
    plain = [(row["start_ns"] // 1000 - 100, row["name"], row["wait_us"], row["size_bytes"]) for row in found]
    assert sorted(plain, key=repr) == sorted(wanted, key=repr)


def test_a_whole_number_of_hundreds_of_digits_is_no_time(tmp_path: Path) -> None:
    content = json.loads(told())
    entry = content["step50"]["collective"][f"hcom_allReduce__271_0_1@{GROUP}"]
    entry["Communication Time Info"] = {"Wait Time(ms)": 10**400, "Idle Time(ms)": [1], "Transit Time(ms)": True}
    folder = captured(tmp_path, TRACE, kernel_details=DETAILS.format(core="HCCL"), communication=json.dumps(content))
    (row,) = of(COLLECTIVES.ways["text"], folder)
    assert [row[name] for name in ("wait_us", "idle_us", "transit_us", "sync_us")] == [None, None, None, None]
