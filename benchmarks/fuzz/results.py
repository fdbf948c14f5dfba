# SPDX-License-Identifier: Apache-2.0
"""What runs gave, a line for each batch; the sum of all runs, which is kept here; and that as a section of a page."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path

import msgspec

from benchmarks.fuzz.seeds import SEEDS
from benchmarks.fuzz.workers import GROWTH, MEMORY, SECONDS, Batch, Failure

_SECTION = re.compile(r"(?<=<!-- fuzz -->\n).*?(?=<!-- /fuzz -->)", re.S)
_TRIED = Path(__file__).with_name("tried.json")
_CASES = Path(__file__).parents[2] / "tests" / "fuzz_cases"
_WANTED = {"load": 1_000_000, "diagnose": 50_000}
_TOLD = {
    "load": "facts read of damaged files",
    "diagnose": "whole diagnoses, written as JSON and in one other format",
    "load-others": "facts read of other profilers' and packed captures",
    "diagnose-others": "whole diagnoses of these",
}


class TriedTarget(msgspec.Struct):
    """What was tried of one target, when it was tried first."""

    inputs: int = 0
    next: int = 0
    """The number behind the last input: `--seed` goes on from here."""
    kinds: dict[str, int] = {}
    """Inputs by family of their mutations."""


class Tried(msgspec.Struct):
    """The sum of all runs whose results were added."""

    targets: dict[str, TriedTarget] = {}
    seconds: float = 0.0
    broken: dict[str, int] = {}
    """Inputs that broke a promise when they were tried first, by promise."""
    places: int = 0
    """Causes of these, counted once for each file of results that shows them."""
    again: int = 0
    """Inputs that were tried again with what was mended."""
    still: int = 0
    """Those of them that broke a promise again."""

    def add(self, batches: list[Batch]) -> None:
        """Add what a file of results holds.

        Raises:
            ValueError: A number was added before; nothing is added.
        """
        first, again = [one for one in batches if not one.again], [one for one in batches if one.again]
        starts = {name: min(one.first for one in first if one.target == name) for name in {one.target for one in first}}
        for name, start in starts.items():
            if start < self.targets.get(name, TriedTarget()).next:
                raise ValueError(f"{name}: number {start} was added before; go on from {self.targets[name].next}")
        for batch in first:
            target = self.targets.setdefault(batch.target, TriedTarget())
            target.inputs += batch.inputs
            target.next = max(target.next, batch.first + batch.inputs)
            target.kinds = dict(sorted((Counter(target.kinds) + Counter(batch.kinds)).items()))
            self.seconds += batch.seconds
        failures = [failure for batch in first for failure in batch.failures]
        self.broken = dict((Counter(self.broken) + Counter(one.kind for one in failures)).most_common())
        self.places += len({one.signature for one in failures})
        self.again += sum(one.inputs for one in again)
        self.still += sum(len(one.failures) for one in again)


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


def write_figures(page: Path, results: Path | None, sums: Path = _TRIED) -> None:
    """Add results, where there are some, to the sum of all runs, and put that between the marks of the page.

    Raises:
        ValueError: The results were added before.
    """
    tried = msgspec.json.decode(sums.read_bytes(), type=Tried)
    if results:
        tried.add(read_batches(results))
        sums.write_bytes(msgspec.json.format(msgspec.json.encode(tried), indent=2) + b"\n")
    section = figures(tried)
    page.write_text(_SECTION.sub(lambda _: section, page.read_text("utf-8")), "utf-8")


def figures(tried: Tried) -> str:
    """The section: what was tried, under which limits, what broke, and what of that still breaks."""
    return "\n".join([_head(tried), *_counts(tried), "", *_breaks(tried), ""])


def _head(tried: Tried) -> str:
    recorded = sum(name.startswith("real:") for seeds in SEEDS.values() for name in seeds)
    made = sum(map(len, SEEDS.values())) - recorded
    reached = all(tried.targets.get(target, TriedTarget()).inputs >= wanted for target, wanted in _WANTED.items())
    going_on = "which is reached" if reached else "not reached yet where less\nstands below"
    return f"""Written by `python -m benchmarks.fuzz --report`. Captures are damaged and then read or diagnosed, in
{tried.seconds / 3600:.1f} hours of one process; {made} small captures are generated, {recorded} are recorded ones with
fewer rows.
Bytes, encodings, rows, columns, cells, headings, keys, types, depth, pages and schemas of databases, logs beside them,
and whole files (missing, exchanged, there twice, renamed, packed, pipes, links, folders) are damaged, up to six times
in one input, drawn at random and not led by what it reaches in the code. An input may take {SECONDS["load"]:.0f} s
of the processor to be read, {SECONDS["diagnose"]:.0f} s to be diagnosed, {MEMORY >> 20} MiB of address space, and
{GROWTH >> 20} MiB more memory than any before it. It must end in an answer or in an error that advisor raises on
purpose, warn nobody, leave its folder as it is, and give finite figures, savings no larger than the step, and JSON by
its schema; where all that happened is that rows are gone, nothing that was found may turn quiet unsaid.

Wanted are {_spaced(_WANTED["load"])} reads and {_spaced(_WANTED["diagnose"])} diagnoses, {going_on}.
`--seed` goes on behind the last input (`next` in [tried.json](../benchmarks/fuzz/tried.json)), `--results` adds to what
there is. A slice with fixed numbers runs in [`.ci/run`](../.ci/run).
"""


def _spaced(count: int) -> str:
    return f"{count:,}".replace(",", " ")


def _counts(tried: Tried) -> list[str]:
    """A row for each target."""
    families = sorted({kind for target in tried.targets.values() for kind in target.kinds})
    lines = [f"| | inputs | {' | '.join(families)} |", "|---" * (len(families) + 2) + "|"]
    for name, told in _TOLD.items():
        target = tried.targets.get(name, TriedTarget())
        if target.inputs or name in _WANTED:
            counts = (target.inputs, *(target.kinds.get(family, 0) for family in families))
            lines.append(f"| {told} | {' | '.join(map(_spaced, counts))} |")
    return lines


def _breaks(tried: Tried) -> list[str]:
    """What broke, by promise, when an input was tried first, and when those that failed were tried with the mends."""
    kept = len(list(_CASES.glob("*.json")))
    cases = (
        "What broke while the fuzzer was built is mended. The smallest input of each cause is kept in\n"
        f"[`tests/fuzz_cases`](../tests/fuzz_cases), {kept} of them, and tried with every change."
    )
    if not tried.broken:
        return ["None of these inputs broke a promise.", cases]
    told = ", ".join(f"{kind} {count}" for kind, count in tried.broken.items())
    broken = sum(tried.broken.values())
    return [
        f"{broken} inputs broke a promise when they were first tried ({told}), in {tried.places} places.",
        f"With what was mended, {tried.again} of them were tried again: {tried.still} break one.",
        cases,
    ]
