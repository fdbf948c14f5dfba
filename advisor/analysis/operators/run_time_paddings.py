# SPDX-License-Identifier: Apache-2.0
"""Tensors whose last axis is padded before a product or attention, and cut again behind it, told by their shapes.

What that axis holds comes out of a projection in most models: with padded weights it comes out padded. Padding of other
axes, as before convolutions or to a number of tokens, is another matter, and none of it is told here.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from math import prod

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.tensors import first_sides, parse_sides
from advisor.analysis.rooflines.families import families_of
from advisor.facts.derived import OperatorShape, RunTimePadding
from advisor.facts.table import Array, Table

_PADS = re.compile(r"(Pad|ConstantPad(Nd)?)(D|V\d+)?$")
_CUTS = re.compile(r"(Strided)?Slice(D|V\d+)?$")
_USES = ("attention", "matmul")
"""Families for which the last axis is padded, what concerns more of a model first."""

TensorSides = tuple[int, ...]


class _Use(Struct, frozen=True):
    """A kernel that reads a tensor."""

    family_turn: int
    is_backward: bool
    """Then what is padded was so for the forward pass."""
    total_us: float
    last: int
    row: int


class _Padding(Struct, frozen=True):
    """What pads, by its row: the row of what reads it (-1 where nothing tells), those of what cuts it back, and the
    last axis before and behind."""

    row: int
    user: int = -1
    cuts: tuple[int, ...] = ()
    narrow: float = np.nan
    wide: float = np.nan


def run_time_paddings(shapes: Table[OperatorShape]) -> Table[RunTimePadding]:
    """One row per rank and kind of kernel that pads the last axis of what a product or attention reads, or whose shapes
    were not recorded."""
    types = shapes.texts("op_type")
    pads = np.flatnonzero(types.passing(_PADS.match))
    told = list(_paddings_told(shapes, pads)) if len(pads) else []
    if not told:
        return Table.empty(RunTimePadding)
    found, user = shapes.take(np.array([one.row for one in told])), np.array([one.user for one in told])
    families = families_of(types, shapes.texts("core"))
    both = {name: [shapes[name][[one.row, *one.cuts]].sum() for one in told] for name in ("instant_us", "step_share")}
    return Table.build(
        RunTimePadding,
        rank=found["rank"],
        **{name: found.texts(name) for name in ("op_type", "input_shapes", "output_shapes")},
        used_by=types.at(user),
        family=families.at(user),
        narrow_side=np.array([one.narrow for one in told], float),
        wide_side=np.array([one.wide for one in told], float),
        calls=found["calls"],
        pad_us=found["total_us"],
        cut_us=np.array([shapes["total_us"][[*one.cuts]].sum() if one.cuts else 0 for one in told], float),
        **{name: np.array(values, float) for name, values in both.items()},
    )


def _paddings_told(shapes: Table[OperatorShape], pads: Array) -> Iterator[_Padding]:
    """Of the rows of what pads: those of which it is told, and those of which nobody can tell."""
    uses, cuts = _uses_of_tensors(shapes, pads), _cuts_of_tensors(shapes, pads)
    known = (shapes.texts("input_shapes").codes >= 0) & (shapes.texts("output_shapes").codes >= 0)
    for row in pads.tolist():
        if not known[row]:
            yield _Padding(row)
            continue
        narrow, wide = _first_tensors(shapes, row)
        if len(narrow) < 2 or narrow[:-1] != wide[:-1] or narrow[-1] >= wide[-1]:  # noqa: PLR2004 - rows of an axis
            continue
        rank = int(shapes["rank"][row])
        reading = [one for one in uses.get((rank, prod(wide)), ()) if _reads_axis(one, wide[-1])]
        if reading:
            user = max(reading, key=lambda one: (-one.family_turn, not one.is_backward, one.total_us)).row
            own = cuts.pop((rank, *_told_apart(wide, narrow)), [])  # once where several kinds of kernels pad the same
            yield _Padding(row, user, tuple(own), narrow[-1], wide[-1])


def _uses_of_tensors(shapes: Table[OperatorShape], pads: Array) -> dict[tuple[int, int], list[_Use]]:
    """By rank and number of elements: the products and attention that read such a tensor, where anything is padded."""
    families = families_of(shapes.texts("op_type"), shapes.texts("core"))
    chosen = families.isin(_USES) & np.isin(shapes["rank"], shapes["rank"][pads])
    found: dict[tuple[int, int], list[_Use]] = defaultdict(list)
    given, backward = shapes.texts("input_shapes"), shapes.texts("op_type").passing(lambda name: "Grad" in name)
    for row in np.flatnonzero(chosen & (given.codes >= 0)).tolist():
        turn, us = _USES.index(families.names[families.codes[row]]), float(shapes["total_us"][row])
        for sides in {*parse_sides(given.names[given.codes[row]])}:
            if sides:
                found[int(shapes["rank"][row]), prod(sides)].append(_Use(turn, bool(backward[row]), us, sides[-1], row))
    return found


def _reads_axis(use: _Use, side: int) -> bool:
    """Whether the last axis of what is read is that one; attention may have all heads in it."""
    return use.last == side or (_USES[use.family_turn] == "attention" and use.last % side == 0)


def _cuts_of_tensors(shapes: Table[OperatorShape], pads: Array) -> dict[tuple[object, ...], list[int]]:
    """By rank and what is told of both tensors: the rows of kernels that cut the last axis."""
    chosen = shapes.texts("op_type").passing(_CUTS.match) & np.isin(shapes["rank"], shapes["rank"][pads])
    found: dict[tuple[object, ...], list[int]] = defaultdict(list)
    for row in np.flatnonzero(chosen).tolist():
        wide, narrow = _first_tensors(shapes, row)
        if len(wide) == len(narrow) and wide:
            found[int(shapes["rank"][row]), *_told_apart(wide, narrow)].append(row)
    return found


def _told_apart(wide: TensorSides, narrow: TensorSides) -> tuple[TensorSides, TensorSides]:
    """Both tensors in whatever order of their axes but the last: attention may have turned them."""
    both = ((*sorted(one[:-1]), one[-1]) for one in (wide, narrow))
    return next(both), next(both)


def _first_tensors(shapes: Table[OperatorShape], row: int) -> tuple[TensorSides, TensorSides]:
    """The first input and the first output, without leading axes of one; nothing where these are not known."""
    texts = (shapes.texts(name) for name in ("input_shapes", "output_shapes"))
    given, gives = (first_sides(one.names[one.codes[row]]) if one.codes[row] >= 0 else () for one in texts)
    ones = next((at for at, side in enumerate(gives) if side != 1), 0)
    return (given[ones:], gives[ones:]) if len(given) == len(gives) else ((), ())
