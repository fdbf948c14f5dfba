# SPDX-License-Identifier: Apache-2.0
"""The operators of all modules as the table ModuleStatistic of msprof-analyze: CSV, a database, a sheet for each rank.

Columns and their names are those of its module_statistic, so that what people ask of that table can be asked here.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping

from advisor.messages.text import Language
from advisor.model.modules import ModuleReport, OperatorRow, RankModules
from advisor.report.csv_tables import csv_text
from advisor.report.modules.words import say
from advisor.report.prose import clean_line
from advisor.report.spreadsheet import Sheet, workbook_bytes

Cell = str | int | float

TABLE = "ModuleStatistic"
_COLUMNS = {
    "parentModule": "TEXT",
    "module": "TEXT",
    "opName": "TEXT",
    "kernelList": "TEXT",
    "totalKernelDuration(ns)": "REAL",
    "avgKernelDuration(ns)": "REAL",
    "opCount": "INTEGER",
    "rankID": "INTEGER",
    "avgMFU": "TEXT",
}
"""With their kinds; the last one is there where it is known of any row."""
_SHEET_HEADS = (
    *("Parent Module", "Module", "Op Name", "Kernel List"),
    *("Total Kernel Duration(ns)", "Avg Kernel Duration(ns)", "Op Count", "avgMFU"),
)
_SHEET_FORMS = ("", "", "", "", "#,##0", "#,##0", "#,##0", "")
_TREE = ("path", "depth", "instances", "kernels", "total_us", "own_us", "forward_us", "backward_us", "recompute_us")


def _cells(row: OperatorRow, *rank: int) -> tuple[Cell, ...]:
    """A row, its MFU last; what belongs to the backward pass is marked as module_statistic marks it."""
    module = row.module if row.phase == "forward" else f"[Backward]{row.module}"
    texts = map(_text, (row.parent, module, row.operator, row.kernels))
    mfu = "" if row.mfu is None else f"{row.mfu:.4f}"
    return (*texts, round(row.total_us * 1e3, 3), round(row.mean_us * 1e3, 3), row.calls, *rank, mfu)


def _text(text: str) -> str:
    """A text as it is, but for invisible characters and broken lines."""
    return clean_line(text, max(len(text), 1))


def _columns(report: ModuleReport) -> Mapping[str, str]:
    known = any(row.mfu is not None for rank in report.ranks for row in rank.operators)
    return {name: kind for name, kind in _COLUMNS.items() if known or name != "avgMFU"}


def _rows(report: ModuleReport) -> Iterator[tuple[Cell, ...]]:
    width = len(_columns(report))
    for rank in report.ranks:
        yield from (_cells(row, rank.rank)[:width] for row in rank.operators)


def statistic_csv(report: ModuleReport) -> str:
    """A heading and a row for each operator of each rank."""
    return csv_text(_columns(report), _rows(report))


def statistic_database(report: ModuleReport) -> bytes:
    """A SQLite database with the one table."""
    columns = _columns(report)
    connection = sqlite3.connect(":memory:")
    try:
        declared = ", ".join(f'"{name}" {kind}' for name, kind in columns.items())
        connection.execute(f"CREATE TABLE {TABLE} ({declared})")
        marks = ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {TABLE} VALUES ({marks})", _rows(report))  # noqa: S608 - names of our own
        connection.commit()
        return connection.serialize()
    finally:
        connection.close()


def statistic_workbook(report: ModuleReport, language: Language) -> bytes:
    """The bytes of an .xlsx file: the modules, then a sheet `module_statistic_{rank}` for each rank.

    Raises:
        UsageError: The library that writes spreadsheets is not installed.
    """
    width = len(_columns(report)) - 1  # each sheet is of one rank
    sheets = [_tree_sheet(report, language), *(_rank_sheet(rank, width) for rank in report.ranks)]
    return workbook_bytes(clean_line(report.run.name, 200), sheets)


def _rank_sheet(rank: RankModules, width: int) -> Sheet:
    rows = tuple(_cells(row)[:width] for row in rank.operators)
    return Sheet(f"module_statistic_{rank.rank}", _SHEET_HEADS[:width], rows, _SHEET_FORMS[:width], 2)


def _tree_sheet(report: ModuleReport, language: Language) -> Sheet:
    heads = ("rank", *_TREE, "comm_us", "kernel_share", "step_share", "mfu")
    rows = tuple(
        (rank.rank, *(_text(node.path), *(getattr(node, name) for name in heads[2:])))
        for rank in report.ranks
        for node in rank.tree
    )
    forms = ("", "", "", "", "", *["#,##0.0##"] * 6, "0.0%", "0.0%", "0.0%")
    return Sheet(say("sheet", language), heads, rows, forms, 2)
