# SPDX-License-Identifier: Apache-2.0
"""Statistics as a document: a table for each, with its largest rows, and why others are not there."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from advisor.messages.text import Language
from advisor.model.findings import Head, Scalar, number_or_none
from advisor.model.statistics import Statistic, Statistics
from advisor.report.blocks import Block, Document, Grid, Heading, grid_of, paragraph_of
from advisor.report.column_values import value_word
from advisor.report.losses import losses_told
from advisor.report.phrases import Phrases
from advisor.report.prose import Said, TextPiece, clean_line, code_prose, parse_long_prose
from advisor.report.run_summary import captures_chosen
from advisor.report.statistics.words import say, say_column, say_table
from advisor.report.words import say_row_count
from advisor.units import show_value

LONGEST_NAME = 60
"""Characters of a text in a cell."""
_LESS_TOLD = frozenset(
    {
        *("min_us", "q1_us", "q3_us", "idle_us", "comm_us", "overlapped_us", "copy_us", "event_wait_us"),
        *("instances", "own_us", "forward_us", "backward_us", "recompute_us"),
        *("deviation", "allocations", "allocated_bytes", "dtype", "expected_us", "gbps", "bandwidth_share"),
    }
)
"""Columns for which a terminal has no room."""
PLAIN_NUMBERS = ("rank", "stage", "step", "source", "target")
"""Keys that are numbers of something, not amounts."""


def statistics_document(statistics: Statistics, language: Language, most: int) -> Document:
    """Every table with at most so many rows."""
    lost = losses_told(statistics.lost, statistics.unread, language)
    blocks = (*_StatisticsBlocks(statistics, language, most).whole(), *lost)
    return Document(language, blocks, statistics.version)


def statistics_summary(statistics: Statistics, language: Language, most: int) -> Document:
    """The same with as many columns as fit on a terminal."""
    lost = losses_told(statistics.lost, statistics.unread, language, briefly=True)
    blocks = (*_StatisticsBlocks(statistics, language, most, _LESS_TOLD).whole(), *lost)
    return Document(language, blocks, statistics.version)


class _StatisticsBlocks(Phrases):
    """Makes the blocks of statistics; at most so many rows of each table, without the columns that are `left_out`."""

    wording = say

    def __init__(
        self, statistics: Statistics, language: Language, most: int, left_out: frozenset[str] = frozenset()
    ) -> None:
        super().__init__(language, statistics.times_of)
        self.statistics, self.most, self.left_out = statistics, most, left_out

    def whole(self) -> Iterator[Block]:
        """Every table, and why others are not there."""
        found = self.statistics
        yield self.heading("statistics", 1, run=clean_line(found.run, 120))
        yield from paragraph_of(*captures_chosen(found.notes, self.language))
        for table in found.tables:
            count = say_row_count(min(len(table.rows.rows), self.most), table.rows.total, self.language)
            yield Heading((TextPiece(self.title(table.name)), TextPiece(count, tone="quiet")))
            yield self.table_grid(table)
        if any(len(table.rows.rows) > self.most for table in found.tables):
            yield self.sentence("all_rows")
        if not found.tables:
            yield self.sentence("nothing")
        rows = ((self.title(one.name), parse_long_prose(one.reason.say(self.language), 2000)) for one in found.absent)
        yield from self.tabled("absent", ("table", "reason"), rows)

    def title(self, name: str) -> str:
        """What a table is called."""
        return say_table(name, self.language, self.times_of)

    def table_grid(self, table: Statistic) -> Grid:
        """The first rows, without columns that say nothing in any row."""
        columns = table.rows.columns
        told = [
            at
            for at, head in enumerate(columns)
            if head.name not in self.left_out and any(row[at] is not None for row in table.rows.rows)
        ]
        heads = [columns[at] for at in told]
        grid = grid_of(
            (say_column(head.name, self.language, self.times_of) for head in heads),
            ((self.cell(row[at], columns[at]) for at in told) for row in table.rows.rows[: self.most]),
            tuple(head.unit != "" or head.name in PLAIN_NUMBERS for head in heads),
            next((at for at, head in enumerate(heads) if head.name == "input_shapes"), None),
        )
        return replace(grid, keys=sum(head.name in table.keys for head in heads))

    def cell(self, cell: Scalar, head: Head) -> Said:
        if number_or_none(cell) is not None and head.name in PLAIN_NUMBERS:
            return str(cell)
        if not isinstance(cell, str):
            return show_value(cell, head.unit)
        return value_word(cell, head.name, self.language) or code_prose(cell, LONGEST_NAME)
