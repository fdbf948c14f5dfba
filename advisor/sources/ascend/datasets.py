# SPDX-License-Identifier: Apache-2.0
"""DatasetOperation, BatchQueue and HostCpu: what MindSpore's profiler writes of data preparation (`data_process=True`).

The files are those of its predecessor: minddata_pipeline_raw_*.csv beside the other results, the samples in FRAMEWORK.
"""

from __future__ import annotations

import os
from pathlib import Path

from advisor.facts.observed import BatchQueue, DatasetOperation, HostCpu
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.reading import Folder
from advisor.sources.mindinsight.dataset import host_cpu_table, operation_table, read_operations
from advisor.sources.mindinsight.detect import parse_name
from advisor.sources.mindinsight.queues import queue_table, read_looks
from advisor.sources.reading import Reading


def _files_on_data(folder: Folder) -> dict[str, Path]:
    """The files of a rank by kind, as the predecessor's are called."""
    found: dict[str, Path] = {}
    for place in (folder.output, folder.root / "FRAMEWORK"):
        try:
            names = sorted(os.listdir(place))
        except OSError:  # not there, or closed
            continue
        for file in filter(None, map(parse_name, names)):
            if file.rank == folder.rank:
                found.setdefault(file.kind, place / file.name)
    return found


def _operations_of_rank(folder: Folder) -> Table[DatasetOperation]:
    found, unreadable = read_operations(_files_on_data(folder), folder.notes)
    if not found:
        raise FactMissing([DatasetOperation.table], unreadable)
    return operation_table(folder.rank, found)


def _queues_of_rank(folder: Folder) -> Table[BatchQueue]:
    looks, unreadable = read_looks(_files_on_data(folder), folder.notes)
    if not looks:
        raise FactMissing([BatchQueue.table], unreadable)
    return queue_table(folder.rank, looks)


def _processors_of_rank(folder: Folder) -> Table[HostCpu]:
    path = _files_on_data(folder).get("cpu")
    if path is None:
        raise FactMissing([HostCpu.table])
    return host_cpu_table(folder.rank, path, folder.notes)


DATASET_OPERATIONS = Reading(DatasetOperation, {"text": _operations_of_rank, "database": _operations_of_rank})
BATCH_QUEUES = Reading(BatchQueue, {"text": _queues_of_rank, "database": _queues_of_rank})
HOST_CPUS = Reading(HostCpu, {"text": _processors_of_rank, "database": _processors_of_rank})
