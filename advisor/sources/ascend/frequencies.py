# SPDX-License-Identifier: Apache-2.0
"""Frequency: the counter AI Core Freq in the timeline, AICORE_FREQ in the database."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import Frequency
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.reading import Reading


def _frequencies_from_text(folder: Folder) -> Table[Frequency]:
    found = folder.timeline().frequencies
    return _frequency_table(folder, found.time_ns, found.mhz)


def _frequencies_from_database(folder: Folder) -> Table[Frequency]:
    database = folder.database()
    if not database.fields("AICORE_FREQ"):
        raise FactMissing([Frequency.table])
    wanted = {"time": ["timestampNs"], "mhz": ["freq"]}
    found = database.integers("AICORE_FREQ", wanted, database.on_device("AICORE_FREQ", folder.rank))
    return _frequency_table(folder, found["time"], np.where(found["mhz"] == MISSING, np.nan, found["mhz"]))


def _frequency_table(folder: Folder, time_ns: Array, mhz: Array) -> Table[Frequency]:
    good = (time_ns != MISSING) & (mhz > 0)
    if not good.any():
        raise FactMissing([Frequency.table])
    rank = np.full(int(good.sum()), folder.rank, np.int64)
    return Table.build(Frequency, rank=rank, time_ns=time_ns[good], mhz=mhz[good]).sorted_by("time_ns")


FREQUENCIES = Reading(Frequency, {"text": _frequencies_from_text, "database": _frequencies_from_database})
