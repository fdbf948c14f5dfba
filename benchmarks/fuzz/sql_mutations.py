# SPDX-License-Identifier: Apache-2.0
"""Sound databases that hold something else: other rows, cells, columns, tables and statements in the schema."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from random import Random

from benchmarks.fuzz.odd_values import odd_text

_Change = Callable[[sqlite3.Connection, str, Random], None]
_CELLS: tuple[object, ...] = (
    None, -1, 0, 1, 2**63 - 1, -(2**63), 2**53 + 1, 10**18, 1e308, -1e308, float("inf"), 0.5, 1e-320, b"\xff\xfe",
    b"", "1e400", "nan",
    "x" * 20_000,
)  # fmt: skip


def _as_database(change: _Change) -> Callable[[bytes, Random], bytes]:
    """The same for a file: one of its tables is changed."""

    def mutate(content: bytes, chance: Random) -> bytes:
        with contextlib.closing(sqlite3.connect(":memory:")) as base:
            try:
                base.deserialize(content)
                names = [name for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
                if not names:
                    return content
                change(base, chance.choice(sorted(map(str, names))), chance)
                base.commit()
                return base.serialize()
            except (sqlite3.Error, UnicodeError, OverflowError, MemoryError):  # an earlier mutation left no database
                return content

    mutate.__name__, mutate.__doc__ = change.__name__.lstrip("_"), change.__doc__
    return mutate


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _columns(base: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in base.execute(f"PRAGMA table_info({_quoted(table)})")]


def _change_cells(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """Some cells of a column, or all, hold something odd."""
    column = _quoted(chance.choice(_columns(base, table)))
    value = odd_text(chance).encode("utf-8", "replace").decode() if chance.random() < 0.3 else chance.choice(_CELLS)
    every = chance.choice((1, 2, 5))
    base.execute(f"UPDATE OR IGNORE {_quoted(table)} SET {column} = ? WHERE rowid % {every} = 0", (value,))


def _rename_column(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """A column is called otherwise."""
    old = chance.choice(_columns(base, table))
    new = chance.choice((old + "2", "rank", "x y", old.upper() + "_"))
    base.execute(f"ALTER TABLE {_quoted(table)} RENAME COLUMN {_quoted(old)} TO {_quoted(new)}")


def _drop_column(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """A column is gone."""
    base.execute(f"ALTER TABLE {_quoted(table)} DROP COLUMN {_quoted(chance.choice(_columns(base, table)))}")


def _swap_columns(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """Two columns changed what they hold."""
    one, other = (_quoted(chance.choice(_columns(base, table))) for _ in range(2))
    base.execute(f"UPDATE OR IGNORE {_quoted(table)} SET {one} = {other}, {other} = {one}")


def _repeat_rows(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """Rows stand there twice."""
    base.execute(f"CREATE TABLE twice AS SELECT * FROM {_quoted(table)} UNION ALL SELECT * FROM {_quoted(table)}")
    base.execute(f"DROP TABLE {_quoted(table)}")
    base.execute(f"ALTER TABLE twice RENAME TO {_quoted(table)}")


def _take_rows_of_another(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """A table has the name of another one."""
    names = sorted(str(name) for (name,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'"))
    other = chance.choice(names)
    base.execute(f"DROP TABLE {_quoted(table)}")
    if other != table:
        base.execute(f"CREATE TABLE {_quoted(table)} AS SELECT * FROM {_quoted(other)}")


def _number_rows_oddly(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """Row numbers are negative or as large as they get."""
    far = chance.choice(("-rowid", "9223372036854775807 - rowid", "rowid * 1000000007", "-9223372036854775807 + rowid"))
    base.execute(f"UPDATE OR IGNORE {_quoted(table)} SET rowid = {far}")


def _make_view(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """A view that never ends, or a table that computes, in the place of a table."""
    names = ", ".join(_quoted(name) for name in _columns(base, table))
    first = _quoted(_columns(base, table)[0])
    base.execute(f"DROP TABLE {_quoted(table)}")
    endless = "WITH RECURSIVE n(x) AS (VALUES(1) UNION ALL SELECT x + 1 FROM n)"
    many = ", ".join("x" for _ in names.split(", "))
    base.execute(chance.choice((
        f"CREATE VIEW {_quoted(table)} ({names}) AS {endless} SELECT {many} FROM n",
        f"CREATE TABLE {_quoted(table)} ({first}, big GENERATED ALWAYS AS (zeroblob(1000000000)))",
        f"CREATE VIRTUAL TABLE {_quoted(table)} USING fts5({first})",
    )))  # fmt: skip


def _without_row_numbers(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """A table without row numbers."""
    columns = _columns(base, table)
    names = ", ".join(map(_quoted, columns))
    base.execute(f"CREATE TABLE other ({names}, PRIMARY KEY ({_quoted(columns[0])})) WITHOUT ROWID")
    base.execute(f"INSERT OR IGNORE INTO other SELECT * FROM {_quoted(table)}")
    base.execute(f"DROP TABLE {_quoted(table)}")
    base.execute(f"ALTER TABLE other RENAME TO {_quoted(table)}")


def _change_schema(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """The statement that made a table is another one."""
    base.execute("PRAGMA writable_schema = ON")
    said = chance.choice(
        (
            "CREATE TABLE x(y)",
            "",
            None,
            "garbage",
            f"CREATE TABLE {table}(a,a)",
            b"\xff",
            "CREATE VIEW x AS SELECT 1",
            "x" * 5000,
        )
    )
    what = chance.choice(("sql", "sql", "name", "tbl_name", "rootpage", "type"))
    value: object = chance.choice((0, 1, 99_999, -1, "x")) if what == "rootpage" else said
    base.execute(f"UPDATE sqlite_master SET {what} = ? WHERE name = ?", (value, table))


def _remove_rows(base: sqlite3.Connection, table: str, chance: Random) -> None:
    """Rows of a table are gone: all, every second, either half, or the table."""
    name = _quoted(table)
    half = f"(SELECT count(*) / 2 FROM {name})"
    base.execute(chance.choice((
        f"DELETE FROM {name}", f"DELETE FROM {name} WHERE rowid % 2", f"DROP TABLE {name}",
        f"DELETE FROM {name} WHERE rowid IN (SELECT rowid FROM {name} ORDER BY rowid LIMIT {half})",
        f"DELETE FROM {name} WHERE rowid IN (SELECT rowid FROM {name} ORDER BY rowid DESC LIMIT {half})",
    )))  # fmt: skip


change_cells, rename_column, drop_column = (
    _as_database(_change_cells),
    _as_database(_rename_column),
    _as_database(_drop_column),
)
swap_columns, repeat_rows, take_rows_of_another = (
    _as_database(_swap_columns),
    _as_database(_repeat_rows),
    _as_database(_take_rows_of_another),
)
number_rows_oddly, make_view, change_schema = (
    _as_database(_number_rows_oddly),
    _as_database(_make_view),
    _as_database(_change_schema),
)
without_row_numbers, remove_rows = _as_database(_without_row_numbers), _as_database(_remove_rows)
