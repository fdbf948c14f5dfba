# SPDX-License-Identifier: Apache-2.0
"""Steps of kernels of MindSpore that bear none, or one that is not theirs.

Those of a graph that is executed as a whole (`jit_level` O2) bear none. MindSpore counts what begins on the device
while the host is in a step. That is the step's own work where the host waits for the device at its end. Where it runs
ahead nothing tells whose work it is.

Others bear the step that the host was in as it launched them, or in which they begin where nothing tells who did. What
is of no step by either, such as work still in flight when recording begins, bears none in 2.7.0, and the last one from
2.7.1.post1 to 2.10 (`_get_step_id_by_ts` in profiler/analysis/viewer/ascend_kernel_details_viewer.py).
"""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.step_windows import STEP_WINDOWS
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.database import match_keys

_TOLERATED = 0.05
"""Part of the device time that may begin outside of all steps, as warm-up before the first."""


def steps_of_waiting_host(folder: Folder, start_ns: Array, lasts_us: Array) -> Array:
    """The step of each kernel or collective; missing for all of them where much of their time is of none."""
    found = steps_at_moments(folder, start_ns)
    lasts = np.maximum(np.nan_to_num(lasts_us), 0.0)
    outside = lasts[found == MISSING].sum() > _TOLERATED * lasts.sum()
    return np.full(len(found), MISSING, np.int64) if outside else found


def steps_at_moments(folder: Folder, moment_ns: Array) -> Array:
    """The step that the host is in at each moment; missing outside of every step."""
    windows = _windows_of_host(folder)
    place = np.searchsorted(windows["start_ns"], moment_ns, "right") - 1
    step, end = np.append(windows["step"], MISSING), np.append(windows["end_ns"], MISSING)
    found: Array = np.where((place >= 0) & (moment_ns <= end[place]), step[place], MISSING)
    return found


def steps_without_strays(folder: Folder, step: Array, start_ns: Array, launched: Array) -> Array:
    """The step of each kernel or collective as it is written, but of what bears the last one and neither began nor was
    launched in it: that has the step it begins in, or none. `launched` are those whose name tells of a launch."""
    windows = _windows_of_host(folder)
    if not len(windows):
        return step
    last = int(np.argmax(windows["start_ns"]))
    begin, end = int(windows["start_ns"][last]), int(windows["end_ns"][last])
    launch_ns = _launches_of(folder, start_ns)
    asked = np.where((launch_ns == MISSING) & launched & (start_ns > end), end, launch_ns)  # its arrow was lost
    stray = (step == windows["step"][last]) & ~_are_within(start_ns, begin, end) & ~_are_within(asked, begin, end)
    return np.where(stray, steps_at_moments(folder, start_ns), step)


def _windows_of_host(folder: Folder) -> Table[StepWindow]:
    try:
        return STEP_WINDOWS.ways["text"](folder)
    except (FactMissing, Unreadable):
        return Table.empty(StepWindow)


def _launches_of(folder: Folder, start_ns: Array) -> Array:
    """When the host launched what begins on the device at each moment; missing where no arrow leads there."""
    links = folder.timeline().operator_links
    return values_at(links.operator_ns, match_keys(links.device_ns, start_ns))


def _are_within(moment_ns: Array, begin: int, end: int) -> Array:
    within: Array = (begin <= moment_ns) & (moment_ns <= end)
    return within
