# SPDX-License-Identifier: Apache-2.0
"""From files to observed facts: what lies in a folder, and where each export keeps each fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from advisor.facts.profile import Source
from advisor.model.run import Run
from advisor.progress import Progress, silent
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
from advisor.sources.ascend.reading import Folder, Reading
from advisor.sources.ascend.settings import SETTINGS
from advisor.sources.ascend.step_windows import STEP_WINDOWS
from advisor.sources.ascend.steps import STEP_TIMES
from advisor.sources.ascend.totals import API_TOTALS, OPERATOR_TOTALS
from advisor.sources.ascend.transfers import TRANSFERS
from advisor.sources.opening import open_run

READINGS: tuple[Reading[Any], ...] = (
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
"""How every observed fact is read."""


def open_input(path: Path, jobs: int | None = None, progress: Progress = silent) -> tuple[Run, list[Source]]:
    """What lies at a path: the run, and one source per rank, or the one of a cluster summary.

    `jobs` is how many processes may decode the timeline of a single capture; as many as there are cores by default.

    Raises:
        InputError: Nothing there can be read; the message says what was found and what to do.
    """
    return open_run(path, READINGS, jobs=jobs, progress=progress)


__all__ = ["READINGS", "Folder", "Reading", "open_input"]
