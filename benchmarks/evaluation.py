# SPDX-License-Identifier: Apache-2.0
"""What derivations and rules take beside reading, in seconds of the processor, which a busy machine leaves as they are.

    python benchmarks/evaluation.py PUBLIC/rank0_ascend_pt --about "a public capture …" --output docs/evaluation.md

Each capture is made from a small one of one rank by repetition (`enlarge.py`): the corpus to a number of kernels, the
given one to a size of its timeline. What was recorded is read first, then all is derived that a diagnosis wants, then
all rules are held against it. Ends with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from advisor import pipeline
from advisor.analysis.steps.step_marks import MARKS
from advisor.facts.observed import Kernel
from advisor.rules.catalog import Catalog
from advisor.shipped_files import shipped_folder
from advisor.summary.chart_data import CHARTED
from benchmarks.enlarge import enlarge, repeats_for, size_of

_CORPUS = next((Path(__file__).resolve().parent.parent / "corpus" / "host-bound-2-ranks").glob("*_ascend_pt"))
_RULES_S, _SHARE = 1.5, 0.20
"""All rules over a million kernels; derivations and rules over reading, of a public capture."""


@dataclass(frozen=True, slots=True)
class Took:
    """Seconds of the processor, in all threads."""

    about: str
    kernels: int
    bytes: int
    read: float
    derive: float
    judge: float

    @property
    def share(self) -> float:
        """Of derivations and rules, over reading."""
        return (self.derive + self.judge) / self.read


def main() -> int:
    """Measure both captures, print the page, and write it when asked."""
    options = _parser().parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        lines = [_measure_repeated(_CORPUS, "generated: a host-bound job", _repeats(options), work / "generated")]
        if options.capture:
            repeats = repeats_for(options.capture, size_of(options.size))
            lines.append(_measure_repeated(options.capture, options.about, repeats, work / "given"))
    page = _page(lines)
    print(page)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    return int(lines[0].judge > _RULES_S or any(line.share > _SHARE for line in lines[1:]))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Measures what derivations and rules take beside reading")
    parser.add_argument("capture", type=Path, nargs="?", help="a small text capture of one rank to enlarge as well")
    parser.add_argument("--about", default="the given capture", help="what that is, in words")
    parser.add_argument("--kernels", type=int, default=1_000_000, help="of the generated capture")
    parser.add_argument("--size", default="1G", help="of the timeline of the given one")
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    parser.add_argument("--work", type=Path, help="where captures are kept, or are already; the default is removed")
    return parser


def _repeats(options: argparse.Namespace) -> int:
    kernels: int = options.kernels
    return -(-kernels // len(pipeline.open_profile(_CORPUS, jobs=1).table(Kernel)))


def _measure_repeated(small: Path, about: str, repeats: int, capture: Path) -> Took:
    """Read, derive and judge a capture, one after another, in this process."""
    if not capture.exists():
        enlarge(small, capture, repeats)
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


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _page(lines: list[Took]) -> str:
    rows = "\n".join(
        f"| {one.about} | {one.bytes / 1e6:.0f} MB | {one.kernels:,} | {one.read:.1f} s | {one.derive:.1f} s "
        f"| {one.judge:.1f} s | {one.share:.0%} |"
        for one in lines
    )
    return f"""# What derivations and rules take

What a diagnosis takes beside reading.

Written by `benchmarks/evaluation.py`: seconds of the processor, in one process, of captures whose steps are repeated.
What was recorded is read first, then all is derived that a diagnosis wants, then all rules are held against it.

| capture | size | kernels | reading | deriving | all rules | of reading |
|---|--:|--:|--:|--:|--:|--:|
{rows}

Targets: all rules over a million kernels in {_RULES_S} s; derivations and rules at most {_SHARE:.0%} of what it takes
to read 1 GB of a real capture. The generated job has many small kernels and little beside them: of each byte read more
has to be derived than of a real one.
"""


if __name__ == "__main__":
    sys.exit(main())
