# SPDX-License-Identifier: Apache-2.0
"""What a diagnosis of many ranks takes and how large its reports are.

    python benchmarks/many_ranks.py --ranks 64 256 1024 --staged 1024 4096 --theirs msprof-analyze \\
        --output docs/many-ranks.md

The jobs are written by the corpus: eight ranks on a host, of which one host computes slower; those that are `--staged`
are a pipeline of eight stages, as jobs of so many ranks are. Prints a page, and ends with 1 when what puts the ranks
together grows by a power above 1.1, a page has more than 1.5 MB, a process 1 GB at 1 024 ranks or fewer, or 1 024 ranks
of 1 MB take longer than 15 s. With `--theirs`, both tools are asked about jobs of `--both` ranks: msprof-analyze by its
command for clusters and its advisor.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import resource
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import corpus
from benchmarks.other_reader import located, printed_rows
from benchmarks.processes import Measured, best, measure, measured_alone, peak_of_process
from corpus.cases import setup_of
from corpus.events import Layout

_MB = 1e6
_ON_HOST = 8
STAGES = 8
_EXPONENT, _PAGE_MB, _PEAK_MB = 1.1, 1.5, 1000.0
_PEAK_RANKS = 1024
"""Up to so many ranks the process that puts them together stays below that."""
_WHOLE_S, _WHOLE_BYTES = 15.0, 1 << 20
"""So long the whole command takes at most for as many ranks, of no more than so much each."""
_RUNS = 3
_PARTS = ("opening", "reading", "together")
"""Measured several times, for what else runs on the machine only adds to them."""
_SLOWER = 1.25
_TITLES = 3
"""Findings of ours that are quoted."""
_OF_RANKS = ("slow rank", "slow link")
"""Their rows about ranks and links."""


def main() -> int:
    """Measure jobs of several numbers of ranks."""
    parser = argparse.ArgumentParser(description="Measures diagnoses of many ranks")
    parser.add_argument("--ranks", type=int, nargs="+", default=[64, 256, 1024], help="how many, ascending")
    parser.add_argument("--staged", type=int, nargs="*", default=[], help="how many, in a pipeline, ascending")
    parser.add_argument("--ours", default="advisor", help="the advisor command")
    parser.add_argument("--theirs", default="", help="the msprof-analyze command; nothing leaves it out")
    parser.add_argument("--both", type=int, nargs="+", default=[16, 64, 256], help="ranks of what both are asked about")
    parser.add_argument("--captures", type=Path, help="a folder that keeps the jobs for the next time")
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    parser.add_argument("--measure", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(_measured(options.measure)))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        jobs = [small_ranks_job(options.captures or Path(folder), ranks) for ranks in options.ranks]
        found = [_measured_whole(job, options.ours) for job in jobs]
        staged = [small_ranks_job(options.captures or Path(folder), ranks, STAGES) for ranks in options.staged]
        found_staged = [_measured_whole(job, options.ours) for job in staged]
        small = [small_ranks_job(options.captures or Path(folder), ranks) for ranks in options.both if options.theirs]
        beside = [_both_asked(options, job, Path(folder) / "asked") for job in small]
    page = _page(found) + _in_stages(found_staged) + _beside(beside)
    print(page)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    return int(not all(_is_good(series) for series in (found, found_staged) if series))


@dataclass(frozen=True, slots=True)
class Asked:
    """What one job takes both tools, and what they conclude."""

    ranks: int
    ours: Measured
    titles: tuple[str, ...]
    """Of its first findings."""
    cluster: Measured
    advisor: Measured
    verdicts: tuple[str, ...]
    """The rows of their table about slow ranks and links."""


def _both_asked(options: argparse.Namespace, job: Path, out: Path) -> Asked:
    out.mkdir()
    program, listed = located(options.theirs), out / "findings.jsonl"
    page = ["-o", str(out / "report.html"), "-o", str(listed)]
    ours = measure([options.ours, "diagnose", str(job), *page, "--lang", "en", "-q"])
    _, *findings = map(json.loads, listed.read_text("utf-8").splitlines())
    words = ["-d", str(job), "-o", str(out / "theirs")]
    cluster = measure([program, "cluster", "-m", "all", *words], folder=out)
    advised = measure([program, "advisor", "all", "-l", "en", *words], folder=out)
    told = [" ".join(text.split()) for kind, text in printed_rows(advised.output) if kind in _OF_RANKS]
    shutil.rmtree(out)
    titles = tuple(one["title"] for one in findings[:_TITLES])
    return Asked(len(list(job.glob("*_ascend_pt"))), ours, titles, cluster, advised, tuple(told))


def _beside(found: Sequence[Asked]) -> str:
    """The section about both, empty where only one was asked."""
    if not found:
        return ""
    rows = "\n".join(
        f"| {one.ranks} | {one.ours.seconds:.1f} s, {one.ours.peak_bytes / _MB:.0f} MB "
        f"| {one.cluster.seconds:.1f} s, {one.cluster.peak_bytes / _MB:.0f} MB "
        f"| {one.advisor.seconds:.1f} s, {one.advisor.peak_bytes / _MB:.0f} MB |"
        for one in found
    )
    concluded = "\n".join(
        f"- {one.ranks} ranks\n  - advisor: {_quoted(one.titles)}\n  - msprof-analyze: {_quoted(one.verdicts)}"
        for one in found
    )
    return f"""
## Beside msprof-analyze

The same jobs, whole commands from capture to report; memory is the peak of all processes. `cluster -m all` adds up the
tables of steps and communication and reads no timeline; `advisor all` compares ranks by those, and looks at the
timeline of one rank.

