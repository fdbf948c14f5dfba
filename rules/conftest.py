# SPDX-License-Identifier: Apache-2.0
"""Every case of every rule and pattern is a test, and so is what each rule must bear: no facts, and empty tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

from advisor.analysis.fusion.pattern_cases import prove_pattern
from advisor.engine.case_runs import prove_case, prove_on_empty_tables, prove_without_facts
from advisor.rules.bind import Rule
from advisor.rules.catalog import read_rule
from advisor.rules.patterns import SPELLINGS, gather_patterns, is_pattern_file
from advisor.rules.schema import cases_of_document


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Files of rules and patterns are collected like modules."""
    if file_path.suffix not in (".yaml", ".yml") or file_path.name == SPELLINGS:
        return None
    kind = PatternModule if is_pattern_file(file_path) else RuleModule
    return kind.from_parent(parent, path=file_path)


class RuleModule(pytest.File):
    """One rule file."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its cases, and what every rule must bear."""
        rule = read_rule(self.path, tests=True)
        if not isinstance(rule, Rule):
            yield Promise.from_parent(self, name="is well formed", proof=lambda: rule)
            return
        found, mistakes = cases_of_document(rule.document)
        if mistakes:
            yield Promise.from_parent(self, name="has well formed cases", proof=lambda: mistakes)
        for case in found:
            yield Promise.from_parent(self, name=case.name, proof=lambda case=case: prove_case(rule, case))
        yield Promise.from_parent(self, name="is skipped without facts", proof=lambda: prove_without_facts(rule))
        yield Promise.from_parent(self, name="bears empty tables", proof=lambda: prove_on_empty_tables(rule))


class PatternModule(pytest.File):
    """One file with a pattern of chains."""

    def collect(self) -> Iterator[pytest.Item]:
        """Its cases."""
        folder = self.path.parent.parent
        patterns, mistakes = gather_patterns([(self.path, folder)])
        if mistakes:
            yield Promise.from_parent(self, name="is well formed", proof=lambda: mistakes)
            return
        (pattern,) = (one for one in patterns.patterns if one.name == self.path.stem)
        for case in pattern.tests:
            yield Promise.from_parent(
                self,
                name=case.name,
                proof=lambda case=case: list(prove_pattern(pattern.name, case, patterns.chains)),
            )


class Broken(Exception):
    """A promise was not kept."""


class Promise(pytest.Item):
    """Something a rule promises."""

    def __init__(self, *, proof: Callable[[], Sequence[object]], **kwargs: object) -> None:
        super().__init__(**kwargs)  # type: ignore[arg-type]
        self.proof = proof

    def runtest(self) -> None:
        """Fails with everything that was promised and not kept."""
        wrong = self.proof()
        if wrong:
            raise Broken("\n".join(map(str, wrong)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """What was promised and not kept, without a traceback into the machinery."""
        if isinstance(excinfo.value, Broken):
            return str(excinfo.value)
        return str(super().repr_failure(excinfo))

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it stands."""
        return self.path, 0, f"{self.path.parent.name}/{self.path.stem}: {self.name}"
