# SPDX-License-Identifier: Apache-2.0
"""Steps of a serving engine, by the marks it sets around them: how long the device idles from one to the next, and
which of them replay a graph."""

from __future__ import annotations

import re

import numpy as np

from advisor.analysis.job_signs import ENGINE_STEP
from advisor.facts.base import MISSING
from advisor.facts.derived import DecodeSize, EngineStep, Gap
from advisor.facts.observed import HostCall, Launch
from advisor.facts.table import Array, Table

_MARK = re.compile(ENGINE_STEP)
_DECODE = re.compile(r"(?:execute_(?:\d+_)?context_0(?:\(.*?\))?_generation_|step\[DECODE bs=)(\d+)")
"""The mark of a step that reads no prompt, and for how many requests it generates."""
_REPLAY = re.compile(r"aclmdlRIExecute(Async)?$")
"""A call that replays a captured graph, where its kind does not say so."""


def engine_steps(calls: Table[HostCall], idle: Table[Gap]) -> Table[EngineStep]:
    """One row per rank with at least two marks; none where an engine sets no marks.

    Between two steps the device idles where a gap holds the moment at which the later one begins on the host: launched
    ahead, as with asynchronous scheduling, a step begins while the device is busy.
    """
    marks = _outermost_marks(calls)
    rows = []
    for rank in np.unique(marks["rank"]).tolist():
        begins = np.unique(marks["start_ns"][marks["rank"] == rank])
        if len(begins) > 1:
            gaps = idle.take(idle["rank"] == rank)
            between = _idle_at(begins[1:], gaps)
            apart = np.diff(begins) / 1e3
            rows.append((rank, float(len(begins)), float(np.median(apart)), float(np.median(between))))
    columns = zip(*rows, strict=True) if rows else ((),) * 4
    return Table.build(EngineStep, **dict(zip(("rank", "steps", "apart_us", "idle_us"), columns, strict=True)))


def _outermost_marks(calls: Table[HostCall]) -> Table[HostCall]:
    """The marks of steps, by rank and time; one inside another marks the same step again."""
    names = calls.texts("name")
    marks = calls.take(names.hits(map(bool, map(_MARK.match, names.names))) & (calls["start_ns"] != MISSING))
    marks = marks.sorted_by("rank", "start_ns")
    inside = np.zeros(len(marks), bool)
    for rank in np.unique(marks["rank"]).tolist():
        mine = marks["rank"] == rank
        reach = np.maximum.accumulate(marks["end_ns"][mine])
        inside[mine] = np.append(False, marks["start_ns"][mine][1:] < reach[:-1])
    return marks.take(~inside)


def decode_sizes(calls: Table[HostCall], launches: Table[Launch]) -> Table[DecodeSize]:
    """One row per rank and number of requests for which steps generate that read no prompt.

    What the host launches from the begin of a step to that of the next belongs to it, whatever thread does so; the last
    step of a rank ends nowhere and is left out.
    """
    marks = _outermost_marks(calls)
    sizes = marks.texts("name")
    found = [_DECODE.match(name) for name in sizes.names]
    requests = np.array([*(float(match[1]) if match else np.nan for match in found), np.nan])[sizes.codes]
    names = calls.texts("name")
    replays = names.hits(map(bool, map(_REPLAY.match, names.names))) | calls.texts("kind").isin(["graph"])
    rows = []
    for rank in np.unique(marks["rank"]).tolist():
        mine = marks["rank"] == rank
        begins, asked = marks["start_ns"][mine], requests[mine][:-1]
        replayed = _count_between(begins, calls["start_ns"][replays & (calls["rank"] == rank)])
        launched = _count_between(begins, launches["host_start_ns"][launches["rank"] == rank])
        for size in np.unique(asked[asked > 0]).tolist():
            of = asked == size
            rows.append((rank, size, of.sum(), (replayed[of] > 0).sum(), launched[of].mean(), _mid_us(begins, of)))
    columns = zip(*rows, strict=True) if rows else ((),) * 6
    keys = ("rank", "requests", "steps", "replayed", "launches", "apart_us")
    return Table.build(DecodeSize, **dict(zip(keys, columns, strict=True)))


def _count_between(borders: Array, moments: Array) -> Array:
    """How many moments lie from each border to the next."""
    return np.diff(np.searchsorted(np.sort(moments), borders, "left"))


def _mid_us(begins: Array, chosen: Array) -> float:
    return float(np.median(np.diff(begins)[chosen])) / 1e3


def _idle_at(moments: Array, gaps: Table[Gap]) -> Array:
    """How long the gap lasts in which each moment lies, µs; 0 where the device is busy."""
    order = np.argsort(gaps["start_ns"], kind="stable")
    start, us = gaps["start_ns"][order], gaps["duration_us"][order]
    at = np.searchsorted(start, moments, side="right") - 1
    found = np.append(us, 0.0)[at]
    inside = (at >= 0) & (moments - np.append(start, 0)[at] < found * 1e3)
    return np.where(inside, found, 0.0)
