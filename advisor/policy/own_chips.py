# SPDX-License-Identifier: Apache-2.0
"""The section `chips` of `advisor.yaml`: what a project knows of chips, beside the table or in its place.

```yaml
chips:
  Ascend910B4: {memory: 64GiB, source: npu-smi info on our machines}
  Acme-1:
    clock_mhz: 1600
    memory: 96GiB
    memory_gbps: 3200
    tflops: {FLOAT16: 400, BF16: 400}
    source: data sheet, revision 3
```
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from msgspec import structs

from advisor.chips import DTYPES, VECTOR_DTYPES, Chip, ChipTable
from advisor.messages.message import Message
from advisor.yaml_files.amounts import MEMORY
from advisor.yaml_files.mistakes import Faults
from advisor.yaml_files.source import Path_

NUMBERS: Mapping[str, tuple[str, float]] = {
    "clock_mhz": ("nominal_mhz", 1e5),
    "cube_cores": ("cube_cores", 1e5),
    "vector_cores": ("vector_cores", 1e5),
    "memory_gbps": ("memory_gbps", 1e6),
}
"""By key: the field of a chip, and what it is surely less than, so that a slip of units is told."""
MEMORIES = {"memory": "memory_bytes", "l2": "l2_bytes"}
MOST = 1e6
MOST_BYTES = 1024.0**5
LINKS = ("HCCS", "RDMA", "SIO", "PCIE")
_KEYS = (*MEMORIES, *NUMBERS, "tflops", "vector_tflops", "links_gbps", "family", "source")
_LONGEST_NAME = 64


def read_chips(given: Any, faults: Faults) -> ChipTable:
    """The table of chips with what the section says."""
    table = ChipTable()
    own: dict[str, tuple[Chip, str]] = {}
    for name, value in faults.mapping(("chips",), given, Message("chip_names_to_numbers")).items():
        path: Path_ = ("chips", name)
        written = str(name).strip()
        if not written or len(written) > _LONGEST_NAME or not written.isprintable():
            faults.wrong(path, Message("no_chip_name", name=written[:_LONGEST_NAME]), key=True)
            continue
        known = table.named(written)
        chip, source = _read_chip(path, value, known or Chip(written), table, faults)
        own[chip.name] = chip, source
    return table.with_own([chip for chip, _ in own.values()], {name: source for name, (_, source) in own.items()})


def _read_chip(path: Path_, given: Any, known: Chip, table: ChipTable, faults: Faults) -> tuple[Chip, str]:
    """A chip with what is said of it, and where that comes from."""
    said = faults.section(path, given, _KEYS, Message("numbers_of_a_chip"))
    source = said.get("source")
    if isinstance(given, dict) and not (isinstance(source, str) and source.strip()):
        where, is_key = ((*path, "source"), False) if "source" in said else (path, True)
        faults.wrong(where, Message("chip_source"), key=is_key)
    numbers = dict(_read_numbers(path, said, faults))
    family = said.get("family")
    if family is not None:
        numbers["family"] = _read_family((*path, "family"), family, table, faults)
    peaks, of_vectors, links = (
        dict(_read_rates((*path, key), said.get(key), Message(of), known_names, faults))
        for key, of, known_names in (
            ("tflops", "data_types_to_peaks", DTYPES),
            ("vector_tflops", "data_types_to_peaks", VECTOR_DTYPES),
            ("links_gbps", "links_to_rates", LINKS),
        )
    )
    chip = structs.replace(known, **numbers, links={**known.links, **links})
    if peaks:  # one way to the peak: what cores and clock gave is kept beside what is said
        chip = structs.replace(chip, tflops={**chip.peaks, **peaks}, macs={})
    if of_vectors:
        chip = structs.replace(chip, vector_tflops={**known.vector_tflops, **of_vectors})
    return chip, " ".join(str(source).split())


def _read_numbers(path: Path_, said: Mapping[str, Any], faults: Faults) -> Iterator[tuple[str, Any]]:
    for key, (name, most) in NUMBERS.items():
        number = _read_number((*path, key), said.get(key), most, faults)
        if number is not None:
            yield name, number
    for key, name in MEMORIES.items():
        if key not in said:
            continue
        read = faults.amount((*path, key), said[key], (MEMORY,))
        if read and 0 < read[0] < MOST_BYTES:
            yield name, read[0]
        elif read:
            faults.wrong((*path, key), Message("is_between", name=key, most="1PiB"))


def _read_rates(
    path: Path_, given: Any, of: Message, known: Collection[str], faults: Faults
) -> Iterator[tuple[str, float]]:
    for name, value in faults.section(path, given, known, of).items():
        number = _read_number((*path, name), value, MOST, faults)
        if number is not None:
            yield name, number


def _read_number(path: Path_, given: Any, most: float, faults: Faults) -> float | None:
    if given is None:
        return None
    name = path[-1]
    if isinstance(given, bool) or not isinstance(given, int | float) or not math.isfinite(given):
        faults.wrong(path, Message("is_number_not", name=name, given=str(faults.text(path, given))))
    elif not 0 < given < most:
        faults.wrong(path, Message("is_between", name=name, most=f"{most:.0f}"))
    else:
        return float(given)
    return None


def _read_family(path: Path_, given: Any, table: ChipTable, faults: Faults) -> str:
    chip = table.named(given) if isinstance(given, str) else None
    if chip is None or table.is_exact(chip.name):
        families = ", ".join(one.name for one in table.chips if not table.is_exact(one.name))
        faults.wrong(path, Message("is_one_of", name="family", allowed=families, given=str(faults.text(path, given))))
        return ""
    return chip.name
