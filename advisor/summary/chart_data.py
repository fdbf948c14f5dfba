# SPDX-License-Identifier: Apache-2.0
"""What the charts of a report draw: small tables about the run, bounded in size, made from facts once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

import numpy as np

from advisor.facts.base import MISSING, Fact
from advisor.facts.derivation import AnyTable
from advisor.facts.derived import (
    ChipLimit,
    IdleCause,
    LaunchLatency,
    LinkUse,
    MemoryCourse,
    MemoryPeak,
    OperatorRoofline,
    OperatorShare,
    Overlap,
    RankSplit,
    StageTime,
    StepCourse,
)
from advisor.facts.derived.launches import LATENCY_BINS_PER_DECADE
from advisor.facts.profile import Profile
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing
from advisor.model.findings import Exhibit, ExhibitKind, Head, Rows, Scalar, TimeSplit

MeasuredSplit = TypeVar("MeasuredSplit", Overlap, RankSplit)

TOP_OPERATORS = 20
TOP_ROOFLINES = 40
MOST_COURSES = 6
"""Ranks whose step is drawn from beginning to end."""
MARKED_LONGER = 1.05
"""So many times as long as its work is a step by its marks before both are told: equal runs differ by less."""
FAR_FROM_USUAL = 0.2
"""So far from the middle one the mean step is no step that anybody sees: equal runs differ by a few per cent."""
LONGER = 1.25
"""A longest step is drawn too from so many times the one in the middle on: before that it looks the same."""
MOST_RANKS = 8192
MOST_CELLS = 4096
"""Steps of ranks; of more, the longest of neighbouring ranks in each step are kept."""
MOST_LINKS = 4096
"""All pairs of 64 ranks; of more, the slowest link between each block of ranks and each other one is kept."""


def make_exhibits(profile: Profile) -> tuple[Exhibit, ...]:
    """Every exhibit whose facts were recorded and that has something to show."""
    made = []
    for kind, fact, draw in EXHIBITS:
        try:
            rows = draw(profile.table(fact), profile)
        except FactMissing:
            continue  # the outcomes of the rules that read this fact, or what is drawn with it, say what to record
        if rows.rows:
            made.append(Exhibit(kind=kind, rows=rows))
    return tuple(made)


def time_split(splits: Table[RankSplit], marked_us: float = 0.0) -> TimeSplit | None:
    """The mean step over all ranks and steps; None without any step whose split is known.

    `marked_us` is how long steps are by their marks, 0 where nothing tells.
    """
    splits = _known_splits(splits)
    if not len(splits):
        return None
    slowest_rank, slowest_us = _slowest_rank(splits)
    mean = {name: _finite_mean(splits.floats(name)) for name in RankSplit.columns() if name.endswith("_us")}
    return TimeSplit(
        step_us=mean["span_us"] or 0.0,
        compute_us=mean["compute_us"] or 0.0,
        exposed_comm_us=mean["exposed_comm_us"] or 0.0,
        overlapped_us=mean["overlapped_us"] or 0.0,
        free_us=mean["free_us"] or 0.0,
        copy_us=mean["copy_us"],
        event_wait_us=mean["event_wait_us"],
        exchanging_us=mean["untold_us"] or None,
        inside_wait_us=mean["inside_wait_us"] or None,
        slowest_rank=slowest_rank,
        slowest_us=slowest_us,
        ranks=len(np.unique(splits["rank"])),
        usual_us=_usual_step(splits, mean["span_us"] or 0.0),
        marked_us=marked_us if marked_us > MARKED_LONGER * (mean["span_us"] or 0.0) else None,
    )


def step_us(overlaps: Table[Overlap]) -> float:
    """The mean step over all ranks and steps whose time is known, µs; 0 without any."""
    return _finite_mean(_known_splits(overlaps).floats("span_us")) or 0.0


def _usual_step(splits: Table[RankSplit], mean_us: float) -> float | None:
    """The middle one of the steps, each the mean over its ranks, µs; nothing where it is near the mean of all."""
    groups, (steps,) = _group_rows(splits["step"])
    usual = float(np.median(_group_mean(splits.floats("span_us"), groups, len(steps))))
    return usual if abs(mean_us - usual) > FAR_FROM_USUAL * usual else None


def _slowest_rank(splits: Table[RankSplit]) -> tuple[int | None, float | None]:
    """The rank with the longest mean step, and that step in µs, of those that recorded every step of the run.

    Other steps may be longer for all ranks, and a last one lacks its pause. Nothing with fewer than two such ranks.
    """
    groups, (ranks,) = _group_rows(splits["rank"])
    whole = np.bincount(groups, minlength=len(ranks)) == len(np.unique(splits["step"]))
    if np.count_nonzero(whole) < 2:  # noqa: PLR2004 - one rank is not compared with itself
        return None, None
    spans = np.where(whole, _group_mean(splits.floats("span_us"), groups, len(ranks)), -np.inf)
    slowest = int(np.argmax(spans))
    return int(ranks[slowest]), float(spans[slowest])


def slack_by_rank(splits: Table[RankSplit]) -> dict[int, float]:
    """By rank: how much more of a step it spends in communication that nothing hides than the rank that spends least.

    Ranks end their steps together; who waits least is who the others wait for. Where none communicates, as copies of a
    program on several devices, each ends by itself: then it is how much sooner than the slowest.
    """
    groups, (ranks,) = _group_rows(splits["rank"])
    exposed = _group_mean(splits.floats("exposed_comm_us"), groups, len(ranks))
    found = np.flatnonzero(np.isfinite(exposed))
    waited = exposed[found] - exposed[found].min(initial=np.inf)
    if not exposed[found].any():
        span = _group_mean(splits.floats("span_us"), groups, len(ranks))[found]
        waited = np.nan_to_num(span.max(initial=-np.inf) - span)
    return dict(zip(ranks[found].tolist(), waited.tolist(), strict=True))


def worth_by_stage(stages: Table[StageTime]) -> dict[int, float]:
    """By pipeline stage, where it is known: how much sooner a step would end if no other one waited for it, µs."""
    known = stages.take(np.isfinite(stages["worth_us"]))
    return dict(zip(known["stage"].tolist(), known["worth_us"].tolist(), strict=True))


def _known_splits(splits: Table[MeasuredSplit]) -> Table[MeasuredSplit]:
    """The steps whose split is known: not those that lack kernels."""
    return splits.take(np.isfinite(splits["span_us"]))


def _time_split_rows(splits: Table[RankSplit], _: Profile) -> Rows:
    splits = _known_splits(splits)
    groups, (ranks,) = _group_rows(splits["rank"])
    stages = _first_of_group(splits["stage"], groups, len(ranks))
    names = ("compute_us", "exposed_comm_us", "free_us")
    columns = [_group_mean(splits.floats(name), groups, len(ranks)) for name in names]
    return _rows_of_columns(
        (("rank", ""), ("stage", ""), *((n, "us") for n in names)), (ranks, stages, *columns), MOST_RANKS
    )


def _course_rows(courses: Table[StepCourse], _profile: Profile) -> Rows:
    """The step in the middle of each rank; of many ranks some, evenly from the one that waits least to the one that
    waits most. Last the longest step of all, where it is much longer than the one in the middle.
    """
    groups, (ranks, _) = _group_rows(courses["rank"], courses["step"])
    length = np.bincount(groups, courses.floats("to_us") - courses.floats("from_us"), minlength=len(ranks))
    waits = np.bincount(groups, courses.floats("exposed_comm_us"), minlength=len(ranks))
    by_length = np.lexsort((length, ranks))
    middle = by_length[np.unique(ranks[by_length], return_index=True)[1]]  # of two steps the shorter
    waited = middle[np.argsort(waits[middle], kind="stable")]
    spread = np.rint(np.linspace(0, len(waited) - 1, min(len(waited), MOST_COURSES))).astype(np.intp)
    chosen = np.sort(waited[spread]).tolist()
    usual = length[middle][np.searchsorted(ranks[middle], ranks)]
    chosen += [one for one in np.argsort(-length, kind="stable")[:1].tolist() if length[one] >= LONGER * usual[one]]
    kept = courses.take(np.concatenate([np.flatnonzero(groups == one) for one in chosen] or [groups]))
    numbers = ("from_us", "to_us", "compute_us", "exposed_comm_us", "free_us", "lead_us")
    heads = (("rank", ""), ("step", ""), *((name, "us") for name in numbers))
    columns = (kept["rank"], kept["step"], *(kept.floats(name) for name in numbers))
    return _rows_of_columns(heads, columns, len(kept), len(courses))


def _idle_rows(idle: Table[IdleCause], profile: Profile) -> Rows:
    """Idle time per cause and step, mean over the ranks, longest first."""
    causes = idle.texts("cause")
    overlaps = profile.table(Overlap)
    rank_steps = max(int((~overlaps.texts("source").isin(["recorded", "incomplete"])).sum()), 1)
    known = causes.codes >= 0
    total = np.bincount(causes.codes[known], idle.floats("total_us")[known], minlength=len(causes.names)) / rank_steps
    order = np.argsort(-total, kind="stable")
    cells = [(causes.names[i], float(total[i])) for i in order.tolist() if total[i] > 0]
    return Rows(columns=(Head(name="cause"), Head(name="us", unit="us")), rows=tuple(cells), total=len(cells))


def _latency_rows(latencies: Table[LaunchLatency], _: Profile) -> Rows:
    """Histogram of launch latencies in thirds of a decade; the first bin takes everything up to 1 µs."""
    bins = np.rint(np.log10(latencies["to_us"]) * LATENCY_BINS_PER_DECADE).astype(np.int64)
    counts = np.bincount(bins, latencies["launches"]).astype(np.int64)
    if not len(counts):
        return _rows_of_columns((), (), 0)
    edges = 10 ** (np.arange(len(counts)) / LATENCY_BINS_PER_DECADE)
    lower = np.concatenate([[0.0], edges[:-1]])
    return _rows_of_columns(
        (("from_us", "us"), ("to_us", "us"), ("launches", "count")), (lower, edges, counts), len(counts)
    )


def _memory_rows(courses: Table[MemoryCourse], profile: Profile) -> Rows:
    """The course of the rank that reserved most, and what its device holds where that is known."""
    groups, (ranks,) = _group_rows(courses["rank"])
    most = np.full(len(ranks), -1.0)
    np.fmax.at(most, groups, courses.floats("reserved_bytes"))
    own = courses.take(np.flatnonzero(groups == np.argmax(most))) if len(ranks) else courses
    peaks = profile.table(MemoryPeak)
    told = peaks["capacity_bytes"][np.isin(peaks["rank"], own["rank"])]
    capacity = told[np.isfinite(told)].max(initial=-1.0)
    numbers = (("from_us", "us"), ("to_us", "us"), ("allocated_bytes", "B"), ("reserved_bytes", "B"))
    heads = (("rank", ""), ("component", ""), *numbers, ("capacity_bytes", "B"))
    held = np.full(len(own), capacity if capacity > 0 else np.nan)
    columns: tuple[Array | Texts, ...]
    columns = (own["rank"], own.texts("component"), *(own.floats(name) for name, _ in numbers), held)
    return _rows_of_columns(heads, columns, len(own), len(courses))


def _operator_rows(operators: Table[OperatorShare], profile: Profile) -> Rows:
    """The operator types with most device time per step, mean over the ranks."""
    types = operators.texts("op_type")
    groups, (codes, cores) = _group_rows(types.codes, operators.texts("core").codes)
    ranks = max(len(np.unique(operators["rank"])), 1)
    us = np.bincount(groups, operators.floats("total_us"), minlength=len(codes)) / ranks
    calls = np.bincount(groups, operators.floats("calls"), minlength=len(codes)) / ranks
    order = np.argsort(-us, kind="stable")
    names, core_names = (*types.names, None), (*operators.texts("core").names, None)
    cells = [(names[codes[i]], core_names[cores[i]], float(us[i]), float(calls[i])) for i in order[:TOP_OPERATORS]]
    heads = (Head(name="op_type"), Head(name="core"), Head(name="us", unit="us"), Head(name="calls", unit="count"))
    return Rows(columns=heads, rows=tuple(cells), total=len(codes))


def _roofline_rows(shapes: Table[OperatorRoofline], profile: Profile) -> Rows:
    """The shapes with most time on the rank that spends most in operators whose operations and peak are known."""
    shapes = shapes.take(np.flatnonzero((shapes["compute_us"] > 0) & (shapes["moved_bytes"] > 0)))
    groups, (ranks,) = _group_rows(shapes["rank"])
    spent = np.bincount(groups, np.nan_to_num(shapes.floats("total_us")), minlength=len(ranks))
    own = shapes.take(np.flatnonzero(groups == np.argmax(spent))) if len(ranks) else shapes
    own = own.take(np.argsort(-own.floats("total_us"), kind="stable"))
    limits = profile.table(ChipLimit)
    at = np.full(len(own), np.argmax(limits["rank"] == own["rank"][0]) if len(own) else -1)
    numbers = (
        (("intensity", ""), own["mega_flops"] * 1e6 / own["moved_bytes"]),
        (("tflops", ""), own.floats("tflops")),
        (("peak_tflops", ""), own["mega_flops"] / own["compute_us"]),
        (("memory_gbps", "GB/s"), values_at(limits["memory_gbps"], at, np.nan)),
        (("us", "us"), own.floats("total_us")),
    )
    named = ("op_type", "input_shapes", "dtype")
    heads = (("rank", ""), ("chip", ""), *((name, "") for name in named), *(head for head, _ in numbers))
    texts = (limits.texts("chip").at(at), *map(own.texts, named))
    return _rows_of_columns(heads, (own["rank"], *texts, *(values for _, values in numbers)), TOP_ROOFLINES)


def _rank_step_rows(overlaps: Table[Overlap], _: Profile) -> Rows:
    ordered = _known_splits(overlaps).sorted_by("rank", "step")
    longest = np.argsort(-ordered.floats("span_us"), kind="stable")
    kept = ordered.take(_first_of_blocks(longest, MOST_CELLS, [ordered["rank"]], ordered["step"]))
    heads = (("rank", ""), ("step", ""), ("span_us", "us"))
    return _rows_of_columns(heads, (kept["rank"], kept["step"], kept.floats("span_us")), MOST_CELLS, len(ordered))


def _first_of_blocks(order: Array, most: int, ranks: Sequence[Array], apart: Array) -> Array:
    """All rows; of too many, the first in this order of each block of 2, 4, 8 … neighbouring ranks.

    Blocks are as small as the bound allows, and end where nodes do; those that are `apart` share none.
    """
    kept, size = np.arange(len(order)), 2
    while len(kept) > most and size < np.iinfo(np.int32).max:
        blocks = np.stack([apart, *(rank // size for rank in ranks)], axis=1)[order]
        _, first = np.unique(blocks, axis=0, return_index=True)
        kept, size = np.sort(order[first]), size * 2
    return kept


def _link_rows(links: Table[LinkUse], _: Profile) -> Rows:
    heads = (("source", ""), ("target", ""), ("link", ""), ("bandwidth_gbps", "GB/s"), ("size_bytes", "B"))
    kept = _slowest_links(links)
    columns: tuple[Array | Texts, ...]
    columns = (kept["source"], kept["target"], kept.texts("link"), *map(kept.floats, ("bandwidth_gbps", "size_bytes")))
    return _rows_of_columns(heads, columns, len(kept), len(links))


def _slowest_links(links: Table[LinkUse]) -> Table[LinkUse]:
    """All links; of too many, the slowest of each kind from one block of neighbouring ranks to another."""
    slowest = np.argsort(links.floats("bandwidth_gbps"), kind="stable")  # what has no bandwidth comes last
    ends = [links["source"], links["target"]]
    return links.take(_first_of_blocks(slowest, MOST_LINKS, ends, links.texts("link").codes)[:MOST_LINKS])


MakeRows = Callable[[AnyTable, Profile], Rows]
EXHIBITS: tuple[tuple[ExhibitKind, type[Fact], MakeRows], ...] = (
    ("time_split", RankSplit, _time_split_rows),
    ("step_course", StepCourse, _course_rows),
    ("idle_causes", IdleCause, _idle_rows),
    ("launch_latency", LaunchLatency, _latency_rows),
    ("memory_course", MemoryCourse, _memory_rows),
    ("operators", OperatorShare, _operator_rows),
    ("rooflines", OperatorRoofline, _roofline_rows),
    ("rank_steps", Overlap, _rank_step_rows),
    ("links", LinkUse, _link_rows),
)

CHARTED: tuple[type[Fact], ...] = (*(fact for _, fact, _ in EXHIBITS), ChipLimit, MemoryPeak)
"""Every table that charts read: those drawn, and what some are drawn with."""


def _group_rows(*keys: Array) -> tuple[Array, tuple[Array, ...]]:
    """Per row the number of its group, and per group its keys; groups in ascending order of the keys."""
    if len(keys) == 1:
        distinct, inverse = np.unique(keys[0], return_inverse=True)
        return inverse, (distinct,)
    pairs, inverse = np.unique(np.stack(keys, axis=1), axis=0, return_inverse=True)
    return inverse.reshape(-1), tuple(pairs[:, i] for i in range(len(keys)))


def _group_mean(values: Array, groups: Array, count: int) -> Array:
    """The mean of each group over the values that are there; NaN where none is."""
    there = np.isfinite(values)
    totals = np.bincount(groups[there], values[there], minlength=count)
    numbers = np.bincount(groups[there], minlength=count)
    return np.where(numbers > 0, totals / np.maximum(numbers, 1), np.nan)


def _first_of_group(values: Array, groups: Array, count: int) -> Array:
    out = np.full(count, MISSING, np.int64)
    out[groups[::-1]] = values[::-1]
    return out


def _finite_mean(values: Array) -> float | None:
    there = values[np.isfinite(values)]
    return float(there.mean()) if len(there) else None


def _plain_values(values: Array | Texts) -> Sequence[Scalar]:
    if isinstance(values, Texts):
        return values.values()
    if values.dtype == np.float64:
        return [value if math.isfinite(value) else None for value in values.tolist()]
    return [None if value == MISSING else value for value in values.tolist()]


def _rows_of_columns(
    heads: Iterable[tuple[str, str]], columns: Sequence[Array | Texts], limit: int, total: int | None = None
) -> Rows:
    """The first rows of these columns, of `total` that there are where they are some of them."""
    cells = tuple(itertools.islice(zip(*map(_plain_values, columns), strict=True), limit))
    if total is None:
        total = len(columns[0]) if columns else 0
    return Rows(columns=tuple(Head(name=name, unit=unit) for name, unit in heads), rows=cells, total=total)
