# SPDX-License-Identifier: Apache-2.0
"""Which ranks a rule that looked could not look at, because a file that the others have was not given for them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from typing import Any, Protocol

import numpy as np

from advisor.engine import reason
from advisor.engine.vocabulary import FILES
from advisor.facts.base import Fact
from advisor.facts.table import Table
from advisor.model.findings import Outcome
from advisor.model.run import Run


class Behind(Protocol):
    """Gives the tables of a run, and what they rest on."""

    def table(self, fact: type[Any]) -> Table[Any]: ...
    def observed_behind(self, fact: type[Fact]) -> Collection[type[Fact]]: ...


def with_ranks_left_out(outcome: Outcome, facts: Iterable[type[Fact]], profile: Behind, run: Run) -> Outcome:
    """The outcome of a rule that reads these facts, with the ranks it could not look at and why."""
    if outcome.outcome not in ("fired", "quiet"):
        return outcome
    found: dict[int, set[str]] = {}
    for fact in facts:
        files = {FILES[root.table] for root in profile.observed_behind(fact) if root.table in FILES}
        lost_by_rank = _lost_files(run, files)
        there = frozenset(_ranks_in(profile.table(fact), run)) if lost_by_rank else frozenset()
        for rank, lost in lost_by_rank.items():
            if rank not in there:
                found.setdefault(rank, set()).update(lost)
    if not found:
        return outcome
    why = reason.of_other_ranks(sorted(set[str]().union(*found.values())), sorted(found))
    return outcome.model_copy(update={"without_ranks": tuple(sorted(found)), "reason": why})


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
