# SPDX-License-Identifier: Apache-2.0
"""Text tables: comma separated files with a heading, read in blocks into exact columns. Knows no fact.

Headings are looked up by a canonical name: lower case, blanks collapsed, and a unit in brackets split off and used
to convert, so that `Size(KB)` and `Size(MB)` fill one column with bytes. A cell that is empty or `N/A` was not
collected. A cell that is wrong becomes missing, a row that is wrong is left out; both are counted and placed.
"""

from __future__ import annotations

import contextlib
import csv
import io
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, NoReturn

import numpy as np
from msgspec import Struct, field

from advisor.facts.base import LARGEST, Column
from advisor.facts.table import Array, Texts, Values
from advisor.machine.freed_memory import give_back_arrow_memory
from advisor.machine.regular_files import open_regular, read_regular
from advisor.messages.errors import reason_of_error
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Notes, Unreadable
from advisor.sources.files.gzip_blocks import GZIP
from advisor.sources.files.utf16 import LONGEST_UTF16, TELLS_UTF16, is_utf16, utf8_of_utf16
from advisor.sources.files.zeros import SHORTEST_RUN, ZEROS_WITHIN, CountedZeros, WithoutZeros, Zeros, blocks_of
from advisor.units import LONGEST_US

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 1 << 20
"""Read at once; sixteen times as much where a file turns out to have longer cells."""
_LONGER = 16
_SMALLEST_BLOCK = 1 << 12
_USUAL_HEADING = 1 << 12
_AT_ONCE = 1 << 14
"""Up to so many numbers of a block are parsed at once, whatever their columns: calls take longer than parsing them."""

_US = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}
_BYTES = {"b": 1.0, "byte": 1.0, "bytes": 1.0, "kb": 1024.0, "mb": 1024.0**2, "gb": 1024.0**3}
RATES = {"gb/s": 1024.0**3 / 1e9, "mb/s": 1024.0**2 / 1e9, "kb/s": 1024.0 / 1e9}
"""What one of each is worth in GB/s: msprof, which alone writes rates into tables, counts in powers of 1024."""
FACTORS: Mapping[str, Mapping[str, float]] = {
    "us": _US,
    "ns": _US,
    "B": _BYTES,
    "share": {"%": 0.01},
    "GB/s": {**RATES, "": RATES["gb/s"]},
    "MHz": {"mhz": 1.0, "hz": 1e-6},
}
"""For the unit of a column: what one of each unit of a heading is worth. Absolute times go by µs until they are ns."""

_NEVER_NEGATIVE = ("us", "B", "count")
_KNOWN_UNITS = frozenset(unit for units in FACTORS.values() for unit in units if unit)
_UNIT = re.compile(r"^(.*?) ?\(([^()]*)\)$")
_MICRO = str.maketrans(dict.fromkeys("\N{MICRO SIGN}\N{GREEK SMALL LETTER MU}", "u"))
"""Documents spell µs with either sign, and so do tables that were written anew."""


class ColumnHeading(Struct, frozen=True):
    """A heading of a file: its canonical name, its unit (empty when it has none) and its spelling."""

    name: str
    unit: str
    spelling: str


@lru_cache(maxsize=1024)  # the files of every rank have the same ones
def parse_heading(text: str) -> ColumnHeading:
    """What a heading says: `Task Start Time(us)` is the name `task start time` in `us`."""
    plain = " ".join(text.replace("\0", "").split()).lower().translate(_MICRO)
    found = _UNIT.match(plain)
    if found and found[2].strip() in _KNOWN_UNITS:
        return ColumnHeading(found[1], found[2].strip(), text.strip())
    return ColumnHeading(plain, "", text.strip())


_OTHER_MARKS = {";": ";", "\t": "TAB", "|": "|"}
"""What spreadsheets put between columns where a comma belongs to numbers, and how it is called."""


