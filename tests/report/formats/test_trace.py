# SPDX-License-Identifier: Apache-2.0
"""Trace events: a lane per finding and rank that lies over the timeline of the profiler."""

from __future__ import annotations

import itertools
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.messages.text import Text
from advisor.model.findings import Diagnosis, Finding, Occurrence, RemedyStep, RuleInfo, Saving
from advisor.model.run import Run
from advisor.report.formats.trace import assign_lanes
from advisor.report.output_formats import Reported
from tests.report.formats.formats_samples import FORMATS, MORE_HOSTILE, reports, written
from tests.report.report_samples import HOSTILE
from tests.shared_captures import SharedCaptures

START = 1736408883755327123


def finding(number: int, *events: Occurrence) -> Finding:
    return Finding(
        rule=f"host/rule-{number}", fingerprint=f"{number:016x}", severity="high", confidence="low",
        saving=Saving(us=1000, share=0.1), occurrences=events,
    )  # fmt: skip


def overlay(*findings: Finding, language: Any = "en") -> list[dict[str, Any]]:
    rules = tuple(
        RuleInfo(
            id=one.rule, title=Text(en=f"Title {n}", zh=f"标题 {n}"), why=Text(en="-", zh="-"),
            fix=(RemedyStep(do=Text(en="Do it.", zh="处理。")),),
        )
        for n, one in enumerate(findings)
    )  # fmt: skip
    diagnosis = Diagnosis(run=Run(steps=(1,), step_us=1e4), findings=findings, rules=rules)
    text = FORMATS["trace"].text(Reported(diagnosis, language))
    return list(json.loads(text))


def test_an_event_stands_on_the_clock_of_the_capture_to_the_nanosecond() -> None:
    (event,) = [e for e in overlay(finding(1, Occurrence(rank=3, step=7, name="a", start_ns=START, duration_us=1.5)))
                if e["ph"] == "X"]  # fmt: skip
    assert (event["ts"], event["dur"], event["name"]) == ("1736408883755327.123", 1.5, "a")
    assert event["args"] == {
        "finding": "Title 0", "rule": "host/rule-1", "fingerprint": "0000000000000001", "severity": "high",
        "saving": "about 1.00 ms per step (10 %)", "first step": "Do it.", "step": 7,
    }  # fmt: skip


def test_each_rank_is_a_process_and_each_finding_a_lane_of_it_the_most_important_first() -> None:
    at = [Occurrence(rank=rank, start_ns=START, duration_us=1) for rank in (1, 0)]
    events = overlay(finding(1, *at), finding(2), finding(3, at[0]))
    named = {(e["name"], e["pid"], e["tid"]): e["args"] for e in events if e["ph"] == "M"}
    names = {pid: args["name"] for (what, pid, _), args in named.items() if what == "process_name"}
    assert sorted(names.values()) == ["advisor rank 0", "advisor rank 1"]
    lanes = sorted(
        (names[pid], named["thread_sort_index", pid, tid]["sort_index"], args["name"])
        for (what, pid, tid), args in named.items()
        if what == "thread_name"
    )
    assert lanes == [
        ("advisor rank 0", 1, "1: Title 0"),
        ("advisor rank 1", 1, "1: Title 0"),
        ("advisor rank 1", 2, "3: Title 2"),
    ]


def test_lanes_speak_the_language_of_the_report() -> None:
    events = overlay(finding(1, Occurrence(rank=0, table="gaps", start_ns=START)), language="zh")
    assert {e["args"]["name"] for e in events if e["name"] == "thread_name"} == {"1：标题 0"}
    assert [e["name"] for e in events if e["ph"] == "X"] == ["空闲"]


def test_without_a_moment_the_file_is_an_empty_list() -> None:
    assert overlay(finding(1)) == [] == overlay()


@given(st.lists(st.tuples(st.integers(1, 60), st.integers(0, 20)), max_size=20))
def test_on_one_lane_nothing_overlaps_and_no_event_is_lost(spans: list[tuple[int, int]]) -> None:
    events = [Occurrence(start_ns=start, duration_us=lasts / 1e3) for start, lasts in spans]
    lanes = assign_lanes(events)
    assert sorted((e.start_ns, e.end_ns) for lane in lanes for e in lane) == sorted((s, s + d) for s, d in spans)
    for lane in lanes:
        assert all(one.end_ns <= other.start_ns for one, other in itertools.pairwise(lane))


