# SPDX-License-Identifier: Apache-2.0
"""What a diagnosis of many ranks takes and how large its reports are.

    python benchmarks/many_ranks.py --ranks 64 256 1024 --output docs/many-ranks.md

The jobs are written by the corpus: eight ranks on a host, of which one host computes slower. Prints a page, and ends
with 1 when what puts the ranks together grows by a power above 1.1, a page has more than 1.5 MB, or a process 1 GB.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import resource
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import corpus
from benchmarks.processes import measured_alone
from corpus.cases import setup_of
from corpus.events import Layout

_MB = 1e6
_ON_HOST = 8
_EXPONENT, _PAGE_MB, _PEAK_MB = 1.1, 1.5, 1000.0
_SLOWER = 1.25


def main() -> int:
    """Measure jobs of several numbers of ranks."""
    parser = argparse.ArgumentParser(description="Measures diagnoses of many ranks")
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 256, 1024], help="how many, ascending")
    parser.add_argument("--captures", type=Path, help="a folder that keeps the jobs for the next time")
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measured(options.measure)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        jobs = [_job(options.captures or Path(folder), ranks) for ranks in options.ranks]
        found = [measured_alone(__file__, job) for job in jobs]
    page = _page(found)
    print(page)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    return int(not _is_good(found))


def _job(folder: Path, ranks: int) -> Path:
    """A job of so many ranks whose last host but one computes slower; one that was kept is taken again."""
    job = folder / str(ranks)
    if not job.exists():
        usual = setup_of("healthy", "large")
        slow = range(ranks - 2 * _ON_HOST, ranks - _ON_HOST)
        setup = replace(
            usual,
            workload=replace(usual.workload, layers=1),
            layout=Layout(tp=_ON_HOST, dp=ranks // _ON_HOST, ranks_per_node=_ON_HOST),
            machine=replace(usual.machine, compute_scale=dict.fromkeys(slow, _SLOWER)),
        )
        corpus.write(corpus.job("healthy", setup=setup), job)
    return job


def _measured(job: Path) -> dict[str, Any]:
    """Seconds of the processor by what they were spent on, and the sizes of the reports."""
    import advisor
    from advisor.pipeline import judge_profile, open_profile, prepare_exhibits
    from advisor.report.diagnosis.document import diagnosis_document, diagnosis_overview
    from advisor.report.diagnosis.page import diagnosis_page
    from advisor.report.renderers.markdown import document_text

    rules = advisor.load_rules()
    began = _cpu()
    profile = open_profile(job, jobs=2)
    opened = _cpu()
    shown = prepare_exhibits(profile, rules)
    diagnosis = judge_profile(profile, rules, shown)
    judged = _cpu()
    page = diagnosis_page(diagnosis, "en")
    return {
        "ranks": len(profile.run.ranks),
        "bytes": sum(capture.size_bytes for capture in profile.run.captures),
        "opening": opened - began,
        "reading": _cpu(resource.RUSAGE_CHILDREN),
        "together": judged - opened,
        "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
        "page": len(page.encode("utf-8", "backslashreplace")),
        "comment": len(document_text(diagnosis_overview(diagnosis, "en", 10))),
        "markdown": len(document_text(diagnosis_document(diagnosis, "en"))),
        "json": len(diagnosis.to_json()),
    }


def _cpu(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def _exponents(found: Sequence[dict[str, Any]], name: str) -> list[float]:
    """By how large a power of the number of ranks it grows, from each job to the next larger one."""
    return [
        math.log(after[name] / before[name]) / math.log(after["ranks"] / before["ranks"])
        for before, after in itertools.pairwise(found)
    ]


def _is_good(found: Sequence[dict[str, Any]]) -> bool:
    last = found[-1]
    linear = all(power <= _EXPONENT for power in _exponents(found, "together")[-1:])
    return linear and last["page"] <= _PAGE_MB * _MB and last["peak"] <= _PEAK_MB * _MB


def _page(found: Sequence[dict[str, Any]]) -> str:
    times = "\n".join(
        f"| {one['ranks']} | {one['bytes'] / _MB:.0f} MB | {one['opening']:.1f} s | {one['reading']:.1f} s "
        f"| {one['together']:.1f} s | {one['peak'] / _MB:.0f} MB |"
        for one in found
    )
    sizes = "\n".join(
        f"| {one['ranks']} | {one['page'] / _MB:.2f} MB | {one['comment'] / 1e3:.1f} kB "
        f"| {one['markdown'] / 1e3:.0f} kB | {one['json'] / _MB:.1f} MB |"
        for one in found
    )
    powers = {name: _exponents(found, name) for name in ("opening", "reading", "together")}
    said = ", ".join(f"{name} {power[-1]:.2f}" for name, power in powers.items() if power)
    return f"""# Many ranks

Written by `benchmarks/many_ranks.py`: generated jobs of small ranks, eight on a host, of which one host computes 25 %
slower. Seconds are those of the processor, which others who use the machine make longer by little: *opening* finds and
describes the captures, *reading* is the work of each rank, in worker processes, and *together* what the process does
that puts the ranks together: taking over what was read, rules, ranking. *Peak* is the memory of that process.

| ranks | capture | opening | reading | together | peak |
|---|---|---|---|---|---|
{times}

Exponents of the growth between the two largest (1 is linear): {said or "–"}.

| ranks | page | comment (10 findings) | Markdown, whole | JSON |
|---|---|---|---|---|
{sizes}

The terminal gets 60 lines at most, of as many findings as fit. Reports name ranks as ranges, with the host where they
are all on it; of more than 64 ranks the page has a map of them by hosts.
"""


if __name__ == "__main__":
    sys.exit(main())