class _Wanted(Struct, frozen=True):
    """One column to fill, and the column of the file that fills it."""

    name: str
    column: Column
    place: int
    heading: ColumnHeading
    required: bool

    @property
    def factor(self) -> float:
        return FACTORS.get(self.column.unit, {}).get(self.heading.unit, 1.0)


class TextFile(Struct, frozen=True):
    """A file and how it begins; one that is not longer is read once, however often it is opened.

    What a spreadsheet saved in UTF-16 is held as UTF-8, as a whole.
    """

    path: Path
    start: bytes
    whole: bool

    @classmethod
    def at(cls, path: Path) -> TextFile:
        """The file of this path.

        Raises:
            OSError: It cannot be opened, or is no regular file.
        """
        start = read_regular(path, BLOCK_BYTES + 1)
        if is_utf16(start[:TELLS_UTF16]) and path.stat().st_size <= LONGEST_UTF16:
            return cls(path, utf8_of_utf16(read_regular(path)), whole=True)
        return cls(path, start, len(start) <= BLOCK_BYTES)

    def open(self) -> BinaryIO:
        """The file from its beginning."""
        return io.BytesIO(self.start) if self.whole else open_regular(self.path)

    def length(self) -> int:
        return len(self.start) if self.whole else self.path.stat().st_size


class _Marks(Struct, frozen=True):
    """What is counted in the bytes of a file before it is read."""

    quotes: int = 0
    zeros: Zeros = Zeros()


class _Layout(Struct, frozen=True):
    """The shape of a file: lines of headings, columns, and the places of those wanted."""

    lines: int
    width: int
    places: tuple[int, ...]
    marks: _Marks = _Marks()


class _Wrong(Struct):
    """Cells or rows of one kind that could not be used."""

    what: Message
    rows: int = 0
    first: int = 0

    def count(self, rows: int, first: int) -> None:
        self.first = self.first if self.rows else first
        self.rows += rows


class _Progress(Struct):
    """What has been read so far."""

    parts: dict[str, list[Array]] = field(default_factory=dict)
    names: dict[str, dict[str, int]] = field(default_factory=dict)
    wrong: dict[Message, _Wrong] = field(default_factory=dict)
    uneven: list[int] = field(default_factory=list)
    rows: int = 0
    bytewise: bool = False
    """Whether each byte of the file was taken for one character."""

    @classmethod
    def of(cls, wanted: Sequence[_Wanted], *, bytewise: bool = False) -> _Progress:
        """Nothing read yet of these columns."""
        texts = {w.name: dict[str, int]() for w in wanted if w.column.store == "text"}
        return cls({w.name: [] for w in wanted}, texts, bytewise=bytewise)

    def damaged(self, what: Message, bad: Array) -> None:
        """Count the marked rows of the current block."""
        count = int(np.count_nonzero(bad))
        if count:
            self.wrong.setdefault(what, _Wrong(what)).count(count, self.rows + int(np.argmax(bad)))


def read_columns(
    path: Path,
    columns: Mapping[str, Column],
    headings: Mapping[str, Sequence[str]],
    notes: Notes,
    required: Iterable[str] = (),
) -> dict[str, Values]:
    """Columns by name: arrays as `facts.base` stores them, `Texts` for text; those the file does not have are left out.

    `headings` gives for each name the spellings met, the best first, without units. Rows in which a required column
    is missing or wrong are left out.

    Raises:
        Unreadable: The file cannot be opened, is empty, or lacks a required column.
    """
    return columns_of_text(_open_text(path, notes), columns, headings, notes, required)


def columns_of_text(
    file: TextFile,
    columns: Mapping[str, Column],
    headings: Mapping[str, Sequence[str]],
    notes: Notes,
    required: Iterable[str] = (),
) -> dict[str, Values]:
    """The same of a file of which is known how it begins.

    Raises:
        Unreadable: It is empty, or lacks a required column.
    """
    found, lines = _read_headings(file, notes)
    wanted = _match_headings(found, columns, headings, frozenset(required))
    lacking = [headings[name][0] for name in required if name not in {w.name for w in wanted}]
    if lacking:
        refuse_file(file.path, notes, Message("lacks_column", column=lacking[0]))
    layout = _Layout(lines, len(found), tuple(w.place for w in wanted), _marks_of(file))
    progress = _read_rows(file, layout, wanted, notes)
    _note_damage(file, progress, layout.marks, notes)
    return {w.name: _join_parts(w, progress) for w in wanted}


