# SPDX-License-Identifier: Apache-2.0
"""Counts and sums that were established on real captures by other means, and hold whatever the export."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from advisor.facts.base import MISSING, Fact
from advisor.facts.observed import Collective, DeviceTask, HostCall, Kernel, Launch, OperatorCall, StepTime, StepWindow
from advisor.facts.table import Table
from advisor.sources import open_input

EXPORTS, LEVELS, RANKS = ("text", "db"), (0, 1, 2), (0, 1)
CANN = {"api", "launch", "communicate", "graph", "runtime"}


@pytest.fixture(scope="module", params=list(product(EXPORTS, LEVELS, RANKS)), ids=str)
def spot(request: pytest.FixtureRequest, real_data: Path) -> tuple[str, int, Path]:
    export, level, rank = request.param
    return export, level, real_data / f"msinsight_pytorch_matrix/{export}/level{level}/rank{rank}_ascend_pt"


def read(path: Path, fact: type[Fact]) -> Table[Any]:
    _, (source,) = open_input(path)
    return source.read(fact)


def test_kernels_are_187_and_sum_up_to_what_the_profiler_calls_computing(spot: tuple[str, int, Path]) -> None:
    _, _, path = spot
    kernels, step = read(path, Kernel), read(path, StepTime)
    assert len(kernels) == 187
    assert set(kernels["step"].tolist()) == {50}
    assert float(kernels["duration_us"].sum()) == pytest.approx(float(step["compute_us"][0]), abs=0.03)


def test_the_types_in_the_names_at_level0_are_those_recorded_above(real_data: Path) -> None:
    def types(level: int) -> Counter[str | None]:
        path = real_data / f"msinsight_pytorch_matrix/text/level{level}/rank0_ascend_pt"
        return Counter(read(path, Kernel).texts("op_type").values())

    assert types(0) == types(1) == types(2)


def test_collectives_are_four_and_sum_up_to_what_the_profiler_calls_communication(spot: tuple[str, int, Path]) -> None:
    _, level, path = spot
    found, step = read(path, Collective), read(path, StepTime)
    assert Counter(found.texts("op").values()) == {"allReduce": 4}
    assert float(found["elapse_us"].sum()) == pytest.approx(float(step["comm_us"][0]), abs=0.03)
    assert found["size_bytes"].tolist() == [16388000.0, 67125248.0, 151011328.0, 9878784.0]
    if level:
        parts = found["transit_us"] + found["wait_us"] + found["idle_us"]
        assert parts == pytest.approx(found["elapse_us"], abs=0.01)
    else:
        assert np.isnan(found["transit_us"]).all()


def test_every_kernel_copy_and_collective_is_launched_once(spot: tuple[str, int, Path]) -> None:
    _, _, path = spot
    launches, kernels, collectives = (read(path, fact) for fact in (Launch, Kernel, Collective))
    starts = Counter(launches["device_start_ns"].tolist())
    assert len(launches) == 215
    assert sum((launches["stream"] == MISSING).tolist()) == 4
    assert all(starts[start] == 1 for start in kernels["start_ns"].tolist())
    assert set(collectives["start_ns"].tolist()) <= starts.keys()


def test_launches_know_their_calls_wherever_calls_are_recorded(spot: tuple[str, int, Path]) -> None:
    export, level, path = spot
    launches = read(path, Launch)
    known = launches["thread"] != MISSING
    assert known.tolist() == [not (export == "text" and level == 0)] * 215
    calls = read(path, HostCall)
    nodes = calls.take(calls.texts("kind").isin(["launch"]))
    if known.all():
        assert len(nodes) == 191
        assert set(nodes["start_ns"].tolist()) <= set(launches["host_start_ns"].tolist())


def test_tasks_of_the_device_are_told_apart_alike(spot: tuple[str, int, Path]) -> None:
    _, level, path = spot
    kinds = Counter(read(path, DeviceTask).texts("kind").values())
    assert kinds == {"comm": 296, "kernel": 187, "copy": 24, "wait": 10, "mark": 18 if level else 16}


def test_host_calls_are_all_there(spot: tuple[str, int, Path]) -> None:
    export, level, path = spot
    calls = read(path, HostCall)
    kinds = Counter(calls.texts("kind").values())
    framework = {kind: count for kind, count in kinds.items() if kind not in CANN}
    queued = 175 if (export, level, path.name) == ("db", 2, "rank1_ascend_pt") else 159
    assert framework == {
        "python": 1282,
        "operator": 856,
        "enqueue": queued,
        "dequeue": queued,
        "optimizer": 2,
        "data_loader": 1,
        "step": 1,
    }
    assert ("api" in kinds) == (export == "db" or level > 0)
    assert (kinds.get("runtime", 0) >= 426) == (level == 2)
    queue = calls.take(calls.texts("kind").isin(["enqueue", "dequeue"]))["connection"]
    assert set(Counter(queue.tolist()).values()) == {2}


def test_operators_are_859_and_the_step_is_50(spot: tuple[str, int, Path]) -> None:
    _, _, path = spot
    operators = read(path, OperatorCall)
    assert len(operators) == 859
    assert len(operators.texts("input_shapes").names) == 188
    assert (operators["host_self_us"] <= operators["host_total_us"] + 0.01).all()
    assert read(path, StepWindow)["step"].tolist() == [50]
