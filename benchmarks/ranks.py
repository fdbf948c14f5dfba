# SPDX-License-Identifier: Apache-2.0
"""How much of each rank the process keeps that puts the ranks together.

    python benchmarks/ranks.py --size 100M --ranks 2 4 --output docs/ranks.md

The job is written by the corpus with steps as long as those of real jobs (9 MB a rank) and repeated to the size. Prints
a page, and ends with 1 when more than 1 MB of a rank of 200 MB stays.
"""

from __future__ import annotations

import argparse
import json
import os
import pickle
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import itertools

import corpus
from benchmarks.enlarge import enlarge, repeats_for, size_of
from benchmarks.processes import measured_alone, peak_of_process
from corpus.cases import setup_of
from corpus.events import Layout

_MB = 1e6
_TARGET = 1.0
"""MB kept of a rank of 200 MB."""
_OF = 200


def main() -> int:
    """Measure jobs of several numbers of ranks."""
    parser = argparse.ArgumentParser(description="Measures what is kept of each rank")
    parser.add_argument("--size", default="100M", help="of the timeline of one rank, such as 100M")
    parser.add_argument("--ranks", type=int, nargs="+", default=[2, 4], help="how many, ascending")
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measured(options.measure)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        found = [measured_alone(__file__, job) for job in _jobs(Path(folder), options.ranks, size_of(options.size))]
    page, kept = _page(found)
    print(page)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    return int(kept > _TARGET)


def repeated_job(folder: Path, ranks: int, size: int) -> Path:
    """A job in which the timeline of each of so many ranks has at least this size, in `folder`."""
    usual = setup_of("python-busy", "light")
    setup = replace(usual, workload=replace(usual.workload, micro_batches=16), layout=Layout(dp=ranks))
    small = corpus.write(corpus.job("python-busy", setup=setup), folder / "small")
    whole = enlarge(small, folder / "large", repeats_for(small, size * ranks))
    shutil.rmtree(small)
    return whole


def _jobs(folder: Path, ranks: Sequence[int], size: int) -> Iterator[Path]:
    """The same job with so many of its ranks, each as large."""
    whole = repeated_job(folder, max(ranks), size)
    for count in ranks:
        some = folder / f"{count} ranks"
        some.mkdir()
        for rank in sorted(whole.iterdir())[:count]:
            (some / rank.name).symlink_to(rank, target_is_directory=True)
        yield some
    shutil.rmtree(whole)


def _measured(job: Path) -> dict[str, Any]:
    """What each process handed over of a rank, and the peak of the one that asked."""
    import advisor
    from advisor.facts.rank_facts import rank_by_rank
    from advisor.pipeline import diagnose, open_profile

    profile, rules = open_profile(job), advisor.load_rules()
    before, handed, spread = peak_of_process(os.getpid()), dict.fromkeys(profile.run.ranks, 0), profile._gather

    def counted(work: Any, sources: Any) -> Iterable[Any]:
        for rank, part in zip(handed, rank_by_rank(spread(work, sources)), strict=True):
            handed[rank] += len(pickle.dumps(part))
            yield part

    profile._gather = counted
    findings = len(diagnose(profile, rules).findings)
    sizes = [capture.size_bytes for capture in profile.run.captures]
    return {"ranks": len(sizes), "bytes": sum(sizes), "handed": sum(handed.values()), "findings": findings,
            "grown": peak_of_process(os.getpid()) - before}  # fmt: skip


def _page(found: Sequence[dict[str, Any]]) -> tuple[str, float]:
    """The page, and how many MB are handed over of a rank of 200 MB."""
    rows = "\n".join(
        f"| {one['ranks']} | {one['bytes'] / _MB:.0f} MB | {one['handed'] / one['ranks'] / _MB:.2f} MB "
        f"| {one['grown'] / _MB:.0f} MB |"
        for one in found
    )
    last = found[-1]
    each = last["bytes"] / last["ranks"]
    kept = last["handed"] / last["ranks"] / _MB * max(1.0, _OF * _MB / each)
    more = [(b["grown"] - a["grown"]) / (b["ranks"] - a["ranks"]) / _MB for a, b in itertools.pairwise(found)]
    slope = f" Its peak grows by {more[-1]:.1f} MB a rank." if more else ""
    return (
        f"""# What is kept of each rank

How much memory each further rank costs the process that puts the ranks together.

Written by `benchmarks/ranks.py`: a whole diagnosis in worker processes, of a generated job that is busy in Python, with
9 MB a step and rank, repeated. *Handed over* is what the process that read a rank sends to the one that puts the ranks
together, which keeps it; *peak* is the most memory of that one beyond what it had when the capture was opened.

| ranks | capture | handed over of a rank | peak |
|---|---|---|---|
{rows}

Of a rank of {_OF} MB no more than {kept:.2f} MB (target {_TARGET:.0f} MB).{slope} What is kept grows with
operator types, shapes and steps, not with events: {_OF} MB in steps as short as those of `corpus/host-bound-2-ranks`
(0.14 MB) are 1400 steps, of which about 7 MB are kept.
""",
        kept,
    )


if __name__ == "__main__":
    sys.exit(main())
