# SPDX-License-Identifier: Apache-2.0
"""Tables of facts in Parquet files: texts as dictionaries, times as whole numbers, missing as null; zstd.

Every column carries its unit and its meaning, and every file the meaning of its table, in the metadata of the schema.
Pages have checksums: a bit that changes on the way, as on a shared disk or in a copy, is told and changes no figure.
"""

from __future__ import annotations

from io import BufferedReader
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from advisor.facts.base import Fact
from advisor.facts.table import Array, Table
from advisor.machine.regular_files import open_regular

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

F = TypeVar("F", bound=Fact)
GROUP_ROWS = 1 << 17
"""Rows of a row group of events, at least: enough to compress well, few enough to skip what a query leaves out."""
_WHOLE_DICTIONARY = 1 << 30
"""Bytes up to which distinct texts stay in one dictionary, and with it in their order."""


class ParquetFile:
    """A file of one table that is written group by group."""

    def __init__(self, path: Path, fact: type[Fact]) -> None:
        self._path, self._fact = path, fact
        self._writer: pq.ParquetWriter | None = None
        self.groups = 0

    def add(self, table: Table[Any]) -> int:
        """Writes rows as a group of their own, and gives the number of the group."""
        self._write(_arrow_of(table))
        return self.groups - 1

    def add_events(self, table: Table[Any]) -> None:
        """Writes rows in groups that end where a step ends."""
        whole, edges = _arrow_of(table), [0, *group_ends(table), len(table)]
        for first, end in pairwise(edges):
            self._write(whole.slice(first, end - first))

    def close(self) -> None:
        """Ends the file."""
        if self._writer is not None:
            self._writer.close()

    def _write(self, rows: pa.Table) -> None:
        if self._writer is None:
            self._writer = _open_writer(self._path, self._fact, rows.schema)
        self._writer.write_table(rows, row_group_size=max(rows.num_rows, 1))
        self.groups += 1


def _open_writer(path: Path, fact: type[Fact], schema: pa.Schema) -> pq.ParquetWriter:
    import pyarrow.parquet as pq

    path.parent.mkdir(parents=True, exist_ok=True)
    stores = {name: column.store for name, column in fact.columns().items()}
    return pq.ParquetWriter(
        path,
        schema,
        compression="zstd",
        use_dictionary=[name for name, store in stores.items() if store == "text"],
        dictionary_pagesize_limit=_WHOLE_DICTIONARY,
        column_encoding={name: "DELTA_BINARY_PACKED" for name, store in stores.items() if store == "int"},
        write_page_checksum=True,
    )


def _arrow_of(table: Table[Any]) -> pa.Table:
    # texts of ranks that were read beside it, and their order, are none of its own
    found = table.only(table.fact.columns()).by_name().to_arrow()
    meaning = " ".join((table.fact.__doc__ or "").split())
    return found.replace_schema_metadata({"table": table.fact.table, "meaning": meaning})


def group_ends(table: Table[Any]) -> list[int]:
    """Where row groups end before the last one: behind so many rows at least, and where a step ends, if it is known."""
    places: Array = np.arange(GROUP_ROWS, len(table), GROUP_ROWS)
    if "step" in table.fact.columns():
        places = np.flatnonzero(np.diff(table["step"])) + 1
    ends = [0]
    while (next_one := int(np.searchsorted(places, ends[-1] + GROUP_ROWS))) < len(places):
        ends.append(int(places[next_one]))
    return ends[1:]


class ParquetIndexes:
    """Reads tables from Parquet files; the index of a file with rows of many sources is read once."""

    def __init__(self) -> None:
        self._known: dict[Path, pq.FileMetaData] = {}

    def read(self, fact: type[F], path: Path, group: int | None = None) -> Table[F]:
        """The rows of a fact in a row group of a file, or in all of them.

        Raises:
            OSError: It is no Parquet file, or cannot be read.
            ValueError: It holds something else.
        """
        import pyarrow as pa

        with open_regular(path) as stream:
            try:
                found = self._read_groups(stream, path, group)
            except pa.ArrowException as error:  # not all of them are a ValueError
                raise ValueError(str(error)) from error
        return Table.from_arrow(fact, found)

    def _read_groups(self, stream: BufferedReader, path: Path, group: int | None) -> pa.Table:
        import pyarrow.parquet as pq

        with pq.ParquetFile(stream, metadata=self._known.get(path), page_checksum_verification=True) as file:
            if group is None:
                return file.read()
            self._known[path] = file.metadata
            if group >= file.num_row_groups:
                raise ValueError(f"there is no row group {group}")
            return file.read_row_group(group)

    def __getstate__(self) -> dict[str, object]:
        return {"_known": {}}