def read_parts(
    paths: Sequence[Path],
    columns: Mapping[str, Column],
    headings: Mapping[str, Sequence[str]],
    notes: Notes,
    required: Iterable[str] = (),
) -> dict[str, Values]:
    """The columns of a file that was cut into several, one after another; what a part lacks is missing there.

    Raises:
        Unreadable: No part can be read.
    """
    found: list[dict[str, Values]] = []
    wrong: Unreadable | None = None
    for path in paths:
        try:
            found.append(read_columns(path, columns, headings, notes, required))
        except Unreadable as one:
            wrong = one
    if wrong is not None and not found:
        raise wrong
    return found[0] if len(found) == 1 else _join_columns(found, columns)


def _join_columns(parts: Sequence[dict[str, Values]], columns: Mapping[str, Column]) -> dict[str, Values]:
    lengths = [len(next(iter(part.values()))) if part else 0 for part in parts]
    joined: dict[str, Values] = {}
    for name in dict.fromkeys(name for part in parts for name in part):
        if columns[name].store == "text":
            found = [part.get(name) for part in parts]
            texts = zip(found, lengths, strict=True)
            joined[name] = Texts.concat(
                [one if isinstance(one, Texts) else Texts.constant(None, length) for one, length in texts]
            )
        else:
            missing = [np.full(length, columns[name].missing, columns[name].dtype) for length in lengths]
            joined[name] = np.concatenate([part.get(name, none) for part, none in zip(parts, missing, strict=True)])
    return joined


def refuse_file(path: Path, notes: Notes, what: Message) -> NoReturn:
    """Note that a file cannot be read as a whole, and say so.

    Raises:
        Unreadable: Always.
    """
    notes.add(path.name, "", what, kind="unreadable")
    raise Unreadable(path.name, what)


def headings_of(path: Path, notes: Notes) -> frozenset[str]:
    """The canonical names of the columns of a file, without their units.

    Raises:
        Unreadable: The file cannot be opened, or is empty.
    """
    return frozenset(heading.name for heading in _read_headings(_open_text(path, notes), notes)[0])


def spellings_of(path: Path, notes: Notes) -> list[str]:
    """The headings of a file in their order, as they are written.

    Raises:
        Unreadable: The file cannot be opened, or is empty.
    """
    return [heading.spelling for heading in _read_headings(_open_text(path, notes), notes)[0]]


def _open_text(path: Path, notes: Notes) -> TextFile:
    """The file of this path.

    Raises:
        Unreadable: It cannot be opened.
    """
    try:
        return TextFile.at(path)
    except OSError as error:
        refuse_file(path, notes, Message("file_unreadable", why=reason_of_error(error)))


def _read_headings(file: TextFile, notes: Notes) -> tuple[list[ColumnHeading], int]:
    """The headings of a file, and how many lines they fill."""
    path, start = file.path, file.start
    if start.startswith(GZIP):
        refuse_file(path, notes, Message("is_packed"))
    try:
        first = _first_row(start[:_USUAL_HEADING]) or _first_row(start, whole=file.whole)
    except csv.Error as error:
        refuse_file(path, notes, Message("file_unreadable", why=reason_of_error(error)))
    if first is None:
        refuse_file(path, notes, Message("headings_without_end", longest=f"{BLOCK_BYTES >> 20} MiB"))
    cells, count = first
    if not cells:
        refuse_file(path, notes, Message("holds_nothing"))
    if is_utf16(start[:TELLS_UTF16]):
        refuse_file(path, notes, Message("is_utf16"))
    other = next((mark for mark in _OTHER_MARKS if len(cells) == 1 and mark in cells[0].strip()), None)
    if other is not None:
        refuse_file(path, notes, Message("columns_separated_by", mark=_OTHER_MARKS[other]))
    return [parse_heading(cell) for cell in cells], count


