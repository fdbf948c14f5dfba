# SPDX-License-Identifier: Apache-2.0
"""Pauses of devices of which no step was marked, against what the rows say."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from advisor.analysis.idle.unmarked_pauses import unmarked_pauses
from advisor.facts.derived import Overlap
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

WORK = replace(run_of_ranks(Run()), times_of="work")
KERNELS = read_table(
    Kernel, "rank start_ns duration_us\n0 0 10\n0 11000 9\n0 30000 5\n0 95000 5\n1 0 10\n1 5000 10\n2 7000 1"
)


def pauses(**others: Table) -> list[tuple[object, ...]]:
    collectives, tasks, calls = (others.get(name) for name in ("collectives", "tasks", "calls"))
    found = unmarked_pauses(WORK, KERNELS, collectives, tasks=tasks, calls=calls)
    return [tuple(row.values()) for row in found.rows()]


def test_pauses_are_what_lies_between_the_first_and_the_last_task() -> None:
    assert pauses() == [
        (0, 29.0, 0.0, 3.0, 71.0, 10.0, 60.0, 35000, None, None, None),
        (1, 15.0, 0.0, 0.0, 0.0, None, None, None, None, None, None),
        (2, 1.0, 0.0, 0.0, 0.0, None, None, None, None, None, None),
    ]


def test_copies_and_collectives_are_work_and_waits_are_none() -> None:
    tasks = read_table(
        DeviceTask, "rank kind start_ns end_ns\n0 copy 35000 45000\n0 wait 50000 60000\n0 copy 96000 990000"
    )
    sent = read_table(Collective, "rank start_ns elapse_us\n0 20000 10")
    assert pauses(tasks=tasks, collectives=sent)[0] == (0, 49.0, 10.0, 2.0, 51.0, 25.5, 50.0, 45000, None, None, None)


def test_the_call_of_launching_threads_that_runs_through_most_of_them_is_named() -> None:
    calls = read_table(
        HostCall,
        """
        rank thread kind    name         activity      start_ns end_ns
        0    1      launch  launch       -             0        1000
        0    1      api     aclrtMemcpy  blocking_copy 40000    70000
        0    1      runtime MemcpySync   copy          41000    69000
        0    1      api     aclrtMemcpy  blocking_copy 72000    82000
        0    1      api     aclrtMalloc  allocate      9000     30000
        0    2      api     aclrtProcess -             0        95000
        1    1      launch  launch       -             5100     5200
        """,
    )
    assert [row[-3:] for row in pauses(calls=calls)] == [
        ("aclrtMemcpy", "blocking_copy", 40.0),
        (None, None, None),
        (None, None, None),
    ]


def test_where_other_tables_count_pauses_none_are_told() -> None:
    assert not len(unmarked_pauses(run_of_ranks(Run(steps=(1,))), KERNELS, None, tasks=None, calls=None))
    assert not len(unmarked_pauses(run_of_ranks(Run()), KERNELS, None, tasks=None, calls=None))


def test_what_rows_are_missing_of_is_no_pause() -> None:
    split = read_table(
        Overlap, "rank listed_us unlisted_us source\n0 29 60 incomplete\n1 15 0 intervals\n2 1 0 intervals"
    )
    found = unmarked_pauses(WORK, KERNELS, None, tasks=None, calls=None, split=split)
    assert found["rank"].tolist() == [1, 2]
    lost = split.having(source="incomplete")
    with pytest.raises(FactMissing) as missing:
        unmarked_pauses(WORK, KERNELS, None, tasks=None, calls=None, split=lost)
    assert list(missing.value.incomplete) == ["kernels"]
