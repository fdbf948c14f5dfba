# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import pytest

from advisor.messages.errors import FactMissing
from advisor.sources.ascend.launches import LAUNCHES
from tests.sources.traces import arrow, captured, event, lane, of

CANN, DEVICE, GROUPS = 7, 9, 15
LANES = (lane(CANN, "CANN"), lane(DEVICE, "Ascend Hardware"), lane(GROUPS, "HCCL"))
HUGE = (1 << 80) + 5


def test_a_moment_inside_node_launch_stands_for_the_whole_call(tmp_path: Path) -> None:
    trace = [
        *LANES,
        event("AscendCL@aclnnAdd", "10.000", 20.0, pid=CANN, tid=4),
        event("Node@launch", "12.000", 5.0, pid=CANN, tid=4),
        event("Node@launch", "12.500", 9.0, pid=CANN, tid=5),
        *arrow(HUGE, (CANN, 4, "13.000"), (DEVICE, 2, "40.000")),
    ]
    (row,) = of(LAUNCHES.ways["text"], captured(tmp_path, trace))
    assert row == {
        "rank": 3,
        "thread": 4,
        "host_start_ns": 12_000,
        "host_end_ns": 17_000,
        "device_start_ns": 40_000,
        "stream": 2,
    }


def test_a_copy_is_launched_by_the_call_that_begins_there(tmp_path: Path) -> None:
    trace = [
        *LANES,
        event("AscendCL@aclrtMemcpyAsync", "10.000", 2.0, pid=CANN, tid=4),
        *arrow(5, (CANN, 4, "10.000"), (DEVICE, 2, "40.000")),
        *arrow(6, (CANN, 4, "10.000"), (GROUPS, 0, "41.000")),
    ]
    copy, collective = of(LAUNCHES.ways["text"], captured(tmp_path, trace))
    assert (copy["host_start_ns"], copy["host_end_ns"], copy["stream"]) == (10_000, 12_000, 2)
    assert (collective["device_start_ns"], collective["stream"]) == (41_000, None)


def test_one_start_may_have_several_ends_and_ids_beyond_64_bits_are_told_apart(tmp_path: Path) -> None:
    start, first = arrow(HUGE, (CANN, 1, "1.000"), (DEVICE, 2, "5.000"))
    _, second = arrow(HUGE, (CANN, 1, "1.000"), (DEVICE, 2, "6.000"))
    trace = [*LANES, start, first, second, *arrow(5, (CANN, 1, "2.000"), (DEVICE, 2, "7.000"))]
    rows = of(LAUNCHES.ways["text"], captured(tmp_path, trace))
    assert [(row["host_start_ns"], row["device_start_ns"]) for row in rows] == [
        (1_000, 5_000),
        (1_000, 6_000),
        (2_000, 7_000),
    ]


def test_level0_keeps_the_moment_of_a_start_on_a_lane_without_a_name(tmp_path: Path) -> None:
    trace = [lane(DEVICE, "Ascend Hardware"), *arrow(5, (3089232096, 4, "13.000"), (DEVICE, 2, "40.000"))]
    (row,) = of(LAUNCHES.ways["text"], captured(tmp_path, trace))
    assert (row["thread"], row["host_start_ns"], row["host_end_ns"]) == (None, 13_000, None)


def test_an_end_without_a_start_is_no_launch(tmp_path: Path) -> None:
    start, _ = arrow(5, (CANN, 1, "1.000"), (DEVICE, 2, "5.000"))
    _, end = arrow(6, (CANN, 1, "1.000"), (DEVICE, 2, "5.000"))
    assert of(LAUNCHES.ways["text"], captured(tmp_path, [*LANES, start, end])) == []


def test_arrows_to_events_are_no_launches(tmp_path: Path) -> None:
    wait = event("EVENT_WAIT", "5.000", 1.0, pid=DEVICE, tid=2, args={"Task Type": "EVENT_WAIT_SQE"})
    trace = [*LANES, wait, *arrow(5, (CANN, 1, "1.000"), (DEVICE, 2, "5.000"))]
    assert of(LAUNCHES.ways["text"], captured(tmp_path, trace)) == []


def test_a_timeline_without_arrows_has_no_launches(tmp_path: Path) -> None:
    with pytest.raises(FactMissing):
        of(LAUNCHES.ways["text"], captured(tmp_path, LANES))


@pytest.mark.parametrize("kept", ["s", "f"])
def test_arrows_that_all_lack_one_end_are_told(tmp_path: Path, kept: str) -> None:
    both = [*arrow(5, (CANN, 1, "2.000"), (DEVICE, 2, "7.000")), *arrow(6, (CANN, 1, "3.000"), (DEVICE, 2, "8.000"))]
    folder = captured(tmp_path, [*LANES, *(one for one in both if one["ph"] == kept)])
    with pytest.raises(FactMissing) as missing:
        LAUNCHES.ways["text"](folder)
    (note,) = folder.notes.all()
    assert (note.file, note.rows, missing.value.unreadable) == ("trace_view.json", 2, ("trace_view.json",))
