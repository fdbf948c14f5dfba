# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

from advisor.sources.ascend.frequencies import FREQUENCIES
from tests.sources.traces import captured, of


def test_frequencies_come_in_the_order_of_time_and_other_counters_are_left_out(tmp_path: Path) -> None:
    counter = {"ph": "C", "name": "AI Core Freq", "pid": 1, "tid": 0}
    trace = [
        {**counter, "ts": "20.000", "args": {"MHz": 800}},
        {**counter, "ts": "10.000", "args": {"MHz": 1800}},
        {**counter, "ts": "30.000", "args": {"MHz": "fast"}},
        {**counter, "name": "HBM 0/Read", "ts": "15.000", "args": {"Read(MB/s)": 0.0}},
    ]
    rows = of(FREQUENCIES.ways["text"], captured(tmp_path, trace))
    assert [(row["time_ns"], row["mhz"]) for row in rows] == [(10_000, 1800.0), (20_000, 800.0)]
