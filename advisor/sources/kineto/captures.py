# SPDX-License-Identifier: Apache-2.0
"""What a trace is made of, which device it was recorded on, and what of it could not be read."""

from __future__ import annotations

import math

from advisor.facts.base import MISSING
from advisor.facts.observed import Damage, Device, RankCapture
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.files.damage_notes import aside_table
from advisor.sources.kineto.reading import EXPORT, Trace
from advisor.sources.reading import Reading


def _capture_of_rank(trace: Trace) -> Table[RankCapture]:
    stacks = trace.header.switch("with_stack")
    memory = trace.header.switch("profile_memory")
    return Table.build(
        RankCapture,
        rank=[trace.rank],
        source=EXPORT,
        with_stack=None if stacks is None else int(stacks),
        profile_memory=None if memory is None else int(memory),
        has_steps=int(bool(trace.header.steps)),
        other_captures=trace.other_captures,
        at_once_captures=trace.at_once_captures,
        told_ranks=trace.header.world_size or None,
    )


def _device_of_rank(trace: Trace) -> Table[Device]:
    memory = trace.header.memory_of(trace.own_devices)
    if not trace.chip and not memory:
        raise FactMissing([Device.table])
    return Table.build(
        Device,
        rank=[trace.rank],
        chip=[trace.chip or None],
        cube_cores=[math.nan],
        vector_cores=[math.nan],
        nominal_mhz=[math.nan],
        memory_bytes=[memory or math.nan],
        number=trace.own_devices if len(trace.own_devices) == 1 else [MISSING],
    )


def damages_of_rank(trace: Trace) -> Table[Damage]:
    """What could not be read so far; to be asked for after the facts."""
    trace.release()
    read = trace.notes.table(trace.rank, trace.name)
    return Table.concat(Damage, [read, aside_table(trace.aside, trace.rank)]) if trace.aside else read


RANK_CAPTURES = Reading(RankCapture, {EXPORT: _capture_of_rank})
DEVICES = Reading(Device, {EXPORT: _device_of_rank})
DAMAGES = Reading(Damage, {EXPORT: damages_of_rank})
