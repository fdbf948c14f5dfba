# SPDX-License-Identifier: Apache-2.0
"""From traces that were found to a run and its sources: they are given their ranks, described, and opened."""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import BufferedReader
from itertools import compress, pairwise
from pathlib import Path

from msgspec import structs

from advisor.facts.rank_facts import Source
from advisor.messages.errors import InputError, hint_beside, reason_of_error
from advisor.messages.message import Message
from advisor.model.run import Capture, InputNote, Parallel, Run
from advisor.sources.family import Candidate, GroupMembers, Input, LeftAside
from advisor.sources.files import chunks
from advisor.sources.files.collected_events import KEY
from advisor.sources.files.damage_notes import Notes, Odd
from advisor.sources.files.packed import TraceFile, open_trace
from advisor.sources.files.utf16 import is_utf16
from advisor.sources.kineto.detect import WANTED, TracePath
from advisor.sources.kineto.header import (
    FOREIGN_DEVICES,
    LAUNCHED,
    OTHER_DEVICES,
    TraceHeader,
    read_header,
    span_of_events,
)
from advisor.sources.kineto.reading import EXPORT, Trace
from advisor.sources.kineto.readings import READINGS
from advisor.sources.listing import show_name, show_relative
from advisor.sources.shared.host_names import host_of_worker
from advisor.sources.shared.rank_names import order_by_numbers, rank_in_name, rank_of_folders
from advisor.sources.shared.rival_captures import (
    ProcessRecording,
    are_of_newest_moment,
    count_at_once,
    notes_on_choice,
    processes_at_once,
)

