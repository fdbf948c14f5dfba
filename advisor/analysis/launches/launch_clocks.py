# SPDX-License-Identifier: Apache-2.0
"""Whether host and device tell the time alike: nothing begins on the device before it was launched."""

from __future__ import annotations

from advisor.analysis.arrays.grouping import group_by
from advisor.facts.base import MISSING
from advisor.facts.derived import LaunchClock
from advisor.facts.observed import Launch
from advisor.facts.table import Table

EARLY_US = 1000.0
"""Clocks are set against each other when recording begins. In 34 ranks of public captures of both stacks tasks begin at
most 79 µs before their calls."""


def launch_clocks(launches: Table[Launch]) -> Table[LaunchClock]:
    """One row per rank of which a call and its task both have a time."""
    launches = launches.take((launches["host_start_ns"] != MISSING) & (launches["device_start_ns"] != MISSING))
    groups = group_by(launches["rank"])
    since = launches["host_start_ns"][groups.first]  # its own: what others recorded rounds nothing otherwise
    called = (launches["host_start_ns"] - since[groups.of]) / 1e3
    lag = (launches["device_start_ns"] - launches["host_start_ns"]) / 1e3
    return Table.build(
        LaunchClock,
        rank=launches["rank"][groups.first],
        launches=groups.sizes,
        early=groups.sums(lag < -EARLY_US),
        least_lag_us=groups.smallest(lag),
        called_us=groups.largest(called) - groups.smallest(called),
    )
