# SPDX-License-Identifier: Apache-2.0
"""DatasetOperation, HostCpu and BatchQueue: the preparation of data, from the files that hold it in either layout."""

from __future__ import annotations

from advisor.facts.observed import BatchQueue, DatasetOperation, HostCpu
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.minddata.batch_queues import queue_table, read_looks
from advisor.sources.minddata.dataset_operations import host_cpu_table, operation_table, read_operations
from advisor.sources.mindinsight.reading import EXPORT, LegacyRank
from advisor.sources.reading import Reading


def _operations_of_rank(rank: LegacyRank) -> Table[DatasetOperation]:
    found, unreadable = read_operations(dict(rank.files), rank.notes)
    if not found:
        raise FactMissing([DatasetOperation.table], unreadable)
    return operation_table(rank.rank, found)


def _cpu_of_rank(rank: LegacyRank) -> Table[HostCpu]:
    return host_cpu_table(rank.rank, rank.need(HostCpu, "cpu"), rank.notes)


def _queues_of_rank(rank: LegacyRank) -> Table[BatchQueue]:
    looks, unreadable = read_looks(dict(rank.files), rank.notes)
    if not looks:
        raise FactMissing([BatchQueue.table], unreadable)
    return queue_table(rank.rank, looks)


DATASET_OPERATIONS = Reading(DatasetOperation, {EXPORT: _operations_of_rank})
HOST_CPUS = Reading(HostCpu, {EXPORT: _cpu_of_rank})
BATCH_QUEUES = Reading(BatchQueue, {EXPORT: _queues_of_rank})
