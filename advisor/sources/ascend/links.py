# SPDX-License-Identifier: Apache-2.0
"""Link: what went from one rank to another; communication_matrix.json and CommAnalyzerMatrix."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.observed import Link
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.ascend.cell_columns import CellColumns, plain_cells, plain_cells_at
from advisor.sources.ascend.collectives import steps_of_records
from advisor.sources.ascend.communication import (
    CommunicationEntry,
    communication_entries,
    op_of,
    steps_of_entries,
)
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.record_cells import (
    distinct_cells,
    groups_of_cells,
    number_rows,
    texts_of_cells,
)
from advisor.sources.ascend.sent_pairs import MATRIX, pair_of_key
from advisor.sources.ascend.sqltable import Origin, columns_of_table, read_record_columns
from advisor.sources.family import GroupMembers
from advisor.sources.files.damage_notes import Notes
from advisor.sources.files.jsonfile import value_at
from advisor.sources.files.names import bounded_name
from advisor.sources.reading import Reading

ON_CHIP = frozenset({"LOCAL"})
_FIELDS = ("transport_type", "transit_size", "transit_time")
_NUMBERED = re.compile(r"[0-9]+-[0-9]+")
"""Two numbers, also where one is that of no rank: HCCL puts the largest of 32 bits where it knows no peer."""
_REPRESENTATIVE = re.compile(r"^(.*)-(top1|middle|bottom1|bottom2|bottom3|total)$")


class LinkTransfers(Struct, frozen=True):
    """What operators, or all of one kind, moved between two ranks, column by column."""

    rank: Array
    step: Array
    op: Texts
    group: Texts
    """The communicator's hash, empty where it is not told."""
    source: Array
    target: Array
    link: Texts
    size_bytes: Array
    transit_us: Array
    is_total: Array

    def take(self, rows: Array) -> LinkTransfers:
        """Those of these rows."""
        columns = {name: getattr(self, name) for name in self.__struct_fields__}
        taken: dict[str, Any] = {n: c.take(rows) if isinstance(c, Texts) else c[rows] for n, c in columns.items()}
        return LinkTransfers(**taken)


def _links_from_text(folder: Folder) -> Table[Link]:
    folder.need(Link, MATRIX)
    found = communication_entries(folder, MATRIX)
    moved = transfers_of_entries(found, folder.rank, folder.notes, folder.files[MATRIX].name)
    return link_table(moved, _members_of_groups(folder))


def _members_of_groups(folder: Folder) -> Mapping[str, GroupMembers]:
    return {**folder.groups_by_senders, **folder.groups}


def transfers_of_entries(
    entries: Sequence[CommunicationEntry], rank: int | None, notes: Notes, file: str
) -> LinkTransfers:
    """The pairs of operators; without a rank (cluster summaries) each belongs to the rank that sends.

    What of the file cannot be used is noted.
    """
    names, of_pair = Texts.of(entry.name for entry in entries), [len(entry.content) for entry in entries]
    steps = steps_of_entries(entries)
    pairs = [key for entry in entries for key in entry.content]
    cells = [cell for entry in entries for cell in entry.content.values()]
    entry_of = np.repeat(np.arange(len(entries)), of_pair)
    columns = CellColumns(notes, file, lambda row: f"{entries[entry_of[row]].place} {bounded_name(pairs[row])}")
    columns.note_rows(Message("entry_no_object"), np.array([not isinstance(cell, dict) for cell in cells], bool))
    return _transfers_of_pairs(
        rank,
        steps=np.repeat(steps, of_pair),
        names=names.take(entry_of),
        groups=Texts.of(entry.group for entry in entries).take(entry_of),
        operators=texts_of_cells(plain_cells(_true_name(cell) for cell in cells), _name_of_cell),
        pairs=pairs,
        columns=columns,
        cells={
            name: plain_cells_at(name, cells) for name in ("Transport Type", "Transit Size(MB)", "Transit Time(ms)")
        },
    )


