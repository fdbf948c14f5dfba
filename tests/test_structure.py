# SPDX-License-Identifier: Apache-2.0
"""The structure of the package, where contracts between layers do not look: inside functions."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import advisor

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
