# SPDX-License-Identifier: Apache-2.0
"""What the profilers of PyTorch and MindSpore for Ascend write, told by the names of files and folders."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from advisor.sources.ascend import msprof
from advisor.sources.ascend.renamed import renamed_capture_of, renamed_captures
from advisor.sources.family import Candidate
from advisor.sources.listing import Listing
from advisor.sources.shared.ascend_names import OUTPUT, PROFILER_DATABASE, RAW_FOLDER, TEXT_FILES, is_output

NAME = "Ascend"
"""The family."""

FURTHER_FILES = (
    "nic.csv",
    "roce.csv",
    "cpu_usage.csv",
    "data_preprocess.csv",
    "hbm.csv",
    "ddr.csv",
    "llc_read_write.csv",
    "hccs.csv",
    "pcie.csv",
    "sys_mem.csv",
    "host_mem_usage.csv",
    "host_disk_usage.csv",
    "host_network_usage.csv",
)
"""Text files that are read where they are there, and that nobody misses."""
PROFILER_INFO = re.compile(r"^profiler_info(?:_(\d{1,9}))?\.json$")
_SUFFIXES = ("_ascend_pt", "_ascend_ms")
_WITHIN_A_CAPTURE = frozenset({"FRAMEWORK", "logs", msprof.OUTPUT})


@dataclass(frozen=True, slots=True)
class CaptureFolders(Candidate):
    """Where one capture lies: its folder, the folder of its output, and the files there by name."""

    output: Path = Path()
    names: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Where files have names of their own, or lie beside those of others: their names by what they are, such as
    `trace_view.json`, and `profiler` for the database."""
    results: msprof.Results | None = None
    """What msprof wrote, where it made the capture and no framework did."""

    @property
    def lone(self) -> str:
        """The file that stands for the capture, where its files have names of their own."""
        return self.names[0] if self.renamed else ""

    @property
    def place(self) -> Path:
        """What the capture is called after: its folder, or the file that stands for it."""
        return self.output / self.lone if self.lone else self.root

    @property
    def tool(self) -> str:
        """`msprof` where it made the capture; empty where a framework's profiler did."""
        return "msprof" if self.results is not None else ""

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


@dataclass(frozen=True, slots=True)
class RawData(Candidate):
    """Recorded data that msprof did not export yet: a folder PROF_*."""


def is_part(name: str) -> bool:
    """Whether a file or folder of this name belongs to a capture."""
    return (
        is_output([name])
        or msprof.is_result(name)
        or name in FURTHER_FILES
        or name in (OUTPUT, msprof.OUTPUT)
        or RAW_FOLDER.match(name) is not None
        or name.endswith(_SUFFIXES)
        or name == "profiler_metadata.json"
        or PROFILER_INFO.match(name) is not None
    )


def detect(listing: Listing) -> Iterator[Candidate]:
    """What a folder, or the one file that was given of it, holds of an Ascend profile."""
    if listing.asked:
        yield from _of_file(listing)
        return
    folder, files = listing.folder, listing.files
    if msprof.KERNELS in files:  # without the time of its export in its name
        yield from _renamed_files(listing)
    elif is_output((*files, *listing.folders, *(name for name, _ in listing.aside))):
        yield from _of_output(listing)
    elif folder.name == OUTPUT:
        yield Candidate(folder, kind="hollow")
    elif OUTPUT not in listing.folders and any(RAW_FOLDER.match(name) for name in listing.folders):
        if _is_of_framework(listing):
            yield from _without_output(listing)
    elif OUTPUT not in listing.folders and "FRAMEWORK" in listing.folders:  # recorded without its device, or cut short
        yield Candidate(folder, kind="unparsed")
    elif OUTPUT not in listing.folders and folder.name.endswith(_SUFFIXES) and files:
        yield Candidate(folder, kind="hollow")
    elif found := list(_of_msprof(listing)):
        yield from found
    else:
        yield from _renamed_files(listing)


def _renamed_files(listing: Listing) -> Iterator[CaptureFolders]:
    """What somebody copied into a folder under other names, as the timelines of several ranks."""
    for files in renamed_captures(listing.folder, listing.files):
        yield _of_renamed(listing.folder, files)


def _of_renamed(folder: Path, files: Mapping[str, str]) -> CaptureFolders:
    """The capture of files by what they are, whatever lies beside them."""
    names = tuple(files.values())
    results = None
    if msprof.KERNELS in files:
        results = msprof.Results({msprof.FILES.get(kind, kind): (folder / name,) for kind, name in files.items()})
    return CaptureFolders(_root_of_output(folder), output=folder, names=names, renamed=files, results=results)