def _true_name(cell: object) -> object:
    """The operator that stands for others: torch_npu calls it `Op Name`, MindSpore `op_name`."""
    return value_at(cell, "Op Name") or value_at(cell, "op_name")


def _name_of_cell(cell: object) -> str | None:
    return bounded_name(cell) if isinstance(cell, str) and cell else None


def _op_and_total(name: str) -> tuple[str, bool]:
    """`allreduce-total` is allreduce and a total; files of 2023 have the full name of each operator. MindSpore knows no
    kind of some, and writes their names with their communicators in its place."""
    found = _REPRESENTATIVE.match(name)
    whole = found[1].partition("@")[0] if found else name
    return op_of(whole).lower(), found is not None and found[2] == "total"


def _true_ops(told: Texts, operators: Texts, entries: Sequence[Array]) -> Texts:
    """The kinds of operators as entries are called by, or, of entries that are told apart by these columns and by kind,
    the one kind that their operators are of: a reduceScatter is listed as `reduce`."""
    kinds = Texts.of(op_of(name).lower() for name in operators.names).at(operators.codes)
    key = number_rows([*entries, told.codes])
    seen = np.flatnonzero(kinds.codes >= 0)
    least, most = np.full(len(key) + 1, len(kinds.names)), np.full(len(key) + 1, -1)
    np.minimum.at(least, key[seen], kinds.codes[seen])
    np.maximum.at(most, key[seen], kinds.codes[seen])
    both = Texts.concat([told, Texts(np.where(least == most, most, -1)[key], kinds.names)])
    rows = np.arange(len(told))
    return both.take(np.where(both.codes[len(told) :] >= 0, rows + len(told), rows)).in_use()


def link_table(moved: LinkTransfers, groups: Mapping[str, GroupMembers]) -> Table[Link]:
    """One row per kind of operator, pair of ranks and link: the `total` where there is one, else all added up.

    A rank lists what it sends. Where the sender is another, its ranks are numbered inside a group of unknown members.

    Raises:
        FactMissing: That is so of all rows.
    """
    of_kind = number_rows([moved.rank, moved.step, moved.op.codes, moved.group.codes])
    summed = np.zeros(len(of_kind), bool)
    summed[of_kind[moved.is_total]] = True
    moved = moved.take(np.flatnonzero(moved.is_total | ~summed[of_kind]))
    source, target = _global_ranks(moved, groups)
    named = np.array([*(name in groups for name in moved.group.names), False])[moved.group.codes]
    told = np.flatnonzero(named | (source == moved.rank))
    if len(moved.rank) and not len(told):
        raise FactMissing([Link.table])
    moved, source, target = moved.take(told), source[told], target[told]
    words = [one.places_in_order() for one in (moved.op, moved.group, moved.link)]
    of = number_rows([moved.rank, moved.step, *words[:2], source, target, words[2]])
    first = np.unique(of, return_index=True)[1]
    size, time = (np.bincount(of, cells, len(first)) for cells in (moved.size_bytes, moved.transit_us))
    with np.errstate(over="ignore"):  # a time far below any that is measured gives no bandwidth
        bandwidth = np.divide(size, time * 1e3, out=np.full(len(first), math.nan), where=time > 0)
    bandwidth[np.isinf(bandwidth)] = math.nan
    return Table.build(
        Link,
        rank=moved.rank[first],
        step=moved.step[first],
        op=moved.op.take(first).values(),
        group=[name or None for name in moved.group.take(first).values()],
        source=source[first],
        target=target[first],
        link=moved.link.take(first).values(),
        size_bytes=size,
        transit_us=time,
        bandwidth_gbps=bandwidth,
    )


