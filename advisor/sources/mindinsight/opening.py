# SPDX-License-Identifier: Apache-2.0
"""From folders that were found to a run and its sources: their files are sorted by rank, described, and opened."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from msgspec import Struct

from advisor.facts.base import Fact
from advisor.facts.observed import BatchQueue, Collective, DatasetOperation, OperatorTotal, RankFlops, StepPhase
from advisor.facts.rank_facts import Source
from advisor.messages.errors import FactMissing, InputError, hint_beside
from advisor.messages.message import Message
from advisor.model.run import Capture, InputNote, Parallel, Run
from advisor.sources.family import Candidate, Input
from advisor.sources.files import jsonfile
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.jsonfile import as_integer, as_text, value_at
from advisor.sources.listing import show_name, show_relative
from advisor.sources.mindinsight.detect import WANTED, LegacyFile, LegacyFolder
from advisor.sources.mindinsight.reading import EXPORT, LegacyRank
from advisor.sources.mindinsight.readings import READINGS
from advisor.sources.mindinsight.steps import counted_steps
from advisor.sources.shared.rival_captures import notes_on_choice

_STAMP = re.compile(r"(\d{10,17})$")
_MOST_RANKS = 1_000_000
_WORTH_READING: tuple[type[Fact], ...] = (
    StepPhase,
    OperatorTotal,
    DatasetOperation,
    BatchQueue,
    Collective,
    RankFlops,
)
"""A folder that holds none of them has nothing to tell."""


class Layout(Struct, frozen=True):
    """How the job is cut, as names of files or profiler_info_*.json tell it."""

    layout: str = ""
    ranks: int = 0
    stages: int = 0

    def parallel(self) -> Parallel:
        """The stages: as many ranks each as fit, in order, which is how MindSpore cuts a pipeline."""
        if self.stages <= 1 or not self.ranks or self.ranks % self.stages:
            return Parallel(pp=self.stages, source="cluster" if self.stages else "")
        each = self.ranks // self.stages
        stages = tuple(tuple(range(first, first + each)) for first in range(0, self.ranks, each))
        return Parallel(pp=self.stages, source="cluster", stages=stages)


def open_folders(candidates: Sequence[Candidate], given: Input) -> tuple[Run, list[Source]]:
    """The run of these folders, and one source per rank.

    Folders of one job hold different ranks; of those that hold the same ranks the newest by its name counts.

    Raises:
        InputError: They are of several jobs, or hold nothing that was measured.
    """
    chosen, left = _folders_of_one_job([one for one in candidates if isinstance(one, LegacyFolder)], given.path)
    base = given.path if given.path.is_dir() else given.path.parent
    layout = _layout_of_job(chosen)
    ranks = [_rank_in_folder(*found, base, layout) for found in _files_by_rank(chosen)]
    ranks = [_described(one, given, first=place == 0, others=left) for place, one in enumerate(ranks)]
    if not any(_holds(one, fact) for one in ranks for fact in _WORTH_READING):
        raise _no_measurement_error(given.path, ranks)
    return _describe_run(given.path, chosen, ranks, layout, left), list[Source](ranks)


def _folders_of_one_job(folders: Sequence[LegacyFolder], path: Path) -> tuple[list[LegacyFolder], int]:
    """The newest folders of which no two hold the same rank, in order; and how many are left aside.

    Raises:
        InputError: Two hold the same rank, and their names do not say which is newer.
    """
    chosen, seen = list[LegacyFolder](), dict[int, LegacyFolder]()
    for folder in sorted(folders, key=lambda one: (_stamp(one), one.root), reverse=True):
        rivals = [seen[file.rank] for file in folder.files if file.rank in seen]
        if any(_stamp(rival) == _stamp(folder) for rival in rivals):
            raise InputError(Message("several_jobs", path=show_name(path)), Message("give_one_job"))
        if not rivals:
            chosen.append(folder)
            seen.update((file.rank, folder) for file in folder.files)
    return sorted(chosen, key=lambda one: one.root), len(folders) - len(chosen)


def _stamp(folder: LegacyFolder) -> str:
    """The time in the name of a folder, such as `profiler-1666666666`; empty where it has none."""
    found = _STAMP.search(folder.root.name)
    return found[1].ljust(17, "0") if found else ""


def _files_by_rank(folders: Sequence[LegacyFolder]) -> Iterator[tuple[int, Path, Mapping[str, Path]]]:
    """Each rank with its folder and files, in order."""
    found: dict[int, tuple[Path, dict[str, Path]]] = {}
    for folder in folders:
        for file in folder.files:
            found.setdefault(file.rank, (folder.root, {}))[1][file.kind] = folder.root / file.name
    for rank, (root, files) in sorted(found.items()):
        yield rank, root, files


def _layout_of_job(folders: Sequence[LegacyFolder]) -> Layout:
    """How the job is cut: as the summaries of the cluster are called, else as profiler_info_*.json has it."""
    named = [file for folder in folders for file in folder.files if file.kind == "cluster"]
    if named:
        return _layout_of_name(max(named, key=lambda one: (one.stages, one.ranks)))
    about = [folder.root / file.name for folder in folders for file in folder.files if file.kind == "about"]
    return next((found for path in about if (found := _layout_in_file(path)).ranks), Layout())


def _layout_of_name(file: LegacyFile) -> Layout:
    return Layout(file.layout, min(file.ranks, _MOST_RANKS), min(file.stages, _MOST_RANKS))


def _layout_in_file(path: Path) -> Layout:
    try:
        content = jsonfile.load_json(path, Notes())
    except Unreadable:
        return Layout()
    ranks, stages = (as_integer(value_at(content, name)) or 0 for name in ("rank_size", "stage_num"))
    mode = as_text(value_at(content, "parallel_mode"))
    cut = "pipeline" if stages > 1 else "model" if mode.endswith("auto_parallel") else "data"
    usable = 1 < ranks < _MOST_RANKS and 0 < stages <= ranks
    return Layout(cut, ranks, stages) if usable else Layout()


def _rank_in_folder(rank: int, root: Path, files: Mapping[str, Path], base: Path, layout: Layout) -> LegacyRank:
    return LegacyRank(
        rank=rank,
        files=files,
        name=show_relative(root, base),
        size_bytes=sum(path.stat().st_size for path in files.values()),
        layout=layout.layout if layout.ranks > 1 else "",
        parallel=layout.parallel(),
        readings=READINGS,
    )


def _described(rank: LegacyRank, given: Input, *, first: bool, others: int) -> LegacyRank:
    return replace(rank, aside=given.aside if first else (), other_captures=others)


def _holds(rank: LegacyRank, fact: type[Fact]) -> bool:
    try:
        return len(rank.read(fact)) > 0
    except FactMissing:
        return False


def _describe_run(
    path: Path, folders: Sequence[LegacyFolder], ranks: Sequence[LegacyRank], layout: Layout, left: int
) -> Run:
    spans = [us for rank in ranks for us in counted_steps(rank).values() if math.isfinite(us)]
    steps = {step for rank in ranks for step in counted_steps(rank)}
    for rank in ranks:
        rank.release()
    return Run(
        name=show_name(path.resolve().name),
        framework="MindSpore",
        ranks=tuple(rank.rank for rank in ranks),
        world_size=max(layout.ranks, len(ranks)) if layout.ranks else 0,
        world_source="cluster" if layout.ranks else "",
        steps=tuple(sorted(steps)),
        step_us=sum(spans) / len(spans) if spans else 0.0,
        parallel=layout.parallel(),
        captures=tuple(
            Capture(rank=rank.rank, path=rank.name, source=EXPORT, size_bytes=rank.size_bytes) for rank in ranks
        ),
        notes=_notes_on_choice(folders, ranks, left),
    )


def _notes_on_choice(folders: Sequence[LegacyFolder], ranks: Sequence[LegacyRank], left: int) -> tuple[InputNote, ...]:
    """What was left aside, and what of it."""
    raw = sum(folder.raw for folder in folders)
    chosen = [*dict.fromkeys(rank.name for rank in ranks)]
    beside = [InputNote(about="raw_beside", count=raw)] if raw else []
    return (*notes_on_choice(chosen, left, at_once=0), *beside)


def _no_measurement_error(path: Path, ranks: Sequence[LegacyRank]) -> InputError:
    """About folders of which no file holds a measurement."""
    notes = [note for rank in ranks for note in rank.notes.all()]
    nothing = Message("nothing_measured", name=show_name(path))
    if not notes:
        return InputError(nothing, Message("give", what=WANTED))
    what = Message("nothing_and_damage", what=nothing, file=notes[0].file, damage=notes[0].what)
    return InputError(what, hint_beside(what, Message("record_or_copy_again")))
