# SPDX-License-Identifier: Apache-2.0
"""How far the reading of a capture's databases is, in rows. Knows no fact and opens nothing."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from advisor.model.progress import Progress

COUNTED: Mapping[str, Collection[str]] = {
    "profiler": ("TASK", "COMPUTE_TASK_INFO", "CANN_API", "PYTORCH_API", "TASK_PMU_INFO"),
    "analysis": ("CommAnalyzerTime", "CommAnalyzerBandwidth", "CommAnalyzerMatrix"),
}
"""Per database the tables that grow with the recording; a diagnosis goes through each once.

A table that is not named is not counted: it is small, or read only after what takes the time.
"""


class RowsRead:
    """Tells `progress` how many of the rows that will be read are read."""

    def __init__(self, progress: Progress, rows: Mapping[str, int]) -> None:
        """`rows` is how many each table has."""
        self._progress, self._left = progress, dict(rows)
        self._total, self._done = sum(rows.values()), 0

    def __call__(self, table: str, rows: int) -> None:
        """So many more rows of a table are read; of a table that is not counted nothing is told."""
        more = min(rows, self._left.get(table, 0))
        if more > 0:
            self._left[table] -= more
            self._done += more
            self._progress("database", self._done, self._total)

    def through(self, table: str) -> None:
        """A table is read to its end; rows of it that were not asked for count as read."""
        self(table, self._left.get(table, 0))
