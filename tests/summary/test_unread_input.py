# SPDX-License-Identifier: Apache-2.0
"""How much of a file was lost is told with how much it holds: one row of many is another matter than all of them."""

from __future__ import annotations

import pytest

from advisor.facts.observed import Damage
from advisor.facts.table import read_table
from advisor.model.unread import Unread
from advisor.report.diagnosis.outcomes import first_unread, unread_row
from advisor.report.prose import flat_text
from advisor.summary.unread_input import unread_input


@pytest.mark.parametrize(
    ("kind", "rows", "share", "total"),
    [
        ("row", 191, "1", 191),
        ("row", 1, "0.25", 4),
        ("row", 63166, "0.999683", 63186),
        ("row", 3, "-", 0),
        ("row", 0, "0", 0),
        ("unreadable", 1, "1", 0),
        ("truncated", 900, "0.4", 0),
    ],
)
def test_rows_are_counted_among_those_of_the_file_where_that_is_known(
    kind: str, rows: int, share: str, total: int
) -> None:
    damages = read_table(Damage, f"rank file what kind rows share\n0 a.csv odd {kind} {rows} {share}")
    (found,) = unread_input(damages)
    assert (found.rows, found.of_rows) == (rows, total)


@pytest.mark.parametrize(
    ("rows", "total", "en", "zh"),
    [
        (3, 1200, "3 of 1,200", "1,200 处中的 3 处"),
        (1200, 1200, "all 1,200", "全部 1,200 处"),
        (1, 1, "1 of 1", "1 处中的 1 处"),
    ],
)
def test_how_many_of_how_many_is_said_beside_the_first_place_and_in_the_table(
    rows: int, total: int, en: str, zh: str
) -> None:
    item = Unread(file="a.csv", place="row 2", what="is odd", rows=rows, of_rows=total)
    assert flat_text(first_unread([item], "en")).endswith(f"is odd ({en})")
    assert flat_text(first_unread([item], "zh")).endswith(f"（{zh}）")
    assert unread_row(item, "en")[3] == en


def test_where_the_number_of_all_is_not_known_the_lost_ones_are_counted_alone() -> None:
    item = Unread(file="a.csv", what="is odd", rows=1500)
    assert flat_text(first_unread([item], "en")).endswith("is odd")
    assert unread_row(item, "en")[3] == "1,500"
