# SPDX-License-Identifier: Apache-2.0
"""Tables as files for programs: CSV and Parquet, one file per table.

`stats.csv` holds the first table; beside it stand `stats.kernels.csv` and so on: one file of many tables could be read
by nobody.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from advisor.model.comparison import Difference
from advisor.model.findings import Head, Rows, Scalar
from advisor.model.statistics import Statistic
from advisor.report.csv_tables import csv_text

Tables = Sequence[Statistic | Difference]
C = TypeVar("C", str, bytes)
_OF_WHOLE = ("B", "count")


def csv_files(tables: Tables, path: Path) -> tuple[tuple[Path, str], ...]:
    """Every table as CSV, columns named as in the JSON."""
    return _files_of_tables(tables, path, ".csv", _csv_of_rows)


def parquet_files(tables: Tables, path: Path) -> tuple[tuple[Path, bytes], ...]:
    """Every table as Parquet, the unit of each column in its metadata."""
    return _files_of_tables(tables, path, ".parquet", parquet_bytes)


def _files_of_tables(tables: Tables, path: Path, suffix: str, write: Callable[[Rows], C]) -> tuple[tuple[Path, C], ...]:
    """A file for each table: the first has the name that was asked for, the others lie beside it.

    `suffix` is that of the others where the name that was asked for has none.
    """
    paths = [path, *(path.with_name(f"{path.stem}.{table.name}{path.suffix or suffix}") for table in tables[1:])]
    return tuple((at, write(table.rows)) for at, table in zip(paths, tables, strict=True))


def _csv_of_rows(table: Rows) -> str:
    return csv_text((head.name for head in table.columns), table.rows)


def parquet_bytes(table: Rows) -> bytes:
    """One table with typed columns."""
    import pyarrow as pa
    from pyarrow import parquet

    rows = [[_encodable_cell(cell) for cell in row] for row in table.rows]
    columns = [*zip(*rows, strict=True)] or [()] * len(table.columns)
    fields = [
        pa.field(head.name, pa.type_for_alias(_arrow_type(head, cells)), metadata={"unit": head.unit})
        for head, cells in zip(table.columns, columns, strict=True)
    ]
    arrays = [pa.array(cells, field.type) for field, cells in zip(fields, columns, strict=True)]
    out = io.BytesIO()
    parquet.write_table(pa.table(arrays, schema=pa.schema(fields)), out, compression="zstd")
    return out.getvalue()


def _encodable_cell(cell: Scalar) -> Scalar:
    """A text that cannot be encoded, such as a file name that is no UTF-8, with an escape."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


def _arrow_type(head: Head, cells: Sequence[Scalar]) -> str:
    """What is measured is a number with a fraction, but for bytes and whole things; a name is a text or a number."""
    whole = head.unit in _OF_WHOLE and any(isinstance(cell, int) for cell in cells)
    if (head.unit and not whole) or any(isinstance(cell, float) for cell in cells):
        return "float64"
    return "int64" if any(isinstance(cell, int) for cell in cells) else "string"
