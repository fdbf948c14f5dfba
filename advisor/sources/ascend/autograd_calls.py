# SPDX-License-Identifier: Apache-2.0
"""AutogradCall: arguments of operators in the timeline; sequenceNumber and fwdThreadId of PYTORCH_API."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import AutogradCall
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.host_calls import OPERATOR
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import Only, are_spans
from advisor.sources.reading import Reading
from advisor.sources.shared.autograd import table_of_numbers

_THREAD_BITS = 0xFFFFFFFF
_COLUMNS = {
    "start": ["startNs"],
    "end": ["endNs"],
    "thread": ["globalTid"],
    "number": ["sequenceNumber"],
    "forward_thread": ["fwdThreadId"],
}


def _calls_from_text(folder: Folder) -> Table[AutogradCall]:
    timeline = folder.timeline()
    slices = timeline.slices
    return table_of_numbers(
        folder.rank,
        timeline.tracks,
        timeline.autograd,
        track=slices.track,
        start=slices.start_ns,
        end=slices.end_ns,
    )


def _calls_from_database(folder: Folder) -> Table[AutogradCall]:
    found = folder.database().integers("PYTORCH_API", _COLUMNS, Only("type", (OPERATOR,)))
    good = (found["number"] >= 0) & are_spans(found["start"], found["end"])
    if not good.any():
        raise FactMissing([AutogradCall.table])
    start, end, thread, number, forward_thread = (found[name][good] for name in _COLUMNS)
    table = Table.build(
        AutogradCall,
        rank=folder.rank,
        thread=np.where(thread == MISSING, MISSING, thread & _THREAD_BITS),
        number=number,
        backward=forward_thread > 0,
        start_ns=start,
        end_ns=end,
    )
    return table.sorted_by("start_ns")


AUTOGRAD_CALLS = Reading(AutogradCall, {"text": _calls_from_text, "database": _calls_from_database})
