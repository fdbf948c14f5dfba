# SPDX-License-Identifier: Apache-2.0
"""Operations of products of matrices by the sides of their tensors: two per multiply-add, padding included."""

from __future__ import annotations

from itertools import takewhile
from math import prod

from msgspec import Struct

from advisor.analysis.arrays.tensors import FRACTAL_NZ, ROWS_OF_BLOCK, SIZES, Tensor

Tensors = tuple[Tensor | None, ...]


class Multiplied(Struct, frozen=True):
    """What products and convolutions multiply."""

    flops: float
    least_side: float
    """The smallest of rows, columns and the side both factors share."""


def product_of(left: Tensor | None, right: Tensor | None, out: Tensor | None) -> Multiplied | None:
    """2·M·N·K, over all batches: what the output has, times the side that both inputs share and it does not."""
    if left is None or right is None or out is None:
        return None
    padded = left.is_blocked or right.is_blocked
    shared = _shared_side(left.matrix, right.matrix, out.sides, padded=padded)
    made = out.sides
    if shared is None and padded:  # formats of outputs are not recorded
        made = Tensor(out.sides, form=FRACTAL_NZ).matrix
        shared = _shared_side(left.matrix, right.matrix, made, padded=True)
    return None if shared is None else Multiplied(2.0 * out.elements * shared, float(min(*made[-2:], shared)))


_MOST_PADDED = 1.25
"""A product that multiplies more than so much for its padding has lost half of what `compute/below-roofline` leaves
between slow and within reach (`slack`)."""


def aligned_shapes(left: Tensor | None, right: Tensor | None, out: Tensor | None, row_bytes: int) -> str:
    """The sides of both factors with rows that end on whole pieces of so many bytes, the side they share in both alike.

    Empty where they are so, where the shapes are no product of factors that lie plainly, and where padding costs too
    much.
    """
    if left is None or right is None or out is None or min(len(one.sides) for one in (left, right, out)) < 2:  # noqa: PLR2004
        return ""
    pieces = [row_bytes / SIZES[one.dtype] if one.dtype in SIZES else 0 for one in (left, right)]
    roles = None if left.is_blocked or right.is_blocked or not all(pieces) else _roles_of_axes(left, right, out)
    if roles is None:
        return ""
    axes_left, axes_right = roles
    sides = {
        **dict(zip(axes_left, left.sides[-2:], strict=True)),
        **dict(zip(axes_right, right.sides[-2:], strict=True)),
    }
    padded = dict(sides)
    for last, piece in ((axes_left[1], pieces[0]), (axes_right[1], pieces[1])):
        padded[last] = int(-(-padded[last] // piece) * piece)
    if padded == sides or prod(padded.values()) > _MOST_PADDED * prod(sides.values()):
        return ""
    found = ((one, axes) for one, axes in ((left, axes_left), (right, axes_right)))
    return ";".join(",".join(map(str, (*one.sides[:-2], padded[axes[0]], padded[axes[1]]))) for one, axes in found)


def _roles_of_axes(left: Tensor, right: Tensor, out: Tensor) -> tuple[str, str] | None:
    """What the last two axes of each factor are: rows (m), columns (n) and what both share (k)."""
    m, n = out.sides[-2:]
    for axes_left in ("mk", "km"):
        for axes_right in ("kn", "nk"):
            own, other = (
                dict(zip(axes, one.sides[-2:], strict=True)) for axes, one in ((axes_left, left), (axes_right, right))
            )
            if own["m"] == m and other["n"] == n and own["k"] == other["k"]:
                return axes_left, axes_right
    return None


def _shared_side(left: tuple[int, ...], right: tuple[int, ...], out: tuple[int, ...], *, padded: bool) -> int | None:
    """K of a product, whichever of the inputs is transposed; None where the shapes are no product."""
    if min(len(left), len(right), len(out)) < 2:  # noqa: PLR2004 - rows and columns
        return None
    if not all(_serves_batches(factor[:-2], out[:-2]) for factor in (left, right)):
        return None
    rows, columns = out[-2:]
    for kept, shared in (left[-2:], left[-2:][::-1]):
        fits = any(
            are_equal(own, columns, padded) and are_equal(other, shared, padded)
            for own, other in (right[-2:], right[-2:][::-1])
        )
        if are_equal(kept, rows, padded) and fits:
            return shared
    return None


def _serves_batches(own: tuple[int, ...], batches: tuple[int, ...]) -> bool:
    """Whether a factor with these leading sides is there for each batch: as many, or stretched where a side is 1."""
    if prod(own) in (1, prod(batches)):
        return True
    sides = zip(reversed(own), reversed(batches), strict=False)
    return len(own) <= len(batches) and all(side in (1, batch) for side, batch in sides)


def are_equal(one: int, other: int, padded: bool) -> bool:
    """Whether two sides are one, where padded up to whole blocks."""
    return one == other or (padded and -(-one // ROWS_OF_BLOCK) == -(-other // ROWS_OF_BLOCK))


def grouped_product_of(inputs: Tensors, outputs: Tensors) -> Multiplied | None:
    """Products of groups of rows, each with weights of its own: as lists, or as one tensor of all groups, of which the
    rows of one are those of a group on average."""
    given = [tensor for tensor in inputs if tensor is not None]
    made = [tensor for tensor in outputs if tensor is not None]
    if not made or len(given) < 2 * len(made):
        return None
    if len(made) > 1:
        pairs = zip(given, given[len(made) :], made, strict=False)
        each = [product_of(left, right, out) for left, right, out in pairs]
        known = [one for one in each if one is not None]
        whole = Multiplied(sum(one.flops for one in known), min((one.least_side for one in known), default=0.0))
        return whole if len(known) == len(each) else None
    left, right, out = given[0], given[1], made[0]
    if len(left.matrix) != 2:  # noqa: PLR2004 - rows of all groups, and their width
        return None
    padded = left.is_blocked or right.is_blocked
    shared = _shared_side(left.matrix, right.matrix[-2:], out.sides[-2:], padded=padded)
    groups_made, groups_given = prod(out.sides[:-2]), max(prod(right.matrix[:-2]), len(listed_weights(inputs)))
    in_weights = len(right.matrix) > 2 or groups_given > 1  # noqa: PLR2004 - rows and columns
    if shared is None or (len(out.sides) > 2) == in_weights:  # noqa: PLR2004 - one of them has the groups
        return None
    rows, columns = out.sides[-2:]
    parted = (rows / groups_given, shared) if in_weights else (rows, shared / groups_made)
    return Multiplied(2.0 * rows * columns * shared, float(min(*parted, columns)))


def listed_weights(inputs: Tensors) -> list[Tensor]:
    """The weights of a grouped product that are given one by one, as matrices of the same sides."""
    given = [tensor for tensor in inputs[1:] if tensor is not None]
    alike = takewhile(lambda one: one.sides == given[0].sides and len(one.matrix) == 2, given)  # noqa: PLR2004
    return list(alike)
