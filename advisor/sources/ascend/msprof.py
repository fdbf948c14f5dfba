# SPDX-License-Identifier: Apache-2.0
"""What msprof writes, told by names: folders PROF_*, and the files in them under the names other exports give them.

Names end in numbers: of the device, the model and the iteration in old versions, the time of the export in all newer
ones, and of the slice where a file was too long for one. Of several exports of one file the newest counts.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec import Struct, field, structs

from advisor.sources.listing import Listing, TooManyNames, list_folder

OUTPUT = "mindstudio_profiler_output"
DEVICE = re.compile(r"^device_(\d{1,4})$")
_RESULTS = ("summary", "timeline")
"""Folders of results in each folder of a device, until CANN 7."""

FILES: Mapping[str, str] = {
    "op_summary.csv": "kernel_details.csv",
    "op_statistic.csv": "op_statistic.csv",
    "api_statistic.csv": "api_statistic.csv",
    "task_time.csv": "task_time.csv",
    "step_trace.csv": "step_trace.csv",
    "memory_record.csv": "memory_record.csv",
    "operator_memory.csv": "operator_memory.csv",
    "npu_module_mem.csv": "npu_module_mem.csv",
    "l2_cache.csv": "l2_cache.csv",
    "aicpu.csv": "data_preprocess.csv",
    "aicpu_mi.csv": "aicpu_mi.csv",
    "nic.csv": "nic.csv",
    "roce.csv": "roce.csv",
    "cpu_usage.csv": "cpu_usage.csv",
    **{name: name for name in ("hbm.csv", "ddr.csv", "llc_read_write.csv", "hccs.csv", "pcie.csv")},
    **{f"{name}.csv": f"{name}.csv" for name in ("sys_mem", "host_mem_usage", "host_disk_usage", "host_network_usage")},
    "msprof.json": "trace_view.json",
    "step_trace.json": "step_trace.json",
    "task_time.json": "task_time.json",
    "hccl.json": "hccl.json",
}
"""What each file is called where another profiler writes the same; the others keep their own names."""
KERNELS = "op_summary.csv"
"""What lists kernels here, and nowhere else."""
LANES = ("task_time.json", "hccl.json", "step_trace.json")
"""Lanes of the timeline in files of their own, which stand in for it where it is not there."""
ANALYSED = {
    "communication.json": "communication.json",
    "communication_matrix.json": "communication_matrix.json",
}
"""What `--analyze` adds."""
ANALYSIS_DATABASE = "communication_analyzer.db"

_KINDS = sorted({name.partition(".")[0] for name in FILES}, key=len, reverse=True)
_NAME = re.compile(rf"({'|'.join(_KINDS)})(?:_slice_(\d{{1,6}}))?((?:_\d{{1,20}})+)\.(csv|json)")
_DATABASE = re.compile(r"msprof_(\d{14})\.db")
_STAMP_DIGITS = 14
_MOST_SLICES = 1 << 12


class NamedFile(NamedTuple):
    """What the name of a file says."""

    kind: str
    """Such as `op_summary.csv`."""
    numbers: tuple[int, ...]
    """Of what it is a part: device, model and iteration, and the slice; without the time."""
    stamp: str
    """When it was written; empty in old versions."""


class Results(Struct, frozen=True):
    """What msprof wrote of one device: files by the names of other exports, parts of one in their order."""

    files: Mapping[str, tuple[Path, ...]] = field(default_factory=dict)
    databases: Mapping[str, Path] = field(default_factory=dict)
    device: int | None = None
    """The device on its host, where a folder says it."""
    shared: bool = False
    """Whether other devices are in the same files, or in the same folder."""

    def __bool__(self) -> bool:
        return bool(self.files or self.databases)


def parse_name(name: str) -> NamedFile | None:
    """What the name of a file of results says; None where it is none that is read."""
    found = _NAME.fullmatch(name)
    if found is None or (kind := f"{found[1]}.{found[4]}") not in FILES:
        return None
    numbers = [digits for digits in found[3].split("_") if digits]
    stamp = numbers.pop() if len(numbers[-1]) == _STAMP_DIGITS else ""
    part = [int(found[2])] if found[2] else []
    return NamedFile(kind, (*map(int, numbers), *part), stamp)


def missing_slices(names: Iterable[str]) -> Iterator[str]:
    """The slices before the last of these that are not among them, by names without the time; each kind begins at 0."""
    there: dict[str, set[int]] = defaultdict(set)
    for found in filter(None, map(_NAME.fullmatch, names)):
        if found[2]:
            there[f"{found[1]}_slice_{{}}_*.{found[4]}"].add(int(found[2]))
    for name, numbers in sorted(there.items()):
        for number in sorted({*range(min(max(numbers), _MOST_SLICES))} - numbers):
            yield name.format(number)


def is_result(name: str) -> bool:
    """Whether a file of this name is one of msprof's results."""
    return parse_name(name) is not None or _DATABASE.fullmatch(name) is not None


