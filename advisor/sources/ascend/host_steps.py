# SPDX-License-Identifier: Apache-2.0
"""Steps of a capture of MindSpore whose kernels bear none: of a graph that is executed as a whole (`jit_level` O2).

MindSpore counts what begins on the device while the host is in a step. That is the step's own work where the host waits
for the device at its end. Where it runs ahead nothing tells whose work it is.
"""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import StepWindow
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.step_windows import STEP_WINDOWS
from advisor.sources.files.damage_notes import Unreadable

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
    try:
        windows = STEP_WINDOWS.ways["text"](folder)
    except (FactMissing, Unreadable):
        windows = Table.empty(StepWindow)
    place = np.searchsorted(windows["start_ns"], moment_ns, "right") - 1
    step, end = np.append(windows["step"], MISSING), np.append(windows["end_ns"], MISSING)
    found: Array = np.where((place >= 0) & (moment_ns <= end[place]), step[place], MISSING)
    return found
