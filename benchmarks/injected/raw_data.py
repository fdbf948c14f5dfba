# SPDX-License-Identifier: Apache-2.0
"""What is left of the raw data beside an export: info.json of a device, where it was not cleaned up."""

from __future__ import annotations

import json
from collections.abc import Sequence

from benchmarks.injected.capture import Capture

_CORES = 24
"""Cube cores of the device that recorded: blocks of its largest kernels, and twice as many vector cores."""
_PLATFORM = "5"
"""Ascend910B."""


def keep_device_info(captures: Sequence[Capture]) -> None:
    """Puts info.json beside each capture: the clock its device was built for is the highest it was seen to run at."""
    for capture in captures:
        clocks = [e["args"]["MHz"] for e in capture.events if e["ph"] == "C" and e["name"] == "AI Core Freq"]
        if clocks:
            name = f"PROF_000001_20250109084754000_{capture.rank:016d}/device_{capture.rank}/info.json.{capture.rank}"
            capture.beside[name] = json.dumps(_info(capture.rank, max(clocks))).encode()


def _info(rank: int, mhz: int) -> dict[str, object]:
    clock = str(mhz)
    device = {
        "id": rank, "env_type": 3, "ai_core_num": _CORES, "aiv_num": 2 * _CORES, "aic_frequency": clock,
        "aiv_frequency": clock, "hwts_frequency": "50",
    }  # fmt: skip
    return {"DeviceInfo": [device], "platform_version": _PLATFORM, "rank_id": rank, "pid_name": "python3"}
