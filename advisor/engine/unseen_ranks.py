# SPDX-License-Identifier: Apache-2.0
"""Which ranks a rule that looked could not look at: a file that others have was not given for them, cannot be read, or
lost rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from typing import Any, Protocol

import numpy as np

from advisor.engine import reason
from advisor.engine.vocabulary import FILES
from advisor.facts.base import Fact
from advisor.facts.derived import Coverage, Overlap
from advisor.facts.observed import Damage, Kernel
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.model.findings import Finding, Outcome
from advisor.model.run import Capture, Run

_IN_ROWS_OF: Mapping[str, str] = {"kernel_counters": "kernels"}
"""Tables whose rows are more columns of another one's: what is gone of that is gone of these."""
_TEXT_FILES = frozenset(FILES.values())


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
    absent, unreadable = _ranks_without_files(rule.facts, profile, run)
    found = {*absent, *unreadable}
    if lost and {*lost, *found} >= run.captured:
        why = FactMissing([], incomplete=sorted(set[str]().union(*lost.values())))
        return outcome.model_copy(update={"outcome": "skipped", "reason": reason.of_missing(why, run)})
    if not lost and not found:
        return outcome
    told = (
        (reason.of_other_ranks, absent),
        (reason.of_ranks_with_unreadable_files, unreadable),
        (reason.of_ranks_with_lost_rows, lost),
    )
    said = [say(sorted(set[str]().union(*which.values())), sorted(which), run) for say, which in told if which]
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


def with_unseen_last(
    findings: Iterable[Finding], waited_us: Mapping[int, float], unseen: Collection[int]
) -> tuple[Finding, ...]:
    """The findings of a rule whose savings the last rank bounds; upper bounds where that may be one it could not look
    at, which then waits for others no longer than theirs: whether it shows the same, as ranks of a stage do, nobody
    knows."""
    found = tuple(findings)
    first = min((waited_us[rank] for rank in unseen if rank in waited_us), default=None)
    if first is None:
        return found
    return tuple(
        one.model_copy(update={"at_most": True})
        if one.saving.us > 0 and first <= one.saving.us + _longest_wait_of(one, waited_us, first)
        else one
        for one in found
    )


def _longest_wait_of(finding: Finding, waited_us: Mapping[int, float], unknown_us: float) -> float:
    """How long one of the ranks waits for others on which something was seen, at the most, µs."""
    waits = (unknown_us if place.rank is None else waited_us.get(place.rank, unknown_us) for place in finding.seen)
    return max(waits, default=unknown_us)


def _lost_rows(profile: Behind, needed: Mapping[str, float]) -> dict[int, set[str]]:
    """By rank: the tables of which less is there than this part."""
    found: dict[int, set[str]] = {}
    for rank in _ranks_with_less_kernels(profile, needed.get(Kernel.table, 0.0)):
        found.setdefault(rank, set()).add(Kernel.table)
    try:
        known = profile.table(Coverage)
    except FactMissing:
        return found
    tables = known.texts("of")
    parts = np.array([*(needed.get(name, 0.0) for name in tables.names), 0.0])[tables.codes]
    lacking = np.flatnonzero(known["matched"] < parts * known["needed"])
    for rank, name in zip(known["rank"][lacking].tolist(), tables.take(lacking).values(), strict=True):
        found.setdefault(rank, set()).add(str(name))
    return found


def _ranks_with_less_kernels(profile: Behind, part: float) -> list[int]:
    """The ranks whose lists of kernels cover less than this part of the time that they should cover, by the sums of the
    profiler or by what rows say of the idle time before them."""
    try:
        ranks, listed, needed = profile.table(Overlap).once(_kernels_by_rank)
    except FactMissing:
        return []
    short: list[int] = ranks[listed < part * needed].tolist()
    return short


def _kernels_by_rank(split: Table[Overlap]) -> tuple[Array, Array, Array]:
    """The ranks of which something tells how long kernels took, how long those that are listed did, and all."""
    split = split.take(split.texts("source").isin(["recorded", "incomplete"]) & ~np.isnan(split["listed_us"]))
    whole = np.where(np.isnan(split["compute_us"]), split["listed_us"] + split["unlisted_us"], split["compute_us"])
    ranks, of = np.unique(split["rank"], return_inverse=True)
    return ranks, np.bincount(of, split["listed_us"], len(ranks)), np.bincount(of, whole, len(ranks))


FilesByRank = dict[int, set[str]]


def _ranks_without_files(facts: Iterable[type[Fact]], profile: Behind, run: Run) -> tuple[FilesByRank, FilesByRank]:
    """By rank: the files that others have, and those that cannot be read, without which these facts hold nothing of it.

    What cannot be read was recorded, and is why: of such a rank no file is named that is absent as well.
    """
    absent, unreadable = FilesByRank(), FilesByRank()
    damaged = _unreadable_files(profile, run)
    for fact in facts:
        files = {FILES[root.table] for root in profile.observed_behind(fact) if root.table in FILES}
        damaged_here = {rank: names & files for rank, names in damaged.items() if names & files}
        not_given = _lost_files(run, files)
        there = frozenset(_ranks_in(profile.table(fact), run)) if damaged_here or not_given else frozenset()
        for rank in (damaged_here.keys() | not_given.keys()) - there:
            if rank in damaged_here:
                unreadable.setdefault(rank, set()).update(damaged_here[rank])
            else:
                absent.setdefault(rank, set()).update(not_given[rank])
    return {rank: names for rank, names in absent.items() if rank not in unreadable}, unreadable


def _lost_files(run: Run, files: Collection[str]) -> FilesByRank:
    """By rank: those of these files that are absent of it while another capture has them."""
    texts = _text_captures(run)
    absent = {capture.absent for capture in texts}  # of thousands of captures most lack the same
    here = {file for file in files for names in absent if file not in names}
    lost = {names: here.intersection(names) for names in absent}
    return (
        {capture.rank: lost[capture.absent] for capture in texts if lost[capture.absent]} if any(lost.values()) else {}
    )


def _unreadable_files(profile: Behind, run: Run) -> FilesByRank:
    """By rank: its files that cannot be read as a whole, as they are called where a framework recorded."""
    texts = _text_captures(run)
    if not texts:
        return {}
    try:
        damages = profile.table(Damage)
    except FactMissing:
        return {}
    whole = damages.take(damages.texts("kind").isin(["unreadable"]))
    captures = {capture.rank: capture for capture in texts} if len(whole) else {}
    found = FilesByRank()
    for rank, path in zip(whole["rank"].tolist(), whole.texts("file").values(), strict=True):
        if rank in captures and path:
            name = PurePosixPath(path).name.removesuffix(".gz")
            called = (file for file in _TEXT_FILES if fnmatchcase(name, captures[rank].own_name(file)))
            found.setdefault(rank, set()).update(called)
    return found


def _text_captures(run: Run) -> list[Capture]:
    return [capture for capture in run.captures if capture.export.files_alone]


def _ranks_in(table: Table[Any], run: Run) -> Collection[int]:
    """The ranks that a table has rows of; all of them where it does not tell ranks apart."""
    if "rank" not in table.fact.columns():
        return run.ranks
    rank = table["rank"]
    return np.flatnonzero(np.bincount(rank[rank >= 0])).tolist()
