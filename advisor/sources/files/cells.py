# SPDX-License-Identifier: Apache-2.0
"""Cells of text to numbers: exact times, finite numbers, whole ids, and names as codes. Brings pyarrow: import late."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

try:  # the public module has the same, and makes 300 functions first: that takes as long as reading a small capture
    from pyarrow import _compute as arrow_functions
except ImportError:
    from pyarrow import compute as arrow_functions

from advisor.facts.base import MISSING
from advisor.facts.table import Array
from advisor.sources.files.names import bounded_name

arrow: Any = arrow_functions

CellArray = Any
"""A pyarrow array. Its published types cannot say what its functions give."""

NOT_COLLECTED = ("", "N/A", "n/a", "NA", "None", "null")
"""Cells that say that nothing was collected."""

_NEVER = "$^x"
_NOTHING = f"^({'|'.join(NOT_COLLECTED)}|nan|NaN)$"
_WITH_COMMA = r"^[+-]?[0-9][0-9.]*(,[0-9.]+)+$"
_ROUNDED = r"^[+-]?[0-9][0-9.]*[eE][+]?0?[0-9]{1,2}$"
_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_INTEGER = r"^[+-]?[0-9]{1,18}(\.0*)?$"
_EXACT = r"^[0-9]{1,15}(\.[0-9]{0,3})?$|^[0-8][0-9]{15}(\.[0-9]{0,3})?$"
_LATEST = int(np.iinfo(np.int64).max)
_DIGITS = 19
_LONGEST_INTEGER = 18
_ABSENT = b"N/A"
_OF_INTEGERS, _OF_TIMES, _OF_NUMBERS = b"-0123456789", b"-.0123456789", b"+-.eE0123456789"
"""The signs of what casts take and mean by it what we do; hexadecimal numbers and `inf` have others."""


def trim_cells(cells: CellArray) -> CellArray:
    """Cells as text without blanks and tabs around them; bytes that are no UTF-8 stay and match no pattern."""
    return arrow.call_function("ascii_trim_whitespace", [_cast(cells, pa.string(), safe=False)])


def join_cells(columns: Sequence[CellArray]) -> CellArray:
    """The cells of several columns as one, those of the first, then those of the next."""
    return pa.concat_arrays(columns)


def cells_between(cells: CellArray, rows: slice) -> CellArray:
    """Those of some rows; nothing is copied."""
    return cells.slice(rows.start, rows.stop - rows.start)


def count_cells(cells: CellArray) -> int:
    """How many there are."""
    return len(cells)


def _cast(cells: CellArray, kind: pa.DataType, *, safe: bool = True) -> CellArray:
    """The cells as another kind; `cast` of an array, as `filter` and the like, would import `pyarrow.compute`.

    Raises:
        ArrowInvalid: One of them is none.
    """
    return arrow.call_function(
        "cast", [cells], arrow.CastOptions.safe(kind) if safe else arrow.CastOptions.unsafe(kind)
    )


def _filter(cells: CellArray, mask: CellArray) -> CellArray:
    return arrow.call_function("filter", [cells, mask], arrow.FilterOptions())


def _match_regex(plain: CellArray, pattern: str) -> CellArray:
    """A mask of the cells that match."""
    return arrow.call_function("match_substring_regex", [plain], arrow.MatchSubstringOptions(pattern))


def are_damaged(plain: CellArray, good: Array) -> Array:
    """Which cells hold something, though nothing good."""
    bad: Array = ~good & ~_are_absent(*_letters_of(plain))
    if bad.any():  # few columns hold other words that say that nothing was collected
        bad &= ~bool_array(_match_regex(plain, _NOTHING))  # is_in needs pa.array(), which imports pandas
    return bad


def are_with_comma(plain: CellArray) -> Array:
    """Which cells hold a number with a comma in it. Whether that stands between thousands or before a fraction, a
    single one does not tell: `1,234` may be either."""
    return bool_array(_match_regex(plain, _WITH_COMMA))


def are_rounded(plain: CellArray) -> Array:
    """Which cells hold a number without its last digits, as spreadsheets write a moment: `1.73641E+15`."""
    return bool_array(_match_regex(plain, _ROUNDED))


def bool_array(values: CellArray) -> Array:
    bits = np.frombuffer(values.buffers()[1] or b"", np.uint8)
    return np.unpackbits(bits, bitorder="little", count=values.offset + len(values))[values.offset :].astype(bool)


def _cast_collected(plain: CellArray, kind: pa.DataType, signs: bytes) -> tuple[CellArray, Array] | None:
    """The cells that were collected as numbers, and which they are. None where one of them holds another sign than
    these or is no number: a cast that fails takes thirty times as long as one that does not."""
    letters, ends = _letters_of(plain)
    there = ~_are_absent(letters, ends)
    cells = plain if there.all() else _filter(plain, _arrow_mask(there))
    if (letters if cells is plain else _letters_of(cells)[0]).translate(None, signs):
        return None
    try:
        return _cast(cells, kind), there
    except pa.ArrowInvalid:
        return None


def _are_absent(letters: bytes, ends: Array) -> Array:
    """Which cells are empty or say `N/A`, as most do that hold no number."""
    lengths = np.diff(ends)
    absent: Array = lengths == 0
    if _ABSENT[:1] in letters:
        short = np.flatnonzero(lengths == len(_ABSENT))
        read = np.frombuffer(letters, np.uint8)[ends[short, None] - ends[0] + np.arange(len(_ABSENT))]
        absent[short] = (read == np.frombuffer(_ABSENT, np.uint8)).all(axis=1)
    return absent


def _arrow_mask(mask: Array) -> CellArray:
    """A mask for pyarrow: `pa.array` would import pandas, as would comparing with a word."""
    return pa.Array.from_buffers(pa.bool_(), len(mask), [None, pa.py_buffer(np.packbits(mask, bitorder="little"))])


def _letters_of(cells: CellArray) -> tuple[bytes, Array]:
    """All bytes of the cells, and where each begins in what holds them; the last number is where the last one ends."""
    _, places, letters = cells.buffers()
    ends = np.frombuffer(places or bytes(4), np.int32)[cells.offset : cells.offset + len(cells) + 1]
    return memoryview(letters or b"")[ends[0] : ends[-1]].tobytes(), ends


def _matching_cells(plain: CellArray, pattern: str) -> tuple[CellArray, Array]:
    """The cells that match, the others left out; and which they are."""
    mask = _match_regex(plain, pattern)
    return _filter(plain, mask), bool_array(mask)


def _scatter_values(found: Array, good: Array) -> Array:
    """Values at the places they come from, zero elsewhere."""
    if len(found) == len(good):
        return found
    values = np.zeros(len(good), found.dtype)
    values[good] = found
    return values


def copy_numbers(values: CellArray, dtype: type[np.generic]) -> Array:
    """The numbers of an array without missing values, copied; `to_numpy` would import pandas."""
    width = np.dtype(dtype).itemsize
    whole = np.frombuffer(values.buffers()[1] or b"", dtype)
    start = values.offset * values.type.bit_width // 8 // width
    return whole[start : start + len(values) * (values.type.bit_width // 8 // width)].copy()


def read_floats(plain: CellArray) -> tuple[Array, Array]:
    """Numbers of any size, and which cells hold one."""
    cells, good = _cast_collected(plain, pa.float64(), _OF_NUMBERS) or _cast_matching(plain, pa.float64(), _NUMBER)
    return _scatter_values(copy_numbers(cells, np.float64), good), good


def within_bounds(values: Array, good: Array, factor: float, *, signed: bool, largest: float) -> tuple[Array, Array]:
    """Numbers times a factor, in place, and which of the good ones are of a size that can be."""
    with np.errstate(over="ignore"):  # what has no room in a float is too large as well
        values *= factor
    good = good & (np.abs(values) < largest)
    return values, good if signed else good & (values >= 0)


def parse_integers(plain: CellArray) -> tuple[Array, Array]:
    """Whole numbers of up to 18 digits (`50.0` too: tables rewritten by others hold them so), and where they are."""
    short = np.diff(_letters_of(plain)[1]).max(initial=0) <= _LONGEST_INTEGER
    found = _cast_collected(plain, pa.int64(), _OF_INTEGERS) if short else None
    if found is None:
        cells, good = _matching_cells(plain, _INTEGER)
        unsigned = arrow.call_function("utf8_ltrim", [cells], arrow.TrimOptions("+"))
        whole = arrow.call_function("replace_substring_regex", [unsigned], arrow.ReplaceSubstringOptions(r"\.0*$", ""))
        found = _cast(whole, pa.int64()), good
    return _scatter_values(copy_numbers(found[0], np.int64), found[1]), found[1]


def parse_times(plain: CellArray, factor: float = 1.0) -> tuple[Array, Array]:
    """Decimal µs (or `factor` µs) as whole ns, and which cells hold a time; below zero means not known.

    Exact: the text never goes through a float, which would be wrong by up to 128 ns today.
    """
    decimal = pa.decimal128(22, 3)
    found = _cast_collected(plain, decimal, _OF_TIMES) if factor == 1.0 else None
    if found is not None:
        values, fitting = _whole_thousandths(found[0])
        values, good = _scatter_values(values, found[1]), found[1].copy()
        good[good] = fitting
        return values, good
    cells, good = _cast_matching(plain, decimal, _EXACT if factor == 1.0 else _NEVER)
    values = _scatter_values(_whole_thousandths(cells)[0], good)
    for row in np.flatnonzero(~good).tolist():
        exact = exact_ns(plain[row].as_buffer().to_pybytes().decode("ascii", "replace"), factor)
        if exact is not None:
            values[row], good[row] = exact, True
    return values, good


def _cast_matching(plain: CellArray, kind: pa.DataType, pattern: str) -> tuple[CellArray, Array]:
    """The cells that match as numbers, and which they are."""
    cells, good = _matching_cells(plain, pattern)
    return _cast(cells, kind), good


def _whole_thousandths(decimals: CellArray) -> tuple[Array, Array]:
    """Decimals of three digits as whole thousandths, MISSING below zero; and which of them fit 64 bits."""
    halves = copy_numbers(decimals, np.int64)
    values, high = halves[::2].copy(), halves[1::2]
    good = high == values >> 63
    values[values < 0] = MISSING
    return values, good


def exact_ns(text: str, factor: float = 1.0) -> int | None:
    """Decimal µs (or `factor` µs) as whole ns, digits below dropped; MISSING below zero, None when it is no time.

    `1.73641E+15`, as spreadsheets write a moment, is none: its last digit stands for hours.
    """
    try:
        told = Decimal(text)
        ns = told * Decimal(str(factor)) * 1000
    except ArithmeticError:  # no number, or an exponent beyond all bounds
        return None
    if not ns.is_finite() or ns.adjusted() >= _DIGITS or is_rounded(told):
        return None
    return MISSING if ns < 0 else int(ns) if ns <= _LATEST else None


def is_rounded(told: Decimal) -> bool:
    """Whether the last digit of a number stands for more than one: what lay below is not known."""
    exponent = told.as_tuple().exponent
    return isinstance(exponent, int) and exponent > 0 and told != 0


def text_codes(cells: CellArray, index: dict[str, int], *, bytewise: bool = False) -> Array:
    """Codes into the distinct texts met so far, which grow. `bytewise` cells hold one character for each byte."""
    coded = arrow.call_function("dictionary_encode", [cells], arrow.DictionaryEncodeOptions())
    words = [word.decode().encode("latin-1") if bytewise else word for word in coded.dictionary.to_pylist()]
    lookup = [_text_code(word, index) for word in words]
    return np.array([*lookup, -1], np.int32)[copy_numbers(coded.indices, np.int32)]


def _text_code(word: bytes, index: dict[str, int]) -> int:
    text = bounded_name(decode_text(word).strip())
    return -1 if text in NOT_COLLECTED else index.setdefault(text, len(index))


def decode_text(word: bytes) -> str:
    """Bytes as text: UTF-8, or what Chinese Windows writes, or byte by byte."""
    for encoding in ("utf-8", "gb18030"):
        try:
            return word.decode(encoding)
        except UnicodeDecodeError:
            continue
    return word.decode("latin-1")
