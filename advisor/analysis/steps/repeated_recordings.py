# SPDX-License-Identifier: Apache-2.0
"""Ranks that hold the recording of another one: a folder that was copied, or has a description that is not its own."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.facts.derived import RecordedSpan, RepeatedRecording
from advisor.facts.table import Table


def repeated_recordings(spans: Table[RecordedSpan]) -> Table[RepeatedRecording]:
    """One row per rank that has the recording of one before it.

    Of thousands of ranks that begin or end together some do so at the same nanosecond: it is all three times together
    that are never equal on two devices.
    """
    alike = group_by(spans["start_ns"], spans["end_ns"], spans["worked_ns"])
    again = np.flatnonzero(alike.first[alike.of] != np.arange(len(spans)))
    return Table.build(
        RepeatedRecording,
        rank=spans["rank"][again],
        same_as=spans["rank"][alike.first[alike.of[again]]],
        start_ns=spans["start_ns"][again],
        end_ns=spans["end_ns"][again],
    )
