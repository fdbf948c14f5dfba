# SPDX-License-Identifier: Apache-2.0
"""An enlarged capture is what a longer recording of the same job would be."""

from __future__ import annotations

import csv
import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import corpus
from advisor.facts.derived import Overlap
from advisor.pipeline import open_profile
from benchmarks.enlarge import enlarge, repeats_for, size_of

CASE = Path(corpus.__file__).parent / "host-bound-2-ranks"
REPEATS = 3


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return enlarge(CASE, tmp_path_factory.mktemp("large"), REPEATS)


def _events(capture: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(sorted(capture.rglob("trace_view.json"))[0].read_text())
    return events


def _rows(capture: Path, name: str) -> list[dict[str, str]]:
    with sorted(capture.rglob(name))[0].open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_every_event_is_there_as_often_as_repeated(large: Path) -> None:
    def counted(capture: Path) -> Counter[tuple[str, str]]:
        return Counter((e["ph"], str(e.get("cat"))) for e in _events(capture) if e["ph"] != "M")

    assert counted(large) == Counter({key: REPEATS * count for key, count in counted(CASE).items()})


@pytest.mark.parametrize("left_out", [(), ("trace_view.json",), ("step_trace_time.csv",)], ids=str)
def test_every_step_is_split_as_in_the_original_and_from_its_kernels(
    large: Path, tmp_path: Path, left_out: tuple[str, ...]
) -> None:
    """Else benchmarks would measure the short way: the profiler's own sums in place of the analysis of kernels."""
    steps = [_split(capture, tmp_path / str(at), left_out) for at, capture in enumerate((CASE, large))]
    once, often = (sorted(found[rank] for rank in found) for found in steps)
    assert often == pytest.approx(np.tile(once, (1, REPEATS, 1)), abs=1e-3)


def _split(capture: Path, copied: Path, left_out: tuple[str, ...]) -> dict[int, list[tuple[float, float, float]]]:
    """Per rank: computing, exposed communication and idle time of each step, recomputed from whole lists."""
    shutil.copytree(capture, copied, ignore=shutil.ignore_patterns(*left_out))
    split = open_profile(copied).table(Overlap)
    assert set(split.texts("source").values()) == {"intervals"}
    assert (split["unlisted_us"] == 0).all()
    found: dict[int, list[tuple[float, float, float]]] = {}
    for row in split.rows():
        parts = tuple(float(str(row[name])) for name in ("compute_us", "exposed_comm_us", "free_us"))
        found.setdefault(int(str(row["rank"])), []).append((parts[0], parts[1], parts[2]))
    return found


def test_flows_still_pair(large: Path) -> None:
    for category in ("HostToDevice", "async_npu", "async_task_queue"):
        flows = [e for e in _events(large) if e.get("cat") == category]
        starts, ends = (Counter(str(e["id"]) for e in flows if e["ph"] == ph) for ph in "sf")
        assert starts == ends
        assert set(starts.values()) == {1}


def test_flows_keep_their_length(large: Path) -> None:
    def delays(capture: Path) -> list[int]:
        flows = [e for e in _events(capture) if e.get("cat") == "HostToDevice"]
        start = {e["id"]: _ns(e["ts"]) for e in flows if e["ph"] == "s"}
        return sorted(_ns(e["ts"]) - start[e["id"]] for e in flows if e["ph"] == "f")

    assert delays(large) == sorted(delays(CASE) * REPEATS)


def test_repeats_follow_each_other(large: Path) -> None:
    steps = sorted(
        (_ns(e["ts"]), _ns(e["ts"]) + round(e["dur"] * 1000), e["name"])
        for e in _events(large)
        if e["name"].startswith("ProfilerStep#")
    )
    assert [int(name.split("#")[1]) for _, _, name in steps] == list(range(11, 11 + 3 * REPEATS))
    assert all(steps[i][1] <= steps[i + 1][0] for i in range(len(steps) - 1))


def test_kernels_and_timeline_tell_the_same_times(large: Path) -> None:
    told = {row["Start Time(us)"].strip() for row in _rows(large, "kernel_details.csv")}
    drawn = {e["ts"] for e in _events(large) if e["ph"] == "X"}
    assert told <= drawn
    assert len(told) == REPEATS * len({row["Start Time(us)"] for row in _rows(CASE, "kernel_details.csv")})


def test_totals_are_multiplied_and_steps_go_on(large: Path) -> None:
    before, after = _rows(CASE, "op_statistic.csv"), _rows(large, "op_statistic.csv")
    assert [int(row["Count"]) for row in after] == [REPEATS * int(row["Count"]) for row in before]
    assert [row["Step"] for row in _rows(large, "step_trace_time.csv")] == [str(n) for n in range(11, 11 + 3 * REPEATS)]


def test_collectives_are_numbered_on(large: Path) -> None:
    steps = json.loads(sorted(large.rglob("communication.json"))[0].read_text())
    assert list(steps) == [f"step{n}" for n in range(11, 11 + 3 * REPEATS)]
    names = [name for kinds in steps.values() for name in kinds["collective"] if name != "Total Op Info"]
    assert len(set(names)) == len(names)
    assert {name.split("@")[0] for name in names} == {
        row["Name"] for row in _rows(large, "kernel_details.csv") if row["Accelerator Core"] == "HCCL"
    }


def test_shapes_can_be_made_distinct(tmp_path: Path) -> None:
    def shapes(capture: Path) -> int:
        return len({row["Input Shapes"] for row in _rows(capture, "kernel_details.csv")})

    assert shapes(enlarge(CASE, tmp_path / "same", 3)) == shapes(CASE)
    assert shapes(enlarge(CASE, tmp_path / "more", 3, distinct_shapes=True)) > 2 * shapes(CASE)


def test_sizes_are_read_as_people_write_them() -> None:
    assert (size_of("2M"), size_of("1.5G"), size_of("77")) == (2_000_000, 1_500_000_000, 77)
    assert repeats_for(CASE, 0) == 1


def test_a_folder_without_a_timeline_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"trace_view\.json"):
        enlarge(tmp_path, tmp_path / "out", 2)


def _ns(time: str) -> int:
    whole, _, decimals = time.partition(".")
    return int(whole) * 1000 + int(decimals)
