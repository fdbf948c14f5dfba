# SPDX-License-Identifier: Apache-2.0
"""Trace events: a lane per finding and rank, to lie over the timeline of the profiler in Perfetto or chrome://tracing.

Written as torch_npu writes trace_view.json, an array of events with `ts` as text in µs with three decimals: a float64
of µs since 1970 steps by 0.25 µs. The clock is that of the capture, so both files share one time axis.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from advisor.report.blocks import one_line
from advisor.report.formats.results import Result, results
from advisor.report.prose import flat
from advisor.report.when import named
from advisor.report.words import say

if TYPE_CHECKING:
    from advisor.model.findings import Occurrence
    from advisor.report.reported import Reported

FIRST_PROCESS = 2_000_000_000
"""Process number of rank 0: above the numbers of processes and of Kineto's devices, and below 2^31. What msprof gives
its layers is a process number times 1,024 and more."""
FIRST_PLACE = -1_000_000
"""Where the process of rank 0 stands: viewers sort by this number, and the profiler gives none below zero."""

Event = dict[str, Any]


def text(reported: Reported) -> str:
    """One event per line; findings in their order, the most important first."""
    lines = (json.dumps(event, ensure_ascii=False, allow_nan=False) for event in _events(reported))
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _events(reported: Reported) -> Iterator[Event]:
    found = [result for result in results(reported) if result.finding.occurrences]
    ranks = sorted({_rank(one) for result in found for one in result.finding.occurrences})
    for rank in ranks:
        yield from _process(rank)
    lanes = dict.fromkeys(ranks, 0)
    for result in found:
        for rank, own in _by_rank(result.finding.occurrences).items():
            for number, lane in enumerate(apart(own), 1):
                lanes[rank] += 1
                yield from _lane(result, number, lanes[rank], rank, reported)
                yield from (_event(one, result, lanes[rank], reported) for one in lane)


def apart(events: Sequence[Occurrence]) -> list[list[Occurrence]]:
    """The events in order of time, on as few lanes as hold them without overlap: viewers drop what crosses."""
    lanes: list[list[Occurrence]] = []
    for one in sorted(events, key=lambda event: (event.start_ns, -event.duration_us)):
        free = next((lane for lane in lanes if lane[-1].end_ns <= one.start_ns), None)
        if free is None:
            lanes.append([one])
        else:
            free.append(one)
    return lanes


def _by_rank(events: Sequence[Occurrence]) -> Mapping[int, list[Occurrence]]:
    ranks: dict[int, list[Occurrence]] = {}
    for one in events:
        ranks.setdefault(_rank(one), []).append(one)
    return dict(sorted(ranks.items()))


def _rank(one: Occurrence) -> int:
    return -1 if one.rank is None else one.rank


def _process(rank: int) -> Iterator[Event]:
    name = f"advisor rank {rank}" if rank >= 0 else "advisor"
    yield _named("process_name", rank, 0, {"name": name})
    yield _named("process_sort_index", rank, 0, {"sort_index": FIRST_PLACE + rank})


def _lane(result: Result, number: int, lane: int, rank: int, reported: Reported) -> Iterator[Event]:
    more = f" ({number})" if number > 1 else ""
    title = f"{result.card.number}{say('colon', reported.language)}{result.headline}{more}"
    yield _named("thread_name", rank, lane, {"name": title})
    yield _named("thread_sort_index", rank, lane, {"sort_index": lane})


def _named(what: str, rank: int, lane: int, args: Mapping[str, object]) -> Event:
    return {"name": what, "ph": "M", "pid": FIRST_PROCESS + rank, "tid": lane, "args": args}


def _event(one: Occurrence, result: Result, lane: int, reported: Reported) -> Event:
    card = result.card
    return {
        "name": one.name or flat(named(one, reported.language)),
        "cat": "advisor",
        "ph": "X",
        "ts": f"{one.start_ns // 1000}.{one.start_ns % 1000:03}",
        "dur": one.duration_us,
        "pid": FIRST_PROCESS + _rank(one),
        "tid": lane,
        "args": {
            "finding": result.headline,
            "rule": card.rule,
            "fingerprint": result.finding.fingerprint,
            "severity": result.finding.severity.name,
            "saving": card.saving,
            "first step": one_line(card.actions[0].do) if card.actions else "",
            "step": one.step,
        },
    }
