# SPDX-License-Identifier: Apache-2.0
"""Rows of SQLite as Arrow arrays, by the driver of ADBC, and their numbers. Brings pyarrow and the driver: import late.

What may be asked of it, and what bounds it, is the care of `table_blocks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import adbc_driver_sqlite
import numpy as np
import pyarrow as pa
from adbc_driver_manager import AdbcConnection, AdbcStatement, Error

from advisor.facts.base import MISSING
from advisor.facts.table import Array
from advisor.sources.files.cells import CellArray, bool_array, copy_numbers, pc

STOPPED = (Error, OSError, pa.ArrowException)
"""How the driver ends where it cannot go on: at a cell of another type, at damage."""


def arrow_blocks(path: Path, statement: str, rows: int) -> Iterator[tuple[Array, list[CellArray]]]:
    """The rows of a statement, so many at a time: the first column, which numbers them, and the others.

    Raises:
        STOPPED: It ended before the last row.
    """
    file = f"{path.absolute().as_uri()}?mode=ro&immutable=1"
    with (
        adbc_driver_sqlite.connect(file) as database,
        AdbcConnection(database) as connection,
        AdbcStatement(connection) as asked,
    ):
        asked.set_options(**{adbc_driver_sqlite.StatementOptions.BATCH_ROWS.value: str(rows)})
        asked.set_sql_query(statement)
        stream, _ = asked.execute_query()
        with pa.RecordBatchReader.from_stream(stream) as reader:
            for batch in reader:
                ids, *columns = batch.columns
                if len(ids):
                    yield copy_numbers(ids, np.int64), columns


def arrow_integers(cells: CellArray) -> Array | None:
    """Whole numbers, NULL as missing; None where a cell is none."""
    try:
        return copy_numbers(pc.fill_null(cells.cast(pa.int64()), MISSING), np.int64)
    except pa.ArrowInvalid:
        return None


def arrow_floats(cells: CellArray) -> tuple[Array, Array] | None:
    """Numbers, NULL as NaN, and where there is no NULL; None where a cell is no number."""
    try:
        return copy_numbers(pc.fill_null(cells.cast(pa.float64()), np.nan), np.float64), bool_array(pc.is_valid(cells))
    except pa.ArrowInvalid:
        return None
