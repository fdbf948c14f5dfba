# SPDX-License-Identifier: Apache-2.0
"""Every way to damage a capture, by name; which of them befall an input; what a list of them makes of a capture.

A mutation is its name, the file it befalls and a number from which it draws all else, so that any part of a list
can be done without the rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import PurePath
from random import Random
from types import MappingProxyType
from typing import NamedTuple

from benchmarks.fuzz import archive_mutations as of_archives
from benchmarks.fuzz import byte_mutations as of_bytes
from benchmarks.fuzz import csv_mutations as of_csv
from benchmarks.fuzz import file_mutations as of_files
from benchmarks.fuzz import json_mutations as of_json
from benchmarks.fuzz import page_mutations as of_pages
from benchmarks.fuzz import sql_mutations as of_sql
from benchmarks.fuzz.captures import Files, Special

Change = Callable[[bytes, Random], bytes]
_SMALLEST_PAGE = 512
_HOW_MANY = (1, 1, 1, 1, 1, 1, 2, 2, 3, 6)


class Mutation(NamedTuple):
    """One way to damage one file."""

    kind: str
    file: str
    number: int


def _named(family: str, *changes: Change) -> dict[str, Change]:
    return {f"{family} {change.__name__}": change for change in changes}


BYTES = _named(
    "bytes", of_bytes.flip_bytes, of_bytes.cut_tail, of_bytes.cut_middle, of_bytes.repeat_piece, of_bytes.move_piece,
    of_bytes.insert_bytes, of_bytes.clear_block, of_bytes.empty,
)  # fmt: skip
TEXT = _named("text", of_bytes.encode_otherwise, of_bytes.end_lines_otherwise)
CSV = _named(
    "csv", of_csv.change_cells, of_csv.change_column, of_csv.remove_column, of_csv.repeat_column, of_csv.swap_columns,
    of_csv.change_heading, of_csv.remove_headings, of_csv.repeat_rows, of_csv.mix_rows, of_csv.cut_rows,
    of_csv.remove_rows,
)  # fmt: skip
JSON = _named(
    "json", of_json.change_values, of_json.change_all_of_a_key, of_json.remove_keys, of_json.rename_key,
    of_json.copy_value,
    of_json.wrap, of_json.mix_elements, of_json.remove_elements,
)  # fmt: skip
PAGES = _named(
    "pages", of_pages.change_header, of_pages.change_cell_pointers, of_pages.change_tree_header,
    of_pages.change_children,
    of_pages.change_cell_bytes, of_pages.swap_pages, of_pages.free_pages, of_pages.change_schema_words,
    of_pages.cut_pages,
)  # fmt: skip
SQL = _named(
    "sql", of_sql.change_cells, of_sql.rename_column, of_sql.drop_column, of_sql.swap_columns, of_sql.repeat_rows,
    of_sql.take_rows_of_another, of_sql.number_rows_oddly, of_sql.make_view, of_sql.without_row_numbers,
    of_sql.change_schema, of_sql.remove_rows,
)  # fmt: skip
ARCHIVES = _named(
    "archive", of_archives.rename_member, of_archives.repeat_member, of_archives.link_member, of_archives.damage_member,
    of_archives.change_header, of_archives.add_bomb, of_archives.add_many, of_archives.nest, of_archives.drop_member,
)  # fmt: skip
FILES: Mapping[str, Callable[[Files, str, Random], Files]] = MappingProxyType({
    f"files {change.__name__}": change
    for change in (
        of_files.remove_file, of_files.remove_folder, of_files.put_special, of_files.exchange_contents,
        of_files.copy_under_another_name, of_files.rename_file, of_files.pack_file, of_files.add_log,
    )
})  # fmt: skip
CONTENT: Mapping[str, Change] = MappingProxyType(BYTES | TEXT | CSV | JSON | PAGES | SQL | ARCHIVES)
REMOVALS = frozenset({"csv remove_rows", "json remove_elements", "sql remove_rows", "files remove_file"})
"""What takes rows away and changes none."""
_ROWS_OF_JSON = ("trace_view.json", "communication.json", "communication_matrix.json", ".pt.trace.json")
_UNTOLD = re.compile(r"aicpu_intermediate_\d+\.csv$")
"""Files that nothing tells the last rows of: `tests/test_lost_rows_of_every_fact.py` says why."""
_ARCHIVES = (".zip", ".tar", ".gz", ".tgz")


def choose_mutations(
    files: Files, chance: Random, among: Sequence[str] = (), *, removals: bool = False
) -> list[Mutation]:
    """Some mutations of some of these files, of all files by default; only those that take rows away if asked."""
    names = sorted(among or files)
    if removals:
        names = [name for name in names if _removal(name)] or names
    chosen = []
    for _ in range(chance.choice(_HOW_MANY)):
        name = chance.choice(names)
        chosen.append(Mutation(_choose_kind(name, chance, removals=removals), name, chance.randrange(1 << 32)))
    return chosen


def _removal(name: str) -> str:
    """What takes rows of a file away; nothing where it has none, or none that anything can miss."""
    if _UNTOLD.search(name):
        return ""
    if name.endswith(".csv"):
        return "csv remove_rows"
    if name.endswith(".db"):
        return "sql remove_rows"
    rows = name.endswith(_ROWS_OF_JSON) or PurePath(name).name.startswith("msprof_")
    return "json remove_elements" if rows else ""


def _choose_kind(name: str, chance: Random, *, removals: bool) -> str:
    if removals:
        return (
            chance.choice((_removal(name), _removal(name), _removal(name), "files remove_file")) or "files remove_file"
        )
    families: list[Mapping[str, object]] = [BYTES, FILES]
    if name.endswith(".csv"):
        families = [CSV, CSV, CSV, TEXT, *families]
    elif name.endswith(".json"):
        families = [JSON, JSON, JSON, TEXT, *families]
    elif name.endswith(".db"):
        families = [SQL, SQL, PAGES, PAGES, PAGES, *families]
    elif name.endswith(".txt"):
        families = [CSV, CSV, TEXT, *families]
    elif name.endswith(_ARCHIVES):
        families = [ARCHIVES, ARCHIVES, ARCHIVES, *families]
    return chance.choice(sorted(chance.choice(families)))


def apply_mutations(files: Files, mutations: Iterable[Mutation]) -> Files:
    """The capture after all of them; those whose file an earlier one took away do nothing."""
    for kind, name, number in mutations:
        chance, held = Random(number), files.get(name)
        if held is None:
            continue
        if kind in FILES:
            files = FILES[kind](files, name, chance)
        elif held and not isinstance(held, Special) and (kind not in PAGES or len(held) >= _SMALLEST_PAGE):
            files = files | {name: CONTENT[kind](held, chance)}
    return files


def only_removes(mutations: Iterable[Mutation]) -> bool:
    """Whether all they do is to take rows away."""
    return all(one.kind in REMOVALS and _removal(one.file) for one in mutations)
