# SPDX-License-Identifier: Apache-2.0
"""Of a trace that ends early: up to when it is whole, so that it counts as one that was recorded for less time.

What the program did is written before what the driver and the device did, and these follow each other in time. Where
the file ends, all marks of steps are there, and the device is known up to some moment: what was launched behind that is
missing, and looks as if the device had waited for it. So it is in a whole file where the profiler had no room for more
of the device and the program ran on.
"""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.table import Array, Texts, values_at
from advisor.sources.files.database import match_keys
from advisor.sources.kineto.kernel_names import CAPTURE, SINGLE_LAUNCH

_TOLERATED = 0.05
"""Part of the calls that launch a kernel which may lack it: 5 %, as at the edges of whole traces."""


def whole_until(
    name: Texts, start_ns: Array, end_ns: Array, correlation: Array, *, calls: Array, kernels: Array, marks: Array
) -> int | None:
    """Up to which launch nothing is missing, ns; None where a part of the first step is missing, or of all there is.

    `calls`, `kernels` and `marks` are the rows of the calls into the driver, of what they launched, and of the steps.
    """
    launched = values_at(calls, match_keys(correlation[calls], correlation[kernels]), -1)
    launched = launched[launched >= 0]
    if not len(launched):
        return None
    last = int(start_ns[launched].max())
    single = _single_launches(name, correlation, calls)
    led = np.isin(correlation[single], correlation[kernels])
    order = np.argsort(start_ns[marks], kind="stable")
    begun, ended = start_ns[marks][order], end_ns[marks][order]
    if not len(begun):
        begun, ended = np.array([start_ns[launched].min(), last + 1]), np.array([last, last + 2])
    made = np.sort(start_ns[single])
    found = np.sort(start_ns[single[led]])
    asked, given = (
        np.searchsorted(times, ended, "left") - np.searchsorted(times, begun, "left") for times in (made, found)
    )
    whole = (ended <= last) & (asked - given <= _TOLERATED * asked)
    first = int(np.argmin(np.append(whole, False)))
    return int(begun[first]) if 0 < first < len(begun) else None


def launches_past_device(name: Texts, start_ns: Array, correlation: Array, *, calls: Array, kernels: Array) -> int:
    """How many calls without a kernel come after the last one that has it; 0 for no more than may lack theirs.

    `calls` and `kernels` are as above. Where graphs are captured, calls need have none.
    """
    single = _single_launches(name, correlation, calls)
    led = np.isin(correlation[single], correlation[kernels])
    if not led.any() or any(CAPTURE.match(one) for one in name.take(calls).in_use().names):
        return 0
    behind = np.count_nonzero(start_ns[single] > start_ns[single[led]].max())
    return int(behind) if behind > _TOLERATED * len(single) else 0


def _single_launches(name: Texts, correlation: Array, calls: Array) -> Array:
    """Those of the calls that launch one kernel each."""
    single = calls[name.take(calls).hits(SINGLE_LAUNCH.match(one) is not None for one in name.take(calls).names)]
    told: Array = single[correlation[single] != MISSING]
    return told
