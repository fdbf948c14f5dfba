# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.analysis.phases.batch_waits import batch_waits
from advisor.facts.derived import Gap, Preparation
from advisor.facts.observed import BatchQueue, HostCall, StepWindow
from advisor.facts.table import read_table

MS = 1_000_000
WINDOWS = read_table(
    StepWindow, f"rank step start_ns end_ns\n0 1 0 {60 * MS}\n0 2 {60 * MS} {120 * MS}\n0 3 {120 * MS} 0"
)
QUEUES = read_table(BatchQueue, "rank step queue size taken_us\n0 1 host 4 0\n0 2 host 0 9000\n0 3 host 0 9000")
CALLS = read_table(HostCall, "rank thread kind name start_ns end_ns\n0 1 operator aten::mm 0 1000")


def waited(*gaps: tuple[float, float, str, str]) -> list[tuple[object, ...]]:
    """What is told of pauses with begin (ms), length (ms), cause and call."""
    rows = "".join(f"\n0 1 {int(at * MS)} {ms * 1e3} {cause} {call}" for at, ms, cause, call in gaps)
    idle = read_table(Gap, "rank step start_ns duration_us cause call" + rows)
    return [tuple(row.values()) for row in batch_waits(QUEUES, idle, WINDOWS, CALLS).rows()]


def test_what_batches_take_counts_in_the_pauses_in_which_steps_begin() -> None:
    pauses = waited((59.9, 8, "host_late", "-"), (119, 5, "python", "-"))
    assert pauses == [(0, 3.0, 6000.0, (6000 + 4000) / 2)]


def test_a_host_that_is_ahead_takes_its_batch_before_the_device_runs_dry() -> None:
    ((_, _, _, idle),) = waited((62, 9, "host_late", "-"), (125.5, 0.25, "python", "-"), (130, 9, "python", "-"))
    assert idle == (4000 + 250) / 2


def test_a_batch_that_is_fetched_while_the_device_works_costs_nothing() -> None:
    assert waited((30, 9, "host_late", "-"))[0][-1] == 0
    assert waited((59.9, 9, "host_late", "aten::mm"))[0][-1] == 0
    assert waited((59.9, 9, "wait", "-"))[0][-1] == 0


SUNK = QUEUES.having(taken_us=float("nan"), sunk=1)


def test_where_batches_are_sunk_they_hold_up_the_first_work_of_steps() -> None:
    starts = read_table(Preparation, "rank step preparing_us idle_us\n0 1 9000 -\n0 2 9000 8000\n0 3 9000 6000")
    (row,) = batch_waits(SUNK, None, WINDOWS, CALLS, starts).rows()
    assert (row["rank"], row["batches"], row["taken_us"], row["waited_us"]) == (0, 3, None, 7000)


def test_where_the_first_work_of_steps_is_not_known_nothing_is_said_of_sunk_batches() -> None:
    idle = read_table(Gap, "rank step start_ns duration_us cause call\n0 1 0 9000 python -")
    assert not len(batch_waits(SUNK, idle, WINDOWS, CALLS))


def in_a_database(*lengths_ms: float) -> list[float]:
    """What is told of silent pauses, 50 ms apart, where no steps were marked."""
    rows = "".join(f"\n0 - {50 * MS * at} {ms * 1e3} python -" for at, ms in enumerate(lengths_ms))
    idle = read_table(Gap, "rank step start_ns duration_us cause call" + rows)
    return batch_waits(QUEUES, idle, None, CALLS)["waited_us"].tolist()


def test_without_marks_of_steps_the_pauses_that_last_as_long_as_a_batch_are_waits_for_one() -> None:
    assert in_a_database(8, 0.2, 5) == [6000 + 5000]


def test_where_more_pauses_than_batches_are_as_long_nobody_knows_which_waits_for_one() -> None:
    assert in_a_database(8, 7, 5, 5) == []
