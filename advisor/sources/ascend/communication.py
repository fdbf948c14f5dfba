# SPDX-License-Identifier: Apache-2.0
"""communication.json and communication_matrix.json, entry by entry, of one rank or of a cluster summary.

An entry of a wrong shape is left out and noted; `Total Op Info` (a sum over the others) is left out as well.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
from msgspec import Struct
from msgspec.structs import replace

from advisor.facts.base import MISSING
from advisor.facts.table import Array
from advisor.messages.message import Message
from advisor.sources.ascend.cell_columns import CellColumns, plain_cells_at
from advisor.sources.ascend.groups import communicator_hash
from advisor.sources.ascend.host_steps import steps_at_moments
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import query_rows
from advisor.sources.files import jsonfile
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.names import bounded_name
from advisor.sources.shared.collective_kinds import is_p2p

COMMUNICATION = "communication.json"
_STEP = re.compile(r"^(?:step)?(\d{0,18})$")
_OP = re.compile(r"^hcom_([A-Za-z0-9]+?)_*(?:_\d+)*$")
SCOPED_OP = re.compile(
    r"(?:.*/)?(AllReduce|AllGather|AllToAllv?|AllSwap|ReduceScatter|Reduce|Broadcast|NeighborExchange(?:V2)?|Send|Receive)"
    r"-op\d+(?:_\d+)?$"
)
"""How MindSpore calls a collective in a graph: its scope, its kind, and a number."""
_TOTAL = "total op info"
TIMES = "Communication Time Info"
_START = "Start Timestamp(us)"
_OPERATORS_OF_MSPROF = "SELECT DISTINCT hccl_op_name, group_name, NULL FROM CommAnalyzerTime"
"""Whose table has no type."""


class CommunicationEntry(Struct, frozen=True):
    """One communication operator in one step: its name, its communicator's hash, and what the file says of it."""

    step: int | None
    p2p: bool
    name: str
    group: str
    content: Mapping[str, object]
    """For communication.json times and bandwidths; for the matrix `src-dst` pairs; by rank in cluster summaries."""
    listed_under: str = ""
    """The keys that lead to it."""

    @property
    def place(self) -> str:
        """Where it stands in the file."""
        return f"{self.listed_under} {self.name}".strip()


def step_number(text: str) -> int | None:
    """The number in `step13`; None for `step` alone, which stands for a job that never called step()."""
    found = _STEP.match(text.strip())
    return int(found[1]) if found and found[1] else None


def op_of(name: str) -> str:
    """The kind of an operator by its name: `hcom_allReduce__271_0_1` is `allReduce`."""
    if scoped := SCOPED_OP.match(name):
        return scoped[1][0].lower() + scoped[1][1:]
    found = _OP.match(name)
    kind = found[1] if found else name.partition("__")[0].removeprefix("hcom_")
    return kind.removesuffix("AicpuKernel").removesuffix("_")


def communication_entries(folder: Folder, name: str) -> tuple[CommunicationEntry, ...]:
    """The entries of `communication.json` or `communication_matrix.json` of a rank, decoded once.

    Raises:
        Unreadable: It cannot be read as a whole.
    """
    return folder.once(name, lambda: _entries_of_rank(folder, name))


def _entries_of_rank(folder: Folder, name: str) -> tuple[CommunicationEntry, ...]:
    path = folder.files[name]
    found = tuple(of_rank(jsonfile.load_json(path, folder.notes), path, folder.notes))
    if folder.by_mindspore and all(entry.step == 0 for entry in found):
        return _with_steps_of_host(folder, name, found)
    return found


def _with_steps_of_host(
    folder: Folder, name: str, found: Sequence[CommunicationEntry]
) -> tuple[CommunicationEntry, ...]:
    """The entries in their steps, where MindSpore told none apart: of a graph as a whole all are of step 0."""
    columns = columns_of_entries(folder, name, found)
    moments = starts_of_entries(columns, columns.objects_at(TIMES, [entry.content for entry in found]))
    steps = [None if step == MISSING else step for step in steps_at_moments(folder, moments).tolist()]
    return tuple(replace(entry, step=step) for entry, step in zip(found, steps, strict=True))


