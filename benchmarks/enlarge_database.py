# SPDX-License-Identifier: Apache-2.0
# ruff: noqa: S608 - tables and columns are those of the capture that was given to be enlarged
"""Makes a big database capture of a small one, as `enlarge.py` does with text: repeats its steps, later each time.

    python -m benchmarks.enlarge_database CAPTURE OUT --repeat 90

The input is one `*_ascend_pt` folder with an `ascend_pytorch_profiler_*.db`. Each repeat is as much later as the
capture is long; steps, tasks, collectives and connections go on counting; what has no time is kept as it is. SQLite
does the work, row by row of its own.
"""

from __future__ import annotations

import argparse
import re
import shutil
import sqlite3
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

_OUTPUT = "ASCEND_PROFILER_OUTPUT"
_PROFILER, _ANALYSIS = "ascend_pytorch_profiler_*.db", "analysis.db"
_TIMES = frozenset(("startNs", "endNs", "timestampNs", "timestamp", "start_timestamp")) | frozenset(
    ("allocationTime", "releaseTime", "activeReleaseTime")
)
_COUNTED = frozenset(["globalTaskId", "opId", "connectionId"])
"""Numbers of tasks, collectives and connections: those of one repeat follow those of the one before."""
_OF_TASKS = frozenset(["COMPUTE_TASK_INFO", "COMMUNICATION_TASK_INFO", "TASK_PMU_INFO", "CONNECTION_IDS"])
"""Tables without a time of their own whose rows belong to tasks or calls."""
_KEPT = frozenset({"SESSION_TIME_INFO"})
_NUMBERING = "number of the row"
"""SQLite goes on counting where such a column is given nothing."""
_NONE = 4_294_967_295
"""What the profiler writes where a task has no connection."""
_EARLIEST = 1_000_000_000
"""Smaller times are none: 0 where nothing was freed."""
_STEP_MARK = re.compile(r"(ProfilerStep#)(\d+)")
_STEP_NAME = re.compile(r"(\D*)(\d+)")


@dataclass(frozen=True, slots=True)
class _Strides:
    """How far times and numbers move from one repeat to the next."""

    ns: int
    number: int
    step: int


def enlarge_database(capture: Path, out: Path, repeats: int) -> Path:
    """Write a capture that holds another one `repeats` times.

    Raises:
        FileNotFoundError: There is no database of the profiler in the folder.
    """
    found = sorted((capture / _OUTPUT).glob(_PROFILER))
    if not found:
        raise FileNotFoundError(f"{capture}: no {_OUTPUT}/{_PROFILER} in it")
    (out / _OUTPUT).mkdir(parents=True)
    for path in (*capture.glob("*.json"), *found, *(capture / _OUTPUT).glob(_ANALYSIS)):
        shutil.copyfile(path, out / path.relative_to(capture))
    with closing(_open_quick(out / _OUTPUT / found[0].name)) as database:
        strides = _strides_of(database)
        _repeat_rows(database, strides, repeats)
        _renumber_marks(database, strides, repeats)
        database.commit()
    if (out / _OUTPUT / _ANALYSIS).exists():
        with closing(_open_quick(out / _OUTPUT / _ANALYSIS)) as database:
            _repeat_steps(database, strides, repeats)
            database.commit()
    return out


def repeats_for_database(capture: Path, size: int) -> int:
    """How often to repeat a capture so that its database has a size: tried with a few, for some tables do not grow."""
    with tempfile.TemporaryDirectory() as folder:
        few = [_size_of(enlarge_database(capture, Path(folder) / str(count), count)) for count in (2, 10)]
    return max(1, round((size - few[0]) / (few[1] - few[0]) * 8) + 2)


def _size_of(capture: Path) -> int:
    return sum(path.stat().st_size for path in (capture / _OUTPUT).glob(_PROFILER))


def _open_quick(path: Path) -> sqlite3.Connection:
    path.chmod(0o644)
    database = sqlite3.connect(path)
    database.executescript("PRAGMA journal_mode=off; PRAGMA synchronous=off;")
    return database


def _tables(database: sqlite3.Connection) -> Iterator[tuple[str, dict[str, str]]]:
    """Each table with its columns and their types; that of a column by which SQLite numbers rows is `_NUMBERING`."""
    for (table,) in database.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall():
        fields = database.execute(f'PRAGMA table_info("{table}")').fetchall()
        alone = sum(1 for *_, key in fields if key) == 1
        yield (
            table,
            {
                name: _NUMBERING if key and alone and kind.upper() == "INTEGER" else kind
                for _, name, kind, _, _, key in fields
            },
        )


