# SPDX-License-Identifier: Apache-2.0
"""DatasetOperation, BatchQueue and HostCpu: what MindSpore's profiler writes of data preparation (`data_process=True`).

The files are those of its predecessor: minddata_pipeline_raw_*.csv beside the other results, the samples in FRAMEWORK.
Where those of the queue on the device are absent, aicpu_mi.csv of msprof stands in, which has the same columns. Where
those of the host's processors are absent, what msprof says of them stands in: cpu_usage.csv, CPU_USAGE, and the
counters `CPU 0` and so on of the timeline, which tell like the table what the process of the rank takes of each.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import numpy as np

from advisor.facts.base import MISSING, Column
from advisor.facts.observed import BatchQueue, DatasetOperation, HostCpu
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.settings import recorded_settings
from advisor.sources.minddata.batch_queues import queue_table, read_looks
from advisor.sources.minddata.dataset_operations import host_cpu_table, operation_table, read_operations
from advisor.sources.minddata.file_names import parse_data_name
from advisor.sources.reading import Reading


def _files_on_data(folder: Folder) -> dict[str, Path]:
    """The files of a rank by kind, as the predecessor's are called: by the rank, or some by its device on the host."""
    return folder.once("files on data", lambda: _find_files_on_data(folder))


def _find_files_on_data(folder: Folder) -> dict[str, Path]:
    found: dict[str, Path] = {}
    own = (folder.rank, recorded_settings(folder).device)
    for place in (folder.output, folder.root / "FRAMEWORK"):
        try:
            names = sorted(os.listdir(place))
        except OSError:  # not there, or closed
            continue
        listed = [file for file in map(parse_data_name, names) if file is not None and file.rank in own]
        for file in sorted(listed, key=lambda file: own.index(file.rank)):
            found.setdefault(file.kind, place / file.name)
    return found


def _operations_of_rank(folder: Folder) -> Table[DatasetOperation]:
    found, unreadable = read_operations(_files_on_data(folder), folder.notes)
    if not found:
        raise FactMissing([DatasetOperation.table], unreadable)
    return operation_table(folder.rank, found)


def _queues_of_rank(folder: Folder) -> Table[BatchQueue]:
    looks, unreadable = read_looks(_files_on_data(folder), folder.notes)
    if looks:
        return queue_table(folder.rank, looks)
    try:
        return _queue_of_msprof(folder)
    except FactMissing as missing:
        raise FactMissing([BatchQueue.table], [*unreadable, *missing.unreadable]) from missing


_TAKEN = {"node": ("Node Name",), "time_ns": ("Start Time",), "size": ("Queue Size",)}
_TAKEN_COLUMNS = {
    "node": Column("Name of what takes batches from the queue.", "text"),
    "time_ns": Column("When it began to.", "int", "ns"),
}


def _queue_of_msprof(folder: Folder) -> Table[BatchQueue]:
    """The looks of GetNext at the queue of the device, one for each step in their order."""
    columns = folder.columns(BatchQueue, "aicpu_mi.csv", _TAKEN, ("size",), _TAKEN_COLUMNS)
    node, began, size = (columns.get(name) for name in _TAKEN)
    assert isinstance(size, np.ndarray)  # noqa: S101 - sizes are numbers
    looks = node.hits(str(name).startswith("GetNext") for name in node.names) if isinstance(node, Texts) else size >= 0
    looks &= (size >= 0) & (size == np.floor(size))
    if not looks.any():
        raise FactMissing([BatchQueue.table])
    order = np.argsort(began[looks], kind="stable") if isinstance(began, np.ndarray) else slice(None)
    number = np.arange(1, int(looks.sum()) + 1)
    rank = np.full(len(number), folder.rank, np.int64)
    return Table.build(BatchQueue, rank=rank, step=number, queue="device", sunk=rank * 0 + 1, size=size[looks][order])


def _processors_of_rank(folder: Folder) -> Table[HostCpu]:
    path = _files_on_data(folder).get("cpu")
    if path is not None:
        return host_cpu_table(folder.rank, path, folder.notes)
    try:
        return _processors_of_msprof(folder)
    except FactMissing as missing:
        if missing.unreadable or "trace_view.json" not in folder.files:
            raise
    return _processors_of_timeline(folder)


_LOAD = {"device": ("Device_id",), "idle": ("Idle",), "waiting_share": ("IoWait",)}
_LOAD_COLUMNS = {
    "device": Column("Device, or `host`.", "text"),
    "idle": Column("Part of the time with nothing to do.", "float", "share"),
}


def _processors_of_msprof(folder: Folder) -> Table[HostCpu]:
    """What cpu_usage.csv says of the host; a file of this name is written of the processors of the device too."""
    columns = folder.columns(HostCpu, "cpu_usage.csv", _LOAD, ("idle",), _LOAD_COLUMNS)
    device, idle, waiting = (columns.get(name) for name in _LOAD)
    assert isinstance(idle, np.ndarray)  # noqa: S101 - shares are numbers
    of_host = device.isin(["host"]) if isinstance(device, Texts) else np.zeros(len(idle), bool)
    usable = of_host & (idle >= 0) & (idle <= 1)
    if not usable.any():
        raise FactMissing([HostCpu.table])
    waited = waiting[usable & (waiting >= 0) & (waiting <= 1)] if isinstance(waiting, np.ndarray) else idle[:0]
    mean = waited.mean() if len(waited) else None
    busy = max(1 - idle[usable].mean() - (mean or 0), 0)
    return Table.build(HostCpu, rank=[folder.rank], busy_share=[busy], waiting_share=[mean])


def _processors_of_timeline(folder: Folder) -> Table[HostCpu]:
    counters = folder.timeline().counters
    one = counters.name.hits(
        name is not None and _PROCESSOR.fullmatch(name) is not None for name in counters.name.names
    )
    return _mean_load(folder, counters.name.codes[one], counters.value[one])


_PROCESSOR = re.compile(r"CPU \d{1,6}")


def _processors_in_database(folder: Folder) -> Table[HostCpu]:
    """Samples of each processor, where msprof took them beside the rest."""
    if _files_on_data(folder).get("cpu") is not None:
        return _processors_of_rank(folder)
    database = folder.database()
    if not database.has_rows("CPU_USAGE"):
        raise FactMissing([HostCpu.table])
    read = database.numbers("CPU_USAGE", {"processor": ("cpuId",), "busy": ("usage",)}, {"busy"})
    return _mean_load(folder, read["processor"], read["busy"])


def _mean_load(folder: Folder, processor: Array, busy: Array) -> Table[HostCpu]:
    """The mean of samples of each processor, in per cent."""
    usable = (busy >= 0) & (busy <= _PER_CENT)
    if not usable.any():
        raise FactMissing([HostCpu.table])
    cores = len(np.unique(processor[processor != MISSING]))
    return Table.build(HostCpu, rank=[folder.rank], cores=[float(cores)], busy_share=[busy[usable].mean() / _PER_CENT])


_PER_CENT = 100


DATASET_OPERATIONS = Reading(DatasetOperation, {"text": _operations_of_rank, "database": _operations_of_rank})
BATCH_QUEUES = Reading(BatchQueue, {"text": _queues_of_rank, "database": _queues_of_rank})
HOST_CPUS = Reading(HostCpu, {"text": _processors_of_rank, "database": _processors_in_database})
