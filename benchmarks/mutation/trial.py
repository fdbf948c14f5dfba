# SPDX-License-Identifier: Apache-2.0
"""Puts faults into a copy of the tree, one at a time, and lets the tests of the place judge each.

For each package one process loads the libraries and what of `advisor` comes without that package. Each trial is a fork
of it that reads everything else from the copy: nothing of a fault is left for the next, and a trial starts in a tenth
of the time that a new process takes.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from benchmarks.mutation.covering import Covering, Place, functions_by_line
from benchmarks.mutation.mutants import Mutant

FIRST_SECONDS = 1.0
"""The fastest tests come first, by themselves: most faults are noticed there."""
MOST_SECONDS = 20.0
"""Tests that take longer than this together are not all asked; a fault nobody noticed by then survived."""
STALLED = 10.0
"""A trial that takes ten times what its tests took before, and ten seconds more, has stopped moving."""
MOST_BYTES = 6 << 30
PARTS = 5
"""A sample is judged in so many parts, each of all packages: what was judged when a run is stopped is one too."""

LIBRARIES = (
    *(
        "numpy",
        "pandas",
        "pyarrow.csv",
        "msgspec",
        "pydantic",
        "yaml",
        "sqlite3",
        "rich.console",
        "jinja2",
        "markdown_it",
    ),
    *("hypothesis", "pytest", "httpx2", "jsonschema"),
)


class Verdict(NamedTuple):
    """What became of a fault."""

    name: str
    line: int
    outcome: str
    """`killed`, `timeout`, `survived`, or `unreached` where no test runs the place."""
    by: str
    tests: int
    seconds: float


class Tests:
    """What is known of all tests, asked by place."""

    def __init__(self, top: Path, known: Mapping[str, Covering]) -> None:
        self._top = top
        self.known = dict(known)
        self.forgotten: set[str] = set()
        self._of_place: dict[Place, set[str]] = {}
        self._of_function: dict[tuple[str, str], set[str]] = {}
        for test, covering in known.items():
            for place in covering.places:
                self._of_place.setdefault(place, set()).add(test)
                self._of_function.setdefault((place.file, place.function), set()).add(test)

    def forget(self, test: str) -> None:
        """A test that is not to be asked."""
        self.known.pop(test, None)
        self.forgotten.add(test)

    def of_mutant(self, mutant: Mutant) -> list[str]:
        """Tests that run the place, the fastest first; for a table, those of the functions that name it."""
        lines = (self._top / mutant.file).read_text("utf-8").splitlines()
        texts = [line.strip() for line in lines[mutant.line - 1 : mutant.last_line]]
        found = {test for text in texts for test in self._of_place.get(Place(mutant.file, mutant.function, text), ())}
        found = found or set(self._of_function.get((mutant.file, mutant.function), ()))
        if not found and not mutant.function:
            users = _users_of_line(self._top, mutant.file, mutant.line)
            found = {test for user in users for test in self._of_function.get(user, ())}
        return sorted(
            found & self.known.keys(), key=lambda test: (self.known[test].seconds + self.known[test].setup, test)
        )


def _users_of_line(top: Path, file: str, line: int) -> Iterator[tuple[str, str]]:
    """Functions that name what a line outside of functions defines; all of its file where that is nothing."""
    tree = ast.parse((top / file).read_text("utf-8"))
    statement = next((node for node in tree.body if node.lineno <= line <= (node.end_lineno or 0)), None)
    names = (
        {node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
        if statement
        else set()
    )
    if isinstance(statement, ast.ClassDef | ast.FunctionDef):
        names.add(statement.name)
    for path in sorted((top / "advisor").rglob("*.py")):
        text = path.read_text("utf-8")
        functions = functions_by_line(text)
        own = path.relative_to(top).as_posix()
        for number, words in enumerate(text.splitlines(), start=1):
            if number in functions and any(name in words for name in names):
                yield own, functions[number]


class Chosen:
    """The plugin of a trial: runs what was chosen and what is new, in that order, and says who noticed."""

    def __init__(self, tests: Sequence[str], known: Iterable[str], said: int) -> None:
        self._order = {test: number for number, test in enumerate(tests)}
        self._known = known
        self._said = said

    def pytest_collection_modifyitems(self, items: list[object]) -> None:
        """Keeps files together: what tests of a file share is made once."""
        last = len(self._order)
        kept = [item for item in items if item.nodeid in self._order or item.nodeid not in self._known]
        items[:] = sorted(kept, key=lambda item: self._order.get(item.nodeid, last))
        order = {
            file: number for number, file in enumerate(dict.fromkeys(item.nodeid.split("::")[0] for item in items))
        }
        items.sort(key=lambda item: order[item.nodeid.split("::")[0]])

    def pytest_runtest_logreport(self, report: object) -> None:
        """The first that fails."""
        if report.failed:
            os.write(self._said, report.nodeid.encode() + b"\n")

    def pytest_collectreport(self, report: object) -> None:
        """A file that can no longer be read fails as well."""
        if report.failed:
            os.write(self._said, f"{report.nodeid} (cannot be collected)\n".encode())


class Trials:
    """Runs trials in one copy of the tree."""

    def __init__(self, tree: Path, tests: Tests) -> None:
        self._tree, self._tests = tree, tests
        self._folder = tree.parent / "trial"

    def judge_all(self, sample: Sequence[Mutant], verdicts: Path) -> None:
        """Judges what is not judged yet, package by package, each in a process that has loaded all but that package."""
        for part in range(PARTS):
            self._judge_part(sample[part::PARTS], verdicts)

    def _judge_part(self, sample: Sequence[Mutant], verdicts: Path) -> None:
        judged = read_verdicts(verdicts)
        by_package: dict[str, list[Mutant]] = {}
        for mutant in sample:
            if mutant.name not in judged:
                by_package.setdefault(mutant.file.split("/")[1], []).append(mutant)
        for package, mutants in by_package.items():
            if (child := os.fork()) == 0:
                preload_beside(self._tree, package)
                for mutant in mutants:
                    write_verdict(verdicts, verdict := self.judge(mutant))
                    print(
                        f"{verdict.outcome} {verdict.seconds} s, {verdict.tests} tests: {mutant.name} {verdict.by}",
                        flush=True,
                    )
                os._exit(0)
            os.waitpid(child, 0)

    def judge(self, mutant: Mutant) -> Verdict:
        """Lets the tests of a place judge a fault, the fastest first."""
        tests = self._tests.of_mutant(mutant)
        if not tests:
            return Verdict(mutant.name, mutant.line, "unreached", "", 0, 0.0)
        started = time.monotonic()
        path = self._tree / mutant.file
        original = path.read_text("utf-8")
        outcome, by, asked = "survived", "", 0
        path.write_text(mutant.source, "utf-8")
        try:
            for stage in self._stages(tests):
                asked += len(stage)
                outcome, failed = self.run(stage)
                by = failed[0] if failed else ""
                if outcome != "survived":
                    break
        finally:
            path.write_text(original, "utf-8")
        return Verdict(mutant.name, mutant.line, outcome, by, asked, round(time.monotonic() - started, 1))

    def _stages(self, tests: Sequence[str]) -> Iterator[Sequence[str]]:
        spent, first, rest = 0.0, [], []
        opened: set[str] = set()
        for test in tests:
            known, file = self._tests.known[test], test.split("::")[0]
            spent += known.seconds + 0.002 + (0.0 if file in opened else known.setup)
            opened.add(file)
            if spent <= FIRST_SECONDS or not first:
                first.append(test)
            elif spent <= MOST_SECONDS or not rest:
                rest.append(test)
        yield first
        if rest:
            yield rest

    def judge_again(self, sample: Sequence[Mutant], verdicts: Path) -> None:
        """Faults that a test noticed which fails without them too are judged again, without that test."""
        judged = read_verdicts(verdicts)
        killers = sorted({verdict.by for verdict in judged.values()} & self._tests.known.keys())
        _, failed = self.run(killers, stop=False)
        for test in failed:
            print(f"fails by itself: {test}", flush=True)
            self._tests.forget(test)
        lines = [verdict for verdict in judged.values() if verdict.by not in failed]
        verdicts.write_text("", "utf-8")
        for verdict in lines:
            write_verdict(verdicts, verdict)
        if failed:
            self.judge_all(sample, verdicts)
            self.judge_again(sample, verdicts)

    def run(self, tests: Sequence[str], *, stop: bool = True) -> tuple[str, list[str]]:
        """What became of a run of these tests, and which failed, up to the first unless all are wanted."""
        expected = sum(self._tests.known[test].seconds for test in tests if test in self._tests.known)
        self._forget()
        ear, mouth = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(ear)
            seconds = int(expected * STALLED + STALLED)
            known = self._tests.known.keys() | self._tests.forgotten
            os._exit(_run_tests(self._tree, self._folder, tests, known, mouth=mouth, seconds=seconds, stop=stop))
        os.close(mouth)
        status = _wait(child, expected * STALLED * 4 + 120)
        with os.fdopen(ear, "rb") as file:
            failed = file.read().decode(errors="replace").splitlines()
        if status is None or (os.WIFSIGNALED(status) and os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL)):
            return "timeout", failed
        if os.WIFSIGNALED(status):
            return "killed", failed or [f"signal {os.WTERMSIG(status)}"]
        code = os.WEXITSTATUS(status)
        return ("survived", []) if code in (0, 5) and not failed else ("killed", failed or [f"exit code {code}"])

    def _forget(self) -> None:
        """Of what a trial shares with the next, only generated captures stay: nothing that is mutated made them."""
        shared = self._folder / "shared"
        kept = {path.stem for path in shared.glob("*.stamps")} if shared.is_dir() else set()
        for path in self._folder.iterdir() if self._folder.is_dir() else ():
            if path != shared:
                shutil.rmtree(path, ignore_errors=True)
        for path in shared.iterdir() if shared.is_dir() else ():
            if path.name not in kept and path.stem not in kept:
                path.unlink() if path.is_file() else shutil.rmtree(path, ignore_errors=True)


def _run_tests(
    tree: Path, folder: Path, tests: Sequence[str], known: Iterable[str], *, mouth: int, seconds: int, stop: bool
) -> int:
    """In the fork: pytest, quiet."""
    import pytest

    os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in (0, 1, 2):
        os.dup2(nothing, number)
    os.chdir(tree)
    # the folder that workers of one run share is that of the run before
    os.environ["PYTEST_XDIST_WORKER"] = "gw0"
    folder.mkdir(exist_ok=True)
    files = list(dict.fromkeys(test.split("::")[0] for test in tests))
    options = [
        *(["-x"] if stop else []),
        "-q",
        "--tb=no",
        "--no-header",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:xdist",
        f"--basetemp={folder / 'own'}",
    ]
    try:
        return int(pytest.main([*options, *files], plugins=[Chosen(tests, known, mouth)]))
    except BaseException as error:  # noqa: BLE001  a fault may do anything
        os.write(mouth, f"{type(error).__name__} outside of tests\n".encode())
        return 1


def _wait(child: int, seconds: float) -> int | None:
    """How a child ended; None where it had to be ended, with all that it started."""
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(child, signal.SIGKILL)
            return status
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return None


def preload(tree: Path) -> None:
    """Loads the libraries, and lets everything else come from the copy."""
    sys.dont_write_bytecode = True  # a file changes twice a second
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    os.environ["PYTHONPATH"] = str(tree)
    sys.path[:] = [str(tree), *(path for path in sys.path if Path(path or ".").resolve() not in (tree, Path.cwd()))]
    for name in LIBRARIES:
        importlib.import_module(name)


def preload_beside(tree: Path, package: str) -> None:
    """Loads every module of `advisor` that comes without a part of this package."""
    for name in modules_without(tree, f"advisor.{package}"):
        importlib.import_module(name)
    importlib.import_module("corpus")
    if any(_is_within(name, f"advisor.{package}") for name in sys.modules):
        raise RuntimeError(f"{package} is loaded already, and no fault in it would be seen")
    gc.freeze()


def modules_without(tree: Path, package: str) -> list[str]:
    """The modules of `advisor` that load nothing of a package when they are loaded."""
    paths = sorted((tree / "advisor").rglob("*.py"))
    names = {".".join(path.relative_to(tree).with_suffix("").parts).removesuffix(".__init__"): path for path in paths}
    loads = {name: set(_loaded_modules(ast.parse(path.read_text("utf-8")))) for name, path in names.items()}
    left = {name for name in names if not _is_within(name, package) and not name.endswith("__main__")}
    while True:
        gone = {name for name in left if any(other in names and other not in left for other in loads[name])}
        gone |= {name for name in left if name.rpartition(".")[0] not in {*left, ""}}
        if not gone:
            return sorted(left)
        left -= gone


def _loaded_modules(tree: ast.Module) -> Iterator[str]:
    """What a module imports as it is loaded: not inside of functions, nor for the type checker."""
    todo: list[ast.AST] = list(tree.body)
    while todo:
        match todo.pop():
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield module
                yield from (f"{module}.{each.name}" for each in names)
            case ast.If(test=ast.Name(id="TYPE_CHECKING")) | ast.FunctionDef() | ast.AsyncFunctionDef():
                continue
            case node:
                todo += [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.stmt)]


def _is_within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def copy_tree(top: Path, tree: Path) -> None:
    """The files of the repository as they are, and compiled code of none of them."""
    tree.mkdir(parents=True)
    names = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=top, check=True, capture_output=True
    ).stdout
    subprocess.run(["xargs", "-0", "cp", "--parents", "-t", str(tree)], cwd=top, input=names, check=True)


def write_verdict(path: Path, verdict: Verdict) -> None:
    """Adds a line: a run that is stopped goes on where it was."""
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(verdict._asdict(), ensure_ascii=False) + "\n")


def read_verdicts(path: Path) -> dict[str, Verdict]:
    """What was judged before."""
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return {verdict.name: verdict for verdict in (Verdict(**json.loads(line)) for line in lines)}
