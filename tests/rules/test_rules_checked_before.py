# SPDX-License-Identifier: Apache-2.0
"""A rule whose file was found right before says the same as one that is checked, and computes it when it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import rule_texts

from advisor.expr import compile as expressions
from advisor.expr.compile import Compiled
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import RuleError
from advisor.rules.bind import Rule, bind_rule
from advisor.rules.catalog import Catalog, gather_rules, read_rule, rule_files
from advisor.yaml_files.document import read_text
from advisor.yaml_files.parsed_files import document_of_text

FILES = [path for path, _ in rule_files([shipped_folder("rules")])]


def read_anew(path: Path, *, checked: bool) -> Rule:
    document = document_of_text(read_text(path, path.name).encode(), path.name, tests=False)
    document.was_checked = checked
    rule = bind_rule(document, path)
    assert isinstance(rule, Rule)
    return rule


def everything_computed(rule: Rule) -> Iterator[Compiled | None]:
    yield from rule.expressions()
    if rule.saving is not None:
        yield rule.saving.imposes
    yield rule.symptom


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_is_compiled_when_asked_is_what_a_check_compiles(path: Path) -> None:
    later, at_once = read_anew(path, checked=True), read_anew(path, checked=False)
    for one, other in zip(everything_computed(later), everything_computed(at_once), strict=True):
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert (one.source, one.type, one.names) == (other.source, other.type, other.names)
    assert (later.info(), later.logic(), later.settings) == (at_once.info(), at_once.logic(), at_once.settings)


def test_what_only_findings_need_is_not_compiled_before_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    path = next(path for path in FILES if path.name == "free-time.yaml")
    sources: list[str] = []
    compile_expr = expressions.compile_expr

    def noted(source: str, scope: expressions.Scope) -> Compiled:
        sources.append(source)
        return compile_expr(source, scope)

    monkeypatch.setattr(expressions, "compile_expr", noted)
    rule = read_anew(path, checked=True)
    tests = [test for _, test in rule.severity if test is not None]
    assert tests
    assert not {test.source for test in tests}.intersection(sources)
    assert all(test.type.kind == "bool" for test in tests)
    assert {test.source for test in tests} <= set(sources)


def test_rules_of_ones_own_are_checked_to_the_last_expression(tmp_path: Path) -> None:
    path = rule_texts.write(tmp_path)
    path.write_text(
        path.read_text("utf-8").replace("severity: ", "severity: {high: nonsense > 1, low: otherwise} #"), "utf-8"
    )
    with pytest.raises(RuleError, match="nonsense"):
        Catalog.load([tmp_path])


def test_the_lint_checks_what_a_diagnosis_takes_for_right() -> None:
    (rule, *_), mistakes = gather_rules([shipped_folder("rules")], tests=True)
    assert not mistakes
    assert not rule.document.was_checked
    found = read_rule(rule.path)
    assert isinstance(found, Rule)
    assert found.document.was_checked
