# SPDX-License-Identifier: Apache-2.0
"""From captures that were found to a run and its sources: they are given their ranks, described, and opened."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import compress, count
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from msgspec import Struct, field

from advisor.facts.rank_facts import Source
from advisor.messages.errors import InputError
from advisor.messages.message import Message
from advisor.model.differing_words import ranks_by_word
from advisor.model.run import LEVELS, Capture, InputNote, Parallel, Run
from advisor.sources.ascend import refusals
from advisor.sources.ascend.captures import describe_capture, holds_details_alone, holds_something
from advisor.sources.ascend.communication import p2p_groups
from advisor.sources.ascend.detect import FURTHER_FILES, PROFILER_INFO, CaptureFolders
from advisor.sources.ascend.devices import chip_name, device_identity, rank_of_device
from advisor.sources.ascend.execution_modes import execution_of
from advisor.sources.ascend.groups import Sizes, parallel_layout, stages_by_pairs
from advisor.sources.ascend.groups import groups_in_metadata as recorded_groups
from advisor.sources.ascend.matrix_groups import groups_by_senders
from advisor.sources.ascend.msprof import Results
from advisor.sources.ascend.reading import Folder, Shelf
from advisor.sources.ascend.readings import READINGS
from advisor.sources.ascend.sending_names import sending_groups
from advisor.sources.ascend.sent_pairs import passed_on_pairs
from advisor.sources.ascend.settings import Recorded, recorded_settings
from advisor.sources.ascend.sqltable import query_rows
from advisor.sources.ascend.steps import numbered_steps
from advisor.sources.ascend.world import sole_sender, world_of_job
from advisor.sources.family import Candidate, GroupMembers, Input, LeftAside
from advisor.sources.files.archives import archive_stem
from advisor.sources.files.heads import file_head
from advisor.sources.listing import show_name, show_relative
from advisor.sources.shared.ascend_names import ANALYSIS_DATABASES, OUTPUT, PROFILER_DATABASE, TEXT_FILES
from advisor.sources.shared.rank_names import rank_in_name, rank_of_folders
from advisor.sources.shared.rival_captures import ProcessRecording, are_of_newest_moment, count_at_once, notes_on_choice
from advisor.units import spell_numbers

_STAMP = re.compile(r"_(\d{14,17})_ascend_(?:pt|ms)$|^PROF_\d+_(\d{14,17})_")
_NUMBER_AT_END = re.compile(r"(?<!\d)(\d+)$")
"""One in brackets counts copies."""
_LONGEST_NUMBER = 5
"""A longer one is a date or the number of a process."""
_BESIDE = 64
"""Of so many captures the sums of steps are read together."""


def open_captures(candidates: Sequence[Candidate], given: Input) -> tuple[Run, list[Source]]:
    """The run of these captures, and one source per rank.

    Raises:
        InputError: They are of several frameworks, or hold no measurement at all.
    """
    found = [candidate for candidate in candidates if isinstance(candidate, CaptureFolders)]
    spots = [spot for spot in found if spot.results is None] or found  # a framework's profiler records more than msprof
    mindspore, pytorch = (next(filter(asked, spots), None) for asked in (_by_mindspore, _by_pytorch))
    if mindspore is not None and pytorch is not None:
        raise refusals.mixed_frameworks_error(given.path, pytorch.root, mindspore.root)
    base = given.path if given.path.is_dir() and given.path.name != OUTPUT else spots[0].root
    numbered = _number_captures([_folder_at(spot, base) for spot in spots])
    ranked, others = _one_per_rank(numbered.folders)
    told = _read_descriptions(ranked)
    groups = told.groups or dict(given.job.groups)
    own_groups = _groups_by_rank(groups, told.own_groups, [folder.rank for folder in ranked])
    layout = parallel_layout(told.sizes, groups, given.job.stages)
    if not layout.source:
        layout = parallel_layout(told.sizes, groups, _stages_by_traffic(ranked, groups), "p2p")
    if not groups and len(ranked) > 1:
        by_senders = groups_by_senders(ranked)
        ranked = [replace(folder, groups_by_senders=by_senders) for folder in ranked]
    folders, steps = _open_folders(ranked, groups, own_groups, layout, given)
    job = world_of_job(told.sizes, groups, given.job.ranks, folders)
    run = _describe_run(given.path, folders, told, layout).model_copy(
        update={
            "world_size": job.ranks,
            "world_source": job.source if job.ranks else "",
            "steps": tuple(sorted(steps)),
            "notes": (
                *notes_on_choice(
                    [folder.name for folder in folders if folder.other_captures],
                    others,
                    sum(folder.at_once_captures for folder in folders),
                ),
                *_notes_on_recorders(len(found) - len(spots)),
                *([InputNote(about="ranks_by_order")] if numbered.by_order else []),
                *_notes_on_differences(folders, told),
            ),
        }
    )
    return run, list[Source](folders)


def _by_mindspore(spot: CaptureFolders) -> bool:
    return spot.mindspore


def _by_pytorch(spot: CaptureFolders) -> bool:
    return spot.pytorch


def _folder_at(spot: CaptureFolders, base: Path) -> Folder:
    """The capture at a spot, of which no fact can be read yet; its rank is -1 unless a file name says it."""
    if spot.results is not None:
        return _folder_of_msprof(spot, spot.results, base)
    files = {name: spot.output / name for name in spot.names if name in (*TEXT_FILES, *FURTHER_FILES)}
    in_folders, hollow = _files_in_folders(spot)
    files |= in_folders
    if spot.renamed:
        files = {kind: spot.output / name for kind, name in spot.renamed.items() if kind != "profiler"}
    databases, database_rank = _database_files(spot)
    about, info_rank = _recording_files(spot, database_rank if spot.renamed else None)
    rank = database_rank if database_rank is not None else info_rank
    folder = Folder(
        rank=-1 if rank is None else rank,
        root=spot.root,
        output=spot.output,
        files={**files, **about},
        databases=databases,
        name=show_relative(spot.place, base),
        lone=spot.lone,
        below_input=spot.root != base,
        size_bytes=sum(_file_size(file) for file in (*files.values(), *databases.values())),
    )
    for name in TEXT_FILES:
        if folder.packed(name):
            folder.notes.add(f"{name}.gz", "", Message("is_packed"), kind="unreadable")
    for name in hollow:
        folder.notes.add(name, "", Message("folder_for_file"), kind="unreadable")
    return folder


def _files_in_folders(spot: CaptureFolders) -> tuple[dict[str, Path], list[str]]:
    """Text files in a folder that bears their name, as some unpackers leave them; and such folders without the file."""
    there = [name for name in TEXT_FILES if not spot.renamed and (spot.output / name).is_dir()]
    files = {name: spot.output / name / name for name in there if (spot.output / name / name).is_file()}
    return files, [name for name in there if name not in files]


def _folder_of_msprof(spot: CaptureFolders, results: Results, base: Path) -> Folder:
    """The capture of one device, of which no fact can be read yet; its rank is -1 until its files are asked."""
    every = [*results.databases.values(), *(path for parts in results.files.values() for path in parts)]
    name = show_relative(spot.place, base)
    return Folder(
        rank=-1,
        root=spot.root,
        output=spot.output,
        files={name: parts[0] for name, parts in results.files.items()},
        more={name: parts[1:] for name, parts in results.files.items() if len(parts) > 1},
        databases=results.databases,
        name=f"{name}, device {results.device}" if results.shared else name,
        lone=spot.lone,
        below_input=spot.root != base,
        size_bytes=sum(map(_file_size, dict.fromkeys(every))),
        by_msprof=True,
        device=results.device if results.shared else None,
        named_device=results.device,
    )


def _file_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _recording_files(spot: CaptureFolders, of_rank: int | None) -> tuple[dict[str, Path], int | None]:
    """The files about the recording, which lie beside the output, and the rank in their name; of this rank alone where
    one is given."""
    found: dict[str, Path] = {}
    rank = None
    for folder in dict.fromkeys((spot.root, spot.output)):
        for name in _file_names(folder):
            match = PROFILER_INFO.match(name)
            if match and of_rank is not None and match[1] and int(match[1]) != of_rank:
                continue
            if match and "profiler_info.json" not in found:
                found["profiler_info.json"] = folder / name
                rank = int(match[1]) if match[1] else None
            if name == "profiler_metadata.json":
                found.setdefault(name, folder / name)
    return found, rank


def _file_names(folder: Path) -> list[str]:
    try:
        return [name for name in sorted(os.listdir(folder)) if (folder / name).is_file()]
    except OSError:
        return []


def _database_files(spot: CaptureFolders) -> tuple[dict[str, Path], int | None]:
    found: dict[str, Path] = {}
    rank = None
    for name in spot.names:
        match = PROFILER_DATABASE.match(name)
        if match:
            rank = int(match[2]) if match[2] and "profiler" not in found else rank
            found.setdefault("profiler", spot.output / name)
        elif name in ANALYSIS_DATABASES:
            found.setdefault("analysis", spot.output / name)
    if "profiler" in spot.renamed:
        found = {"profiler": spot.output / spot.renamed["profiler"]}
    return found, rank


def _one_per_rank(folders: list[Folder]) -> tuple[list[Folder], int]:
    """One folder per rank, the newest that tells what the device did, in order of rank; how many were left aside."""
    by_rank: dict[int, list[Folder]] = defaultdict(list)
    for folder in folders:
        by_rank[folder.rank].append(folder)
    chosen = [_newest_of(rivals) if len(rivals) > 1 else rivals[0] for _, rivals in sorted(by_rank.items())]
    if any(folder.other_captures for folder in chosen):
        chosen = _of_newest_moment(chosen)
    return chosen, len(folders) - len(chosen)


def _newest_of(rivals: Sequence[Folder]) -> Folder:
    """The newest of several captures of a rank, and how many others there are."""
    recordings = [_Recording(folder, _recorded_span(folder)) for folder in rivals]
    newest = max(recordings, key=_age_key)
    at_once = count_at_once(newest.span, [one.span for one in recordings if one is not newest])
    return replace(newest.folder, other_captures=len(rivals) - 1, at_once_captures=at_once)


class _Recording(NamedTuple):
    """A capture, and when it was recorded."""

    folder: Folder
    span: ProcessRecording


def _of_newest_moment(folders: Sequence[Folder]) -> list[Folder]:
    """Those that were recorded with the newest of these; of the others it is known that they had ended before."""
    kept = are_of_newest_moment([_recorded_span(folder) for folder in folders])
    return list(compress(folders, kept))


def _recorded_span(folder: Folder) -> ProcessRecording:
    found = recorded_settings(folder)
    folder.release()
    return ProcessRecording(found.start_ns, found.end_ns)


def _with_recorded_rank(folder: Folder) -> Folder:
    """The capture with the rank as some file holds it, or -1."""
    found = recorded_settings(folder)
    ranks = (found.rank, _mapped_rank(folder), found.distributed_rank, rank_of_device(folder), _named_rank(folder))
    folder.release()
    return replace(folder, rank=next((rank for rank in ranks if rank is not None), -1))


def _mapped_rank(folder: Folder) -> int | None:
    found = query_rows(folder, "profiler", "SELECT DISTINCT rankId FROM RANK_DEVICE_MAP")
    ranks = [row[0] for row in found if isinstance(row[0], int) and row[0] >= 0]
    return ranks[0] if len(ranks) == 1 else None


def _named_rank(folder: Folder) -> int | None:
    """The rank that the name of the folder tells, or of a database by itself, or of a folder around it; the name that
    a profiler gave tells the host."""
    own = folder.lone or folder.root.name
    told = None if _STAMP.search(own) else rank_in_name(own)
    return told if told is not None else rank_of_folders(reversed(Path(folder.name).parts[:-1]))


class _Numbered(NamedTuple):
    """Captures with their ranks, and whether several have none but their place in the order of names."""

    folders: list[Folder]
    by_order: bool


def _number_captures(folders: Sequence[Folder]) -> _Numbered:
    """Captures with the rank that their files hold. Those that hold none are told by who sends what they sent, else by
    folders with a plain number for a name; else a process that another capture tells the rank of has that, and several
    processes of one job have by their order of name the numbers from 0 on, those aside that others are told to have.
    Beside a single one that is told nobody knows whether another is of its job, or an older capture of it."""
    found = [_with_recorded_rank(folder) if folder.rank < 0 else folder for folder in folders]
    untold = [folder for folder in found if folder.rank < 0]
    told = {folder.rank: folder for folder in found if folder.rank >= 0}
    ranks = _ranks_apart(untold, sole_sender) or _ranks_apart(untold, _number_as_name)
    if ranks.keys() & told.keys():
        ranks = {}
    by_name = {name: rank for rank, name in ranks.items()}
    of_worker = {name: rank for rank, folder in told.items() if (name := _worker_name(folder))}
    workers = sorted({_worker_name(folder) for folder in untold} - of_worker.keys())
    free = (number for number in count() if number not in told or len(told) == 1)
    of_worker |= dict(zip(workers, free, strict=False))
    return _Numbered(
        [
            replace(folder, rank=by_name.get(_process_name(folder), of_worker[_worker_name(folder)]))
            if folder.rank < 0
            else folder
            for folder in found
        ],
        by_order=not ranks
        and (len(workers) > 1 or (len(workers) > 0 and len(told) > 1))
        and not all(folder.by_msprof for folder in untold),
    )


def _ranks_apart(folders: Sequence[Folder], rank_of: Callable[[Folder], int | None]) -> dict[int, str]:
    """By rank the process whose captures have it; none where not each of several processes has one of its own."""
    told = {(rank_of(folder), _process_name(folder)) for folder in folders}
    ranks = {rank: name for rank, name in told if rank is not None}
    return ranks if len(told) > 1 and len(ranks) == len(told) == len({name for _, name in told}) else {}


def _process_name(folder: Folder) -> str:
    """The process that wrote a capture; its place where no name tells that."""
    return _worker_name(folder) or folder.name


def _number_as_name(folder: Folder) -> int | None:
    """The nearest folder around a capture whose name is a number and nothing else; the one at the end of a lone file's
    name before that."""
    ends = _NUMBER_AT_END.search(Path(folder.lone).stem)
    names = (*([ends[1]] if ends else []), *reversed(Path(folder.name).parts))
    return next((int(name) for name in names if name.isdecimal() and len(name) <= _LONGEST_NUMBER), None)


def _worker_name(folder: Folder) -> str:
    """The process that wrote a capture: its folder's name without the time, hence host and process id; a lone file."""
    if folder.by_msprof:
        return device_identity(folder)
    if folder.lone:
        return folder.name
    stamp = _STAMP.search(folder.root.name)
    return folder.root.name[: stamp.start()] if stamp else ""