def are_rivals(name: str, other: str) -> bool:
    """Whether two files hold the same of two exports, so that the newer one would be read."""
    if name == other:
        return False
    one, two = parse_name(name), parse_name(other)
    if one is not None and two is not None:
        return (one.kind, one.numbers) == (two.kind, two.numbers)
    return all(_DATABASE.fullmatch(either) for either in (name, other))


def is_renamed_database(name: str) -> bool:
    """Whether a file may be a database of msprof that lost the time in its name."""
    return name.startswith("msprof") and name.endswith(".db") and _DATABASE.fullmatch(name) is None


def results_in(listings: Iterable[Listing]) -> tuple[dict[str, tuple[Path, ...]], dict[str, Path]]:
    """The files of results that lie in these folders, and the databases."""
    newest: dict[str, dict[tuple[int, ...], tuple[str, Path]]] = defaultdict(dict)
    databases: dict[str, Path] = {}
    files: dict[str, tuple[Path, ...]] = {}
    for listing in listings:
        for name in listing.files:
            path = listing.folder / name
            if named := parse_name(name):
                parts = newest[named.kind]
                parts[named.numbers] = max(parts.get(named.numbers, ("", path)), (named.stamp, path))
            elif _DATABASE.fullmatch(name):
                databases["profiler"] = path
            elif name in ANALYSED:
                files[ANALYSED[name]] = (path,)
            elif name == ANALYSIS_DATABASE:
                databases["analysis"] = path
    for kind, parts in newest.items():
        files[FILES[kind]] = tuple(path for _, (_, path) in sorted(parts.items()))
    if "trace_view.json" not in files and files.keys() & {"task_time.json", "hccl.json"}:
        files["trace_view.json"] = tuple(path for name in LANES for path in files.get(name, ()))
    return files, databases


def databases_alone(listing: Listing) -> tuple[str, ...]:
    """The databases that somebody collected in one folder, several and no other results: each may be of another device
    or host, which only the folder `PROF_*` that they came from could deny."""
    if listing.folder.name == OUTPUT or any(parse_name(name) or name in ANALYSED for name in listing.files):
        return ()
    found = tuple(name for name in listing.files if _DATABASE.fullmatch(name))
    return found if len(found) > 1 else ()


def results_of_folder(listing: Listing) -> list[Results]:
    """What lies in a folder PROF_*, device by device; nothing where it was not parsed."""
    below = {name: list_or_nothing(listing.folder / name) for name in listing.folders}
    files, databases = results_in([listing, *(below[name] for name in (OUTPUT, "analyze") if name in below)])
    devices = {int(found[1]): below[name] for name in listing.folders if (found := DEVICE.match(name))}
    if files or databases:
        shared = len(devices) > 1
        known: list[int | None] = [*sorted(devices)]
        return [Results(files, databases, device, shared) for device in known or [None]]
    own = [results_of_device(device, folder) for device, folder in sorted(devices.items())]
    there = [found for found in own if found]
    # what lies beside them, such as their descriptions, is of several
    return [structs.replace(found, shared=len(there) > 1) for found in there]


def results_of_device(device: int, listing: Listing) -> Results:
    """What lies in a folder device_N of an old version."""
    inner = [list_or_nothing(listing.folder / name) for name in _RESULTS if name in listing.folders]
    return Results(*results_in([listing, *inner]), device)


def list_or_nothing(folder: Path) -> Listing:
    """The names in a folder; none where it cannot be listed."""
    try:
        return list_folder(folder)
    except (OSError, TooManyNames):
        return Listing(folder)


def info_files(root: Path) -> Iterator[tuple[int, Path]]:
    """The files that say what a device is, of a folder PROF_* or of those in it, with the device each is of."""
    for pattern in ("info.json.*", "device_*/info.json.*", "PROF_*/device_*/info.json.*"):
        for path in sorted(root.glob(pattern)):
            number = path.name.removeprefix("info.json.")
            if number.isdecimal():
                yield int(number), path
