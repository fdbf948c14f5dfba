# SPDX-License-Identifier: Apache-2.0
"""Dataset pipelines: how full the queues before and behind each operation are.

An operation that is slow has full queues before it and empty ones behind it (performance guide of MindSpore Insight).
"""

from __future__ import annotations

import numpy as np

from advisor.analysis.arrays.grouping import group_by, row_at, row_of_key
from advisor.analysis.phases.queue_looks import telling_looks
from advisor.facts.base import MISSING
from advisor.facts.derived import DatasetStage
from advisor.facts.observed import BatchQueue, DatasetOperation, HostCpu, StepPhase
from advisor.facts.table import Array, Table


def dataset_stages(
    operations: Table[DatasetOperation],
    queues: Table[BatchQueue] | None,
    phases: Table[StepPhase] | None,
    processors: Table[HostCpu] | None,
) -> Table[DatasetStage]:
    """One row per operation."""
    rank, share = operations["rank"], operations["queue_share"]
    looks = None if queues is None else telling_looks(queues.take(~np.isnan(queues["size"])), phases)
    parent = row_at(rank, operations["number"], rank, operations["parent"])
    parent[operations["parent"] == MISSING] = -1
    children = np.bincount(parent[parent >= 0], minlength=len(rank))
    return Table.build(
        DatasetStage,
        rank=rank,
        number=operations["number"],
        operation=operations.texts("operation"),
        workers=operations["workers"],
        reads=(children == 0).astype(np.int8),
        last=_has_no_queue_behind(parent, share).astype(np.int8),
        input_share=_of_children(parent, share),
        output_share=share,
        empty_share=operations["empty_share"],
        fullest_after_share=_fullest_after(parent, share),
        emptiest_before_share=_emptiest_before(parent, share),
        host_empty_share=_empty_shares(rank, looks, "host"),
        device_empty_share=_empty_shares(rank, looks, "device"),
        interval_us=_mean_of_rank(rank, phases, "interval_us"),
        busy_cpu_share=_mean_of_rank(rank, processors, "busy_share"),
    )


def _of_children(parent: Array, share: Array) -> Array:
    """Per operation: the emptiest of the queues it takes from; missing without any."""
    found = np.full(len(parent), np.inf)
    np.fmin.at(found, parent[parent >= 0], share[parent >= 0])
    return np.where(np.isinf(found), np.nan, found)


def _has_no_queue_behind(parent: Array, share: Array) -> Array:
    """Whether no queue is known from an operation on: who takes its batches is not of the pipeline."""
    return np.isnan(_fullest_after(parent, share))


def _fullest_after(parent: Array, share: Array) -> Array:
    """Per operation: how full the fullest queue from its own on is."""
    found, at = share.copy(), parent.copy()
    for _ in range(len(parent)):  # at most as often as the pipeline is deep
        if not (at >= 0).any():
            break
        found = np.fmax(found, np.where(at >= 0, share[at], np.nan))
        at = np.where(at >= 0, parent[at], -1)
    return found


def _emptiest_before(parent: Array, share: Array) -> Array:
    """Per operation: how full the emptiest queue anywhere before it is; missing for one that reads."""
    found = np.full(len(parent), np.inf)
    at = parent.copy()
    for _ in range(len(parent)):  # at most as often as the pipeline is deep
        if not (at >= 0).any():
            break
        np.fmin.at(found, at[at >= 0], share[at >= 0])
        at = np.where(at >= 0, parent[at], -1)
    return np.where(np.isinf(found), np.nan, found)


def _empty_shares(rank: Array, queues: Table[BatchQueue] | None, name: str) -> Array:
    """Per row: the part of the looks in which a queue behind the dataset of its rank was empty."""
    if queues is None:
        return np.full(len(rank), np.nan)
    looks = queues.take(queues.texts("queue").isin([name]))
    return _means_by_rank(rank, looks["rank"], (looks["size"] == 0).astype(np.float64))


def _mean_of_rank(rank: Array, table: Table[StepPhase] | Table[HostCpu] | None, name: str) -> Array:
    if table is None:
        return np.full(len(rank), np.nan)
    return _means_by_rank(rank, table["rank"], table[name])


def _means_by_rank(wanted: Array, rank: Array, values: Array) -> Array:
    if not len(rank):
        return np.full(len(wanted), np.nan)
    ranks = group_by(rank)
    found: Array = np.append(ranks.means(values), np.nan)[row_of_key(rank[ranks.first], wanted)]
    return found
