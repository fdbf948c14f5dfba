# SPDX-License-Identifier: Apache-2.0
"""GradientLink: the fwdbwd arrows of the timeline; in the database, operators that share a number of CONNECTION_IDS."""

from __future__ import annotations

import numpy as np

from advisor.facts.observed import GradientLink
from advisor.facts.table import Table, values_at
from advisor.sources.ascend.host_calls import OPERATOR
from advisor.sources.ascend.reading import Folder
from advisor.sources.files.database import Only, match_keys
from advisor.sources.reading import Reading
from advisor.sources.shared.gradients import table_of_arrows, table_of_links


def _links_from_text(folder: Folder) -> Table[GradientLink]:
    return table_of_arrows(folder.rank, folder.timeline().gradient_links, folder.timeline_name, folder.notes)


def _links_from_database(folder: Folder) -> Table[GradientLink]:
    """The first and the last id of each number that several operators share: forward is numbered before backward."""
    database = folder.database()
    calls = database.integers("PYTORCH_API", {"start": ["startNs"], "id": ["connectionId"]}, Only("type", (OPERATOR,)))
    pairs = database.integers("CONNECTION_IDS", {"id": ["id"], "shared": ["connectionId"]})
    start = values_at(calls["start"], match_keys(calls["id"], pairs["id"]))
    kept = np.lexsort((pairs["id"], pairs["shared"]))
    kept = kept[match_keys(calls["id"], pairs["id"][kept]) >= 0]
    shared, start = pairs["shared"][kept], start[kept]
    first = np.flatnonzero(np.append(True, shared[1:] != shared[:-1])[: len(shared)])
    last = np.append(first[1:], len(shared))[: len(first)] - 1
    several = last > first
    return table_of_links(folder.rank, start[first[several]], start[last[several]])


GRADIENT_LINKS = Reading(GradientLink, {"text": _links_from_text, "database": _links_from_database})