_GPU = "GPU"
_EDGE = 4096
"""Bytes at either end of a file that tell whether it is one whole JSON."""
_STAMP = re.compile(r"\.(\d{10,19})(?=\.|$)")
_ENDING = re.compile(r"(\.pt)?(\.trace)?\.json(\.gz)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Seen:
    """A trace that was looked at."""

    file: Path
    header: TraceHeader
    notes: Notes
    opened: TraceFile | None = None
    """The trace, kept open where nothing else is looked at."""
    device: int | None = None
    """The device that counts, where the trace names no rank and several devices worked for its process."""
    span: ProcessRecording | None = None
    """From when to when it was recorded, where that was asked as it was looked at."""

    @property
    def process(self) -> tuple[str, str]:
        """The process that wrote it, by folder and name without the time."""
        return (str(self.file.parent), _worker_name(self.file))

    def by_device(self) -> Iterator[_Seen]:
        """The trace once for each device that is a rank of its own."""
        if self.recorded_rank is not None or len(self.header.devices) < 2:  # noqa: PLR2004
            yield self
            return
        if self.opened is not None:
            self.opened.close()
        for device in self.header.devices:
            yield replace(self, device=device, opened=None)

    @property
    def recorded_rank(self) -> int | None:
        """The rank that the trace, its name or that of its folder tells."""
        asked = (self.header.rank, rank_in_name(self.file.name), rank_of_folders([self.file.parent.name]))
        return next((rank for rank in asked if rank is not None), None)

    @property
    def age_key(self) -> tuple[int, str, tuple[str | int, ...]]:
        """What orders traces of one rank: when it began, where that was asked; the time in the name, the name."""
        stamp = _STAMP.search(_ENDING.sub("", self.file.name))
        began_ns = self.span.began_ns if self.span else 0
        return (began_ns, stamp[1].ljust(19, "0") if stamp else "", order_by_numbers(str(self.file)))


def _base_of(path: Path) -> Path:
    """What places are told relative to."""
    return path if path.is_dir() else path.parent


def _worker_name(file: Path) -> str:
    """The process that wrote a trace: the name of the file without the time."""
    return _STAMP.sub("", _ENDING.sub("", file.name))


def open_traces(candidates: Sequence[Candidate], given: Input) -> tuple[Run, list[Source]]:
    """The run of these traces, and one source per rank.

    Raises:
        InputError: None of them holds work of a device, or they are of several jobs.
    """
    files = [candidate.file for candidate in candidates if isinstance(candidate, TracePath)]
    seen = _look_at_all(files)
    usable = [part for one in seen if _GPU in one.header.activities for part in one.by_device()]
    if not usable:
        raise _no_device_error(given.path, seen)
    _refuse_unnamed_among_ranks(usable, given.path)
    named = _by_rank((one.recorded_rank, one) for one in usable)
    processes = _by_process([one for one in usable if one.recorded_rank is None])
    _refuse_several_jobs([rivals[0] for rivals in (*named.values(), *processes)], given.path)
    by_rank = _of_newest_moment(_by_rank([*_flat(named.items()), *_flat(enumerate(_ranks_of_processes(processes)))]))
    chosen = {rank: rivals[0] for rank, rivals in by_rank.items()}
    given = structs.replace(given, aside=(*given.aside, *_lost_traces(seen, chosen, given.path)))
    groups = next((found for one in chosen.values() if (found := one.header.groups())), {})
    sources = [
        _open_trace_of_rank(rank, rivals, given, groups, first=place == 0)
        for place, (rank, rivals) in enumerate(by_rank.items())
    ]
    if len(sources) == 1:
        sources = [sources[0].alone(given.jobs or os.cpu_count() or 1, given.progress, usable[0].opened)]
    run = _describe_run(given.path, sources)
    notes = notes_on_choice(
        [show_relative(trace.path, _base_of(given.path)) for trace in sources if trace.other_captures],
        len(usable) - len(by_rank),
        sum(trace.at_once_captures for trace in sources),
    )
    numbered = {one.process for one in chosen.values() if one.recorded_rank is None}
    by_order = (InputNote(about="traces_by_order"),) if len(numbered) > 1 else ()
    devices = [name for name in OTHER_DEVICES if any(name in one.header.signs for one in sources)]
    others = [InputNote(about="other_device", names=(name,)) for name in devices]
    return run.model_copy(update={"notes": (*notes, *by_order, *others)}), list[Source](sources)


def may_hold_work(found: Candidate) -> bool:
    """Whether a trace holds work of a device, shows that one was recorded, or is too damaged to tell."""
    if not isinstance(found, TracePath):
        return True
    seen = _look_at(found.file, {}, keep=False)
    devices = {_GPU, *FOREIGN_DEVICES}.intersection(seen.header.activities)
    return bool(devices or seen.header.signs or seen.notes.all())


def _look_at_all(files: Sequence[Path]) -> list[_Seen]:
    """What traces say of themselves; the only one stays open."""
    first: dict[int | None, tuple[str, str]] = {}
    return [_look_at(file, first, keep=len(files) == 1) for file in files]


def _look_at(file: Path, first: dict[int | None, tuple[str, str]], *, keep: bool) -> _Seen:
    """What a trace says of itself; when it was recorded as well, where it is not the first process of its rank, so that
    it is unpacked once. With `keep` it stays open if it can be read."""
    notes = Notes()
    try:
        trace = open_trace(file, notes)
        opened = trace.open()
    except (OSError, Odd) as wrong:
        what = wrong.what if isinstance(wrong, Odd) else Message("file_unreadable", why=reason_of_error(wrong))
        notes.add(file.name, "", what, kind="unreadable")
        return _Seen(file, TraceHeader({}, 0, (), ()), notes)
    kept = False
    try:
        with opened:
            header = read_header(opened)
            wrong_text = None if _GPU in header.activities else _find_wrong_text(opened)
            one = _Seen(file, header, notes)
            if _GPU in header.activities and first.setdefault(one.recorded_rank, one.process) != one.process:
                one = replace(one, span=ProcessRecording(*span_of_events(opened, header.base_ns)))
        if wrong_text is not None and not notes.all():
            notes.add(file.name, "", wrong_text, kind="unreadable")
        kept = keep and _GPU in header.activities
        return replace(one, opened=trace) if kept else one
    finally:
        if not kept:
            trace.close()


def _find_wrong_text(file: BufferedReader) -> Message | None:
    """What keeps a file from being a whole trace by how it begins and ends; None where it may be one."""
    size = file.seek(0, 2)
    file.seek(0)
    begin = file.read(_EDGE).lstrip(b"\xef\xbb\xbf \t\r\n")
    file.seek(max(size - _EDGE, 0))
    end = file.read(_EDGE).rstrip(b" \t\r\n\0")
    if not begin:
        return Message("holds_nothing")
    if is_utf16(begin):
        return Message("is_utf16")
    if not begin.startswith((b"{", b"[")):
        return Message("is_no_json")
    return None if end.endswith((b"}", b"]")) and not _is_cut_off(file) else Message("ends_early")


def _is_cut_off(file: BufferedReader) -> bool:
    """Whether the events end before their array does, as behind one of them."""
    try:
        return chunks.is_cut_off(file, chunks.find_array(file, KEY))
    except chunks.NoEvents:
        return False


def _lost_traces(seen: Sequence[_Seen], chosen: Mapping[int, _Seen], path: Path) -> Iterator[LeftAside]:
    """The traces that are damaged, or hold nothing, and those of a rank that hold no work of its device."""
    base = _base_of(path)
    for one in seen:
        if _GPU in one.header.activities:
            continue
        rank = one.recorded_rank
        if one.notes.all():
            yield LeftAside(show_relative(one.file, base), one.notes.all()[0].what)
        elif not one.header.activities:
            yield LeftAside(show_relative(one.file, base), Message("holds_no_event"))
        elif rank is not None and rank not in chosen:
            yield LeftAside(show_relative(one.file, base), Message("holds_no_device_work"))


def _by_rank(ranked: Iterable[tuple[int | None, _Seen]]) -> dict[int, list[_Seen]]:
    """The traces of each rank, in order of rank; of each the newest first."""
    by_rank: dict[int, list[_Seen]] = defaultdict(list)
    for rank, one in ranked:
        if rank is not None:
            by_rank[rank].append(one)
    return {rank: _newest_first(rivals) for rank, rivals in sorted(by_rank.items())}


def _flat(by_rank: Iterable[tuple[int, Sequence[_Seen]]]) -> Iterator[tuple[int, _Seen]]:
    """Each trace with its rank."""
    return ((rank, one) for rank, rivals in by_rank for one in rivals)


def _newest_first(rivals: Sequence[_Seen]) -> list[_Seen]:
    """Traces of one rank, those of several processes by when they were recorded; before a newest one that is cut short
    a whole one of the same time."""
    if len({one.process for one in rivals}) > 1:
        rivals = [_with_span(one) for one in rivals]
    newest, *others = sorted(rivals, key=lambda one: one.age_key, reverse=True)
    whole = [one for one in others if newest.notes.all() and not one.notes.all() and _overlap(newest, one)]
    return [*whole[:1], newest, *(one for one in others if one not in whole[:1])]


def _overlap(one: _Seen, other: _Seen) -> bool:
    """Whether two traces hold a moment in common, as far as that was asked."""
    if one.span is None or other.span is None:
        return False
    return max(one.span.began_ns, other.span.began_ns) < min(one.span.ended_ns, other.span.ended_ns)


def _by_process(unnamed: Sequence[_Seen]) -> list[list[_Seen]]:
    """Traces that tell no rank, by the processes that wrote them, in order of their names."""
    found: dict[tuple[str, str], list[_Seen]] = defaultdict(list)
    for one in unnamed:
        found[one.process].append(one)
    return [found[process] for process in sorted(found, key=lambda told: [*map(order_by_numbers, told)])]


def _ranks_of_processes(processes: Sequence[Sequence[_Seen]]) -> list[list[_Seen]]:
    """The traces of each rank, where none tells it: processes that record at once are of one job, and its ranks are
    they in order, and their devices. What was recorded before is another capture of the first."""
    if len(processes) < 2:  # noqa: PLR2004
        return [rivals for traces in processes for rivals in _by_device(traces)]
    newest = [max(traces, key=lambda one: one.age_key) for traces in processes]
    together, *before = processes_at_once([_recorded_span(one) for one in newest])
    ranks = [rivals for place in together for rivals in _by_device(processes[place])]
    ranks[0] += [one for group in before for place in group for one in processes[place]]
    return ranks


def _by_device(traces: Sequence[_Seen]) -> list[list[_Seen]]:
    """The traces of one process, by the device that counts."""
    found: dict[int, list[_Seen]] = defaultdict(list)
    for one in traces:
        found[one.device or 0].append(one)
    return [found[device] for device in sorted(found)]


def _of_newest_moment(by_rank: dict[int, list[_Seen]]) -> dict[int, list[_Seen]]:
    """Without the ranks whose newest trace had ended before those of the others began, where any rank has several."""
    if len(by_rank) == 1 or not any(len(rivals) > 1 for rivals in by_rank.values()):
        return by_rank
    kept = are_of_newest_moment([_recorded_span(rivals[0]) for rivals in by_rank.values()])
    return dict(compress(by_rank.items(), kept))


def _count_at_once(rivals: Sequence[_Seen]) -> int:
    """How many other processes recorded at the same time as the first of these traces; what is cut short may be a copy
    of it."""
    if len({one.process for one in rivals}) == 1:
        return 0
    chosen, *others = rivals
    return count_at_once(_recorded_span(chosen), [_recorded_span(one) for one in others if not one.notes.all()])


def _with_span(one: _Seen) -> _Seen:
    return replace(one, span=_recorded_span(one))


def _recorded_span(one: _Seen) -> ProcessRecording:
    if one.span is not None:
        return one.span
    trace = open_trace(one.file, Notes())  # what is damaged was noted as it was looked at
    try:
        with trace.open() as opened:
            return ProcessRecording(*span_of_events(opened, one.header.base_ns))
    finally:
        trace.close()


def _refuse_unnamed_among_ranks(seen: Sequence[_Seen], path: Path) -> None:
    """Of a job of several ranks every trace tells which it is of: one that does not is of another job.

    Raises:
        InputError: One of these traces tells no rank, and another one is of a job of several.
    """
    unnamed = next((one for one in seen if one.recorded_rank is None), None)
    named = next((one for one in seen if one.recorded_rank is not None and _world_size(one) > 1), None)
    if unnamed is not None and named is not None:
        raise _several_jobs_error(path, named, unnamed)


def _refuse_several_jobs(chosen: Sequence[_Seen], path: Path) -> None:
    """The ranks of one job know of the same world, run on the same devices, and are written by processes of their own.

    Raises:
        InputError: Two of these traces are of different jobs.
    """
    for pair in pairwise(chosen):
        if any(one.header.world_size == 1 for one in pair):
            raise _several_jobs_error(path, *pair)
    for tells in (_world_size, _chip):
        told = [one for one in chosen if tells(one)]
        other = next((one for one in told if tells(one) != tells(told[0])), None)
        if other is not None:
            raise _several_jobs_error(path, told[0], other)
    by_process: dict[str, _Seen] = {}
    for one in chosen:
        _, process = one.process
        if one.recorded_rank is None and (like := by_process.setdefault(process, one)) is not one:
            raise _several_jobs_error(path, like, one)


def _world_size(one: _Seen) -> int:
    return one.header.world_size


def _chip(one: _Seen) -> str:
    """The first device of its host; empty where it does not say."""
    return next(iter(one.header.chips), "")


def _several_jobs_error(path: Path, one: _Seen, other: _Seen) -> InputError:
    base = _base_of(path)
    first, second = (show_relative(each.file, base) for each in (one, other))
    what = Message("traces_of_several_jobs", path=show_name(path), first=first, second=second)
    if not path.is_dir():
        return InputError(what, Message("give_one_job"))
    return InputError(what, Message("give_one_job_such_as", one=show_name(one.file)))


def _open_trace_of_rank(
    rank: int, rivals: Sequence[_Seen], given: Input, groups: dict[str, GroupMembers], *, first: bool
) -> Trace:
    one = rivals[0]
    base = _base_of(given.path)
    return Trace(
        rank=rank,
        path=one.file,
        name=show_relative(one.file.parent, base),
        size_bytes=one.file.stat().st_size,
        header=one.header,
        device=one.device,
        groups=groups,
        carries_groups=first,
        aside=given.aside if first else (),
        other_captures=len(rivals) - 1,
        at_once_captures=_count_at_once(rivals),
        readings=READINGS,
        notes=one.notes,
    )


def _describe_run(path: Path, traces: Sequence[Trace]) -> Run:
    world = max(trace.header.world_size for trace in traces)
    chips = {trace.chip for trace in traces if trace.chip}
    return Run(
        name=show_name(path.resolve().name),
        framework="PyTorch",
        chip=chips.pop() if len(chips) == 1 else "",
        ranks=tuple(trace.rank for trace in traces),
        world_size=world,
        world_source="distributed_args" if world else "",
        steps=tuple(sorted({step for trace in traces for step in trace.header.steps})),
        parallel=Parallel(),
        captures=tuple(_describe_capture(trace) for trace in traces),
    )


def _describe_capture(trace: Trace) -> Capture:
    return Capture(
        rank=trace.rank,
        path=trace.name,
        host=host_of_worker(_worker_name(trace.path)),
        source=EXPORT,
        activities=trace.header.activities,
        with_stack=trace.header.switch("with_stack"),
        profile_memory=trace.header.switch("profile_memory"),
        record_shapes=trace.header.switch("record_shapes"),
        size_bytes=trace.size_bytes,
    )


_LOST_ENDS = frozenset({"ends_early", "packed_damaged"})
"""Why the work of a device may be gone from a trace that held it."""


def _no_device_error(path: Path, seen: Sequence[_Seen]) -> InputError:
    """About traces of which none holds work of a device."""
    foreign = sorted(FOREIGN_DEVICES.intersection(name for one in seen for name in one.header.activities))
    if foreign:
        what = Message("trace_of_foreign_device", path=show_name(path), device=foreign[0])
        return InputError(what, Message("give", what=WANTED))
    notes = [note for one in seen for note in one.notes.all()]
    cut = any(note.what.code in _LOST_ENDS for note in notes)
    if notes and (cut or any(one.header.activities for one in seen)):
        what = Message("trace_unreadable", path=show_name(path), why=notes[0].what)
        return InputError(what, Message("record_or_copy_again"))
    if notes:
        what = Message("trace_unreadable", path=show_name(path), why=notes[0].what)
        return InputError(what, hint_beside(what, Message("give", what=WANTED)))
    signs = {sign for one in seen for sign in one.header.signs}
    if LAUNCHED in signs:
        return InputError(Message("trace_without_kernels", path=show_name(path)), Message("record_kernels_too"))
    if signs:
        return InputError(Message("trace_without_launches", path=show_name(path)), Message("record_where_work_is"))
    return InputError(Message("trace_without_device", path=show_name(path)), Message("record_device_activity"))