def _age_key(one: _Recording) -> tuple[bool, str, int, str]:
    """What orders captures of one rank: whether it tells what the device did, the time in the name, the end of
    recording, the name."""
    stamp = _STAMP.search(one.folder.root.name)
    moment = (stamp[1] or stamp[2]).ljust(17, "0") if stamp else ""
    return _tells_of_device(one.folder), moment, one.span.ended_ns, one.folder.name


def _tells_of_device(folder: Folder) -> bool:
    """Whether a file lies there, and is not empty, that lists or sums up what the device did."""
    told = [file for name in _OF_DEVICE for file in folder.every_part(name)]
    return any(_file_size(file) > 0 for file in (*told, *folder.databases.values()))


_OF_DEVICE = ("kernel_details.csv", "trace_view.json", "step_trace_time.csv", "op_statistic.csv")


def _groups_by_rank(
    groups: Mapping[str, GroupMembers], recorded: Mapping[int, Iterable[str]], ranks: Iterable[int]
) -> dict[int, dict[str, GroupMembers]]:
    """Of each rank the groups that it is in and those that it told, so that it rests on no other ones; all of them
    where there is neither: its number may be none of the job."""
    names: dict[int, set[str]] = {rank: set(told) for rank, told in recorded.items()}
    for name, group in groups.items():
        for rank in group.ranks:
            names.setdefault(rank, set()).add(name)
    everything = dict(groups)
    return {
        rank: {name: groups[name] for name in sorted(own)} if (own := names.get(rank)) else everything for rank in ranks
    }


