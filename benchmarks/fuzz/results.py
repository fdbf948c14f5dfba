# SPDX-License-Identifier: Apache-2.0
"""What runs gave, a line for each batch, and their sum as a section of a page."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.fuzz.seeds import SEEDS
from benchmarks.fuzz.workers import GROWTH, MEMORY, SECONDS, Batch, Failure

_SECTION = re.compile(r"(?<=<!-- fuzz -->\n).*?(?=<!-- /fuzz -->)", re.S)
_CASES = Path(__file__).parents[2] / "tests" / "fuzz_cases"
_WANTED = {"load": 1_000_000, "diagnose": 50_000}
_TOLD = {
    "load": "facts read of damaged files",
    "diagnose": "whole diagnoses, written as JSON and in one other format",
    "load-others": "facts read of other profilers' and packed captures",
    "diagnose-others": "whole diagnoses of these",
}


def append_batch(batch: Batch, path: Path) -> None:
    """Add a line to a file of results."""
    with path.open("a", encoding="utf-8") as file:
        file.write(batch.to_json() + "\n")


def read_batches(path: Path) -> list[Batch]:
    """Every batch of a file of results."""
    found = []
    for line in path.read_text("utf-8").splitlines():
        held = json.loads(line)
        failures = [Failure(**one) for one in held.pop("failures")]
        found.append(Batch(**held, failures=failures))
    return found


def failures_in(path: Path) -> list[Failure]:
    """Every failure of a file of results that was found when its input was tried first."""
    return [failure for batch in read_batches(path) if not batch.again for failure in batch.failures]


def write_figures(page: Path, results: Path) -> None:
    """Put the sum of all results between the marks of the page."""
    section = figures(read_batches(results))
    page.write_text(_SECTION.sub(lambda _: section, page.read_text("utf-8")), "utf-8")


def figures(batches: Sequence[Batch]) -> str:
    """The section: what was tried, under which limits, what broke, and what of that still breaks."""
    first = [batch for batch in batches if not batch.again]
    again = [batch for batch in batches if batch.again]
    return "\n".join([_head(first), *_counts(first), "", *_breaks(first, again), ""])


def _head(batches: Sequence[Batch]) -> str:
    hours = sum(batch.seconds for batch in batches) / 3600
    recorded = sum(name.startswith("real:") for seeds in SEEDS.values() for name in seeds)
    made = sum(map(len, SEEDS.values())) - recorded
    return f"""Written by `python -m benchmarks.fuzz --report`. Captures are damaged and then read or diagnosed, in
{hours:.1f} hours of one process; {made} small captures are generated, {recorded} are recorded ones with fewer rows.
Bytes, encodings, rows, columns, cells, headings, keys, types, depth, pages and schemas of databases, logs beside them,
and whole files (missing, exchanged, there twice, renamed, packed, pipes, links, folders) are damaged, up to six times
in one input, drawn at random and not led by what it reaches in the code. An input may take {SECONDS["load"]:.0f} s
of the processor to be read, {SECONDS["diagnose"]:.0f} s to be diagnosed, {MEMORY >> 20} MiB of address space, and
{GROWTH >> 20} MiB more memory than any before it. It must end in an answer or in an error that advisor raises on
purpose, warn nobody, leave its folder as it is, and give finite figures, savings no larger than the step, and JSON by
its schema; where all that happened is that rows are gone, nothing that was found may turn quiet unsaid.

Wanted are {_spaced(_WANTED["load"])} reads and {_spaced(_WANTED["diagnose"])} diagnoses, which is not reached yet where
less stands below: `--seed` goes on behind the last input, `--results` adds to what there is. A slice with fixed numbers
runs in [`.ci/run`](../.ci/run).
"""


def _spaced(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def _counts(batches: Sequence[Batch]) -> list[str]:
    """A row for each target."""
    families = sorted({kind for batch in batches for kind in batch.kinds})
    lines = [f"| | inputs | {' | '.join(families)} |", "|---" * (len(families) + 2) + "|"]
    for target, told in _TOLD.items():
        mine = [batch for batch in batches if batch.target == target]
        if not mine and target not in _WANTED:
            continue
        kinds = sum((Counter(batch.kinds) for batch in mine), Counter[str]())
        counts = (sum(batch.inputs for batch in mine), *(kinds[family] for family in families))
        lines.append(f"| {told} | {' | '.join(map(_spaced, counts))} |")
    return lines


def _breaks(first: Sequence[Batch], again: Sequence[Batch]) -> list[str]:
    """What broke, by promise, when an input was tried first, and when those that failed were tried with the mends."""
    before = Counter(one.kind for batch in first for one in batch.failures)
    causes = {one.signature for batch in first for one in batch.failures}
    tried, still = sum(batch.inputs for batch in again), sum(len(batch.failures) for batch in again)
    kept = len(list(_CASES.glob("*.json")))
    cases = (
        "What broke while the fuzzer was built is mended. The smallest input of each cause is kept in\n"
        f"[`tests/fuzz_cases`](../tests/fuzz_cases), {kept} of them, and tried with every change."
    )
    if not before:
        return ["None of these inputs broke a promise.", cases]
    told = ", ".join(f"{kind} {count}" for kind, count in before.most_common())
    return [
        f"{sum(before.values())} inputs broke a promise when they were first tried ({told}), in {len(causes)} places.",
        f"With what was mended, {tried} of them were tried again: {still} break one.",
        cases,
    ]
