# SPDX-License-Identifier: Apache-2.0
"""Numbers of a SQLite table, decoded from the pages of its file for many rows at once. Knows no fact.

SQLite gives one cell at a time; here all cells of a column in a megabyte of pages are one gather and one shift. What is
usual is decoded and nothing else: leaves whose records are whole, with whole numbers, floats, NULL and digits. At the
first page or row that is otherwise, reading ends, and SQLite has to say what it is: nothing here tells of damage.
Layout: <https://www.sqlite.org/fileformat2.html>.
"""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Iterator, Mapping
from io import FileIO
from pathlib import Path
from typing import Literal, cast

import numpy as np
from msgspec import Struct

from advisor.facts.base import MISSING
from advisor.facts.table import Array
from advisor.machine.regular_files import open_regular
from advisor.sources.files.statements import all_rows
from advisor.sources.files.write_ahead_log import log_bytes

Kind = Literal["integer", "float", "cell"]
"""What is wanted of a column: whole numbers, numbers, or whole numbers and texts as they come."""
NumberBlock = tuple[Array, list[Array]]
"""The numbers of some rows, and their cells column by column: int64, of floats float64, missing where NULL."""

BATCH_BYTES = 1 << 20
"""Pages that are decoded together."""
_INTERIOR, _LEAF = 5, 13
_LEAF_HEAD, _INTERIOR_HEAD = 8, 12
_DEEPEST = 20
"""Levels of pages that SQLite follows."""
_SPILLS = 35
"""A record that leaves fewer bytes of its page than this has a part on another one."""
_WORD = 8
_MORE = 128
"""Set in each byte of a number but the last."""
_MOST_COLUMNS = 120
"""Of so many the head of a record says in one byte how long it is."""
_LONGEST_NUMBER = 19
"""Digits that fit 64 bits."""

