# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from advisor.facts.observed import Launch
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.launches import LAUNCHES
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.readings import READINGS
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


def replays(*, calls: int, graphs: int, before: int = 0, name: str = "aclmdlRIExecuteAsync") -> list[dict[str, object]]:
    """An engine that launches a kernel before each graph of three; of `before` graphs the call was not recorded."""
    trace = [*LANES, event("AscendCL@aclrtMemcpyAsync", "1.000", 1.0, pid=CANN, tid=4)]
    for number in range(calls):
        trace.append(event(f"AscendCL@{name}", f"{100 * number + 10}.000", 5.0, pid=CANN, tid=4))
    for number in range(-before, graphs):
        at = 1000 + 100 * number
        call = ("AscendCL@aclnnAdd", f"{100 * number + 5000}.000")
        trace += [
            event(call[0], call[1], 2.0, pid=CANN, tid=4),
            *arrow(900 + number, (CANN, 4, call[1]), (DEVICE, 2, f"{at}.000")),
        ]
        kernels = [(at, 2), *((at + 20 + 10 * one, 3) for one in range(3))]
        trace += [
            event("MatMul", f"{begin}.000", 5.0, pid=DEVICE, tid=stream, args={"Task Type": "AI_CORE"})
            for begin, stream in kernels
        ]
    return trace


def called(folder: Folder) -> list[tuple[int, int]]:
    """When the call of each kernel of a graph begins, and when the kernel does, µs."""
    found = replace(folder, readings=READINGS).read(Launch).rows()
    graphs = [row for row in found if row["stream"] == 3]
    return [(int(str(row["host_start_ns"])) // 1000, int(str(row["device_start_ns"])) // 1000) for row in graphs]


def test_kernels_of_a_graph_without_arrows_are_of_the_call_whose_turn_it_is(tmp_path: Path) -> None:
    expected = [(100 * n + 10, 1020 + 100 * n + 10 * one) for n in range(4) for one in range(3)]
    assert called(captured(tmp_path, replays(calls=4, graphs=4))) == expected


def test_where_graphs_and_calls_do_not_agree_nothing_is_said_of_any(tmp_path: Path) -> None:
    assert called(captured(tmp_path, replays(calls=4, graphs=3))) == []
    late = [*replays(calls=4, graphs=4), event("AscendCL@aclmdlRIExecuteAsync", "1400.000", 5.0, pid=CANN, tid=4)]
    assert called(captured(tmp_path, [*late, *replays(calls=0, graphs=5)[-4:]])) == []
    assert called(captured(tmp_path, replays(calls=4, graphs=4, name="aclmdlRIDebugPrint"))) == []


def test_a_graph_that_was_launched_before_the_recording_began_has_no_call(tmp_path: Path) -> None:
    found = called(captured(tmp_path, replays(calls=4, graphs=4, before=3)))
    assert [at for _, at in found] == [1020 + 100 * n + 10 * one for n in range(4) for one in range(3)]
