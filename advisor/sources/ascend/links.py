# SPDX-License-Identifier: Apache-2.0
"""Link: what went from one rank to another; communication_matrix.json and CommAnalyzerMatrix."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.observed import Link
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
from advisor.sources.family import GroupMembers
from advisor.sources.files.jsonfile import as_text, value_at
from advisor.sources.files.names import bounded_name
from advisor.sources.reading import Reading

ON_CHIP = frozenset({"LOCAL"})
_PAIR = re.compile(r"^(\d{1,9})-(\d{1,9})$")
_REPRESENTATIVE = re.compile(r"^(.*)-(top1|middle|bottom1|bottom2|bottom3|total)$")


class LinkTransfer(Struct, frozen=True):
    """What one operator, or all of one kind, moved between two ranks."""

    rank: int
    step: int
    op: str
    group: str
    source: int
    target: int
    link: str
    size_bytes: float
    transit_us: float
    is_total: bool = False

    @property
    def pair(self) -> tuple[int, int, str, str, int, int, str]:
        """What is added up to one row."""
        return self.rank, self.step, self.op, self.group, self.source, self.target, self.link

    @property
    def kind(self) -> tuple[int, int, str, str]:
        """What one `total` speaks for."""
        return self.rank, self.step, self.op, self.group


def _links_from_text(folder: Folder) -> Table[Link]:
    folder.need(Link, "communication_matrix.json")
    found = communication_entries(folder, "communication_matrix.json")
    return link_table((cell for entry in found for cell in of_entry(entry, folder.rank)), folder.groups)


def of_entry(entry: CommunicationEntry, rank: int | None) -> Iterator[LinkTransfer]:
    """The cells of one operator; without a rank (cluster summaries) each belongs to the rank that sends."""
    op, is_total = _op_and_total(entry.name)
    for key, content in entry.content.items():
        pair = _PAIR.match(key)
        link = as_text(value_at(content, "Transport Type"))
        if pair and link and link not in ON_CHIP:
            yield LinkTransfer(
                int(pair[1]) if rank is None else rank,
                MISSING if entry.step is None else entry.step,
                op,
                entry.group,
                int(pair[1]),
                int(pair[2]),
                link,
                size_bytes(value_at(content, "Transit Size(MB)")),
                time_us(content, "Transit Time(ms)"),
                is_total,
            )


def _op_and_total(name: str) -> tuple[str, bool]:
    """`allreduce-total` is allreduce and a total; files of 2023 have the full name of each operator."""
    found = _REPRESENTATIVE.match(name)
    return (found[1].lower(), found[2] == "total") if found else (op_of(name).lower(), False)


def link_table(cells: Iterable[LinkTransfer], groups: Mapping[str, GroupMembers]) -> Table[Link]:
    """One row per kind of operator, pair of ranks and link: the `total` where there is one, else all added up."""
    found = list(cells)
    summed = {cell.kind for cell in found if cell.is_total}
    sums: dict[tuple[int, int, str, str, int, int, str], tuple[float, float]] = {}
    for cell in found:
        if cell.is_total or cell.kind not in summed:
            size, time = sums.get(cell.pair, (0.0, 0.0))
            sums[cell.pair] = (size + cell.size_bytes, time + cell.transit_us)
    return _table_of_sums({_with_global_ranks(pair, groups): moved for pair, moved in sums.items()})


def _with_global_ranks(
    pair: tuple[int, int, str, str, int, int, str], groups: Mapping[str, GroupMembers]
) -> tuple[int, int, str, str, int, int, str]:
    """With global ranks: the files number ranks inside their group, where 2023 ones and summaries do not."""
    rank, step, op, group, source, target, link = pair
    ranks = groups[group].ranks if group in groups else ()
    if max(source, target) < len(ranks):
        source, target = ranks[source], ranks[target]
    return rank, step, op, group, source, target, link


def _table_of_sums(sums: Mapping[tuple[int, int, str, str, int, int, str], tuple[float, float]]) -> Table[Link]:
    keys = sorted(sums)
    sizes = np.array([sums[key][0] for key in keys], np.float64)
    times = np.array([sums[key][1] for key in keys], np.float64)
    with np.errstate(over="ignore"):  # a time far below any that is measured gives no bandwidth
        bandwidth = np.divide(sizes, times * 1e3, out=np.full(len(keys), math.nan), where=times > 0)
    bandwidth[np.isinf(bandwidth)] = math.nan
    rank, step, op, group, source, target, link = zip(*keys, strict=True) if keys else ((),) * 7
    return Table.build(
        Link,
        rank=np.array(rank, np.int64),
        step=np.array(step, np.int64),
        op=op,
        group=[name or None for name in group],
        source=np.array(source, np.int64),
        target=np.array(target, np.int64),
        link=link,
        size_bytes=sizes,
        transit_us=times,
        bandwidth_gbps=bandwidth,
    )


def _links_from_database(folder: Folder) -> Table[Link]:
    found = read_records(
        folder,
        Origin("analysis", "CommAnalyzerMatrix"),
        (
            "step",
            "hccl_op_name",
            "group_name",
            "src_rank",
            "dst_rank",
            "transport_type",
            "transit_size",
            "transit_time",
        ),
    )
    if found is None:
        raise FactMissing([Link.table])
    return link_table(_cells_of_records(folder.rank, found), folder.groups)


def _cells_of_records(rank: int, records: Iterable[tuple[object, ...]]) -> Iterator[LinkTransfer]:
    """A row of the database is one pair of one entry of the file; its words stand in many rows and are read once."""
    once = lru_cache(None, typed=True)
    step_of, group_of = once(_step_of_cell), once(_group_of_cell)
    op_of_name, pair_of = once(_op_of_cell), once(_pair_of_cells)
    for step, name, group, source, target, link, size, time in records:
        pair = pair_of(source, target)
        if pair and isinstance(link, str) and link and link not in ON_CHIP:
            op, is_total = op_of_name(name)
            moved = size_bytes(size), time_us({"ms": time}, "ms")
            yield LinkTransfer(rank, step_of(step), op, group_of(group), *pair, link, *moved, is_total)


def _step_of_cell(step: object) -> int:
    number = step_number(str(step or ""))
    return MISSING if number is None else number


def _op_of_cell(name: object) -> tuple[str, bool]:
    return _op_and_total(bounded_name(str(name).partition("@")[0]))


def _group_of_cell(group: object) -> str:
    return communicator_hash(bounded_name(str(group or "")))


def _pair_of_cells(source: object, target: object) -> tuple[int, int] | None:
    pair = _PAIR.match(f"{source}-{target}")
    return (int(pair[1]), int(pair[2])) if pair else None


LINKS = Reading(Link, {"text": _links_from_text, "database": _links_from_database})
