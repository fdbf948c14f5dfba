# SPDX-License-Identifier: Apache-2.0
"""OperatorLink: the async_npu arrows of the timeline; CONNECTION_IDS in the database."""

from __future__ import annotations

import numpy as np

from advisor.facts.observed import OperatorLink
from advisor.facts.table import Table, values_at
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
    """The ids of operators, and those that no call has any more; of several tasks of one the first counts."""
    database = folder.database()
    if not all(map(database.has_rows, ("CONNECTION_IDS", "TASK", "COMPUTE_TASK_INFO"))):
        raise FactMissing([OperatorLink.table])
    calls = database.integers("PYTORCH_API", {"start": ["startNs"], "id": ["connectionId"], "type": ["type"]})
    pairs = database.integers("CONNECTION_IDS", {"id": ["id"], "connection": ["connectionId"]})
    tasks = launched_tasks(database, folder.rank)
    order = np.argsort(tasks["start"], kind="stable")
    device = values_at(tasks["start"][order], match_keys(tasks["connection"][order], pairs["connection"]))
    call = match_keys(calls["id"], pairs["id"])
    operator = values_at(calls["type"], call) == OPERATOR
    kept = np.flatnonzero((call < 0) | (operator & (device >= 0)))
    if not len(kept):
        raise FactMissing([OperatorLink.table])
    table = Table.build(
        OperatorLink,
        rank=folder.rank,
        operator_start_ns=values_at(calls["start"], call[kept]),
        device_start_ns=device[kept],
    )
    return table.sorted_by("device_start_ns", "operator_start_ns")


OPERATOR_LINKS = Reading(OperatorLink, {"text": _links_from_text, "database": _links_from_database})
