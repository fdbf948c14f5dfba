# SPDX-License-Identifier: Apache-2.0
"""Links from operators of the forward pass to those of the backward pass, as every profiler of PyTorch draws them."""

from __future__ import annotations

from advisor.facts.observed import GradientLink
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing


def table_of_links(rank: int, forward: Array, backward: Array) -> Table[GradientLink]:
    """The links whose forward operator begins before the backward one.

    Raises:
        FactMissing: There are none.
    """
    good = forward < backward
    if not good.any():
        raise FactMissing([GradientLink.table])
    table = Table.build(GradientLink, rank=rank, forward_start_ns=forward[good], backward_start_ns=backward[good])
    return table.sorted_by("backward_start_ns", "forward_start_ns")
