# SPDX-License-Identifier: Apache-2.0
"""What msprof writes of a job that it recorded by itself: the files of its first rank, and nothing of the framework."""

from __future__ import annotations

import csv
import io
import json
import tempfile
from collections.abc import Mapping
from pathlib import Path, PurePath
from types import MappingProxyType
from typing import TypeVar

from corpus.events import Job
from corpus.export import Export
from corpus.text_writer import write_text

PROF = "PROF_000001_20250101000000000_ABCDEFGHIJKLMNOP"
STAMP = "20250101000000"
_OF_MSPROF = MappingProxyType({
    "kernel_details.csv": f"mindstudio_profiler_output/op_summary_{STAMP}.csv",
    "trace_view.json": f"mindstudio_profiler_output/msprof_{STAMP}.json",
    "communication.json": "analyze/communication.json",
    "communication_matrix.json": "analyze/communication_matrix.json",
    "analysis.db": "analyze/communication_analyzer.db",
    "data_preprocess.csv": f"mindstudio_profiler_output/aicpu_{STAMP}.csv",
    **{
        f"{name}.csv": f"mindstudio_profiler_output/{name}_{STAMP}.csv"
        for name in (
            *("op_statistic", "api_statistic", "memory_record", "operator_memory", "npu_module_mem", "l2_cache"),
            *("nic", "cpu_usage", "hbm", "llc_read_write", "hccs"),
            *("host_mem_usage", "host_disk_usage", "host_network_usage"),
        )
    },
})  # fmt: skip
"""Where msprof writes what the profiler of a framework writes too."""
HEADINGS = {
    "Name": "Op Name",
    "Type": "OP Type",
    "Accelerator Core": "Task Type",
    "Start Time(us)": "Task Start Time(us)",
    "Duration(us)": "Task Duration(us)",
    "Wait Time(us)": "Task Wait Time(us)",
}
"""Columns of kernel_details.csv as they are called in op_summary_*.csv."""
_Held = TypeVar("_Held")


def all_ranks_as_msprof(files: Mapping[str, bytes]) -> dict[str, bytes]:
    """The same of all ranks, each in a folder of its own, which says whose it is."""
    made: dict[str, bytes] = {}
    ranks = sorted({PurePath(name).parts[0] for name in files if "_ascend_pt/" in name})
    for rank, folder in enumerate(ranks):
        own = as_msprof({name: held for name, held in files.items() if PurePath(name).parts[0] == folder})
        prof = PROF.replace("000001", f"{rank + 1:06}")
        for name, held in own.items():
            turn = _WRITTEN.get(PurePath(name).name)
            made[name.replace(PROF, prof)] = turn(held.decode()).encode() if turn else held
        made[f"{prof}/device_{rank}/info.json.{rank}"] = json.dumps({"rank_id": rank}).encode()
    return made


def as_msprof(files: Mapping[str, _Held]) -> dict[str, _Held]:
    """What the first rank of a framework's profiler wrote, by name, under the names that msprof gives its files."""
    first = min(PurePath(name).parts[0] for name in files if "_ascend_pt/" in name)
    made: dict[str, _Held] = {}
    for name, held in files.items():
        if not name.startswith(first):
            continue
        plain = PurePath(name).name
        own = f"msprof_{STAMP}.db" if plain.startswith("ascend_pytorch_profiler") else _OF_MSPROF.get(plain)
        made |= {f"{PROF}/{own}": held} if own else {}
    return made


def write_msprof(job: Job, folder: Path) -> Path:
    """Writes the first rank of a job as msprof does, with its headings, and without calls and steps of the framework;
    gives the folder of its results."""
    with tempfile.TemporaryDirectory() as whole:
        write_text(job, Path(whole), Export(steps=False, stacks=False, memory=False))
        files = {path.relative_to(whole).as_posix(): path for path in Path(whole).rglob("*") if path.is_file()}
        made = {name: path.read_text(encoding="utf-8") for name, path in as_msprof(files).items()}
    for name, text in made.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_WRITTEN.get(path.name, str)(text), encoding="utf-8")
    return folder / PROF / "mindstudio_profiler_output"


def _summary(text: str) -> str:
    reader = csv.DictReader(io.StringIO(text))
    kept = [name for name in reader.fieldnames or () if name != "Step Id"]
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(["Device_id", *(HEADINGS.get(name, name) for name in kept)])
    writer.writerows([0, *(row[name] for name in kept)] for row in reader)
    return stream.getvalue()


def _timeline(text: str) -> str:
    """The events of msprof, which have no category but that of the flows to the device, and their lanes."""
    told = [one for one in json.loads(text) if one["ph"] != "M" and one.get("cat", "HostToDevice") == "HostToDevice"]
    lanes = {one["pid"] for one in told}
    return json.dumps([one for one in json.loads(text) if one["ph"] == "M" and one["pid"] in lanes] + told)


_WRITTEN = {f"op_summary_{STAMP}.csv": _summary, f"msprof_{STAMP}.json": _timeline}
"""How what a framework's profiler writes becomes what msprof does."""
