# SPDX-License-Identifier: Apache-2.0
"""From a path to a run and its sources: captures are found, given their ranks, and described."""

from __future__ import annotations

import os
import re
import stat
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from advisor.facts.profile import Source
from advisor.messages.damage import because
from advisor.messages.errors import InputError
from advisor.messages.text import Text
from advisor.model.run import Parallel, Run
from advisor.progress import Progress
from advisor.sources import unsupported
from advisor.sources.ascend.captures import describe, holds_something
from advisor.sources.ascend.communication import p2p_groups
from advisor.sources.ascend.devices import chip
from advisor.sources.ascend.groups import Sizes, chained, parallel
from advisor.sources.ascend.groups import recorded as recorded_groups
from advisor.sources.ascend.reading import Folder, Members, Reading, Shelf
from advisor.sources.ascend.settings import LEVELS, Recorded, recorded
from advisor.sources.ascend.sqltable import rows
from advisor.sources.ascend.steps import numbered_steps
from advisor.sources.ascend.world import world
from advisor.sources.cluster.summary import ClusterSummary
from advisor.sources.detect import (
    ANALYSIS_DATABASES,
    OUTPUT,
    PROFILER_DATABASE,
    PROFILER_INFO,
    TEXT_FILES,
    Found,
    Spot,
    find,
    is_cluster,
    of_file,
)
from advisor.sources.unsupported import shown

_STAMP = re.compile(r"_(\d{14,17})_ascend_(?:pt|ms)$")


def open_run(
    path: Path, readings: Sequence[Reading[Any]], *, jobs: int | None, progress: Progress
) -> tuple[Run, list[Source]]:
    """What lies at a path, of which these readings give the facts: the run, and one source per rank or for all.

    Raises:
        InputError: Nothing there can be read; the message says what was found and what to do.
    """
    _reachable(path)
    found = find(path) if path.is_dir() else _around(path)
    base = _base(path, found)
    _one_framework(path, found)
    folders, others = _ranked([_folder(spot, base, readings) for spot in found.captures])
    if folders:
        return _run_of_ranks(path, found, folders, others, jobs=jobs, progress=progress)
    if found.clusters:
        return _run_of_cluster(path, found)
    raise unsupported.refused(path, found)


def _reachable(path: Path) -> None:
    """Refuse what is neither a folder nor a file that can be looked at."""
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(
            Text(f"{shown(path)} does not exist", f"{shown(path)} 不存在"),
            Text(f"check the path; {unsupported.WANTED.en}", f"请检查路径；{unsupported.WANTED.zh}"),
        ) from None
    except (OSError, ValueError) as error:
        why = because(error)
        what = Text(f"{shown(path)} cannot be looked at ({why.en})", f"无法访问 {shown(path)}（{why.zh}）")
        raise InputError(what, unsupported.WANTED) from error
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        what = Text(f"{shown(path)} is neither a folder nor a file", f"{shown(path)} 既不是目录也不是文件")
        raise InputError(what, unsupported.WANTED)


def _around(path: Path) -> Found:
    """What a single file stands for: the capture or the cluster summary it belongs to, or a capture of its own."""
    spot = of_file(path)
    if spot is not None:
        return Found([spot])
    if is_cluster([path.name]):
        return Found(clusters=[path.parent])
    if path.suffix == ".db":
        return Found([Spot(path.parent, path.parent, (path.name,), "profiler")])
    start = unsupported.head(path)
    if unsupported.is_trace(start):
        if not unsupported.is_ascend_trace(start):
            raise unsupported.gpu(path)
        if unsupported.is_packed(path):
            raise unsupported.packed(path)
        return Found([Spot(path.parent, path.parent, (path.name,), "trace_view.json")])
    if not start:
        raise InputError(Text(f"{shown(path)} is empty (0 bytes)", f"{shown(path)} 为空（0 字节）"), unsupported.WANTED)
    raise InputError(
        Text(f"{shown(path)} is no file of an Ascend profile", f"{shown(path)} 不是昇腾 profiling 数据文件"),
        unsupported.WANTED,
    )


def _base(path: Path, found: Found) -> Path:
    """The folder that paths are shown relative to."""
    if path.is_dir() and path.name != OUTPUT:
        return path
    return found.captures[0].root if found.captures else path.parent


def _one_framework(path: Path, found: Found) -> None:
    if any(spot.mindspore for spot in found.captures) and any(spot.pytorch for spot in found.captures):
        raise InputError(
            Text(
                f"{shown(path)} mixes captures of PyTorch (_ascend_pt) and of MindSpore (_ascend_ms)",
                f"{shown(path)} 中混有 PyTorch（_ascend_pt）和 MindSpore（_ascend_ms）的采集数据",
            ),
            Text("give one job at a time", "请一次只给出一个任务的数据"),
        )


