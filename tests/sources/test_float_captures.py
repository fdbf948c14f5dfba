# SPDX-License-Identifier: Apache-2.0
"""Captures whose times somebody's program turned into floating-point numbers: nothing of them is lost but digits."""

from __future__ import annotations

import csv
import json
import shutil
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

import advisor
from advisor.model.findings import Diagnosis, Severity
from tests.shared_captures import SharedCaptures

TIMES = ("startNs", "endNs", "timestampNs")
NEAR_US = 60.0
"""A saving adds up the rounding of many times, each an eighth of a µs at most."""


def float_trace(folder: Path) -> None:
    """As `json.load`, `float(event["ts"])` and `json.dump` leave it."""
    for path in folder.rglob("trace_view.json"):
        events = json.loads(path.read_text())
        for event in events:
            event.update({name: float(event[name]) for name in ("ts", "dur") if name in event})
        path.write_text(json.dumps(events))


def float_table(folder: Path) -> None:
    """As spreadsheets of a program leave it that reads columns of numbers as floats."""
    for path in folder.rglob("kernel_details.csv"):
        with path.open(newline="") as file:
            heading, *rows = csv.reader(file)
        at = heading.index("Start Time(us)")
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([heading, *([*row[:at], float(row[at]), *row[at + 1 :]] for row in rows)])


def float_both(folder: Path) -> None:
    float_trace(folder)
    float_table(folder)


def float_database(folder: Path) -> None:
    """Tables whose columns of times were declared REAL, as those written from data frames are."""
    for path in folder.rglob("ascend_pytorch_profiler*.db"):
        with sqlite3.connect(path) as database:
            tables = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (table,) in tables:
                columns = [(row[1], row[2]) for row in database.execute(f"PRAGMA table_info({table})")]
                if not any(name in TIMES for name, _ in columns):
                    continue
                kinds = ", ".join(f"{name} {'REAL' if name in TIMES else kind}" for name, kind in columns)
                database.execute(f"ALTER TABLE {table} RENAME TO exact")
                database.execute(f"CREATE TABLE {table} ({kinds})")
                database.execute(f"INSERT INTO {table} SELECT * FROM exact")
                database.execute("DROP TABLE exact")
        database.close()


WRITERS: dict[str, tuple[str, Callable[[Path], None], tuple[str, ...]]] = {
    "trace": ("text", float_trace, ("trace_view.json",)),
    "table": ("text", float_table, ("kernel_details.csv",)),
    "trace and table": ("text", float_both, ("kernel_details.csv", "trace_view.json")),
    "database": ("database", float_database, ("ascend_pytorch_profiler",)),
}


def told(diagnosis: Diagnosis, *, but: str = "") -> list[tuple[str, object, object]]:
    return [(one.rule, one.severity, one.confidence) for one in diagnosis.findings if one.rule != but]


@pytest.fixture(params=[*WRITERS])
def pair(request: pytest.FixtureRequest, shared: SharedCaptures, tmp_path: Path) -> tuple[Diagnosis, Diagnosis, str]:
    """The diagnosis of a capture, that of the same one written with floats, and how."""
    export, write, _ = WRITERS[request.param]
    whole = shared.written("host-bound", small=True, export=export)
    folder = Path(shutil.copytree(whole, tmp_path / "floats"))
    write(folder)
    return shared.diagnosed("host-bound", small=True, export=export), advisor.diagnose(folder), request.param


def test_times_written_as_floats_lose_digits_and_no_rows(pair: tuple[Diagnosis, Diagnosis, str]) -> None:
    whole, floats, how = pair
    assert told(floats, but="capture/rounded-times") == told(whole)
    for one, other in zip(whole.findings, floats.findings, strict=False):
        assert other.saving.us == pytest.approx(one.saving.us, abs=NEAR_US, rel=1e-3)
    assert "capture/rounded-times" not in {one.rule for one in whole.findings}
    (finding,) = [one for one in floats.findings if one.rule == "capture/rounded-times"]
    assert finding.severity is Severity.info
    assert finding.excerpt is not None
    files = {Path(str(file)).name for (file,) in finding.excerpt.rows}
    assert all(any(file.startswith(name) for name in WRITERS[how][2]) for file in files)
    assert not floats.unread
