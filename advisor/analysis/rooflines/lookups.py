# SPDX-License-Identifier: Apache-2.0
"""Along which axis a Gather picks, told by shapes: its output is its input with that axis replaced by the indices."""

from __future__ import annotations

import re
from math import prod

import numpy as np

from advisor.analysis.arrays.tensors import SIZES, first_sides, plain_dtype
from advisor.facts.table import Array, Texts

_PICKING = re.compile(r"(Gather(V\d+)?D?|Index(Select|ByTensor)?)$")
"""What takes rows out of a tensor where one list of indices says; with several lists shapes tell nothing."""
GATHERS = frozenset({"Gather", "GatherD", "GatherV2", "GatherV2D", "GatherV3"})


def gathers_along_last(types: Texts, inputs: Texts, outputs: Texts) -> Array:
    """Per row: 1 for a Gather along the last axis, 0 for one along another and for other types, -1 (missing) where the
    shapes of a Gather do not tell, or the type is not known.

    Where several axes fit, as in a square input, the first counts: it is the one that costs nothing.
    """
    gathers = types.isin(GATHERS)
    found = np.where(gathers | (types.codes < 0), -1, 0).astype(np.int8)
    rows = np.flatnonzero(gathers & (inputs.codes >= 0) & (outputs.codes >= 0))
    for row in rows.tolist():
        axis, axes = picked_axis(inputs.names[inputs.codes[row]], outputs.names[outputs.codes[row]])
        if axis is not None:
            found[row] = axes > 1 and axis == axes - 1
    return found


def bytes_of_rows(types: Texts, inputs: Texts, outputs: Texts, dtypes: Texts) -> Array:
    """Per row: how many bytes lie together of what one index picks, all of the axes behind that along which it picks;
    NaN where the shapes do not tell, and of what gathers nothing."""
    found = np.full(len(types), np.nan)
    rows = np.flatnonzero(types.passing(_PICKING.match) & (inputs.codes >= 0) & (outputs.codes >= 0))
    for row in rows.tolist():
        given = inputs.names[inputs.codes[row]]
        axis, _ = picked_axis(given, outputs.names[outputs.codes[row]])
        told = dtypes.names[dtypes.codes[row]] if dtypes.codes[row] >= 0 else ""
        size = SIZES.get(plain_dtype(told.partition(";")[0]))
        if axis is not None and size is not None:
            sides = first_sides(given)
            found[row] = size * prod(sides[axis + 1 :]) if sides else np.nan
    return found


def picked_axis(inputs: str, outputs: str) -> tuple[int | None, int]:
    """The first axis that explains the output, and how many the input has."""
    tensors = [shape.split(",") for shape in inputs.split(";")]
    if len(tensors) == 1:
        return None, 0
    x, index = tensors[0], [n for n in tensors[1] if n]
    wanted = outputs.split(";", maxsplit=1)[0].split(",")
    fits = (axis for axis in range(len(x)) if x[:axis] + index + x[axis + 1 :] == wanted)
    return next(fits, None), len(x)