def _of_output(listing: Listing) -> Iterator[Candidate]:
    """The capture whose output lies in a folder; where databases of several ranks do, one each; and captures that were
    copied into that output."""
    folder = listing.folder
    apart = _databases_of_ranks(listing.files)
    rest = tuple(name for name in listing.files if name not in apart)
    if not apart or any(name in TEXT_FILES for name in rest):
        yield CaptureFolders(_root_of_output(folder), output=folder, names=rest)
    yield from (_of_renamed(folder, {"profiler": name}) for name in apart)
    others = (name for name in listing.folders if name == OUTPUT or name.endswith(_SUFFIXES))
    yield from (Candidate(folder / name, kind="inner") for name in others)


def _databases_of_ranks(files: Iterable[str]) -> tuple[str, ...]:
    """The databases of several ranks that lie side by side; none where all are of one."""
    ranks = {match[2]: match[0] for match in map(PROFILER_DATABASE.match, files) if match and match[2]}
    return tuple(ranks.values()) if len(ranks) > 1 else ()


def _is_of_framework(listing: Listing) -> bool:
    """Whether the profiler of a framework recorded what lies in a folder."""
    return listing.folder.name.endswith(_SUFFIXES) or "FRAMEWORK" in listing.folders


def _without_output(listing: Listing) -> Iterator[Candidate]:
    """The capture of a framework that was not parsed: what msprof exported of it, else nothing that can be read."""
    raw = [msprof.list_or_nothing(listing.folder / name) for name in listing.folders if RAW_FOLDER.match(name)]
    found = [(one.folder, results) for one in raw for results in msprof.results_of_folder(one)]
    yield from (CaptureFolders(folder, output=folder, results=results) for folder, results in found)
    if not found:
        yield Candidate(listing.folder, kind="unparsed")


def _of_msprof(listing: Listing) -> Iterator[Candidate]:
    """The captures of msprof in a folder PROF_*, in that of a device, or in one that holds its results alone."""
    folder = listing.folder
    if RAW_FOLDER.match(folder.name):
        found = msprof.results_of_folder(listing)
        yield from (CaptureFolders(folder, output=folder, results=results) for results in found)
        if not found:
            yield RawData(folder, kind="unparsed")
    elif (device := msprof.DEVICE.match(folder.name)) and (
        found_there := msprof.results_of_device(int(device[1]), listing)
    ):
        yield CaptureFolders(folder, output=folder, results=found_there)
    elif collected := msprof.databases_alone(listing):
        for name in collected:
            results = msprof.Results(databases={"profiler": folder / name})
            yield CaptureFolders(folder, output=folder, names=(name,), renamed={"profiler": name}, results=results)
    elif alone := msprof.Results(*msprof.results_in([listing])):
        root = folder.parent if folder.name == msprof.OUTPUT else folder
        yield CaptureFolders(root, output=folder, results=alone)


def _root_of_output(output: Path) -> Path:
    return output.parent if output.name == OUTPUT else output


def _of_file(listing: Listing) -> Iterator[Candidate]:
    """The capture a single file belongs to; a lone trace or database is a capture of its own."""
    folder, name = listing.folder, listing.asked
    if name in listing.files and is_output([name]):
        found = (one for one in _of_output(listing) if isinstance(one, CaptureFolders))
        yield from (capture for capture in found if name in capture.names)
    elif msprof.is_result(name):
        rest = tuple(other for other in listing.files if not msprof.are_rivals(name, other))
        yield from _of_msprof(Listing(folder, listing.folders, rest))
    elif msprof.is_renamed_database(name):
        yield CaptureFolders(folder, output=folder, results=msprof.Results(databases={"profiler": folder / name}))
    elif files := renamed_capture_of(folder, listing.files, name):
        yield _of_renamed(folder, files)
    elif name.endswith(".db"):  # damaged, which is told where it is read
        yield _of_renamed(folder, {"profiler": name})


def inner_folders(listing: Listing) -> frozenset[str]:
    """The folders of a capture: inside of it only its output is of interest, and inside of that nothing."""
    if (
        is_output((*listing.files, *listing.folders))
        or RAW_FOLDER.match(listing.folder.name)
        or msprof.DEVICE.match(listing.folder.name)
    ):
        return frozenset(listing.folders)
    if OUTPUT not in listing.folders and not _is_of_framework(listing):
        return frozenset()
    return frozenset(name for name in listing.folders if RAW_FOLDER.match(name) or name in _WITHIN_A_CAPTURE)