@pytest.mark.parametrize("name", (*HOSTILE, *MORE_HOSTILE))
def test_names_of_a_profile_are_escaped_by_json_alone(name: str) -> None:
    events = overlay(finding(1, Occurrence(rank=0, name=name, start_ns=START)))
    assert [e["name"] for e in events if e["ph"] == "X"] == [name or "event"]


@settings(max_examples=40)
@given(reports())
def test_any_report_gives_events_that_viewers_read(reported: Reported) -> None:
    for event in json.loads(written("trace", reported)):
        assert {"name", "ph", "pid", "tid"} <= event.keys()
        assert event["ph"] == "M" or float(event["ts"]) > 0


MATRIX = "msinsight_pytorch_matrix"
RECORDED = ("kernels", "collective_calls", "delaying_calls", "step_windows")
"""Kinds of events that the profiler writes as they are; gaps and steps on the device follow from them."""


BETWEEN_STEPS = ("memory_peaks",)
"""Tables of samples, which are taken before the timeline begins, before the first step and behind the last one too."""


def occurrences(diagnosis: Diagnosis) -> list[Occurrence]:
    events = [one for finding in diagnosis.findings for one in finding.occurrences]
    assert {"collective_calls", "gaps"} <= {one.table for one in events}
    assert all(one.since_start_us is not None for one in events)
    within = [one for one in events if one.table not in BETWEEN_STEPS]
    assert all(one.since_start_us >= 0 and one.since_step_us is not None for one in within)  # type: ignore[operator]
    return events


@pytest.mark.parametrize("level", ["level0", "level1", "level2"])
def test_on_real_timelines_each_recorded_event_has_its_like_at_the_same_ts(
    real_data: Path, shared: SharedCaptures, level: str
) -> None:
    folder = real_data / MATRIX / "text" / level
    stamps: dict[int, dict[str, list[float]]] = {0: {}, 1: {}}
    range_ns: dict[int, tuple[int, int]] = {}
    for rank in (0, 1):
        (path,) = (folder / f"rank{rank}_ascend_pt").rglob("trace_view.json")
        slices = [e for e in json.loads(path.read_text("utf-8")) if e["ph"] == "X"]
        for event in slices:
            stamps[rank].setdefault(event["ts"], []).append(float(event["dur"]))
        whole = [int(e["ts"].replace(".", "")) for e in slices]
        range_ns[rank] = min(whole), max(int(e["ts"].replace(".", "")) + round(float(e["dur"]) * 1e3) for e in slices)
    for one in occurrences(shared.diagnosis(folder)):
        assert one.rank is not None
        assert range_ns[one.rank][0] <= one.start_ns <= one.end_ns <= range_ns[one.rank][1]
        if one.table in RECORDED:
            ts = f"{one.start_ns // 1000}.{one.start_ns % 1000:03}"
            assert any(abs(dur - one.duration_us) <= 0.001 for dur in stamps[one.rank][ts]), one


@pytest.mark.parametrize("level", ["level0", "level1", "level2"])
def test_in_real_databases_each_recorded_event_starts_at_the_same_ns(
    real_data: Path, shared: SharedCaptures, level: str
) -> None:
    folder = real_data / MATRIX / "db" / level
    starts: dict[int, set[int]] = {}
    columns = {"TASK": "startNs", "COMMUNICATION_OP": "startNs", "PYTORCH_API": "startNs", "CANN_API": "startNs",
               "STEP_TIME": "startNs"}  # fmt: skip
    for rank in (0, 1):
        (path,) = (folder / f"rank{rank}_ascend_pt").rglob(f"ascend_pytorch_profiler_{rank}.db")
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as db:
            starts[rank] = {int(row[0]) for t, c in columns.items() for row in db.execute(f"SELECT {c} FROM {t}")}
    for one in occurrences(shared.diagnosis(folder)):
        if one.table in RECORDED and one.rank is not None:
            assert one.start_ns in starts[one.rank], one
