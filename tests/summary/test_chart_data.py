# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from typing import TypeVar

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.idle.idle_causes import idle_causes
from advisor.analysis.launches.launch_queues import launch_latencies
from advisor.facts import Fact, Profile, Table, read_table
from advisor.facts.derived import (
    ChipLimit,
    Dispatch,
    Gap,
    LinkUse,
    MemoryCourse,
    MemoryPeak,
    OperatorRoofline,
    OperatorShare,
    Overlap,
    RankSplit,
    StepCourse,
)
from advisor.messages.errors import FactMissing
from advisor.model.findings import Rows
from advisor.model.run import Run
from advisor.report.time_split import time_parts
from advisor.summary.chart_data import (
    MOST_CELLS,
    MOST_COURSES,
    MOST_LINKS,
    make_exhibits,
    slack_by_rank,
    step_us,
    time_split,
)

F = TypeVar("F", bound=Fact)


def test_what_kernels_wait_for_other_ranks_is_told_within_communication_and_what_nobody_knows_in_computation() -> None:
    splits = read_table(
        RankSplit,
        """
        rank span_us compute_us exposed_comm_us free_us untold_us inside_wait_us
        0    100     50         40              10      0         30
        1    100     70         20              10      16        10
        """,
    )
    split = time_split(splits)
    assert split is not None and (split.exchanging_us, split.inside_wait_us) == (8, 20)
    notes = {part.key: part.notes for part in time_parts(split, "en")}
    assert notes["compute"][-1] == "8.00 µs in kernels that exchange with other ranks and wait for them"
    assert notes["comm"] == ("20.0 µs of it waiting for other ranks inside kernels that also compute",)
    none = time_split(read_table(RankSplit, "rank span_us compute_us untold_us inside_wait_us\n0 100 100 0 0"))
    assert none is not None and none.exchanging_us is None and none.inside_wait_us is None
    assert not [note for part in time_parts(none, "en") for note in part.notes]


class Fixed(Profile):
    """A profile whose tables are given."""

    def __init__(self, *tables: Table[Fact]) -> None:
        super().__init__(Run(), (), ())
        self._tables = {table.fact: table for table in tables}

    def table(self, fact: type[F]) -> Table[F]:
        if fact not in self._tables:
            raise FactMissing([fact.table])
        return self._tables[fact]


OVERLAPS = """
rank step stage span_us compute_us exposed_comm_us overlapped_us free_us copy_us
0    1    0     100     50         30              5             20      2
0    2    0     200     50         130             5             20      4
1    1    1     100     70         10              5             20      -
"""


def drawn(kind: str, *tables: Table[Fact]) -> Rows:
    return next(exhibit.rows for exhibit in make_exhibits(Fixed(*tables)) if exhibit.kind == kind)


SHAPES = """
rank op_type  input_shapes dtype mega_flops moved_bytes total_us tflops compute_us
0    MatMulV3 1,1          BF16  1000       1000000     50       10     5
1    MatMulV3 1,1          BF16  1000       1000000     70       10     5
1    MatMulV3 2,2          FLOAT 4000       2000000     90       20     80
1    Add      2,2          -     -          2000000     900      -      -
"""


def test_rooflines_are_those_of_the_rank_that_multiplies_longest() -> None:
    limits = read_table(ChipLimit, "rank chip memory_gbps\n0 A 800\n1 B 1600")
    rows = drawn("rooflines", read_table(OperatorRoofline, SHAPES), limits)
    names = [head.name for head in rows.columns]
    assert [dict(zip(names, row, strict=True)) for row in rows.rows] == [
        {"rank": 1, "chip": "B", "op_type": "MatMulV3", "input_shapes": "2,2", "dtype": "FLOAT", "intensity": 2000,
         "tflops": 20, "peak_tflops": 50, "memory_gbps": 1600, "us": 90},
        {"rank": 1, "chip": "B", "op_type": "MatMulV3", "input_shapes": "1,1", "dtype": "BF16", "intensity": 1000,
         "tflops": 10, "peak_tflops": 200, "memory_gbps": 1600, "us": 70},
    ]  # fmt: skip
    assert rows.total == 2


def test_without_operations_that_are_known_there_are_no_rooflines() -> None:
    limits = read_table(ChipLimit, "rank\n0")
    shapes = read_table(OperatorRoofline, "rank op_type compute_us moved_bytes\n0 Add - 5\n0 MatMulV3 5 -\n0 Mul 0 0")
    assert not make_exhibits(Fixed(shapes, limits))