def _global_ranks(moved: LinkTransfers, groups: Mapping[str, GroupMembers]) -> tuple[Array, Array]:
    """Sources and targets as global ranks: files number ranks inside their group, where 2023 ones and summaries do
    not."""
    ranks = [groups[name].ranks if name in groups else () for name in moved.group.names]
    lengths = np.array([*map(len, ranks), 0])  # the last one is what -1, no group, reads
    begins = np.cumsum(lengths) - lengths
    every = np.array([rank for of_group in ranks for rank in of_group], np.int64)
    inside = np.maximum(moved.source, moved.target) < lengths[moved.group.codes]
    begin = begins[moved.group.codes[inside]]
    source, target = moved.source.copy(), moved.target.copy()
    source[inside], target[inside] = every[begin + source[inside]], every[begin + target[inside]]
    return source, target


def _links_from_database(folder: Folder) -> Table[Link]:
    origin = Origin("analysis", "CommAnalyzerMatrix")
    wanted = ("step", "hccl_op_name", "group_name", "op_name", "src_rank", "dst_rank", *_FIELDS)
    found = read_record_columns(folder, origin, wanted, optional=("step", "op_name"))
    if found is None:
        raise FactMissing([Link.table])
    moved = _transfers_of_records(folder, found, columns_of_table(folder, origin))
    return link_table(moved, _members_of_groups(folder))


def _transfers_of_records(folder: Folder, records: Sequence[Sequence[object]], columns: CellColumns) -> LinkTransfers:
    """A row of the database is one pair of one entry of the file."""
    step, name, group, operator, source, target, *cells = records
    names = texts_of_cells(columns.words("hccl_op_name", name), lambda cell: bounded_name(str(cell).partition("@")[0]))
    groups = groups_of_cells(group)
    return _transfers_of_pairs(
        folder.rank,
        steps=steps_of_records(folder, step, names, groups),
        names=names,
        groups=groups,
        operators=texts_of_cells(operator, _name_of_cell),
        pairs=[f"{one}-{other}" for one, other in zip(source, target, strict=True)],
        columns=columns,
        cells=dict(zip(_FIELDS, cells, strict=True)),
    )


def _transfers_of_pairs(
    rank: int | None,
    *,
    steps: Array,
    names: Texts,
    groups: Texts,
    operators: Texts,
    pairs: Sequence[str],
    columns: CellColumns,
    cells: Mapping[str, Sequence[object]],
) -> LinkTransfers:
    """What pairs `from-to` of operators moved; `cells` are, by column, kinds of link, sizes in MB and times in ms, and
    `operators` those that stand for others."""
    (kind, link), (megabytes, size), (milliseconds, time) = cells.items()
    of_pair, distinct = distinct_cells(pairs)
    known = [pair_of_key(pair) for pair in distinct]
    odd = np.array([not _NUMBERED.fullmatch(pair) for pair in distinct], bool)
    columns.note_rows(Message("no_pair_of_ranks"), odd[of_pair])
    ops = [_op_and_total(name) for name in names.names]
    links = texts_of_cells(
        columns.words(kind, link), lambda cell: cell if isinstance(cell, str) and cell not in {"", *ON_CHIP} else None
    )
    source, target = (np.array([pair[end] if pair else MISSING for pair in known], np.int64)[of_pair] for end in (0, 1))
    whole = np.array([pair is not None for pair in known], bool)[of_pair] & (links.codes >= 0)
    return LinkTransfers(
        rank=source if rank is None else np.full(len(pairs), rank),
        step=steps,
        op=_true_ops(Texts.of(op for op, _ in ops).take(names.codes), operators, [steps, groups.codes]),
        group=groups,
        source=source,
        target=target,
        link=links,
        size_bytes=columns.bytes(megabytes, size),
        transit_us=columns.us(milliseconds, time),
        is_total=np.array([is_total for _, is_total in ops], bool)[names.codes],
    ).take(np.flatnonzero(whole))


LINKS = Reading(Link, {"text": _links_from_text, "database": _links_from_database})
