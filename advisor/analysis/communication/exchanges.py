# SPDX-License-Identifier: Apache-2.0
"""What kernels that exchange data inside wait for other ranks.

Such a kernel ends on all ranks of its group at about the same time, for none can before the last one has sent what it
has to. So the rank on which it is shortest came last, and the others waited for it: as for collectives, only that no
profiler says which ranks belong to a group. That is told by the kernels themselves. Of the sets of ranks that the run
knows, the largest counts whose ranks end their k-th kernel of a type together though they do not begin it together,
whatever their clocks say.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from msgspec import Struct

from advisor.analysis.arrays.at_once import AT_ONCE_NS
from advisor.analysis.arrays.grouping import Groups, group_by, row_of_key
from advisor.analysis.communication.same_moments import ends_on_one_clock
from advisor.facts.base import MISSING
from advisor.facts.derived import CollectiveCall, Exchange, ExchangingKernel
from advisor.facts.observed import Group
from advisor.facts.table import Array, Table, values_at

_PART = 0.25
"""Ends of one exchange may differ by so much of what its durations differ by, beside what follows at once: where it is
more, the ranks do not end together, and what is longer is work as well."""
_AGREEING = 0.8
"""Part of what durations differ by that has to lie in exchanges that end together for a set of ranks to be a group."""


def exchanges(
    kernels: Table[ExchangingKernel], groups: Table[Group] | None, calls: Table[CollectiveCall] | None
) -> Table[Exchange]:
    """Every such kernel, with what it waits for the last captured rank of its group."""
    count = len(kernels)
    ranks, waited, beyond = np.full((3, count), np.nan)
    last = np.full(count, MISSING)
    sets = list(_sets_of_ranks(kernels, groups, calls)) if len(np.unique(kernels["rank"])) > 1 else []
    types = kernels.texts("op_type")
    for code in np.unique(types.codes).tolist() if sets else ():
        row = np.flatnonzero(types.codes == code)
        met = next(
            (found for found in (_match_exchanges(kernels, row, one[row]) for one in sets) if found is not None), None
        )
        if met is not None:
            of, elapse = met.operations.of, kernels["elapse_us"][met.row]
            order = np.lexsort((kernels["rank"][met.row], elapse, of))
            shortest = order[np.cumsum(met.operations.sizes) - met.operations.sizes]
            ranks[met.row] = met.operations.sizes[of]
            waited[met.row] = np.where(met.together, elapse - elapse[shortest][of], 0.0)
            last[met.row] = kernels["rank"][met.row][shortest][of]
            beyond[met.row[shortest]] = elapse[shortest] - met.place.medians_of_others(elapse[shortest])
    return Table.build(
        Exchange,
        **{name: kernels[name] for name in ExchangingKernel.columns() if name != "op_type"},
        op_type=types,
        ranks=ranks,
        inside_wait_us=waited,
        bare_wait_us=np.minimum(waited, kernels["bare_us"]),
        last_rank=last,
        beyond_us=beyond,
    )


class _Met(Struct, frozen=True):
    """Kernels of one type that are parts of exchanges."""

    row: Array
    operations: Groups
    """Which of them are one exchange."""
    together: Array
    """Per kernel: whether it ends with that of the lowest rank."""
    place: Groups
    """Per exchange: those at the same place of a step, in other groups."""


def _match_exchanges(kernels: Table[ExchangingKernel], row: Array, of_set: Array) -> _Met | None:
    """The k-th of these kernels in each step and set of ranks as one exchange; nothing where no two ranks of a set have
    one, or they do not end together."""
    row = row[of_set != MISSING]
    member = of_set[of_set != MISSING]
    rank, step = kernels["rank"][row], kernels["step"][row]
    turn = group_by(rank, step).turns(kernels["start_ns"][row])
    operations = group_by(member, step, turn)
    several = operations.sizes[operations.of] > 1
    if not several.any():
        return None
    row, rank, step, turn = row[several], rank[several], step[several], turn[several]
    operations = group_by(operations.of[several])
    elapse = kernels["elapse_us"][row]
    beside = ends_on_one_clock(rank, kernels["start_ns"][row], elapse, operations, step)
    differ = np.abs(elapse[beside.row] - elapse[beside.lowest]) * 1e3
    agree = np.abs(beside.off_ns) <= AT_ONCE_NS + _PART * differ
    if differ[agree].sum() < _AGREEING * differ.sum():
        return None
    together = np.ones(len(row), bool)
    together[beside.row] = agree
    return _Met(row, operations, together, group_by(step[operations.first], turn[operations.first]))


def _sets_of_ranks(
    kernels: Table[ExchangingKernel], groups: Table[Group] | None, calls: Table[CollectiveCall] | None
) -> Iterator[Array]:
    """Per kernel, the number of the set its rank is of, in each way in which ranks may form groups; the largest sets
    first: all ranks of a stage, the communicators that are described, and those that are used."""
    ranks, first, of = np.unique(kernels["rank"], return_index=True, return_inverse=True)
    stage = kernels["stage"][first]
    ways = [np.where(stage == MISSING, -1, stage)]
    if groups is not None and len(groups):
        named = groups.take(groups.texts("group").codes >= 0)
        ways += _sets_by_size(ranks, named["rank"], named.texts("group").codes, named.texts("group_kind").codes)
    if calls is not None and len(calls):
        told = np.flatnonzero((calls["p2p"] != 1) & (calls.texts("group").codes >= 0))
        own = group_by(calls["rank"][told], calls.texts("group").take(told))
        rank, group = calls["rank"][told][own.first], calls.texts("group").codes[told][own.first]
        ways += _sets_by_size(ranks, rank, group, np.zeros(len(rank), np.int64))
    largest = sorted(ways, key=lambda way: -_ranks_of_a_set(way))
    return (way[of] for way in largest if _ranks_of_a_set(way) > 1)


def _ranks_of_a_set(way: Array) -> float:
    """How many ranks the sets have, in the mean over the ranks that are in one."""
    sizes = np.unique(way[way != MISSING], return_counts=True)[1]
    return float((sizes**2).sum() / sizes.sum()) if len(sizes) else 0.0


def _sets_by_size(ranks: Array, member: Array, group: Array, kind: Array) -> Iterator[Array]:
    """Per rank, the number of its group, for each kind and size of groups."""
    sizes = np.bincount(group, minlength=1)[group]
    for one in np.unique(np.stack([kind, sizes]), axis=1).T.tolist():
        mine = np.flatnonzero((kind == one[0]) & (sizes == one[1]))
        yield values_at(group[mine], row_of_key(member[mine], ranks), MISSING).astype(np.int64)
