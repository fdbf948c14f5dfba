# SPDX-License-Identifier: Apache-2.0
"""Statistics as a document: a table for each, with its largest rows, and why others are not there."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from advisor.messages.text import Language, Text, TimesOf
from advisor.model.findings import Head, Rows, Scalar, number_or_none
from advisor.model.statistics import Statistic, Statistics
from advisor.model.unread import Unread
from advisor.report.blocks import Block, Document, Grid, Heading, Paragraph, paragraph_of
from advisor.report.losses import losses_in_full, losses_in_short
from advisor.report.prose import Prose, TextPiece, clean_line, code_prose, parse_long_prose, plain_prose
from advisor.report.run_summary import captures_chosen
from advisor.report.statistics.words import SHEETS, say, say_column, say_table, say_value
from advisor.report.words import say_row_count, word_for
from advisor.units import show_value

TellLosses = Callable[[Sequence[Text], Sequence[Unread], Language], Iterator[Block]]
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
    return _document(statistics, language, most, losses_in_full)


def _document(statistics: Statistics, language: Language, most: int, tell: TellLosses) -> Document:
    blocks = tuple(_blocks(statistics, language, most, tell))
    return Document(language, blocks, statistics.version)


def statistics_summary(statistics: Statistics, language: Language, most: int) -> Document:
    """The same with as many columns as fit on a terminal."""
    narrow = tuple(
        table.model_copy(update={"rows": _without_columns(table.rows, _LESS_TOLD)}) for table in statistics.tables
    )
    return _document(statistics.model_copy(update={"tables": narrow}), language, most, losses_in_short)


def _without_columns(rows: Rows, left_out: frozenset[str]) -> Rows:
    kept = [at for at, head in enumerate(rows.columns) if head.name not in left_out]
    cells = tuple(tuple(row[at] for at in kept) for row in rows.rows)
    return Rows(columns=tuple(rows.columns[at] for at in kept), rows=cells, total=rows.total)


def table_title(name: str, language: Language, times_of: TimesOf = "step") -> str:
    """What a table is called."""
    return say_table(name, language, times_of) or clean_line(name)


def sheet_name(name: str, language: Language, times_of: TimesOf = "step") -> str:
    """What the sheet of a table is called."""
    return word_for(SHEETS, name, language) or table_title(name, language, times_of)


def _blocks(statistics: Statistics, language: Language, most: int, tell: TellLosses) -> Iterator[Block]:
    yield Heading(plain_prose(say("statistics", language, run=clean_line(statistics.run, 120))), 1)
    yield from paragraph_of(*captures_chosen(statistics.notes, language))
    for table in statistics.tables:
        title = table_title(table.name, language, statistics.times_of)
        count = say_row_count(min(len(table.rows.rows), most), table.rows.total, language)
        yield Heading((TextPiece(title), TextPiece(count, tone="quiet")))
        yield _grid(table, language, most, statistics.times_of)
    if any(len(table.rows.rows) > most for table in statistics.tables):
        yield Paragraph(plain_prose(say("all_rows", language)))
    if not statistics.tables:
        yield Paragraph(plain_prose(say("nothing", language)))
    if statistics.absent:
        yield Heading(plain_prose(say("absent", language)))
        titles = (table_title(one.name, language, statistics.times_of) for one in statistics.absent)
        reasons = (parse_long_prose(one.reason.say(language), 2000) for one in statistics.absent)
        rows = zip(map(plain_prose, titles), reasons, strict=True)
        yield Grid((plain_prose(say("table", language)), plain_prose(say("reason", language))), tuple(rows))
    yield from tell(statistics.lost, statistics.unread, language)


def _grid(table: Statistic, language: Language, most: int, times_of: TimesOf) -> Grid:
    """The first rows, without columns that say nothing in any row."""
    told = [at for at in range(len(table.rows.columns)) if _is_told(table.rows, at)]
    heads = [table.rows.columns[at] for at in told]
    return Grid(
        tuple(plain_prose(say_column(head.name, language, times_of)) for head in heads),
        tuple(
            tuple(_cell_prose(row[at], head, language) for at, head in zip(told, heads, strict=True))
            for row in table.rows.rows[:most]
        ),
        tuple(head.unit != "" or head.name in PLAIN_NUMBERS for head in heads),
        next((at for at, head in enumerate(heads) if head.name == "input_shapes"), None),
        keys=sum(head.name in table.keys for head in heads),
    )


def _is_told(rows: Rows, at: int) -> bool:
    return any(row[at] is not None for row in rows.rows)


def _cell_prose(cell: Scalar, head: Head, language: Language) -> Prose:
    if number_or_none(cell) is not None and head.name in PLAIN_NUMBERS:
        return plain_prose(str(cell))
    if not isinstance(cell, str):
        return plain_prose(show_value(cell, head.unit))
    word = say_value(cell, head.name, language)
    return plain_prose(word) if word else code_prose(cell, LONGEST_NAME)
