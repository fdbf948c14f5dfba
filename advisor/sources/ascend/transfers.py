# SPDX-License-Identifier: Apache-2.0
"""Transfer: what each operator moved, by link and packet size; communication.json and CommAnalyzerBandwidth."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
    steps_of_entries,
)
from advisor.sources.ascend.kernels import communication_rows, kernel_details
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.record_cells import (
    bytes_of_cells,
    groups_of_cells,
    plain_cells,
    steps_of_cells,
    texts_of_cells,
    us_of_cells,
)
from advisor.sources.ascend.sqltable import Origin, read_record_columns
from advisor.sources.files.damage_notes import Unreadable
from advisor.sources.files.jsonfile import as_mapping, value_at
from advisor.sources.files.names import bounded_name
from advisor.sources.files.table_blocks import decimal_numbers
from advisor.sources.reading import Reading

BANDWIDTHS = "Communication Bandwidth Info"
SUMS = frozenset({"SDMA"})
"""Link names that only add others up."""


class MovedPackets(Struct, frozen=True):
    """Packets of one size that operators moved over one kind of link, column by column."""

    rank: Array
    step: Array
    name: Texts
    group: Texts
    """The communicator's hash, empty where it is not told."""
    link: Texts
    packet_bytes: Array
    packets: Array
    transit_us: Array


def _transfers_from_text(folder: Folder) -> Table[Transfer]:
    folder.need(Transfer, "communication.json")
    found = communication_entries(folder, "communication.json")
    found = _in_steps_of_launches(folder, found) if folder.by_mindspore else found
    return transfer_table(packets_of_entries((folder.rank, entry, entry.content) for entry in found))


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


def packets_of_entries(told: Iterable[tuple[int, CommunicationEntry, Mapping[str, object]]]) -> MovedPackets:
    """What ranks moved in operators: each with its rank and what it says of that."""
    listed = [
        (rank, entry, link, size, cells)
        for rank, entry, content in told
        for link, info in as_mapping(value_at(content, BANDWIDTHS)).items()
        if link not in SUMS
        for size, cells in as_mapping(value_at(info, "Size Distribution")).items()
        if isinstance(cells, list) and len(cells) > 1
    ]
    ranks, entries, links, sizes, cells = zip(*listed, strict=True) if listed else [()] * 5
    packets = decimal_numbers(tuple(plain_cells(of[0] for of in cells)))[0]
    rows = np.flatnonzero(packets > 0)
    return MovedPackets(
        rank=np.array(ranks, np.int64)[rows],
        step=steps_of_entries(entries)[rows],
        name=Texts.of(entry.name for entry in entries).take(rows),
        group=Texts.of(entry.group for entry in entries).take(rows),
        link=Texts.of(links).take(rows),
        packet_bytes=bytes_of_cells(sizes)[rows],
        packets=packets[rows],
        transit_us=us_of_cells(plain_cells(of[1] for of in cells))[rows],
    )


def transfer_table(moved: MovedPackets) -> Table[Transfer]:
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


def _packets_of_records(rank: int, records: Sequence[Sequence[object]]) -> MovedPackets:
    """A row of the database is one packet size of one link of one operator."""
    step, name, group, link, size, count, time = records
    names = texts_of_cells(name, lambda cell: bounded_name(cell.partition("@")[0]) if isinstance(cell, str) else None)
    links = texts_of_cells(
        link, lambda cell: bounded_name(cell) if isinstance(cell, str) and cell not in SUMS else None
    )
    packets = decimal_numbers(tuple(count))[0]
    rows = np.flatnonzero((names.codes >= 0) & (links.codes >= 0) & (packets > 0))
    return MovedPackets(
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
