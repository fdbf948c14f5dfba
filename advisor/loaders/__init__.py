# SPDX-License-Identifier: Apache-2.0
"""From files to observed facts: what lies in a folder, and where each export keeps each fact."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from advisor.facts.profile import Source
from advisor.loaders.captures import DAMAGES, RANK_CAPTURES
from advisor.loaders.collectives import COLLECTIVES
from advisor.loaders.device_tasks import DEVICE_TASKS
from advisor.loaders.devices import DEVICES
from advisor.loaders.frequencies import FREQUENCIES
from advisor.loaders.groups import GROUPS
from advisor.loaders.host_calls import HOST_CALLS
from advisor.loaders.kernels import KERNELS
from advisor.loaders.launches import LAUNCHES
from advisor.loaders.links import LINKS
from advisor.loaders.memory import L2_CACHE, MEMORY_USES, MODULE_MEMORY, OPERATOR_MEMORY
from advisor.loaders.opening import open_run
from advisor.loaders.operator_calls import OPERATOR_CALLS
from advisor.loaders.overlap_tracks import OVERLAP_TRACKS
from advisor.loaders.reading import Folder, Reading
from advisor.loaders.settings import SETTINGS
from advisor.loaders.step_windows import STEP_WINDOWS
from advisor.loaders.steps import STEP_TIMES
from advisor.loaders.totals import API_TOTALS, OPERATOR_TOTALS
from advisor.loaders.transfers import TRANSFERS
from advisor.progress import Progress, silent
from advisor.run import Run

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
