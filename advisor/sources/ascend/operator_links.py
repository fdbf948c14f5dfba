# SPDX-License-Identifier: Apache-2.0
"""OperatorLink: the async_npu arrows of the timeline; CONNECTION_IDS in the database."""

from __future__ import annotations

import numpy as np

from advisor.facts.base import MISSING
from advisor.facts.observed import OperatorLink
from advisor.facts.table import Array, Table, row_type, values_at
from advisor.messages.errors import FactMissing
from advisor.sources.ascend.host_calls import OPERATOR
from advisor.sources.ascend.launches import launched_tasks
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import match_keys
from advisor.sources.reading import Reading


def _links_from_text(folder: Folder) -> Table[OperatorLink]:
    links = folder.timeline().operator_links
    if not len(links.operator_ns):
        raise FactMissing([OperatorLink.table])
    table = Table.build(
        OperatorLink, rank=folder.rank, operator_start_ns=links.operator_ns, device_start_ns=links.device_ns
    )
    return table.sorted_by("device_start_ns", "operator_start_ns")


def _links_from_database(folder: Folder) -> Table[OperatorLink]:
    """The ids of operators, and those that no call has any more, each with every task of its connection."""
    database = folder.database()
    if not all(map(database.has_rows, ("CONNECTION_IDS", "TASK", "COMPUTE_TASK_INFO"))):
        raise FactMissing([OperatorLink.table])
    pairs = database.integers("CONNECTION_IDS", {"id": ["id"], "connection": ["connectionId"]})
    tasks = launched_tasks(database, folder.rank)
    pair, device = _tasks_of_pairs(pairs["connection"], tasks["connection"], tasks["start"])
    # calls are many: a column of them is made when it is asked, and let go
    call = match_keys(database.integers("PYTORCH_API", {"id": ["connectionId"]})["id"], pairs["id"])[pair]
    operator = values_at(database.integers("PYTORCH_API", {"type": ["type"]})["type"], call) == OPERATOR
    kept = np.flatnonzero((call < 0) | (operator & (device >= 0)))
    if not len(kept):
        raise FactMissing([OperatorLink.table])
    table = Table.build(
        OperatorLink,
        rank=folder.rank,
        operator_start_ns=values_at(database.integers("PYTORCH_API", {"start": ["startNs"]})["start"], call[kept]),
        device_start_ns=device[kept],
    )
    return table.sorted_by("device_start_ns", "operator_start_ns")


def _tasks_of_pairs(connection: Array, task: Array, start: Array) -> tuple[Array, Array]:
    """Every pair with each of the tasks that share its connection: the pair, and when the task starts.

    A pair without a task is there once, and the start is missing.
    """
    narrow = row_type(len(connection) + len(task))  # both are many, and so is what is made of them
    order = np.lexsort((start, task)).astype(narrow)
    task = task.take(order)
    low = np.searchsorted(task, connection, "left").astype(narrow)
    count = np.searchsorted(task, connection, "right").astype(narrow)
    del task
    count -= low
    count[connection == MISSING] = 0
    rows = np.maximum(count, 1)
    pair = np.repeat(np.arange(len(connection), dtype=narrow), rows)
    low -= np.cumsum(rows, dtype=narrow) - rows
    place = np.where(count[pair] > 0, low[pair] + np.arange(len(pair), dtype=narrow), -1)
    return pair, values_at(start.take(order), place)


OPERATOR_LINKS = Reading(OperatorLink, {"text": _links_from_text, "database": _links_from_database})