def _open_folders(
    ranked: Sequence[Folder],
    groups: dict[str, GroupMembers],
    own_groups: Mapping[int, dict[str, GroupMembers]],
    layout: Parallel,
    given: Input,
) -> tuple[list[Folder], set[int]]:
    """The captures, described in full and with their facts to read, and the steps they recorded.

    Raises:
        InputError: None holds anything.
    """
    shelf, aside = Shelf(), _aside_by_capture(given.aside, [capture.name for capture in ranked])
    folders = [
        replace(
            capture,
            groups=own_groups[capture.rank],
            groups_of_run=dict(sorted(groups.items())) if number == 0 else None,
            stage=layout.stage_of(capture.rank),
            shelf=shelf,
            readings=READINGS,
            aside=tuple(aside[number]),
        )
        for number, capture in enumerate(ranked)
    ]
    steps, readable = set[int](), False
    for done, folder in enumerate(folders, 1):
        if done % _BESIDE == 1:
            folder.read_beside(folders[done - 1 : done - 1 + _BESIDE])
        readable = readable or holds_something(folder)
        steps.update(numbered_steps(folder))
        folder.read_alone()
        given.progress("captures", done, len(ranked))
    if not readable:
        raise _no_measurement_error(given.path, folders)
    if len(folders) == 1:
        folders[0].release()
        folders = [replace(folders[0], jobs=given.jobs or os.cpu_count() or 1, progress=given.progress)]
    return folders, steps