def test_what_is_drawn_with_a_table_that_was_not_recorded_is_left_out() -> None:
    gaps = read_table(Gap, "rank step start_ns duration_us cause\n0    1    0        4           python")
    assert not make_exhibits(Fixed(idle_causes(gaps)))


def test_the_split_is_the_mean_step_and_what_was_not_recorded_stays_out() -> None:
    split = time_split(read_table(RankSplit, OVERLAPS))
    assert split is not None
    assert split.step_us == pytest.approx(400 / 3)
    assert split.copy_us == 3
    assert split.event_wait_us is None


def test_the_step_is_the_one_that_is_split() -> None:
    split = time_split(read_table(RankSplit, OVERLAPS))
    assert split is not None
    assert step_us(read_table(Overlap, OVERLAPS)) == split.step_us


@pytest.mark.parametrize(
    ("spans", "slowest"),
    [
        ("0 1 100\n0 2 200\n1 1 120\n1 2 120", (0, 150)),
        ("0 1 100\n1 1 120\n1 2 120\n1 3 90", (None, None)),
        ("0 1 100\n0 2 100\n1 1 120\n1 2 120\n2 1 300", (1, 120)),
        ("0 - 100\n1 - 120", (1, 120)),
    ],
)
def test_the_slowest_rank_is_one_of_those_that_recorded_every_step(
    spans: str, slowest: tuple[int | None, float | None]
) -> None:
    split = time_split(read_table(RankSplit, f"rank step span_us\n{spans}"))
    assert split is not None
    assert (split.slowest_rank, split.slowest_us) == slowest


def test_without_steps_there_is_nothing_to_split() -> None:
    assert time_split(Table.empty(RankSplit)) is None
    assert step_us(Table.empty(Overlap)) == 0
    assert make_exhibits(Fixed(Table.empty(Overlap))) == ()


def test_each_rank_is_drawn_by_its_mean_step_with_its_stage() -> None:
    rows = drawn("time_split", read_table(RankSplit, OVERLAPS)).rows
    assert rows == ((0, 0, 50, 80, 20), (1, 1, 70, 10, 20))


def test_idle_causes_are_per_rank_and_step_longest_first() -> None:
    gaps = read_table(Gap, "rank step cause duration_us\n0 1 python 4\n0 2 python 2\n0 2 copy 3\n1 1 python 6\n1 1 - 9")
    assert drawn("idle_causes", idle_causes(gaps), read_table(Overlap, OVERLAPS)).rows == (("python", 4), ("copy", 1))


def test_operators_are_means_over_the_ranks() -> None:
    operators = read_table(
        OperatorShare,
        "rank op_type core total_us calls\n0 Cast AIV 10 4\n1 Cast AIV 20 4\n0 MatMul AIC 50 1",
    )
    assert drawn("operators", operators).rows == (("MatMul", "AIC", 25, 0.5), ("Cast", "AIV", 15, 4))


def test_links_keep_who_speaks_to_whom() -> None:
    links = read_table(LinkUse, "source target link bandwidth_gbps size_bytes\n0 1 HCCS 18.5 1000")
    assert drawn("links", links).rows == ((0, 1, "HCCS", 18.5, 1000),)


def mesh(ranks: int) -> Table[LinkUse]:
    """Every rank to every other, one of them slow, one with too few bytes to tell."""
    pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
    speed = [3.0 if pair == (ranks - 2, 1) else float("nan") if pair == (0, 1) else 18.0 for pair in pairs]
    return Table.build(
        LinkUse, source=[a for a, _ in pairs], target=[b for _, b in pairs], link=["HCCS"] * len(pairs),
        bandwidth_gbps=speed, size_bytes=1e8,
    )  # fmt: skip


def test_every_link_of_64_ranks_is_kept() -> None:
    rows = drawn("links", mesh(64))
    assert len(rows.rows) == rows.total == 64 * 63
    assert (0, 1, "HCCS", None, 1e8) in rows.rows


