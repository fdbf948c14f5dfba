# SPDX-License-Identifier: Apache-2.0
"""Table[F]: columns of numpy arrays that keep the promise of a Fact. Never changed in place.

Not a DataFrame: importing pandas costs more time than a small capture needs from files to report. `to_pandas`
gives one to those who work in a notebook.
"""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from threading import Lock
from typing import TYPE_CHECKING, Any, Generic, Literal, NamedTuple, TypeVar

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from advisor.facts.base import LARGEST, MISSING, Column, Fact, Store, unit_of_column
from advisor.facts.narrow import CodedColumn, EndColumn, KeptColumn, NarrowColumn, in_fewest_bytes, take_by_blocks
from advisor.messages.errors import Unclear
from advisor.messages.message import Message

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

Array = NDArray[Any]
F = TypeVar("F", bound=Fact)
T = TypeVar("T")
_FEW_NAMES = 4
"""So many names are found faster by comparing with each than by looking up what the code of a row stands for."""

_KEYS_AT_ONCE = 1 << 20
_SHORT = 1 << 17
"""So many rows at most are numbered beside a mask of them: numbers take eight times its memory."""
_MANY, _WORTH_SEEKING = 1 << 14, 4
"""From so many values on, and so many for each key, the keys are sought and not the values: a quarter to a tenth of the
time with few keys, and twice of it with as many."""
_WORTH_CODING = 1 << 18
"""Rows from which on a column of floats is looked through for whether few of them differ: then 8 bytes are 2 MiB."""
_ROUNDED_UNITS = ("share", "count", "MHz")
"""Of what profilers write with a few decimals, or none."""
_FEW_ROWS = 32
"""So many rows are looked through faster one by one than all at once, each time for all the names there are."""


_MOST: Mapping[type[np.integer[Any]], int] = {
    kind: int(np.iinfo(kind).max) for kind in (np.int8, np.int16, np.uint16, np.int32)
}
"""What numbers of these types are at most; asked for often, and NumPy works it out each time."""


def values_at(values: Array, at: Array, missing: float = MISSING) -> Array:
    """Per position: the value there, and `missing` at -1 and behind the last. Copies no more than what is asked for."""
    if not len(values):
        return np.full(len(at), missing, _type_with(values.dtype, missing))
    found = values.take(at, mode="clip")
    none = (at < 0) | (at >= len(values))
    return np.where(none, missing, found.astype(_type_with(found.dtype, missing), copy=False)) if none.any() else found


def ascending(moments: Array) -> Array:
    """These in ascending order. Moments of a recording lie nearly so, which this sort makes use of: it takes a tenth of
    the time of NumPy's default on those of some threads one after another, and a fifth more on shuffled ones."""
    found: Array = np.sort(moments, kind="stable")
    return found


def places_in_order(keys: Array, values: Array, side: Literal["left", "right"]) -> Array:
    """What `np.searchsorted` gives, faster for many values that ascend as the keys do: as moments mostly do.

    Then it is the few keys that are sought among the values, and each place stands up to the next.
    """
    many = len(values) > _MANY and _WORTH_SEEKING * len(keys) <= len(values)
    if not many or not (values[1:] >= values[:-1]).all():
        return np.searchsorted(keys, values, side)
    begins = np.searchsorted(values, keys, "right" if side == "left" else "left")
    found: Array = np.repeat(np.arange(len(keys) + 1), np.diff(begins, prepend=0, append=len(values)))
    return found


def sortable(group: Array, groups: int) -> Array:
    """The group of each row, of so many, in as few bytes as hold it: NumPy sorts numbers of 16 bits by counting them,
    in a fifth of the time."""
    return group.astype(np.uint16) if groups <= _MOST[np.uint16] else group


def stable_order(keys: Array) -> Array:
    """What a stable `np.argsort` gives of keys without NaN, in half of the time: NumPy's default sort makes use of what
    the processor has for it, and then only the rows of equal keys have to be put in order."""
    if len(keys) < _MANY:
        return np.argsort(keys, kind="stable")
    order = np.argsort(keys)
    ordered = keys.take(order)
    run = np.zeros(len(order), np.int64)
    np.cumsum(ordered[1:] != ordered[:-1], out=run[1:])
    run *= len(order)
    order += run
    order.sort()
    order -= run
    return order


