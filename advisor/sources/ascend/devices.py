# SPDX-License-Identifier: Apache-2.0
"""Device: what info.json of the raw data says of a device, and NPU_INFO of the database; and the host it is in."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

from advisor.facts.observed import Device
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.msprof import info_files
from advisor.sources.ascend.reading import Folder
from advisor.sources.ascend.sqltable import query_rows
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.jsonfile import as_integer, as_mapping, as_number, as_text, load_json, value_at
from advisor.sources.files.names import bounded_name
from advisor.sources.reading import Reading
from advisor.sources.shared.host_names import host_of_worker, named_host

CHIPS: Mapping[str, str] = {
    "0": "Ascend310",
    "1": "Ascend910A",
    "4": "Ascend310P",
    "5": "Ascend910B",
    "7": "Ascend310B",
    "15": "Ascend950",
}
"""`platform_version` of info.json; A3 shares its number with 910B."""


def chip_name(folder: Folder) -> str:
    """The chip, such as `Ascend910B`, by the database or by what is left of the raw data; empty when not recorded."""
    found = query_rows(folder, "profiler", "SELECT name FROM NPU_INFO LIMIT 1")
    named = next((row[0] for row in found if isinstance(row[0], str)), "")
    return named or CHIPS.get(str(_device_info(folder).get("platform_version")), "")


def _device_info(folder: Folder) -> Mapping[str, object]:
    """The content of info.json of the rank's device; empty where it is gone, or several could be meant."""
    return folder.once("device_info", lambda: _read_device_info(folder))


def _read_device_info(folder: Folder) -> Mapping[str, object]:
    found = []
    for device, path in info_files(folder.root):
        if folder.device is None or device == folder.device:
            try:
                found.append(as_mapping(load_json(path, Notes())))
            except Unreadable:  # the raw data is no part of the export; what it could add is not known
                continue
    own = [info for info in found if as_integer(info.get("rank_id")) == folder.rank]
    chosen = found if len(found) == 1 else own
    return chosen[0] if chosen else {}


def rank_of_device(folder: Folder) -> int | None:
    """The rank that runs on the device of a capture of msprof; None where the raw data does not say."""
    found = as_integer(_device_info(folder).get("rank_id")) if folder.by_msprof else None
    return found if found is not None and found >= 0 else None


def device_identity(folder: Folder) -> str:
    """The host and the device of a capture of msprof, which sort as they are numbered; empty when not recorded."""
    said = _device_info(folder)
    host = as_text(said.get("hostUid")) or as_text(said.get("hostname"))
    listed = said.get("DeviceInfo")
    number = as_integer(value_at(listed[0], "id")) if isinstance(listed, list) and listed else folder.named_device
    if not said and number is None:
        host, number = _identity_in_database(folder)
    return f"{host} {number:04}" if number is not None else ""


def _identity_in_database(folder: Folder) -> tuple[str, int | None]:
    """The host, and the number of the device where all rows are of one."""
    hosts = query_rows(folder, "profiler", "SELECT hostUid, hostName FROM HOST_INFO LIMIT 1")
    devices = query_rows(folder, "profiler", "SELECT DISTINCT id FROM NPU_INFO")
    host = next((bounded_name(str(part)) for row in hosts for part in row if part), "")
    return host, as_integer(devices[0][0]) if len(devices) == 1 else None


_WORKER = re.compile(r"(.+)_\d{14,17}_ascend_(?:pt|ms)$", re.DOTALL)


def host_name(folder: Folder) -> str:
    """The machine of the rank: by the database, by what is left of the raw data, or by the name of its folder, which
    torch_npu and MindSpore begin with host name and process id; empty when not recorded."""
    found = query_rows(folder, "profiler", "SELECT hostName FROM HOST_INFO LIMIT 1")
    named = next((row[0] for row in found if isinstance(row[0], str)), "") or as_text(
        _device_info(folder).get("hostname")
    )
    if host := named_host(bounded_name(named)):
        return host
    worker = _WORKER.match(folder.root.name)
    return host_of_worker(worker[1]) if worker else ""


def _device_of_rank(folder: Folder) -> Table[Device]:
    listed = _device_info(folder).get("DeviceInfo")
    said = as_mapping(listed[0]) if isinstance(listed, list) and listed else {}
    named = chip_name(folder)
    if not said and not named:
        raise FactMissing([Device.table])
    counts = [value_at(said, name) for name in ("ai_core_num", "aiv_num")]
    cube, vector = (float(many) if many else math.nan for many in map(as_integer, counts))
    mhz = as_number(as_text(said.get("aic_frequency")))
    return Table.build(
        Device,
        rank=[folder.rank],
        chip=[named or None],
        cube_cores=[cube],
        vector_cores=[vector],
        nominal_mhz=[mhz if mhz > 0 else math.nan],
    )


DEVICES = Reading(Device, {"text": _device_of_rank, "database": _device_of_rank})
