# SPDX-License-Identifier: Apache-2.0
"""In which modules of the model the device memory lies when operators hold most of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import advisor
from advisor.analysis.chip.memory import memory_holders
from advisor.analysis.modules.module_holders import module_holders
from advisor.facts.base import MISSING
from advisor.facts.observed import GradientLink, HostCall, ModuleRange, OperatorMemory
from advisor.facts.table import Table, read_table

RANGES = """
thread source name                  start_ns end_ns
1      mark   Net                   0        1000
1      mark   Net.layers.0          100      300
1      mark   Net.layers.1          300      500
"""
CALLS = """
thread kind     name        start_ns end_ns
1      operator aten::mm    110      190
1      operator aten::empty 120      130
1      operator aten::mm    310      390
1      operator aten::mul   600      700
1      operator aten::mm    1100     1200
2      operator MmBackward0 2000     2100
2      operator aten::mm    2010     2090
"""
GRADIENTS = """
forward_start_ns backward_start_ns
110              2000
"""
ALLOCATIONS = """
name          size_bytes allocated_ns released_ns
aten::empty   100        125          -
aten::mm      200        150          -
aten::mm      400        350          -
aten::mul     30         650          -
aten::mm      7          1150         -
aten::mm      800        2050         -
aten::mm      5000       2096         -
cann::workspace 60       2098         -
aten::mm      90         160          170
aten::mm      9000       -            20
"""  # of the one at 2096 no operator is known, though another one runs on that thread


def told(gradients: str | None = GRADIENTS) -> dict[tuple[object, object, object], float]:
    links = None if gradients is None else read_table(GradientLink, gradients)
    found = module_holders(
        read_table(ModuleRange, RANGES), read_table(HostCall, CALLS), links, read_table(OperatorMemory, ALLOCATIONS)
    )
    return {(row["module"], row["phase"], row["name"]): row["held_bytes"] for row in found.rows()}


def test_what_is_held_belongs_to_the_module_around_the_operator_that_allocated_it_or_around_its_forward_one() -> None:
    assert told() == {
        ("Net/Net.layers.*", "forward", "aten::empty"): 100,
        ("Net/Net.layers.*", "forward", "aten::mm"): 200 + 400,
        ("Net", "forward", "aten::mul"): 30,
        ("Net/Net.layers.*", "backward", "aten::mm"): 800,
        (None, None, "aten::mm"): 7 + 5000,
        (None, None, "cann::workspace"): 60,
    }
    assert told(None)[None, None, "aten::mm"] == 7 + 800 + 5000


def test_all_modules_together_hold_what_all_operators_hold() -> None:
    whole = memory_holders(read_table(OperatorMemory, ALLOCATIONS))
    assert sum(told().values()) == whole["held_bytes"].sum()


def test_nothing_is_held_where_nothing_was_allocated() -> None:
    tables = Table.empty(ModuleRange), Table.empty(HostCall), None, Table.empty(OperatorMemory)
    assert not len(module_holders(*tables))
    early = read_table(OperatorMemory, "name size_bytes allocated_ns\naten::mm 5 -")
    assert early["allocated_ns"].tolist() == [MISSING]
    assert not len(module_holders(*tables[:3], early))


@pytest.mark.parametrize("export", ["text", "db"])
def test_gradients_of_linear_layers_lie_in_them_when_most_is_held(real_data: Path, export: str) -> None:
    """Those of AlexNet have 4096 x 9216, 4096 x 4096 and 1000 x 4096 weights in float32."""
    capture = real_data / "msinsight_pytorch_matrix" / export / "level2"
    found = advisor.stats(capture, "holders", by=["rank", "module", "phase", "name"])
    (layer,) = {name for name in found["module"].dropna() if name.endswith("Linear_*")}
    own = found[(found["module"] == layer) & (found["name"] == "aten::mm")]
    assert own["rank"].tolist() == [0, 1] and set(own["phase"]) == {"backward"}
    assert own["held_bytes"].tolist() == pytest.approx([4 * 4096 * (9216 + 4096 + 1000)] * 2, rel=1e-4)
    whole = advisor.stats(capture, "holders")
    assert found["held_bytes"].sum() == whole["held_bytes"].sum()
    assert np.allclose(found.groupby("rank")["held_share"].sum(), 1)