def order_by_group(group: Array, groups: int, values: Array) -> Array:
    """The rows by group, of so many, and within one by value, NaN last; equal ones in no certain order."""
    by_value = np.argsort(values)
    found: Array = by_value.take(np.argsort(sortable(group, groups).take(by_value), kind="stable"))
    return found


def _type_with(kind: np.dtype[Any], missing: float) -> np.dtype[Any]:
    """The type of a column, else one that holds `missing` beside what is in it."""
    if kind.kind in "iu" and isinstance(missing, int):
        limits = np.iinfo(kind)
        return kind if limits.min <= missing <= limits.max else np.dtype(np.int64)
    return np.result_type(kind, missing)


def write_first_rows(first: Array, keys: Array, low: int = 0) -> None:
    """Writes into `first`, at each key from `low` on, the first row that holds it; some rows at a time, for keys are
    many."""
    for begin in reversed(range(0, len(keys), _KEYS_AT_ONCE)):  # of equal keys the last to be written is the first row
        part = keys[begin : begin + _KEYS_AT_ONCE]
        first[part[::-1] - low] = np.arange(begin + len(part) - 1, begin - 1, -1)


def row_type(rows: int) -> type[np.signedinteger[Any]]:
    """The narrowest type, of those worth the while, of the numbers of so many rows."""
    return np.int32 if rows <= _MOST[np.int32] else np.int64


def code_type(names: int) -> type[np.signedinteger[Any]]:
    """The narrowest type of codes for so many names; one more than each fits."""
    return np.int8 if names < _MOST[np.int8] else np.int16 if names < _MOST[np.int16] else np.int32


