# SPDX-License-Identifier: Apache-2.0
"""Which operator of the framework launched work on the device.

A kernel is traced to it by the link that the profiler drew, else by its launch, which lies inside the operator on one
thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.counted import distinct_ranks
from advisor.analysis.arrays.grouping import group_by, row_at, row_at_or_near
from advisor.analysis.arrays.intervals import row_ranges
from advisor.facts.base import MISSING, Fact
from advisor.facts.chain_patterns import ChainPatterns
from advisor.facts.nesting import nest_intervals
from advisor.facts.observed import HostCall, Kernel, Launch, OperatorLink
from advisor.facts.table import Array, Table, Texts, row_type, values_at

_OPERATORS = ("operator", "optimizer")

F = TypeVar("F", bound=Fact)


class HostRecords(NamedTuple):
    """What the host was recorded to do: what it takes to tell which operator launched a kernel."""

    calls: Table[HostCall]
    launches: Table[Launch] | None
    links: Table[OperatorLink] | None


def called_by_operators(kernels: Table[Kernel], host: HostRecords | None, patterns: ChainPatterns) -> Table[Kernel]:
    """The same kernels; those that have the name of a function for a type take the operator that launched them for it,
    where patterns of chains know that one.

    Frameworks let others put kernels of their own behind their operators, as libraries of Triton kernels do: what such
    a one computes is said by the operator, and its name is anybody's choice. Worked out once for the same tables.
    """
    called = None if host is None else kernels.once(_call_by_operators, patterns, *host)
    return kernels if called is None else called


def _call_by_operators(kernels: Table[Kernel], patterns: ChainPatterns, *host: Any) -> Table[Kernel] | None:
    """None where they are called as they were, for a table that keeps itself is never let go."""
    recorded, types = HostRecords(*host), kernels.texts("op_type")
    unknown = (_is_function(name) and name not in patterns.types for name in types.names)
    rows = np.flatnonzero(types.hits(unknown))
    if not len(rows):
        return None
    name = callers_of_kernels(kernels, recorded, rows).operator
    known = name.isin(patterns.types)
    if not known.any():
        return None
    both = Texts.concat([types, name.take(np.flatnonzero(known))])
    codes = both.codes[: len(types)].copy()
    codes[rows[known]] = both.codes[len(types) :]
    return kernels.having(op_type=Texts(codes, both.names))


class Callers(Struct, frozen=True):
    """Per kernel: the operator of the framework that launched it."""

    operator: Texts
    """Missing where none is known."""
    call: Array
    """A number of the call of that operator, -1 where none is known: kernels of one call share it."""


def callers_of_kernels(kernels: Table[Kernel], host: HostRecords, rows: Array | slice = slice(None)) -> Callers:
    """Which call of an operator launched each of these kernels: the innermost around its launch that belongs to a
    library, as `aten::mul` does. Calls into CANN, such as `aclnnMul`, are recorded inside of it in the same way."""
    operators, launches = framework_operators(host.calls), or_empty(Launch, host.launches)
    of_operators, of_launches = lanes_of(operators, launches)
    work = kernels["rank"][rows], kernels["start_ns"][rows], kernels["stream"][rows]
    call = origins_of_work((operators, launches, host.links), (of_operators, of_launches), work).operator
    call = _within_library(operators, of_operators, call)
    return Callers(operators.texts("name").at(call), call)


def _within_library(operators: Table[HostCall], lanes: Array, call: Array) -> Array:
    """Per call, by its row or -1: itself where its name has that of a library, else the innermost around that has."""
    of_library = operators.texts("name").passing(lambda name: "::" in name)
    inner = np.flatnonzero((call >= 0) & ~values_at(of_library, call, False))
    if not len(inner):
        return call
    outer, here = np.flatnonzero(of_library), call[inner]
    nest = nest_intervals(lanes[outer], operators.at("start_ns", outer), operators.at("end_ns", outer))
    begin = operators.at("start_ns", here)
    found = call.copy()
    found[inner] = values_at(outer, nest.around(lanes[here], begin, begin), -1)
    return found


def _is_function(name: str) -> bool:
    """Whether a type is the name of a function that somebody wrote: others begin with a capital letter,
    or are operators of a framework already."""
    return name.lstrip("_")[:1].islower() and "::" not in name


def framework_operators(calls: Table[HostCall]) -> Table[HostCall]:
    """The calls of operators of the framework, those of the optimizer among them."""
    return calls.take(np.flatnonzero(calls.texts("kind").isin(_OPERATORS)))


def or_empty(fact: type[F], table: Table[F] | None) -> Table[F]:
    """The table, or one without rows where it was not recorded."""
    return Table.empty(fact) if table is None else table


def lanes_of(*tables: Table[Any]) -> list[Array]:
    """Per row of each table a number of its rank and thread."""
    ranks = np.unique(np.concatenate([distinct_ranks(table["rank"]) for table in tables]))
    if len(ranks) <= 1:  # threads are few and rows many: these are numbered some tables at a time
        distinct = [_distinct_of(part) for table in tables for part in _threads_in_parts(table)]
        threads = np.unique(np.concatenate([np.empty(0, np.int64), *distinct]))
        nothing = np.empty(0, row_type(len(threads)))
        parts = ([_places_among(threads, part) for part in _threads_in_parts(table)] for table in tables)
        return [np.concatenate([nothing, *of_table]) for of_table in parts]
    both = group_by(*(np.concatenate([table[name] for table in tables]) for name in ("rank", "thread"))).of
    return np.split(both, np.cumsum([len(table) for table in tables[:-1]]))


def _threads_in_parts(table: Table[Any]) -> Iterator[Array]:
    """The thread of each row, some rows at a time."""
    return (table.at("thread", part) for part in row_ranges(len(table)))


def _distinct_of(values: Array) -> Array:
    """Distinct whole numbers in order; counted where they lie close to each other, in a fifth of the time."""
    least, largest = (int(values.min()), int(values.max())) if len(values) else (0, 0)
    if largest - least >= len(values):
        return np.unique(values)
    return least + np.flatnonzero(np.bincount(values - least))


def _places_among(distinct: Array, values: Array) -> Array:
    """The place of each value among distinct ones in order, each of which is there."""
    kind = row_type(len(distinct))
    span = int(distinct[-1]) - int(distinct[0]) + 1 if len(distinct) else 0
    if span > len(values):
        return np.searchsorted(distinct, values).astype(kind)
    place = np.zeros(span, kind)  # looked up, in a fifth of the time of a search
    place[distinct - distinct[:1]] = np.arange(len(distinct))
    return place.take(values - distinct[:1])


class Origins(Struct, frozen=True):
    """Where on the host each piece of work comes from: its operator, else the begin of the call that launched it."""

    operator: Array
    """Row of the operators, -1 where none is known."""
    lane: Array
    """-1 where neither is known."""
    start: Array
    end: Array


def origins_of_work(
    host: tuple[Table[HostCall], Table[Launch], Table[OperatorLink] | None],
    lanes: tuple[Array, Array],
    work: tuple[Array, Array, Array],
) -> Origins:
    """Where each piece of work comes from: it is known by its rank, start and stream.

    `host` are operators, launches and links, `lanes` numbers of the ranks and threads of the first two.
    """
    (operators, launches, links), (of_operators, of_launches), (rank, start, stream) = host, lanes, work
    launch = _launch_of_work(launches, rank, start, stream)
    linked = _linked_operator(operators, links, rank, start)
    moment = values_at(launches["host_start_ns"], launch)
    lane = np.where(moment == MISSING, -1, values_at(of_launches, launch, -1))
    operator = np.where(linked >= 0, linked, _operators_around(operators, of_operators, lane, moment, linked < 0))
    known = operator >= 0
    return Origins(
        operator,
        np.where(known, values_at(of_operators, operator, -1), lane),
        np.where(known, values_at(operators["start_ns"], operator), moment),
        np.where(known, values_at(operators["end_ns"], operator), moment),
    )


def _launch_of_work(launches: Table[Launch], rank: Array, start: Array, stream: Array) -> Array:
    """Per piece of work: the row of its launch, by rank, start and, where both know it, stream; -1 without one."""
    if not len(launches):
        return np.full(len(rank), -1)
    own = launches["rank"], launches["device_start_ns"], launches["stream"]
    found = row_at_or_near(own, (rank, start, stream))
    return np.where(start == MISSING, -1, found)


def _linked_operator(operators: Table[HostCall], links: Table[OperatorLink] | None, rank: Array, start: Array) -> Array:
    """Per piece of work: the row of the operator that the profiler linked it to, -1 without one."""
    if links is None:
        return np.full(len(rank), -1)
    links = links.take((links["device_start_ns"] != MISSING) & (links["operator_start_ns"] != MISSING))
    link = row_at(links["rank"], links["device_start_ns"], rank, start)
    found = innermost_begun_at(operators, rank, values_at(links["operator_start_ns"], link))
    return np.where(link >= 0, found, -1)


def innermost_begun_at(operators: Table[HostCall], rank: Array, moment: Array) -> Array:
    """Per rank and moment: the row of the operator that begins then, of several the one that ends first, else the last.

    Links name operators by their start alone, which one that is called at once by another has in common with it.
    """
    if not (operators["start_ns"][1:] >= operators["start_ns"][:-1]).all():  # as calls are read they ascend
        order = np.argsort(operators["start_ns"], kind="stable")
        return values_at(order, _first_to_end(operators.take(order), rank, moment, order), -1)
    return _first_to_end(operators, rank, moment, None)


def _first_to_end(operators: Table[HostCall], rank: Array, moment: Array, row: Array | None) -> Array:
    """The same of operators in order of start; `row` is the row of each that counts where several end at once."""
    start = operators["start_ns"]
    found = row_at(operators["rank"], start, rank, moment)
    alike = np.zeros(len(start), bool)
    np.equal(start[1:], start[:-1], out=alike[1:])
    alike[:-1] |= alike[1:]
    several = np.flatnonzero(alike)  # few: only these are put in order of their ends
    if len(several):
        number = several if row is None else row.take(several)
        ordered = np.lexsort((-number, operators.at("end_ns", several), operators["rank"][several], start[several]))
        best = several.take(ordered)
        first = row_at(operators["rank"][best], start[best], rank, moment)
        found = np.where(first >= 0, values_at(best, first, -1), found)
    return found


def _operators_around(
    operators: Table[HostCall], operator_lane: Array, lane: Array, moment: Array, wanted: Array
) -> Array:
    """Per launching call: the innermost operator around its begin, -1 without one or where none is wanted."""
    found = np.full(len(lane), -1)
    rows = np.flatnonzero(wanted & (lane >= 0))
    if len(rows):
        nest = nest_intervals(operator_lane, operators["start_ns"], operators["end_ns"])
        found[rows] = nest.around(lane[rows], moment[rows], moment[rows])
    return found
