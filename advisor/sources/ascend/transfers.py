# SPDX-License-Identifier: Apache-2.0
"""Transfer: what each operator moved, by link and packet size; communication.json and CommAnalyzerBandwidth."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from advisor.facts.base import LARGEST, MISSING
from advisor.facts.observed import Transfer
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.cell_columns import BYTES_PER_MB, UNUSABLE, CellColumns, plain_cells
from advisor.sources.ascend.collectives import steps_of_records
from advisor.sources.ascend.communication import (
    COMMUNICATION,
    CommunicationEntry,
    communication_entries,
    op_of,
    steps_of_entries,
)
from advisor.sources.ascend.kernels import communication_rows, kernel_details
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.record_cells import groups_of_cells, texts_of_cells
from advisor.sources.ascend.sqltable import Origin, columns_of_table, read_record_columns
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.names import bounded_name
from advisor.sources.reading import Reading
from advisor.units import LONGEST_US

BANDWIDTHS = "Communication Bandwidth Info"
_SIZES = "Size Distribution"
"""Per packet size in MB how many there were, and how many ms they took."""
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
    folder.need(Transfer, COMMUNICATION)
    found = communication_entries(folder, COMMUNICATION)
    found = _in_steps_of_launches(folder, found) if folder.by_mindspore else found
    told = [(folder.rank, entry, entry.content) for entry in found]
    return transfer_table(packets_of_entries(told, folder.notes, folder.files[COMMUNICATION].name))


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


def packets_of_entries(told: Sequence[tuple[int, CommunicationEntry, object]], notes: Notes, file: str) -> MovedPackets:
    """What ranks moved in operators: each with its rank and what it says of that. What cannot be used is noted."""
    operators = CellColumns(notes, file, lambda row: told[row][1].place)
    of_link = [
        (rank, entry, link, info)
        for (rank, entry, _), links in zip(
            told, operators.objects_at(BANDWIDTHS, [content for *_, content in told]), strict=True
        )
        for link, info in links.items()
        if link not in SUMS
    ]
    by_link = CellColumns(notes, file, lambda row: _place(*of_link[row][1:3]))
    by_link.note_rows(Message("entry_no_object"), np.array([not isinstance(info, dict) for *_, info in of_link], bool))
    listed = [
        (rank, entry, link, size, cells)
        for (rank, entry, link, _), sizes in zip(
            of_link, by_link.objects_at(_SIZES, [info for *_, info in of_link]), strict=True
        )
        for size, cells in sizes.items()
    ]
    ranks, entries, links, sizes, cells = zip(*listed, strict=True) if listed else [()] * 5
    of_size = CellColumns(notes, file, lambda row: _place(*listed[row][1:4]))
    size, packets, time = of_size.together(
        _SIZES,
        [(sizes, LARGEST), (_cells_of_lists(cells, 0), LARGEST), (_cells_of_lists(cells, 1), LONGEST_US / 1e3)],
    )
    rows = np.flatnonzero(packets > 0)
    return MovedPackets(
        rank=np.array(ranks, np.int64)[rows],
        step=steps_of_entries(entries)[rows],
        name=Texts.of(entry.name for entry in entries).take(rows),
        group=Texts.of(entry.group for entry in entries).take(rows),
        link=Texts.of(links).take(rows),
        packet_bytes=np.rint(size[rows] * BYTES_PER_MB),
        packets=packets[rows],
        transit_us=time[rows] * 1e3,
    )


def _place(entry: CommunicationEntry, *keys: str) -> str:
    return " ".join((entry.place, *map(bounded_name, keys)))


def _cells_of_lists(lists: Sequence[object], place: int) -> list[object]:
    """What stands at a place of each of the lists, which are due to have two members."""
    return plain_cells(one[place] if isinstance(one, list) and len(one) > 1 else UNUSABLE for one in lists)


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
    origin = Origin("analysis", "CommAnalyzerBandwidth")
    found = read_record_columns(
        folder,
        origin,
        ("step", "hccl_op_name", "group_name", "transport_type", "package_size", "count", "total_duration"),
        optional=("step",),
    )
    if found is None:
        raise FactMissing([Transfer.table])
    return transfer_table(_packets_of_records(folder, found, columns_of_table(folder, origin)))


def _packets_of_records(folder: Folder, records: Sequence[Sequence[object]], columns: CellColumns) -> MovedPackets:
    """A row of the database is one packet size of one link of one operator."""
    step, name, group, link, size, count, time = records
    names = texts_of_cells(
        columns.words("hccl_op_name", name),
        lambda cell: bounded_name(cell.partition("@")[0]) if isinstance(cell, str) else None,
    )
    links = texts_of_cells(
        columns.words("transport_type", link),
        lambda cell: bounded_name(cell) if isinstance(cell, str) and cell not in SUMS else None,
    )
    groups = groups_of_cells(group)
    packets = columns.amounts("count", count)
    rows = np.flatnonzero((names.codes >= 0) & (links.codes >= 0) & (packets > 0))
    return MovedPackets(
        rank=np.full(len(rows), folder.rank),
        step=steps_of_records(folder, step, names, groups)[rows],
        name=names.take(rows),
        group=groups.take(rows),
        link=links.take(rows),
        packet_bytes=columns.bytes("package_size", size)[rows],
        packets=packets[rows],
        transit_us=columns.us("total_duration", time)[rows],
    )


TRANSFERS = Reading(Transfer, {"text": _transfers_from_text, "database": _transfers_from_database})