def _strides_of(database: sqlite3.Connection) -> _Strides:
    tables = dict(_tables(database))
    edges = [
        database.execute(f"SELECT min(CAST({start} AS INTEGER)), max(CAST({end} AS INTEGER)) FROM {table}").fetchone()
        for table, start, end in (("TASK", "startNs", "endNs"), ("PYTORCH_API", "startNs", "endNs"))
        if table in tables
    ]
    known = [edge for edge in edges if None not in edge]
    largest = [
        database.execute(f'SELECT max("{name}") FROM "{table}" WHERE "{name}" < {_NONE}').fetchone()[0] or 0
        for table, columns in tables.items()
        for name in {*columns} & _COUNTED
    ]
    keys = (
        [database.execute("SELECT max(id) FROM CONNECTION_IDS").fetchone()[0] or 0]
        if "CONNECTION_IDS" in tables
        else []
    )
    marks = [int(number) for _, number in _step_marks(database)]
    return _Strides(
        ns=max(end for _, end in known) - min(start for start, _ in known) + 1000,
        number=max((*largest, *keys), default=0) + 1,
        step=max(marks, default=0) - min(marks, default=0) + 1,
    )


def _step_marks(database: sqlite3.Connection) -> list[tuple[int, str]]:
    """Id and number of each step that is named."""
    rows = database.execute("SELECT id, value FROM STRING_IDS WHERE value LIKE 'ProfilerStep#%'").fetchall()
    return [(key, match[2]) for key, value in rows if (match := _STEP_MARK.fullmatch(value))]


def _repeat_rows(database: sqlite3.Connection, strides: _Strides, repeats: int) -> None:
    database.execute("CREATE TEMP TABLE later (i INTEGER)")
    database.executemany("INSERT INTO later VALUES (?)", ((number,) for number in range(1, repeats)))
    for table, columns in _tables(database):
        if table in _KEPT or not ({*columns} & _TIMES or table in _OF_TASKS):
            continue
        moved = ", ".join(_moved(table, name, kind, strides) for name, kind in columns.items())
        database.execute(f'INSERT INTO "{table}" SELECT {moved} FROM (SELECT * FROM "{table}"), later ORDER BY i')


def _moved(table: str, name: str, kind: str, strides: _Strides) -> str:
    """The value of a column in the repeat with the number `i`."""
    if name in _TIMES:
        later = f'CAST("{name}" AS INTEGER) + i * {strides.ns}'
        shown = f"CAST({later} AS TEXT)" if kind == "TEXT" else later
        return f'CASE WHEN CAST("{name}" AS INTEGER) < {_EARLIEST} OR "{name}" IS NULL THEN "{name}" ELSE {shown} END'
    if name in _COUNTED:
        return f'CASE WHEN "{name}" >= 0 AND "{name}" < {_NONE} THEN "{name}" + i * {strides.number} ELSE "{name}" END'
    if name == "id" and table == "CONNECTION_IDS":
        return f'"{name}" + i * {strides.number}'
    if (table, name) == ("STEP_TIME", "id"):
        return f'"{name}" + i * {strides.step}'
    return "NULL" if kind == _NUMBERING else f'"{name}"'


def _renumber_marks(database: sqlite3.Connection, strides: _Strides, repeats: int) -> None:
    """The marks of each repeat are of steps of their own."""
    if "PYTORCH_API" not in dict(_tables(database)):
        return
    last = database.execute("SELECT max(id) FROM STRING_IDS").fetchone()[0]
    for key, number in _step_marks(database):
        rows = [
            row for (row,) in database.execute("SELECT rowid FROM PYTORCH_API WHERE name = ? ORDER BY rowid", (key,))
        ]
        for at in range(1, repeats):
            last += 1
            database.execute(
                "INSERT INTO STRING_IDS VALUES (?, ?)", (last, f"ProfilerStep#{int(number) + at * strides.step}")
            )
            each = len(rows) // repeats
            database.executemany(
                "UPDATE PYTORCH_API SET name = ? WHERE rowid = ?",
                ((last, row) for row in rows[at * each : (at + 1) * each]),
            )


def _repeat_steps(database: sqlite3.Connection, strides: _Strides, repeats: int) -> None:
    """The analysis of each step again for its repeats; sums of links are those of the first."""
    for table, columns in _tables(database):
        if "step" not in columns:
            continue
        names, at = list(columns), list(columns).index("step")
        for row in database.execute(f'SELECT * FROM "{table}"').fetchall():
            match = _STEP_NAME.fullmatch(str(row[at]))
            if match is None:
                continue
            for number in range(1, repeats):
                later = dict(zip(names, row, strict=True))
                later["step"] = f"{match[1]}{int(match[2]) + number * strides.step}"
                if later.get("start_timestamp"):
                    later["start_timestamp"] += number * strides.ns / 1000
                holes = ", ".join("?" * len(later))
                database.execute(f'INSERT INTO "{table}" VALUES ({holes})', (*later.values(),))


def main() -> int:
    """Enlarge one capture."""
    parser = argparse.ArgumentParser(description="Repeats the steps of a database capture")
    parser.add_argument("capture", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--repeat", type=int, default=2)
    options = parser.parse_args()
    enlarge_database(options.capture, options.out, options.repeat)
    print(f"{options.out}: {options.repeat} times {options.capture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
