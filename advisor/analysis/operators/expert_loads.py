# SPDX-License-Identifier: Apache-2.0
"""How many tokens the experts of each rank were sent, by the rows that their grouped multiplications have."""

from __future__ import annotations

import re

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_of_key
from advisor.facts.derived import ExpertLoad, OperatorShape, RankTime
from advisor.facts.table import Array, Table, Texts

_GROUPED = re.compile(r"(?i)grouped_?matmul|(.*:)?_(scaled_)?grouped_mm$")
_ROWS = re.compile(r"(\d+),")
_CHOICES = 2
"""Fewer ranks have nobody to send their tokens to."""


def expert_loads(shapes: Table[OperatorShape], times: Table[RankTime]) -> Table[ExpertLoad]:
    """One row per rank with experts, of stages in which two ranks or more have some.

    Rows are what a multiplication was given. Where an engine pads them, as in graphs, they are the same on all ranks,
    and nothing is uneven.
    """
    rows = rows_of_inputs(shapes.texts("input_shapes"))
    used = are_grouped(shapes.texts("op_type")) & ~np.isnan(rows)
    ranks = group_by(shapes["rank"][used])
    rank = shapes["rank"][used][ranks.first]
    at = row_of_key(times["rank"], rank)
    known = np.flatnonzero(at >= 0)
    tokens = ranks.sums((rows * shapes["calls"])[used])[known]
    expert_us = ranks.sums(shapes["total_us"][used])[known]
    rank, at = rank[known], at[known]
    stages = group_by(times["stage"][at])
    peers = stages.sizes[stages.of]
    table = Table.build(
        ExpertLoad,
        rank=rank,
        stage=times["stage"][at],
        ranks=peers.astype(np.float64),
        tokens=tokens,
        mean_tokens=stages.means(tokens)[stages.of],
        expert_us=expert_us,
        mean_expert_us=stages.means(expert_us)[stages.of],
        peer_expert_us=stages.medians_of_others(expert_us),
        comm_us=times["comm_us"][at],
        peer_comm_us=times["peer_comm_us"][at],
    )
    return table.take(peers >= _CHOICES)


def are_grouped(types: Texts) -> Array:
    """Per cell: whether this type multiplies the tokens of several experts, each by its own matrix."""
    return types.passing(_GROUPED.match)


def rows_of_inputs(shapes: Texts) -> Array:
    """Per cell: the first dimension of the first input; NaN where it has no two."""
    found = [_ROWS.match(name.strip('"')) for name in shapes.names]
    return np.array([*(float(match[1]) if match else np.nan for match in found), np.nan])[shapes.codes]
