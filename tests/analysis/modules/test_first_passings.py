# SPDX-License-Identifier: Apache-2.0
"""Work that other threads carry out belongs to the module in which it was first asked for."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.analysis.modules.module_operators import module_operators
from advisor.analysis.modules.modules import modules
from advisor.facts.observed import PassedTask
from advisor.facts.table import Table
from tests.analysis.derive import derive
from tests.analysis.modules.test_modules import Model

PYTHON, FRONTEND, LAUNCHER = 1, 2, 3


class Passed(NamedTuple):
    """One task that a thread passed on, in µs."""

    thread: int
    at: int
    worker: int
    start: int
    end: int


def table_of(tasks: list[Passed]) -> Table[PassedTask]:
    """As they are recorded."""
    thread, at, worker, start, end = (list(column) for column in zip(*tasks, strict=True)) if tasks else [[]] * 5
    ns = {name: [1000 * us for us in of] for name, of in (("passed_ns", at), ("start_ns", start), ("end_ns", end))}
    return Table.build(PassedTask, rank=[0] * len(tasks), thread=thread, worker=worker, **ns)


def times(model: Model, tasks: list[Passed]) -> dict[str | None, object]:
    """The time of every module by its path; None is outside."""
    found = derive(modules, **model.tables, passed=table_of(tasks))
    return {row["module"]: row["total_us"] for row in found.rows()}  # type: ignore[misc]


def cells() -> Model:
    """Two cells on the thread of Python, and three operators that another thread launches later."""
    model = Model().module("Attention", 0, 10, PYTHON).module("MLP", 20, 30, PYTHON)
    for start, us in ((100, 5), (110, 7), (120, 9)):
        model.operator("LaunchTask", start, start + 6, us, thread=LAUNCHER)
    return model


def test_a_task_that_was_passed_on_twice_belongs_to_the_cell_around_the_first_time() -> None:
    tasks = [
        *(Passed(PYTHON, 5, FRONTEND, 50, 58), Passed(FRONTEND, 55, LAUNCHER, 100, 106)),
        *(Passed(PYTHON, 25, FRONTEND, 60, 68), Passed(FRONTEND, 65, LAUNCHER, 110, 116)),
        *(Passed(PYTHON, 40, FRONTEND, 70, 78), Passed(FRONTEND, 75, LAUNCHER, 120, 126)),
    ]
    assert times(cells(), tasks) == {None: 9, "Attention": 5, "MLP": 7}


def test_a_task_whose_arrow_is_not_drawn_is_not_charged_to_the_one_before_it() -> None:
    assert times(cells(), [Passed(PYTHON, 5, LAUNCHER, 100, 106)]) == {None: 16, "Attention": 5}


def test_a_cell_on_the_launching_thread_itself_comes_before_the_one_around_the_first_passing() -> None:
    model = cells().module("Norm", 109, 117, LAUNCHER)
    tasks = [Passed(PYTHON, 5, LAUNCHER, 100, 106), Passed(PYTHON, 6, LAUNCHER, 110, 116)]
    assert times(model, tasks) == {None: 9, "Attention": 5, "Norm": 7}


def test_operators_keep_the_thread_that_launched_them_as_theirs() -> None:
    found = derive(module_operators, **cells().tables, passed=table_of([Passed(PYTHON, 5, LAUNCHER, 100, 106)]))
    assert [(row["module"], row["operator"], row["total_us"]) for row in found.rows()] == [
        ("Attention", "LaunchTask", 5)
    ]


def test_tasks_that_clocks_put_into_a_circle_belong_to_no_cell() -> None:
    tasks = [Passed(LAUNCHER, 103, FRONTEND, 50, 106), Passed(FRONTEND, 60, LAUNCHER, 100, 106)]
    assert times(cells(), tasks) == {None: 21}


@st.composite
def pipelines(draw: st.DrawFn) -> list[tuple[int | None, Passed]]:
    """Tasks one after another, each with the number of the one during which it was passed on, or None where Python did
    or nobody knows what the thread was about."""
    tasks: list[tuple[int | None, Passed]] = []
    for number in range(draw(st.integers(1, 8))):
        start = 100 * number + 150
        parent = draw(st.none() | st.integers(0, number - 1)) if number else None
        if parent is not None:
            of = tasks[parent][1]
            thread, at = of.worker, draw(st.integers(of.start, of.end))
        else:
            thread, at = draw(st.sampled_from([(PYTHON, draw(st.integers(0, 99))), (FRONTEND, start - 20)]))
        tasks.append((parent, Passed(thread, at, draw(st.integers(FRONTEND, 5)), start, start + 40)))
    return tasks


@settings(max_examples=100)
@given(pipelines(), st.lists(st.integers(0, 98), min_size=2, max_size=6, unique=True))
def test_however_long_the_chain_its_first_passing_decides(
    tasks: list[tuple[int | None, Passed]], borders: list[int]
) -> None:
    model, expected = Model(), dict[str | None, int]()
    ranges = list(itertools.pairwise(sorted(borders)))[::2]
    for number, (start, end) in enumerate(ranges):
        model.module(f"Cell{'ABC'[number]}", start, end, PYTHON)
    for _, task in tasks:
        model.operator("LaunchTask", task.start, task.end, 1, thread=task.worker)
    for number in range(len(tasks)):
        first = number
        while (parent := tasks[first][0]) is not None:
            first = parent
        task = tasks[first][1]
        around = [f"Cell{'ABC'[at]}" for at, (start, end) in enumerate(ranges) if start <= task.at <= end]
        cell = around[0] if around and task.thread == PYTHON else None
        expected[cell] = expected.get(cell, 0) + 1
    assert times(model, [task for _, task in tasks]) == expected
