# SPDX-License-Identifier: Apache-2.0
"""How far the reading of a capture's databases is, in rows. Knows no fact and opens nothing."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.progress import Progress

TIMES_READ: Mapping[str, Mapping[str, int]] = {
    "profiler": {"TASK": 4, "COMPUTE_TASK_INFO": 4, "CANN_API": 3, "PYTORCH_API": 2},
    "analysis": {"CommAnalyzerTime": 1, "CommAnalyzerBandwidth": 1, "CommAnalyzerMatrix": 1},
}
"""Per database the tables that grow with the recording, and how often a diagnosis goes through each.

A table that is not named is not counted: it is small, or read only after what takes the time.
"""


class RowsRead:
    """Tells `progress` how many of the rows that will be read are read."""

    def __init__(self, progress: Progress, rows: Mapping[str, int], times: Mapping[str, int] | None = None) -> None:
        """`rows` is how many each table has, `times` how often it is gone through: once where nothing is said."""
        self._progress, self._rows = progress, rows
        self._ahead = {table: (times or {}).get(table, 1) for table in rows}
        self._here = dict.fromkeys(rows, 0)
        self._total, self._done = sum(self._ahead[table] * many for table, many in rows.items()), 0

    def __call__(self, table: str, rows: int) -> None:
        """So many more rows of a table are read; of a table that is not counted nothing is told."""
        more = min(rows, self._rows[table] - self._here[table]) if self._ahead.get(table) else 0
        if more > 0:
            self._here[table] += more
            self._done += more
            self._progress("database", self._done, self._total)

    def through(self, table: str) -> None:
        """A table is read to its end once; rows of it that were not asked for count as read."""
        if self._ahead.get(table):
            self(table, self._rows[table])
            self._ahead[table], self._here[table] = self._ahead[table] - 1, 0