def _aside_by_capture(aside: Iterable[LeftAside], names: Sequence[str]) -> Mapping[int, list[LeftAside]]:
    """What was left aside by the number of the capture in whose folder it lies; the first tells what lies in none."""
    found: dict[int, list[LeftAside]] = {number: [] for number in range(len(names))}
    numbers = {PurePosixPath(name): number for number, name in enumerate(names)}
    for one in aside:
        unpacked = PurePosixPath(*map(archive_stem, PurePosixPath(one.name).parts[:-1]))
        within = [numbers[folder] for folder in (unpacked, *unpacked.parents) if folder in numbers]
        found[within[0] if within else 0].append(one)
    return found


class _Told(Struct):
    """What captures say of themselves and of their job."""

    captures: list[Capture] = field(default_factory=list)
    about: list[Recorded] = field(default_factory=list)
    """By rank, without what each of them says of the whole job, which is much."""
    chip: str = ""
    groups: dict[str, GroupMembers] = field(default_factory=dict)
    """Those of all ranks together."""
    own_groups: dict[int, tuple[str, ...]] = field(default_factory=dict)
    """By rank: those that its capture tells."""
    sizes: Sizes = Sizes({}, 0)
    """Those of the first rank that has them."""
    worlds: list[str] = field(default_factory=list)
    """By rank: how many the job has; empty where that is not told."""
    execution: str = ""
    """How MindSpore ran the job, by the first rank that tells."""


