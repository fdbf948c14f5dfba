# SPDX-License-Identifier: Apache-2.0
"""How every observed fact is read from what the Ascend profilers write."""

from __future__ import annotations

from typing import Any

from advisor.sources.ascend.captures import DAMAGES, RANK_CAPTURES
from advisor.sources.ascend.collectives import COLLECTIVES
from advisor.sources.ascend.device_tasks import DEVICE_TASKS
from advisor.sources.ascend.devices import DEVICES
from advisor.sources.ascend.frequencies import FREQUENCIES
from advisor.sources.ascend.groups import GROUPS
from advisor.sources.ascend.host_calls import HOST_CALLS
from advisor.sources.ascend.kernels import KERNELS
from advisor.sources.ascend.launches import LAUNCHES
from advisor.sources.ascend.links import LINKS
from advisor.sources.ascend.memory import L2_CACHE, MEMORY_USES, MODULE_MEMORY, OPERATOR_MEMORY
from advisor.sources.ascend.operator_calls import OPERATOR_CALLS
from advisor.sources.ascend.overlap_tracks import OVERLAP_TRACKS
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.settings import SETTINGS
from advisor.sources.ascend.step_windows import STEP_WINDOWS
from advisor.sources.ascend.steps import STEP_TIMES
from advisor.sources.ascend.totals import API_TOTALS, OPERATOR_TOTALS
from advisor.sources.ascend.transfers import TRANSFERS
from advisor.sources.reading import Reading

READINGS: tuple[Reading[Folder, Any], ...] = (
    STEP_TIMES,
    COLLECTIVES,
    DEVICE_TASKS,
    FREQUENCIES,
    HOST_CALLS,
    KERNELS,
    LAUNCHES,
    OPERATOR_CALLS,
    STEP_WINDOWS,
    OVERLAP_TRACKS,
    TRANSFERS,
    LINKS,
    MEMORY_USES,
    MODULE_MEMORY,
    OPERATOR_MEMORY,
    L2_CACHE,
    OPERATOR_TOTALS,
    API_TOTALS,
    SETTINGS,
    GROUPS,
    DEVICES,
    RANK_CAPTURES,
    DAMAGES,
)
"""How every observed fact is read, whatever the export."""