def columns_of_entries(folder: Folder, name: str, entries: Sequence[CommunicationEntry]) -> CellColumns:
    """Columns of a file of a rank with a cell for each of its entries."""
    return CellColumns(folder.notes, folder.files[name].name, lambda row: entries[row].place)


def starts_of_entries(columns: CellColumns, times: Sequence[Mapping[str, object]]) -> Array:
    """When each operator began, in ns; missing where that is not told."""
    return columns.moments_ns(_START, plain_cells_at(_START, times))


def steps_of_entries(entries: Iterable[CommunicationEntry]) -> Array:
    """The step of each entry; missing for those of a job that never called step()."""
    return np.array([MISSING if entry.step is None else entry.step for entry in entries], np.int64)


def p2p_groups(folder: Folder) -> frozenset[str] | None:
    """The communicators over which a rank sends or receives, by hash; None where no communication file tells them."""
    if folder.exports[0] == "database":
        typed = query_rows(folder, "analysis", "SELECT DISTINCT hccl_op_name, group_name, type FROM CommAnalyzerTime")
        found = typed or query_rows(folder, "analysis", _OPERATORS_OF_MSPROF)
        sending = (group for name, group, kind in found if kind == "p2p" or is_p2p(op_of(str(name).partition("@")[0])))
        return frozenset(communicator_hash(str(group)) for group in sending) if found else None
    if COMMUNICATION not in folder.files:
        return None
    try:
        listed = communication_entries(folder, COMMUNICATION)
    except Unreadable:  # noted; who talks to whom is not known
        return None
    return frozenset(entry.group for entry in listed if entry.p2p and entry.group)


def of_rank(content: object, path: Path, notes: Notes) -> Iterator[CommunicationEntry]:
    """Entries of a rank's file: step, then kind, then operator."""
    for step, kinds in _member_objects(content, "", path, notes):
        for kind, operators in _member_objects(kinds, step, path, notes):
            yield from _entries_of_operators(operators, step, kind, path, notes)


def of_cluster(content: object, path: Path, notes: Notes) -> Iterator[tuple[str, CommunicationEntry]]:
    """Entries of a cluster's file with the outer key (`p2p` or the ranks as text): outer key, step, operator."""
    for outer, steps in _member_objects(content, "", path, notes):
        for step, operators in _member_objects(steps, outer, path, notes):
            for entry in _entries_of_operators(operators, step, outer, path, notes):
                yield outer, entry


def _member_objects(value: object, place: str, path: Path, notes: Notes) -> Iterator[tuple[str, Mapping[str, object]]]:
    """The members of an object that are objects themselves; others are noted."""
    if not isinstance(value, dict):
        notes.add(path.name, place, Message("object_expected"))
        return
    for key, member in value.items():
        if isinstance(member, dict):
            yield key, member
        else:
            notes.add(path.name, f"{place} {key}".strip(), Message("entry_no_object"))


def _entries_of_operators(
    operators: object, step: str, kind: str, path: Path, notes: Notes
) -> Iterator[CommunicationEntry]:
    place = f"{step} {kind}"
    for key, content in _member_objects(operators, place, path, notes):
        name, _, group = map(bounded_name, key.rpartition("@") if "@" in key else (key, "", ""))
        if name.lower() != _TOTAL:
            p2p = kind == "p2p" or is_p2p(op_of(name))
            yield CommunicationEntry(step_number(step), p2p, name, communicator_hash(group), content, place)


def ranks_of(text: str) -> tuple[int, ...]:
    """The ranks in a text such as `(0, 1, 2, 3)`; none in anything else, such as `p2p`."""
    if not text.startswith("("):
        return ()
    return tuple(int(found) for found in re.findall(r"\d{1,9}", text))
