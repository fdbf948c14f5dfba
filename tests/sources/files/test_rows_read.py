# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

import advisor
from advisor.facts.profile import Profile
from advisor.pipeline import diagnose, open_profile
from advisor.sources.files.rows_read import RowsRead
from tests.sources.conftest import Capture


class Told:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.said: list[tuple[str, int, int]] = []

    def __call__(self, what: str, done: int, total: int) -> None:
        self.said.append((what, done, total))

    def of(self, what: str) -> list[tuple[int, int]]:
        return [(done, total) for name, done, total in self.said if name == what]


def _diagnose(profile: Profile) -> None:
    diagnose(profile, advisor.load_rules())


@pytest.fixture(scope="module")
def read(capture: Capture) -> Told:
    told = Told()
    _diagnose(open_profile(capture("database", level=1), jobs=1, progress=told))
    return told


@pytest.mark.parametrize("level", [0, 1])
def test_reading_a_single_database_is_told_to_its_end(capture: Capture, level: int) -> None:
    told = Told()
    one_rank = next(capture("database", level=level, case="healthy").glob("*_ascend_pt"))
    _diagnose(open_profile(one_rank, progress=told))
    rows = told.of("database")
    assert len(rows) >= 4
    assert rows == sorted(rows)
    assert rows[-1][0] == rows[-1][1]


def test_ranks_are_begun_before_the_first_is_done(read: Told) -> None:
    assert read.of("ranks")[0][0] == 0
    assert read.of("ranks")[-1][0] == read.of("ranks")[-1][1]


def test_the_databases_of_several_ranks_are_left_to_the_count_of_ranks(read: Told) -> None:
    assert not read.of("database")


TABLES = ("TASK", "CANN_API", "NOT_COUNTED")


@given(
    st.dictionaries(st.sampled_from(TABLES[:2]), st.integers(0, 9)),
    st.lists(st.tuples(st.sampled_from(TABLES), st.integers(0, 12) | st.none()), max_size=20),
)
def test_what_is_told_only_grows_and_never_passes_the_total(
    rows: dict[str, int], reads: list[tuple[str, int | None]]
) -> None:
    told = Told()
    counted = RowsRead(told, rows)
    for table, many in reads:
        if many is None:
            counted.through(table)
        else:
            counted(table, many)
    done = [d for d, _ in told.of("database")]
    assert done == sorted(set(done))
    assert all(d <= sum(rows.values()) for d in done)


def test_rows_that_were_not_asked_for_count_as_read_at_the_end_of_a_table() -> None:
    told = Told()
    counted = RowsRead(told, {"TASK": 10})
    counted("TASK", 3)
    counted.through("TASK")
    counted.through("TASK")
    assert told.of("database") == [(3, 10), (10, 10)]
