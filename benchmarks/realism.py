# SPDX-License-Identifier: Apache-2.0
"""Whether another reader takes generated captures for real ones.

    python benchmarks/realism.py --reader /elsewhere/bin/msprof-analyze [--cases CASE …] [--workload NAME …]
        [--levels LEVEL …]

Writes cases of the corpus in every export, and a healthy job of every workload in the levels asked for, lets
msprof-analyze's `cluster` and `advisor` read them, and compares the compute, exposed communication and free time it
finds with what the simulation did. Ends with 1 when a value is off by more than 1 %, or when a capture was not read.

What msprof-analyze 26.2.0 does not manage on real captures (the two-card AlexNet job of Ascend/msinsight) is not asked
of the corpus either; `_TOLD_OF_REAL` holds the modules that tell errors there:

- database, Level0: `cluster` skips the sums of communication, and `advisor` ends without a report ("no such table:
  ClusterCommunicationBandwidth", then an error on None).
- text, Level0: `advisor` tells an error of the slow link analysis, for want of cluster_communication.json.
- database, every level: `advisor` tells an error while it looks for call stacks; it writes its report at Level1 and 2.
- a folder with the capture of a single rank: `advisor` skips its check of alignment ("'ProfilingDataset' object has no
  attribute 'msprof'"). The single rank of the corpus has no collectives either; errors for want of them are let pass.
"""

from __future__ import annotations

import argparse
import csv
import sqlite3
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import corpus
from benchmarks.other_reader import located, printed
from corpus.accounting import step_times
from corpus.workloads import WORKLOADS

_CASES = ("healthy", "host-bound-2-ranks", "slow-link", "uneven-stages", "garbage-collection", "launch-blocking")
_EXPORTS = (("text", 0), ("text", 1), ("text", 2), ("database", 0), ("database", 1), ("database", 2))
_LEVELS = (0, 1, 2)
_TOO_MANY_RANKS = 16
"""Workloads of more ranks are checked only by name: msprof-analyze takes minutes for them."""
_SECONDS = 3600
_TOLERATED = 0.01
_FIELDS = ("computing", "communication_not_overlapped", "free")
_TOLD_OF_REAL: Mapping[tuple[str, int], tuple[str, ...]] = {
    ("text", 0): ("cluster_dataset.py", "slow_link_analyzer.py"),
    ("database", 0): (
        "communication_time_sum.py", "stage_group_analysis.py", "base_stats_export.py", "base_analyzer.py",
        "analyzer_controller.py", "analyze_cli.py", "db_stack_finder.py",
    ),
    ("database", 1): ("db_stack_finder.py",),
    ("database", 2): ("db_stack_finder.py",),
}  # fmt: skip
"""By export and level: the modules of msprof-analyze that tell an error of real captures."""
_WITHOUT_REPORT = ("database", 0)
_OF_ONE_RANK = (
    "byte_alignment_analysis",
    "communication",
    "cluster_dataset.py",
    "slow_link",
    "stage_group_analysis.py",
)
Truth = dict[tuple[int, int], tuple[float, ...]]
"""By (rank, step): compute, exposed and free in µs."""


@dataclass(frozen=True, slots=True)
class _Capture:
    """One capture to write and to have read."""

    case: str
    workload: str | None
    export: str
    level: int

    def __str__(self) -> str:
        return f"{self.case}, {self.workload or 'its own workload'}, {self.export}, Level{self.level}"


def main() -> int:
    """Check every capture that was asked for."""
    parser = argparse.ArgumentParser(description="Lets msprof-analyze read the corpus")
    parser.add_argument("--reader", required=True, help="the msprof-analyze command")
    parser.add_argument("--cases", nargs="*", default=_CASES)
    parser.add_argument("--workload", nargs="*", choices=WORKLOADS, help="healthy jobs to check; all small ones")
    parser.add_argument("--levels", nargs="+", type=int, choices=_LEVELS, default=[1], help="of the healthy jobs")
    options = parser.parse_args()
    small = [name for name, setup in WORKLOADS.items() if setup.layout.world <= _TOO_MANY_RANKS]
    captures = [_Capture(case, None, *export) for case in options.cases for export in _EXPORTS]
    for name in small if options.workload is None else options.workload:
        captures += [_Capture("healthy", name, *export) for export in _EXPORTS if export[1] in options.levels]
    faults = [fault for capture in captures for fault in _faults(located(options.reader), capture)]
    print("\n".join(faults) or "every capture was read, and every time agrees with the simulation")
    return int(bool(faults))


def _faults(reader: str, where: _Capture) -> list[str]:
    job = corpus.job(where.case, workload=where.workload)
    with tempfile.TemporaryDirectory() as folder:
        capture = corpus.write(job, Path(folder) / "capture", where.export, where.level)
        out = Path(folder) / "out"
        log = printed([reader, "cluster", "-m", "all", "-d", str(capture), "-o", str(out)], _SECONDS)
        problems = _differences(_times(job), _cluster_times(out))
        log += printed([reader, "advisor", "all", "-d", str(capture), "-o", str(out)], _SECONDS)
        if not list(out.glob("*.html")) and (where.export, where.level) != _WITHOUT_REPORT:
            problems.append("advisor wrote no report")
    problems += [f"it says {line}" for line in _errors(log, where, job)]
    print(f"{where}: {'read' if not problems else 'differs'}", file=sys.stderr)
    return [f"{where}: {problem}" for problem in problems]


def _errors(log: str, where: _Capture, job: corpus.Job) -> list[str]:
    """What it tells as an error, but not of a real capture of the kind."""
    known = _TOLD_OF_REAL.get((where.export, where.level), ())
    if job.layout.world == 1:
        known += _OF_ONE_RANK
    lines = [line for line in log.splitlines() if "[ERROR]" in line or line.startswith("Traceback")]
    return [line for line in lines if not any(one in line for one in known)]


def _times(job: corpus.Job) -> Truth:
    return {
        (trace.rank, row.step): (row.computing / 1000, row.exposed / 1000, row.free / 1000)
        for trace in job.ranks
        for row in step_times(trace)
    }


def _cluster_times(out: Path) -> Truth:
    tables = list(out.rglob("cluster_step_trace_time.csv"))
    if tables:
        with tables[0].open(newline="", encoding="utf-8") as file:
            rows = [row for row in csv.DictReader(file) if row["Type"] == "rank"]
        names = ("Computing", "Communication(Not Overlapped)", "Free")
        return {(int(r["Index"]), int(r["Step"])): tuple(float(r[name]) for name in names) for r in rows}
    found: Truth = {}
    for path in out.rglob("cluster_analysis.db"):
        sql = f"SELECT \"index\", step, {', '.join(_FIELDS)} FROM ClusterStepTraceTime WHERE type = 'rank'"  # noqa: S608
        with closing(sqlite3.connect(path)) as connection:
            for rank, step, *times in connection.execute(sql):
                found[int(rank), int(step)] = tuple(times)
    return found


def _differences(truth: Truth, found: Truth) -> list[str]:
    problems = [f"rank {rank} step {step} is missing" for rank, step in truth if (rank, step) not in found]
    for key in truth.keys() & found.keys():
        for name, expected, value in zip(_FIELDS, truth[key], found[key], strict=True):
            if abs(value - expected) > _TOLERATED * max(expected, 1):
                problems.append(f"rank {key[0]} step {key[1]}: {name} is {value:.1f} µs, not {expected:.1f} µs")
    return problems


if __name__ == "__main__":
    sys.exit(main())
