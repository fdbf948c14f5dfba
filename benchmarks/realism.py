# SPDX-License-Identifier: Apache-2.0
"""Whether another reader takes generated captures for real ones.

    python benchmarks/realism.py --reader /elsewhere/bin/msprof-analyze

Writes cases of the corpus in both exports, lets msprof-analyze's `cluster` and `advisor` read them, and compares the
compute, exposed communication and free time it finds with what the simulation did. Ends with 1 when a value is off by
more than 1 %, or when a capture was not read.
"""

from __future__ import annotations

import argparse
import csv
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import corpus
from corpus.accounting import step_times

_CASES = ("healthy", "host-bound-2-ranks", "slow-link", "uneven-stages", "garbage-collection", "launch-blocking")
_EXPORTS = (("text", 0), ("text", 1), ("text", 2), ("database", 1), ("database", 2))
"""Not the database at Level0: msprof-analyze 26.2.0 ends without a report on real captures of that kind as well."""
_TOLERATED = 0.01
_FIELDS = ("computing", "communication_not_overlapped", "free")
Truth = dict[tuple[int, int], tuple[float, ...]]
"""By (rank, step): compute, exposed and free in µs."""


def main() -> int:
    """Check every case in both exports."""
    parser = argparse.ArgumentParser(description="Lets msprof-analyze read the corpus")
    parser.add_argument("--reader", required=True, help="the msprof-analyze command")
    parser.add_argument("--cases", nargs="+", default=_CASES)
    options = parser.parse_args()
    faults = [
        fault
        for case in options.cases
        for export, level in _EXPORTS
        for fault in _faults(options.reader, case, export, level)
    ]
    print("\n".join(faults) or "every capture was read, and every time agrees with the simulation")
    return int(bool(faults))


def _faults(reader: str, case: str, export: str, level: int) -> list[str]:
    job = corpus.job(case)
    where = f"{case}, {export}, Level{level}"
    with tempfile.TemporaryDirectory() as folder:
        capture = corpus.write(job, Path(folder) / "capture", export, level)
        out = Path(folder) / "out"
        log = _run([reader, "cluster", "-m", "all", "-d", str(capture), "-o", str(out)])
        found = _cluster_times(out)
        truth: Truth = {
            (trace.rank, row.step): (row.computing / 1000, row.exposed / 1000, row.free / 1000)
            for trace in job.ranks
            for row in step_times(trace)
        }
        faults = [f"{where}: {problem}" for problem in _differences(truth, found)]
        faults += [f"{where}: cluster says {line}" for line in log.splitlines() if "[ERROR]" in line]
        _run([reader, "advisor", "all", "-d", str(capture), "-o", str(out)])
        if not list(out.glob("*.html")):
            faults.append(f"{where}: advisor wrote no report")
    print(f"{where}: {'read' if not faults else 'differs'}", file=sys.stderr)
    return faults


def _run(command: list[str]) -> str:
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stdout + run.stderr


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
