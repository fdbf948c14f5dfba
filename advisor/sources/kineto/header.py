# SPDX-License-Identifier: Apache-2.0
"""What a trace says of itself before and after its events, and what a quick look finds among them."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from io import BufferedReader

import numpy as np
from msgspec import Struct

from advisor.chips.chip_files import shipped_chips
from advisor.sources.family import GroupMembers
from advisor.sources.files import chunks
from advisor.sources.files.collected_events import KEY
from advisor.sources.files.jsonfile import as_integer, as_integers, as_mapping, as_text, parse_json, value_at

_TAIL_BYTES = 1 << 20
_PART = 1 << 22
_END = re.compile(rb"[}\]]\s*\]\s*,(?=\s*\")")
_ENDS_TRIED = 64
"""Ends of arrays that are tried, from the last on: behind that of the events stand few."""
_MARK = re.compile(rb'"ProfilerStep#(\d{1,18})"')
_DEVICE = re.compile(rb'"device"\s*:\s*(\d{1,3})\s*[,}]')
_PROCESS = re.compile(rb'"pid"\s*:\s*(\d{1,10})\s*[,}]')
_MOMENT = re.compile(rb'"ts"\s*:\s*"?(\d{1,19}(?:\.\d{1,9})?)')
_MUCH = 100
"""A device with less than the hundredth part of the work has no share in the job, but some context of it."""
_LONGEST_MARK = 40
_MARKS = {
    "CPU": (b'"cpu_op"', b'"Operator"', b'"cuda_runtime"', b'"Runtime"'),
    "GPU": (b'"kernel"', b'"Kernel"', b'"gpu_memcpy"', b'"Memcpy"'),
    "MTIA": (b'"mtia_ccp_events"', b'"mtia_runtime"'),
    "HPU": (b'"hpu_op"',),
    "PrivateUse1": (b'"privateuse1',),
}
"""What a trace holds that recorded such an activity: any of these tells."""
FOREIGN_DEVICES = frozenset(("MTIA", "HPU", "PrivateUse1"))
"""Activities of devices whose work is read only where it has the categories of a GPU."""
CALLED, LAUNCHED = "calls", "launches"
"""Not activities, but what shows that a device was recorded: calls into its software, and those that give it work."""
OTHER_DEVICES = ("xpu", "mlu", "gcu")
"""What PyTorch calls devices that are recorded as GPUs are, and are none of CUDA: of Intel, Cambricon and Enflame."""
_SIGNS = {
    CALLED: (b'"cuda_runtime"', b'"cuda_driver"', b'"Runtime"'),
    **{name: (b'"%s_' % name.encode(),) for name in OTHER_DEVICES},
}
"""Categories, and how those of another device begin; a program that calls CUDA is asked for no other."""
_LAUNCH = re.compile(rb'"((cuda|cu|hip)\w{0,16}Launch|urEnqueueKernelLaunch|cnInvokeKernel)')
"""Sought only in a trace without work of a device: there it says why."""
_LAST_KEY = re.compile(rb'"%s"\s*:\s*\[\s*$' % KEY.encode())
_LATEST_BASE = 1 << 62
MOST_RANKS = 1 << 20
"""A job of more is none."""


class TraceHeader(Struct, frozen=True):
    """What is known of a trace without decoding it."""

    values: Mapping[str, object]
    """What stands before the events."""
    base_ns: int
    steps: tuple[int, ...]
    """Numbers of the steps it marks, ascending."""
    activities: tuple[str, ...]
    devices: tuple[int, ...] = ()
    """Numbers of the devices that work ran on, ascending; those aside that hardly any did."""
    processes: int = 1
    """How many processes recorded it, counted where several devices worked."""
    signs: frozenset[str] = frozenset()
    """Which of CALLED, LAUNCHED and OTHER_DEVICES it holds."""

    @property
    def rank(self) -> int | None:
        """The rank as the process group names it; None where a process for each device was put into one trace, for one
        process has one rank, whatever devices it drives."""
        if 1 < len(self.devices) <= self.processes:
            return None
        found = as_integer(value_at(self.values, "distributedInfo", "rank"))
        return found if found is not None and found >= 0 else None

    @property
    def world_size(self) -> int:
        """How many ranks the job has; 0 where it does not say."""
        found = as_integer(value_at(self.values, "distributedInfo", "world_size")) or 0
        return found if 0 < found <= MOST_RANKS else 0

    @property
    def _listed(self) -> tuple[Mapping[str, object], ...]:
        """What is said of each device of the host."""
        listed = self.values.get("deviceProperties")
        return tuple(map(as_mapping, listed)) if isinstance(listed, list) else ()

    @property
    def chips(self) -> tuple[str, ...]:
        """The name of each device of the host, in order; empty where one has none."""
        return tuple(map(_chip_of_device, self._listed))

    def chip_of(self, devices: Collection[int]) -> str:
        """The name of these devices of the host; empty where they differ, or it is not said."""
        names = set(map(_chip_of_device, self._of_devices(devices))) - {""}
        return names.pop() if len(names) == 1 else ""

    def memory_of(self, devices: Collection[int]) -> int:
        """Memory of each of these devices of the host; 0 where they differ, or it is not said."""
        sizes = {as_integer(one.get("totalGlobalMem")) or 0 for one in self._of_devices(devices)}
        return max(sizes.pop(), 0) if len(sizes) == 1 else 0

    def _of_devices(self, devices: Collection[int]) -> Sequence[Mapping[str, object]]:
        """What is said of these devices; of all, where one of them is not listed: a container numbers them anew."""
        numbers = [as_integer(one.get("id")) for one in self._listed]
        known = devices and all(numbers.count(device) == 1 for device in devices)
        return [one for one, number in zip(self._listed, numbers, strict=True) if not known or number in devices]

    def switch(self, name: str) -> bool | None:
        """A switch of the profiler, such as `with_stack`; newer versions write those that were on."""
        found = self.values.get(name)
        return bool(found) if found in (0, 1) else None

    def groups(self) -> dict[str, GroupMembers]:
        """The process groups by name."""
        listed = value_at(self.values, "distributedInfo", "pg_config")
        found = {}
        for entry in listed if isinstance(listed, list) else []:
            name, ranks = as_text(value_at(entry, "pg_name")), as_integers(value_at(entry, "ranks"))
            if name and ranks:
                found[name] = GroupMembers(self._kind_of_group(as_text(value_at(entry, "pg_desc")), ranks), ranks)
        return found

    def _kind_of_group(self, told: str, ranks: tuple[int, ...]) -> str:
        """What a group is for, by its description; the group of all ranks is the world's."""
        words = re.split(r"[^a-z]+", told.lower())
        known = next((kind for kind in ("tp", "pp", "dp", "cp", "ep") if kind in words), "")
        return known or ("world" if len(ranks) == self.world_size or "default" in words else "")


