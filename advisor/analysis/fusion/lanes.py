# SPDX-License-Identifier: Apache-2.0
"""Kernels in the order in which they ran on each stream, as chains are looked for in them: by their types, or by the
operators of the framework that launched them."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from msgspec import Struct, structs

from advisor.analysis.arrays.grouping import group_by
from advisor.analysis.arrays.tensors import parse_tensors
from advisor.analysis.fusion.joined_kernels import ARROW, JoinedKernels, members_of
from advisor.analysis.operators.operators import StepKernels
from advisor.analysis.steps.device import DeviceTimeline
from advisor.facts.table import Array, Texts

BETWEEN = 2
"""At most so many conversions and copies stand between two members."""
MOST_BRIEF = 64
"""At most so many brief kernels stand between two members: where ranks may divide a vocabulary, 13 do."""
LONG = 1 / 32
"""From this part of the longest kernel of a rank on one is not brief: the passes over all logits of a public training
take 3.4 to 8.0 ms beside a product of 18.4 ms, what stands between them at most 0.05 ms."""
CONVERSION = "Cast"


class Lanes(Struct, frozen=True, dict=True):
    """Kernels in start order, one stream of one step after another."""

    row: Array
    """Row of the kernels."""
    lane: Array
    rank: Array
    member: Array
    """Positions of those that are not passed over."""
    begin: Array
    """Per member: the positions of the first and the last kernel that it stands for; its own where that is one."""
    end: Array
    code: Array
    """What they are called, by number; the last number where that is missing."""
    names: tuple[str, ...]
    converts: Array
    """Per position: whether it converts a data type."""
    shapes: Texts
    """Shapes and data types of the inputs, by row of the kernels."""
    dtypes: Texts
    several: Array
    """Per row: whether the kernel stands for several operators, so that its shapes are not those of each."""
    between: int = BETWEEN
    """At most so many kernels stand between two members."""

    @cached_property
    def with_vector(self) -> Array:
        """Per member: whether one of its inputs has a single axis."""
        told, row = np.array([*map(_takes_vector, self.shapes.names), False]), self.row[self.member]
        found: Array = told[self.shapes.codes[row]] & ~self.several[row]
        return found

    @cached_property
    def opens(self) -> Array:
        """Per member: whether it is the first of those that its kernel stands for."""
        opens: Array = np.append(True, self.member[1:] != self.member[:-1])[: len(self.member)]
        return opens

    @cached_property
    def closes(self) -> Array:
        """Per member: whether it is the last of those that its kernel stands for."""
        closes: Array = np.append(self.member[1:] != self.member[:-1], True)[: len(self.member)]
        return closes

    def add_to_gradients(self, at: Array) -> Array:
        """Per chosen member: whether it adds a float32 matrix to the weight gradient that the one before it makes."""
        rows = [self.row[self.member[place]] for place in (np.maximum(at - 1, 0), at)]
        texts = [column.take(row) for row in rows for column in (self.shapes, self.dtypes)]
        alike = group_by(*texts)
        columns = (column.take(alike.first).values() for column in texts)
        told = np.array([_adds_to_gradient(*map(str, one)) for one in zip(*columns, strict=True)], bool)
        plain = ~(self.several[rows[0]] | self.several[rows[1]])
        found: Array = told[alike.of] & (at > 0) & plain
        return found

    @cached_property
    def joined(self) -> Array:
        """Per member: whether it and the next one may follow each other in a chain; never the last."""
        here, following = self.end[:-1], self.begin[1:]
        near = (following - here <= self.between + 1) & (self.lane[here] == self.lane[following])
        joined: Array = np.append(near, False)
        return joined

    @cached_property
    def by_code(self) -> tuple[Array, Array]:
        """The members ordered by type, and where each type begins."""
        small = self.code.astype(np.int16) if len(self.names) < np.iinfo(np.int16).max else self.code
        counts = np.bincount(self.code, minlength=len(self.names) + 1)
        return np.argsort(small, kind="stable"), np.append(0, np.cumsum(counts))

    def of_types(self, types: frozenset[str]) -> Array:
        """The members of these types, in order."""
        order, begin = self.by_code
        chosen = [order[begin[code] : begin[code + 1]] for code, name in enumerate(self.names) if name in types]
        return np.sort(np.concatenate(chosen)) if chosen else np.empty(0, np.intp)


def stream_lanes(
    every: StepKernels, device: DeviceTimeline, passed_over: frozenset[str], joined: JoinedKernels | None = None
) -> Lanes:
    """The kernels as they followed each other on each stream of each step, by their types; with `joined` by the
    operators that each stands for."""
    types, work = every.table.texts("op_type") if joined is None else joined.called, device.work
    stream = group_by(work.cell[every.row], every.table["stream"]).of
    order = np.lexsort((work.start[every.row], stream))
    position = np.flatnonzero(~types.isin(passed_over)[order])
    code = types.codes[order][position]
    of, code, names = _operators_of_kernels(np.where(code < 0, len(types.names), code), types.names)
    member = position[of]
    return Lanes(
        order,
        stream[order],
        every.table["rank"][order],
        member,
        member,
        member,
        code,
        names,
        types.isin([CONVERSION])[order],
        every.table.texts("input_shapes"),
        every.table.texts("input_dtypes"),
        np.zeros(len(order), bool) if joined is None else joined.several,
    )


def _operators_of_kernels(code: Array, names: tuple[str, ...]) -> tuple[Array, Array, tuple[str, ...]]:
    """Per operator that a kernel stands for: which kernel, and the number of its name among the names that follow;
    one without a name has the last number. `code` are those of the kernels."""
    if not any(ARROW in name for name in names):
        return np.arange(len(code)), code, names
    index = {name: number for number, name in enumerate(names)}
    stands_for = [[index.setdefault(one, len(index)) for one in members_of(name)] for name in names]
    stands_for.append([len(index)])
    counts = np.array([len(one) for one in stands_for])
    begin = np.cumsum(counts) - counts
    of = np.repeat(np.arange(len(code)), counts[code])
    turn = np.arange(len(of)) - np.repeat(np.cumsum(counts[code]) - counts[code], counts[code])
    every = np.array([number for one in stands_for for number in one])
    return of, every[begin[code][of] + turn], tuple(index)


def are_long(lanes: Lanes, duration_us: Array) -> Array:
    """Per position: whether its kernel is not brief beside the longest of its rank; `duration_us` is by row."""
    us = duration_us[lanes.row]
    ranks = group_by(lanes.rank)
    found: Array = us >= LONG * ranks.largest(us)[ranks.of]
    return found


def among_long(lanes: Lanes, long: Array) -> Lanes:
    """The same with the long kernels alone as members, however many brief ones stand between them."""
    chosen = long[lanes.member]
    member = lanes.member[chosen]
    return structs.replace(lanes, member=member, begin=member, end=member, code=lanes.code[chosen], between=MOST_BRIEF)


def by_operator(lanes: Lanes, called: Texts, call: Array, passed_over: frozenset[str]) -> Lanes:
    """The same kernels by the operators that launched them: a member is the first of those that one call launched, and
    stands for all of them. `called` and `call` are by row of the kernels; a negative call is not known."""
    of_call = call[lanes.row]
    again = (of_call[1:] == of_call[:-1]) & (of_call[1:] >= 0) & (lanes.lane[1:] == lanes.lane[:-1])
    edges = np.flatnonzero(np.append(True, ~again)[: len(of_call)])
    run = np.searchsorted(edges, lanes.member, side="right") - 1
    chosen = ~called.isin(passed_over)[lanes.row[lanes.member]] & np.append(True, np.diff(run) > 0)[: len(run)]
    member, run = lanes.member[chosen], run[chosen]
    code = called.codes[lanes.row[member]]
    return structs.replace(
        lanes,
        member=member,
        begin=edges[run],
        end=np.append(edges, len(of_call))[run + 1] - 1,
        code=np.where(code < 0, len(called.names), code),
        names=called.names,
    )


def _takes_vector(shapes: str) -> bool:
    return any(one.isdecimal() and one != "1" for one in shapes.strip('"').split(";"))


HALF, WHOLE = {"BF16", "FLOAT16"}, "FLOAT"
"""Data types of two bytes, and the one they are widened to."""


def _adds_to_gradient(factors: str, factor_types: str, summands: str, summand_types: str) -> bool:
    """Whether what is added has the shape of the gradient of a weight, which sums the products of all tokens.

    Both factors, (tokens, out) and (tokens, in), are summed over their first axis. Where tokens are as many as one of
    the other axes it could be another product, and nothing is said.
    """
    multiplied, added = parse_tensors(factors, factor_types), parse_tensors(summands, summand_types)
    if not len(multiplied) == len(added) == 2:  # noqa: PLR2004 - two factors, two summands
        return False
    sides = [() if tensor is None else tensor.sides for tensor in (*multiplied, *added)]
    if any(len(one) != 2 for one in sides):  # noqa: PLR2004 - matrices
        return False
    (tokens, rows), (others, columns) = sides[:2]
    if tokens != others or tokens in (rows, columns) or sides[2:] != [(rows, columns)] * 2:
        return False
    halves, sums = ({tensor.dtype for tensor in pair if tensor is not None} for pair in (multiplied, added))
    return halves <= HALF and "FLOAT" in sums and sums <= {"FLOAT", *HALF}
