# SPDX-License-Identifier: Apache-2.0
"""ClusterSummary: a cluster_analysis_output as the one source of a run, where the captures themselves are not there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from advisor.facts.base import MISSING, Column, Fact
from advisor.facts.observed import Collective, Damage, Group, Link, RankCapture, StepTime, Transfer
from advisor.facts.table import Array, Table, Texts, Values
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.model.run import Capture, InputNote, Parallel, Run
from advisor.sources.ascend import groups, links, transfers
from advisor.sources.ascend.cell_columns import CellColumns
from advisor.sources.ascend.collectives import DIFFERENCES, times_in_ms
from advisor.sources.ascend.communication import (
    TIMES,
    CommunicationEntry,
    of_cluster,
    op_of,
    ranks_of,
    starts_of_entries,
)
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.steps import HEADINGS, REQUIRED
from advisor.sources.cluster import analysis_database
from advisor.sources.family import GroupMembers, LeftAside
from advisor.sources.files import csvfile, jsonfile
from advisor.sources.files.damage_notes import Notes, Unreadable, aside_table
from advisor.sources.shared.step_sums import usable_step_times

F = TypeVar("F", bound=Fact)

STEP_TIMES = "cluster_step_trace_time.csv"
COMMUNICATION = "cluster_communication.json"
MATRIX = "cluster_communication_matrix.json"
CLUSTER_FILES = (STEP_TIMES, COMMUNICATION, MATRIX, "communication_group.json")
CLUSTER_DATABASE = "cluster_analysis.db"
_TEXT = Column("Kind or index of a row.", "text")
_COLUMNS = {**StepTime.columns(), "type": _TEXT, "index": _TEXT}
_NAMES_OF_LISTED = {"type": ("Type",), "index": ("Index",)}
_NAMES = {**HEADINGS, **_NAMES_OF_LISTED}
_LISTED = {name: _COLUMNS[name] for name in _NAMES_OF_LISTED}


class ClusterSummary:
    """Step times and communication of many ranks, as a cluster analysis summed them up."""

    def __init__(self, folder: Path, name: str = "", aside: Sequence[LeftAside] = ()) -> None:
        self.folder, self.name, self.notes, self._aside = folder, name, Notes(), aside
        self.files = {file: folder / file for file in CLUSTER_FILES if os.path.isfile(folder / file)}
        database = folder / CLUSTER_DATABASE
        self._database = Folder(
            rank=0,
            root=folder,
            output=folder,
            databases={"analysis": database} if os.path.isfile(database) else {},
            notes=self.notes,
        )
        self._lost_of_list = Notes()
        """What of the list of ranks was lost; `notes` tell it too."""
        self.size_bytes = sum(path.stat().st_size for path in self.paths)

    @property
    def paths(self) -> tuple[Path, ...]:
        """Every file that facts are read from."""
        return (*self.files.values(), *self._database.databases.values())

    @property
    def rests_on(self) -> tuple[Path, ...]:
        """Its folder."""
        return (self.folder,)

    def read(self, fact: type[F]) -> Table[F]:
        """The rows of a fact, for all ranks of the summary.

        Raises:
            FactMissing: The summary does not hold it.
        """
        makers: dict[type[Fact], Callable[[], Table[Any]]] = {
            StepTime: self._step_times,
            Collective: self._collective_table,
            Transfer: self._transfer_table,
            Link: self._link_table,
            Group: self._group_table,
            RankCapture: self._capture_table,
            Damage: self._damage_table,
        }
        if fact not in makers:
            raise FactMissing([fact.table])
        try:
            return makers[fact]()
        except Unreadable as wrong:
            raise FactMissing([fact.table], [wrong.file]) from wrong
        except FactMissing:
            raise FactMissing([fact.table]) from None

    def release(self) -> None:
        """Nothing is kept: the files are small."""

    def run(self, name: str) -> Run:
        """The run as far as the summary tells."""
        layout = groups.parallel_layout(groups.Sizes({}, 0), self.groups, self.stages)
        steps = np.unique(self._number_column("step"))
        return Run(
            name=name,
            ranks=self.ranks,
            world_size=len(groups.ranks_of_cluster(self._file_content("communication_group.json")).union(self.ranks)),
            world_source="cluster",
            steps=tuple(steps[steps != MISSING].tolist()),
            parallel=layout,
            captures=tuple(Capture(rank=rank, path=self.name, source="cluster") for rank in self.ranks),
            notes=(InputNote(about="source", names=("cluster_analysis_output",)),),
        )

    @cached_property
    def ranks(self) -> tuple[int, ...]:
        """Every rank the summary speaks of, by the rows of its step times, else by who communicates."""
        timed = _rank_rows(*self._listed_rows)[0]
        talking = {rank for _, entry in self._operator_entries for rank in _ranks_of_entry(entry)}
        return tuple(sorted({*timed.tolist()} or talking))

    @cached_property
    def measures(self) -> bool:
        """Whether it holds any time, or any transfer."""
        timed = len(_rank_rows(self._text_column("type"), self._text_column("index"))[0])
        return bool(timed or self._operator_entries or self._entries_of_file(MATRIX))

    @cached_property
    def groups(self) -> dict[str, GroupMembers]:
        """Groups by communicator hash: those named, and those known by the ranks they are listed under."""
        listed = {
            entry.group: GroupMembers("", tuple(sorted(ranks_of(outer))))
            for outer, entry in self._operator_entries
            if entry.group and ranks_of(outer)
        }
        return {**listed, **groups.from_cluster(self._file_content("communication_group.json"))}

    @cached_property
    def stages(self) -> tuple[tuple[int, ...], ...]:
        """Ranks of each pipeline stage, in order of their first rank; empty when there is but one."""
        kinds, indexes = self._listed_rows
        rows = zip(kinds.values(), indexes.values(), strict=True)
        found = {tuple(sorted(ranks_of(index or ""))) for kind, index in rows if kind == "stage"} - {()}
        members = [rank for stage in found for rank in stage]
        return tuple(sorted(found)) if len(found) > 1 and len(members) == len(set(members)) else ()

    @cached_property
    def _listed_rows(self) -> tuple[Texts, Texts]:
        """Kind and index of each row of step times, whether or not these can be used."""
        path = self.files.get(STEP_TIMES)
        if path is None:
            return self._text_column("type"), self._text_column("index")
        try:
            found = _with_kinds(csvfile.read_columns(path, _LISTED, _NAMES_OF_LISTED, self._lost_of_list, ("index",)))
        except Unreadable:
            return Texts.of(()), Texts.of(())
        kinds, indexes = found["type"], found["index"]
        return (kinds, indexes) if isinstance(kinds, Texts) and isinstance(indexes, Texts) else (Texts.of(()),) * 2

    @cached_property
    def _step_sheet(self) -> dict[str, Values]:
        """cluster_step_trace_time.csv; nothing where it is missing or cannot be read."""
        path = self.files.get(STEP_TIMES)
        try:
            if path is not None:
                return _with_kinds(csvfile.read_columns(path, _COLUMNS, _NAMES, self.notes, (*REQUIRED, "index")))
            return analysis_database.step_times(self._database)
        except Unreadable:
            return {}

    def _number_column(self, name: str) -> Array:
        found = self._step_sheet.get(name)
        return found if isinstance(found, np.ndarray) else np.empty(0, np.int64)

    def _text_column(self, name: str) -> Texts:
        found = self._step_sheet.get(name)
        return found if isinstance(found, Texts) else Texts.of(())

    def _step_times(self) -> Table[StepTime]:
        ranks, rows = _rank_rows(self._text_column("type"), self._text_column("index"))
        if not len(ranks):
            raise FactMissing([StepTime.table])
        columns = {name: values for name, values in self._step_sheet.items() if name not in ("type", "index")}
        layout = Parallel(stages=self.stages)
        stages = [layout.stage_of(rank) for rank in ranks.tolist()]
        found = Table.build(StepTime, **columns).take(rows).having(rank=ranks, stage=stages)
        return usable_step_times(found, self.notes, STEP_TIMES, HEADINGS["exposed_comm_us"][0])

    def _file_content(self, name: str) -> object:
        """What a file, or the database in its place, holds; nothing where it cannot be read, which is noted."""
        if name not in self.files:
            return _IN_DATABASE[name](self._database) if self._database.databases else None
        try:
            return jsonfile.load_json(self.files[name], self.notes)
        except Unreadable:
            return None

    @cached_property
    def _operator_entries(self) -> tuple[tuple[str, CommunicationEntry], ...]:
        return self._entries_of_file(COMMUNICATION)

    def _entries_of_file(self, name: str) -> tuple[tuple[str, CommunicationEntry], ...]:
        content = self._file_content(name)
        path = self.files.get(name, self.folder / CLUSTER_DATABASE)
        return () if content is None else tuple(of_cluster(content, path, self.notes))

    def _needed_entries(self, name: str) -> tuple[tuple[str, CommunicationEntry], ...]:
        """The entries of a file that a fact cannot do without."""
        if name not in self.files and not self._database.databases:
            raise FactMissing([name])
        found = self._operator_entries if name == COMMUNICATION else self._entries_of_file(name)
        broken = [note for note in self.notes.all() if note.file == name and note.kind == "unreadable"]
        if broken:
            raise Unreadable(name, broken[0].what)
        return found

    def _notes_of_cells(self, name: str) -> Notes:
        """Where cells of a file that cannot be used are noted; those of the database are where it is read."""
        return self.notes if name in self.files else Notes()

    def _collective_table(self) -> Table[Collective]:
        operators = self._needed_entries(COMMUNICATION)
        rows = [(rank, entry, info) for _, entry in operators for rank, info in _by_rank(entry)]
        notes = self._notes_of_cells(COMMUNICATION)
        columns = CellColumns(notes, COMMUNICATION, lambda row: f"{rows[row][1].place} {rows[row][0]}")
        columns.note_rows(Message("entry_no_object"), np.array([not isinstance(info, dict) for *_, info in rows], bool))
        times = columns.objects_at(TIMES, [info for *_, info in rows])
        us = {name: times_in_ms(columns, key, times, difference=name in DIFFERENCES) for name, key in _DURATIONS}
        kinds = [self.groups[e.group].kind or None if e.group in self.groups else None for _, e, _ in rows]
        table = Table.build(
            Collective,
            rank=np.array([rank for rank, *_ in rows], np.int64),
            step=[entry.step for _, entry, _ in rows],
            name=[entry.name for _, entry, _ in rows],
            op=[op_of(entry.name) for _, entry, _ in rows],
            group=[entry.group or None for _, entry, _ in rows],
            group_kind=kinds,
            p2p=[int(entry.p2p) for _, entry, _ in rows],
            start_ns=starts_of_entries(columns, times),
            **us,
        )
        whole = np.isfinite(table["elapse_us"])
        if not whole.all():
            count = int(np.count_nonzero(~whole))
            self.notes.add(COMMUNICATION, "", Message("no_elapse_time"), rows=count)
        return table.take(whole).sorted_by("rank", "step", "start_ns")

    def _transfer_table(self) -> Table[Transfer]:
        operators = self._needed_entries(COMMUNICATION)
        found = [(rank, entry, info) for _, entry in operators for rank, info in _by_rank(entry)]
        return transfers.transfer_table(
            transfers.packets_of_entries(found, self._notes_of_cells(COMMUNICATION), COMMUNICATION)
        )

    def _link_table(self) -> Table[Link]:
        entries = [entry for _, entry in self._needed_entries(MATRIX)]
        return links.link_table(links.transfers_of_entries(entries, None, self._notes_of_cells(MATRIX), MATRIX), {})

    def _group_table(self) -> Table[Group]:
        if not self.groups:
            raise FactMissing([Group.table])
        return groups.group_table(self.groups)

    def _capture_table(self) -> Table[RankCapture]:
        if self.ranks and self._lost_of_list.all():  # which ranks were captured stood in what is lost
            raise Unreadable(STEP_TIMES, self._lost_of_list.all()[0].what)
        steps = self._number_column("step")
        return Table.build(
            RankCapture,
            rank=np.array(self.ranks, np.int64),
            source="cluster",
            has_steps=int(bool(np.any(steps != MISSING))),
            other_captures=0.0,
        )

    def _damage_table(self) -> Table[Damage]:
        rank = self.ranks[0] if self.ranks else 0
        return Table.concat(Damage, [self.notes.table(rank, self.name), aside_table(self._aside, rank)])


_IN_DATABASE: Mapping[str, Callable[[Folder], object]] = {
    COMMUNICATION: analysis_database.communication_content,
    MATRIX: analysis_database.matrix_content,
    "communication_group.json": analysis_database.groups_content,
}
_DURATIONS = (
    ("elapse_us", "Elapse"),
    ("transit_us", "Transit"),
    ("wait_us", "Wait"),
    ("sync_us", "Synchronization"),
    ("idle_us", "Idle"),
)


def _with_kinds(sheet: dict[str, Values]) -> dict[str, Values]:
    """The columns with the kind of each row; without a column of its own its index tells: stages list their ranks."""
    index = sheet["index"]
    if "type" in sheet or not isinstance(index, Texts):
        return sheet
    return {**sheet, "type": Texts.of("rank" if (i or "").isdecimal() else "stage" for i in index.values())}


def _rank_rows(kinds: Texts, indexes: Texts) -> tuple[Array, Array]:
    """The ranks of the rows that speak of one rank, and where these rows are. Rows of stages are maxima."""
    rows = [
        (int(index), row)
        for row, (kind, index) in enumerate(zip(kinds.values(), indexes.values(), strict=True))
        if kind == "rank" and index is not None and index.isdecimal() and len(index) < 10  # noqa: PLR2004 - no rank
    ]
    found = np.array(rows, np.int64).reshape(-1, 2)
    return found[:, 0], found[:, 1]


def _by_rank(entry: CommunicationEntry) -> Iterator[tuple[int, object]]:
    """What each rank says of an operator."""
    for key, info in entry.content.items():
        if key.isdecimal() and len(key) < 10:  # noqa: PLR2004 - no rank has ten digits
            yield int(key), info


def _ranks_of_entry(entry: CommunicationEntry) -> list[int]:
    return [rank for rank, _ in _by_rank(entry)]
