# SPDX-License-Identifier: Apache-2.0
"""Which ranks a rule that looked could not look at: a file that others have was not given for them, or lost rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Protocol

import numpy as np

from advisor.engine import reason
from advisor.engine.vocabulary import FILES
from advisor.facts.base import Fact
from advisor.facts.derived import Coverage
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.model.findings import Finding, Outcome
from advisor.model.run import Run

_IN_ROWS_OF: Mapping[str, str] = {"kernel_counters": "kernels"}
"""Tables whose rows are more columns of another one's: what is gone of that is gone of these."""


class Behind(Protocol):
    """Gives the tables of a run, and what they rest on."""

    def table(self, fact: type[Any]) -> Table[Any]: ...
    def observed_behind(self, fact: type[Fact]) -> Collection[type[Fact]]: ...


class ReadingRule(Protocol):
    """A rule, as far as what it reads is concerned."""

    @property
    def facts(self) -> tuple[type[Fact], ...]: ...
    @property
    def coverage(self) -> Mapping[str, float]: ...


def with_ranks_left_out(
    outcome: Outcome, rule: ReadingRule, profile: Behind, run: Run, tolerated_loss: float
) -> Outcome:
    """The outcome of a rule, with the ranks it could not look at and why.

    A rule that found nothing in tables which lost rows was not checked there: found nothing is no sign of health. So
    much of a table may be gone, unless the rule itself says how much of it there has to be.
    """
    if outcome.outcome not in ("fired", "quiet"):
        return outcome
    tables = {root.table for fact in rule.facts for root in profile.observed_behind(fact)}
    tables |= {_IN_ROWS_OF[name] for name in tables & _IN_ROWS_OF.keys()}
    behind = dict.fromkeys(tables, 1 - tolerated_loss)
    lost = _lost_rows(profile, behind | dict(rule.coverage)) if outcome.outcome == "quiet" else {}
    found = _ranks_without_files(rule.facts, profile, run)
    if lost and {*lost, *found} >= {*run.ranks}:
        why = FactMissing([], incomplete=sorted(set[str]().union(*lost.values())))
        return outcome.model_copy(update={"outcome": "skipped", "reason": reason.of_missing(why, run)})
    if not lost and not found:
        return outcome
    said = [reason.of_other_ranks(sorted(set[str]().union(*found.values())), sorted(found))] if found else []
    said += [reason.of_ranks_with_lost_rows(sorted(set[str]().union(*lost.values())), sorted(lost))] if lost else []
    ranks = tuple(sorted({*found, *lost}))
    return outcome.model_copy(update={"without_ranks": ranks, "reason": reason.join_reasons(said)})


def with_upper_bounds(
    findings: Iterable[Finding], rule: ReadingRule, profile: Behind, tolerated_loss: float
) -> tuple[Finding, ...]:
    """The findings of a rule; savings on ranks where a table that it can do without lost rows are upper bounds.

    What was to bound them is gone.
    """
    found = tuple(findings)
    spared = {table: 1 - tolerated_loss for table, part in rule.coverage.items() if part < 1 - tolerated_loss}
    lost = _lost_rows(profile, spared) if spared and found else {}
    if not lost:
        return found
    return tuple(
        one.model_copy(update={"at_most": True}) if any(place.rank in lost for place in one.seen) else one
        for one in found
    )


def _lost_rows(profile: Behind, needed: Mapping[str, float]) -> dict[int, set[str]]:
    """By rank: the tables of which less is there than this part."""
    try:
        known = profile.table(Coverage)
    except FactMissing:
        return {}
    tables = known.texts("of")
    parts = np.array([*(needed.get(name, 0.0) for name in tables.names), 0.0])[tables.codes]
    lacking = np.flatnonzero(known["found"] < parts * known["needed"])
    found: dict[int, set[str]] = {}
    for rank, name in zip(known["rank"][lacking].tolist(), tables.take(lacking).values(), strict=True):
        found.setdefault(rank, set()).add(str(name))
    return found


def _ranks_without_files(facts: Iterable[type[Fact]], profile: Behind, run: Run) -> dict[int, set[str]]:
    """By rank: the files that others have and without which these facts hold nothing of it."""
    found: dict[int, set[str]] = {}
    for fact in facts:
        files = {FILES[root.table] for root in profile.observed_behind(fact) if root.table in FILES}
        lost_by_rank = _lost_files(run, files)
        there = frozenset(_ranks_in(profile.table(fact), run)) if lost_by_rank else frozenset()
        for rank, lost in lost_by_rank.items():
            if rank not in there:
                found.setdefault(rank, set()).update(lost)
    return found


def _lost_files(run: Run, files: Collection[str]) -> dict[int, set[str]]:
    """By rank: those of these files that are absent of it while another capture has them."""
    texts = [capture for capture in run.captures if capture.source == "text"]
    here = {file for file in files for capture in texts if file not in capture.absent}
    lost = {capture.rank: here & {*capture.absent} for capture in texts}
    return {rank: names for rank, names in lost.items() if names}


def _ranks_in(table: Table[Any], run: Run) -> Collection[int]:
    """The ranks that a table has rows of; all of them where it does not tell ranks apart."""
    if "rank" not in table.fact.columns():
        return run.ranks
    rank = table["rank"]
    return np.flatnonzero(np.bincount(rank[rank >= 0])).tolist()
