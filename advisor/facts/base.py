# SPDX-License-Identifier: Apache-2.0
"""Fact: one kind of row, one class. A column is declared once, with its unit, its meaning and its role.

The declaration gives the table its columns and dtypes, expressions their types, the fact reference its text,
rule cases their cells, and the report the sentence "record with …".

| declared with | stored as | missing is | in expressions |
|---|---|---|---|
| `Key`, `Name` on `str` | codes of up to 32 bits and a tuple of distinct texts | code -1 | text |
| `Volatile`, `Key` on `int` | int64 | `MISSING` | number without unit |
| `Ns` | int64, ns since the epoch | `MISSING` | number[ns] |
| `Us`, `Bytes`, `Count`, `Share`, `Rate`, `Mhz`, `Number` | float64 | NaN | number with unit |
| `Flag` | int8 0/1 | -1 | bool |

Tables of events hold whole numbers in fewer bytes, and give them as they are declared (`Table.narrow`).

Modules that declare facts do without `from __future__ import annotations`: every annotation is read, and from texts
that takes 20 ms longer.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from inspect import get_annotations
from typing import Annotated, ClassVar, Literal

import numpy as np
from msgspec import Struct

from advisor.facts.declared import declared_in
from advisor.messages.text import Text
from advisor.units import Type, ValueKind

MISSING = int(np.iinfo(np.int64).min)
"""What an int64 column holds where nothing was recorded."""
LARGEST = 1e30
"""No number that was measured comes near it, in any unit. Beyond is damage, whose squares and sums leave float64."""

Store = Literal["text", "int", "float", "flag"]
_DTYPES: Mapping[str, np.dtype[np.generic]] = {
    "text": np.dtype(np.int32), "int": np.dtype(np.int64), "float": np.dtype(np.float64), "flag": np.dtype(np.int8)
}  # fmt: skip
_MISSING: Mapping[str, int | float] = {"text": -1, "int": MISSING, "float": float("nan"), "flag": -1}


class Column(Struct, frozen=True):
    """What one column holds."""

    doc: str
    store: Store
    unit: str = ""
    volatile: bool = False
    """Differs from run to run (rank, step, stream …): never part of a finding's identity."""
    name: str = ""

    @property
    def kind(self) -> ValueKind:
        return "text" if self.store == "text" else "bool" if self.store == "flag" else "number"

    @property
    def type(self) -> Type:
        return Type(self.kind, self.unit, per_row=True)

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return _DTYPES[self.store]

    @property
    def missing(self) -> int | float:
        return _MISSING[self.store]


_TOLD_BY_NAME: Mapping[str, str] = {
    "tflops": "10^12 operations/s",
    "tera_flops": "10^12 operations",
    "mega_flops": "10^6 operations",
    "mega_elements": "10^6 elements",
}
"""Units of numbers that expressions count as plain ones, by how the names of their columns end."""


def unit_of_column(name: str, column: Column) -> str:
    """The unit of a column, as programs that read it are told; empty where it has none."""
    endings = (unit for ending, unit in _TOLD_BY_NAME.items() if f"_{name}".endswith(f"_{ending}"))
    return column.unit or next(endings, "")


class Moment(Struct, frozen=True):
    """Which columns of a table say of its rows when they happened, how long they took, and what they are called."""

    start: str = "start_ns"
    lasts: str = ""
    """Column of the duration in µs; without it and without `end` a row is an instant."""
    end: str = ""
    """Column of the end, where there is one instead of a duration."""
    name: tuple[str, ...] = ("name",)
    """The first of these that is recorded names a row."""
    rank: str = "rank"


def Key(doc: str) -> Column:
    """A stable name: may be part of a finding's identity."""
    return Column(doc, "text")


def Name(doc: str) -> Column:
    """A text that differs from run to run or is only shown."""
    return Column(doc, "text", volatile=True)


def Index(doc: str) -> Column:
    """A stable whole number, such as a pipeline stage."""
    return Column(doc, "int")


def Volatile(doc: str) -> Column:
    """A whole number that differs from run to run, such as a rank."""
    return Column(doc, "int", volatile=True)


def Ns(doc: str) -> Column:
    """An absolute time, whole ns since the epoch."""
    return Column(doc, "int", "ns", volatile=True)