def _read_descriptions(folders: Iterable[Folder]) -> _Told:
    """What each capture says of itself and of its job, one open at a time."""
    told = _Told()
    for folder in folders:
        found = recorded_settings(folder)
        told.captures.append(describe_capture(folder))
        told.about.append(Recorded(found.info, {}))
        told.chip = told.chip or chip_name(folder)
        told.execution = told.execution or execution_of(folder)
        own = recorded_groups(found.metadata.get("parallel_group_info"))
        told.groups.update(own)
        told.own_groups[folder.rank] = tuple(own)
        sizes = Sizes.recorded(found.metadata.get("distributed_args"))
        told.worlds.append(str(sizes.world or ""))
        if not told.sizes.sizes:
            told.sizes = sizes
        folder.release()
    return told


def _stages_by_traffic(folders: Sequence[Folder], groups: Mapping[str, GroupMembers]) -> tuple[tuple[int, ...], ...]:
    """Stages by who shares a communicator for point-to-point traffic; only when every rank was captured."""
    ranks = [folder.rank for folder in folders]
    if len(ranks) < 2 or ranks != list(range(len(ranks))):  # noqa: PLR2004 - one rank is no pipeline
        return ()
    members: dict[str, list[int]] = defaultdict(list)
    pairs: dict[str, set[tuple[int, int]]] = defaultdict(set)
    for folder in folders:
        told = p2p_groups(folder)
        for group in sending_groups(folder, _groups_with(folder.rank, groups)) if told is None else told:
            members[group].append(folder.rank)
        for group, sender, receiver in passed_on_pairs(folder):
            pairs[group].add((sender, receiver))
        folder.release()
    linked = (
        _linked_ranks(groups[name].ranks if name in groups else own, pairs[name]) for name, own in members.items()
    )
    return stages_by_pairs([chain for chains in linked for chain in chains if len(chain) > 1], len(ranks))