def _folder(spot: Spot, base: Path, readings: Sequence[Reading[Any]]) -> Folder:
    """The capture at a spot, its rank not yet known (-1) unless a file name says it."""
    files = {name: spot.output / name for name in spot.names if name in TEXT_FILES}
    if spot.stands_for == "trace_view.json":
        files = {spot.stands_for: spot.output / spot.names[0]}
    about, info_rank = _about(spot)
    databases, database_rank = _databases(spot)
    rank = database_rank if database_rank is not None else info_rank
    folder = Folder(
        rank=-1 if rank is None else rank,
        root=spot.root,
        output=spot.output,
        readings=readings,
        files={**files, **about},
        databases=databases,
        name=_relative(spot.root, base),
        size_bytes=sum(_size(file) for file in (*files.values(), *databases.values())),
    )
    for name in TEXT_FILES:
        if folder.packed(name):
            what = "is packed; unpack it with gunzip"
            folder.notes.add(f"{name}.gz", "", what, kind="unreadable")
    return folder


def _relative(root: Path, base: Path) -> str:
    name = root.relative_to(base).as_posix() if root.is_relative_to(base) else root.name
    return "" if name == "." else shown(name)


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _about(spot: Spot) -> tuple[dict[str, Path], int | None]:
    """The files about the recording, which lie beside the output, and the rank in their name."""
    found: dict[str, Path] = {}
    rank = None
    for folder in dict.fromkeys((spot.root, spot.output)):
        for name in _names(folder):
            match = PROFILER_INFO.match(name)
            if match and "profiler_info.json" not in found:
                found["profiler_info.json"] = folder / name
                rank = int(match[1]) if match[1] else None
            if name == "profiler_metadata.json":
                found.setdefault(name, folder / name)
    return found, rank


def _names(folder: Path) -> list[str]:
    try:
        return [name for name in sorted(os.listdir(folder)) if (folder / name).is_file()]
    except OSError:
        return []


def _databases(spot: Spot) -> tuple[dict[str, Path], int | None]:
    found: dict[str, Path] = {}
    rank = None
    for name in spot.names:
        match = PROFILER_DATABASE.match(name)
        if match:
            rank = int(match[2]) if match[2] and "profiler" not in found else rank
            found.setdefault("profiler", spot.output / name)
        elif name in ANALYSIS_DATABASES:
            found.setdefault("analysis", spot.output / name)
    if spot.stands_for == "profiler":
        found = {"profiler": spot.output / spot.names[0]}
    return found, rank


def _ranked(folders: list[Folder]) -> tuple[list[Folder], int]:
    """One folder per rank, the newest, in order of rank; and how many were left aside.

    Captures without a rank of different processes recorded at the same time are numbered in order of name.
    """
    for folder in folders:
        if folder.rank < 0:
            folder.rank = _recorded_rank(folder)
    _number([folder for folder in folders if folder.rank < 0])
    by_rank: dict[int, list[Folder]] = defaultdict(list)
    for folder in folders:
        by_rank[folder.rank].append(folder)
    chosen = []
    for _, rivals in sorted(by_rank.items()):
        newest = max(rivals, key=_age)
        newest.other_captures = len(rivals) - 1
        chosen.append(newest)
    return chosen, len(folders) - len(chosen)


def _recorded_rank(folder: Folder) -> int:
    """The rank as some file holds it, or -1."""
    found = recorded(folder)
    ranks = (found.rank, _mapped_rank(folder), found.distributed_rank)
    folder.release()
    return next((rank for rank in ranks if rank is not None), -1)


def _mapped_rank(folder: Folder) -> int | None:
    found = rows(folder, "profiler", "SELECT DISTINCT rankId FROM RANK_DEVICE_MAP")
    ranks = [row[0] for row in found if isinstance(row[0], int) and row[0] >= 0]
    return ranks[0] if len(ranks) == 1 else None


def _number(unnamed: Sequence[Folder]) -> None:
    """Ranks for captures that hold none: 0 for one; for several processes of one job, their order by name."""
    workers = sorted({_worker(folder) for folder in unnamed})
    for folder in unnamed:
        folder.rank = workers.index(_worker(folder))


def _worker(folder: Folder) -> str:
    """The process that wrote a capture: its folder's name without the time, hence host and process id."""
    stamp = _STAMP.search(folder.root.name)
    return folder.root.name[: stamp.start()] if stamp else ""


def _age(folder: Folder) -> tuple[str, int, str]:
    """What orders captures of one rank: the time in the name, the end of recording, the name."""
    stamp = _STAMP.search(folder.root.name)
    return (stamp[1].ljust(17, "0") if stamp else "", recorded(folder).end_ns, folder.name)