def _first_row(start: bytes, *, whole: bool = False) -> tuple[list[str], int] | None:
    """The cells of the first row and how many lines it fills; None where it may go on behind what is given.

    Raises:
        csv.Error: It is no row.
    """
    lines = io.StringIO(start.decode("utf-8-sig", "replace"), newline="")
    rows = csv.reader(lines)
    cells = next(rows, [])
    return (cells, rows.line_num) if whole or lines.read(1) else None


def _match_headings(
    found: Sequence[ColumnHeading],
    columns: Mapping[str, Column],
    headings: Mapping[str, Sequence[str]],
    required: frozenset[str],
) -> list[_Wanted]:
    """Which column of the file fills which wanted one. Of two with one name, the first counts."""
    places: dict[str, int] = {}
    for place, head in enumerate(found):
        places.setdefault(head.name, place)
    matched = []
    for name, spellings in headings.items():
        there = [places[parse_heading(s).name] for s in spellings if parse_heading(s).name in places]
        if there:
            matched.append(_Wanted(name, columns[name], there[0], found[there[0]], name in required))
    return matched


def _read_rows(file: TextFile, layout: _Layout, wanted: Sequence[_Wanted], notes: Notes) -> _Progress:
    """All rows of a file. Read again byte by byte when a row is uneven: pyarrow stumbles over those with odd bytes."""
    import pyarrow as pa

    progress = _Progress.of(wanted)
    try:
        if not _has_rows(file, layout.lines):
            return progress
        try:
            _scan_blocks(file, layout, wanted, progress)
        except pa.ArrowInvalid:
            progress = _Progress.of(wanted, bytewise=True)
            _scan_blocks(file, layout, wanted, progress)
    except (OSError, pa.ArrowInvalid) as error:
        what = Message("cannot_be_read_further", why=reason_of_error(error))
        notes.add(file.path.name, Message("after_row", n=progress.rows + 1), what, kind="truncated")
    finally:
        give_back_arrow_memory()
    return progress


def _has_rows(file: TextFile, lines: int) -> bool:
    """Whether anything follows the headings; pyarrow takes a heading without a line end for an error."""
    if _ends_lines_with_cr(file):
        return len(file.start.rstrip(b"\r").split(b"\r", lines)) > lines
    with file.open() as opened:
        for _ in range(lines):
            if not opened.readline().endswith(b"\n"):
                return False
        return bool(opened.read(1))


def _scan_blocks(file: TextFile, layout: _Layout, wanted: Sequence[_Wanted], progress: _Progress) -> None:
    """Take in a file block by block, every cell as bytes, columns named by their place.

    Raises:
        ArrowInvalid: A row is uneven (unless read byte by byte), or a cell is longer than a block.
    """
    import pyarrow as pa
    from pyarrow import csv as arrow

    def uneven(row: arrow.InvalidRow) -> Literal["skip"]:
        progress.uneven.append(row.number or 0)
        return "skip"

    chosen = sorted({str(place) for place in layout.places})
    names = [str(place) for place in range(layout.width)]
    longest = BLOCK_BYTES * _LONGER if progress.bytewise else BLOCK_BYTES
    with _open_rows(file, layout.marks) as opened:
        blocks = arrow.open_csv(
            opened,
            arrow.ReadOptions(
                column_names=names,
                skip_rows=layout.lines,
                use_threads=False,
                block_size=min(longest, max(file.length(), _SMALLEST_BLOCK)),
                encoding="latin1" if progress.bytewise else "utf8",
            ),
            arrow.ParseOptions(newlines_in_values=True, invalid_row_handler=uneven if progress.bytewise else None),
            arrow.ConvertOptions(
                include_columns=chosen, column_types=dict.fromkeys(chosen, pa.binary()), check_utf8=False
            ),
        )
        for block in blocks:
            _take_block(block, wanted, progress)


