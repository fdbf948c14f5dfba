# SPDX-License-Identifier: Apache-2.0
"""Times of host and device that cannot be of one clock are told, and nothing said of the host leads then."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.analysis.launches.launch_clocks import EARLY_US, launch_clocks
from advisor.facts.base import MISSING
from advisor.facts.observed import Launch
from advisor.facts.table import Table
from advisor.pipeline import open_profile
from corpus.gpu_traces import trace, training, write

CALLS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 10**9), st.integers(-(10**10), 10**10)), max_size=30)


def launched(calls: Sequence[tuple[int, int, int]]) -> Table[Launch]:
    rank, start, lag = (list(column) for column in zip(*calls, strict=True)) if calls else ([], [], [])
    return Table.build(
        Launch, rank=rank, host_start_ns=start, device_start_ns=(np.array(start, int) + np.array(lag, int)).tolist()
    )


@given(CALLS)
def test_what_lies_between_calls_and_tasks_is_told_rank_by_rank(calls: list[tuple[int, int, int]]) -> None:
    found = {row["rank"]: row for row in launch_clocks(launched(calls)).rows()}
    assert found.keys() == {rank for rank, *_ in calls}
    for rank, row in found.items():
        lags = [lag / 1e3 for one, _, lag in calls if one == rank]
        assert row["launches"] == len(lags)
        assert row["early"] == sum(lag < -EARLY_US for lag in lags)
        assert row["least_lag_us"] == min(lags)


def test_a_launch_of_which_one_end_has_no_time_tells_nothing() -> None:
    whole = launched([(0, 5_000, 2_000)])
    lacking = Table.build(
        Launch, rank=[0, 0, 1], host_start_ns=[MISSING, 6_000, 7_000], device_start_ns=[9_000, MISSING, MISSING]
    )
    both = Table.concat(Launch, [whole, lacking])
    assert list(launch_clocks(both).rows()) == list(launch_clocks(whole).rows())


def test_how_long_calls_were_made_is_told_to_the_nanosecond_by_clocks_of_today() -> None:
    since = 1_736_412_474_011_941_525
    (row,) = launch_clocks(launched([(0, since, 10), (0, since + 1_234_567, 10)])).rows()
    assert row["called_us"] == 1234.567


@pytest.mark.parametrize("moved_us", [-3_000, 3_600_000_000])
def test_a_device_whose_clock_was_moved_leaves_the_host_unjudged(moved_us: int, tmp_path: Path) -> None:
    events = [
        {**event, "ts": float(str(event["ts"])) + moved_us} if event.get("cat") in ("kernel", "gpu_memcpy") else event
        for event in json.loads(json.dumps(training()))
    ]
    whole = advisor.diagnose(write(tmp_path / "whole" / "worker0.pt.trace.json", trace(training())))
    moved = advisor.diagnose(write(tmp_path / "moved" / "worker0.pt.trace.json", trace(events)))
    assert "capture/clocks-apart" not in {one.rule for one in whole.findings}
    assert "capture/clocks-apart" in {one.rule for one in moved.findings}
    assert all(one.doubted_by for one in moved.findings if one.rule.startswith(("host/", "io/")))


def test_clocks_of_real_captures_are_as_one(real_data: Path) -> None:
    for name in ("msinsight_pytorch_matrix/text/level2", "gpu_hta/trace_filter"):
        table = open_profile(real_data / name).table_if_recorded(Launch)
        assert table is not None
        clocks = launch_clocks(table)
        assert (clocks["early"] == 0).all() and (clocks["least_lag_us"] > -100).all()
