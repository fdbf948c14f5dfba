# SPDX-License-Identifier: Apache-2.0
"""What lies at a path: captures of ranks, cluster summaries, and what looks like a profile but is none of ours."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from advisor.messages.text import Text

DEPTH = 5
"""Folders below the input that are looked into."""

TEXT_FILES = (
    "step_trace_time.csv",
    "kernel_details.csv",
    "trace_view.json",
    "communication.json",
    "communication_matrix.json",
    "op_statistic.csv",
    "api_statistic.csv",
    "operator_details.csv",
    "memory_record.csv",
    "operator_memory.csv",
    "npu_module_mem.csv",
    "l2_cache.csv",
)
CLUSTER_FILES = (
    "cluster_step_trace_time.csv",
    "cluster_communication.json",
    "cluster_communication_matrix.json",
    "communication_group.json",
)
CLUSTER_DATABASE = "cluster_analysis.db"
OUTPUT = "ASCEND_PROFILER_OUTPUT"
PROFILER_DATABASE = re.compile(r"^ascend_(pytorch|mindspore)(?:_profiler)?(?:_(\d{1,9}))?\.db$")
ANALYSIS_DATABASES = ("analysis.db", "communication_analyzer.db")
PROFILER_INFO = re.compile(r"^profiler_info(?:_(\d{1,9}))?\.json$")
_RAW = re.compile(r"^PROF_\d+_\d+_[0-9a-zA-Z]+")
_LEGACY = re.compile(
    r"^(step_trace_raw_.*_detail_time\.csv|aicore_intermediate_.*_type\.csv|minddata_pipeline_raw_.*\.csv"
    r"|framework_raw_.*\.csv|ascend_cluster_analyse_.*\.csv)$"
)
_MSPROF_FILE = re.compile(r"^(op_summary|msprof|op_statistic|task_time)_.*\d\.(csv|json|db)$")
_WITHIN_A_CAPTURE = frozenset({"FRAMEWORK", "logs", OUTPUT, "mindstudio_profiler_output"})


@dataclass(frozen=True, slots=True)
class Spot:
    """Where one capture lies: its folder, the folder of its output, and the files there by name."""

    root: Path
    output: Path
    names: tuple[str, ...]
    stands_for: str = ""
    """For a lone file with a name of its own: `trace_view.json` or `profiler`, what it is."""

    @property
    def mindspore(self) -> bool:
        """Whether MindSpore made it, by the names of folder and database."""
        found = (PROFILER_DATABASE.match(name) for name in self.names)
        return self.root.name.endswith("_ascend_ms") or any(m and m[1] == "mindspore" for m in found)

    @property
    def pytorch(self) -> bool:
        """Whether PyTorch made it, by the names of folder and database."""
        found = (PROFILER_DATABASE.match(name) for name in self.names)
        return self.root.name.endswith("_ascend_pt") or any(m and m[1] == "pytorch" for m in found)


@dataclass
class Found:
    """Everything of interest below a path."""

    captures: list[Spot] = field(default_factory=list)
    clusters: list[Path] = field(default_factory=list)
    unparsed: list[Path] = field(default_factory=list)
    raw: list[Path] = field(default_factory=list)
    legacy: list[Path] = field(default_factory=list)
    hollow: list[Path] = field(default_factory=list)
    """Outputs without a single file of the profiler."""
    json: list[Path] = field(default_factory=list)
    unreadable: list[Path] = field(default_factory=list)
    files: int = 0


def find(path: Path) -> Found:
    """What lies in a folder and up to five folders below it.

    Links are followed, as rank folders often are links, but neither back, nor to a folder above, nor out of /proc.
    """
    found = Found()
    for folder, folders, files in _walk(path, found):
        found.files += len(files)
        _sort_in(folder, frozenset(folders), frozenset(files), found)
    found.captures.sort(key=lambda spot: spot.root)
    return found


def _walk(path: Path, found: Found) -> Iterator[tuple[Path, list[str], list[str]]]:
    """Folders with the names of what is in them, those above before those below, in order of name."""
    seen = set(_above(path))
    waiting = [(path, 0)]
    while waiting:
        folder, depth = waiting.pop(0)
        try:
            here = _identity(folder)
            if here in seen:
                continue
            seen.add(here)
            folders, files = _listing(folder, links=here[0] != _processes())
        except OSError:
            found.unreadable.append(folder)
            continue
        yield folder, folders, files
        if depth < DEPTH and not is_output(files):
            waiting += [(folder / name, depth + 1) for name in folders if _worth_a_look(folder, name, folders)]


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def _above(path: Path) -> Iterator[tuple[int, int]]:
    """The folders a path lies in: a link to one of them would lead to everything beside the path."""
    for folder in path.resolve().parents:
        with contextlib.suppress(OSError):
            yield _identity(folder)


@cache
def _processes() -> int:
    """The device of /proc, whose links lead into whatever processes have open; -1 where there is none."""
    return os.stat("/proc").st_dev if os.path.ismount("/proc") else -1


def _listing(folder: Path, links: bool = True) -> tuple[list[str], list[str]]:
    """Names of folders and of files; pipes and sockets are neither, opening one may wait for ever."""
    folders: list[str] = []
    files: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if not links and entry.is_symlink():
                continue
            if entry.is_dir():
                folders.append(entry.name)
            elif entry.is_file():
                files.append(entry.name)
    return sorted(folders), sorted(files)


def _worth_a_look(folder: Path, name: str, siblings: Iterable[str]) -> bool:
    """Inside of a capture only its output is of interest."""
    if name.startswith("."):
        return False
    return name == OUTPUT or OUTPUT not in siblings or not (_RAW.match(name) or name in _WITHIN_A_CAPTURE)


def is_output(files: Iterable[str]) -> bool:
    """Whether these are the files of a parsed capture."""
    return any(name in TEXT_FILES or name in ANALYSIS_DATABASES or PROFILER_DATABASE.match(name) for name in files)


def is_cluster(files: Iterable[str]) -> bool:
    """Whether these are the files of a cluster summary; the groups alone say too little."""
    return any(name in CLUSTER_FILES[:3] or name == CLUSTER_DATABASE for name in files)


def _sort_in(folder: Path, folders: frozenset[str], files: frozenset[str], found: Found) -> None:
    if is_output(files):
        root = folder.parent if folder.name == OUTPUT else folder
        found.captures.append(Spot(root, folder, tuple(sorted(files))))
    elif folder.name == OUTPUT:
        found.hollow.append(folder)
    elif is_cluster(files):
        found.clusters.append(folder)
    elif OUTPUT not in folders and any(_RAW.match(name) for name in folders):
        (found.unparsed if _of_framework(folder, folders) else found.raw).append(folder)
    elif any(_MSPROF_FILE.match(name) for name in files) or _RAW.match(folder.name):
        found.raw.append(folder)
    if any(_LEGACY.match(name) for name in files):
        found.legacy.append(folder)
    found.json += [folder / name for name in sorted(files) if name.endswith((".json", ".json.gz"))]


def _of_framework(folder: Path, folders: frozenset[str]) -> bool:
    return folder.name.endswith(("_ascend_pt", "_ascend_ms")) or "FRAMEWORK" in folders


def of_file(path: Path) -> Spot | None:
    """The capture a single file belongs to; a lone trace or database is a capture of its own."""
    try:
        _, files = _listing(path.parent)
    except OSError:
        files = [path.name]
    if path.name in files and is_output([path.name]):
        root = path.parent.parent if path.parent.name == OUTPUT else path.parent
        return Spot(root, path.parent, tuple(files))
    return None


def described(folder: Path, limit: int = 4) -> Text:
    """The first few names in a folder, for a message."""
    try:
        folders, files = _listing(folder)
    except OSError:
        return Text("nothing that can be listed", "无法列出的内容")
    names = [f"{name}/" for name in folders] + files
    if not names:
        return Text("nothing", "空目录")
    first, more = names[:limit], len(names) - limit
    if more <= 0:
        return Text(", ".join(first), "、".join(first))
    return Text(f"{', '.join(first)} and {more} more", f"{'、'.join(first)} 等 {len(names)} 项")
