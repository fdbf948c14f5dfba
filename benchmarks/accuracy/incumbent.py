# SPDX-License-Identifier: Apache-2.0
"""msprof-analyze on the same captures, by a mapping of what it says to faults that is generous to it.

What it is given: `advisor all`, and for database exports of several ranks also the cluster recipes that look for a
culprit (`slow_rank`, `slow_link`, `freq_analysis`). Each row of the table it prints is a problem; a row counts for it
whenever any of its readings is in MAPPING for a cause that is there. It counts against it only when msprof-analyze
itself colours the problem as of medium or high priority, or prints it as a problem without a priority. Problems of low
priority and bare tables (link bandwidths, comparisons of two ranks, recipes) are never held against it.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path

import corpus
from benchmarks.accuracy.mark import Cause, Claim, Mark, mark
from benchmarks.accuracy.plan import Case
from benchmarks.accuracy.run import causes, habits, made
from benchmarks.other_reader import printed, printed_rows

_SLOW_COMPUTE = ("slow rank: Computing", "Kernel compare", "cluster slow_rank")
_SLOW_HOST = ("slow rank: Free", "Api compare", "cluster slow_rank")
_LINKS = ("slow link", "cluster slow_link")
_COMPILES = ("Operator Dispatch Issues", "Operator Dynamic Shape Issues")
_STALLS = ("Synchronize Stream Issues",)
_LATE_HOST = ("Fusible Operator Analysis: host",)
_PERFORMANCE = "Vector Operator Perf Analysis"

MAPPING: Mapping[str, Sequence[str]] = {
    "host-bound": _LATE_HOST,
    "python-busy": _LATE_HOST,
    "growing-python": _LATE_HOST,
    "data-loader": ("Slow Dataloader Issues",),
    "data-loader-one-rank": ("Slow Dataloader Issues", *_SLOW_HOST),
    "synchronise-per-layer": _STALLS,
    "blocking-copies": _STALLS,
    "two-waits": (*_STALLS, *_LATE_HOST),
    "garbage-collection": ("GC Analysis", "Conjectured Gc"),
    "garbage-collection-apart": ("GC Analysis", "Conjectured Gc", "slow rank: Free"),
    "online-compilation": _COMPILES,
    "exposed-communication": (),
    "slow-rank-compute": _SLOW_COMPUTE,
    "slow-rank-data": _SLOW_COMPUTE,
    "slow-rank-host": _SLOW_HOST,
    "slow-link": _LINKS,
    "slow-network-link": _LINKS,
    "low-bandwidth": ("Bandwidth Contention Analysis", *_LINKS),
    "disturbed-links": ("Bandwidth Contention Analysis", *_LINKS),
    "retransmission-stall": ("Communication Retransmission Analysis",),
    "uneven-stages": ("slow rank: Computing", "Kernel compare"),
    "few-micro-batches": (),
    "expert-imbalance": _SLOW_COMPUTE,
    "uneven-data": _SLOW_COMPUTE,
    "awaited-reductions": (),
    "late-gathers": (),
    "creeping-kernels": (),
    "contended-compute": ("Bandwidth Contention Analysis",),
    "cast-excess": (f"{_PERFORMANCE}: Cast",),
    "transdata-excess": (f"{_PERFORMANCE}: TransData",),
    "aicpu-exposed": ("AICPU Issues",),
    "small-packets": ("Packet Analysis",),
    "dynamic-shapes": _COMPILES,
    "memory-churn": ("Memory Operator Issues", "Environment Variable Issues: PYTORCH_NPU_ALLOC_CONF"),
    "low-frequency": ("AI Core Frequency Issues", "cluster freq_analysis", *_SLOW_COMPUTE),
    "constant-low-clock": ("AI Core Frequency Issues", "cluster freq_analysis"),
    "launch-blocking": ("Environment Variable Issues: ASCEND_LAUNCH_BLOCKING", *_STALLS),
    "ragged-products": (f"{_PERFORMANCE}: MatMulV3",),
    "unfused-attention": (
        "Affinity API Issues: npu_fusion_attention",
        "Affinity API Issues: npu_scaled_masked_softmax",
    ),
    "unfused-norm": ("Affinity API Issues: npu_rms_norm", "Affinity API Issues: npu_add_layer_norm"),
    "unfused-rotary": ("Affinity API Issues: npu_rotary_mul",),
    "unfused-optimizer": ("Affinity API Issues: NpuFusedAdamW", "Affinity API Issues: NpuFusedAdam"),
    "damaged-trace": ("its log: a file cannot be read",),
    "killed-capture": (),
}
"""Per fault the names of its problems of which any counts as naming the fault.

