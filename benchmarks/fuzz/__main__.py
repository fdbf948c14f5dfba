# SPDX-License-Identifier: Apache-2.0
"""Damages captures and holds what advisor makes of them against what is promised: `python -m benchmarks.fuzz`.

    python -m benchmarks.fuzz --load 20000 --diagnose 200 --seconds 60
    python -m benchmarks.fuzz --load 1000000 --seed 5000000 --results fuzz.jsonl
    python -m benchmarks.fuzz --again fuzz.jsonl --keep tests/fuzz_cases
    python -m benchmarks.fuzz --report docs/reliability.md --results fuzz.jsonl

Inputs have numbers: the same number is the same input wherever the same seeds are at hand (`ADVISOR_REAL_DATA`).
Ends with 1 when a promise was broken.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from benchmarks.fuzz.results import append_batch, failures_in, write_figures
from benchmarks.fuzz.workers import Batch, Failure, prepare_seeds, try_range

_TARGETS = ("load", "diagnose", "load-others", "diagnose-others")


def main() -> int:
    """Try what was asked for."""
    options = _parser().parse_args()
    if options.report:
        write_figures(options.report, options.results)
        return 0
    failures = list(_failures_again(options) if options.again else _failures_of_all(options))
    for signature, count in Counter(one.signature for one in failures).most_common():
        print(f"{count:6} {signature}")
    return int(bool(failures))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz", description=__doc__)
    parser.add_argument("--load", type=int, default=0, help="so many captures of which facts are read")
    parser.add_argument("--diagnose", type=int, default=0, help="so many captures that are diagnosed and written out")
    others = "the same of other profilers and of packed captures"
    parser.add_argument("--load-others", type=int, default=0, help=others)
    parser.add_argument("--diagnose-others", type=int, default=0, help=others)
    parser.add_argument("--seed", type=int, default=0, help="the number of the first input")
    parser.add_argument("--seconds", type=float, default=0.0, help="end each of both when so long has passed")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--results", type=Path, help="a file to which a line is added for every 20 000 inputs")
    parser.add_argument("--again", type=Path, help="try only the inputs that failed by this file")
    parser.add_argument("--keep", type=Path, help="a folder for the smallest input of each cause")
    parser.add_argument("--report", type=Path, help="a page into which the sum of all runs is written")
    return parser


def _failures_of_all(options: argparse.Namespace) -> Iterator[Failure]:
    for target in _TARGETS:
        count = getattr(options, target.replace("-", "_"))
        if not count:
            continue
        prepare_seeds(target)
        began, tried = time.monotonic(), 0
        for batch in _batches(target, options, count):
            tried += batch.inputs
            if options.results:
                append_batch(batch, options.results)
            if options.keep:
                _keep_new(batch.failures, options.keep)
            yield from batch.failures
        print(f"{target}: {tried} inputs in {time.monotonic() - began:.0f} s", flush=True)


def _batches(target: str, options: argparse.Namespace, count: int) -> Iterator[Batch]:
    """The numbers are dealt out to as many processes as asked for."""
    until = time.time() + options.seconds if options.seconds else 0.0
    share = -(-count // options.jobs)
    every = range(options.seed, options.seed + count)
    ranges = [every[at : at + share] for at in range(0, count, share)]
    if len(ranges) == 1:
        yield from try_range(target, ranges[0], until)
        return
    with ThreadPoolExecutor(len(ranges)) as pool:
        for batches in pool.map(lambda one: list(try_range(target, one, until)), ranges):
            yield from batches


def _failures_again(options: argparse.Namespace) -> Iterator[Failure]:
    """Those of an earlier run that still fail."""
    before = failures_in(options.again)
    for target in _TARGETS:
        again = [one for one in before if one.target == target]
        if again:
            prepare_seeds(target)
        for batch in try_range(target, range(len(again)), plan=lambda _, number, again=again: again[number].plan):
            batch.again = True
            if options.results:
                append_batch(batch, options.results)
            if options.keep:
                _keep_new(batch.failures, options.keep)
            yield from batch.failures


def _keep_new(failures: list[Failure], folder: Path) -> None:
    from benchmarks.fuzz.cases import keep_smallest

    for failure in failures:
        keep_smallest(failure, folder)


if __name__ == "__main__":
    sys.exit(main())
