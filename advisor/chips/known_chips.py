# SPDX-License-Identifier: Apache-2.0
"""Chips: what may be known of each by its name, how people write the names, and which of two names counts.

What is known of which chip stands in `chips/*.yaml`, each number with its source; `chip_files` reads them. What is not
known is NaN or missing.

The peak of the cube unit of an Ascend is its cores times their clock times the multiply-adds of a cycle, two operations
each. That of its vector units is their cores times their clock times the values that an instruction takes in a cycle,
two operations each, as of a multiply-add. Of GPUs the FLOAT of `tflops` is what their vector units do.
"""

from __future__ import annotations

import difflib
import math
import re
from collections.abc import Iterable, Mapping

from msgspec import Struct

from advisor.messages.errors import UsageError
from advisor.messages.message import Message

DTYPES = ("FLOAT16", "BF16", "FLOAT", "HF32", "INT8", "INT4", "FP8")
"""Data types of products whose peak may be known, as `plain_dtype` calls them; HF32 is FLOAT rounded for speed."""

VECTOR_DTYPES = ("FLOAT16", "BF16", "FLOAT")
"""Those of the vector units."""


def peak_of_cores(mhz: float, macs: float) -> float:
    """10^12 operations per second of cores that count so many MHz together, by their multiply-adds in a cycle."""
    return mhz * 2 * macs / 1e6


class Chip(Struct, frozen=True):
    """One chip, or a family of them: all that its name tells."""

    name: str
    family: str = ""
    """The family that captures name in its place."""
    nominal_mhz: float = math.nan
    """Clock its AI Cores were built for; of a family the least of its members. NaN where unknown."""
    memory_bytes: float = math.nan
    """Device memory; of a family only where all members agree. NaN where unknown."""
    cube_cores: float = math.nan
    """Cores with a cube unit, or what a GPU has in their place; of a family the fewest, as all that follows."""
    vector_cores: float = math.nan
    """Cores of the vector units, where they are apart; NaN elsewhere."""
    memory_gbps: float = math.nan
    """Bandwidth of the device memory, 10^9 bytes per s."""
    l2_bytes: float = math.nan
    """Level-2 cache."""
    links: Mapping[str, float] = {}
    """Bandwidth of one link in one direction, 10^9 bytes per s by its kind: HCCS, SIO, RDMA, NVLink. It is what
    measurements reach where that is far below what the link was built for."""
    macs: Mapping[str, float] = {}
    """Multiply-adds of one core in a cycle, by data type."""
    lanes: Mapping[str, float] = {}
    """Values that the vector unit of one core takes in a cycle, by data type; others are widened to FLOAT first."""
    tflops: Mapping[str, float] = {}
    """Peak of dense matrix products where cores and clock do not give it, 10^12 operations per s by data type."""
    vector_tflops: Mapping[str, float] = {}
    """Peak of the vector units where cores and clock do not give it, 10^12 operations per s by data type."""
    achieved_tflops: Mapping[str, float] = {}
    """The most that products were measured to reach, where whoever makes it publishes that: such a chip slows down long
    before its peak."""
    counts_cycles: bool = False
    """Whether kernels count the cycles of its cores, which then tell it where nothing names it. All such chips have the
    same cores, and differ in how many they have and in their clock."""
    also_called: tuple[str, ...] = ()
    """What people call a family, or a chip whose full name nobody writes; of several models with one name that with the
    lowest rates has it, unless a capture names another of them."""
    recorded_as: tuple[str, ...] = ()
    """Other families that captures name for the chips of this one."""

    @property
    def peaks(self) -> Mapping[str, float]:
        """Peak of dense matrix products at the nominal clock, 10^12 operations per s by data type; where known."""
        counted = {dtype: peak_of_cores(self.cube_cores * self.nominal_mhz, macs) for dtype, macs in self.macs.items()}
        return self.tflops or {dtype: peak for dtype, peak in counted.items() if peak > 0}


_NEARLY = 0.01
"""Of the memory of a device some is taken before anybody can ask for its size: 16 MiB of 192 GiB."""
_MODEL = re.compile(r"\b[A-Z]{1,3}[0-9]{2,4}[A-Z]*\b")
_NOISE = re.compile(r"[\s_-]+|^(huawei|昇腾|ascend|atlas|nvidia|geforce|tesla|amd|instinct)+")