def _open_rows(file: TextFile, marks: _Marks) -> Any:
    """The file for pyarrow, without a name: that wants UTF-8 in it. Zeros in the place of rows end one, and begin
    another that is no row either."""
    import pyarrow as pa

    if marks.zeros.within:
        return io.BufferedReader(WithoutZeros(file.open()))
    return pa.BufferReader(file.start) if file.whole else file.open()


def _take_block(block: pa.RecordBatch, wanted: Sequence[_Wanted], progress: _Progress) -> None:
    """Convert one block and keep the rows that are whole; one that is left out counts once, whatever else it holds."""
    raw = {w.name: block.column(str(w.place)) for w in wanted}
    together = _parse_together(raw, wanted)
    values: dict[str, Array] = {}
    keep = np.ones(block.num_rows, bool)
    for w in sorted(wanted, key=lambda w: not w.required):
        values[w.name] = _convert_cells(raw[w.name], w, progress, keep, together.get(w.name))
        if w.required:
            keep &= ~_is_missing(values[w.name], w.column)
    for name, part in values.items():
        progress.parts[name].append(part if keep.all() else part[keep])
    progress.rows += block.num_rows


def _is_missing(values: Array, column: Column) -> Array:
    return np.isnan(values) if column.store == "float" else values == column.missing


class _Parsed(Struct, frozen=True):
    """The numbers of a column of one block, before any factor."""

    plain: object
    """Its cells without blanks around them."""
    values: Array
    good: Array
    """Which cells hold a number."""


def _parse_together(raw: Mapping[str, object], wanted: Sequence[_Wanted]) -> dict[str, _Parsed]:
    """The numbers of columns that are parsed at once, by name; empty where they are many."""
    from advisor.sources.files import cells

    found: dict[str, _Parsed] = {}
    for parse, alike in (
        (cells.read_floats, [w.name for w in wanted if w.column.store == "float"]),
        (cells.parse_integers, [w.name for w in wanted if w.column.store in ("int", "flag") and w.column.unit != "ns"]),
    ):
        count = cells.count_cells(raw[alike[0]]) if alike else 0
        if not (len(alike) > 1 and 0 < count * len(alike) <= _AT_ONCE):
            continue
        plain = cells.trim_cells(cells.join_cells([raw[name] for name in alike]))
        values, good = parse(plain)
        for place, name in enumerate(alike):
            part = slice(place * count, (place + 1) * count)
            found[name] = _Parsed(cells.cells_between(plain, part), values[part], good[part])
    return found


def _parse_cells(raw: object, wanted: _Wanted) -> _Parsed:
    from advisor.sources.files import cells

    plain = cells.trim_cells(raw)
    if wanted.column.store == "float":
        return _Parsed(plain, *cells.read_floats(plain))
    if wanted.column.unit == "ns":
        return _Parsed(plain, *cells.parse_times(plain, wanted.factor))
    return _Parsed(plain, *cells.parse_integers(plain))


def _convert_cells(raw: object, wanted: _Wanted, progress: _Progress, keep: Array, parsed: _Parsed | None) -> Array:
    """One column of one block; what is wrong in it is missing and counted, in rows that are kept so far."""
    from advisor.sources.files import cells

    if wanted.column.store == "text":
        return cells.text_codes(raw, progress.names[wanted.name], bytewise=progress.bytewise)
    parsed = parsed or _parse_cells(raw, wanted)
    plain, values, good = parsed.plain, parsed.values, parsed.good
    if wanted.column.store == "float":
        unit = wanted.column.unit
        largest = LONGEST_US if unit == "us" else LARGEST
        values, good = cells.within_bounds(
            values, good, wanted.factor, signed=unit not in _NEVER_NEGATIVE, largest=largest
        )
    if not good.all():
        bad = keep & (~good if wanted.required else cells.are_damaged(plain, good))
        if bad.any():
            _count_damage(plain, bad, wanted, progress)
        values[~good] = wanted.column.missing
    return values


