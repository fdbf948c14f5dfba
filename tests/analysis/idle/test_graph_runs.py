# SPDX-License-Identifier: Apache-2.0
"""Runs of compiled graphs by the list of kernels, and the idle time between them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from advisor.analysis.idle.graph_runs import graph_runs
from advisor.facts.base import MISSING
from advisor.facts.observed import Kernel
from advisor.facts.table import Table
from advisor.model.run import Run
from advisor.model.run_of_ranks import run_of_ranks

ALONE = MISSING


def kernels(*rows: tuple[str, int, float, float], rank: int = 0, step: int = 1) -> Table[Kernel]:
    """Kernels of one step, each by its name, its graph, and from when to when it runs, µs."""
    return Table.build(
        Kernel,
        rank=np.full(len(rows), rank),
        step=np.full(len(rows), step),
        op_name=[row[0] for row in rows],
        op_type=[row[0] for row in rows],
        graph=np.array([row[1] for row in rows]),
        start_ns=np.array([row[2] * 1e3 for row in rows], np.int64),
        duration_us=np.array([row[3] - row[2] for row in rows], np.float64),
    )


def runs_of(*tables: Table[Kernel]) -> list[dict[str, Any]]:
    return graph_runs(run_of_ranks(Run()), Table.concat(Kernel, tables), None, None, None).rows()


def test_pauses_lie_between_runs_or_within_them() -> None:
    (found,) = runs_of(
        kernels(
            ("Range", 7, 0, 100),
            ("MatMul", 7, 110, 200),  # 10 µs within
            ("ArgMax", ALONE, 250, 260),  # 50 µs between
            ("Range", 7, 660, 760),  # 400 µs between
            ("MatMul", 7, 760, 860),
        )
    )
    assert (found["runs"], found["kernels"], found["single_kernels"]) == (2, 2, 0.5)
    assert (found["within_us"], found["between_us"]) == (10, 450)
    assert (found["longest_us"], found["longest_start_ns"]) == (400, 260_000)
    assert (found["awaited_type"], found["awaited_us"]) == ("Range", 400)
    assert found["run_us"] == 200


def test_a_graph_that_begins_anew_after_a_pause_runs_twice() -> None:
    (found,) = runs_of(kernels(("A", 7, 0, 10), ("B", 7, 10, 20), ("A", 7, 120, 130), ("B", 7, 130, 140)))
    assert (found["runs"], found["between_us"], found["within_us"]) == (2, 100, 0)


def test_a_graph_that_holds_its_first_operator_twice_runs_once() -> None:
    (found,) = runs_of(kernels(("A", 7, 0, 10), ("B", 7, 11, 20), ("A", 7, 21, 30), ("B", 7, 60, 70)))
    assert (found["runs"], found["between_us"], found["within_us"]) == (1, 0, 32)


def test_a_run_ends_where_another_graph_begins() -> None:
    (found,) = runs_of(kernels(("A", 7, 0, 10), ("B", 8, 110, 120), ("A", 7, 220, 230)))
    assert (found["runs"], found["between_us"]) == (3, 200)


def test_each_rank_is_told_apart_and_those_without_graphs_are_left_out() -> None:
    found = runs_of(
        kernels(("A", 7, 0, 10), ("A", 7, 110, 120)),
        kernels(("A", ALONE, 0, 10), ("B", ALONE, 50, 60), rank=1),
        kernels(("A", 7, 0, 10), ("B", ALONE, 40, 50), rank=2),
    )
    assert [(one["rank"], one["between_us"]) for one in found] == [(0, 100), (2, 30)]


def test_steps_are_averaged() -> None:
    (found,) = runs_of(
        kernels(("A", 7, 0, 10), ("A", 7, 110, 120)),
        kernels(("A", 7, 1000, 1010), ("A", 7, 1310, 1320), step=2),
    )
    assert found["runs"] == 2
    assert found["between_us"] == pytest.approx((100 + 880 + 300) / 2), "a pause belongs to the step in which it begins"


def test_nothing_is_told_where_no_graph_ran() -> None:
    assert runs_of(kernels(("A", ALONE, 0, 10), ("B", ALONE, 50, 60))) == []