def _run_of_ranks(
    path: Path, found: Found, folders: list[Folder], others: int, *, jobs: int | None, progress: Progress
) -> tuple[Run, list[Source]]:
    """The run of these captures; what is not theirs to say comes from a cluster summary beside them."""
    summary = _summary(path, found)
    groups, sizes = _layout(folders)
    groups = groups or (summary.groups if summary else {})
    layout = parallel(sizes, groups, summary.stages if summary else ())
    if not layout.source:
        layout = parallel(sizes, groups, _stages_by_traffic(folders), "p2p")
    shelf, readable = Shelf(), []
    steps: set[int] = set()
    for done, folder in enumerate(folders, 1):
        folder.parallel, folder.groups, folder.shelf = layout, groups, shelf
        folder.carries_groups = done == 1
        if holds_something(folder):
            readable.append(folder)
        steps.update(numbered_steps(folder))
        progress("captures", done, len(folders))
    if not readable:
        raise _nothing(path, folders)
    if len(folders) == 1:
        folders[0].jobs, folders[0].progress = jobs or os.cpu_count() or 1, progress
    job = world(sizes, groups, summary.ranks if summary else (), folders)
    run = _described(path, folders, layout).model_copy(
        update={
            "world_size": job.ranks,
            "world_source": job.source if job.ranks else "",
            "steps": tuple(sorted(steps)),
            "notes": _notes(found, folders, others, summary is not None),
        }
    )
    return run, list(folders)


def _layout(folders: Iterable[Folder]) -> tuple[dict[str, Members], Sizes]:
    """The groups of all ranks together, and the sizes of the first rank that has them."""
    groups: dict[str, Members] = {}
    sizes = Sizes({}, 0)
    for folder in folders:
        found = recorded(folder)
        groups.update(recorded_groups(found.metadata.get("parallel_group_info")))
        if not sizes.sizes:
            sizes = Sizes.recorded(found.metadata.get("distributed_args"))
    return groups, sizes


def _stages_by_traffic(folders: Sequence[Folder]) -> tuple[tuple[int, ...], ...]:
    """Stages by who shares a communicator for point-to-point traffic; only when every rank was captured."""
    ranks = [folder.rank for folder in folders]
    if len(ranks) < 2 or ranks != list(range(len(ranks))):  # noqa: PLR2004 - one rank is no pipeline
        return ()
    members: dict[str, list[int]] = defaultdict(list)
    for folder in folders:
        for group in p2p_groups(folder):
            members[group].append(folder.rank)
        folder.release()
    return chained([tuple(group) for group in members.values() if len(group) > 1], len(ranks))


def _described(path: Path, folders: Sequence[Folder], layout: Parallel) -> Run:
    about = [recorded(folder) for folder in folders]
    captures = tuple(describe(folder) for folder in folders)
    levels = [LEVELS.index(capture.level) for capture in captures if capture.level]
    return Run(
        name=shown(path.resolve().name),
        framework=_framework(folders, about),
        cann_version=_first(found.version("cann_version") for found in about),
        torch_npu_version=_first(found.version("torch_npu_version") for found in about),
        chip=_first(chip(folder) for folder in folders),
        level=LEVELS[min(levels)] if levels else "",
        ranks=tuple(folder.rank for folder in folders),
        start_ns=min((found.start_ns for found in about if found.start_ns), default=0),
        parallel=layout,
        captures=captures,
    )


def _first(words: Iterable[str]) -> str:
    return next((word for word in words if word), "")


def _framework(folders: Sequence[Folder], about: Sequence[Recorded]) -> str:
    spots = [Spot(folder.root, folder.output, tuple(p.name for p in folder.databases.values())) for folder in folders]
    if any(spot.mindspore for spot in spots) or any(found.version("ms_version") for found in about):
        return "MindSpore"
    if any(spot.pytorch for spot in spots) or any(found.is_pytorch for found in about):
        return "PyTorch"
    return ""


def _notes(found: Found, folders: Sequence[Folder], others: int, with_summary: bool) -> tuple[str, ...]:
    """How the input was chosen, as `key=value`."""
    words = []
    if others:
        words.append(f"other_captures={others}")
        words.append("chosen=" + ", ".join(folder.name for folder in folders if folder.other_captures))
    if found.unparsed:
        words.append(f"unparsed_captures={len(found.unparsed)}")
    if found.unreadable:
        words.append(f"unreadable_folders={len(found.unreadable)}")
    if with_summary:
        words.append("cluster_summary=beside the captures")
    return tuple(words)


def _nothing(path: Path, folders: Sequence[Folder]) -> InputError:
    """About captures that hold no measurement at all."""
    sizes = [_size(file) for folder in folders for file in (*folder.databases.values(), *_exports(folder))]
    notes = [note for folder in folders for note in folder.notes.all()]
    return unsupported.hollow(path, sizes, notes, any(folder.databases for folder in folders))


def _exports(folder: Folder) -> list[Path]:
    return [file for name, file in folder.files.items() if name in TEXT_FILES]


def _summary(path: Path, found: Found) -> ClusterSummary | None:
    if not found.clusters:
        return None
    folder = found.clusters[0]
    return ClusterSummary(folder, _relative(folder, path) if path.is_dir() else "")


def _run_of_cluster(path: Path, found: Found) -> tuple[Run, list[Source]]:
    """The run of a cluster summary alone."""
    summary = _summary(path, found)
    if summary is None or not summary.ranks:
        raise InputError(
            Text(
                f"{shown(path)} holds a cluster summary without a readable rank",
                f"{shown(path)} 的集群分析结果中没有可读取的 rank",
            ),
            Text("run the cluster analysis again", "请重新执行集群分析"),
        )
    return summary.run(shown(path.resolve().name)), [summary]