@pytest.mark.parametrize("ranks", [65, 200, 256])
def test_of_more_links_the_slowest_between_neighbours_are_kept(ranks: int) -> None:
    rows = drawn("links", mesh(ranks))
    assert len(rows.rows) <= MOST_LINKS
    assert rows.total == ranks * (ranks - 1)
    assert (ranks - 2, 1, "HCCS", 3.0, 1e8) in rows.rows
    assert {int(row[0] or 0) // 8 for row in rows.rows} == set(range((ranks + 7) // 8))


@pytest.mark.parametrize(("ranks", "steps"), [(64, 64), (1024, 10), (4096, 3)])
def test_of_more_steps_the_longest_among_neighbours_are_kept(ranks: int, steps: int) -> None:
    rank, step = (axis.ravel() for axis in np.mgrid[0:ranks, 0:steps])
    span = np.where((rank == ranks - 3) & (step == 1), 200.0, 100.0)
    parts = dict.fromkeys(("compute_us", "exposed_comm_us", "overlapped_us", "free_us"), span / 4)
    rows = drawn("rank_steps", Table.build(Overlap, rank=rank, step=step, span_us=span, **parts))
    assert rows.total == ranks * steps
    assert len(rows.rows) <= MOST_CELLS
    assert (ranks - 3, 1, 200.0) in rows.rows
    assert {row[1] for row in rows.rows} == set(range(steps))
    if ranks * steps <= MOST_CELLS:
        assert len(rows.rows) == rows.total


@given(st.lists(st.floats(-100, 1e7), min_size=1, max_size=50))
def test_every_launch_falls_into_one_bin_that_holds_it(latencies: list[float]) -> None:
    ranks = [number % 3 for number in range(len(latencies))]
    rows = drawn("launch_latency", launch_latencies(Table.build(Dispatch, rank=ranks, latency_us=latencies))).rows
    assert sum(int(row[2] or 0) for row in rows) == len(latencies)
    for low, high, count in rows:
        inside = [
            v for v in latencies if float(low or 0) < v <= float(high or 0) * (1 + 1e-12) or (low == 0 and v <= 0)
        ]
        assert len(inside) >= int(count or 0) - 1e-9


def test_the_rank_with_least_exposed_communication_is_the_one_others_wait_for() -> None:
    rows = "rank step exposed_comm_us\n0 1 50\n0 2 70\n1 1 10\n1 2 -\n2 1 -"
    assert slack_by_rank(read_table(RankSplit, rows)) == {0: 50.0, 1: 0.0}
    assert slack_by_rank(Table.empty(RankSplit)) == {}


def test_ranks_that_do_not_communicate_do_not_wait_for_each_other() -> None:
    rows = "rank step span_us exposed_comm_us\n0 1 100 0\n0 2 120 0\n1 1 300 0\n1 2 320 0"
    assert slack_by_rank(read_table(RankSplit, rows)) == {0: 200.0, 1: 0.0}


def courses(*steps: tuple[int, int, float, float]) -> Table[StepCourse]:
    """Rank, number, length and exposed communication of steps, each of one slice."""
    rank, step, length, waits = zip(*steps, strict=True)
    return Table.build(
        StepCourse,
        rank=np.array(rank),
        step=np.array(step),
        from_us=np.zeros(len(steps)),
        to_us=np.array(length, float),
        exposed_comm_us=np.array(waits, float),
    )


def lanes(*steps: tuple[int, int, float, float]) -> list[tuple[object, ...]]:
    return [row[:2] for row in drawn("step_course", courses(*steps)).rows]


def test_the_longest_step_is_drawn_last_where_it_stands_out() -> None:
    assert lanes((0, 5, 100, 1), (0, 7, 110, 1), (1, 5, 100, 2), (1, 9, 124, 2)) == [(0, 5), (1, 5)]
    assert lanes((0, 5, 100, 1), (0, 7, 110, 1), (1, 5, 100, 2), (1, 9, 126, 2)) == [(0, 5), (1, 5), (1, 9)]


def test_of_many_ranks_those_from_the_least_to_the_most_waiting_are_drawn() -> None:
    found = lanes(*((rank, 5, 100.0, float((rank * 37) % 64)) for rank in range(64)))
    assert len(found) == MOST_COURSES
    waits = sorted((int(str(rank)) * 37) % 64 for rank, _ in found)
    assert waits[0] == 0
    assert waits[-1] == 63
    assert found == sorted(found)  # type: ignore[type-var]


def test_memory_is_drawn_of_the_rank_that_reserved_most() -> None:
    course = read_table(
        MemoryCourse,
        "rank component from_us to_us allocated_bytes reserved_bytes\n0 PTA 0 1 5 10\n1 PTA 0 1 5 30\n1 PTA 1 2 5 20",
    )
    peaks = read_table(MemoryPeak, "rank component capacity_bytes\n0 PTA 64\n1 PTA -\n1 APP 32")
    rows = drawn("memory_course", course, peaks).rows
    assert [(row[0], row[5], row[6]) for row in rows] == [(1, 30, 32), (1, 20, 32)]
