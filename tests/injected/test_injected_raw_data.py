# SPDX-License-Identifier: Apache-2.0
"""The clock a device was built for stands beside a base, so that a clock that is low all the time can be told."""

from __future__ import annotations

import json
from pathlib import Path

from advisor.sources.ascend.devices import DEVICES
from advisor.sources.ascend.reading import Folder
from benchmarks.injected.capture import OUTPUT, TRACE, Capture, read_capture
from benchmarks.injected.raw_data import keep_device_info


def _written(capture: Capture, folder: Path) -> Path:
    (folder / OUTPUT).mkdir(parents=True)
    (folder / OUTPUT / TRACE).write_text(json.dumps(capture.events))
    for name, content in capture.beside.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return folder


def test_the_clock_of_a_base_is_the_highest_that_was_recorded_and_stays_when_it_is_read_again(tmp_path: Path) -> None:
    events = [{"ph": "C", "name": "AI Core Freq", "ts": "1.000", "args": {"MHz": mhz}} for mhz in (800, 1650)]
    capture = Capture("rank1_ascend_pt", 1, events)
    keep_device_info([capture])
    folder = _written(capture, tmp_path / capture.name)
    (device,) = DEVICES.ways["text"](Folder(rank=1, root=folder, output=folder / OUTPUT)).rows()
    assert (device["rank"], device["nominal_mhz"], device["chip"]) == (1, 1650, "Ascend910B")
    assert read_capture(folder).beside == capture.beside


def test_nothing_is_said_of_a_device_whose_clock_was_not_recorded() -> None:
    capture = Capture("rank0_ascend_pt", 0, [])
    keep_device_info([capture])
    assert not capture.beside
