# SPDX-License-Identifier: Apache-2.0
"""Why a rule could not look is said in the words of the reader: no expression, no name of a table, column or value."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

import advisor
import corpus
from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.expr.language import RUN_SCOPE
from advisor.facts import FACTS
from advisor.facts.table import Table
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import AdvisorError
from advisor.model.findings import Diagnosis, Outcome
from advisor.rules.bind import Rule
from advisor.rules.cases import run_of
from advisor.rules.catalog import Catalog
from tests.shared_captures import SharedCaptures

RULES = Catalog.load([shipped_folder("rules")]).rules
INTERNAL = {
    name
    for name in (*FACTS, *(column for fact in FACTS.values() for column in fact.columns()), *RUN_SCOPE)
    if "_" in name
}
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(?!\w|\.csv|\.json|=)")
OPERATOR = re.compile(r"[=!<>]=|\s[<>]\s|\w\(\w*\)(?<!step\(\))|\bnot recorded\(")
ACTIVITIES = ("activities CPU and NPU", "ProfilerActivity.NPU")
PRESENT = "CPU", "NPU"
FILES = ("trace_view.json", "kernel_details.csv", "communication.json", "step_trace_time.csv", "op_statistic.csv")


def assert_is_sentence(outcome: Outcome) -> None:
    if outcome.reason is None:
        return
    for said in (outcome.reason.en, outcome.reason.zh):
        assert not INTERNAL & {*WORD.findall(said)}, (outcome.rule, said)
        assert not OPERATOR.search(said), (outcome.rule, said)


def assert_asks_for_nothing_recorded(diagnosis: Diagnosis) -> None:
    """Who recorded host and device is not told to do so."""
    captures = diagnosis.run.captures
    if not captures or not all({*(one.activities or ())} >= {*PRESENT} for one in captures):
        return
    for outcome in diagnosis.outcomes:
        said = outcome.reason.en if outcome.reason is not None else ""
        assert not any(words in said for words in ACTIVITIES), (outcome.rule, said)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
@pytest.mark.parametrize("words", ["", "rank_count=1 level=0", "rank_count=8 level=1 framework=MindSpore pp=1"])
def test_every_rule_says_why_it_cannot_look_in_sentences(rule: Rule, words: str) -> None:
    run = run_of(words)
    empty = {fact: Table.build(fact, **_nothing_known(fact)) for fact in FACTS.values()}
    for tables in ({}, empty):
        assert_is_sentence(evaluate(rule, TablesAlone(tables), run).outcome)


def _nothing_known(fact: type) -> dict[str, list[object]]:
    """One row of which no value is known but those that every row has."""
    return {"rank": [0]} if "rank" in fact.columns() else {}  # type: ignore[attr-defined]


def real(real_data: Path) -> Iterator[Path]:
    """Every folder that can be diagnosed."""
    for folder in sorted(path for path in real_data.rglob("*") if path.is_dir() and not path.name.startswith("PROF_")):
        if any((folder / name).is_file() for name in FILES) or list(folder.glob("*_ascend_pt")):
            yield folder


def diagnosed(folders: Iterable[Path], shared: SharedCaptures) -> Iterator[Diagnosis]:
    for folder in folders:
        try:
            yield shared.diagnosis(folder)
        except AdvisorError:
            continue


def test_every_real_capture_is_told_in_sentences_what_was_not_checked(real_data: Path, shared: SharedCaptures) -> None:
    found = list(diagnosed(real(real_data), shared))
    assert len(found) >= 14
    for diagnosis in found:
        assert_asks_for_nothing_recorded(diagnosis)
        for outcome in diagnosis.outcomes:
            assert_is_sentence(outcome)


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("captures", [1, 2])
def test_a_file_that_is_not_there_is_asked_for_and_not_another_recording(
    tmp_path: Path, file: str, captures: int
) -> None:
    folder = tmp_path / "job"
    shutil.copytree(Path(corpus.__file__).parent / "host-bound-2-ranks", folder)
    for capture in sorted(folder.glob("*_ascend_pt"))[:captures]:
        (capture / "ASCEND_PROFILER_OUTPUT" / file).unlink()
    diagnosis = advisor.diagnose(folder)
    assert_asks_for_nothing_recorded(diagnosis)
    for outcome in diagnosis.outcomes:
        assert_is_sentence(outcome)
        assert file in outcome.reason.en if outcome.without_ranks and outcome.reason else True
    said = [outcome.reason.en for outcome in diagnosis.outcomes if outcome.reason is not None]
    assert file in ("step_trace_time.csv", "op_statistic.csv") or any(f"`{file}`" in words for words in said)
