# SPDX-License-Identifier: Apache-2.0
"""TrafficSample: the counters HBM, LLC and QoS of the timeline; hbm.csv, ddr.csv, llc_read_write.csv, hccs.csv and
pcie.csv, which sum a capture up; the tables HBM, DDR, LLC, QOS, HCCS and PCIE of the database.

Bandwidths of the database are in bytes per second and hit rates in per cent. The timeline and the files have MB/s,
which are 1024 × 1024 bytes in msprof's source, and the timeline has hit rates as parts of one. Of classes of traffic
(QoS) that are counted die by die in the timeline nothing is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING, Column
from advisor.facts.observed import TrafficSample
from advisor.facts.table import Array, Table, Texts, Values, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.csvfile import RATES
from advisor.sources.files.database import Database, match_keys
from advisor.sources.reading import Reading, read_each

_BYTES_PER_GB = 1e9
_MB_PER_S = RATES["mb/s"]
_PER_CENT = 100.0
Samples = Table[TrafficSample]


# the timeline

_COUNTER = re.compile(r"(?P<place>HBM|LLC) (?P<unit>\d{1,6})[/ ](?P<way>Read|Write)(?P<what>/Throughput|/Hit Rate|)")
_CLASS = re.compile(r"QoS (?P<way>.{1,256})")


class _Counter(Struct, frozen=True):
    """What the name of a counter says."""

    place: str
    way: str
    owner: str
    """The same of its throughput and its hit rate."""
    unit: int = MISSING
    hits: bool = False


def _parse_counter(name: str | None) -> _Counter | None:
    """What the name of a counter says; None where it counts no traffic."""
    if name is None:
        return None
    if found := _COUNTER.fullmatch(name):
        way, owner = found["way"].lower(), name.partition("/")[0]
        return _Counter(found["place"], way, owner, int(found["unit"]), found["what"] == "/Hit Rate")
    found = _CLASS.fullmatch(name)
    return _Counter("QoS", found["way"], name) if found else None


def _samples_of_timeline(folder: Folder) -> Samples:
    """One row per counter and moment; how much a cache held of it stands in a counter of its own."""
    found = folder.timeline().counters
    told = [_parse_counter(name) for name in found.name.names]
    code = found.name.codes
    hits = found.name.hits(one is not None and one.hits for one in told)
    moved = found.name.hits(one is not None for one in told) & ~hits & (found.value >= 0)
    if not moved.any():
        raise FactMissing([TrafficSample.table])
    places, ways, owners = (
        Texts.of(None if one is None else getattr(one, name) for one in told) for name in ("place", "way", "owner")
    )
    share = np.full(len(code), np.nan)
    shares = found.value[hits]
    keys = owners.codes[code].astype(np.int64) * len(code) + np.unique(found.time_ns, return_inverse=True)[1]
    at = match_keys(keys[hits], keys[moved])
    share[moved] = values_at(np.where((shares >= 0) & (shares <= 1), shares, np.nan), at, np.nan)
    return Table.build(
        TrafficSample,
        rank=np.full(len(code), folder.rank),
        place=places.at(code),
        way=ways.at(code),
        unit=np.array([*(one.unit if one else MISSING for one in told), MISSING])[code],
        time_ns=found.time_ns,
        speed_gbps=found.value * _MB_PER_S,
        hit_share=share,
    ).take(moved)


def _lower(texts: Texts) -> Texts:
    return Texts(texts.codes, tuple(name.lower() for name in texts.names))


# files that sum a capture up

_MEMORY = {"unit_name": ("Metric",), "read": ("Read",), "write": ("Write",)}
_CACHE = {"unit_name": ("Task",), "way": ("Mode",), "moved": ("Throughput",), "hits": ("Hit Rate",)}
_UNIT = Column("Number of the unit; the row of another name sums the others up.", "text")
_LINK = {"mode": ("Mode",), "mean": ("Average", "Avg")}
_SPEED = Column("Mean bandwidth, MB/s.", "float")
_FILES = {"hbm.csv": "HBM", "ddr.csv": "DDR", "hccs.csv": "HCCS", "pcie.csv": "PCIe"}
_WAYS_OF_LINKS = (("received", "rx"), ("sent", "tx"))


def _samples_of_file(folder: Folder, file: str, place: str) -> Samples:
    ways = _memory_ways if place in ("HBM", "DDR") else _link_ways
    parts = [
        Table.build(
            TrafficSample,
            rank=np.full(len(mbps), folder.rank),
            place=place,
            way=way,
            unit=unit,
            speed_gbps=mbps * _MB_PER_S,
        ).take(mbps >= 0)
        for way, unit, mbps in ways(folder, file)
    ]
    return Table.concat(TrafficSample, parts) if parts else Table.empty(TrafficSample)


def _memory_ways(folder: Folder, file: str) -> Iterator[tuple[str, Array | None, Array]]:
    """Each way of each unit; rows that name no unit sum the others up, and count where there are no others."""
    also = {"read": _SPEED, "write": _SPEED, "unit_name": _UNIT}
    columns = folder.columns(TrafficSample, file, _MEMORY, ("read",), also)
    unit = _numbers_of_units(columns)
    rows = np.flatnonzero(unit != MISSING) if (unit != MISSING).any() else slice(None)
    for way in ("read", "write"):
        speed = columns.get(way)
        if isinstance(speed, np.ndarray):
            yield way, unit[rows], speed[rows]


def _numbers_of_units(columns: Mapping[str, Values]) -> Array:
    """The number of the unit of each row; missing where the row names another thing."""
    name = columns.get("unit_name")
    if not isinstance(name, Texts):
        return np.full(len(next(iter(columns.values()))), MISSING)
    numbers = [int(one) if one.isdecimal() and len(one) <= _LONGEST_NUMBER else MISSING for one in name.names]
    return np.array([*numbers, MISSING])[name.codes]


_LONGEST_NUMBER = 6


def _samples_of_cache(folder: Folder) -> Samples:
    """Each unit; where none is named, what sums them up. Hit rates above one are in per cent: old versions wrote parts
    of one under the same heading."""
    way_said, rate = Column("What was counted.", "text"), Column("Hit rate.", "float")
    also = {"unit_name": _UNIT, "way": way_said, "moved": _SPEED, "hits": rate}
    columns = folder.columns(TrafficSample, "llc_read_write.csv", _CACHE, ("moved",), also)
    moved, hits, way = columns["moved"], columns.get("hits"), columns.get("way")
    assert isinstance(moved, np.ndarray)  # noqa: S101 - speeds are numbers
    unit = _numbers_of_units(columns)
    share = hits if isinstance(hits, np.ndarray) else np.full(len(moved), np.nan)
    share = share / (_PER_CENT if (share > 1).any() else 1)
    named = (unit != MISSING) | ~(unit != MISSING).any()
    return Table.build(
        TrafficSample,
        rank=np.full(len(moved), folder.rank),
        place="LLC",
        way=_lower(way) if isinstance(way, Texts) else None,
        unit=unit,
        speed_gbps=moved * _MB_PER_S,
        hit_share=np.where((share >= 0) & (share <= 1), share, np.nan),
    ).take(named & (moved >= 0))


def _link_ways(folder: Folder, file: str) -> Iterator[tuple[str, Array | None, Array]]:
    """What was received and sent, all kinds of packets together; latencies are none of it."""
    also = {"mode": Column("What a row is about, and its unit.", "text"), "mean": Column("Mean.", "float")}
    columns = folder.columns(TrafficSample, file, _LINK, ("mode", "mean"), also)
    mode, mean = columns["mode"], columns["mean"]
    assert isinstance(mode, Texts)  # noqa: S101 - modes are texts
    assert isinstance(mean, np.ndarray)  # noqa: S101 - means are numbers
    for way, start in _WAYS_OF_LINKS:
        own = mode.hits(name.lower().startswith(start) and "latency" not in name.lower() for name in mode.names)
        if (own & (mean >= 0)).any():
            yield way, None, np.array([np.nansum(np.where(mean >= 0, mean, 0)[own])])


def _samples_from_text(folder: Folder) -> Samples:
    """Of each place what is finest: the timeline comes before the files that sum it up."""
    files = [partial(_samples_of_file, folder, file, place) for file, place in _FILES.items()]
    found: list[Samples] = []
    seen: set[str] = set()
    ways = [partial(_samples_of_timeline, folder), partial(_samples_of_cache, folder), *files]
    for part in read_each(TrafficSample, ways):
        found.append(part.take(~part.texts("place").isin(seen)))
        seen |= {*part.texts("place").in_use().names}
    return Table.concat(TrafficSample, found)


# the database

_POSTED = ("Post", "Nonpost", "Cpl")
"""Kinds of packets on PCIe; what is moved is in all of them."""


def _samples_from_database(folder: Folder) -> Samples:
    database = folder.database()
    found = [
        table
        for name, read in _TABLES.items()
        if database.has_rows(name)
        for table in read(folder, database, name)
        if len(table)
    ]
    if not found:
        raise FactMissing([TrafficSample.table])
    return Table.concat(TrafficSample, found)


def _one_way_by_row(folder: Folder, database: Database, name: str) -> Iterator[Samples]:
    """HBM and LLC: each row says its unit and its way."""
    fields = {
        "unit": ("hbmId", "llcId"),
        "time_ns": ("timestampNs",),
        "speed": ("bandwidth", "throughput"),
        "way": ("type", "mode"),
        "hits": ("hitRate",),
    }
    read = database.numbers(name, fields, {"speed", "hits"}, database.on_device(name, folder.rank))
    share = read["hits"] / _PER_CENT
    yield Table.build(
        TrafficSample,
        rank=np.full(len(share), folder.rank),
        place=name,
        way=_lower(database.texts(read["way"])),
        unit=read["unit"],
        time_ns=read["time_ns"],
        speed_gbps=read["speed"] / _BYTES_PER_GB,
        hit_share=np.where((share >= 0) & (share <= 1), share, np.nan),
    ).take((read["time_ns"] != MISSING) & (read["speed"] >= 0) & (read["way"] != MISSING))


def _classes(folder: Folder, database: Database, name: str) -> Iterator[Samples]:
    """QOS: each row says its class."""
    fields = {"name": ("eventName",), "time_ns": ("timestampNs",), "speed": ("bandwidth",)}
    read = database.numbers(name, fields, {"speed"}, database.on_device(name, folder.rank))
    named = database.texts(read["name"])
    told = [_parse_counter(one) for one in named.names]
    yield Table.build(
        TrafficSample,
        rank=np.full(len(named), folder.rank),
        place="QoS",
        way=Texts.of(one.way if one and one.place == "QoS" else None for one in told).at(named.codes),
        time_ns=read["time_ns"],
        speed_gbps=read["speed"] / _BYTES_PER_GB,
    ).take((read["time_ns"] != MISSING) & (read["speed"] >= 0) & (read["name"] != MISSING))


def _both_ways(
    folder: Folder, database: Database, name: str, ways: Mapping[str, tuple[str, ...]], place: str
) -> Iterator[Samples]:
    """DDR, HCCS and PCIE: each row says both ways, in as many parts."""
    parts = {part: (part,) for columns in ways.values() for part in columns}
    only = database.on_device(name, folder.rank)
    read = database.numbers(name, {"time_ns": ("timestampNs",), **parts}, set(parts), only)
    for way, columns in ways.items():
        each = np.stack([read[part] for part in columns])
        known = (each >= 0).any(axis=0) & (read["time_ns"] != MISSING)
        yield Table.build(
            TrafficSample,
            rank=np.full(len(known), folder.rank),
            place=place,
            way=way,
            time_ns=read["time_ns"],
            speed_gbps=np.where(each >= 0, each, 0).sum(axis=0) / _BYTES_PER_GB,
        ).take(known)


_TABLES: Mapping[str, Callable[[Folder, Database, str], Iterator[Samples]]] = {
    "HBM": _one_way_by_row,
    "LLC": _one_way_by_row,
    "QOS": _classes,
    "DDR": partial(_both_ways, ways={"read": ("read",), "write": ("write",)}, place="DDR"),
    "HCCS": partial(_both_ways, ways={way: (f"{start}Throughput",) for way, start in _WAYS_OF_LINKS}, place="HCCS"),
    "PCIE": partial(
        _both_ways,
        ways={way: tuple(f"{start}{kind}Avg" for kind in _POSTED) for way, start in _WAYS_OF_LINKS},
        place="PCIe",
    ),
}

TRAFFIC_SAMPLES = Reading(TrafficSample, {"text": _samples_from_text, "database": _samples_from_database})
