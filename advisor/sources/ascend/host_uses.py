# SPDX-License-Identifier: Apache-2.0
"""HostUse: sys_mem.csv, host_mem_usage.csv, host_disk_usage.csv and host_network_usage.csv, which sum a recording up;
the counters Memory Usage, Disk Usage and Network Usage of the timeline; the tables HOST_MEM_USAGE, HOST_DISK_USAGE and
HOST_NETWORK_USAGE of the database.

msprof samples the memory of the process (resident pages over the memory of the host), what iotop says of it, and all
network cards. Its KB are 1024 bytes. Written as msprof's documentation and source describe it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from advisor.facts.base import MISSING, Column
from advisor.facts.observed import HostUse
from advisor.facts.table import Array, Table, Texts
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import Database
from advisor.sources.reading import Reading, read_each

_PER_CENT = 100
_BYTES_PER_GB = 1e9
_Value = Callable[[Array], float]


def _plausible_values(values: Array, largest: float = np.inf) -> Array:
    """What can be a share, a speed or a size; a share of more than everything is damage."""
    return values[(values >= 0) & (values <= largest)]


def _peak_of(values: Array) -> float:
    return float(values.max()) if len(values) else np.nan


def _mean_of(values: Array) -> float:
    return float(values.mean()) if len(values) else np.nan


def _row_of(folder: Folder, found: Mapping[str, float]) -> Table[HostUse]:
    """One row of what is known.

    Raises:
        FactMissing: Nothing is.
    """
    known = {name: [value] for name, value in found.items() if not np.isnan(value)}
    if not known:
        raise FactMissing([HostUse.table])
    return Table.build(HostUse, rank=[folder.rank], **known)


# files that sum a recording up

_DEVICE = {"device": ("Device_id",)}
_SYSTEM = {
    "total": ("Memory Total",),
    "free": ("Memory Free",),
    "buffers": ("Buffers",),
    "cached": ("Cached",),
    "shared": ("Share Memory",),
}
_PROCESS = {"total": ("Total Memory",), "peak": ("Peak Used Memory",)}
_SIZES = {name: Column("Of the memory of the host.", "float", "B") for name in (*_SYSTEM, *_PROCESS)}
_STORAGE = {"read_gbps": ("Peak Disk Read",), "written_gbps": ("Peak Disk Write",)}
_NETWORK = {"network_limit_gbps": ("Netcard Speed",), "network_gbps": ("Peak Used Speed",)}


def _columns_of_host(
    folder: Folder, file: str, headings: Mapping[str, tuple[str, ...]], required: str
) -> dict[str, Array]:
    """The rows that say they are of the host; all, where none says of what it is."""
    also = {**{name: column for name, column in _SIZES.items() if name in headings}, "device": _OWNER}
    found = folder.columns(HostUse, file, {**headings, **_DEVICE}, (required,), also)
    owner = found.pop("device", None)
    numbers = {name: values for name, values in found.items() if isinstance(values, np.ndarray)}
    keep = owner.isin(["host"]) if isinstance(owner, Texts) else slice(None)
    return {name: values[keep] for name, values in numbers.items()}


_OWNER = Column("Device, or `host`.", "text")


def _memory_of_system(folder: Folder) -> Table[HostUse]:
    """What no process can have any more: neither free nor, as buffers and cache of files, given back when asked.

    The cache holds shared memory too, which is not given back.
    """
    found = _columns_of_host(folder, "sys_mem.csv", _SYSTEM, "total")
    if not {"free", "buffers", "cached", "shared"} <= found.keys():
        raise FactMissing([HostUse.table])
    total, free, buffers, cached, shared = (found[name] for name in _SYSTEM)
    held = 1 - (free + buffers + cached - shared) / np.where(total > 0, total, np.nan)
    return _row_of(
        folder,
        {"memory_bytes": _peak_of(_plausible_values(total)), "memory_share": _mean_of(_plausible_values(held, 1))},
    )


def _memory_of_process(folder: Folder) -> Table[HostUse]:
    found = _columns_of_host(folder, "host_mem_usage.csv", _PROCESS, "total")
    total = found["total"]
    part = found.get("peak", np.full(len(total), np.nan)) / np.where(total > 0, total, np.nan)
    return _row_of(
        folder,
        {"memory_bytes": _peak_of(_plausible_values(total)), "process_share": _peak_of(_plausible_values(part, 1))},
    )


def _peaks_of_file(folder: Folder, file: str, headings: Mapping[str, tuple[str, ...]]) -> Table[HostUse]:
    found = _columns_of_host(folder, file, headings, next(iter(headings)))
    return _row_of(folder, {name: _peak_of(_plausible_values(values)) for name, values in found.items()})


# the timeline

_COUNTERS: Mapping[str, tuple[str, float, _Value]] = {
    "Memory Usage": ("process_share", 1, _peak_of),
    "Disk Usage": ("storage_wait_share", 1, _mean_of),
    "Network Usage": ("network_share", np.inf, _peak_of),
}
"""By the name of a counter, which is in per cent: the column, the most it can be, and what stands for all samples."""


def _counters_of_timeline(folder: Folder) -> Table[HostUse]:
    counters = folder.timeline().counters
    found = {
        column: value(_plausible_values(counters.value[counters.name.isin([name])] / _PER_CENT, largest))
        for name, (column, largest, value) in _COUNTERS.items()
    }
    return _row_of(folder, found)


def _use_from_text(folder: Folder) -> Table[HostUse]:
    """What each file tells, as one row; where two tell the same, the samples of the timeline count."""
    ways = (
        _counters_of_timeline,
        _memory_of_process,
        _memory_of_system,
        partial(_peaks_of_file, file="host_disk_usage.csv", headings=_STORAGE),
        partial(_peaks_of_file, file="host_network_usage.csv", headings=_NETWORK),
    )
    found = Table.concat(HostUse, read_each(HostUse, [partial(way, folder) for way in ways]))
    columns = [name for name, column in HostUse.columns().items() if column.store == "float"]
    first = {name: found[name][~np.isnan(found[name])][:1] for name in columns}
    return _row_of(folder, {name: float(value[0]) for name, value in first.items() if len(value)})


# the database

_TABLES: Mapping[str, Mapping[str, tuple[str, float, float, _Value]]] = {
    "HOST_MEM_USAGE": {"process_share": ("usage", _PER_CENT, 1, _peak_of)},
    "HOST_DISK_USAGE": {
        "storage_wait_share": ("usage", _PER_CENT, 1, _mean_of),
        "read_gbps": ("readRate", _BYTES_PER_GB, np.inf, _peak_of),
        "written_gbps": ("writeRate", _BYTES_PER_GB, np.inf, _peak_of),
    },
    "HOST_NETWORK_USAGE": {
        "network_share": ("usage", _PER_CENT, np.inf, _peak_of),
        "network_gbps": ("speed", _BYTES_PER_GB, np.inf, _peak_of),
    },
}
"""By table and column: the field, its unit in one of the fact, the most it can be, and what stands for all samples."""


def _use_from_database(folder: Folder) -> Table[HostUse]:
    database = folder.database()
    found: dict[str, float] = {}
    for name, columns in _TABLES.items():
        if database.has_rows(name):
            found |= _sums_of_table(database, name, columns)
    return _row_of(folder, found)


def _sums_of_table(
    database: Database, name: str, columns: Mapping[str, tuple[str, float, float, _Value]]
) -> dict[str, float]:
    fields = {column: (field,) for column, (field, *_) in columns.items()}
    read = database.numbers(name, {**fields, "time_ns": ("timestampNs",)}, set(fields))
    sampled = read["time_ns"] != MISSING
    return {
        column: value(_plausible_values(read[column][sampled] / unit, largest))
        for column, (_, unit, largest, value) in columns.items()
    }


HOST_USES = Reading(HostUse, {"text": _use_from_text, "database": _use_from_database})
