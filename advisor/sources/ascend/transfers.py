# SPDX-License-Identifier: Apache-2.0
"""Transfer: what each operator moved, by link and packet size; communication.json and CommAnalyzerBandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from advisor.facts.base import MISSING
from advisor.facts.observed import Transfer
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.communication import (
    CommunicationEntry,
    communication_entries,
    op_of,
    size_bytes,
    time_us,
)
from advisor.sources.ascend.kernels import communication_rows, kernel_details
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.record_cells import (
    bytes_of_cells,
    groups_of_cells,
    steps_of_cells,
    texts_of_cells,
    us_of_cells,
)
from advisor.sources.ascend.sqltable import Origin, read_record_columns
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.jsonfile import as_mapping, as_number, value_at
from advisor.sources.files.names import bounded_name
from advisor.sources.files.table_blocks import decimal_numbers
from advisor.sources.reading import Reading

BANDWIDTHS = "Communication Bandwidth Info"
SUMS = frozenset({"SDMA"})
"""Link names that only add others up."""


class MovedPackets(NamedTuple):
    """Packets of one size that one operator moved over one kind of link."""

    rank: int
    step: int
    name: str
    group: str
    link: str
    packet_bytes: float
    packets: float
    transit_us: float


class MovedPacketColumns(Struct, frozen=True):
    """Many of them, column by column."""

    rank: Array
    step: Array
    name: Texts
    group: Texts
    link: Texts
    packet_bytes: Array
    packets: Array
    transit_us: Array

    @classmethod
    def of(cls, rows: Iterable[MovedPackets]) -> MovedPacketColumns:
        """From single ones."""
        rank, step, name, group, link, size, packets, time = list(zip(*rows, strict=True)) or [()] * 8
        return cls(
            rank=np.array(rank, np.int64),
            step=np.array(step, np.int64),
            name=Texts.of(name),
            group=Texts.of(group),
            link=Texts.of(link),
            packet_bytes=np.array(size, np.float64),
            packets=np.array(packets, np.float64),
            transit_us=np.array(time, np.float64),
        )


def _transfers_from_text(folder: Folder) -> Table[Transfer]:
    folder.need(Transfer, "communication.json")
    found = communication_entries(folder, "communication.json")
    found = _in_steps_of_launches(folder, found) if folder.by_mindspore else found
    return transfer_table(
        MovedPacketColumns.of(row for entry in found for row in of_entry(entry, folder.rank, entry.content))
    )


def _in_steps_of_launches(folder: Folder, found: Sequence[CommunicationEntry]) -> tuple[CommunicationEntry, ...]:
    """The entries in the steps that launched them, as in the list of kernels: MindSpore files them under the step that
    the host is in when they begin."""
    try:
        columns = kernel_details(folder)
    except (FactMissing, Unreadable):  # noted; whose step it is is not known better
        return tuple(found)
    name, step = columns.get("op_name"), columns.get("step")
    if not isinstance(name, Texts) or not isinstance(step, np.ndarray):
        return tuple(found)
    rows = np.flatnonzero(communication_rows(columns))
    steps = dict(zip(name.take(rows).values(), step[rows].tolist(), strict=True))
    numbered = {one: None if number == MISSING else number for one, number in steps.items()}
    return tuple(replace(entry, step=numbered.get(entry.name, entry.step)) for entry in found)


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


def transfer_table(moved: MovedPacketColumns) -> Table[Transfer]:
    """The rows in order of step, operator, link and packet size."""
    size = np.where(np.isnan(moved.packet_bytes), -1, moved.packet_bytes)
    words = (one.places_in_order() for one in (moved.link, moved.group, moved.name))
    order = np.lexsort((size, *words, moved.step, moved.rank))
    name = moved.name.take(order)
    op = Texts.of(map(op_of, name.names)).take(name.codes)
    return Table.build(
        Transfer,
        rank=moved.rank[order],
        step=moved.step[order],
        name=name.values(),
        op=op.values(),
        group=[group or None for group in moved.group.take(order).values()],
        link=moved.link.take(order).values(),
        packet_bytes=moved.packet_bytes[order],
        packets=moved.packets[order],
        transit_us=moved.transit_us[order],
    )


def _transfers_from_database(folder: Folder) -> Table[Transfer]:
    found = read_record_columns(
        folder,
        Origin("analysis", "CommAnalyzerBandwidth"),
        ("step", "hccl_op_name", "group_name", "transport_type", "package_size", "count", "total_duration"),
    )
    if found is None:
        raise FactMissing([Transfer.table])
    return transfer_table(_packets_of_records(folder.rank, found))


def _packets_of_records(rank: int, records: Sequence[Sequence[object]]) -> MovedPacketColumns:
    """A row of the database is one packet size of one link of one operator."""
    step, name, group, link, size, count, time = records
    names = texts_of_cells(name, lambda cell: bounded_name(cell.partition("@")[0]) if isinstance(cell, str) else None)
    links = texts_of_cells(
        link, lambda cell: bounded_name(cell) if isinstance(cell, str) and cell not in SUMS else None
    )
    packets = decimal_numbers(tuple(count))[0]
    rows = np.flatnonzero((names.codes >= 0) & (links.codes >= 0) & (packets > 0))
    return MovedPacketColumns(
        rank=np.full(len(rows), rank),
        step=steps_of_cells(step)[rows],
        name=names.take(rows),
        group=groups_of_cells(group).take(rows),
        link=links.take(rows),
        packet_bytes=bytes_of_cells(size)[rows],
        packets=packets[rows],
        transit_us=us_of_cells(time)[rows],
    )


TRANSFERS = Reading(Transfer, {"text": _transfers_from_text, "database": _transfers_from_database})
