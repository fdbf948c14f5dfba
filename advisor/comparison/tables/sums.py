# SPDX-License-Identifier: Apache-2.0
"""Framework operators summed up rank by rank, for comparisons alone: no rule reads it, so no diagnosis pays for it."""

from __future__ import annotations

from typing import Annotated

import numpy as np

from advisor.analysis.arrays.grouping import Groups, group_by
from advisor.facts.base import Count, Fact, Key, Rank, Us
from advisor.facts.observed import OperatorCall
from advisor.facts.table import Array, Table


class OperatorSum(Fact):
    """All calls of one framework operator on one rank, over the whole capture."""

    table = "operator_sums"
    observed = False

    rank: Rank
    name: Annotated[str, Key("Operator, such as aten::linear.")]
    calls: Annotated[float, Count("How often.")]
    host_self_us: Annotated[float, Us("Host time without calls inside it; missing when not recorded.")]
    host_total_us: Annotated[float, Us("Host time.")]
    device_self_us: Annotated[float, Us("Device time of its own kernels; text export only.")]
    device_total_us: Annotated[float, Us("Device time, calls inside it included; text export only.")]


def operator_sums(calls: Table[OperatorCall]) -> Table[OperatorSum]:
    """Calls by rank and name. A time that was recorded of no call stays missing."""
    groups = group_by(calls["rank"], calls.texts("name"))
    times = ("host_self_us", "host_total_us", "device_self_us", "device_total_us")
    return Table.build(
        OperatorSum,
        rank=calls["rank"][groups.first],
        name=calls.texts("name").take(groups.first),
        calls=groups.sizes.astype(np.float64),
        **{time: _sums_or_missing(groups, calls[time]) for time in times},
    )


def _sums_or_missing(groups: Groups, values: Array) -> Array:
    there = np.bincount(groups.of[np.isfinite(values)], minlength=len(groups)) > 0
    return np.where(there, groups.sums(values), np.nan)