| ranks | advisor | msprof-analyze cluster | msprof-analyze advisor |
|---|---|---|---|
{rows}

What they say first of the job, of which one host computes {_SLOWER - 1:.0%} slower; of msprof-analyze, its rows about
ranks and links:

{concluded}
"""


def _quoted(texts: Sequence[str]) -> str:
    return "; ".join(f"“{text}”" for text in texts) or "nothing"


def small_ranks_job(folder: Path, ranks: int, stages: int = 1) -> Path:
    """A job of so many ranks whose last host but one computes slower; one that was kept is taken again."""
    job = folder / (str(ranks) if stages == 1 else f"{ranks}-in-{stages}-stages")
    if not job.exists():
        usual = setup_of("healthy", "large")
        slow = range(ranks - 2 * _ON_HOST, ranks - _ON_HOST)
        setup = replace(
            usual,
            workload=replace(usual.workload, layers=stages),
            layout=Layout(tp=_ON_HOST, dp=ranks // _ON_HOST // stages, pp=stages, ranks_per_node=_ON_HOST),
            machine=replace(usual.machine, compute_scale=dict.fromkeys(slow, _SLOWER)),
        )
        corpus.write(corpus.job("healthy", setup=setup), job)
    return job


def measured_parts(job: Path, runs: int = 2) -> dict[str, Any]:
    """What its parts take, seconds of the processor, and its reports have."""
    found = [measured_alone(__file__, job) for _ in range(runs)]
    return found[0] | {name: min(one[name] for one in found) for name in _PARTS}


def _measured_whole(job: Path, command: str) -> dict[str, Any]:
    """The same, and the whole command to a page, seconds of the clock."""
    found = measured_parts(job)
    with tempfile.TemporaryDirectory() as folder:
        words = [command, "diagnose", str(job), "-o", str(Path(folder) / "report.html"), "-q"]
        return {**found, "whole": best(words, _RUNS, watch=False).seconds}


def _measured(job: Path) -> dict[str, Any]:
    """Seconds of the processor by what they were spent on, and the sizes of the reports."""
    import advisor
    from advisor.machine.freed_memory import collect_seldom
    from advisor.pipeline import judge_profile, open_profile, prepare_exhibits
    from advisor.report.diagnosis.document import diagnosis_document, diagnosis_overview
    from advisor.report.diagnosis.page import diagnosis_page
    from advisor.report.renderers.markdown import document_text

    collect_seldom()  # as the command does
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
        "peak": peak_of_process(os.getpid()),
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
    peak = max((one["peak"] for one in found if one["ranks"] <= _PEAK_RANKS), default=0.0)
    whole = max((one["whole"] for one in found if _is_small(one)), default=0.0)
    return linear and last["page"] <= _PAGE_MB * _MB and peak <= _PEAK_MB * _MB and whole <= _WHOLE_S


def _is_small(one: dict[str, Any]) -> bool:
    return bool(one["ranks"] <= _PEAK_RANKS and one["bytes"] <= one["ranks"] * _WHOLE_BYTES)


def _page(found: Sequence[dict[str, Any]]) -> str:
    sizes = "\n".join(
        f"| {one['ranks']} | {one['comment'] / 1e3:.1f} kB | {one['markdown'] / 1e3:.0f} kB "
        f"| {one['json'] / _MB:.1f} MB |"
        for one in found
    )
    return f"""# Many ranks

What a diagnosis of up to thousands of ranks takes, and how large its reports are.

Written by `benchmarks/many_ranks.py`: generated jobs of small ranks, eight on a host, of which one host computes 25 %
slower. Seconds are those of the processor, which others who use the machine make longer by little: *opening* finds and
describes the captures, *reading* is the work of each rank, in worker processes, and *together* what the process does
that puts the ranks together: taking over what was read, rules, ranking. *Whole* is the command from capture to HTML
page by the clock, on two cores, best of {_RUNS} runs (target {_WHOLE_S:.0f} s at {_PEAK_RANKS} ranks of 1 MB). *Peak*
is the memory of the process that puts the ranks together, *page* the size of the HTML report.

{_times(found)}

| ranks | comment (10 findings) | Markdown, whole | JSON |
|---|---|---|---|
{sizes}

The terminal gets 60 lines at most, of as many findings as fit. Reports name ranks as ranges, with the host where they
are all on it; of more than 64 ranks the page has a map of them by hosts.
"""


def _in_stages(found: Sequence[dict[str, Any]]) -> str:
    """The section about pipelines, empty where none was measured."""
    if not found:
        return ""
    return f"""
## In a pipeline of {STAGES} stages

Jobs of thousands of ranks are pipelines; their groups stay small, and so does what each rank writes of them.

{_times(found)}
"""


def _times(found: Sequence[dict[str, Any]]) -> str:
    rows = "\n".join(
        f"| {one['ranks']} | {one['bytes'] / _MB:.0f} MB | {one['opening']:.1f} s | {one['reading']:.1f} s "
        f"| {one['together']:.1f} s | {one['whole']:.1f} s | {one['peak'] / _MB:.0f} MB | {one['page'] / _MB:.2f} MB |"
        for one in found
    )
    powers = {name: _exponents(found, name) for name in _PARTS}
    said = ", ".join(f"{name} {power[-1]:.2f}" for name, power in powers.items() if power)
    return f"""| ranks | capture | opening | reading | together | whole | peak | page |
|---|---|---|---|---|---|---|---|
{rows}

Exponents of the growth between the two largest (1 is linear): {said or "–"}."""


if __name__ == "__main__":
    sys.exit(main())