_NULL, _FLOAT, _ZERO, _ONE, _FIRST_BLOB, _FIRST_TEXT = 0, 7, 8, 9, 12, 13
_TYPES = np.arange(128)
"""How one byte says what a cell is: a number of 1 to 8 bytes, a float, 0, 1, or from 12 on a blob or text by length."""
_NUMBER_BYTES = np.array([0, 1, 2, 3, 4, 6, 8, 8] + [0] * 120)
_RESERVED = (_TYPES > _ONE) & (_TYPES < _FIRST_BLOB)
_UNUSUAL = 255
"""Of how many bytes a cell is called whose type takes more than one byte, or is reserved."""
_TYPE_BYTES = np.where(_TYPES < _FIRST_BLOB, _NUMBER_BYTES, (_TYPES - _FIRST_BLOB) // 2).astype(np.uint8)
_TYPE_BYTES[_RESERVED] = _UNUSUAL
_BYTES_BY_TYPE = _TYPE_BYTES.tobytes().ljust(256, bytes([_UNUSUAL]))
_SHIFTS = np.array([63, 56, 48, 40, 32, 16, 0, 0, 63, 63] + [0] * 118, np.int64)
"""By type: how far a word that begins with the cell is moved to hold it alone."""
_WHOLE = (_TYPES <= _ONE) & (_TYPES != _FLOAT)
_NUMBER = _TYPES <= _ONE
_DIGITS = _WHOLE | ((_TYPES % 2 == 1) & (_TYPES > _FIRST_TEXT) & (_TYPES <= _FIRST_TEXT + 2 * _LONGEST_NUMBER))


class UnusualPageError(Exception):
    """What comes next is nothing that is decoded here."""


class StoredTable(Struct, frozen=True):
    """Where the rows of a table lie."""

    path: Path
    root: int
    page_bytes: int
    used_bytes: int
    """Of a page, without what is reserved at its end."""
    pages: int
    columns: int
    places: Mapping[str, int]
    """By name: the place of a column in a record."""
    numbering: str | None
    """The column that is the number of the row, and lies in no record."""
    as_floats: frozenset[str]
    """Columns whose whole numbers are read as floats."""
    plain_text: bool
    """Whether texts are UTF-8."""


def stored_table(connection: sqlite3.Connection, table: str) -> StoredTable | None:
    """Where the rows of a table lie; None for views and for what is computed or in a log.

    Raises:
        sqlite3.Error: The database cannot be asked.
    """
    stored = "SELECT rootpage FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND lower(name) = lower(?)"
    found, fields = (
        all_rows(connection, stored, (table,)),
        all_rows(connection, f"PRAGMA table_xinfo({quote_name(table)})"),
    )
    path = Path(all_rows(connection, "PRAGMA database_list")[0][2])
    names = [name for _, name, *_ in fields]
    computed = any(hidden for *_, hidden in fields)
    if len(found) != 1 or computed or "rowid" in map(str.lower, names) or len(names) > _MOST_COLUMNS or log_bytes(path):
        return None
    ask = {name: all_rows(connection, f"PRAGMA {name}")[0][0] for name in ("page_size", "page_count", "encoding")}
    with open_regular(path) as file:
        reserved = file.read(21)[-1]
    keys = [(name, kind) for _, name, kind, _, _, key, *_ in fields if key]
    # where the key is not the number of the row itself, SQLite keeps an index of it
    own = any(row[3] == "pk" for row in all_rows(connection, f"PRAGMA index_list({quote_name(table)})"))
    return StoredTable(
        path=path,
        root=int(found[0][0]),
        page_bytes=int(ask["page_size"]),
        used_bytes=int(ask["page_size"]) - reserved,
        pages=int(ask["page_count"]),
        columns=len(fields),
        places={name: place for place, name in enumerate(names)},
        numbering=keys[0][0] if len(keys) == 1 and not own else None,
        as_floats=frozenset(name for _, name, kind, *_ in fields if _has_float_affinity(kind)),
        plain_text=ask["encoding"] == "UTF-8",
    )


def quote_name(name: str) -> str:
    """A name of a table or column as SQL spells it."""
    return '"' + name.replace('"', '""') + '"'


def _has_float_affinity(kind: str) -> bool:
    """Whether whole numbers in a column declared so are read as floats: https://www.sqlite.org/datatype3.html"""
    return not re.search("INT|CHAR|CLOB|TEXT|BLOB", kind, re.IGNORECASE) and bool(
        re.search("REAL|FLOA|DOUB", kind, re.IGNORECASE)
    )


def number_blocks(stored: StoredTable, wanted: Mapping[str, Kind], after: int) -> Iterator[NumberBlock]:
    """The rows behind a number, in the order in which they lie.

    Raises:
        UnusualPageError: The next row is none that is decoded here.
        OSError: The file cannot be read.
    """
    if any(kind != "float" and name in stored.as_floats for name, kind in wanted.items()):
        raise UnusualPageError
    with open_regular(stored.path) as file:
        pages, first = _Pages(stored, cast("FileIO", file.raw)), True
        for leaves in _batches(pages.leaves(after), max(1, BATCH_BYTES // stored.page_bytes)):
            rows = _Rows(stored, pages.read(leaves), len(leaves))
            ids, columns = rows.decode(wanted)
            begin = int(np.searchsorted(ids, after, "right")) if first else 0
            first = first and begin == len(ids)
            if begin < len(ids):
                yield ids[begin:], [cells[begin:] for cells in columns]
            if not rows.whole:
                raise UnusualPageError


def _batches(leaves: Iterator[Array], most: int) -> Iterator[Array]:
    """Numbers of pages, about so many at a time."""
    held, count = [np.empty(0, np.int64)], 0
    for some in leaves:
        held.append(some)
        count += len(some)
        if count >= most:
            together = np.concatenate(held)
            ends = count // most * most
            yield from together[:ends].reshape(-1, most)
            held, count = [together[ends:]], count - ends
    if count:
        yield np.concatenate(held)


class _Pages:
    """The pages of a table, of which each is read once."""

    def __init__(self, stored: StoredTable, file: FileIO) -> None:
        self._stored, self._file = stored, file
        self._left = stored.pages
        self._content: Array = np.empty(0, np.uint8)

    def read(self, numbers: Array) -> Array:
        """The pages with these numbers one behind the other, and some bytes more; good until the next are read.

        Raises:
            UnusualPageError: There is no such page, or more are read than there are.
        """
        size, length = self._stored.page_bytes, len(numbers)
        self._left -= length
        # the first page begins with the head of the file
        if self._left < 0 or not length or int(numbers.min()) < 2 or int(numbers.max()) > self._stored.pages:  # noqa: PLR2004
            raise UnusualPageError
        if len(self._content) < length * size + _SPARE:
            self._content = np.zeros(length * size + _SPARE, np.uint8)
        cuts = [0, *(np.flatnonzero(np.diff(numbers) != 1) + 1).tolist(), length]
        for begin, end in itertools.pairwise(cuts):
            self._file.seek((int(numbers[begin]) - 1) * size)
            part = self._content.data[begin * size : end * size]
            while len(part):
                if not (read := self._file.readinto(part)):
                    raise UnusualPageError
                part = part[read:]
        return self._content

    def leaves(self, after: int) -> Iterator[Array]:
        """The numbers of the pages with rows behind a number, some at a time, in the order of the rows."""
        return self._below(self._stored.root, after, _DEEPEST)

    def _below(self, number: int, after: int, levels: int) -> Iterator[Array]:
        if not levels:
            raise UnusualPageError
        self._left += 1  # a leaf is counted when its rows are read
        page = self.read(np.array([number]))
        if page[0] != _INTERIOR:
            yield np.array([number])
            return
        self._left -= 1
        children = self._children(page, after)
        if self._type_of(int(children[0])) == _INTERIOR:
            for child in children.tolist():
                yield from self._below(child, after, levels - 1)
        else:
            yield children

    def _type_of(self, number: int) -> int:
        self._left += 1
        return int(self.read(np.array([number]))[0])

    def _children(self, page: Array, after: int) -> Array:
        """The pages below an interior page that hold rows behind a number."""
        count = int(_words(page, ">u2")[3])
        if not 1 <= count <= (self._stored.used_bytes - _INTERIOR_HEAD) // 2:
            raise UnusualPageError
        cells = _words(page, ">u2")[_INTERIOR_HEAD + 2 * np.arange(count)].astype(np.int64)
        if ((cells < _INTERIOR_HEAD + 2 * count) | (cells > self._stored.used_bytes - 5)).any():
            raise UnusualPageError
        last_of_child, _, good = _numbers_of_rows(page, cells + 4)
        children = np.append(_words(page, ">u4")[cells], _words(page, ">u4")[8]).astype(np.int64)
        if good < count or (np.diff(last_of_child) <= 0).any():
            raise UnusualPageError
        return children[np.searchsorted(last_of_child, after, "right") :]


_SPARE = 2 * 128 + 4 * _WORD
"""Bytes behind the pages, so that what a record says can be looked at before it is known that it is whole."""


def _words(content: Array, kind: str) -> Array:
    """What a number that begins at each byte is."""
    return np.ndarray(len(content) - _WORD + 1, kind, content, strides=(1,))


class _Rows:
    """The records of some leaves."""

    def __init__(self, stored: StoredTable, content: Array, pages: int) -> None:
        self._stored, self._content = stored, content
        self.whole = True
        """Whether all rows are decoded, and not only those before an unusual one."""
        self._at, self._end, self._counts = self._starts(pages)

    def _cut(self, good: int) -> None:
        """Only so many rows are usual."""
        if good < len(self._at):
            self.whole = False
            self._at, self._end = self._at[:good], self._end[:good]

    def _starts(self, pages: int) -> tuple[Array, Array, Array]:
        """Where each record begins, and where its page ends; how many each page holds."""
        size, used = self._stored.page_bytes, self._stored.used_bytes
        begins = np.arange(pages) * size
        counts = _words(self._content, ">u2")[begins + 3].astype(np.int64)
        # to SQLite a page without cells is damaged, unless the table has no other
        good = _first((self._content[begins] != _LEAF) | (counts < 1) | (counts > (size - _LEAF_HEAD) // 6))
        begins, counts = begins[:good], counts[:good]
        page = np.repeat(begins, counts)
        place = np.arange(len(page)) - np.repeat(np.cumsum(counts) - counts, counts)
        cell = _words(self._content, ">u2")[page + _LEAF_HEAD + 2 * place]
        rows = _first((cell < _LEAF_HEAD + 2 * np.repeat(counts, counts)) | (cell > used - 4))
        self.whole = good == pages and rows == len(page)
        return (page + cell)[:rows], (page + used)[:rows], counts

    def decode(self, wanted: Mapping[str, Kind]) -> NumberBlock:
        """The numbers of the rows, and the columns wanted, up to the first row that is unusual."""
        size, at = self._sizes()
        ids, at, good = _numbers_of_rows(self._content, at)
        self._cut(good)
        types, ends, at = self._heads(at[:good], size[:good])
        found: list[Array] = []
        good = len(self._at)
        for name, kind in wanted.items():
            place = self._stored.places[name]
            if name == self._stored.numbering:
                good = min(good, _first(types[place] != _NULL))
                found.append(ids.astype(np.float64) if kind == "float" else ids)
                continue
            begin = at + ends[place - 1] if place else at
            cells, usual = self._column(begin, types[place], kind)
            good = min(good, usual)
            found.append(cells)
        self._cut(good)
        good = good if self.whole else self._rows_of_whole_pages(good)
        return ids[:good], [cells[:good] for cells in found]

    def _rows_of_whole_pages(self, rows: int) -> int:
        """So many of the first rows lie on pages that hold no unusual one: SQLite then meets these from their start."""
        ends = np.cumsum(self._counts)
        return int(np.append(0, ends)[np.searchsorted(ends, rows, "right")])

    def _sizes(self) -> tuple[Array, Array]:
        """How many bytes each record has, and where it goes on."""
        first = self._content[self._at].astype(np.int64)
        longer = first >= _MORE
        if not longer.any():
            return first, self._at + 1
        second = self._content[self._at + 1]
        self._cut(_first(longer & (second >= _MORE)))
        rows = len(self._at)
        first, longer = first[:rows], longer[:rows]
        return np.where(longer, (first & ~_MORE) << 7 | second[:rows], first), self._at + 1 + longer

    def _heads(self, at: Array, size: Array) -> tuple[Array, Array, Array]:
        """The types of the cells and where each ends, column by column, from where the first begins."""
        columns = self._stored.columns
        spills = size > self._stored.used_bytes - _SPILLS
        # a byte for each column, and one for how many bytes these are
        self._cut(_first(spills | (at + size > self._end) | (self._content[at] != columns + 1)))
        rows = len(self._at)
        at = at[:rows] + 1
        heads = np.ndarray(len(self._content) - columns + 1, f"V{columns}", self._content, strides=(1,))[at]
        types = np.ascontiguousarray(heads.view(np.uint8).reshape(rows, columns).T)
        # a third of the time that an index by them takes
        sizes = np.frombuffer(types.tobytes().translate(_BYTES_BY_TYPE), np.uint8).reshape(columns, rows)
        if (wrong := sizes == _UNUSUAL).any():
            self._cut(_first(np.asarray(wrong.any(axis=0))))
        rows = len(self._at)
        ends = sizes[:, :rows].astype(np.int32)
        for column in range(1, columns):  # an eighth of the time that `cumsum` takes
            ends[column] += ends[column - 1]
        self._cut(_first(ends[-1] + columns + 1 != size[:rows]))
        rows = len(self._at)
        return types[:, :rows], ends[:, :rows], at[:rows] + columns

    def _column(self, at: Array, types: Array, kind: Kind) -> tuple[Array, int]:
        """The cells that begin here, and how many of them come before the first that is unusual."""
        if not len(types):
            return np.empty(0, np.float64 if kind == "float" else np.int64), 0
        texts = kind == "integer" and self._stored.plain_text
        known = _NUMBER if kind == "float" else _DIGITS if texts else _WHOLE
        first = int(types[0])
        if (types == first).all():
            usual = len(types) if known[first] else 0
            if kind != "float" and first >= _FIRST_TEXT:
                return self._digits(at, first, usual)
            return self._alike_cells(at, first, kind), usual
        usual = _first(~known.take(types))
        words = self._words_at(at)
        cells = words >> _SHIFTS.take(types)
        cells[types == _ZERO], cells[types == _ONE] = 0, 1
        if kind == "float":
            numbers = np.where(types == _FLOAT, words.view(np.float64), cells)
            numbers[types == _NULL] = np.nan
            return numbers, usual
        cells[types == _NULL] = MISSING
        if texts:
            for text in np.unique(types[(types >= _FIRST_TEXT) & known[types]]).tolist():
                rows = np.flatnonzero(types == text)
                cells[rows], good = self._digits(at[rows], text, len(rows))
                usual = min(usual, int(rows[good])) if good < len(rows) else usual
        return cells, usual

    def _alike_cells(self, at: Array, cell: int, kind: Kind) -> Array:
        """The numbers that begin here and are all of one type, as most columns are."""
        store = np.float64 if kind == "float" else np.int64
        if cell == _NULL:
            return np.full(len(at), np.nan if kind == "float" else MISSING, store)
        if cell in (_ZERO, _ONE):
            return np.full(len(at), cell - _ZERO, store)
        words = self._words_at(at)
        if cell == _FLOAT and kind == "float":
            return words.view(np.float64)
        words >>= _SHIFTS[cell]
        return words.astype(store, copy=False)

    def _words_at(self, at: Array) -> Array:
        """The eight bytes that begin at each of these places, as numbers."""
        return _words(self._content, ">i8")[at].astype(np.int64)

    def _digits(self, at: Array, text: int, usual: int) -> tuple[Array, int]:
        """Texts of one length that are whole numbers, and how many come before the first that is none."""
        length = (text - _FIRST_TEXT) // 2
        if not 0 < length <= _LONGEST_NUMBER:
            return np.zeros(len(at), np.int64), 0
        words = _words(self._content, ">u8")
        numbers: Array = np.zeros(len(at), np.uint64)
        wrong: Array = np.zeros(len(at), bool)
        for begin in range(-(-length // _WORD) * _WORD, 0, -_WORD):
            digits = words[at + (length - begin)].astype(np.uint64)
            strange = length - begin
            if strange < 0:  # bytes before the text
                digits = digits & _U(2 ** (8 * (_WORD + strange)) - 1) | _ZEROS << _U(8 * (_WORD + strange))
            digits ^= _ZEROS
            wrong |= ((digits + _ABOVE_NINE) | digits) & _HIGH != 0
            for width, power in ((8, 10), (16, 100), (32, 10_000)):
                low = _U((2**64 - 1) // (2**width + 1))
                digits = (digits >> _U(width) & low) * _U(power) + (digits & low)
            numbers *= _U(10**_WORD)
            numbers += digits
        wrong |= numbers > _U(2**63 - 1)
        return numbers.view(np.int64), min(usual, _first(wrong))


_U = np.uint64
_ZEROS, _ABOVE_NINE, _HIGH = _U(0x3030303030303030), _U(0x7676767676767676), _U(0x8080808080808080)
"""The digit 0 eight times, what makes all above nine pass seven bits, and what is passed."""


def _numbers_of_rows(content: Array, at: Array) -> tuple[Array, Array, int]:
    """Numbers that begin here, each byte with seven bits and whether more follow; where they end; how many are usual.

    Those of nine bytes, as negative ones are, are unusual.
    """
    words = _words(content, ">u8")[at].astype(np.uint64)
    numbers, after, known = np.zeros(len(at), np.int64), at, np.zeros(len(at), bool)
    for length in range(1, _WORD + 1):
        more = sum(_MORE << 8 * (_WORD - 1 - place) for place in range(length - 1))
        here = words & _U(more | _MORE << 8 * (_WORD - length)) == _U(more)
        if not here.any():
            continue
        whole = bool(here.all())
        chosen = words if whole else words[here]
        value = np.zeros(len(chosen), np.uint64)
        for place in range(length):
            value = value << _U(7) | chosen >> _U(8 * (_WORD - 1 - place)) & _U(_MORE - 1)
        if whole:
            return value.view(np.int64), at + length, len(at)
        numbers[here], known = value.view(np.int64), known | here
        after = np.where(here, at + length, after)
    return numbers, after, _first(~known)


def _first(wrong: Array) -> int:
    """How many come before the first that is wrong."""
    return int(np.argmax(wrong)) if wrong.any() else len(wrong)
