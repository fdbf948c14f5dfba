# SPDX-License-Identifier: Apache-2.0
"""Files for MindSpore Insight, told by their names, which end in the number of a rank."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from advisor.messages.text import Text
from advisor.sources.family import Candidate
from advisor.sources.listing import Listing
from advisor.sources.minddata.file_names import DATA_FILES
from advisor.sources.shared.ascend_names import RAW_FOLDER, is_output

NAME = "MindSpore Insight"
"""The family."""

WANTED = Text(
    "a folder with step_trace_raw_*_detail_time.csv of the old MindSpore profiler",
    "旧版 MindSpore profiler 的输出目录（含 step_trace_raw_*_detail_time.csv）",
)

_R = r"(?P<rank>\d{1,7})"
_PATTERNS: Mapping[str, str] = {
    "steps": rf"step_trace_raw_{_R}_detail_time\.csv",
    "cluster": rf"ascend_cluster_analyse_(?P<layout>data|model|pipeline)-parallel_(?P<stages>\d{{1,5}})_"
    rf"(?P<ranks>\d{{1,7}})_{_R}\.csv",
    "types": rf"aicore_intermediate_{_R}_type\.csv",
    "aicpu": rf"aicpu_intermediate_{_R}\.csv",
    "timeline": rf"ascend_timeline_display_{_R}\.json",
    "hccl": rf"hccl_raw_{_R}\.csv",
    "flops": rf"flops_summary_{_R}\.json",
    **DATA_FILES,
    "about": rf"profiler_info_{_R}\.json",
}
"""The name of each kind of file that is read."""
KINDS: Mapping[str, re.Pattern[str]] = {kind: re.compile(pattern) for kind, pattern in _PATTERNS.items()}
_NOT_ITS_OWN = frozenset({"about"})
"""Kinds of files that other profilers write too, so that they alone tell nothing."""
_ELSEWHERE = re.compile(
    r"framework_raw_\d+\.csv|aicore_intermediate_\d+_detail\.csv|output_op_compute_time_.*\d\.txt"
    r"|step_trace_point_info.*\.json"
)
"""Files of the profiler that are not read, and tell that it was here."""


class LegacyFile(NamedTuple):
    """What the name of a file says."""

    kind: str
    rank: int
    name: str
    layout: str = ""
    stages: int = 0
    ranks: int = 0


@dataclass(frozen=True, slots=True)
class LegacyFolder(Candidate):
    """A folder with files of the old profiler, of one rank or of many."""

    files: tuple[LegacyFile, ...] = ()
    raw: int = 0
    """Folders of raw data beside them, which another profiler wrote."""


def parse_name(name: str) -> LegacyFile | None:
    """What a file name says; None where it is none of the old profiler that is read."""
    for kind, pattern in KINDS.items():
        if found := pattern.fullmatch(name):
            said = found.groupdict()
            sizes = {key: int(said[key]) for key in ("stages", "ranks") if key in said}
            return LegacyFile(kind, int(said["rank"]), name, said.get("layout") or "", **sizes)
    return None


def is_legacy_name(name: str) -> bool:
    """Whether a file of this name is one of the old profiler's own."""
    found = parse_name(name)
    return found is not None and found.kind not in _NOT_ITS_OWN


def detect(listing: Listing) -> Iterator[Candidate]:
    """The files in a folder, or those beside the one that was given."""
    if not is_legacy_name(listing.asked) if listing.asked else not _is_legacy(listing.files):
        return
    named = [found for name in listing.files if (found := parse_name(name))]
    raw = sum(bool(RAW_FOLDER.match(name)) for name in listing.folders)
    yield LegacyFolder(listing.folder, files=tuple(named), raw=raw)


def _is_legacy(files: Sequence[str]) -> bool:
    """Whether these are its files; the present profiler of MindSpore writes some beside its own."""
    return not is_output(files) and any(is_legacy_name(name) or _ELSEWHERE.fullmatch(name) for name in files)


def inner_folders(listing: Listing) -> frozenset[str]:
    """The raw data beside the files: of what they sum up, another reader would make a second run."""
    if not _is_legacy(listing.files):
        return frozenset()
    return frozenset(name for name in listing.folders if RAW_FOLDER.match(name))
