# SPDX-License-Identifier: Apache-2.0
"""What an assistant can ask, as plain functions; `server` offers them. Nothing is written, nothing is run."""

from __future__ import annotations

from collections import Counter
from fnmatch import fnmatchcase
from typing import Any

from advisor import pipeline
from advisor.engine import reason
from advisor.engine.vocabulary import words_for_names
from advisor.explanation import meaning_of_table
from advisor.facts import FACTS
from advisor.facts.base import Fact
from advisor.facts.observed import Setting
from advisor.facts.profile import fact_of_name
from advisor.mcp_server import answers
from advisor.mcp_server.answers import model_in_language
from advisor.mcp_server.open_captures import Opened
from advisor.mcp_server.query import Query, answer_query
from advisor.messages.errors import FactMissing, UsageError
from advisor.messages.message import Message
from advisor.messages.text import Language
from advisor.model.findings import Diagnosis, Spent
from advisor.model.inspection import Inspection
from advisor.model.progress import Progress, silent
from advisor.pipeline import MEASURED, measured_run
from advisor.policy.settings import Settings
from advisor.report.diagnosis.cards import make_cards
from advisor.report.explanation.chinese_meanings import meaning_of_column

MOST_FINDINGS = 50
MOST_ROWS = 200
MOST_CHANGES = 100
MOST_MOVED = 20
MOST_SPENT = 10
MOST_UNREAD = 10
MOST_PLACES = 16
MOST_CAPTURES = 8


class Tools:
    """Answers questions about captures below the roots. Every answer is plain data with texts in one language.

    All of them raise AdvisorError, whose message says what would be right.
    """

    def __init__(self, opened: Opened, settings: Settings | None = None, language: Language = "en") -> None:
        self.opened, self.settings, self.language = opened, settings, language

    def diagnose(self, path: str, top: int = 5, progress: Progress = silent) -> dict[str, Any]:
        """What to fix first, and what it wins: the first findings of a capture or of a saved diagnosis."""
        _check_range("top", top, MOST_FINDINGS)
        with self.opened.lock:
            diagnosis = lean_diagnosis(self.opened.diagnosis(path, progress))
        first = diagnosis.model_copy(update={"findings": diagnosis.findings[:top]})
        answer = answers.Diagnosed(
            version=diagnosis.version,
            run=diagnosis.run,
            split=diagnosis.split,
            spent=_first_spent_by_part(diagnosis),
            findings=tuple(map(answers.finding_with_words, make_cards(first, self.language))),
            total=len(diagnosis.findings),
            outcomes=Counter(outcome.outcome for outcome in diagnosis.outcomes),
            not_checked=tuple(one for one in diagnosis.outcomes if one.outcome in ("skipped", "failed")),
            unread=diagnosis.unread[:MOST_UNREAD],
        )
        return model_in_language(answer, self.language)

    def inspect(self, path: str, progress: Progress = silent) -> dict[str, Any]:
        """What lies at a path, which rules can look, and one configuration of the profiler that records the rest."""
        given = self.opened.roots.permit_path(path)
        with self.opened.lock:
            found = pipeline.inspect(
                given.path, self.opened.catalog, jobs=1, progress=progress, chip=self.opened.chip, job=self.opened.job
            )
        return model_in_language(_lean_inspection(found), self.language)

    def explain(
        self, rule: str = "", finding: str = "", path: str = "", rows: int = 10, progress: Progress = silent
    ) -> dict[str, Any]:
        """What a rule reads, measured and held it against, for one finding or for all it said of a capture."""
        _check_range("rows", rows, MOST_ROWS)
        with self.opened.lock:
            diagnosis = self.opened.diagnosis(path, progress) if path else None
            profile = self.opened.seen(path, progress).profile if path else None
            known = lean_diagnosis(diagnosis) if diagnosis is not None else None
            explanation = pipeline.explain(
                rule, finding, known, self.opened.catalog, profile=profile, settings=self.settings, rows=rows
            )
        return model_in_language(explanation, self.language)

    def list_rules(self, pattern: str = "*") -> dict[str, Any]:
        """The rules whose id matches."""
        rules = tuple(rule for rule in self.opened.catalog.rules if fnmatchcase(rule.id, pattern))
        if not rules:
            known = ", ".join(sorted({rule.category for rule in self.opened.catalog.rules}))
            raise UsageError(Message("pattern_matches_no_rule", name=pattern), Message("such_patterns", names=known))
        listed = (
            answers.ListedRule(id=rule.id, status=rule.status, title=rule.title, table=rule.fact.table)
            for rule in rules
        )
        return model_in_language(answers.RulesAnswer(rules=tuple(listed)), self.language)

    def show_rule(self, rule: str) -> dict[str, Any]:
        """One rule: what it reads, when it speaks, its thresholds and why they are so, what to do."""
        return self.explain(rule)

    def list_tables(self) -> dict[str, Any]:
        """Every table, what one row of it is, and its columns."""
        listed = (
            answers.ListedTable(
                name=name, holds=self._meaning_of_table(fact), observed=fact.observed, columns=tuple(fact.columns())
            )
            for name, fact in FACTS.items()
        )
        return model_in_language(answers.TablesAnswer(tables=tuple(listed)), self.language)

    def show_table(self, table: str, path: str = "", progress: Progress = silent) -> dict[str, Any]:
        """One table: its columns with units and meaning, and how many rows a capture has of it."""
        fact = fact_of_name(table)
        rows, missing = None, None
        if path:
            with self.opened.lock:
                try:
                    rows = len(self.opened.profile(path, progress).table(fact))
                except FactMissing as trouble:
                    missing = reason.of_missing(trouble).text
        shown = answers.TableSize(
            name=fact.table,
            holds=self._meaning_of_table(fact),
            observed=fact.observed,
            record_with=fact.record_with,
            columns=_listed_columns(fact, self.language),
            rows=rows,
            missing=missing,
        )
        return model_in_language(shown, self.language)

    def _meaning_of_table(self, fact: type[Fact]) -> str:
        """What a table holds: in Chinese its name; the reference of facts is in English."""
        return meaning_of_table(fact) if self.language == "en" else words_for_names([fact.table]).zh

    def query(self, path: str, table: str, wish: Query, progress: Progress = silent) -> dict[str, Any]:
        """Rows of a table of a capture, or one row per group, chosen and computed by expressions of rules."""
        fact = fact_of_name(table)
        with self.opened.lock:
            profile = self.opened.profile(path, progress)
            run = measured_run(profile) if wish.names_any(MEASURED) else profile.run
            rows = answer_query(profile.table(fact), run, wish, profile.table_if_recorded(Setting))
        return model_in_language(answers.QueryAnswer(table=fact.table, rows=rows), self.language)

    def compare(self, before: str, after: str, progress: Progress = silent) -> dict[str, Any]:
        """What changed between two captures or saved diagnoses, and what moved the step."""
        with self.opened.lock:
            one, other = (self.opened.diagnosis(path, progress) for path in (before, after))
        found = pipeline.compare(one, other, self.settings)
        answer = answers.ComparisonAnswer(
            confidence=found.confidence,
            shifts=found.shifts,
            changes=found.having("new", "worse", "better", "gone", "same", "not comparable")[:MOST_CHANGES],
            barriers=found.barriers,
            moved=found.moved[:MOST_MOVED],
            notes=found.notes,
        )
        return model_in_language(answer, self.language)

    def whole(self, path: str, progress: Progress = silent) -> Diagnosis:
        """The complete diagnosis."""
        with self.opened.lock:
            return self.opened.diagnosis(path, progress)


