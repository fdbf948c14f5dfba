# SPDX-License-Identifier: Apache-2.0
"""What the thresholds of the rules meet in captures that were recorded on real devices.

    ADVISOR_REAL_DATA=/data python benchmarks/thresholds.py --output docs/thresholds.md

Each capture is diagnosed once. Of each rule that looked, each value that is held against a threshold is taken: of its
findings, and of what was measured where it found nothing. Prints a page with, for each threshold, the farthest value
of those that kept a rule quiet and the nearest of those that it fired at.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import advisor
from advisor.messages.errors import AdvisorError
from advisor.model.findings import Diagnosis, Evidence
from advisor.sources import open_input
from advisor.sources.detect import find_candidates
from advisor.sources.families import FAMILIES
from advisor.sources.files.heads import file_head, is_gpu_trace
from advisor.units import show_value


def main() -> int:
    """Measure the captures, print the page."""
    parser = argparse.ArgumentParser(description="Measures what thresholds meet in real captures")
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    options = parser.parse_args()
    real = os.environ.get("ADVISOR_REAL_DATA")
    if not real:
        print("ADVISOR_REAL_DATA names no folder of real captures", file=sys.stderr)
        return 2
    met: dict[tuple[str, str], Met] = {}
    diagnosed = 0
    for capture in captures_below(Path(real)):
        try:
            diagnosis = advisor.diagnose(capture)
        except AdvisorError:
            continue
        diagnosed += 1
        _take_values(diagnosis, met)
    page = _page(met, diagnosed)
    print(page)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    return 0


def captures_below(folder: Path) -> list[Path]:
    """The jobs that lie below a folder, each with its ranks, and traces of one program each; none of them twice."""
    found = find_candidates(folder, FAMILIES)
    roots = {one.root for family in FAMILIES for one in found.of(family.name, "capture")}
    jobs = sorted({root.parent if root.name.endswith(_OF_RANKS) else root for root in roots})
    alike = {_contents(part): part for job in reversed(jobs) for part in _programs_in(job)}
    return sorted(alike.values())


_OF_RANKS = ("_ascend_pt", "_ascend_ms")
_TRACES = (".json", ".json.gz")


def _programs_in(job: Path) -> list[Path]:
    """A folder, or its traces where they are no ranks of one job, but each of one device."""
    traces = sorted(path for path in job.iterdir() if path.name.endswith(_TRACES)) if job.is_dir() else []
    try:
        ranks = open_input(job)[0].ranks
    except AdvisorError:
        return []
    return traces if len(ranks) == 1 < len(traces) and _is_of_gpu(traces[0]) else [job]


def _is_of_gpu(trace: Path) -> bool:
    return is_gpu_trace(file_head(trace))


def _contents(part: Path) -> str:
    held = hashlib.sha256()
    for file in sorted(part.rglob("*")) if part.is_dir() else [part]:
        if file.is_file():
            held.update(file.read_bytes())
    return held.hexdigest()


@dataclass(slots=True)
class Met:
    """The values that were held against one threshold."""

    limit: float
    unit: str
    quiet: list[float] = field(default_factory=list)
    fired: list[float] = field(default_factory=list)


def _take_values(diagnosis: Diagnosis, met: dict[tuple[str, str], Met]) -> None:
    for outcome in diagnosis.outcomes:
        for measure in outcome.measures:
            for param, item in _held_against(measure.evidence):
                _met_by(met, outcome.rule, param, item).quiet.append(float(item.value))  # type: ignore[arg-type]
    for finding in diagnosis.findings:
        for param, item in _held_against(finding.evidence):
            _met_by(met, finding.rule, param, item).fired.append(float(item.value))  # type: ignore[arg-type]


def _held_against(evidence: Iterable[Evidence]) -> Iterator[tuple[str, Evidence]]:
    for item in evidence:
        if item.param and item.threshold is not None and isinstance(item.value, int | float):
            yield item.param, item


def _met_by(met: dict[tuple[str, str], Met], rule: str, param: str, item: Evidence) -> Met:
    return met.setdefault((rule, param), Met(float(item.threshold or 0), item.unit))


def _page(met: dict[tuple[str, str], Met], captures: int) -> str:
    rows = "\n".join(_row(rule, param, one) for (rule, param), one in sorted(met.items()))
    return f"""# What thresholds meet

Each threshold beside the values it was held against in captures of real devices: how far apart healthy and slow lie.

Written by `benchmarks/thresholds.py`: {captures} captures that were recorded on real devices. *Quiet* are the values
where the rule found nothing, *fired* those of its findings, each with how many there are and from where to where they
lie. One rule may hold several values against thresholds, and be quiet for another one of them.

| rule | threshold | value | quiet | fired |
|---|---|---|---|---|
{rows}
"""


def _row(rule: str, param: str, one: Met) -> str:
    quiet, fired = (_range(values, one.unit) for values in (one.quiet, one.fired))
    return f"| `{rule}` | {param} | {show_value(one.limit, one.unit)} | {quiet} | {fired} |"


def _range(values: list[float], unit: str) -> str:
    if not values:
        return ""
    low, high = (show_value(value, unit) for value in (min(values), max(values)))
    return f"{len(values)}: {low}" if low == high else f"{len(values)}: {low} to {high}"


if __name__ == "__main__":
    sys.exit(main())
