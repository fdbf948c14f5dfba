# SPDX-License-Identifier: Apache-2.0
"""The page of agreement: tables of what was compared, and why what differs does."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from benchmarks.agreement.exports import FactPair, Pair
from benchmarks.agreement.gpu_traces import TARGET, Compared

HEAD = """# Agreement

How far the figures of advisor agree with other exports of the same job, and with other tools.

Written by `benchmarks/agreement`. The same thing recorded or computed in two ways: how far both are apart. A difference
is relative to the larger figure, or to the other tool's; a part of a rank's time is compared as a share of that time.
"""


def table(heads: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of Markdown."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(str(cell) for cell in line)} |" for line in lines)


def exports_section(title: str, words: str, pairs: Mapping[str, Pair], names: tuple[str, str]) -> str:
    """Two ways of recording: every fact of all pairs together, the time of each rank, the findings."""
    parts = [f"## {title}", words, _facts_table(pairs.values(), names), _split_table(pairs, names)]
    return "\n\n".join([*parts, _findings_table(pairs, names)])


def _facts_table(pairs: Iterable[Pair], names: tuple[str, str]) -> str:
    by_fact: dict[str, list[FactPair]] = defaultdict(list)
    for pair in pairs:
        for fact in pair.facts:
            by_fact[fact.fact].append(fact)
    rows = []
    for name, found in sorted(by_fact.items()):
        worst = max(found, key=lambda one: one.difference)
        counts = [_rows_of(one.rows[side] for one in found) for side in (0, 1)]
        only = sorted({column for one in found for column in one.only_one})
        rows.append((
            f"`{name}`", *counts, f"`{worst.column}` {worst.difference:.2%}" if worst.column else "–",
            ", ".join(f"`{column}`" for column in only) or "–",
        ))  # fmt: skip
    heads = ("fact", *(f"rows, {name}" for name in names), "sum that is apart most", "only in one of them")
    return table(heads, rows)


def _rows_of(counts: Iterable[int | None]) -> str:
    known = [count for count in counts if count is not None]
    return str(sum(known)) if known else "not held"


def _split_table(pairs: Mapping[str, Pair], names: tuple[str, str]) -> str:
    rows = []
    for label, pair in pairs.items():
        for part in dict.fromkeys(one.part for one in pair.split):
            ranks = [one for one in pair.split if one.part == part]
            means = [_ms(sum(one.us[side] for one in ranks) / len(ranks)) for side in (0, 1)]
            shares = [one.share for one in ranks if not math.isnan(one.share)]
            rows.append((label, part.removesuffix("_us"), len(ranks), *means, f"{max(shares):.2%}" if shares else "–"))
    heads = ("capture", "part", "ranks", *(f"{name}, ms a rank" for name in names), "apart, of a rank's time, at most")
    return table(heads, rows)


def _findings_table(pairs: Mapping[str, Pair], names: tuple[str, str]) -> str:
    rows = [
        (label, f"`{one.rule}`", *(_ms(us) if us == us else "–" for us in one.saving_us))  # noqa: PLR0124 - not NaN
        for label, pair in pairs.items()
        for one in pair.findings
    ]
    return table(("capture", "finding", *(f"saving, {name}, ms" for name in names)), rows)


def gpu_section(compared: Sequence[Compared], unread: Mapping[str, str]) -> str:
    """Facts of traces of GPUs beside the other tool's figures."""
    by_figure: dict[str, list[Compared]] = defaultdict(list)
    for one in compared:
        by_figure[one.figure].append(one)
    totals = []
    for figure, found in by_figure.items():
        apart = [one for one in found if one.difference > TARGET]
        inside = max((one.difference for one in found if one not in apart), default=0.0)
        explained = sum(bool(one.reasons) for one in apart)
        totals.append((figure, len(found), len(found) - len(apart), f"{inside:.3%}", explained, len(apart) - explained))
    heads = ("figure", "traces", f"within {TARGET:.1%}", "largest of these", "apart, explained", "apart, not explained")
    parts = [
        table(heads, totals),
        "### What is apart, and why",
        _apart_table(compared),
        "### Traces that were not compared",
    ]
    return "\n\n".join([*parts, table(("trace", "read by"), [(f"`{name}`", why) for name, why in unread.items()])])


def _apart_table(compared: Sequence[Compared]) -> str:
    by_trace: dict[tuple[str, tuple[str, ...]], list[Compared]] = defaultdict(list)
    for one in compared:
        if one.difference > TARGET:
            by_trace[one.trace, one.reasons].append(one)
    rows = [
        (f"`{trace}`", "; ".join(map(_figure, found)), "; ".join(reasons) or "**not explained**")
        for (trace, reasons), found in by_trace.items()
    ]
    return table(("trace", "figure: ours and HTA's, ms", "what HTA counts"), rows)


def _figure(one: Compared) -> str:
    show = "{:.2%}".format if one.figure == "overlap" else _ms
    return f"{one.figure} {show(one.ours)}, {show(one.theirs)}"


def _ms(us: float) -> str:
    return "not known" if math.isnan(us) else f"{us / 1000:.3f}"
