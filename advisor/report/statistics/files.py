# SPDX-License-Identifier: Apache-2.0
"""Statistics as files for programs: CSV and Parquet, one file per table, and a spreadsheet with a sheet for each.

`stats.csv` holds the first table; beside it stand `stats.kernels.csv` and so on.
"""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

from advisor.messages.text import Language, TimesOf
from advisor.model.findings import Head, Rows, Scalar
from advisor.model.statistics import Statistic, Statistics
from advisor.report.csv_tables import csv_of_rows, files_of_tables
from advisor.report.prose import clean_line
from advisor.report.spreadsheet import Sheet, cell_in_words, head_with_unit, workbook_bytes
from advisor.report.statistics.document import sheet_name
from advisor.report.statistics.words import say, say_column

_FORMS = {"us": "#,##0.0##", "B": "#,##0", "share": "0.0%", "count": "#,##0", "GB/s": "0.0"}
_OF_WHOLE = ("B", "count")


def csv_files(statistics: Statistics, path: Path) -> tuple[tuple[Path, str], ...]:
    """Every table as CSV, columns named as in the JSON."""
    return files_of_tables(path, statistics.tables, ".csv", csv_of_rows)


def parquet_files(statistics: Statistics, path: Path) -> tuple[tuple[Path, bytes], ...]:
    """Every table as Parquet, the unit of each column in its metadata."""
    return files_of_tables(path, statistics.tables, ".parquet", parquet_bytes)


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


def statistics_workbook(statistics: Statistics, language: Language) -> bytes:
    """The bytes of an .xlsx file.

    Raises:
        UsageError: The library that writes spreadsheets is not installed.
    """
    title = say("statistics", language, run=clean_line(statistics.run, 200))
    return workbook_bytes(title, [_sheet(table, language, statistics.times_of) for table in statistics.tables])


def _sheet(table: Statistic, language: Language, times_of: TimesOf) -> Sheet:
    heads = table.rows.columns
    return Sheet(
        sheet_name(table.name, language, times_of),
        tuple(_head_text(head, language, times_of) for head in heads),
        tuple(
            tuple(cell_in_words(cell, head.name, language) for cell, head in zip(row, heads, strict=True))
            for row in table.rows.rows
        ),
        tuple(_FORMS.get(head.unit, "") for head in table.rows.columns),
        len(table.keys),
    )


def _head_text(head: Head, language: Language, times_of: TimesOf) -> str:
    return head_with_unit(say_column(head.name, language, times_of), head.unit, language)
