# SPDX-License-Identifier: Apache-2.0
"""Chips in files: what is shipped in `chips/*.yaml`, and what a project says in the section `chips` of `advisor.yaml`.

```yaml
chips:
  Ascend910B4: {memory: 64GiB, source: npu-smi info on our machines}
  Acme-1:
    clock_mhz: 1600
    memory: 96GiB
    memory_gbps: 3200
    tflops: {FLOAT16: 400, BF16: 400}
    source: data sheet, revision 3
    sources: {memory_gbps: measured in March}
```

An entry is the same in both, so that it can be moved. What is shipped says more: what several chips have stands once,
in `parts`, and where most numbers of a file come from in its `sources`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from msgspec import Struct, structs

from advisor.chips.known_chips import DTYPES, VECTOR_DTYPES, Chip, ChipTable
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import Mistake, RuleError
from advisor.messages.message import Message
from advisor.yaml_files.amounts import MEMORY
from advisor.yaml_files.document import Path_, read_text
from advisor.yaml_files.mistakes import Faults
from advisor.yaml_files.parsed_files import document_of_text

FOLDER = "chips"
"""The folder of the shipped files."""
NUMBERS: Mapping[str, tuple[str, float]] = {
    "clock_mhz": ("nominal_mhz", 1e5),
    "cube_cores": ("cube_cores", 1e5),
    "vector_cores": ("vector_cores", 1e5),
    "memory_gbps": ("memory_gbps", 1e6),
}
"""By key: the field of a chip, and what it is surely less than, so that a slip of units is told."""
MEMORIES = {"memory": "memory_bytes", "l2": "l2_bytes"}
MOST_BYTES = 1024.0**5
MOST = 1e6
LINKS = ("HCCS", "RDMA", "SIO", "PCIE", "NVLink")
RATES: Mapping[str, tuple[str, str, tuple[str, ...]]] = {
    "tflops": ("tflops", "data_types_to_peaks", DTYPES),
    "vector_tflops": ("vector_tflops", "data_types_to_peaks", VECTOR_DTYPES),
    "links_gbps": ("links", "links_to_rates", LINKS),
    "achieved_tflops": ("achieved_tflops", "data_types_to_peaks", DTYPES),
    "macs": ("macs", "data_types_to_counts", DTYPES),
    "lanes": ("lanes", "data_types_to_counts", VECTOR_DTYPES),
}
"""By key: the field of a chip, what it maps, and from which names."""
SOURCED = (*NUMBERS, *MEMORIES, *RATES)
"""The keys of numbers, each of which has a source."""
OWN = (*NUMBERS, *MEMORIES, "tflops", "vector_tflops", "links_gbps", "family", "also_called", "source", "sources")
"""The keys of an entry in settings."""
_OF_A_PART = (*SOURCED, "counts_cycles", "source", "sources")
_SHIPPED = (*_OF_A_PART, "family", "also_called", "recorded_as", "parts")
_LONGEST_NAME = 64


class Entry(Struct, frozen=True):
    """A chip as a file says it is, and where that comes from."""

    chip: Chip
    sources: Mapping[str, str]
    """By the key of each number that the file says."""
    source: str = ""
    """Where all comes from of which `sources` says nothing else, in words of the entry itself."""


class _Part(Struct, frozen=True):
    """What several chips have: values by field, and sources by key."""

    values: Mapping[str, Any]
    sources: Mapping[str, str]


def read_own_chips(given: Any, faults: Faults) -> ChipTable:
    """The table of chips with what the section of settings says."""
    table = shipped_chips()
    own = {entry.chip.name: entry for entry in _Entries(faults, table, OWN).read(given)}
    said = {
        name: "; ".join(filter(None, dict.fromkeys((one.source, *one.sources.values())))) for name, one in own.items()
    }
    return table.with_own([entry.chip for entry in own.values()], said)


@cache
def shipped_chips() -> ChipTable:
    """The chips that are shipped.

    Raises:
        RuleError: Everything that is wrong with their files.
    """
    return ChipTable(tuple(entry.chip for entry in read_chip_files(shipped_folder(FOLDER))))


def chip_files(folder: Path) -> list[Path]:
    """The files of a folder of chips, in their order."""
    return sorted(folder.glob("*.yaml"))


def read_chip_files(folder: Path) -> tuple[Entry, ...]:
    """The entries of all files of a folder.

    Raises:
        RuleError: Everything that is wrong with them.
    """
    files = [_ChipFile(path) for path in chip_files(folder)]
    named = ChipTable(tuple(chip for file in files for chip in file.named()))  # a family may stand in another file
    entries = [entry for file in files for entry in file.entries(named)]
    if mistakes := [*(mistake for file in files for mistake in file.faults.mistakes), *_named_twice(files)]:
        raise RuleError(mistakes)
    return tuple(entries)


class _ChipFile:
    """One shipped file."""

    def __init__(self, path: Path) -> None:
        text = read_text(path, path.as_posix()).encode()
        self.faults = Faults(document_of_text(text, path.as_posix(), folder=FOLDER))
        self.said: Mapping[str, Any] = self.faults.document.data or {}
        if not isinstance(self.said, dict):
            self.faults.wrong((), Message("is_mapping", name=path.name))
            self.said = {}
        self.faults.only((), self.said, ("sources", "parts", "chips"))

    def named(self) -> Iterator[Chip]:
        """The chips with nothing but their names and families."""
        for name, value in self._mapping("chips").items():
            family = value.get("family") if isinstance(value, dict) else None
            yield Chip(name, family if isinstance(family, str) else "")

    def entries(self, named: ChipTable) -> list[Entry]:
        """The entries; what is wrong is noted."""
        reader = _Entries(self.faults, named, _SHIPPED)
        reader.otherwise = reader.words_by_number(("sources",), self.said.get("sources"), SOURCED)
        reader.parts = {name: reader.part(("parts", name), value) for name, value in self._mapping("parts").items()}
        return list(reader.read(self.said.get("chips")))

    def _mapping(self, key: str) -> Mapping[str, Any]:
        given = self.said.get(key)
        return given if isinstance(given, dict) else {}


def _named_twice(files: Iterable[_ChipFile]) -> Iterator[Mistake]:
    seen: dict[str, str] = {}
    for file in files:
        for chip in file.named():
            first = seen.setdefault(chip.name, file.faults.document.file)
            if first != file.faults.document.file:
                what, hint = Message("defined_twice", name=chip.name), Message("first_in", file=first)
                yield file.faults.document.mistake(("chips", chip.name), what, hint, key=True)


class _Entries:
    """Reads entries of chips, and notes what is wrong with them."""

    def __init__(self, faults: Faults, table: ChipTable, keys: Collection[str]) -> None:
        self.faults, self.table, self.keys = faults, table, keys
        self.parts: Mapping[str, _Part] = {}
        self.otherwise: Mapping[str, str] = {}
        """By key of a number: its source where the entry names none."""

    def read(self, given: Any) -> Iterator[Entry]:
        """The entry of each chip of a section `chips`."""
        for name, value in self.faults.mapping(("chips",), given, Message("chip_names_to_numbers")).items():
            path: Path_ = ("chips", name)
            written = str(name).strip()
            if not written or len(written) > _LONGEST_NAME or not written.isprintable():
                self.faults.wrong(path, Message("no_chip_name", name=written[:_LONGEST_NAME]), key=True)
                continue
            yield self.entry(path, value, self.table.named(written) or Chip(written))

    def entry(self, path: Path_, given: Any, known: Chip) -> Entry:
        """A chip with what is said of it."""
        said = self.faults.section(path, given, self.keys, Message("numbers_of_a_chip"))
        own = self._as_part(path, given, said)
        chip, sources = known, dict[str, str]()
        for part in (*self._parts_named(path, said), own):
            chip = _chip_with(chip, part.values)
            sources |= part.sources
        if said.get("family") is not None:
            chip = structs.replace(chip, family=self._family((*path, "family"), said["family"]))
        if "also_called" in said:
            chip = structs.replace(chip, also_called=self._names((*path, "also_called"), said["also_called"]))
        if "recorded_as" in said:
            families = {one.family for one in self.table.chips if one.family}
            chip = structs.replace(chip, recorded_as=self._names((*path, "recorded_as"), said["recorded_as"], families))
        return Entry(chip, sources, _in_one_line(said.get("source")))

    def part(self, path: Path_, given: Any) -> _Part:
        """What stands below the name of a part."""
        said = self.faults.section(path, given, _OF_A_PART, Message("numbers_of_a_chip"))
        return self._as_part(path, given, said)

    def _as_part(self, path: Path_, given: Any, said: Mapping[str, Any]) -> _Part:
        values = dict(self._values(path, said))
        told = self.otherwise or any(said.get(key) for key in ("source", "sources", "parts"))
        if told or not isinstance(given, dict):
            return _Part(values, self._sources(path, said))
        where = (*path, "source") if "source" in said else path
        self.faults.wrong(where, Message("chip_source"), key="source" not in said)
        return _Part(values, {})

    def _parts_named(self, path: Path_, said: Mapping[str, Any]) -> Iterator[_Part]:
        for name in self._names((*path, "parts"), said.get("parts", []), self.parts):
            yield self.parts[name]

    def _sources(self, path: Path_, said: Mapping[str, Any]) -> dict[str, str]:
        """By number that is said: where it comes from. It is noted where nothing tells."""
        numbers, source = [key for key in SOURCED if key in said], said.get("source")
        if source is not None and not _is_text(source):
            self.faults.wrong((*path, "source"), Message("chip_source"))
        of_all = dict.fromkeys(numbers if source else (), _in_one_line(source))
        by_number = self.words_by_number((*path, "sources"), said.get("sources"), numbers)
        found = {**self.otherwise, **of_all, **by_number}
        for key in numbers:
            if key not in found:
                self.faults.wrong((*path, key), Message("number_source", name=key), key=True)
        return {key: found[key] for key in numbers if key in found}

    def words_by_number(self, path: Path_, given: Any, numbers: Collection[str]) -> dict[str, str]:
        """By key of a number: the words that say where it comes from."""
        found = self.faults.section(path, given, numbers, Message("numbers_to_sources"))
        for key, words in found.items():
            if not _is_text(words):
                self.faults.wrong((*path, key), Message("number_source", name=key))
        return {key: _in_one_line(words) for key, words in found.items()}

    def _values(self, path: Path_, said: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
        """By field of a chip: what is said of it."""
        for key in said:
            at = (*path, key)
            if key in NUMBERS:
                field, most = NUMBERS[key]
                if (number := self._number(at, said[key], most)) is not None:
                    yield field, number
            elif key in MEMORIES:
                if (size := self._memory(at, said[key])) is not None:
                    yield MEMORIES[key], size
            elif key in RATES:
                yield RATES[key][0], self._rates(at, said[key])
            elif key == "counts_cycles":
                if not isinstance(said[key], bool):
                    self.faults.wrong(at, Message("is_one_of_these", name=key, allowed="true, false"))
                yield key, said[key] is True

    def _memory(self, path: Path_, given: Any) -> float | None:
        read = self.faults.amount(path, given, (MEMORY,))
        if read and not 0 < read[0] < MOST_BYTES:
            self.faults.wrong(path, Message("is_between", name=path[-1], most="1PiB"))
            return None
        return read[0] if read else None

    def _rates(self, path: Path_, given: Any) -> dict[str, float]:
        _, of, names = RATES[str(path[-1])]
        said = self.faults.section(path, given, names, Message(of))
        read = {name: self._number((*path, name), value, MOST) for name, value in said.items()}
        return {name: number for name, number in read.items() if number is not None}

    def _number(self, path: Path_, given: Any, most: float) -> float | None:
        if given is None:
            return None
        name = path[-1]
        if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
            self.faults.wrong(path, Message("is_number_not", name=name, given=str(self.faults.text(path, given))))
        elif not 0 < given < most:
            self.faults.wrong(path, Message("is_between", name=name, most=f"{most:.0f}"))
        else:
            return float(given)
        return None

    def _family(self, path: Path_, given: Any) -> str:
        chip = self.table.named(given) if isinstance(given, str) else None
        if chip is None or self.table.is_exact(chip.name):
            families = ", ".join(one.name for one in self.table.chips if not self.table.is_exact(one.name))
            written = str(self.faults.text(path, given))
            self.faults.wrong(path, Message("is_one_of", name="family", allowed=families, given=written))
            return ""
        return chip.name

    def _names(self, path: Path_, given: Any, known: Collection[str] | None = None) -> tuple[str, ...]:
        """A list of names; of these, where it is known which there are."""
        if not isinstance(given, list):
            self.faults.wrong(path, Message("is_list", name=path[-1]))
            return ()
        for number, name in enumerate(given):
            if not isinstance(name, str) or (known is not None and name not in known):
                self.faults.wrong((*path, number), Message("no_such_name", name=str(name), of=path[-1]))
        return tuple(name for name in given if isinstance(name, str) and (known is None or name in known))


def _chip_with(chip: Chip, values: Mapping[str, Any]) -> Chip:
    """The chip with these values; of what maps names to numbers the others stay."""
    said = {
        field: {**getattr(chip, field), **value} if isinstance(value, dict) else value
        for field, value in values.items()
        if field != "tflops"
    }
    found = structs.replace(chip, **said)
    if not values.get("tflops"):
        return found
    # one way to the peak: what cores and clock gave is kept beside what is said
    return structs.replace(found, tflops={**found.peaks, **values["tflops"]}, macs={}, counts_cycles=False)


def _is_text(words: Any) -> bool:
    return isinstance(words, str) and bool(words.strip())


def _in_one_line(words: Any) -> str:
    return " ".join(str(words).split()) if words is not None else ""
