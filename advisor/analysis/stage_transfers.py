# SPDX-License-Identifier: Apache-2.0
"""Which sends and receives join stages of a pipeline: rings of attention, among others, send from rank to rank too."""

from __future__ import annotations

from advisor.facts.derived import CollectiveCall
from advisor.facts.observed import Collective
from advisor.facts.table import Array, Table

_INSIDE_A_STAGE = ("cp", "sp", "tp", "dp", "ep")
"""How kinds of groups begin whose ranks work on the same layers."""


def are_between_stages(calls: Table[Collective] | Table[CollectiveCall]) -> Array:
    """Per call: whether it sends or receives, and not in a group that is known to lie inside of a stage."""
    found: Array = (calls["p2p"] == 1) & ~are_inside_stages(calls)
    return found


def are_inside_stages(calls: Table[Collective] | Table[CollectiveCall]) -> Array:
    """Per call: whether its group is known to lie inside of a stage."""
    kinds = calls.texts("group_kind")
    return kinds.hits(kind.startswith(_INSIDE_A_STAGE) for kind in kinds.names)