def _chip_of_device(told: Mapping[str, object]) -> str:
    """The name of a device, whether a virtual machine has all of it (VF) or not. Where it is empty, as in some versions
    of ROCm, cores and memory tell it."""
    name = (as_text(told.get("name")) or "").removesuffix(" VF")
    cores, memory = (as_integer(told.get(key)) or 0 for key in ("numSms", "totalGlobalMem"))
    return name or shipped_chips().named_by_size(cores, memory)


def read_header(file: BufferedReader) -> TraceHeader:
    """What is known of a trace without decoding it. What is damaged is not known."""
    steps, found, devices, signs = set[int](), set[str](), Counter[bytes](), set[str]()
    for text in _parts(file):
        steps.update(map(int, _MARK.findall(text)))
        devices.update(_DEVICE.findall(text))
        found.update(name for name in _MARKS.keys() - found if any(mark in text for mark in _MARKS[name]))
        if CALLED not in signs:
            signs.update(name for name in _SIGNS.keys() - signs if any(mark in text for mark in _SIGNS[name]))
    if "GPU" not in found and signs and any(_LAUNCH.search(part) for part in _parts(file)):
        signs.add(LAUNCHED)
    values = {**_values_after_events(file), **_values_before_events(file)}
    base = as_integer(values.get("baseTimeNanoseconds")) or 0
    used = tuple(sorted(_common(devices)))
    return TraceHeader(
        values,
        base if 0 <= base < _LATEST_BASE else 0,
        tuple(sorted(steps)),
        tuple(sorted(found)),
        used,
        _count_processes(file, used) if len(used) > 1 else 1,
        frozenset(signs),
    )


def span_of_events(file: BufferedReader, base_ns: int) -> tuple[int, int]:
    """From when to when the events of a trace begin, ns since the epoch, by all their times in µs since `base_ns`; two
    zeros where none has one."""
    first, last, end = math.inf, 0.0, b""
    file.seek(0)
    while part := file.read(_PART):
        text = end + part
        found = np.array(_MOMENT.findall(text), "S29").astype(float)
        found = found[found > 0]  # entries that name processes and threads may stand at 0
        if len(found):
            first, last = min(first, found.min()), max(last, found.max())
        end = text[-_LONGEST_MARK:]
    return (0, 0) if not last else (base_ns + int(first * 1000), base_ns + int(last * 1000))


def _parts(file: BufferedReader) -> Iterator[bytes]:
    """The file from its begin on, each part with the end of the one before it."""
    end = b""
    file.seek(0)
    while part := file.read(_PART):
        text = end + part
        yield text
        end = text[-_LONGEST_MARK:]


def _common(seen: Counter[bytes]) -> set[int]:
    """The numbers that were seen more than hardly ever."""
    return {int(number) for number, count in seen.items() if count * _MUCH >= seen.total()}


def _count_processes(file: BufferedReader, devices: Collection[int]) -> int:
    """How many processes recorded a trace; what runs on a device has its number in the place of that of a process."""
    seen = Counter[bytes]()
    end = b""
    file.seek(0)
    while part := file.read(_PART):
        text = end + part
        seen.update(_PROCESS.findall(text))
        end = text[-_LONGEST_MARK:]
    return len(_common(seen) - set(devices))


def _values_before_events(file: BufferedReader) -> Mapping[str, object]:
    try:
        layout = chunks.find_array(file, KEY)
    except chunks.NoEvents:
        return {}
    file.seek(0)
    return _parse_object(_LAST_KEY.sub(b"", file.read(layout.start)).rstrip().removesuffix(b",") + b"}")


def _values_after_events(file: BufferedReader) -> Mapping[str, object]:
    """What follows the array of events: from the first end of an array on behind which all is one object."""
    size = file.seek(0, 2)
    file.seek(max(size - _TAIL_BYTES, 0))
    tail = file.read(_TAIL_BYTES)
    tail = tail[: tail.rfind(b"}") + 1]
    found: Mapping[str, object] = {}
    for place in [end.end() for end in _END.finditer(tail)][: -_ENDS_TRIED - 1 : -1]:
        found = _parse_object(b"{" + tail[place:]) or found
    return found


def _parse_object(text: bytes) -> Mapping[str, object]:
    try:
        return as_mapping(parse_json(text.decode("utf-8-sig", "replace")))
    except ValueError:
        return {}