def _groups_with(rank: int, groups: Mapping[str, GroupMembers]) -> list[str]:
    return [name for name, group in groups.items() if rank in group.ranks]


def _linked_ranks(members: Sequence[int], pairs: Collection[tuple[int, int]]) -> list[tuple[int, ...]]:
    """The ranks that send to each other, told by their places in their communicator; where no places are told, or odd
    ones, all that share it."""
    told = [pair for pair in pairs if max(pair) < len(members)]
    if len(members) == 2 or not told or len(told) < len(pairs):  # noqa: PLR2004 - two can only send to each other
        return [tuple(members)]
    return [(members[sender], members[receiver]) for sender, receiver in told]


def _describe_run(path: Path, folders: Sequence[Folder], told: _Told, layout: Parallel) -> Run:
    about = told.about
    levels = [LEVELS.index(capture.level) for capture in told.captures if capture.level]
    return Run(
        name=show_name(path.resolve().name),
        framework=_framework_name(folders, about),
        execution=told.execution,
        cann_version=_word_of_all(found.version("cann_version") for found in about),
        torch_npu_version=_word_of_all(found.version("torch_npu_version") for found in about),
        chip=told.chip,
        level=LEVELS[min(levels)] if levels else "",
        ranks=tuple(folder.rank for folder in folders),
        start_ns=min((found.start_ns for found in about if found.start_ns), default=0),
        parallel=layout,
        captures=tuple(told.captures),
    )


def _word_of_all(words: Iterable[str]) -> str:
    """What all say who say anything; empty where they differ."""
    said = {word for word in words if word}
    return said.pop() if len(said) == 1 else ""


def _notes_on_differences(folders: Sequence[Folder], told: _Told) -> Iterator[InputNote]:
    """What ranks say of their job and software where they differ, each with the ranks that say so."""
    every = {
        "job_sizes": told.worlds,
        "cann_versions": [found.version("cann_version") for found in told.about],
        "torch_npu_versions": [found.version("torch_npu_version") for found in told.about],
    }
    numbers = [folder.rank for folder in folders]
    for key, words in every.items():
        if differing := ranks_by_word(numbers, words):
            said = (f"{word} (rank {spell_numbers(ranks)})" for word, ranks in differing.items())
            yield InputNote(about=key, names=tuple(said))


def _framework_name(folders: Sequence[Folder], about: Sequence[Recorded]) -> str:
    spots = [
        CaptureFolders(folder.root, output=folder.output, names=tuple(path.name for path in folder.databases.values()))
        for folder in folders
    ]
    if any(spot.mindspore for spot in spots) or any(found.version("ms_version") for found in about):
        return "MindSpore"
    if any(spot.pytorch for spot in spots) or any(found.is_pytorch for found in about):
        return "PyTorch"
    return ""


def _notes_on_recorders(left: int) -> tuple[InputNote, ...]:
    """How many captures of msprof were left aside for those of a framework."""
    return (InputNote(about="msprof_captures", count=left),) if left else ()


def _no_measurement_error(path: Path, folders: Sequence[Folder]) -> InputError:
    """About captures that hold no measurement at all."""
    if all(map(holds_details_alone, folders)):
        names = {file.name for folder in folders for file in _exported_files(folder)}
        return refusals.details_alone_error(path, sorted(names))
    sizes = [_file_size(file) for folder in folders for file in (*folder.databases.values(), *_exported_files(folder))]
    if not sizes:
        return refusals.nothing_read_error(
            path, sorted({file.name for folder in folders for file in folder.files.values()})
        )
    notes = [note for folder in folders for note in folder.notes.all()]
    exported = [file for folder in folders for file in _exported_files(folder)]
    if not notes and not any(folder.databases for folder in folders) and all(map(_is_heading_alone, exported)):
        return refusals.headings_alone_error(path, sorted({file.name for file in exported}))
    return refusals.no_measurement_error(path, sizes, notes, any(folder.databases for folder in folders))


def _is_heading_alone(file: Path) -> bool:
    """Whether a table holds one line and no more."""
    start = file_head(file)
    return file.suffix == ".csv" and bool(start.strip()) and b"\n" not in start.strip()


def _exported_files(folder: Folder) -> list[Path]:
    return [file for name, file in folder.files.items() if name in TEXT_FILES]
