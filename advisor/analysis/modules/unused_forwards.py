# SPDX-License-Identifier: Apache-2.0
"""Work of the forward pass for which a gradient was recorded that no backward pass computes.

Autograd numbers the gradients it records: the last operator that is called with a number, before one is called with the
next, recorded it. Of most of them the backward pass computes the gradient, in an operator of the same number. Where it
does not, the result was not trained on: a pass that runs twice, a teacher or an evaluation that records, a loss that is
only told. What is computed again inside of the backward pass is none of it, nor what a later backward pass may still
come to: only what ran before the backward pass of a step that an optimizer ended is told.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.grouping import group_by, ratio, row_at, row_of_key
from advisor.analysis.modules.module_calls import ChargedWork, LaunchTables, charge_work
from advisor.analysis.operators.kernel_costs import decisive_work_beside, undisturbed_ns
from advisor.analysis.operators.launching_operators import lanes_of
from advisor.analysis.operators.operators import StepKernels, in_steps
from advisor.analysis.steps.device import build_timeline
from advisor.facts.base import MISSING
from advisor.facts.derived import Overlap, UnusedForward
from advisor.facts.nesting import nest_intervals
from advisor.facts.observed import (
    AutogradCall,
    GradientLink,
    HostCall,
    ModuleRange,
    StepWindow,
)
from advisor.facts.table import Array, Table, Texts, values_at
from advisor.messages.errors import FactMissing

_KNOWN = 0.9
"""Of so many operators of the backward pass the forward one has to be there, for others not to be lost alike."""
SEVERAL = 3
"""In so many steps what each of them does is seen more than once."""
_NEARLY_ALL = 0.9
"""The module named is the innermost that has this part of the work."""


class _Recorded(Struct, frozen=True):
    """Operators that recorded a gradient in the forward pass."""

    calls: Table[AutogradCall]
    answered: Array
    unused: Array
    """Whether a backward pass came after it, and did not compute its gradient."""


def unused_forwards(
    recorded: LaunchTables,
    numbered: Table[AutogradCall],
    ranges: Table[ModuleRange] | None,
    windows: Table[StepWindow] | None,
    split: Table[Overlap] | None = None,
) -> Table[UnusedForward]:
    """One row per rank on which there is any.

    Raises:
        FactMissing: Of too many operators of the backward pass the forward one was not recorded.
    """
    kernels, calls, collectives, gradients = recorded.kernels, recorded.calls, recorded.collectives, recorded.gradients
    work = charge_work(ranges, recorded)
    unused, answered = _kernels_of_forward(work, _recorded(numbered, calls, gradients))
    device = build_timeline(kernels, collectives, None, windows)
    every = in_steps(device, kernels, split)
    row = device.work.row[every.row]
    mine = np.flatnonzero(unused[row])
    chosen = every.take(mine)
    groups = group_by(chosen.table["rank"])
    first = groups.first
    unshared = undisturbed_ns(
        device, chosen.row, groups.of, len(groups), decisive_work_beside(device, kernels, collectives)
    )
    rank, total = chosen.table["rank"][first], groups.sums(chosen.duration_us)
    worst = groups.first_rows(chosen.table["start_ns"], -chosen.duration_us)
    ranks = group_by(every.table["rank"])
    whole = ranks.sums(every.duration_us)[row_of_key(every.table["rank"][ranks.first], rank)]
    return Table.build(
        UnusedForward,
        rank=rank,
        module=_modules_around(work, row[mine], chosen, groups.of, total),
        kernels=groups.sizes / chosen.steps[first],
        total_us=total / chosen.steps[first],
        unshared_us=np.where(chosen.whole[first], unshared / 1e3, np.nan) / chosen.steps[first],
        kernel_share=ratio(total, whole),
        repeated_share=ratio(
            groups.sums(chosen.duration_us * _repeated(every, unused[row], answered[row])[mine]), total
        ),
        worst=chosen.table.texts("op_name").take(worst),
        worst_start_ns=chosen.table["start_ns"][worst],
        worst_us=chosen.duration_us[worst],
    )


def _kernels_of_forward(work: ChargedWork, recorded: _Recorded) -> tuple[Array, Array]:
    """Per kernel: whether its operator recorded a gradient that is not computed, and whether one that is."""
    operators, row = work.operators, work.operator[: work.kernels]
    lane, lane_of_calls = lanes_of(operators, recorded.calls)
    asked = values_at(lane, row, -1), values_at(operators["start_ns"], row), values_at(operators["end_ns"], row)

    def inside(chosen: Array) -> Array:
        rows = np.flatnonzero(chosen)
        nest = nest_intervals(lane_of_calls[rows], recorded.calls["start_ns"][rows], recorded.calls.at("end_ns", rows))
        return (nest.around(*asked) >= 0) & (row >= 0)

    answered = inside(recorded.answered)
    return inside(recorded.unused) & ~answered, answered


def _recorded(
    numbered: Table[AutogradCall], calls: Table[HostCall], gradients: Table[GradientLink] | None
) -> _Recorded:
    """The operators of the forward pass that recorded a gradient each, and which of them are answered."""
    (lane,) = lanes_of(numbered)
    start, end = numbered["start_ns"], numbered["end_ns"]
    passes = np.flatnonzero(numbered["backward"] > 0)
    around = nest_intervals(lane[passes], start[passes], end[passes]).around(lane, start, end)
    forward = np.flatnonzero((around < 0) & (numbered["backward"] <= 0))
    forward = forward[np.lexsort((-end[forward], start[forward], lane[forward]))]
    _require_forward(numbered)
    lanes, number = lane[forward], numbered["number"][forward]
    same = (lanes[1:] == lanes[:-1]) & (number[1:] == number[:-1])
    last = np.flatnonzero(np.append(~same, np.ones(min(len(forward), 1), bool)))
    run = np.searchsorted(last, np.arange(len(forward)))
    recorded, lanes = numbered.take(forward[last]), lanes[last]
    answer = np.full(len(last), MISSING)
    _answer_by_links(answer, numbered.take(forward), run, gradients)
    _answer_by_numbers(answer, recorded, numbered.take(passes), gradients)
    answered, following = answer != MISSING, np.append(recorded["number"][1:], -1)[: len(last)]
    following = np.where(np.append(lanes[1:] == lanes[:-1], False)[: len(last)], following, -1)
    over = recorded["start_ns"] < _ends_of_passes(recorded, lanes, answer, numbered.take(passes), calls)
    unused = (following == recorded["number"] + 1) & over & ~answered
    unused &= _apart(recorded, lanes, unused, answered)
    return _Recorded(recorded, answered, unused & ~_seldom(recorded, unused, answered, calls))


def _require_forward(numbered: Table[AutogradCall]) -> None:
    """Raises FactMissing where operators that recorded are gone: then those of the backward pass may be too."""
    rank, number, backward = numbered["rank"], numbered["number"], numbered["backward"] > 0
    known = row_at(rank[~backward], number[~backward], rank[backward], number[backward]) >= 0
    if len(known) and known.mean() < _KNOWN:
        raise FactMissing([AutogradCall.table])


def _answer_by_links(
    answer: Array, forward: Table[AutogradCall], run: Array, gradients: Table[GradientLink] | None
) -> None:
    """Writes when the gradient of what a run of equal numbers recorded is computed, by the links of the profiler."""
    if gradients is None:
        return
    row = row_at(forward["rank"], forward["start_ns"], gradients["rank"], gradients["forward_start_ns"])
    np.maximum.at(answer, run[row[row >= 0]], gradients["backward_start_ns"][row >= 0])


def _answer_by_numbers(
    answer: Array, recorded: Table[AutogradCall], passes: Table[AutogradCall], gradients: Table[GradientLink] | None
) -> None:
    """The same by the numbers of operators of the backward pass that no link leads to."""
    key, asked = _keys((recorded["rank"], recorded["number"]), (passes["rank"], passes["number"]))
    linked = np.zeros(len(passes), bool)
    if gradients is not None:
        at = row_at(gradients["rank"], gradients["backward_start_ns"], passes["rank"], passes["start_ns"])
        linked = np.isin(asked, asked[at >= 0])
    latest = np.full(max(key.max(initial=-1), asked.max(initial=-1)) + 1, MISSING)
    np.maximum.at(latest, asked[~linked], passes["start_ns"][~linked])
    found = np.where(recorded["start_ns"] < latest[key], latest[key], MISSING)
    np.maximum(answer, found, out=answer)


def _keys(some: tuple[Array, Array], others: tuple[Array, Array]) -> tuple[Array, Array]:
    """Numbers for pairs, the same for equal ones."""
    of = group_by(*(np.append(*columns) for columns in zip(some, others, strict=True))).of
    return of[: len(some[0])], of[len(some[0]) :]


def _ends_of_passes(
    recorded: Table[AutogradCall], lane: Array, answer: Array, passes: Table[AutogradCall], calls: Table[HostCall]
) -> Array:
    """Per operator of the forward pass: what ran before this moment has had its backward pass.

    That is the last operator of a backward pass before the last call of an optimizer. Where no optimizer was recorded
    it is the last operator of the forward pass whose gradient was computed before its thread went on.
    """
    steps = calls.take(np.flatnonzero(calls.texts("kind").isin(["optimizer"])))
    optimised = _latest(steps["rank"], steps["start_ns"])
    ended = passes["start_ns"] < optimised(passes["rank"])
    begun = _latest(passes["rank"][ended], passes["start_ns"][ended])(recorded["rank"])
    went_on = (answer != MISSING) & (answer < _latest(lane, recorded["start_ns"])(lane))
    without = _latest(lane[went_on], recorded["start_ns"][went_on])(lane)
    return np.where(np.isin(recorded["rank"], steps["rank"]), begun, without)


def _latest(key: Array, moment: Array) -> Callable[[Array], Array]:
    """What tells the latest moment of a key, MISSING of one that has none."""
    order = np.lexsort((moment, key))
    last = order[np.append(key[order][1:] != key[order][:-1], np.ones(min(len(key), 1), bool))]
    return lambda wanted: values_at(moment[last], row_of_key(key[last], wanted))


def _apart(recorded: Table[AutogradCall], lane: Array, unused: Array, answered: Array) -> Array:
    """Per operator: whether none lies inside of it whose gradient is computed."""
    rows = np.flatnonzero(unused)
    nest = nest_intervals(lane[rows], recorded["start_ns"][rows], recorded["end_ns"][rows])
    inner = nest.around(lane[answered], recorded["start_ns"][answered], recorded["end_ns"][answered])
    outer = np.zeros(len(unused), bool)
    while (inner >= 0).any():
        outer[rows[inner[inner >= 0]]] = True
        inner = values_at(nest.parent_rows, inner, -1)
    return ~outer


def _seldom(recorded: Table[AutogradCall], unused: Array, answered: Array, calls: Table[HostCall]) -> Array:
    """Per operator: whether its rank trains in several steps, and in no more than half as many is anything unused.

    That is an evaluation now and then, or operators of a backward pass were lost.
    """
    steps = calls.take(np.flatnonzero(calls.texts("kind").isin(["optimizer"])))
    rank, moment = (np.append(recorded[name], steps[name]) for name in ("rank", "start_ns"))
    order, passed = np.lexsort((moment, rank)), np.empty(len(rank), np.int64)
    passed[order] = np.cumsum(order >= len(recorded))

    def rounds(chosen: Array) -> Array:
        """Between how many calls of optimizers there are such operators, for the rank of each operator."""
        own = rank[: len(recorded)][chosen]
        ranks = own[group_by(own, passed[: len(recorded)][chosen]).first]
        begin, end = (np.searchsorted(ranks, recorded["rank"], side) for side in ("left", "right"))
        return np.subtract(end, begin)

    trained = rounds(answered)
    return (trained >= SEVERAL) & (2 * rounds(unused) <= trained)


def _repeated(every: StepKernels, unused: Array, answered: Array) -> Array:
    """Per kernel: how much of it and those like it also runs in the forward pass that is trained on."""
    table = every.table
    like = group_by(table["rank"], table.texts("op_name"), table.texts("op_type"), table.texts("input_shapes"))
    once, again = like.sums(answered.astype(np.float64)), like.sums(unused.astype(np.float64))
    return np.minimum(ratio(once, again), 1.0)[like.of]


def _modules_around(work: ChargedWork, row: Array, chosen: StepKernels, group: Array, total: Array) -> Texts:
    """Per rank: the innermost module that nearly all of its unused work is in; missing where there is none."""
    paths = work.paths
    held = np.zeros((len(total), len(paths)))
    np.add.at(held, (group, work.path[row]), chosen.duration_us)
    for path in range(len(paths) - 1, 0, -1):
        held[:, paths.parent[path]] += held[:, path]
    most = held >= _NEARLY_ALL * total[:, None]
    inner = len(paths) - 1 - most[:, ::-1].argmax(axis=1) if len(paths) else np.zeros(len(total), np.intp)
    names = paths.texts()
    return Texts.of([names[path] or None for path in inner.tolist()])
