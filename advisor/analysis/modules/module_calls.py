# SPDX-License-Identifier: Apache-2.0
"""Which module each piece of work on the device belongs to, by the operator behind it.

A kernel is traced to the framework operator that led to it: by the link the profiler drew, else by its launch, which
lies inside the operator on one thread. The operator belongs to the innermost call of a module around it. Where none is
around it and other threads passed the task to its own, as in the pipeline of MindSpore, the moment counts at which the
first of them did. Operators of the backward pass run on threads of their own, outside all modules: each takes the
module of the forward operator whose gradient it computes, together with the engine's call around it, which sums up
gradients. What is called inside of that, as where activations are computed again, lies below it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from msgspec import Struct

from advisor.analysis.operators.launching_operators import (
    Origins,
    framework_operators,
    innermost_begun_at,
    lanes_of,
    or_empty,
    origins_of_work,
)
from advisor.facts.base import MISSING
from advisor.facts.nesting import Nest, depths_of, nest_intervals
from advisor.facts.observed import (
    Collective,
    GradientLink,
    HostCall,
    Kernel,
    Launch,
    ModuleRange,
    OperatorLink,
    PassedTask,
)
from advisor.facts.table import Array, Table, Texts, row_type, values_at

PHASES = ("forward", "backward", "recompute")
FORWARD, BACKWARD, RECOMPUTE = range(3)
_ENGINE = "autograd::engine::evaluate_function: "
"""How torch names the call around each operator of the backward pass."""
MOST_DEPTH = 64
"""Modules that lie deeper belong to the one at this depth; models nest 5 to 20 deep."""


class LaunchTables(NamedTuple):
    """What tells where work was launched from."""

    kernels: Table[Kernel]
    calls: Table[HostCall]
    collectives: Table[Collective] | None
    launches: Table[Launch] | None
    links: Table[OperatorLink] | None
    gradients: Table[GradientLink] | None
    passed: Table[PassedTask] | None


class Paths(Struct, frozen=True):
    """Distinct paths of modules; number 0 is outside of all, and each stands behind the one it lies in."""

    parent: Array
    name: Texts
    """The last part of each; missing for number 0."""

    def __len__(self) -> int:
        return len(self.parent)

    def texts(self) -> list[str]:
        """Each path with `/` between its parts."""
        found = [""]
        for parent, name in zip(self.parent.tolist()[1:], self.name.values()[1:], strict=True):
            found.append(f"{found[parent]}/{name}" if parent else str(name))
        return found


class ChargedWork(Struct, frozen=True):
    """Kernels, then collectives, one row each, and where in the model each of them was launched."""

    rank: Array
    start: Array
    duration_us: Array
    name: Texts
    kernels: int
    """So many of the rows are kernels, in the order of their table."""
    linked: Array
    """Whether the operator or the launching call is known."""
    operator: Array
    """Row of `operators`, -1 where none is known."""
    operators: Table[HostCall]
    host_ns: Array
    """When the host came to it: start of the operator or of the launching call; of the work where neither is known."""
    path: Array
    phase: Array
    """Number in `PHASES`; of no meaning outside of modules."""
    instance: Array
    """Call of the module, -1 outside; in the backward pass the call that the gradient belongs to."""
    paths: Paths
    crossing: Array
    """Rows of the module ranges that are left out."""
    backward: Array
    """Per known operator of the backward pass: its rank."""


class _Spans(Struct, frozen=True):
    """Calls of modules, then operators of the backward pass, in one forest."""

    nest: Nest
    name: Texts
    """Missing for operators of the backward pass."""
    backward: Array
    owner: Array
    """The span that each belongs to: the one around it, or around the forward operator; -1 for none."""


def charge_work(ranges: Table[ModuleRange] | None, recorded: LaunchTables) -> ChargedWork:
    """All work with its module, none where no modules are known; worked out once for the same tables.

    It is kept as long as the modules, which fewer tables are made from than from kernels.
    """
    if ranges is None:
        return recorded.kernels.once(_charge_outside, *recorded[1:])
    return ranges.once(_charge_work, *recorded)


def _charge_outside(kernels: Table[Kernel], *tables: Any) -> ChargedWork:
    return _charge_work(Table.empty(ModuleRange), kernels, *tables)


def _charge_work(ranges: Table[ModuleRange], *tables: Any) -> ChargedWork:
    recorded = LaunchTables(*tables)
    kernels = recorded.kernels
    collectives = or_empty(Collective, recorded.collectives)
    operators = framework_operators(recorded.calls)
    launches = or_empty(Launch, recorded.launches)
    passed = or_empty(PassedTask, recorded.passed)
    lanes = lanes_of(ranges, operators, launches, passed, passed.having(thread=passed["worker"]))
    spans, linked_backward = _nest_spans(ranges, operators, recorded.gradients, lanes[0], lanes[1])
    rank = np.append(kernels["rank"], collectives["rank"])
    start = np.append(kernels["start_ns"], collectives["start_ns"])
    stream = np.append(kernels["stream"], np.full(len(collectives), MISSING))
    origin = origins_of_work((operators, launches, recorded.links), (lanes[1], lanes[2]), (rank, start, stream))
    span = _spans_around(spans.nest, origin, _first_passings(passed, lanes[3], lanes[4]))
    codes, paths = _number_paths(spans)
    return ChargedWork(
        rank=rank,
        start=start,
        duration_us=np.nan_to_num(np.append(kernels["duration_us"], collectives["elapse_us"])),
        name=Texts.concat([_names_of_kernels(kernels), collectives.texts("op")]),
        kernels=len(kernels),
        linked=origin.lane >= 0,
        operator=origin.operator.astype(row_type(len(operators))),
        operators=operators,
        host_ns=np.where(origin.lane >= 0, origin.start, start),
        path=values_at(codes, span, 0).astype(row_type(len(codes))),
        phase=values_at(_phases_of_spans(spans), span, FORWARD).astype(np.int8),
        instance=values_at(np.where(spans.backward, spans.owner, np.arange(len(spans.owner))), span, -1),
        paths=paths,
        crossing=spans.nest.crossing[spans.nest.crossing < len(ranges)],
        backward=linked_backward,
    )


def places_of_operators(
    ranges: Table[ModuleRange], operators: Table[HostCall], gradients: Table[GradientLink] | None, row: Array
) -> tuple[Array, Array, Paths]:
    """For these rows of operators, -1 among them: the number of the path, of the phase, and all paths."""
    lanes = lanes_of(ranges, operators)
    spans, _ = _nest_spans(ranges, operators, gradients, *lanes)
    codes, paths = _number_paths(spans)
    start, end = (values_at(operators[name], row) for name in ("start_ns", "end_ns"))
    span = spans.nest.around(values_at(lanes[1], row, -1), start, end)
    return values_at(codes, span, 0), values_at(_phases_of_spans(spans), span, FORWARD), paths


class _Passings(Struct, frozen=True):
    """Tasks that were passed from thread to thread, and where each comes from."""

    nest: Nest
    """By the threads that carried them out."""
    lane: Array
    """Per task the thread that first passed it on."""
    moment: Array


def _first_passings(passed: Table[PassedTask], lane: Array, worker: Array) -> _Passings:
    """Where tasks come from: what is passed on while another task is carried out comes from where that one does."""
    start, moment = passed["start_ns"], passed["passed_ns"]
    nest = nest_intervals(worker, start, passed["end_ns"])
    first = nest.around(lane, moment, moment)
    first = np.where(values_at(start, first) < start, first, -1)  # clocks that disagree make no circles
    first = np.where(first >= 0, first, np.arange(len(first)))
    while (further := first[first] != first).any():
        first = np.where(further, first[first], first)
    return _Passings(nest, lane[first], moment[first])


def _spans_around(spans: Nest, origin: Origins, passings: _Passings) -> Array:
    """Per piece of work the innermost span around its origin; where there is none, around where its task comes from."""
    found = spans.around(origin.lane, origin.start, origin.end)
    rows = np.flatnonzero((found < 0) & (origin.lane >= 0))
    task = passings.nest.around(origin.lane[rows], origin.start[rows], origin.start[rows])
    lane, moment = values_at(passings.lane, task, -1), values_at(passings.moment, task)
    found[rows] = spans.around(lane, moment, moment)
    return found


def _names_of_kernels(kernels: Table[Kernel]) -> Texts:
    """The function where one is recorded, else the name, else the type."""
    function, name, kind = (kernels.texts(column) for column in ("function", "op_name", "op_type"))
    every = Texts.concat([function, name, kind])
    codes = every.codes.reshape(3, len(kernels))
    return Texts(np.where(codes[0] >= 0, codes[0], np.where(codes[1] >= 0, codes[1], codes[2])), every.names)


def _nest_spans(
    ranges: Table[ModuleRange],
    operators: Table[HostCall],
    gradients: Table[GradientLink] | None,
    range_lane: Array,
    operator_lane: Array,
) -> tuple[_Spans, Array]:
    """All spans, and the rank of each operator of the backward pass among them."""
    forward, backward = linked_operators(operators, gradients)
    start, end = operators["start_ns"], operators["end_ns"]
    whole = _engine_calls(operators, operator_lane, backward)
    begun = np.append(ranges["start_ns"], start[whole])
    nest = nest_intervals(np.append(range_lane, operator_lane[whole]), begun, np.append(ranges["end_ns"], end[whole]))
    is_backward = np.arange(len(ranges) + len(whole)) >= len(ranges)
    owner, around = nest.parent_rows, nest.around(operator_lane[forward], start[forward], end[forward])
    owner[is_backward] = np.where(values_at(begun, around) < begun[is_backward], around, -1)
    name = Texts.concat([ranges.texts("name"), Texts.constant(None, len(whole))])
    return _Spans(nest, name, is_backward, owner), operators["rank"][backward]


def linked_operators(operators: Table[HostCall], gradients: Table[GradientLink] | None) -> tuple[Array, Array]:
    """Rows of the forward and of the backward operator of each link, each backward operator once."""
    if gradients is None:
        return np.empty(0, np.intp), np.empty(0, np.intp)
    forward, backward = (
        innermost_begun_at(operators, gradients["rank"], gradients[column])
        for column in ("forward_start_ns", "backward_start_ns")
    )
    known = (forward >= 0) & (backward >= 0) & (gradients["forward_start_ns"] < gradients["backward_start_ns"])
    backward, first = np.unique(backward[known], return_index=True)
    return forward[known][first], backward


def _engine_calls(operators: Table[HostCall], lane: Array, backward: Array) -> Array:
    """Per operator of the backward pass: the engine's call around it, else the operator itself."""
    name = operators.texts("name")
    engine = np.flatnonzero(name.hits(one.startswith(_ENGINE) for one in name.names))
    start, end = operators["start_ns"], operators["end_ns"]
    around = nest_intervals(lane[engine], start[engine], end[engine]).around(
        lane[backward], start[backward], end[backward]
    )
    return np.where(around >= 0, values_at(engine, around, -1), backward)


