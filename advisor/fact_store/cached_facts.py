# SPDX-License-Identifier: Apache-2.0
"""The facts of one rank as bytes, and back as they were: the same cells, types, texts and reasons for what lacks.

They hold numbers and texts alone, so that reading what somebody else wrote runs nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from advisor.fact_store.manifest import WhyLacking
from advisor.facts.base import Fact
from advisor.facts.rank_facts import RankFacts, ReadTable, WantedFact, fact_of_wanted
from advisor.facts.selection import Selected
from advisor.facts.table import Array, Table, Texts, Values
from advisor.messages.errors import FactMissing

MOST_BYTES = 64 << 20
"""Facts that take more are not kept: what a diagnosis wants of a rank of 300 MB is 2 MB; more are tables of events,
which somebody asked for as a whole."""
_DTYPES = frozenset(np.dtype(code).str for code in "bhilqBHILQfd")
"""Numbers of which columns may be made, as numpy writes their types."""


class CachedColumn(Struct, frozen=True, array_like=True):
    """The cells of a column, or the code of each into `texts`."""

    name: str
    dtype: str
    cells: bytes
    texts: tuple[bytes, ...] | None = None

    @classmethod
    def of(cls, name: str, values: Values) -> CachedColumn:
        codes = values.codes if isinstance(values, Texts) else values
        texts = tuple(map(_text_bytes, values.names)) if isinstance(values, Texts) else None
        return cls(name, codes.dtype.str, codes.tobytes(), texts)

    def values(self) -> Values:
        """What it was made of.

        Raises:
            ValueError: It is of no such column.
        """
        if self.dtype not in _DTYPES:
            raise ValueError(f"{self.name} holds {self.dtype}")
        cells: Array = np.frombuffer(self.cells, self.dtype).copy()
        if self.texts is None:
            return cells
        if len(cells) and not (cells.dtype.kind == "i" and cells.min() >= -1 and cells.max() < len(self.texts)):
            raise ValueError(f"{self.name} has a code without a text")
        return Texts(cells, tuple(text.decode("utf-8", "surrogatepass") for text in self.texts))


class CachedTable(Struct, frozen=True, tag="table"):
    """Rows of a fact."""

    fact: str
    columns: tuple[CachedColumn, ...]

    @classmethod
    def of(cls, table: Table[Any]) -> CachedTable:
        return cls(table.fact.table, tuple(CachedColumn.of(name, values) for name, values in table.columns()))

    def table(self, fact: type[Fact]) -> Table[Any]:
        """What it was made of.

        Raises:
            ValueError: It is of another fact, or its columns do not fit.
        """
        declared, data = fact.columns(), {column.name: column.values() for column in self.columns}
        fits = all(name in declared and _fits(values, declared[name].store) for name, values in data.items())
        if self.fact != fact.table or not fits or len({len(values) for values in data.values()}) > 1:
            raise ValueError(f"no rows of {fact.table}")
        return Table(fact, data)


class CachedSelection(Struct, frozen=True, tag="selected"):
    """Rows that were chosen."""

    rows: CachedTable
    stands_for: CachedColumn


class CachedLack(Struct, frozen=True, tag="lacking"):
    """Why a table is not there."""

    why: WhyLacking


_Cached = CachedTable | CachedSelection | CachedLack


def _text_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a file name that is no UTF-8 has lone surrogates


def _fits(values: Values, store: str) -> bool:
    return isinstance(values, Texts) == (store == "text")


def encode_facts(facts: RankFacts) -> bytes | None:
    """What was read and derived of a rank as bytes; None where that would be too much, or is no such thing."""
    if sum(map(_bytes_of_found, facts.values())) > MOST_BYTES:
        return None
    found = [_encode_one(asked, one) for asked, one in facts.items()]
    return None if None in found else msgspec.msgpack.encode(found)


def decode_facts(content: bytes, wanted: Sequence[WantedFact]) -> RankFacts:
    """What was encoded of these, in their order.

    Raises:
        ValueError: It is something else.
    """
    found = msgspec.msgpack.decode(content, type=list[_Cached])
    if len(found) != len(wanted):
        raise ValueError("other facts")
    return {asked: _decode_one(asked, one) for asked, one in zip(wanted, found, strict=True)}


def _bytes_of_found(found: ReadTable) -> int:
    if isinstance(found, FactMissing):
        return 0
    table = found if isinstance(found, Table) else found.rows
    return sum(_bytes_of_values(values) for _, values in table.columns())


def _bytes_of_values(values: Values) -> int:
    if isinstance(values, Texts):
        return values.codes.dtype.itemsize * len(values) + sum(map(len, values.names))
    return values.dtype.itemsize * len(values)


def _encode_one(asked: WantedFact, found: ReadTable) -> _Cached | None:
    if isinstance(found, FactMissing):
        return CachedLack(WhyLacking.of(found))
    table = found if isinstance(found, Table) else found.rows
    kinds = {(values.codes if isinstance(values, Texts) else values).dtype.str for _, values in table.columns()}
    if table.fact is not fact_of_wanted(asked) or not kinds <= _DTYPES:
        return None
    rows = CachedTable.of(table)
    return rows if isinstance(found, Table) else CachedSelection(rows, CachedColumn.of("", found.stands_for))


def _decode_one(asked: WantedFact, found: _Cached) -> ReadTable:
    if isinstance(found, CachedLack):
        return found.why.error()
    if isinstance(found, CachedTable):
        if not isinstance(asked, type):
            raise ValueError("a table where rows were chosen")  # noqa: TRY004 - what is read is of another kind
        return found.table(asked)
    rows, stands_for = found.rows.table(fact_of_wanted(asked)), found.stands_for.values()
    if isinstance(asked, type) or isinstance(stands_for, Texts) or len(rows) != len(stands_for):
        raise ValueError("chosen rows where a table was wanted")
    return Selected(rows, stands_for)
