# SPDX-License-Identifier: Apache-2.0
"""Launch: device work and the call into the software of the device of the same correlation."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import Launch
from advisor.facts.table import Table
from advisor.sources.kineto.kernels import streams_of_work
from advisor.sources.kineto.reading import EXPORT, WORK, Trace, rows_or_missing
from advisor.sources.reading import Reading


def _launches_of_trace(trace: Trace) -> Table[Launch]:
    content = trace.content()
    slices = content.slices
    work = slices.of(*WORK)
    call = trace.launching_calls(work)
    work, call = work[call >= 0], call[call >= 0]
    rows_or_missing(work, Launch)
    inner = trace.work_of_collectives()[work]
    return Table.build(
        Launch,
        rank=trace.rank,
        thread=content.tracks.number[slices.track[call]],
        host_start_ns=slices.start_ns[call],
        host_end_ns=slices.end_ns[call],
        device_start_ns=slices.start_ns[work],
        stream=np.where(inner, MISSING, streams_of_work(trace, work)),
    ).sorted_by("device_start_ns", "stream")


LAUNCHES = Reading(Launch, {EXPORT: _launches_of_trace})
