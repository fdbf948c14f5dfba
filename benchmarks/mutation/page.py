# SPDX-License-Identifier: Apache-2.0
"""Writes the part of docs/reliability.md that says what the tests notice."""

from __future__ import annotations

import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import yaml

from benchmarks.mutation.covering import PACKAGES
from benchmarks.mutation.trial import Verdict

PAGE = Path("docs/reliability.md")
EXPLAINED = Path("benchmarks/mutation/explained.yaml")
_PART = re.compile(r"(<!-- mutation -->\n).*(<!-- /mutation -->)", re.DOTALL)
_ABOUT = """
Of {count} small faults, {drawn} from all that can be put into these packages, the tests notice {score}. A fault is one
of mutmut's, or a guard that always or never holds, a filter that is gone, `max` for `min` or `sum`, the other side of a
search. Left out by rule, because no value follows from them: type annotations, docstrings, the words of errors and
messages, decorators, and arguments that only make our own mistakes loud (`strict`, `encoding`). Each fault meets the
tests that run its line, the fastest first, until one fails or tests of some seconds have passed; tests that start
processes are not asked. A test that would fail without the fault as well counts for nothing. `scripts/mutation` does
it all again, and writes this part.
"""
_NOTICED = ("killed", "timeout")


def write_page(top: Path, verdicts: Iterable[Verdict], seed: int, commit: str) -> int:
    """Puts figures and survivors between the marks of the page; 1 where a survivor is not explained."""
    judged = sorted(verdicts, key=lambda verdict: (verdict.name, verdict.line))
    explained = yaml.safe_load((top / EXPLAINED).read_text("utf-8")) or {}
    left = [verdict for verdict in judged if verdict.outcome not in _NOTICED]
    text = "\n".join([*_introduction(judged, seed, commit), *_table(judged), *_survivors(left, explained), ""])
    path = top / PAGE
    path.write_text(_PART.sub(lambda marks: marks[1] + text + marks[2], path.read_text("utf-8")), "utf-8")
    missing = [verdict.name for verdict in left if verdict.name not in explained]
    print(*missing, sep="\n")
    return int(bool(missing))


def _introduction(judged: Sequence[Verdict], seed: int, commit: str) -> list[str]:
    noticed = sum(verdict.outcome in _NOTICED for verdict in judged)
    drawn = f"drawn at random (seed {seed}, commit `{commit}`)"
    score = f"**{noticed}: {noticed / len(judged):.2f}**"
    return [*textwrap.wrap(_ABOUT.strip().format(count=len(judged), drawn=drawn, score=score), 118), ""]


def _table(judged: Sequence[Verdict]) -> list[str]:
    by_package = {package: Counter[str]() for package in PACKAGES}
    for verdict in judged:
        by_package[verdict.name.split("/")[1]][verdict.outcome] += 1
    rows = [
        f"| {package} | {count.total()} | {count['killed']} | {count['timeout']} | {count['survived']} | "
        f"{count['unreached']} | {(count['killed'] + count['timeout']) / max(count.total(), 1):.2f} |"
        for package, count in by_package.items()
    ]
    head = "| package | faults | noticed | noticed by not ending | survived | run by no test | noticed of all |"
    return [head, "|---|---|---|---|---|---|---|", *rows, ""]


def _survivors(left: Sequence[Verdict], explained: Mapping[str, str]) -> list[str]:
    names = [verdict.name.split(" ")[0].removeprefix("advisor/") for verdict in left]
    pairs = zip(names, left, strict=True)
    rows = [f"| `{name}` | {_code(verdict)} | {explained.get(verdict.name, '')} |" for name, verdict in pairs]
    return ["Those that survived:", "", "| file | fault | why it survived |", "|---|---|---|", *rows, ""]


def _code(verdict: Verdict) -> str:
    """What was changed, as short as it can be told."""
    before, _, after = verdict.name.split(": ", 1)[1].partition(" -> ")
    start = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
    end = next((at for at, (one, other) in enumerate(zip(before[::-1], after[::-1], strict=False)) if one != other), 0)
    first = max(start - 30, 0)
    pieces = (words[first : max(len(words) - end + 20, start + 1)] for words in (before, after))
    return " → ".join("`" + piece.replace("|", "\\|").replace("`", "'").strip() + "`" for piece in pieces)
