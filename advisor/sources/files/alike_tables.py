# SPDX-License-Identifier: Apache-2.0
"""Small text tables with the same headings, parsed as one: of small files calls, not cells, are what parsing takes.

A file in which anything is unusual is left to `csvfile.read_columns`, which tells what.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np
from msgspec import Struct

from advisor.facts.base import Column
from advisor.facts.table import Array, Texts, Values
from advisor.machine.regular_files import read_regular
from advisor.sources.files.csvfile import TextFile, columns_of_text
from advisor.sources.files.damage_notes import Notes, Unreadable

_TOGETHER_BYTES = 64 << 10
"""So much is parsed as one at most: of 1 MB, workers keep 19 MB more, and 256 ranks of 1 MB take 4 % less time."""
_QUOTE, _LINE = b'"'[0], b"\n"[0]
_BEFORE = np.frombuffer(b",\n", np.uint8)
"""What a quoted cell begins behind."""
_BEHIND = np.frombuffer(b',\r\n"', np.uint8)
"""What stands behind the end of one, or behind a quote in it."""


class _PlainTable(Struct, frozen=True):
    """A small file in which nothing runs on into what is put behind it."""

    path: Path
    heading: bytes
    rows: bytes
    count: int
    """How many rows it has, empty lines among them."""


def read_alike(
    paths: Sequence[Path],
    columns: Mapping[str, Column],
    headings: Mapping[str, Sequence[str]],
    required: Iterable[str] = (),
) -> list[dict[str, Values] | None]:
    """The columns of each of these files as `csvfile.read_columns` gives them; None for one to be read by itself."""
    required = tuple(required)
    found: list[dict[str, Values] | None] = [None] * len(paths)
    if len(paths) == 1:
        return found
    for numbers, tables in _with_equal_headings(map(_plain_table, paths)):
        if len(tables) > 1:
            for number, part in zip(numbers, _read_joined(tables, columns, headings, required), strict=False):
                found[number] = part
    return found


def _plain_table(path: Path) -> _PlainTable | None:
    """A file with nothing in it that might run on into what is put behind it; None for others."""
    try:
        text = read_regular(path, _TOGETHER_BYTES + 1)
    except OSError:  # whoever reads it says what is wrong
        return None
    if len(text) > _TOGETHER_BYTES or not text.endswith(b"\n") or b"\0" in text or _has_bare_returns(text):
        return None
    heading, _, rows = text.partition(b"\n")
    count = _count_rows(rows)
    return None if not count or b'"' in heading else _PlainTable(path, heading, rows, count)


def _count_rows(rows: bytes) -> int | None:
    """How many lines end outside of quotes; None where a quote stands elsewhere than around a cell."""
    if b'"' not in rows:
        return rows.count(b"\n")
    signs = np.frombuffer(b"\n" + rows, np.uint8)
    quotes = np.flatnonzero(signs == _QUOTE)
    begin, end = quotes[::2], quotes[1::2]
    if len(quotes) % 2 or not np.isin(signs[end + 1], _BEHIND).all():
        return None
    doubled = np.append(False, begin[1:] == end[:-1] + 1)  # within a cell, where it stands for itself
    if not (doubled | np.isin(signs[begin - 1], _BEFORE)).all():
        return None
    lines = np.flatnonzero(signs[1:] == _LINE) + 1
    return int(np.count_nonzero(np.searchsorted(quotes, lines) % 2 == 0))


def _has_bare_returns(text: bytes) -> bool:
    """Whether lines end without the mark by which they are counted."""
    return b"\r" in text and text.count(b"\r") != text.count(b"\r\n")


def _with_equal_headings(tables: Iterable[_PlainTable | None]) -> Iterator[tuple[list[int], list[_PlainTable]]]:
    """Their numbers, and tables with the same headings that are parsed as one."""
    alike: dict[bytes, list[tuple[int, _PlainTable]]] = {}
    for number, table in enumerate(tables):
        if table is not None:
            alike.setdefault(table.heading, []).append((number, table))
    for members in alike.values():
        numbers: list[int] = []
        part: list[_PlainTable] = []
        size = len(members[0][1].heading) + 1
        length = size
        for number, table in members:
            if part and length + len(table.rows) > _TOGETHER_BYTES:
                yield numbers, part
                numbers, part, length = [], [], size
            numbers.append(number)
            part.append(table)
            length += len(table.rows)
        yield numbers, part


def _read_joined(
    tables: Sequence[_PlainTable],
    columns: Mapping[str, Column],
    headings: Mapping[str, Sequence[str]],
    required: Sequence[str],
) -> list[dict[str, Values]]:
    """The columns of each; nothing where any of them is damaged, or has empty lines."""
    notes = Notes()
    text = b"".join([tables[0].heading, b"\n", *(table.rows for table in tables)])
    try:
        found = columns_of_text(TextFile(tables[0].path, text, whole=True), columns, headings, notes, required)
    except Unreadable:
        return []
    edges = [*accumulate((table.count for table in tables), initial=0)]
    if len(notes) or any(len(values) != edges[-1] for values in found.values()):
        return []
    parts: list[dict[str, Values]] = [{} for _ in tables]
    for name, values in found.items():
        for part, own in zip(parts, _split(values, edges), strict=True):
            part[name] = own
    return parts


def _split(values: Values, edges: Sequence[int]) -> Sequence[Values]:
    return _split_texts(values, edges) if isinstance(values, Texts) else _split_array(values, edges)


def _split_array(values: Array, edges: Sequence[int]) -> list[Array]:
    return [values[begin:end] for begin, end in pairwise(edges)]


def _split_texts(texts: Texts, edges: Sequence[int]) -> list[Texts]:
    """The texts of each part, numbered in the order in which they are met there."""
    there = np.flatnonzero(texts.codes >= 0)
    part = np.repeat(np.arange(len(edges) - 1), np.diff(edges))[there]
    count = len(texts.names)
    key, first, of = np.unique(part * count + texts.codes[there], return_index=True, return_inverse=True)
    met = np.argsort(first)
    begin = np.searchsorted(key[met] // max(count, 1), np.arange(len(edges)))
    number = np.empty(len(met), np.int32)
    number[met] = np.arange(len(met)) - begin[key[met] // max(count, 1)]
    codes = np.full(len(texts.codes), -1, np.int32)
    codes[there] = number[of]
    order = (key[met] % max(count, 1)).tolist()
    names, last = [], (list[int](), tuple[str, ...]())
    for start, end in pairwise(begin.tolist()):
        if order[start:end] != last[0]:
            last = order[start:end], tuple(texts.names[code] for code in order[start:end])
        names.append(last[1])
    return [Texts(own, words) for own, words in zip(_split_array(codes, edges), names, strict=True)]
