# SPDX-License-Identifier: Apache-2.0
"""Damage to the pages of an SQLite file: header, b-trees, cells, free pages, text of the schema.

The layout: https://www.sqlite.org/fileformat2.html
"""

from __future__ import annotations

import re
from random import Random
from typing import NamedTuple

_HEADER = 100
_INNER, _LEAVES = (2, 5), (10, 13)
_FIELDS = (16, 18, 19, 20, 21, 24, 28, 32, 36, 40, 44, 48, 52, 56, 60, 64, 68, 92, 96)
"""Where the fields of the header begin."""
_SCHEMA_WORDS = (
    (b"CREATE TABLE", b"CREATE  VIEW"), (b"CREATE TABLE", b"CREATE INDEX"), (b"CREATE", b"create"), (b"INTEGER",
    b"BLOB   "),
    (b"INTEGER", b"PRIMARY"), (b"TEXT", b"REAL"), (b"(", b" "), (b",", b"("), (b"Ns", b"ns"), (b"Id", b"id"),
    (b"table", b"view "),
)  # fmt: skip


class Page(NamedTuple):
    """A page of a b-tree: where its header begins, its kind, how many cells, where their pointers begin."""

    number: int
    at: int
    kind: int
    cells: int
    pointers: int


def page_size(content: bytes) -> int:
    """The size of the pages, as the header says, or a usual one."""
    size = int.from_bytes(content[16:18], "big")
    size = 65536 if size == 1 else size
    return size if size >= 512 and len(content) >= size else 512


def trees(content: bytes) -> list[Page]:
    """The pages that are parts of a b-tree."""
    size, found = page_size(content), []
    for number in range(1, len(content) // size + 1):
        at = (number - 1) * size + (_HEADER if number == 1 else 0)
        kind = content[at] if at < len(content) else 0
        if kind in _INNER + _LEAVES:
            cells = int.from_bytes(content[at + 3 : at + 5], "big")
            found.append(Page(number, at, kind, cells, at + (12 if kind in _INNER else 8)))
    return found


def change_header(content: bytes, chance: Random) -> bytes:
    """Fields of the header say something else: sizes, versions, free pages, the encoding of texts."""
    held = bytearray(content)
    for _ in range(chance.choice((1, 1, 2))):
        at = chance.choice(_FIELDS)
        width = 2 if at == 16 else 1 if at < 24 else 4
        held[at : at + width] = chance.choice(
            (0, 1, 2, 3, 255, len(content) // page_size(content), chance.randrange(1 << 32))
        ).to_bytes(4, "big")[-width:]
    return bytes(held)


def change_cell_pointers(content: bytes, chance: Random) -> bytes:
    """Cells lie somewhere else, or all in one place."""
    held, page = bytearray(content), _any_tree(content, chance)
    if page is None or not page.cells:
        return content
    size = page_size(content)
    most = min(page.cells, (size - 12) // 2)
    same = chance.choice((None, content[page.pointers : page.pointers + 2]))
    for cell in chance.sample(range(most), chance.choice((1, min(5, most), most))):
        at = page.pointers + 2 * cell
        held[at : at + 2] = same or chance.randrange(size).to_bytes(2, "big")
    return bytes(held[: len(content)])


def change_tree_header(content: bytes, chance: Random) -> bytes:
    """A page says another kind, another number of cells, another first free block."""
    held, page = bytearray(content), _any_tree(content, chance)
    if page is None:
        return content
    if chance.random() < 0.4:
        held[page.at] = chance.choice((*_INNER, *_LEAVES, 0))
    elif chance.random() < 0.6:
        held[page.at + 3 : page.at + 5] = chance.choice((0xFFFF, 0, 1, page.cells * 2 & 0xFFFF, 250)).to_bytes(2, "big")
    else:
        held[page.at + chance.randrange(8)] = chance.randrange(256)
    return bytes(held)


def change_children(content: bytes, chance: Random) -> bytes:
    """Inner pages lead to themselves, to each other, or out of the file."""
    held, pages, size = bytearray(content), trees(content), page_size(content)
    inner = [page for page in pages if page.kind in _INNER]
    if not inner:
        return content
    page = chance.choice(inner)
    target = chance.choice(
        (page.number, chance.choice(pages).number, chance.randrange(len(content) // size + 2), 0xFFFFFFFF)
    )
    places = [page.at + 8]
    for cell in range(min(page.cells, (size - 12) // 2)):
        at = page.pointers + 2 * cell
        places.append((page.number - 1) * size + int.from_bytes(content[at : at + 2], "big"))
    for at in chance.sample(places, chance.choice((1, 1, len(places)))):
        if at + 4 <= len(held):
            held[at : at + 4] = target.to_bytes(4, "big")
    return bytes(held)


def change_cell_bytes(content: bytes, chance: Random) -> bytes:
    """The first bytes of cells: lengths, row numbers, types of values."""
    held, page, size = bytearray(content), _any_tree(content, chance), page_size(content)
    if page is None or not page.cells:
        return content
    for _ in range(chance.choice((1, 1, 5, 20))):
        pointer = page.pointers + 2 * chance.randrange(min(page.cells, (size - 12) // 2))
        at = (page.number - 1) * size + int.from_bytes(content[pointer : pointer + 2], "big") + chance.randrange(12)
        if at < len(held):
            held[at] = chance.choice((0xFF, 0x80, 0, 1, 7, chance.randrange(256)))
    return bytes(held)


def swap_pages(content: bytes, chance: Random) -> bytes:
    """Two pages changed places, or one stands in the place of another."""
    size = page_size(content)
    pages = [content[at : at + size] for at in range(0, len(content), size)]
    one, other = chance.randrange(len(pages)), chance.randrange(len(pages))
    pages[one], pages[other] = pages[other], chance.choice((pages[one], pages[other]))
    return b"".join(pages)


def free_pages(content: bytes, chance: Random) -> bytes:
    """Pages in use are called free, in a circle, and the count of free pages is wrong."""
    held, size = bytearray(content), page_size(content)
    count = len(content) // size
    trunk = chance.randrange(1, count + 1)
    held[32:36] = trunk.to_bytes(4, "big")
    held[36:40] = chance.choice((0, 1, count, 0xFFFFFFFF)).to_bytes(4, "big")
    at = (trunk - 1) * size
    held[at : at + 8] = chance.choice((0, trunk, count)).to_bytes(4, "big") + chance.choice(
        (0, 5, 0xFFFFFFFF)
    ).to_bytes(4, "big")
    return bytes(held)


def change_schema_words(content: bytes, chance: Random) -> bytes:
    """Words of the schema are others of the same length."""
    old, new = chance.choice(_SCHEMA_WORDS)
    places = [found.start() for found in re.finditer(re.escape(old), content)]
    if not places:
        return content
    held = bytearray(content)
    for at in chance.sample(places, min(len(places), chance.choice((1, 1, 5)))):
        held[at : at + len(old)] = new
    return bytes(held)


def cut_pages(content: bytes, chance: Random) -> bytes:
    """Ends at the end of a page, or goes on with pages of nothing."""
    size = page_size(content)
    count = len(content) // size
    return content[: chance.randrange(1, count + 1) * size] if chance.random() < 0.7 else content + bytes(size * 3)


def _any_tree(content: bytes, chance: Random) -> Page | None:
    pages = trees(content)
    return chance.choice(pages) if pages else None
