# SPDX-License-Identifier: Apache-2.0
"""The tensors of a kernel out of the texts that name their shapes, data types and formats."""

from __future__ import annotations

from functools import cache, lru_cache
from math import prod

from msgspec import Struct

SIZES = {
    "FLOAT": 4.0, "FLOAT16": 2.0, "BF16": 2.0, "DOUBLE": 8.0, "FP8": 1.0, "BOOL": 1.0, "INT4": 0.5,
    "INT8": 1.0, "INT16": 2.0, "INT32": 4.0, "INT64": 8.0, "UINT8": 1.0, "UINT16": 2.0, "UINT32": 4.0, "UINT64": 8.0,
    "COMPLEX64": 8.0, "COMPLEX128": 16.0,
}  # fmt: skip
"""Bytes of one element, by the data type as `plain_dtype` calls it."""
_SAME = {"BFLOAT16": "BF16", "HALF": "FLOAT16", "FLOAT32": "FLOAT", "HIFLOAT8": "FP8"}
FRACTAL_NZ = "FRACTAL_NZ"
"""The format of matrices in blocks, for the cube unit."""
_AXES_OF_BLOCKS = 4
ROWS_OF_BLOCK = 16
_MOST_ELEMENTS = 2**62
"""More than any memory holds; products of several such numbers are still floats."""
_MOST_DIGITS = len(str(_MOST_ELEMENTS))


class Tensor(Struct, frozen=True):
    """One tensor: its sides as they lie in memory, and what is known of its elements."""

    sides: tuple[int, ...]
    dtype: str = ""
    form: str = ""

    @property
    def elements(self) -> int:
        return prod(self.sides)

    @property
    def size_bytes(self) -> float | None:
        """None where its data type is not known."""
        size = SIZES.get(self.dtype)
        return None if size is None else size * self.elements

    @property
    def is_blocked(self) -> bool:
        """Whether it lies in blocks of 16 rows (FRACTAL_NZ), its sides being those of the blocks."""
        return self.form == FRACTAL_NZ and len(self.sides) >= _AXES_OF_BLOCKS and self.sides[-2] == ROWS_OF_BLOCK

    @property
    def matrix(self) -> tuple[int, ...]:
        """The sides as those of matrices: blocks (..., columns / c, rows / 16, 16, c) put together, with padding."""
        if not self.is_blocked:
            return self.sides
        *lead, across, down, rows, columns = self.sides
        return (*lead, down * rows, across * columns)


@cache
def plain_dtype(name: str) -> str:
    """A data type without prefix, in one spelling: FLOAT, FLOAT16, BF16, INT8, FP8."""
    bare = name.strip().upper().removeprefix("DT_")
    return "FP8" if bare.startswith("FLOAT8") else _SAME.get(bare, bare)


@lru_cache(maxsize=1 << 12)  # every rank of a job has the same ones
def parse_tensors(shapes: str | None, dtypes: str | None = "", formats: str | None = "") -> tuple[Tensor | None, ...]:
    """The tensors that a kernel names in order, None for one that was not given.

    None at all where a side is no number, or a tensor larger than any memory: such shapes are damaged.
    """
    if not shapes:
        return ()
    words = shapes.split(";")
    types = [*(dtypes or "").split(";"), *[""] * len(words)]
    forms = [*(formats or "").split(";"), *[""] * len(words)]
    found: list[Tensor | None] = []
    for word, dtype, form in zip(words, types, forms, strict=False):
        sides = [side for side in word.split(",") if side]
        if not all(side.isdecimal() and len(side) <= _MOST_DIGITS for side in sides):
            return ()
        tensor = Tensor(tuple(map(int, sides)), plain_dtype(dtype), form.strip())
        if tensor.elements > _MOST_ELEMENTS:
            return ()
        found.append(tensor if sides else None)
    return tuple(found)


def parse_sides(shapes: str | None) -> tuple[tuple[int, ...], ...]:
    """The sides of these tensors in order, none of one that was not given; none at all of shapes that are damaged."""
    return tuple(() if one is None else one.sides for one in parse_tensors(shapes))


def first_sides(shapes: str | None) -> tuple[int, ...]:
    """The sides of the first of these tensors; nothing where it was not given, or shapes are damaged."""
    return next(iter(parse_sides(shapes)), ())


_PACKED = 8
"""Values of INT4 in one INT32 (npu_convert_weight_to_int4pack)."""


def unpack_int4(tensors: tuple[Tensor | None, ...]) -> tuple[Tensor | None, ...]:
    """Factors of products with those in INT32 as the INT4 values that it holds: the cube unit multiplies no INT32.

    What has one axis is no factor, such as a bias.
    """
    return tuple(
        Tensor((*one.sides[:-1], one.sides[-1] * _PACKED), "INT4", one.form)
        if one is not None and one.dtype == "INT32" and len(one.sides) > 1
        else one
        for one in tensors
    )


def size_of_all(tensors: tuple[Tensor | None, ...]) -> float | None:
    """Bytes of all tensors together; None where there is none, or one whose data type is not known."""
    sizes = [tensor.size_bytes for tensor in tensors if tensor is not None]
    return sum(size for size in sizes if size is not None) if sizes and None not in sizes else None