def lean_diagnosis(diagnosis: Diagnosis) -> Diagnosis:
    """The diagnosis with the worst places of each finding and the first captures: a thousand ranks are as many."""
    run = diagnosis.run.model_copy(update={"captures": diagnosis.run.captures[:MOST_CAPTURES]})
    findings = tuple(one.model_copy(update={"seen": one.seen[:MOST_PLACES]}) for one in diagnosis.findings)
    return diagnosis.model_copy(update={"run": run, "findings": findings})


def _lean_inspection(found: Inspection) -> Inspection:
    """The inspection with the first captures, groups of ranks and files: a thousand ranks have as many."""
    run = found.run and found.run.model_copy(update={"captures": found.run.captures[:MOST_CAPTURES]})
    groups = (one.model_copy(update={"files": one.files[:MOST_ROWS]}) for one in found.ranks[:MOST_CAPTURES])
    return found.model_copy(
        update={
            "run": run,
            "ranks": tuple(groups),
            "found": found.found[:MOST_PLACES],
            "unread": found.unread[:MOST_UNREAD],
        }
    )


def _check_range(name: str, value: int, most: int) -> None:
    if not 1 <= value <= most:
        raise UsageError(Message("argument_is", name=name, value=value), Message("argument_between", most=most))


def _first_spent_by_part(diagnosis: Diagnosis) -> tuple[Spent, ...]:
    """The first entries of each part of the account."""
    entries = diagnosis.account.spent if diagnosis.account is not None else ()
    parts = ("compute", "communication", "free")
    return tuple(one for part in parts for one in [e for e in entries if e.part == part][:MOST_SPENT])


def _listed_columns(fact: type[Fact], language: Language) -> tuple[answers.ListedColumn, ...]:
    """The columns and what they hold."""
    return tuple(
        answers.ListedColumn(
            name=name,
            kind=column.kind,
            unit=column.unit,
            holds=meaning_of_column(name, column.doc, language),
            is_stable=not column.volatile,
        )
        for name, column in fact.columns().items()
    )