def Us(doc: str) -> Column:
    """A duration in µs."""
    return Column(doc, "float", "us", volatile=True)


def Bytes(doc: str) -> Column:
    """A size in bytes."""
    return Column(doc, "float", "B", volatile=True)


def Count(doc: str) -> Column:
    """How many."""
    return Column(doc, "float", "count", volatile=True)


def Share(doc: str) -> Column:
    """A part of a whole, 0 to 1."""
    return Column(doc, "float", "share", volatile=True)


def Times(doc: str) -> Column:
    """A ratio that may pass 1."""
    return Column(doc, "float", "times", volatile=True)


def Rate(doc: str) -> Column:
    """A bandwidth in GB/s (1e9 bytes)."""
    return Column(doc, "float", "GB/s", volatile=True)


def Mhz(doc: str) -> Column:
    """A frequency in MHz."""
    return Column(doc, "float", "MHz", volatile=True)


def Number(doc: str) -> Column:
    """A bare number."""
    return Column(doc, "float", volatile=True)


def Flag(doc: str) -> Column:
    """True or false."""
    return Column(doc, "flag", volatile=True)


Rank = Annotated[int, Volatile("Global rank of the process.")]
Step = Annotated[int, Volatile("Step number as the job counted it; missing when the job never called step().")]
Stage = Annotated[int, Index("Pipeline stage, from 0; missing when there is no pipeline or it is unknown.")]


class Fact:
    """One row of a fact table. Subclasses declare columns; they are never instantiated."""

    table: ClassVar[str]
    """The name rules use after `in:`."""
    called: ClassVar[Text]
    """What its rows are, where people read why something is not known."""
    observed: ClassVar[bool] = True
    """Read from files (true) or derived from other facts (false)."""
    heavy: ClassVar[bool] = False
    """One row per event: read and derived from one rank at a time, and not kept longer than needed.

    Shipped rules, charts and what sets ranks beside each other read few rows made of it, or select some (`selection`).
    """
    longest: ClassVar[bool] = False
    """Has more rows than all others of a rank: read after them, when most of what they are read from is let go."""
    among_events: ClassVar[bool] = False
    """Kept in the files of heavy facts: read together with them, before those files are let go."""
    never_empty: ClassVar[bool] = False
    """A profiler that records it writes at least one row: a file or table that holds none does not hold the fact."""
    on_request: ClassVar[bool] = False
    """No shipped rule reads it: made when a rule of one's own, or a comparison, asks for it."""
    across_ranks: ClassVar[bool] = False
    """Derived from the tables of all ranks together; other derived facts are made rank by rank."""
    of_pauses: ClassVar[bool] = False
    """Says what the device waited for: nothing of a whole program without a marked step, whose pauses are those of
    starting, loading and compiling too."""
    of_all_steps: ClassVar[bool] = False
    """Says what was recorded, of steps that do not count too (see `LeftOutStep`)."""
    moment: ClassVar[Moment | None] = None
    """Where a row is one event: the columns that say when. A finding lists the worst of them."""
    record_with: ClassVar[Text | None] = None
    """What to switch on in the profiler to get this fact; observed facts only."""

    @classmethod
    @cache
    def columns(cls) -> Mapping[str, Column]:
        """The declared columns, in order."""
        found = {}
        for one in reversed(cls.__mro__[: cls.__mro__.index(Fact)]):
            for name, hint in get_annotations(one, eval_str=True).items():
                mark = next((m for m in getattr(hint, "__metadata__", ()) if isinstance(m, Column)), None)
                if mark is not None:
                    found[name] = Column(mark.doc, mark.store, mark.unit, mark.volatile, name)
        return found

    @classmethod
    def scope(cls) -> dict[str, Type]:
        """The names an expression over this table may use, with their types."""
        return {name: column.type for name, column in cls.columns().items()}


def facts_in(package: str) -> tuple[type[Fact], ...]:
    """The facts that the modules of a package declare, by the names of their tables."""
    found = {
        value.table: value
        for _, value in declared_in(package)
        if isinstance(value, type) and issubclass(value, Fact) and value.__module__.startswith(f"{package}.")
    }
    return tuple(found[name] for name in sorted(found))
