# SPDX-License-Identifier: Apache-2.0
"""Transfer: what each operator moved, by link and packet size; communication.json and CommAnalyzerBandwidth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.observed import Transfer
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.communication import (
    CommunicationEntry,
    communication_entries,
    op_of,
    size_bytes,
    step_number,
    time_us,
)
from advisor.sources.ascend.groups import communicator_hash
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import Origin, read_records
from advisor.sources.files.jsonfile import as_mapping, as_number, value_at
from advisor.sources.files.names import bounded_name
from advisor.sources.reading import Reading

BANDWIDTHS = "Communication Bandwidth Info"
SUMS = frozenset({"SDMA"})
"""Link names that only add others up."""


class MovedPackets(Struct, frozen=True, order=True):
    """Packets of one size that one operator moved over one kind of link."""

    rank: int
    step: int
    name: str
    group: str
    link: str
    packet_bytes: float
    packets: float
    transit_us: float


def _transfers_from_text(folder: Folder) -> Table[Transfer]:
    folder.need(Transfer, "communication.json")
    found = communication_entries(folder, "communication.json")
    return transfer_table(row for entry in found for row in of_entry(entry, folder.rank, entry.content))


def of_entry(entry: CommunicationEntry, rank: int, content: Mapping[str, object]) -> Iterator[MovedPackets]:
    """The rows of one operator on one rank."""
    step = MISSING if entry.step is None else entry.step
    for link, info in as_mapping(value_at(content, BANDWIDTHS)).items():
        if link in SUMS:
            continue
        for size, cells in as_mapping(value_at(info, "Size Distribution")).items():
            count, time = cells[:2] if isinstance(cells, list) and len(cells) > 1 else (None, None)
            packets = as_number(count)
            if packets > 0:
                moved = time_us({"ms": time}, "ms")
                yield MovedPackets(rank, step, entry.name, entry.group, link, size_bytes(size), packets, moved)


def transfer_table(rows: Iterable[MovedPackets]) -> Table[Transfer]:
    """The rows in order of step, operator, link and packet size."""
    found = sorted(
        rows,
        key=lambda r: (r.rank, r.step, r.name, r.group, r.link, -1 if math.isnan(r.packet_bytes) else r.packet_bytes),
    )
    return Table.build(
        Transfer,
        rank=np.array([row.rank for row in found], np.int64),
        step=np.array([row.step for row in found], np.int64),
        name=[row.name for row in found],
        op=[op_of(row.name) for row in found],
        group=[row.group or None for row in found],
        link=[row.link for row in found],
        packet_bytes=np.array([row.packet_bytes for row in found], np.float64),
        packets=np.array([row.packets for row in found], np.float64),
        transit_us=np.array([row.transit_us for row in found], np.float64),
    )


def _transfers_from_database(folder: Folder) -> Table[Transfer]:
    found = read_records(
        folder,
        Origin("analysis", "CommAnalyzerBandwidth"),
        ("step", "hccl_op_name", "group_name", "transport_type", "package_size", "count", "total_duration"),
    )
    if found is None:
        raise FactMissing([Transfer.table])
    return transfer_table(row for record in found for row in _rows_of_record(folder.rank, record))


def _rows_of_record(rank: int, record: tuple[object, ...]) -> Iterator[MovedPackets]:
    step, name, group, link, size, count, time = record
    packets = as_number(count)
    if isinstance(name, str) and isinstance(link, str) and link not in SUMS and packets > 0:
        plain, _, _ = name.partition("@")
        number_of_step = step_number(str(step or ""))
        yield MovedPackets(
            rank,
            MISSING if number_of_step is None else number_of_step,
            bounded_name(plain),
            communicator_hash(bounded_name(str(group or ""))),
            bounded_name(link),
            size_bytes(size),
            packets,
            time_us({"ms": time}, "ms"),
        )


TRANSFERS = Reading(Transfer, {"text": _transfers_from_text, "database": _transfers_from_database})
