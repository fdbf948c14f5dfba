# SPDX-License-Identifier: Apache-2.0
"""What derivations and rules add to reading: to the time one waits, and in seconds of the processor.

    python benchmarks/evaluation.py PUBLIC/rank0_ascend_pt --database PUBLIC_DB/rank0_ascend_pt \\
        --about "a public capture …" --output docs/evaluation.md

Each capture is made from a small one of one rank by repetition: the corpus to a number of kernels, the given ones to a
size of the timeline and of the database. What was recorded is read first, then all is derived that a diagnosis wants,
then all rules are held against it, in a process of its own that keeps memory and looks for garbage as the command does.
The machine has to be quiet. Ends with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from advisor import pipeline
from advisor.analysis.steps.step_marks import MARKS
from advisor.facts.observed import Kernel
from advisor.machine.freed_memory import collect_seldom, give_back_memory
from advisor.machine.shipped_files import shipped_folder
from advisor.rules.catalog import Catalog
from advisor.summary.chart_data import CHARTED
from benchmarks.enlarge import enlarge, repeats_for, size_of
from benchmarks.enlarge_database import enlarge_database, repeats_for_database

_CORPUS = next((Path(__file__).resolve().parent.parent / "corpus" / "host-bound-2-ranks").glob("*_ascend_pt"))
_RULES_S, _SHARE = 1.5, 0.20
"""All rules over a million kernels; derivations and rules over reading, of a public text capture."""


@dataclass(frozen=True, slots=True)
class Seconds:
    """What a piece of work takes."""

    waited: float
    processor: float
    """In all threads."""


@dataclass(frozen=True, slots=True)
class Took:
    """What reading a capture takes, and what comes after it."""

    about: str
    kernels: int
    bytes: int
    read: Seconds
    derive: Seconds
    judge: Seconds

    @property
    def waited_share(self) -> float:
        """By what part derivations and rules make the time longer that one waits for reading."""
        return (self.derive.waited + self.judge.waited) / self.read.waited

    @property
    def processor_share(self) -> float:
        """The same of the time of the processor."""
        return (self.derive.processor + self.judge.processor) / self.read.processor


def main() -> int:
    """Measures each capture, prints the page, and writes it when asked."""
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        made = _enlarged(_CORPUS, work / "generated", lambda: _repeats(options), enlarge)
        generated, size = _measure("generated: a host-bound job", made), size_of(options.size)
        lines, missed = [generated], generated.judge.processor > _RULES_S
        if options.capture:
            repeats = partial(repeats_for, options.capture, size)
            lines.append(_measure(options.about, _enlarged(options.capture, work / "text", repeats, enlarge)))
            missed |= lines[-1].waited_share > _SHARE
        if options.database:
            repeats = partial(repeats_for_database, options.database, size)
            made = _enlarged(options.database, work / "database", repeats, enlarge_database)
            lines.append(_measure(f"{options.about}, database", made))
    page = _page(lines)
    print(page)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    return int(missed)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measures what derivations and rules take beside reading")
    parser.add_argument("capture", type=Path, nargs="?", help="a small text capture of one rank to enlarge as well")
    parser.add_argument("--about", default="the given capture", help="what that is, in words")
    parser.add_argument("--kernels", type=int, default=1_000_000, help="of the generated capture")
    parser.add_argument("--database", type=Path, help="a database capture of the same to enlarge as well")
    parser.add_argument("--size", default="1G", help="of the timeline, and of the database, of the given ones")
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    parser.add_argument("--work", type=Path, help="where captures are kept, or are already; the default is removed")
    return parser


def _repeats(options: argparse.Namespace) -> int:
    kernels: int = options.kernels
    return -(-kernels // len(pipeline.open_profile(_CORPUS, jobs=1).table(Kernel)))


def _enlarged(small: Path, out: Path, repeats: Callable[[], int], make: Callable[[Path, Path, int], Path]) -> Path:
    """A capture with its steps repeated, made where it is not there yet."""
    return out if out.exists() else make(small, out, repeats())


def _measure(about: str, capture: Path) -> Took:
    """What it takes to read, derive and judge a capture, one after another, in a process of its own."""
    start = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, start, initializer=_begin_as_the_command) as process:
        return process.submit(_measure_here, about, capture).result()


def _begin_as_the_command() -> None:
    give_back_memory()
    collect_seldom()


def _measure_here(about: str, capture: Path) -> Took:
    catalog = Catalog.load([shipped_folder("rules")])
    profile = pipeline.open_profile(capture, jobs=1)
    lines = pipeline.LINES if profile.run.call_stacks == "on" else ()
    wanted = {*catalog.facts(), *CHARTED, *pipeline.ALWAYS, *MARKS, *lines}
    roots = {root for fact in wanted if isinstance(fact, type) for root in profile.observed_behind(fact)}
    recorded = sorted(roots, key=lambda fact: fact.table)
    read = _seconds(lambda: profile.prepare(recorded))
    derive = _seconds(lambda: pipeline.prepare_exhibits(profile, catalog))
    judge = _seconds(lambda: pipeline.judge_profile(profile, catalog, ()))
    return Took(about, len(profile.table(Kernel)), profile.size_bytes, read, derive, judge)


def _seconds(work: Callable[[], object]) -> Seconds:
    began, processor = time.perf_counter(), time.process_time()
    work()
    return Seconds(time.perf_counter() - began, time.process_time() - processor)


def _page(lines: list[Took]) -> str:
    rows = "\n".join(
        f"| {one.about} | {one.bytes / 1e6:.0f} MB | {one.kernels:,} | {_told(one.read)} | {_told(one.derive)} "
        f"| {_told(one.judge)} | {one.waited_share:.0%} | {one.processor_share:.0%} |"
        for one in lines
    )
    return f"""# What derivations and rules take

What a diagnosis takes beside reading.

Written by `benchmarks/evaluation.py`: captures whose steps are repeated, each in one process. What was recorded is
read first, then all is derived that a diagnosis wants, with two threads, then all rules are held against it. Each in
seconds that one waits, and of the processor.

| capture | size | kernels | reading | deriving | all rules | added to waiting | to the processor |
|---|--:|--:|--:|--:|--:|--:|--:|
{rows}

Targets: all rules over a million kernels in {_RULES_S} s; derivations and rules add at most {_SHARE:.0%} to the time
that one waits for 1 GB of a real text capture to be read. The generated job has many small kernels and little beside
them: of each byte read more has to be derived than of a real one. So it is in a database, which holds more in each GB
than text does and is read sooner; [speed](speed.md) has what all of it takes.
"""


def _told(seconds: Seconds) -> str:
    return f"{seconds.waited:.1f} s, {seconds.processor:.1f}"


if __name__ == "__main__":
    sys.exit(main())