def _number_paths(spans: _Spans) -> tuple[Array, Paths]:
    """The path of each span by number, and the paths."""
    depth = depths_of(spans.owner)
    order = np.argsort(depth, kind="stable")
    borders = np.searchsorted(depth[order], np.arange(depth.max(initial=-1) + 2))
    code = np.zeros(len(depth), np.int64)
    parents, names = [np.array([-1])], [np.array([-1])]
    count, kinds = 1, len(spans.name.names) + 1
    for level, (begin, end) in enumerate(zip(borders[:-1].tolist(), borders[1:].tolist(), strict=True)):
        rows = order[begin:end]
        code[rows] = values_at(code, spans.owner[rows], 0)
        named = rows[spans.name.codes[rows] >= 0] if level < MOST_DEPTH else rows[:0]
        keys, which = np.unique(code[named] * kinds + spans.name.codes[named], return_inverse=True)
        code[named] = count + which
        parents.append(keys // kinds)
        names.append(keys % kinds)
        count += len(keys)
    return code, Paths(np.concatenate(parents), Texts(np.concatenate(names).astype(np.int32), spans.name.names))


def _phases_of_spans(spans: _Spans) -> Array:
    """Per span: backward itself, a module called inside of a backward operator, or neither."""
    inside, above = spans.backward, spans.nest.parent_rows
    while (above >= 0).any():
        inside = inside | (values_at(inside.astype(np.int8), above, 0) > 0)
        above = values_at(above, above, -1)
    return np.where(spans.backward, BACKWARD, np.where(inside, RECOMPUTE, FORWARD))
