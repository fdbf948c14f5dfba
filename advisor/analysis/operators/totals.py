# SPDX-License-Identifier: Apache-2.0
"""What the profiler's totals over the whole capture say of operators, where single kernels say less."""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, ratio, row_of_key
from advisor.analysis.rooflines.families import communicate_inside, families_of
from advisor.analysis.rooflines.roles import roles_of_types
from advisor.analysis.steps.device import drive_collectives
from advisor.facts.derived import OperatorShare, Overlap
from advisor.facts.observed import OperatorTotal
from advisor.facts.table import Array, Table

CONVERSIONS = frozenset({"Cast", "TransData", "Transpose", "TransposeD", "TensorMove"})
"""Operators that change only data type or memory layout."""


def of_totals(totals: Table[OperatorTotal], split: Table[Overlap] | None) -> Table[OperatorShare]:
    """Totals by rank and operator type, over the whole capture; what belongs to a collective is left out.

    Some versions of CANN leave whole cores out of the totals (all AI Core operators, half of the time, in one published
    case), and files lose rows. So a share of the kernel time is one of all totals, of the whole that the shares of the
    profiler speak of, or of all computing of the steps, whichever is most.
    """
    totals = totals.take(totals["total_us"] >= 0)
    driving = drive_collectives(totals.texts("op_type"))
    whole, totals = _without_collectives(totals, driving)[~driving], totals.take(~driving)
    types = totals.texts("op_type")
    groups = group_by(totals["rank"], types)
    first = groups.first
    rank, names = totals["rank"][first], types.take(first)
    total, calls = groups.sums(totals["total_us"]), groups.sums(totals["calls"])
    computing, computed = _computing_of_ranks(rank, split)
    share = ratio(total, np.fmax(whole[first], computing))
    core = totals.texts("core").take(groups.last_rows(totals["total_us"]))
    return Table.build(
        OperatorShare,
        rank=rank,
        op_type=names,
        core=core,
        family=families_of(names, core),
        role=roles_of_types(names),
        conversion=names.isin(CONVERSIONS).astype(np.int8),
        communicates=communicate_inside(names).astype(np.int8),
        source="totals",
        calls=calls,
        total_us=total,
        mean_us=ratio(total, calls),
        longest_us=groups.largest(totals["max_us"]),
        kernel_share=share,
        step_share=share * computed,
    )


def _without_collectives(totals: Table[OperatorTotal], driving: Array) -> Array:
    """Per row: the time of all totals of its rank but those that drive collectives, with the totals that are gone, as
    far as the others' shares tell: these are shares of all, collectives included."""
    ranks = group_by(totals["rank"])
    stated = totals["share"] > 0
    told, part = (ranks.sums(np.where(stated, totals[name], 0.0)) for name in ("total_us", "share"))
    whole = np.fmax(ranks.sums(totals["total_us"]), ratio(told, part))
    return (whole - ranks.sums(np.where(driving, totals["total_us"], 0.0)))[ranks.of]


def _computing_of_ranks(rank: Array, split: Table[Overlap] | None) -> tuple[Array, Array]:
    """Per entry: how long its rank computed in all steps, µs, and in which part of them; missing where not known."""
    if split is None:
        return np.full(len(rank), np.nan), np.full(len(rank), np.nan)
    ranks = group_by(split["rank"])
    busy, span = ranks.sums(split["compute_us"]), ranks.sums(split["span_us"])
    at = row_of_key(split["rank"][ranks.first], rank)
    busy = np.append(np.where(span > 0, busy, np.nan), np.nan)[at]
    return busy, ratio(busy, np.append(span, np.nan)[at])
