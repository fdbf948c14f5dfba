# SPDX-License-Identifier: Apache-2.0
"""How to have what was not recorded, in the words of whoever recorded: the profilers of frameworks for Ascend say it
with each fact; others have switches of their own, and record less.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct

from advisor.engine import gpu_hints, msprof_hints
from advisor.messages.text import Text
from advisor.model.run import Run


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


GPU, MSPROF = (
    RecorderHints(room.NOT_RECORDED, room.OF_SWITCH, room.OF_RUN, room.OF_SOURCE, room.OF_COLUMN)
    for room in (gpu_hints, msprof_hints)
)


def hints_of(run: Run | None) -> RecorderHints | None:
    """The hints of who recorded a run; None where the facts themselves say how to record them."""
    if run is None:
        return None
    return GPU if run.device_family == "gpu" else MSPROF if run.recorder == "msprof" else None
