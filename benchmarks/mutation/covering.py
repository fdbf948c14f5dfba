# SPDX-License-Identifier: Apache-2.0
"""Which test runs which line, and how long it takes: recorded once per test file, kept until the file changes.

A line is known by file, function and its text, not by its number: what is recorded stays true while code moves.
"""

from __future__ import annotations

import ast
import hashlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Generator, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

PACKAGES = ("analysis", "sources", "engine", "expr", "policy", "comparison", "bot")
"""Parts of `advisor` whose mistakes cost a user most: wrong figures, wrong verdicts, a token given away."""

LEFT_OUT = (
    *("tests/ci/", "tests/corpus/", "tests/injected/", "tests/mcp_server/", "tests/report/", "tests/test_accuracy"),
    *("tests/test_documentation", "tests/test_supply_chain", "tests/cli/test_endings", "tests/cli/test_streams"),
)
"""Tests of other packages, of other programs, and those that start processes: nobody sees there what runs."""

_COLLECTION = "collection"


class Place(NamedTuple):
    """A line of the code, as it is known when others move it."""

    file: str
    function: str
    text: str


class Covering(NamedTuple):
    """What is known of one test."""

    seconds: float
    setup: float
    """Seconds for what the tests of its file share."""
    places: frozenset[Place]


def functions_by_line(source: str) -> dict[int, str]:
    """The qualified name of the innermost function of every line that is inside one."""
    names: dict[int, str] = {}

    def name_lines(node: ast.AST, prefix: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}{child.name}"
                if not isinstance(child, ast.ClassDef):
                    names.update(dict.fromkeys(range(child.body[0].lineno, (child.end_lineno or 0) + 1), name))
                name_lines(child, f"{name}.")
            else:
                name_lines(child, prefix)

    name_lines(ast.parse(source), "")
    return names


def places_of_lines(top: Path, file: str) -> Callable[[int], Place | None]:
    """Names lines of a file; lines outside of functions run at import, for no test in particular."""
    source = (top / file).read_text("utf-8")
    lines, functions = source.splitlines(), functions_by_line(source)

    @cache
    def place(line: int) -> Place | None:
        return Place(file, functions[line], lines[line - 1].strip()) if line in functions else None

    return place


def digest_of_file(path: Path) -> str:
    """What tells whether a test file is still the one that was recorded."""
    return hashlib.blake2b(path.read_bytes(), digest_size=8).hexdigest()


def test_files(top: Path) -> Iterator[str]:
    """Test modules and rule files, the cheap ones first."""
    found = [*top.glob("tests/**/test_*.py"), *top.glob("rules/**/*.yaml")]
    names = sorted(path.relative_to(top).as_posix() for path in found)
    for name in sorted(names, key=lambda name: (name.count("/") == 1, name)):
        if not name.startswith(LEFT_OUT) and "/bad/" not in name:
            yield name


def _record_path(store: Path, name: str) -> Path:
    return store / f"{name.replace('/', '~')}.json"


def record(top: Path, store: Path, batch: int = 8) -> None:
    """Runs every test file that is new or changed, and keeps what it covers."""
    store.mkdir(parents=True, exist_ok=True)
    wanted = [name for name in test_files(top) if not _is_recorded(top, store, name)]
    for start in range(0, len(wanted), batch):
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-q",
            "-p",
            "benchmarks.mutation.covering",
            *wanted[start : start + batch],
        ]
        environment = {**os.environ, "PYTHONPATH": str(top), "ADVISOR_COVERING": str(store), "COVERAGE_CORE": "ctrace"}
        print(f"{start}/{len(wanted)} test files recorded", flush=True)
        subprocess.run([*command, "-p", "no:cacheprovider"], cwd=top, env=environment, check=False)


def _is_recorded(top: Path, store: Path, name: str) -> bool:
    path = _record_path(store, name)
    return path.exists() and json.loads(path.read_bytes())["digest"] == digest_of_file(top / name)


def read_records(store: Path) -> dict[str, Covering]:
    """Every test that passed when it was recorded; what a file does when it is collected counts for all its tests."""
    known: dict[str, Covering] = {}
    for path in sorted(store.glob("*.json")):
        document = json.loads(path.read_bytes())
        places = [Place(*place) for place in document["places"]]
        shared = frozenset(places[number] for number in document["tests"].pop(_COLLECTION, (0, ()))[1])
        for test, (seconds, numbers) in document["tests"].items():
            known[test] = Covering(seconds, document["setup"], shared | {places[number] for number in numbers})
    return known


class Recorder:
    """The plugin that watches a run of pytest."""

    def __init__(self, top: Path, store: Path) -> None:
        import coverage

        self._top, self._store = top, store
        self._seconds: dict[str, float] = {}
        self._setup: dict[str, float] = {}
        self._coverage = coverage.Coverage(
            data_file=None, config_file=False, source=[str(top / "advisor" / package) for package in PACKAGES]
        )
        self._coverage.start()

    @pytest.hookimpl(wrapper=True)
    def pytest_make_collect_report(self, collector: pytest.Collector) -> Generator[None, Any, Any]:
        """Rules are read when their file is collected."""
        self._coverage.switch_context(f"{_file_of(collector.nodeid)}::{_COLLECTION}")
        return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        """What runs from here on is for this test."""
        self._coverage.switch_context(item.nodeid)
        return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Only a test that passes can notice anything."""
        if report.when == "call" and report.passed:
            self._seconds[report.nodeid] = self._seconds.get(report.nodeid, 0) + report.duration
        if report.when == "setup" and report.passed:
            self._seconds.setdefault(report.nodeid, 0)
            file = _file_of(report.nodeid)
            self._setup[file] = max(self._setup.get(file, 0), round(report.duration, 2))
        if report.failed:
            self._seconds[report.nodeid] = float("nan")

    def pytest_sessionfinish(self) -> None:
        """One record per test file."""
        self._coverage.stop()
        covered = self._covered()
        passed = {test: seconds for test, seconds in self._seconds.items() if not math.isnan(seconds)}
        for file in {_file_of(test) for test in passed}:
            own = {test: seconds for test, seconds in passed.items() if _file_of(test) == file}
            own[_COLLECTION] = 0.0
            self._write(file, own, covered)

    def _covered(self) -> dict[str, set[Place]]:
        covered: dict[str, set[Place]] = {}
        data = self._coverage.get_data()
        for path in data.measured_files():
            place = places_of_lines(self._top, Path(path).relative_to(self._top).as_posix())
            for line, contexts in data.contexts_by_lineno(path).items():
                known = place(line)
                for context in contexts if known else ():
                    covered.setdefault(context, set()).add(known)
        return covered

    def _write(self, file: str, tests: Mapping[str, float], covered: Mapping[str, set[Place]]) -> None:
        numbers: dict[Place, int] = {}
        rows = {}
        for test, seconds in tests.items():
            context = f"{file}::{_COLLECTION}" if test == _COLLECTION else test
            own = covered.get(context, ())
            rows[test] = (round(seconds, 4), sorted(numbers.setdefault(place, len(numbers)) for place in own))
        setup = self._setup.get(file, 0)
        document = {"digest": digest_of_file(self._top / file), "setup": setup, "places": list(numbers), "tests": rows}
        _record_path(self._store, file).write_text(json.dumps(document), "utf-8")


def _file_of(test: str) -> str:
    return test.split("::", 1)[0]


def pytest_configure(config: pytest.Config) -> None:
    """Watches where it is asked to."""
    if store := os.environ.get("ADVISOR_COVERING"):
        config.pluginmanager.register(Recorder(Path(config.rootpath), Path(store)))
