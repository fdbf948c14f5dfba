# SPDX-License-Identifier: Apache-2.0
"""How long events took, as histograms small enough to leave the process that read them: bins 1 % wide.

Count, sum, shortest and longest of each bin are exact, so those of any union of bins are; a quartile lies within one
bin and is known within 1 %, and exactly where all values of that bin are equal.
"""

from __future__ import annotations

from typing import Annotated, TypeVar

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.host.host import DEVICE_SOFTWARE
from advisor.facts.base import LARGEST, MISSING, Count, Fact, Key, Rank, Us, Volatile
from advisor.facts.derived import Gap
from advisor.facts.observed import HostCall, Kernel, OperatorCall, ProgramMark
from advisor.facts.table import Array, Table, Texts

WIDTH = 1.01
"""The upper end of a bin over its lower end."""
NAMED_KINDS = ("operator", "optimizer", "data_loader", "enqueue", "dequeue", *DEVICE_SOFTWARE)
"""Kinds of host calls that are counted by name; of Python functions only some were recorded."""


class _Bin(Fact):
    """Events of one rank that took about as long as each other."""

    observed = False
    on_request = True

    rank: Rank
    bin: Annotated[
        int, Volatile("Whole part of the logarithm of the duration in µs to base 1.01; missing without a duration.")
    ]
    calls: Annotated[float, Count("How many.")]
    total_us: Annotated[float, Us("Together.")]
    min_us: Annotated[float, Us("Shortest.")]
    max_us: Annotated[float, Us("Longest.")]


class KernelBin(_Bin):
    """Kernels of one rank, type, core and shape that took about as long as each other."""

    table = "kernel_bins"

    op_type: Annotated[str, Key("Operator type.")]
    core: Annotated[str, Key("Kind of core.")]
    input_shapes: Annotated[str, Key("Shapes of the inputs.")]


class CallBin(_Bin):
    """Host calls of one rank, kind and name that took about as long as each other."""

    table = "call_bins"

    kind: Annotated[str, Key("As in `host_calls`.")]
    name: Annotated[str, Key("Name of the call.")]


class OperatorBin(_Bin):
    """Operators of the framework of one rank and name that took the host about as long as each other, as listed without
    the moments of each."""

    table = "operator_bins"

    name: Annotated[str, Key("Name of the operator.")]


class GapBin(_Bin):
    """Idle intervals of one rank and cause that took about as long as each other."""

    table = "gap_bins"

    cause: Annotated[str, Key("As in `gaps`.")]


class MarkBin(_Bin):
    """Marks and ranges of one rank, domain and text that took about as long as each other; marks take no time."""

    table = "mark_bins"

    domain: Annotated[str, Key("Domain that the program named.")]
    name: Annotated[str, Key("What the mark says.")]


B = TypeVar("B", bound=_Bin)


def kernel_bins(kernels: Table[Kernel]) -> Table[KernelBin]:
    """Kernels by rank, type, core, shape and duration."""
    keys = {name: kernels.texts(name) for name in ("op_type", "core", "input_shapes")}
    return _bin_durations(KernelBin, kernels["rank"], keys, kernels["duration_us"])


def call_bins(calls: Table[HostCall]) -> Table[CallBin]:
    """Host calls by rank, kind, name and duration."""
    named = np.flatnonzero(calls.texts("kind").isin(NAMED_KINDS))
    begin, end = calls.at("start_ns", named), calls.at("end_ns", named)
    known = (begin != MISSING) & (end != MISSING)
    lasted = np.where(known, np.where(known, end, 0) - np.where(known, begin, 0), np.nan) / 1e3
    keys = {name: calls.texts(name).take(named) for name in ("kind", "name")}
    return _bin_durations(CallBin, calls["rank"][named], keys, lasted)


def operator_bins(listed: Table[OperatorCall]) -> Table[OperatorBin]:
    """Listed operators by rank, name and time on the host."""
    return _bin_durations(OperatorBin, listed["rank"], {"name": listed.texts("name")}, listed["host_total_us"])


def gap_bins(gaps: Table[Gap]) -> Table[GapBin]:
    """Idle intervals by rank, cause and length."""
    return _bin_durations(GapBin, gaps["rank"], {"cause": gaps.texts("cause")}, gaps["duration_us"])


def mark_bins(marks: Table[ProgramMark]) -> Table[MarkBin]:
    """Marks and ranges by rank, domain, text and duration."""
    keys = {name: marks.texts(name) for name in ("domain", "name")}
    return _bin_durations(MarkBin, marks["rank"], keys, (marks["end_ns"] - marks["start_ns"]) / 1e3)


def _bin_durations(fact: type[B], rank: Array, keys: dict[str, Texts], lasted_us: Array) -> Table[B]:
    """One row per rank, keys and bin; what is negative or no time at all has no duration."""
    known = (lasted_us >= 0) & (lasted_us < LARGEST)
    us = np.where(known, lasted_us, np.nan)
    place = np.full(len(us), MISSING)
    with np.errstate(divide="ignore"):
        logarithm = np.log(us[known]) / np.log(WIDTH)
    place[known] = np.floor(np.maximum(logarithm, _SHORTEST)).astype(np.int64)
    groups = group_by(rank, *keys.values(), np.where(known, place, _SHORTEST - 1))
    first = groups.first
    return Table.build(
        fact,
        rank=rank[first],
        **{name: texts.take(first) for name, texts in keys.items()},
        bin=place[first],
        calls=groups.sizes.astype(np.float64),
        total_us=np.where(known[first], groups.sums(us), np.nan),
        min_us=groups.smallest(us),
        max_us=groups.largest(us),
    )


_SHORTEST = -1000
"""The bin of what took no time at all: of 0.00005 µs and less."""

DERIVATIONS = (kernel_bins, call_bins, operator_bins, gap_bins, mark_bins)
"""Made for these tables alone: no diagnosis pays for them."""
