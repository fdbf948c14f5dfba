# SPDX-License-Identifier: Apache-2.0
"""Two profiles that must give the same findings: one that chooses rows where each rank is read, one that has all."""

from __future__ import annotations

import numpy as np

from advisor.engine.case_runs import TablesAlone
from advisor.facts.selection import Selected, Selection


class Whole(TablesAlone):
    """Gives whole tables where a selection is asked for."""

    def selected(self, selection: Selection) -> Selected:
        table = self.table(selection.fact)
        return Selected(table, np.ones(len(table), np.int64))


class ByRank(TablesAlone):
    """Chooses in each rank by itself, as the processes that read ranks do."""

    def selected(self, selection: Selection) -> Selected:
        table = self.table(selection.fact)
        return Selected.concat([selection.select(table.take(table["rank"] == rank)) for rank in (0, 1)])
