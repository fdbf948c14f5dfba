# SPDX-License-Identifier: Apache-2.0
"""Marks the diagnosis on generated captures: `python -m benchmarks.accuracy`.

    python -m benchmarks.accuracy --split calibration --faults cast-excess healthy --log
    python -m benchmarks.accuracy --theirs /elsewhere/bin/msprof-analyze --output docs/accuracy.md

Prints the page, writes it with `--output`, and ends with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from pydantic import TypeAdapter

from benchmarks.accuracy import incumbent
from benchmarks.accuracy.mark import TOLERATED, Cause, Claim, Found, Mark
from benchmarks.accuracy.page import met, page
from benchmarks.accuracy.plan import SPLITS, Case, plan
from benchmarks.accuracy.run import diagnosed
from benchmarks.other_reader import located

Kept = tuple[Case, tuple[Cause, ...], tuple[Claim, ...], tuple[Found, ...], tuple[str, ...], bool]
"""What is kept of a mark: all of it but the key."""


def main() -> int:
    """Diagnose and mark the cases asked for."""
    options = _parser().parse_args()
    cases = [case for case in plan(options.split) if _asked(case, options)]
    started = time.monotonic()
    marks = _marked(cases, diagnosed, options)
    seconds = sum(mark.making_s for mark in marks) / options.jobs, time.monotonic() - started
    theirs = _of_the_other(cases, options)
    text = page(marks, theirs, incumbent.MAPPING, seconds)
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return int(not met(marks))


def _of_the_other(cases: Sequence[Case], options: argparse.Namespace) -> list[Mark]:
    """The marks of the other tool: made now, or kept from an earlier run, for they do not depend on advisor."""
    adapter = TypeAdapter(list[Kept])
    if options.theirs:
        their_work = partial(incumbent.diagnosed, command=located(options.theirs))
        marks = _marked(cases[:: options.every], their_work, options)
        if options.keep:
            kept = [(mark.case, mark.causes, mark.claims, mark.found, mark.wrong, mark.reported) for mark in marks]
            options.keep.write_bytes(adapter.dump_json(kept))
        return marks
    if not options.keep:
        return []
    asked = {case.name for case in cases}
    return [
        Mark(case, causes, claims, found, wrong, incumbent.MAPPING, reported)
        for case, causes, claims, found, wrong, reported in adapter.validate_json(options.keep.read_bytes())
        if case.name in asked
    ]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.accuracy", description=__doc__)
    parser.add_argument("--split", choices=SPLITS, default="scoring")
    parser.add_argument("--faults", nargs="+", default=[], help="only these; `healthy` is one of them")
    parser.add_argument("--workloads", nargs="+", default=[], help="only on these")
    parser.add_argument("--recordings", nargs="+", default=[], help="only what was recorded so; `usual` is one of them")
    parser.add_argument("--log", action="store_true", help="tell every case that is not as it should be")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--theirs", default="", help="the msprof-analyze command, to mark it on the same cases")
    parser.add_argument("--every", type=int, default=4, help="it takes 8 s for each: give it every so manieth case")
    parser.add_argument(
        "--keep", type=Path, help="where the marks of msprof-analyze are kept, or were, without --theirs"
    )
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    return parser


def _asked(case: Case, options: argparse.Namespace) -> bool:
    return (
        (not options.faults or case.case in options.faults)
        and (not options.workloads or case.workload in options.workloads)
        and (not options.recordings or (case.recording or "usual") in options.recordings)
    )


def _marked(cases: Sequence[Case], work: Callable[[Case], Mark], options: argparse.Namespace) -> list[Mark]:
    with ProcessPoolExecutor(options.jobs) as pool:
        return list(_told(pool.map(work, cases), options.log))


def _told(marks: Iterable[Mark], log: bool) -> Iterable[Mark]:
    for mark in marks:
        if log:
            print(*_remarks(mark), sep="\n", file=sys.stderr, end="")
        yield mark


def _remarks(mark: Mark) -> list[str]:
    """What is not as it should be: missed, wrong, not in front, misplaced, far off."""
    said = [f"missed {found.cause.name} ({found.cause.share:.1%})" for found in mark.found if not found.rule]
    said += [f"wrong {rule}" for rule in mark.wrong]
    if mark.leads is False and mark.claims:
        said.append(f"led by {mark.claims[0].rule}")
    said += [f"{found.rule} not at {found.cause.place}" for found in mark.found if found.placed is False]
    said += [
        f"{found.rule} {found.error:+.0%} of {found.cause.us:.0f} us"
        for found in mark.found
        if found.error is not None and abs(found.error) > TOLERATED
    ]
    return [f"{mark.case.name}: {'; '.join(said)}\n"] if said else []


if __name__ == "__main__":
    sys.exit(main())
