# SPDX-License-Identifier: Apache-2.0
"""Rounds of programs without steps, against a plain walk through the launches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.launches.program_rounds import number_rounds, round_borders
from advisor.analysis.steps.cells import Cells, cells_of
from advisor.facts.base import MISSING
from advisor.facts.derived import Dispatch, EngineBorder
from advisor.facts.observed import HostCall, Kernel
from advisor.facts.table import Table, read_table

NO_CALLS = Table.empty(HostCall)
TYPES = ("MatMulV3", "ApplyAdamW", "Add")


def cells(step: int = MISSING) -> Cells:
    one = np.array([0])
    return cells_of(one, np.array([step]), one, one + 10, None)


def dispatches(launches: list[tuple[int, str]], rank: int = 0) -> Table[Dispatch]:
    """Launched at these moments, ns, and begun 5 µs later."""
    return Table.build(
        Dispatch,
        rank=[rank] * len(launches),
        kind=["kernel"] * len(launches),
        op_type=[op_type for _, op_type in launches],
        start_ns=[at + 5_000 for at, _ in launches],
        latency_us=[5.0] * len(launches),
    )


@given(st.lists(st.tuples(st.integers(0, 50), st.sampled_from(TYPES)), max_size=30, unique_by=lambda one: one[0]))
def test_a_round_begins_with_each_update_of_weights_that_follows_a_multiplication(
    launches: list[tuple[int, str]],
) -> None:
    expected, multiplied = [], False
    for at, op_type in sorted(launches):
        if op_type == "MatMulV3":
            multiplied = True
        elif op_type == "ApplyAdamW" and multiplied:
            expected.append(at)
            multiplied = False
    assert round_borders(0, cells(), NO_CALLS, dispatches(launches), None).tolist() == expected
    assert not len(round_borders(1, cells(), NO_CALLS, dispatches(launches), None))


@given(st.lists(st.tuples(st.integers(0, 50), st.sampled_from(TYPES)), max_size=30), st.lists(st.integers(0, 60)))
def test_a_moment_lies_in_the_round_of_the_last_update_before_it(ran: list[tuple[int, str]], asked: list[int]) -> None:
    kernels = Table.build(Kernel, rank=[0] * len(ran), op_type=[one for _, one in ran], start_ns=[at for at, _ in ran])
    missing, rank = np.full(len(asked), MISSING), np.zeros(len(asked), np.int64)
    found = number_rounds(kernels, rank, missing, np.array(asked, np.int64))
    begins = round_borders(0, cells(), NO_CALLS, dispatches(ran), None)
    assert found.tolist() == [sum(begin <= at for begin in begins) if len(begins) else MISSING for at in asked]
    assert number_rounds(kernels, rank, rank + 7, np.array(asked, np.int64)).tolist() == [7] * len(asked)


def test_what_is_asked_of_a_loader_tells_rounds_before_updates_do() -> None:
    calls = read_table(HostCall, "rank kind start_ns\n0 data_loader 7\n0 data_loader 3\n1 data_loader 1")
    links = dispatches([(1, "MatMulV3"), (2, "ApplyAdamW")])
    assert round_borders(0, cells(), calls, links, None).tolist() == [3, 7]


@pytest.mark.parametrize(("step", "expected"), [(1, []), (MISSING, [2])])
def test_where_steps_are_marked_there_are_no_rounds(step: int, expected: list[int]) -> None:
    links = dispatches([(1, "MatMulV3"), (2, "ApplyAdamW")])
    assert round_borders(0, cells(step), NO_CALLS, links, None).tolist() == expected


def test_steps_of_a_serving_engine_are_its_rounds() -> None:
    borders = Table.build(EngineBorder, rank=[0, 1, 0], start_ns=[9, 1, 4])
    links = dispatches([(1, "MatMulV3"), (2, "ApplyAdamW")])
    assert round_borders(0, cells(), NO_CALLS, links, borders).tolist() == [4, 9]