Left out is `Fusible Operator Analysis` for fusions: it lists row numbers of kernels, for every healthy job too. Where
a problem names a rank (comparisons, recipes) it has to be the rank that was struck.
"""

_TABLES = frozenset({"Overall Summary", "slow link", "Kernel compare", "Api compare", "Fusible Operator Analysis"})
"""Printed for healthy jobs as well, without a verdict."""
_HEADINGS = {
    f"{kind} Operator Perf Analysis".casefold(): "AI Core Performance Analysis".casefold()
    for kind in ("Cube", "FA", "Vector")
}
"""What the report calls what its table of problems calls otherwise."""
_LOW = "#65c294"
"""How the report colours problems of low priority."""
_SPREAD = 0.05
"""From this difference of bandwidths on it looks closer at the slowest rank."""
_LATE = 0.1
_UNREADABLE = re.compile(r"malformed|premature EOF|Failed to read the file|Parse json file .* failed")
_RECIPES = """
import sys
from msprof_analyze.cli.entrance import msprof_analyze_cli
for mode in sys.argv[3:]:
    arguments = ["cluster", "-m", mode, "-d", sys.argv[1], "-o", sys.argv[2] + "/" + mode]
    msprof_analyze_cli.main(arguments, standalone_mode=False)
"""
"""Several recipes in one process of its interpreter: importing is most of their time."""
_RECIPE_TABLES = {
    "slow_rank": "SELECT rankId FROM SlowRank ORDER BY slowAffectCount DESC LIMIT 1",
    "slow_link": "SELECT NULL FROM SlowLinkOps LIMIT 1",
    "freq_analysis": "SELECT rankId FROM AbnormalFrequencyRanks",
}


@dataclass(frozen=True, slots=True)
class Problem:
    """One row of what it lists."""

    names: tuple[str, ...]
    """Every reading of it, the general one first."""
    verdict: bool
    """Whether it counts against it when it names nothing that is there."""
    ranks: frozenset[int] = frozenset()
    """The ranks it names, where it names any."""


def diagnosed(case: Case, command: str) -> Mark:
    """One case as msprof-analyze sees it, marked by MAPPING. Savings are not marked: it estimates none."""
    job = made(case)
    with tempfile.TemporaryDirectory() as folder:
        capture = corpus.write(job, Path(folder) / "capture", case.export, case.level, **case.variants)
        found, reported = _advised(command, capture, Path(folder) / "advice")
        if case.export == "database" and job.layout.world > 1:
            found += _recipes(command, capture, Path(folder) / "recipes")
    injected, also = causes(job), habits(case, job)
    marked = mark(case, injected, claimed(found, [*injected, *also]), MAPPING, also)
    return replace(marked, found=tuple(replace(one, error=None) for one in marked.found), reported=reported)


def claimed(found: Iterable[Problem], injected: Iterable[Cause]) -> list[Claim]:
    """What counts of the problems, each name once: every reading that names a cause, else the general one."""
    allowed = [cause for cause in injected if cause.allowed]
    claims: dict[str, Claim] = {}
    for problem in found:
        right = [name for name in problem.names if any(_names(problem, name, cause) for cause in allowed)]
        for name in right or problem.names[: int(problem.verdict)]:
            claims.setdefault(name, Claim(name, 0.0, problem.ranks, frozenset(), {}))
    return list(claims.values())


def _names(problem: Problem, name: str, cause: Cause) -> bool:
    struck = cause.place.get("rank")
    return name in MAPPING.get(cause.name, ()) and (struck is None or not problem.ranks or struck in problem.ranks)


def _advised(command: str, capture: Path, out: Path) -> tuple[list[Problem], bool]:
    text = printed([command, "advisor", "all", "-d", str(capture), "-o", str(out), "-l", "en"])
    pages = [page.read_text(encoding="utf-8") for page in out.glob("*.html")]
    return problems(text, "".join(pages)), bool(pages)


def problems(text: str, page: str) -> list[Problem]:
    """The problems in the text the command printed, with the priorities and details of its page."""
    colours = dict(_coloured(page))
    found = [_problem(category, description, page, colours) for category, description in printed_rows(text)]
    if _UNREADABLE.search(text):
        found.append(Problem(("its log: a file cannot be read",), verdict=False))
    return [problem for problem in found if problem.names]


def _coloured(page: str) -> Iterator[tuple[str, str]]:
    for colour, title in re.findall(r'<h2[^>]*background-color:\s*([^;"]*);?">\s*(.*?)\s*</h2>', page, re.S):
        yield title.casefold(), colour


def _problem(category: str, text: str, page: str, colours: Mapping[str, str]) -> Problem:
    name = _plain(category)
    heading = _HEADINGS.get(name.casefold(), name.casefold())
    verdict = name not in _TABLES and colours.get(heading) != _LOW
    compared = re.findall(r"Rank(\d+)", category)[:1] if name.endswith(" compare") else []
    return Problem(_readings(name, text, page), verdict, frozenset(map(int, compared)))


_TITLES = {name.casefold(): name for names in MAPPING.values() for name in (reading.split(":")[0] for reading in names)}


def _plain(category: str) -> str:
    """The name without ranks, stages and steps, spelled as in MAPPING."""
    name = re.sub(r"^((rank|stage)[\s-]*\d+[\s,:-]*)+", "", category, flags=re.I)
    name = re.sub(r" of Rank.*", "", name)
    return _TITLES.get(name.casefold(), name)


def _readings(name: str, text: str, page: str) -> tuple[str, ...]:
    if name == "slow rank":
        return tuple(f"slow rank: {kind}" for kind in re.findall(r"(\w+)\s+has some issues", text))
    if name == "slow link":
        return ("slow link",) if _spread(text) > _SPREAD else ()
    if name == "Fusible Operator Analysis":
        late = re.search(r"([\d.]+) for host bottleneck", text)
        return (name, f"{name}: host") if late and float(late[1]) >= _LATE else (name,)
    details = _DETAILS.get(name)
    return (name, *dict.fromkeys(f"{name}: {one}" for one in details.findall(page))) if details else (name,)


_DETAILS = {
    "Affinity API Issues": re.compile(r"torch_npu\.(?:optim\.)?(\w+)"),
    "Environment Variable Issues": re.compile(r"<td[^>]*>\s*([A-Z][A-Z0-9_]{6,})\s*</td>"),
    _PERFORMANCE: re.compile(r"<td>aclnn\w*_([A-Za-z0-9]+)</td>"),
}
"""Where the page names the interface, the variable or the operator that is meant."""


def _spread(text: str) -> float:
    """The largest difference of bandwidths between ranks, as a share of the average, over the kinds of links."""
    kinds = re.findall(r"average is ([\d.]+),.*?difference is ([\d.]+)GB", text)
    return max((float(difference) / float(mean) for mean, difference in kinds if float(mean)), default=0.0)


def _recipes(command: str, capture: Path, out: Path) -> list[Problem]:
    out.mkdir()
    printed([*_interpreter(command), "-c", _RECIPES, str(capture), str(out), *_RECIPE_TABLES])
    return [problem for mode, query in _RECIPE_TABLES.items() for problem in _said(out / mode, mode, query)]


def _interpreter(command: str) -> list[str]:
    """The Python that an installed command names in its first line."""
    script = shutil.which(command) or command
    return Path(script).read_text(encoding="utf-8").splitlines()[0].removeprefix("#!").split()


def _said(folder: Path, mode: str, query: str) -> Iterator[Problem]:
    for path in folder.rglob("cluster_analysis.db"):
        with closing(sqlite3.connect(path)) as connection:
            if not connection.execute("SELECT name FROM sqlite_master WHERE name = ?", (query.split()[3],)).fetchall():
                continue
            rows = connection.execute(query).fetchall()
        if rows:
            ranks = frozenset(int(rank) for (rank,) in rows if rank is not None)
            yield Problem((f"cluster {mode}",), verdict=False, ranks=ranks)
