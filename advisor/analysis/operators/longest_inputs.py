# SPDX-License-Identifier: Apache-2.0
"""Which inputs of an operator are told apart where its time is shared out: the longest, for shapes can be many."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from advisor.analysis.arrays.grouping import group_by
from advisor.facts.observed import Kernel
from advisor.facts.table import Array, Table, Texts

MOST_INPUTS = 20
"""More than any finding lists rows."""


class Inputs(NamedTuple):
    """Per row the shapes and data types of the inputs; missing in rows whose inputs are not among the longest."""

    shapes: Texts
    dtypes: Texts


def inputs_of_kernels(kernels: Table[Kernel]) -> Inputs:
    """The inputs of each kernel."""
    return Inputs(kernels.texts("input_shapes"), kernels.texts("input_dtypes"))


def longest_inputs(rank: Array, names: Texts, inputs: Inputs, us: Array) -> Inputs:
    """The inputs of the rows that belong to the `MOST_INPUTS` with most time of their name on their rank."""
    groups = group_by(rank, names, inputs.shapes, inputs.dtypes)
    of_name = group_by(rank[groups.first], names.take(groups.first))
    kept = of_name.turns(-groups.sums(us))[groups.of] < MOST_INPUTS
    return Inputs(*(Texts(np.where(kept, one.codes, -1).astype(np.int32), one.names) for one in inputs))