def _count_damage(plain: object, bad: Array, wanted: _Wanted, progress: _Progress) -> None:
    """Count the bad cells of a column by what is wrong with them; only moments are told by their last digits."""
    from advisor.sources.files import cells

    heading = wanted.heading.spelling
    with_comma = bad & cells.are_with_comma(plain)
    rounded = bad & cells.are_rounded(plain) if wanted.column.unit == "ns" else np.zeros(len(bad), bool)
    progress.damaged(Message("number_with_comma", column=heading), with_comma)
    progress.damaged(Message("number_rounded", column=heading), rounded)
    progress.damaged(Message("no_usable_number", column=heading), bad & ~with_comma & ~rounded)


def _note_damage(file: TextFile, progress: _Progress, marks: _Marks, notes: Notes) -> None:
    """Note the damage of a file that was read to its end."""
    path, total = file.path, max(progress.rows + len(progress.uneven), 1)
    _note_zeros(file, total, marks.zeros, notes)
    if marks.quotes % 2:  # a quoted cell is never closed, so that the rest of the file fell into it
        notes.add(path.name, Message("at_row", n=progress.rows + 1), Message("ends_in_quotes"), kind="truncated")
    for wrong in progress.wrong.values():
        place = Message("at_row", n=_row_of_position(wrong.first, progress.uneven))
        notes.add(path.name, place, wrong.what, rows=wrong.rows, share=wrong.rows / total)
    uneven = progress.uneven
    if uneven and uneven[-1] > progress.rows + len(uneven) and not _ends_with_line(file):
        *uneven, last = uneven  # a writer ends every row: what follows it was lost with its end
        zeros = marks.zeros.at_end
        share = zeros / max(file.length(), 1) if zeros >= SHORTEST_RUN else math.nan
        notes.add(path.name, Message("at_row", n=last), Message("ends_early"), kind="truncated", share=share)
    if uneven:
        count = len(uneven)
        notes.add(path.name, Message("at_row", n=uneven[0]), Message("uneven_rows"), rows=count, share=count / total)


def _ends_with_line(file: TextFile) -> bool:
    with file.open() as opened:
        opened.seek(-1, io.SEEK_END)
        return opened.read(1) == (b"\r" if _ends_lines_with_cr(file) else b"\n")


def _ends_lines_with_cr(file: TextFile) -> bool:
    """Whether its lines end as those of old programs do, which pyarrow knows as well."""
    return b"\r" in file.start and b"\n" not in file.start


def _note_zeros(file: TextFile, rows: int, zeros: Zeros, notes: Notes) -> None:
    """Note how many rows zeros stand for, by how long those are that are there."""
    if zeros.within:
        share = zeros.within / max(file.length(), 1)
        lost = max(round(rows * share / max(1 - share, 1 / rows)), 1)
        notes.add(file.path.name, Message("at_byte", n=zeros.first), Message(ZEROS_WITHIN), rows=lost, share=share)


def _marks_of(file: TextFile) -> _Marks:
    """What its bytes hold, without a look at its rows, as far as they can be read."""
    quotes, zeros = 0, CountedZeros()
    with contextlib.suppress(OSError), file.open() as opened:  # said where rows are read
        for block in blocks_of(opened):
            quotes += block.count(b'"')
            zeros.add(block)
    return _Marks(quotes, zeros.all())


def _row_of_position(position: int, uneven: Sequence[int]) -> int:
    """The row of the file, headings being row 1, of a position among the even rows."""
    row = position + 2
    for skipped in sorted(uneven):
        row += skipped <= row
    return row


def _join_parts(wanted: _Wanted, progress: _Progress) -> Values:
    parts = progress.parts[wanted.name]
    values = np.concatenate(parts) if parts else np.empty(0, wanted.column.dtype)
    if wanted.column.store == "text":
        return Texts(values.astype(np.int32, copy=False), tuple(progress.names[wanted.name]))
    return values
