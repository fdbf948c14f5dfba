# SPDX-License-Identifier: Apache-2.0
"""The structure of the package, where contracts between layers do not look: inside functions, and at names."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import advisor
from advisor.analysis import DERIVATIONS
from advisor.facts.derivation import fact_of_derivation

PACKAGE = Path(advisor.__file__).parent


def modules() -> dict[str, Path]:
    """Every module by its dotted name, packages by their own."""
    found = {}
    for file in PACKAGE.rglob("*.py"):
        parts = file.relative_to(PACKAGE.parent).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    return found


def imported(file: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of the package that a file imports, at the top or anywhere inside."""
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            yield from (name if name in known else node.module for name in names if node.module in known)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)


def in_order(graph: dict[str, set[str]]) -> list[str]:
    return list(TopologicalSorter(graph).static_order())


def test_no_module_imports_itself_by_way_of_others():
    """A package runs before its modules, but knows only what its own file imports: each is a node of its own."""
    known = modules()
    graph = {name: set(imported(file, known)) - {name} for name, file in known.items()}
    assert len(in_order(graph)) == len(known)


def test_a_cycle_is_found_where_there_is_one():
    with pytest.raises(CycleError):
        in_order({"a": {"b"}, "b": {"c"}, "c": {"a"}})


def test_imports_inside_functions_count(tmp_path: Path):
    file = tmp_path / "late.py"
    file.write_text("def run():\n    from advisor.facts import table\n    import advisor.model.run\n")
    assert set(imported(file, modules())) == {"advisor.facts.table", "advisor.model.run"}


def types_defined(file: Path) -> Iterator[str]:
    """Public classes and aliases of types at the top of a module."""
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.ClassDef):
            names = [node.name]
        elif isinstance(node, ast.Assign):
            names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        else:
            names = []
        yield from (name for name in names if name[0].isupper() and not name.isupper())


def test_the_name_of_a_type_means_one_thing():
    places = defaultdict(set)
    for module, file in modules().items():
        for name in types_defined(file):
            places[name].add(module)
    assert not {name: sorted(where) for name, where in places.items() if len(where) > 1}


ONE_WORD = 0.40
"""Of libraries whose names are a pleasure to read, 5 to 49 % of the functions are named by one word."""


def functions_defined(file: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith("__"):
            yield node.name.strip("_")


def test_a_function_says_what_it_does_to_what():
    names = [name for file in modules().values() for name in functions_defined(file)]
    assert sum("_" not in name for name in names) < ONE_WORD * len(names)


SERIES = {
    "facts": {"capture", "communication", "host", "modules", "steps"},  # what is observed of each, and what is derived
    "report": {"document", "page", "words", "workbook"},  # of one document
    "sources": {  # of one family, and of any; one fact in each family that holds it
        *("detect", "opening", "reading", "readings", "captures"),
        *("collectives", "device_tasks", "host_calls", "kernels", "launches", "memory", "modules", "settings", "steps"),
    },
}
"""By room: the stems that stand in several of its folders, where the folder says of what the module is."""


def test_a_module_is_told_by_its_name_alone_or_is_one_of_a_series():
    files = (Path(*file.relative_to(PACKAGE).parts) for file in modules().values() if file.name != "__init__.py")
    stems = Counter((file.parts[0], file.stem) for file in files if len(file.parts) > 1)
    several = defaultdict(set)
    for (room, stem), count in stems.items():
        if count > 1:
            several[room].add(stem)
    assert several == SERIES


def test_a_fact_that_follows_stands_under_the_subject_of_its_derivation():
    apart = {
        fact.__name__: (fact.__module__, derivation.__module__)
        for derivation in DERIVATIONS
        for fact in [fact_of_derivation(derivation)]
        if fact.__module__.split(".")[3] != derivation.__module__.split(".")[2]
    }
    assert not apart


def test_a_finding_is_looked_up_by_its_fingerprint_in_one_place():
    found = [
        f"{file.relative_to(PACKAGE)}:{node.lineno}"
        for file in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.DictComp)
        and ast.unparse(node.key).endswith(".fingerprint")
        and re.search(r"\b(diagnosis|self)\.findings\b", ast.unparse(node.generators[0].iter))
    ]
    assert [place.partition(":")[0] for place in found] == ["model/findings.py"], found


MAP = re.search(r"^```text\n(.*?)^```", (PACKAGE.parent / "docs/how-it-works.md").read_text("utf-8"), re.M | re.S)
SCREEN = 50
"""Lines that a screen shows."""
FIRST_LEVEL = 30
"""Entries that are still looked over at once."""


def test_the_map_names_everything_on_the_first_level_and_every_family_and_fits_on_a_screen():
    assert MAP is not None
    rooms = {file.parent.name for place in (PACKAGE, PACKAGE / "sources") for file in place.glob("*/__init__.py")}
    named = set(re.findall(r"\b(\w+)/", MAP[1])) | set(re.findall(r"\b(\w+\.py)\b", MAP[1]))
    assert rooms | {file.name for file in PACKAGE.glob("*.py")} <= named
    shipped = (
        path for name in ("rules", "chips", "templates", "guides") for path in (PACKAGE.parent / name).rglob("*")
    )
    beside = {path.name for path in PACKAGE.parent.iterdir()} | {path.name for path in shipped}
    assert named <= {path.name for path in PACKAGE.rglob("*")} | beside
    assert MAP[1].count("\n") <= SCREEN


def test_few_rooms_are_on_the_first_level():
    entries = [path for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()]
    assert len(entries) <= FIRST_LEVEL


def test_no_two_test_files_have_one_name():
    """They are imported by their names alone: of two that have one name, pytest collects none."""
    names = Counter(file.name for file in (PACKAGE.parent / "tests").rglob("test_*.py"))
    assert not [name for name, count in names.items() if count > 1]
