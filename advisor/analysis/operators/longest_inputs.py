# SPDX-License-Identifier: Apache-2.0
"""Which inputs of an operator are told apart where its time is shared out: the longest, for shapes can be many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from advisor.analysis.arrays.grouping import group_by, parts_of_names
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, Texts

MOST_INPUTS = 20
"""More than any finding lists rows."""


class Inputs(NamedTuple):
    """Per row the shapes and data types of the inputs; missing in rows whose inputs are not among the longest."""

    shapes: Texts
    dtypes: Texts


def longest_inputs(rank: Array, names: Texts, inputs: Inputs, us: Array) -> Inputs:
    """The inputs of the rows that belong to the `MOST_INPUTS` with most time of their name on their rank."""
    groups = group_by(rank, names, inputs.shapes, inputs.dtypes)
    of_name = group_by(rank[groups.first], names.take(groups.first))
    kept = of_name.turns(-groups.sums(us))[groups.of] < MOST_INPUTS
    return Inputs(*(Texts(np.where(kept, one.codes, -1).astype(np.int32), one.names) for one in inputs))


def parts_of_types(kernels: Table[Kernel], us: Array, part: Texts) -> tuple[Array, dict[str, Array | Texts]]:
    """By rank, operator type, its longest inputs and a part of what kernels belong to, the longest first: a kernel of
    each, and the columns that tell it, its time and its share of the time of the type. `us` are times of the kernels.
    """
    rank, types = kernels["rank"], kernels.texts("op_type")
    inputs = longest_inputs(rank, types, Inputs(kernels.texts("input_shapes"), kernels.texts("input_dtypes")), us)
    found = parts_of_names(rank, types, us, *inputs, part)
    return found.first, {
        "rank": rank[found.first],
        "op_type": types.take(found.first),
        "input_shapes": inputs.shapes.take(found.first),
        "input_dtypes": inputs.dtypes.take(found.first),
        "total_us": found.total,
        "type_share": found.share,
    }
