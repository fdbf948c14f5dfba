# SPDX-License-Identifier: Apache-2.0
"""How to have what was not recorded, in the words of whoever recorded: what a family of sources says of itself."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from advisor.facts.observed.recording import BOTH, MEMORY, NPU, STEPS_ON, TELL_CHIP, TELL_JOB
from advisor.facts.observed.steps import StepWindow
from advisor.messages.text import Text


class RecorderHints(Struct, frozen=True):
    """The hints of one recorder."""

    not_recorded: Text
    """What it cannot record."""
    of_switch: Mapping[Text, Text]
    """By the switch of the profilers for Ascend that records the same."""
    of_run: Mapping[str, Text]
    """What is known of a run, by its name in rules."""
    of_source: Mapping[str, Text]
    """By the observed table that a value is taken from."""
    of_column: Mapping[str, Text]
    """By column."""


_DEVICE = Text(en="record what runs on the device", zh="采集时包含 device 侧的执行")
_STEPS = Text(en="mark the steps of the program", zh="在程序中标记 step")
UNTOLD = RecorderHints(
    not_recorded=Text(
        en="see whether the profiler that recorded the rest can record it",
        zh="请查看所用采集工具能否采集此项",
    ),
    of_switch={
        NPU: _DEVICE,
        BOTH: Text(en="record host and device together", zh="采集时同时包含 host 与 device"),
        MEMORY: Text(en="record the memory of the device", zh="采集时包含 device 内存"),
        **dict.fromkeys((STEPS_ON, StepWindow.record_with), _STEPS),
    },
    of_run={
        "chip": TELL_CHIP,
        **dict.fromkeys(("workload", "phase", "stack"), TELL_JOB),
        "step_us": _DEVICE,
    },
    of_source={},
    of_column={"capacity_bytes": TELL_CHIP},
)
"""Of a profiler of which nobody says how it is switched."""