class ChipTable(Struct, frozen=True):
    """The chips that are known: those that are shipped, and what a project says of its own."""

    chips: tuple[Chip, ...]
    sources: Mapping[str, str] = {}
    """By name of a chip whose numbers a project gives or corrects: where they come from, in its words."""

    def named(self, words: str) -> Chip | None:
        """The chip that is meant: `Ascend910B3`, `ascend 910b3`, `910B3`, `910_9392`, `910C`; None for no chip.

        Of two that are called the same it is the project's own.
        """
        if found := self._by_name(words):
            return found
        key = _chip_key(words)
        named = (chip for chip in self.chips if _chip_key(chip.name) == key)
        called = (chip for chip in reversed(self.chips) if key and key in map(_chip_key, chip.also_called))
        return next(named, None) or next(called, None)

    def named_by_size(self, cores: int, memory_bytes: int) -> str:
        """The one chip with so many cores and so much memory; empty where there is none, or more than one."""
        alike = [
            chip.name
            for chip in self.chips
            if chip.cube_cores == cores and abs(chip.memory_bytes - memory_bytes) <= _NEARLY * chip.memory_bytes
        ]
        return alike[0] if len(alike) == 1 else ""

    @property
    def counting(self) -> tuple[Chip, ...]:
        """The chips whose kernels count cycles."""
        return tuple(chip for chip in self.chips if chip.counts_cycles)

    def families_recorded_as(self, name: str) -> tuple[str, ...]:
        """The families whose chips captures may mean by the name of one: itself, and those that share it."""
        return (name, *(chip.name for chip in self.chips if name in chip.recorded_as))

    def nearest(self, words: str) -> str:
        """The name that comes closest; empty where none does."""
        keys = {_chip_key(chip.name): chip.name for chip in self.chips}
        near = difflib.get_close_matches(_chip_key(words), keys, 1, 0.55)
        return keys[near[0]] if near else ""

    def told(self, words: str | None) -> ToldChip:
        """What a user says of the chip: its name in any spelling; None where nothing is said.

        Raises:
            UsageError: There is no such chip; the message says which there are.
        """
        chip = self.named(words) if words is not None else Chip("")
        if words is None or chip is not None:
            return ToldChip(chip.name if chip is not None else "", self)
        near, names = self.nearest(words), self.names
        known = Message("did_you_mean_known", name=near, names=names) if near else Message("known_are", names=names)
        raise UsageError(Message("unknown_chip", name=words), known)

    @property
    def names(self) -> str:
        """All names, for a message."""
        return ", ".join(chip.name for chip in self.chips)

    def is_exact(self, name: str) -> bool:
        """Whether a recorded name stands for one chip and no family; of a name unknown here nothing is doubted."""
        return bool(name) and all(chip.family != name for chip in self.chips)

    def known_of(self, name: str | None) -> Chip:
        """What is known of a chip by its recorded name; nothing at all where it is unknown."""
        return self._by_name(name or "") or Chip("")

    def agree(self, recorded: str, told: str) -> tuple[str, str]:
        """The chip that counts, and what a note of the run is about.

        What was recorded counts, unless what was told is of that family, or a family whose chips are recorded under
        that name, or a GPU of the same model as one that is unknown here.
        The note is about `told_chip` where the user's word counts, about `untold_chip` where the capture contradicts
        it; empty where there is none.
        """
        chip = self._by_name(told)
        if chip is None or told == recorded:
            return recorded, ""
        own = self._by_name(recorded)
        if (
            not recorded
            or self._is_of_family(told, recorded)
            or (own is None and _model(recorded) == _model(told) != "")
        ):
            return told, "told_chip"
        vaguer = own is not None and (
            told == own.family or (bool(chip.also_called) and _model(recorded) == _model(told) != "")
        )
        return recorded, "" if vaguer else "untold_chip"

    def may_be_same_chip(self, one: str, other: str) -> bool:
        """Whether two names may stand for one chip: a family for any of its members and for a chip unknown here, and a
        GPU that is unknown here for another of its model."""
        if one == other or self._is_of_family(one, other) or self._is_of_family(other, one):
            return True
        unknown = self._by_name(one) is None or self._by_name(other) is None
        one_is_family = not (self.is_exact(one) and self.is_exact(other))
        return unknown and (one_is_family or _model(one) == _model(other) != "")

    def _is_of_family(self, name: str, family: str) -> bool:
        """Whether one name is that of a family, under which chips of the other name are recorded."""
        families, chip = self.families_recorded_as(family), self.known_of(name)
        return not self.is_exact(family) and (name in families or chip.family in families)

    def of_device(self, recorded: str, chip: str) -> Chip:
        """What is known of a device by its recorded name, or by the chip of the run where that says more."""
        return self.known_of(self.agree(recorded, chip)[0])

    def with_own(self, chips: Iterable[Chip], sources: Mapping[str, str]) -> ChipTable:
        """The table with these chips, which take the place of those with their names."""
        own = {chip.name: chip for chip in chips}
        rest = [chip for chip in self.chips if chip.name not in own]
        return ChipTable((*rest, *own.values()), {**self.sources, **sources})

    def _by_name(self, name: str) -> Chip | None:
        return next((chip for chip in self.chips if chip.name == name), None) if name else None


class ToldChip(Struct, frozen=True):
    """What a user says: which chip it was, by its name in the table, and what is known of chips."""

    name: str
    table: ChipTable


def _model(name: str) -> str:
    """The model that the name of a GPU tells, such as A100; empty where none."""
    found = _MODEL.search(name.upper())
    return found[0] if found else ""


def _chip_key(words: str) -> str:
    key = words.casefold()
    while (shorter := _NOISE.sub("", key)) != key:
        key = shorter
    return key
