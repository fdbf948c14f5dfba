# SPDX-License-Identifier: Apache-2.0
"""The page of chips: what is known of each, where every number comes from, and how an entry is written."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from advisor.chips.chip_files import OWN, SOURCED, Entry
from advisor.chips.chip_schema import ShippedChipFile
from advisor.chips.known_chips import DTYPES, VECTOR_DTYPES, Chip

_ABOUT = """# Chips

What is known of a chip by its name. It stands in [`chips/`](../../chips), a file for NPUs and one for GPUs, each number
with its source; a dash stands where nothing is known, or sources disagree. A project adds chips, or corrects these, in
the section [`chips`](../gate.md) of its `advisor.yaml`. Entries are written the same there, so that one which others
need too can be moved here as it is. A family, whose name captures record for several chips, has what the least of them
has.
"""
_OF_PEAKS = """10^12 operations per second at the nominal clock. Where the multiply-adds of one core in a cycle
are known, the peak is that of all cores, two operations each.
"""
_OF_VECTORS = """Values that the vector unit of one core takes in a cycle, a multiply-add of each counted as two
operations, or the peak of all where that is not known. Data types that are missing are widened to FLOAT.
"""


def chips_page(entries: Sequence[Entry]) -> str:
    """The page, in Markdown."""
    chips = [entry.chip for entry in entries]
    peaks = [chip for chip in chips if chip.peaks]
    reached = [chip for chip in chips if chip.achieved_tflops]
    links = tuple(dict.fromkeys(kind for chip in chips for kind in chip.links))
    lines = [
        _ABOUT,
        *_table(("chip", "also called", *_PLAIN), map(_plain_row, chips)),
        "## Peaks of products\n",
        _OF_PEAKS,
        *_table(("chip", *DTYPES), (_row(chip, chip.peaks, DTYPES) for chip in peaks)),
        "The most that products were measured to reach:\n",
        *_table(("chip", *DTYPES), (_row(chip, chip.achieved_tflops, DTYPES) for chip in reached)),
        "## Vector units\n",
        _OF_VECTORS,
        *_table(("chip", "in a cycle", "peak, 10^12 operations per second"), _vector_rows(chips)),
        "## Links\n",
        "What one link moves in one direction, 10^9 bytes per second.\n",
        *_table(("chip", *links), (_row(chip, chip.links, links) for chip in chips if chip.links)),
        "## Sources\n",
        *_table(("number", "of", "source"), _source_rows(entries)),
        "## Keys of an entry\n",
        "Those with a mark are for chips that are shipped only.\n",
        *_table(("key", "", "meaning"), _key_rows()),
    ]
    return "\n".join(lines)


_PLAIN = ("family", "clock, MHz", "cube cores", "vector cores", "memory, GiB", "10^9 bytes per s", "level 2, MiB")


def _plain_row(chip: Chip) -> tuple[str, ...]:
    numbers = (
        *(chip.nominal_mhz, chip.cube_cores, chip.vector_cores),
        *(chip.memory_bytes / 1024**3, chip.memory_gbps, chip.l2_bytes / 1024**2),
    )
    return f"`{chip.name}`", ", ".join(chip.also_called), chip.family, *map(_number, numbers)


def _row(chip: Chip, numbers: Mapping[str, float], names: Iterable[str]) -> tuple[str, ...]:
    return f"`{chip.name}`", *(_number(numbers.get(name)) for name in names)


def _vector_rows(chips: Iterable[Chip]) -> Iterator[tuple[str, ...]]:
    for chip in chips:
        if chip.lanes or chip.vector_tflops:
            yield f"`{chip.name}`", _pairs(chip.lanes), _pairs(chip.vector_tflops)


def _pairs(numbers: Mapping[str, float]) -> str:
    return ", ".join(f"{name} {_number(numbers[name])}" for name in VECTOR_DTYPES if name in numbers) or "–"


def _number(number: float | None) -> str:
    return "–" if number is None or math.isnan(number) else f"{number:.5g}"


def _source_rows(entries: Sequence[Entry]) -> Iterator[tuple[str, ...]]:
    """Each source of each number once, with all chips whose number it is."""
    for key in SOURCED:
        of: dict[str, list[str]] = {}
        for entry in entries:
            if key in entry.sources:
                of.setdefault(entry.sources[key], []).append(f"`{entry.chip.name}`")
        for source, names in of.items():
            yield f"`{key}`", ", ".join(names), source


def _key_rows() -> Iterator[tuple[str, ...]]:
    for key, field in ShippedChipFile.model_fields.items():
        yield f"`{key}`", "" if key in OWN else "shipped", field.description or ""


def _table(heads: Sequence[str], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
