# SPDX-License-Identifier: Apache-2.0
"""Steps of a serving engine, by the marks it sets around them, and how long the device idles from one to the next."""

from __future__ import annotations

import re

import numpy as np

from advisor.analysis.job_signs import ENGINE_STEP
from advisor.facts.base import MISSING
from advisor.facts.derived import EngineStep, Gap
from advisor.facts.observed import HostCall
from advisor.facts.table import Array, Table

_MARK = re.compile(ENGINE_STEP)


def engine_steps(calls: Table[HostCall], idle: Table[Gap]) -> Table[EngineStep]:
    """One row per rank with at least two marks; none where an engine sets no marks.

    Between two steps the device idles where a gap holds the moment at which the later one begins on the host: launched
    ahead, as with asynchronous scheduling, a step begins while the device is busy.
    """
    names = calls.texts("name")
    marks = calls.take(names.hits(map(bool, map(_MARK.match, names.names))) & (calls["start_ns"] != MISSING))
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


def _idle_at(moments: Array, gaps: Table[Gap]) -> Array:
    """How long the gap lasts in which each moment lies, µs; 0 where the device is busy."""
    order = np.argsort(gaps["start_ns"], kind="stable")
    start, us = gaps["start_ns"][order], gaps["duration_us"][order]
    at = np.searchsorted(start, moments, side="right") - 1
    found = np.append(us, 0.0)[at]
    inside = (at >= 0) & (moments - np.append(start, 0)[at] < found * 1e3)
    return np.where(inside, found, 0.0)
