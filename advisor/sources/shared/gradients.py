# SPDX-License-Identifier: Apache-2.0
"""Links from operators of the forward pass to those of the backward pass, as every profiler of PyTorch draws them."""

from __future__ import annotations

from advisor.facts.observed import GradientLink
from advisor.facts.table import Array, Table
from advisor.messages.errors import FactMissing
from advisor.messages.message import Message
from advisor.sources.files.damage_notes import Notes
from advisor.sources.files.timeline import GradientArrows


def table_of_arrows(rank: int, arrows: GradientArrows, file: str, notes: Notes) -> Table[GradientLink]:
    """The links of a timeline; arrows of which one end is gone are noted.

    Raises:
        FactMissing: There are none.
    """
    torn, drawn = arrows.count_torn()
    if torn:
        notes.add(file, "", Message("torn_gradient_arrows"), rows=torn, share=torn / drawn)
    return table_of_links(rank, *arrows.pairs())


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
