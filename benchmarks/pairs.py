# SPDX-License-Identifier: Apache-2.0
"""Marks comparisons on generated pairs: a job with a fault and the same job without it, and two seeds of a healthy job.

    python -m benchmarks.pairs --faults cast-excess healthy --log

A pair is right when the comparison towards the fault calls a rule that names it new or worse, and the comparison back
calls it gone or better. Two healthy seeds are right when nothing is worse in either direction. Ends with 1 otherwise.
"""

from __future__ import annotations

import argparse
import gc
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path

import advisor
import corpus
from advisor.comparison import compare
from advisor.model.comparison import Comparison
from advisor.model.findings import Diagnosis
from benchmarks.accuracy.mark import WORTH
from benchmarks.accuracy.plan import ABOVE, AT, Case, plan, setup_of, wanted
from corpus.answers import ANSWERS
from corpus.cases import setup_of as healthy_setup

HEALTHY = "healthy"


@dataclass(frozen=True, slots=True)
class Pair:
    """One case with and without one of its causes, or a healthy job with two seeds."""

    case: Case
    cause: str
    wins: float
    """Part of the step that the job without the cause is faster by; 0 for healthy pairs."""
    wrong: tuple[str, ...]
    """What was not as it should be; nothing for a pair that is right."""


def pairs(case: Case) -> list[Pair]:
    """The pairs of one case, compared in both directions. Nothing stays on disk."""
    gc.set_threshold(100_000)
    return list(_healthy(case) if case.case == HEALTHY else _faulty(case))


def _healthy(case: Case) -> Iterator[Pair]:
    one, other = _diagnosis(_job(case), case), _diagnosis(_job(replace(case, seed=case.seed + 7000)), case)
    worse = [*_said(compare(one, other), "worse", "new"), *_said(compare(other, one), "worse", "new")]
    yield Pair(case, HEALTHY, 0.0, tuple(worse))


def _faulty(case: Case) -> Iterator[Pair]:
    job = _job(case)
    broken = _diagnosis(job, case)
    for cause in job.causes:
        wins = 1 - cause.step_us_without / job.step_us
        if wins < WORTH:
            continue
        mended = _diagnosis(_job(case, cause.name), case)
        yield Pair(case, cause.name, wins, tuple(_not_told(cause.name, mended, broken)))


def _job(case: Case, *without: str) -> corpus.Job:
    base = setup_of(case, healthy_setup(case.case, case.workload or None))
    return corpus.job(case.case, case.seed, setup=base, strength=case.strength, without=without)


def _diagnosis(job: corpus.Job, case: Case) -> Diagnosis:
    with tempfile.TemporaryDirectory() as folder:
        return advisor.diagnose(corpus.write(job, Path(folder) / "capture", case.export, case.level))


def _not_told(cause: str, mended: Diagnosis, broken: Diagnosis) -> Iterator[str]:
    there, back = compare(mended, broken), compare(broken, mended)
    if not _named(there, cause, "new", "worse"):
        yield f"towards it {_told(there, cause)}"
    if not _named(back, cause, "gone", "better"):
        yield f"back {_told(back, cause)}"
    if there.shifts and there.shifts[0].status == "better":
        yield f"the step is better by {-there.shifts[0].delta_us:.0f} us"


def _named(found: Comparison, cause: str, *statuses: str) -> bool:
    return any(change.rule in ANSWERS[cause] and change.status in statuses for change in found.changes)


def _told(found: Comparison, cause: str) -> str:
    told = [f"{change.rule} {change.status}" for change in found.changes if change.rule in ANSWERS[cause]]
    return ", ".join(told) or "nothing"


def _said(found: Comparison, *statuses: str) -> list[str]:
    shifts = [f"{shift.name} {shift.status}" for shift in found.shifts if shift.status in statuses]
    return shifts + [f"{change.rule} {change.status}" for change in found.changes if change.status in statuses]


def main() -> int:
    """Compare the pairs asked for and say which are not right."""
    options = _parser().parse_args()
    cases = [case for case in plan(options.split) if _asked(case, options)][:: options.every]
    with ProcessPoolExecutor(options.jobs) as pool:
        found = [pair for some in pool.map(pairs, cases) for pair in some]
    wrong = [pair for pair in found if pair.wrong]
    for pair in wrong:
        print(f"{pair.case.name}: {pair.cause} ({pair.wins:.1%}): {'; '.join(pair.wrong)}")
    healthy = [pair for pair in found if pair.cause == HEALTHY]
    print(f"{len(found) - len(healthy)} pairs with a fault, {len(healthy)} healthy ones; not right: {len(wrong)}")
    return int(bool(wrong))


def _asked(case: Case, options: argparse.Namespace) -> bool:
    if not (case.case == HEALTHY or (wanted(case) and case.strength in options.strengths)):
        return False
    return (not options.faults or case.case in options.faults) and (
        not options.workloads or case.workload in options.workloads
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.pairs", description=__doc__)
    parser.add_argument("--split", choices=("calibration", "scoring"), default="calibration")
    parser.add_argument("--faults", nargs="+", default=[], help="only these; `healthy` is one of them")
    parser.add_argument("--workloads", nargs="+", default=[], help="only on these")
    parser.add_argument("--strengths", nargs="+", type=float, default=[AT, ABOVE])
    parser.add_argument("--every", type=int, default=1, help="every so manieth case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    return parser


if __name__ == "__main__":
    sys.exit(main())
