# SPDX-License-Identifier: Apache-2.0
"""What a store of facts holds: `facts.json`, which is written last, beside a folder of Parquet files for each table.

```text
facts/
  facts.json             the run, and what each source gave: so many rows, or why none
  views.sql              a view for each table
  steps/all.parquet      a table that is small for each rank: a row group for each source that gave rows
  kernels/rank-0.parquet a table with a row for each event: a file for each rank
```
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta, Struct

from advisor.messages.errors import FactMissing

FILE = "facts.json"
FORMAT = "advisor.facts/1"
ALL = "all.parquet"
"""The file of a table that has rows of several sources."""
FURTHER_DAMAGE = "further_damages"
"""Damage in what no diagnosis reads: the folder beside the tables."""
_Whole = Annotated[int, Meta(ge=0)]


class WhyLacking(Struct, frozen=True, omit_defaults=True):
    """Why a source lacks a table: the parts of a `FactMissing`."""

    tables: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    incomplete: tuple[str, ...] = ()
    behind: tuple[str, ...] = ()

    @classmethod
    def of(cls, missing: FactMissing) -> WhyLacking:
        return cls(missing.tables, missing.unreadable, missing.incomplete, missing.behind)

    def error(self) -> FactMissing:
        """What was raised."""
        return FactMissing(self.tables, self.unreadable, self.incomplete, self.behind)


class StoredRows(Struct, frozen=True, omit_defaults=True):
    """Where rows of a source lie: in a row group of the file of all sources, or in the file of a rank."""

    rows: _Whole = 0
    group: _Whole | None = None
    rank: int | None = None


class StoredSource(Struct, frozen=True):
    """What one source gave, by the names of tables. Of derived ones nothing is said but where they lie."""

    tables: dict[str, StoredRows] = {}
    lacking: dict[str, WhyLacking] = {}


class Manifest(Struct, frozen=True):
    """All that is known of a store before a table is read."""

    format: str
    version: str
    run: msgspec.Raw
    """The run as it was opened (`model.run.Run`), before anything of it was told or measured."""
    further: tuple[str, ...]
    """Observed facts that a diagnosis does not read by itself: what is damaged in them is told where they are read."""
    sources: tuple[StoredSource, ...]
    """In the order in which they were read."""
