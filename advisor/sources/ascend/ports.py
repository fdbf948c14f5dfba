# SPDX-License-Identifier: Apache-2.0
"""PortCounters: nic.csv and roce.csv, which sum a capture up; the tables NIC, ROCE and NETDEV_STATS of the database.

Bandwidths of the database are in bytes per second, made of the MB/s of the files with 1024 × 1024 bytes; its packets
are counted from when the port came up.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np

from advisor.facts.base import MISSING, Column
from advisor.facts.observed import PortCounters
from advisor.facts.table import Array, Table, Values
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import Database
from advisor.sources.reading import Reading, read_each

_BYTES_PER_GB = 1e9
_FILES = {"nic.csv": "NIC", "roce.csv": "RoCE"}
_HEADINGS = {
    "port": ("funcId",),
    "time_ns": ("Timestamp",),
    "bandwidth_gbps": ("Bandwidth",),
    "received_share": ("Rx Bandwidth efficiency",),
    "sent_share": ("Tx Bandwidth efficiency",),
}
_SHARES = {
    name: Column("Part of the bandwidth that was used.", "float", "share") for name in _HEADINGS if "share" in name
}


def _ports_from_text(folder: Folder) -> Table[PortCounters]:
    files = [partial(_ports_of_file, folder, name, network) for name, network in _FILES.items()]
    return Table.concat(PortCounters, read_each(PortCounters, files))


def _ports_of_file(folder: Folder, name: str, network: str) -> Table[PortCounters]:
    columns = folder.columns(PortCounters, name, _HEADINGS, ("bandwidth_gbps",), _SHARES)
    return _summed_up(folder, network, columns)


def _summed_up(folder: Folder, network: str, columns: Mapping[str, Values]) -> Table[PortCounters]:
    bandwidth = columns["bandwidth_gbps"]
    assert isinstance(bandwidth, np.ndarray)  # noqa: S101 - bandwidths are numbers
    plain = {name: columns.get(name) for name in ("port", "time_ns", "bandwidth_gbps")}
    carried = {f"{way}_gbps": _part_of(bandwidth, columns.get(f"{way}_share")) for way in ("received", "sent")}
    return Table.build(PortCounters, rank=np.full(len(bandwidth), folder.rank), network=network, **plain, **carried)


def _part_of(bandwidth: Array, share: Values | None) -> Array | None:
    return bandwidth * share if isinstance(share, np.ndarray) else None


_PORT_FIELDS: Mapping[str, tuple[str, ...]] = {
    "time_ns": ("timestampNs",),
    "port": ("funcId",),
    "bandwidth_gbps": ("bandwidth",),
    "received_gbps": ("rxByteRate",),
    "sent_gbps": ("txByteRate",),
    "received_packets": ("rxPackets",),
    "sent_packets": ("txPackets",),
    "received_dropped": ("rxDropped",),
    "sent_dropped": ("txDropped",),
    "received_broken": ("rxErrors",),
    "sent_broken": ("txErrors",),
}
_DEVICE_FIELDS: Mapping[str, tuple[str, ...]] = {
    "time_ns": ("timestampNs",),
    "received_gbps": ("macRxBandwidth",),
    "sent_gbps": ("macTxBandwidth",),
    "received_packets": ("roceRxPkt",),
    "sent_packets": ("roceTxPkt",),
    "received_broken": ("roceRxErrPkt",),
    "sent_broken": ("roceTxErrPkt",),
    "repeated": ("roceNewPktRty",),
    "congested": ("roceRxCnpPkt",),
    "paused": ("macRxPfcPkt",),
}
_TABLES = {"NIC": ("NIC", _PORT_FIELDS), "ROCE": ("RoCE", _PORT_FIELDS), "NETDEV_STATS": ("device", _DEVICE_FIELDS)}
_IDS = ("time_ns", "port")


def _ports_from_database(folder: Folder) -> Table[PortCounters]:
    database = folder.database()
    found = [
        _samples(folder, database, name, network, fields)
        for name, (network, fields) in _TABLES.items()
        if database.has_rows(name)
    ]
    if not found:
        raise FactMissing([PortCounters.table])
    return Table.concat(PortCounters, found)


def _samples(
    folder: Folder, database: Database, name: str, network: str, fields: Mapping[str, tuple[str, ...]]
) -> Table[PortCounters]:
    numbers = set(fields) - set(_IDS)
    read = database.numbers(name, fields, numbers, database.on_device(name, folder.rank))
    read = {
        column: np.where(values < 0, np.nan, values) if column in numbers else values for column, values in read.items()
    }
    good = read["time_ns"] != MISSING
    both = {what: _added(read, what) for what in ("packets", "dropped", "broken")}
    counted = {column: read[column] for column in ("repeated", "congested", "paused") if column in read}
    rates = {column: read[column] / _BYTES_PER_GB for column in read if column.endswith("_gbps")}
    ids = {column: read[column] for column in _IDS if column in read}
    rank = np.full(len(good), folder.rank, np.int64)
    return Table.build(PortCounters, rank=rank, network=network, **ids, **rates, **both, **counted).take(good)


def _added(read: Mapping[str, Array], what: str) -> Array | None:
    """Received and sent together; None where the table has neither."""
    received, sent = (read.get(f"{way}_{what}") for way in ("received", "sent"))
    return None if received is None or sent is None else received + sent


PORT_COUNTERS = Reading(PortCounters, {"text": _ports_from_text, "database": _ports_from_database})
