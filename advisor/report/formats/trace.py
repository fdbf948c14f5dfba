# SPDX-License-Identifier: Apache-2.0
"""Trace events: a lane per finding and rank, to lie over the timeline of the profiler in Perfetto or chrome://tracing.

Written as torch_npu writes trace_view.json, an array of events with `ts` as text in µs with three decimals: a float64
of µs since 1970 steps by 0.25 µs. The clock is that of the capture, so both files share one time axis.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from advisor.report.formats.results import ToolResult, reported_results
from advisor.report.grouping import values_by_key
from advisor.report.occurrence_times import event_name
from advisor.report.prose import flat_text
from advisor.report.words import say

if TYPE_CHECKING:
    from advisor.model.findings import Occurrence
    from advisor.report.output_formats import Reported

FIRST_PROCESS = 2_000_000_000
"""Process number of rank 0: above the numbers of processes and of Kineto's devices, and below 2^31. What msprof gives
its layers is a process number times 1,024 and more."""
FIRST_PLACE = -1_000_000
"""Where the process of rank 0 stands: viewers sort by this number, and the profiler gives none below zero."""

TraceEvent = dict[str, Any]


def text(reported: Reported) -> str:
    """One event per line; findings in their order, the most important first."""
    lines = (json.dumps(event, ensure_ascii=False, allow_nan=False) for event in _trace_events(reported))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _trace_events(reported: Reported) -> Iterator[TraceEvent]:
    found = [result for result in reported_results(reported) if result.finding.occurrences]
    ranks = sorted({_rank_number(one) for result in found for one in result.finding.occurrences})
    for rank in ranks:
        yield from _process_events(rank)
    lanes = dict.fromkeys(ranks, 0)
    for result in found:
        by_rank = values_by_key((_rank_number(one), one) for one in result.finding.occurrences)
        for rank, own in sorted(by_rank.items()):
            for number, lane in enumerate(assign_lanes(own), 1):
                lanes[rank] += 1
                yield from _lane_events(result, number, lanes[rank], rank, reported)
                yield from (_finding_event(one, result, lanes[rank], reported) for one in lane)


def assign_lanes(events: Sequence[Occurrence]) -> list[list[Occurrence]]:
    """The events in order of time, on as few lanes as hold them without overlap: viewers drop what crosses."""
    lanes: list[list[Occurrence]] = []
    for one in sorted(events, key=lambda event: (event.start_ns, -event.duration_us)):
        free = next((lane for lane in lanes if lane[-1].end_ns <= one.start_ns), None)
        if free is None:
            lanes.append([one])
        else:
            free.append(one)
    return lanes


def _rank_number(one: Occurrence) -> int:
    return -1 if one.rank is None else one.rank


def _process_events(rank: int) -> Iterator[TraceEvent]:
    name = f"advisor rank {rank}" if rank >= 0 else "advisor"
    yield _metadata_event("process_name", rank, 0, {"name": name})
    yield _metadata_event("process_sort_index", rank, 0, {"sort_index": FIRST_PLACE + rank})


def _lane_events(result: ToolResult, number: int, lane: int, rank: int, reported: Reported) -> Iterator[TraceEvent]:
    more = f" ({number})" if number > 1 else ""
    title = f"{result.card.number}{say('colon', reported.language)}{result.headline}{more}"
    yield _metadata_event("thread_name", rank, lane, {"name": title})
    yield _metadata_event("thread_sort_index", rank, lane, {"sort_index": lane})


def _metadata_event(what: str, rank: int, lane: int, args: Mapping[str, object]) -> TraceEvent:
    return {"name": what, "ph": "M", "pid": FIRST_PROCESS + rank, "tid": lane, "args": args}


def _finding_event(one: Occurrence, result: ToolResult, lane: int, reported: Reported) -> TraceEvent:
    card = result.card
    return {
        "name": one.name or flat_text(event_name(one, reported.language)),
        "cat": "advisor",
        "ph": "X",
        "ts": f"{one.start_ns // 1000}.{one.start_ns % 1000:03}",
        "dur": one.duration_us,
        "pid": FIRST_PROCESS + _rank_number(one),
        "tid": lane,
        "args": {
            "finding": result.headline,
            "rule": card.rule,
            "fingerprint": result.finding.fingerprint,
            "severity": result.finding.severity.name,
            "saving": card.saving,
            "first step": card.first_step or "",
            "step": one.step,
        },
    }