class Texts(Struct, frozen=True):
    """A text column: one code per row, of 32 bits or fewer, into the distinct texts; -1 is missing."""

    codes: Array
    names: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.codes)

    def values(self) -> list[str | None]:
        """The text of each row."""
        return [self.names[code] if code >= 0 else None for code in self.codes.tolist()]

    def hits(self, wanted: Iterable[object]) -> Array:
        """Per row: whether its distinct text is wanted (one truth per name); missing rows are not."""
        return self._rows_of_codes([code for code, is_wanted in enumerate(wanted) if is_wanted])

    def _rows_of_codes(self, wanted: Sequence[int]) -> Array:
        """Per row: whether its code is one of these."""
        if len(wanted) > _FEW_NAMES:
            truths = np.zeros(len(self.names) + 1, bool)  # the last one is what -1, missing, reads
            truths[wanted] = True
            return take_by_blocks(truths, self.codes)
        found = np.zeros(len(self.codes), bool)
        for code in wanted:
            found |= self.codes == code
        return found

    def isin(self, wanted: Iterable[str]) -> Array:
        """Per row: whether its text is among these."""
        return self.passing(frozenset(wanted).__contains__)

    def passing(self, test: Callable[[str], object]) -> Array:
        """Per row: whether its text passes, say a `match` of a pattern, asked once per distinct one that is in use;
        missing rows do not."""
        asked = self.in_use() if len(self.codes) < len(self.names) else self
        return asked.hits(map(test, asked.names))

    def take(self, where: Array | slice) -> Texts:
        if isinstance(where, slice) or where.dtype == bool:
            return Texts(self.codes[where], self.names)
        return Texts(self.codes.take(where), self.names)

    def at(self, rows: Array) -> Texts:
        """The texts of these rows; missing for row -1."""
        return Texts(values_at(self.codes, rows, -1), self.names)

    def places_in_order(self) -> Array:
        """Per row the place of its text among all names in order; missing comes after all."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        places = np.full(len(self.names) + 1, len(self.names))  # the last one is what -1, missing, reads
        places[order] = np.arange(len(order))
        return take_by_blocks(places, self.codes)

    def in_use(self) -> Texts:
        """The same texts without names that no row has."""
        if len(self.codes) <= _FEW_ROWS:
            return self._in_use_by_few()
        place = np.zeros(len(self.names) + 1, np.int32)  # the last one is what -1, missing, reads
        place[self.codes] = 1
        place[-1] = 0
        used = np.flatnonzero(place)
        place[used] = np.arange(len(used))
        place[-1] = -1
        return Texts(take_by_blocks(place, self.codes), tuple(self.names[code] for code in used.tolist()))

    def _in_use_by_few(self) -> Texts:
        """The same, without a step for each of the names: there may be far more of them than rows."""
        codes = self.codes.tolist()
        used = sorted({code for code in codes if code >= 0})
        place = {-1: -1, **{code: number for number, code in enumerate(used)}}
        return Texts(np.array([place[code] for code in codes], np.int32), tuple(self.names[code] for code in used))

    def by_name(self) -> Texts:
        """The same texts numbered in order of their names, so that no order hangs on which was met first."""
        order = sorted(range(len(self.names)), key=self.names.__getitem__)
        if order == list(range(len(order))):
            return self
        place = np.empty(len(order) + 1, code_type(len(order)))
        place[order] = np.arange(len(order))
        place[-1] = -1
        return Texts(take_by_blocks(place, self.codes), tuple(self.names[code] for code in order))

    def narrow(self) -> Texts:
        """The same texts with codes in as few bytes as hold them, for the longest columns; one more than each fits."""
        return Texts(self.codes.astype(code_type(len(self.names)), copy=False), self.names)

    @classmethod
    def of(cls, values: Iterable[str | None]) -> Texts:
        """From plain texts, distinct ones numbered in order of appearance."""
        index: dict[str, int] = {}
        codes = [-1 if value is None else index.setdefault(value, len(index)) for value in values]
        return cls(np.array(codes, np.int32), tuple(index))

    @classmethod
    def constant(cls, value: str | None, length: int) -> Texts:
        if value is None:
            return _missing_texts(length)
        return cls(np.zeros(length, np.int32), (value,))

    @classmethod
    def concat(cls, parts: Sequence[Texts]) -> Texts:
        """One after another, with one numbering: of their names where those of each part are in order, else as they
        are met."""
        if not any(part.names for part in parts):
            return _missing_texts(sum(map(len, parts)))
        met = {id(part.names): part.names for part in parts}  # parts of one table share them: they are many to hash
        different = dict.fromkeys(met.values())
        some = [names for names in different if names]
        if len(some) == 1:
            return cls(np.concatenate([part.codes for part in parts]).astype(np.int32, copy=False), some[0])
        every = [*dict.fromkeys(name for names in different for name in names)]
        if all([*names] == sorted(names) for names in different):
            every.sort()
        index = {name: code for code, name in enumerate(every)}
        lookups = {place: np.array([*map(index.__getitem__, names), -1], np.int32) for place, names in met.items()}
        return cls(np.concatenate([lookups[id(part.names)][part.codes] for part in parts]), tuple(every))


@lru_cache(maxsize=1 << 12)
def _missing_texts(length: int) -> Texts:
    """A text column in which nothing is known."""
    return Texts(_constant(np.array(-1, np.int32), length), ())


Values = Array | Texts
_Stored = Values | KeptColumn
MomentColumn = Array | EndColumn
"""A column of moments, as it is kept: `[rows]` and `take(rows)` are arrays."""
_NOT_YET = object()


class _Made:
    """What is made of a table once, by one thread at a time."""

    def __init__(self, others: tuple[object, ...], *, for_now: bool) -> None:
        self.others = others  # kept, for an id is theirs while they are
        self.for_now = for_now
        self.value: Any = _NOT_YET
        self._lock = Lock()

    def __enter__(self) -> _Made:
        self._lock.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self._lock.release()


def _key_of(make: Callable[..., Any], others: tuple[object, ...]) -> tuple[object, ...]:
    return make, *(one if isinstance(one, int) else id(one) for one in others)


class Table(Generic[F]):
    """The rows of one fact. `table["rank"]` is an array, `table.texts("op_type")` a text column."""

    __slots__ = ("_data", "_length", "_made", "fact")

    def __init__(self, fact: type[F], data: Mapping[str, _Stored]) -> None:
        """Use `Table.build`; this trusts what it is given."""
        self.fact = fact
        self._data: dict[str, _Stored] = dict(data)
        self._length = len(next(iter(data.values()))) if data else 0
        self._made: dict[tuple[object, ...], _Made] = {}

    def __reduce__(self) -> tuple[type[Table[F]], tuple[type[F], Mapping[str, _Stored]]]:
        return Table, (self.fact, self._data)

    @classmethod
    def build(cls, fact: type[F], **columns: Any) -> Table[F]:
        """A table from arrays, sequences or one value for all rows; columns left out are missing in every row.

        Text columns take `Texts` or an iterable of `str | None`; numbers anything numpy can convert, or what is narrow.

        Raises:
            ValueError: A name is not a column of the fact, or lengths differ.
        """
        declared = fact.columns()
        unknown = columns.keys() - declared.keys()
        if unknown:
            raise ValueError(f"{fact.table} has no column {sorted(unknown)}")
        lengths = {len(v) for v in columns.values() if not isinstance(v, str | int | float | None)}
        if len(lengths) > 1:
            raise ValueError(f"{fact.table}: columns of different lengths {sorted(lengths)}")
        length = lengths.pop() if lengths else 1 if columns else 0
        return cls(fact, {name: _column_values(column, columns.get(name), length) for name, column in declared.items()})

    @classmethod
    def of_rows(cls, fact: type[F], rows: Array, columns: dict[str, Any]) -> Table[F]:
        """These rows of such columns. The mapping is emptied: each column is let go as its rows are taken."""
        taken = {name: _rows_of(columns.pop(name), rows) for name in [*columns]}
        return cls.build(fact, **taken)

    @classmethod
    def empty(cls, fact: type[F]) -> Table[F]:
        return cls.build(fact)

    @classmethod
    def concat(cls, fact: type[F], tables: Iterable[Table[F]]) -> Table[F]:
        """The rows of all, one after another."""
        parts = list(tables)
        if not parts:
            return cls.empty(fact)
        if len(parts) == 1:
            return parts[0]
        data: dict[str, _Stored] = {}
        for name in parts[0]._data:
            if fact.columns()[name].store == "text":
                data[name] = Texts.concat([part.texts(name) for part in parts])
            else:
                data[name] = _joined([part[name] for part in parts])
        return cls(fact, data)

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, name: str) -> Array:
        """A column that is not text (see `facts.base` for how it is stored, and what stands for missing).

        Of a table that is kept narrow, whole numbers are made anew each time.
        """
        found = self._data[name]
        if isinstance(found, np.ndarray):
            return found
        if isinstance(found, Texts):
            raise TypeError(f"{self.fact.table}.{name} is text; use texts()")
        return found.at(slice(None))

    def at(self, name: str, rows: Array | slice) -> Array:
        """A column that is not text, in these rows alone."""
        found = self._data[name]
        return self[name][rows] if isinstance(found, np.ndarray | Texts) else found.at(rows)

    def moments(self, name: str) -> MomentColumn:
        """A column of moments, to take some of them at a time: of a long table that is kept narrow nothing is made."""
        found = self._data[name]
        return found if isinstance(found, EndColumn) else self[name]

    def isin(self, name: str, values: Collection[int]) -> Array:
        """Per row: whether a column of whole numbers holds one of these."""
        found = self._data[name]
        if isinstance(found, KeptColumn):
            return found.isin(values)
        return np.isin(self[name], list(values))

    def columns(self) -> Iterable[tuple[str, Values]]:
        """The columns that are there, with their names."""
        return ((name, found if isinstance(found, Texts) else self[name]) for name, found in self._data.items())

    def texts(self, name: str) -> Texts:
        """A text column."""
        found = self._data[name]
        if not isinstance(found, Texts):
            raise TypeError(f"{self.fact.table}.{name} is not text")
        return found

    def once(self, make: Callable[..., T], *others: object) -> T:
        """What a function makes of this table and others: made when first asked for, and kept as long as this table.

        Threads that ask for the same wait for the one that was first. Numbers, such as a rank, count by their value.
        """
        return self._make_once(make, others, for_now=False)

    def once_for_now(self, make: Callable[..., T], *others: object) -> T:
        """The same, for what takes as much memory as columns and little time to make: kept until `forget_for_now`."""
        return self._make_once(make, others, for_now=True)

    def _make_once(self, make: Callable[..., T], others: tuple[object, ...], *, for_now: bool) -> T:
        key = _key_of(make, others)
        with self._made.setdefault(key, _Made(others, for_now=for_now)) as made:
            if made.value is _NOT_YET:
                made.value = make(self, *others)
            found: T = made.value
        return found

    def forget_one(self, make: Callable[..., Any], *others: object) -> None:
        """Lets go of what one function made of this table and these others."""
        self._made.pop(_key_of(make, others), None)

    def forget_for_now(self) -> None:
        """Lets go of what was made with `once_for_now`; who asks for it next has it made anew."""
        for version in self._versions():
            for key, one in list(version._made.items()):  # other threads may add to it
                if one.for_now:
                    version._made.pop(key, None)

    def forget(self, others: Iterable[Table[Any]] = ()) -> None:
        """Lets go of what was made once of this table, also of one of these others beside it.

        What is made holds what it is made of: this table would be kept as long as the longest of the others.
        """
        versions = self._versions()
        gone = {id(one) for one in versions}
        for other in others:
            for version in other._versions() if other._made else ():
                version._forget_made_with(gone)
        for version in versions:
            version._made.clear()

    def _versions(self) -> list[Table[Any]]:
        """This table, and the tables that were made of it."""
        return [self, *(one.value for one in list(self._made.values()) if isinstance(one.value, Table))]

    def _forget_made_with(self, gone: Collection[int]) -> None:
        for key, one in list(self._made.items()):  # other threads may add to it
            if any(id(other) in gone for other in one.others):
                self._made.pop(key, None)
                if isinstance(one.value, Table):  # what is made of it holds it in turn
                    one.value._made.clear()

    def floats(self, name: str) -> Array:
        """A column as float64 with NaN for missing. Subtract absolute times first: 2**53 ns are 104 days."""
        values = self[name]
        if values.dtype == np.float64:
            return values
        missing = self.fact.columns()[name].missing
        out = values.astype(np.float64)
        out[values == missing] = np.nan
        return out

    def take(self, where: Array) -> Table[F]:
        """The rows at these positions, or where a mask is true."""
        rows = int(np.count_nonzero(where)) if where.dtype == bool else len(where)
        if rows == len(self) and (where.dtype == bool or _is_every_row(where)):
            return self
        if where.dtype == bool and len(where) <= _SHORT:  # once, and not for each column
            where = np.flatnonzero(where)
        return Table(self.fact, {name: _taken(values, where, rows) for name, values in self._data.items()})

    def part(self, start: int, end: int) -> Table[F]:
        """The rows between two positions, without a copy: they are kept as long as any part of the table is."""
        if start == 0 and end >= len(self):
            return self
        rows = slice(start, end)
        return Table(self.fact, {name: _part_of(values, rows) for name, values in self._data.items()})

    def narrow(self) -> Table[F]:
        """The same rows in fewer bytes, for the longest tables: whole numbers that are no times, and codes of texts, in
        as few as hold them, ends by how long it was until then, and a column that is the same all over in none.
        """
        declared, moment = self.fact.columns(), self.fact.moment
        kept = {name: _narrowed(values, declared[name]) for name, values in self._data.items()}
        if moment is not None and moment.end and len(self) >= _WORTH_CODING:
            start, end = kept[moment.start], kept[moment.end]
            if isinstance(start, np.ndarray) and isinstance(end, np.ndarray):
                kept[moment.end] = EndColumn.of(start, end) or end
        return Table(self.fact, kept)

    def by_name(self) -> Table[F]:
        """The same rows, their texts numbered in order of their names (`Texts.by_name`)."""
        data = {name: values.by_name() if isinstance(values, Texts) else values for name, values in self._data.items()}
        return Table(self.fact, data)

    def only(self, names: Collection[str], where: Array | None = None) -> Table[F]:
        """The same rows, or those at these positions, with these columns alone, holding nothing else; other columns
        cannot be asked for."""
        kept = {name: values for name, values in self._data.items() if name in names}
        if where is not None:
            kept = Table(self.fact, kept).take(where)._data
        return Table(self.fact, {n: v.in_use() if isinstance(v, Texts) else v for n, v in kept.items()})

    def sorted_by(self, *names: str) -> Table[F]:
        """Rows in ascending order of these columns, the first one leading; equal rows keep their order."""
        return self.take(np.lexsort([self[n] for n in reversed(names)]))

    def having(self, **columns: Any) -> Table[F]:
        """The same rows with some columns replaced."""
        declared = self.fact.columns()
        new = {name: _column_values(declared[name], value, len(self)) for name, value in columns.items()}
        return Table(self.fact, {**self._data, **new})

    def rows(self, limit: int | None = None) -> list[dict[str, object]]:
        """Rows as plain values, None where missing; for tests, excerpts and people, not for a million rows."""
        head = self if limit is None or limit >= len(self) else self.take(np.arange(limit))
        lists = {name: head._plain_values(name) for name in self._data}
        return [dict(zip(lists, cells, strict=True)) for cells in zip(*lists.values(), strict=True)]

    def cells(self, names: Sequence[str]) -> Iterator[tuple[object, ...]]:
        """These columns row by row, as plain values."""
        return zip(*(self._plain_values(name) for name in names), strict=True)

    def _plain_values(self, name: str) -> list[object]:
        column = self.fact.columns()[name]
        if column.store == "text":
            return list(self.texts(name).values())
        found = self[name]
        if column.store == "float":
            return [None if math.isnan(value) else value for value in found.tolist()]
        if column.store == "flag":
            return [None if value < 0 else bool(value) for value in found.tolist()]
        return [None if value == MISSING else value for value in found.tolist()]

    def to_pandas(self) -> pd.DataFrame:
        """The table as a DataFrame: nullable integers and truths, categoricals, floats; missing is NA or NaN."""
        import pandas as pd  # costs 260 ms, wanted only in notebooks

        series: dict[str, Any] = {}
        columns = dict(self.columns())
        for name, column in self.fact.columns().items():
            found = columns[name]
            if isinstance(found, Texts):
                texts = _escape_texts(found)
                series[name] = pd.Categorical.from_codes(texts.codes, categories=pd.Index(texts.names))
            elif column.store == "float":
                series[name] = found
            elif column.store == "flag":
                series[name] = pd.arrays.BooleanArray(found == 1, found < 0)
            else:
                series[name] = pd.arrays.IntegerArray(found.copy(), found == MISSING)
        return pd.DataFrame(series)

    def to_arrow(self) -> pa.Table:
        """The table as an Arrow table: missing is null, texts are dictionaries; fields carry unit and meaning."""
        import pyarrow as pa

        columns = self.fact.columns().items()
        fields = [(name, {"unit": unit_of_column(name, column), "meaning": column.doc}) for name, column in columns]
        arrays = [self._arrow_array(name, pa) for name, _ in columns]
        schema = pa.schema([pa.field(n, a.type, metadata=m) for (n, m), a in zip(fields, arrays, strict=True)])
        return pa.table(arrays, schema=schema)

    @classmethod
    def from_arrow(cls, fact: type[F], found: pa.Table) -> Table[F]:
        """The rows of what `to_arrow` made; columns that are left out are missing, others are passed over.

        Raises:
            ValueError: A column has another type, or holds a number that nobody measured.
        """
        declared = fact.columns()
        read = {name: _values_of_arrow(declared[name], found[name]) for name in found.column_names if name in declared}
        if not read:
            raise ValueError(f"none of its columns is one of {fact.table}")
        return cls.build(fact, **read)

    def _arrow_array(self, name: str, pa: Any) -> Any:
        if self.fact.columns()[name].store == "text":
            texts = _escape_texts(self.texts(name))
            codes = pa.array(texts.codes, pa.int32(), mask=texts.codes < 0)
            return pa.DictionaryArray.from_arrays(codes, pa.array(texts.names, pa.string()))
        found = self[name]
        if found.dtype == np.float64:
            return pa.array(found, mask=np.isnan(found))
        if found.dtype == np.int8:
            return pa.array(found == 1, mask=found < 0)
        return pa.array(found, mask=found == MISSING)

    def __repr__(self) -> str:
        return f"<{self.fact.table}: {len(self)} rows>"


def _escape_texts(texts: Texts) -> Texts:
    """The same texts where some cannot be encoded, such as a file name that is no UTF-8: those with an escape."""
    try:
        "".join(texts.names).encode()
    except UnicodeEncodeError:
        written = Texts.of(name.encode("utf-8", "backslashreplace").decode() for name in texts.names)
        return written.at(texts.codes)
    return texts


def _values_of_arrow(column: Column, found: pa.ChunkedArray) -> Values:
    """The cells of a column as they are stored here."""
    import pyarrow as pa

    types, kind = pa.types, found.type
    fits = {
        "text": types.is_dictionary(kind) and types.is_string(kind.value_type),
        "int": types.is_int64(kind),
        "float": types.is_float64(kind),
        "flag": types.is_boolean(kind),
    }
    if not fits[column.store]:
        raise ValueError(f"{column.name} holds {kind}")
    if column.store == "text":
        return _texts_of_arrow(column, found)
    whole = found.cast(pa.int8()) if column.store == "flag" else found
    values: Array = whole.fill_null(column.missing).to_numpy()
    if column.store == "float" and (np.abs(values) > LARGEST).any():
        raise ValueError(f"{column.name} holds a number that nobody measured")
    return values


def _texts_of_arrow(column: Column, found: pa.ChunkedArray) -> Texts:
    import pyarrow as pa

    if not found.num_chunks:
        return Texts.constant(None, 0)
    whole = found.unify_dictionaries().combine_chunks()
    names = tuple(whole.dictionary.to_pylist())
    if len(set(names)) < len(names) or None in names:
        raise ValueError(f"{column.name} has a text twice")
    return Texts(whole.indices.fill_null(-1).cast(pa.int32()).to_numpy(zero_copy_only=False), names)


def _column_values(column: Column, value: Any, length: int) -> _Stored:
    if column.store == "text":
        if value is None or isinstance(value, str):
            return Texts.constant(value, length)
        return value if isinstance(value, Texts) else Texts.of(value)
    if isinstance(value, KeptColumn):
        return value
    if value is None:
        return _missing_cells(column.store, length)
    if isinstance(value, np.ndarray):
        return value if value.dtype == column.dtype else value.astype(column.dtype)
    if isinstance(value, int | float):
        return _constant(np.array(value, column.dtype), length)
    return np.array([column.missing if v is None else v for v in value], column.dtype)


@lru_cache(maxsize=1 << 12)
def _missing_cells(store: Store, length: int) -> Array:
    """A column in which nothing is known."""
    nothing = Column("", store)
    return _constant(np.array(nothing.missing, nothing.dtype), length)


def _constant(cell: Array, length: int) -> Array:
    """One cell seen `length` times: a constant column takes no memory."""
    return np.ndarray(length, cell.dtype, cell.tobytes(), strides=(0,))


def _is_every_row(where: Array) -> bool:
    """Whether these are all rows in their order."""
    return len(where) == 0 or (where[0] == 0 and bool((np.diff(where) == 1).all()))


def _is_constant(values: Array) -> bool:
    return values.strides == (0,) and len(values) > 0


def _taken(values: _Stored, where: Array, rows: int) -> _Stored:
    if not isinstance(values, np.ndarray):
        return values.take(where)
    if _is_constant(values):
        return _constant(values[0], rows)
    return values[where] if where.dtype == bool else values.take(where)


def _rows_of(values: Any, rows: Array) -> Any:
    """These rows of a column; a value that stands for all rows as it is."""
    return _taken(values, rows, len(rows)) if isinstance(values, np.ndarray | Texts | KeptColumn) else values


def _part_of(values: _Stored, rows: slice) -> _Stored:
    if isinstance(values, EndColumn):
        return values.part(rows)
    return values[rows] if isinstance(values, np.ndarray) else values.take(rows)


def _narrowed(values: _Stored, column: Column) -> _Stored:
    """A column in fewer bytes. Times stay as they are: they span more than 32 bits, and are asked for most."""
    if isinstance(values, Texts):
        return values.narrow()
    if isinstance(values, NarrowColumn) and len(values) >= _WORTH_CODING:
        return in_fewest_bytes(values)
    if not isinstance(values, np.ndarray) or not len(values):
        return values
    if (values == values[0]).all() or (column.store == "float" and np.isnan(values).all()):
        return _constant(values[0], len(values))
    if column.store == "float" and column.unit in _ROUNDED_UNITS and len(values) >= _WORTH_CODING:
        return CodedColumn.of(values) or values
    if column.store != "int" or column.unit == "ns":
        return values
    found = NarrowColumn.of(values)
    return values if found.cells is values else _narrowed(found, column)


def _joined(parts: Sequence[Array]) -> Array:
    if all(map(_is_constant, parts)) and all(part[0] == parts[0][0] for part in parts):
        return _constant(parts[0][0], sum(map(len, parts)))
    return np.concatenate(parts)


def read_table(fact: type[F], text: str) -> Table[F]:
    """A table as a person writes it: a header, then one row per line; `xN` at the end repeats a row.

    Cells are separated by blanks, quoted where they hold one; `-` is missing. Columns left out are missing,
    but for `rank` and `step`, which are 0 and 1.

    Raises:
        Unclear: A heading is not a column, a row has too many or too few cells, or a cell is no number; with its place.
    """
    header, *lines = list(_written_rows(text)) or [_WrittenRow(0, "", [])]
    declared = fact.columns()
    for name in header.cells:
        if name not in declared:
            what, hint = (
                Message("no_column", table=fact.table, name=name),
                Message("table_has", names=", ".join(declared)),
            )
            raise Unclear(what, hint, header.place_of(name))
    rows: list[list[str | float | int | None]] = []
    for line in lines:
        cells, times = line.cells, 1
        if len(cells) == len(header.cells) + 1 and re.fullmatch(r"x\d+", cells[-1]):
            cells, times = cells[:-1], int(cells[-1][1:])
        if len(cells) != len(header.cells):
            counts = {"cells": len(cells), "headings": len(header.cells)}
            what = Message("cells_not_headings", table=fact.table, **counts, row=" ".join(cells))
            too_few = len(cells) < len(header.cells)
            raise Unclear(what, Message("dash_is_missing") if too_few else None, at=line.at)
        try:
            row = [_parse_cell(declared[name], cell) for name, cell in zip(header.cells, cells, strict=True)]
        except _UnclearCell as unclear:
            raise Unclear(unclear.what, at=line.place_of(unclear.cell)) from None
        rows += [row] * times
    columns: dict[str, Any] = {name: [row[i] for row in rows] for i, name in enumerate(header.cells)}
    for name, default in (("rank", 0), ("step", 1)):
        if name in declared and name not in columns:
            columns[name] = [default] * len(rows)
    return Table.build(fact, **columns)


class _WrittenRow(NamedTuple):
    """A line of a table as written: where it begins in the text, and its cells."""

    at: int
    line: str
    cells: list[str]

    def place_of(self, cell: str) -> int:
        """Where a cell stands in the text; where the line begins if it is written otherwise."""
        return self.at + next((word.start() for word in re.finditer(r"\S+", self.line) if word[0] == cell), 0)


def _written_rows(text: str) -> Iterator[_WrittenRow]:
    """The lines of a table that hold anything.

    Raises:
        Unclear: A quote has no end.
    """
    at = 0
    for whole in text.splitlines(keepends=True):
        line, begin = whole.strip(), at + len(whole) - len(whole.lstrip())
        at += len(whole)
        if not line:
            continue
        try:
            yield _WrittenRow(begin, line, split_cells(line, comments=True))
        except Unclear as unclear:
            raise Unclear(unclear.what, unclear.hint, begin) from None


class _UnclearCell(Unclear):
    """A cell is no value of its column."""

    def __init__(self, what: Message, cell: str) -> None:
        self.cell = cell
        super().__init__(what)


def split_cells(words: str, *, comments: bool = False) -> list[str]:
    """The words between blanks; what stands in quotes is one.

    Raises:
        Unclear: A quote has no end, or nothing follows a backslash.
    """
    try:
        return shlex.split(words, comments=comments)
    except ValueError:
        raise Unclear(Message("quotes_do_not_match", line=words)) from None


def _parse_cell(column: Column, cell: str) -> str | float | int | None:
    if cell == "-":
        return None
    if column.store == "text":
        return cell
    if column.store == "flag":
        if cell not in ("true", "false"):
            raise _UnclearCell(Message("cell_is_flag", column=column.name, given=cell), cell)
        return int(cell == "true")
    try:
        return int(cell) if column.store == "int" else float(cell)
    except ValueError:
        raise _UnclearCell(Message("cell_is_number", column=column.name, given=cell), cell) from None
