# SPDX-License-Identifier: Apache-2.0
"""An operator bound by its L0 buffers is told as nothing else by the rules that judge by the pipes of its cores."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from hypothesis import example, given
from hypothesis import strategies as st

from advisor.analysis.operators.operators import PIPES, operator_shapes
from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.facts.derived import OperatorShape
from advisor.facts.observed import Kernel
from advisor.facts.table import Table
from advisor.machine.shipped_files import shipped_folder
from advisor.rules.bind import Rule
from advisor.rules.cases import run_of
from advisor.rules.catalog import Catalog

L0_BOUND = "compute/l0-bound-operator"
BY_PIPES = (
    "l0-bound-operator",
    "memory-bound-operator",
    "scalar-bound-operator",
    "unbound-operators",
    "unsaturated-kernel",
)


@cache
def rules() -> tuple[Rule, ...]:
    folder = shipped_folder("rules")
    return Catalog.load([Path(folder, "compute", f"{name}.yaml") for name in BY_PIPES]).rules


SHARES = st.none() | st.integers(0, 39).map(lambda part: part / 50) | st.integers(38, 50).map(lambda part: part / 50)
"""As often about the bound as anywhere below it."""
IDLE = dict.fromkeys(PIPES, 0.1)


@example({**IDLE, "mte1_share": 0.96, "mte2_share": 0.82}, ("MatMulV3", "AI_CORE"))
@example({**IDLE, "fixpipe_share": 0.82, "mac_share": 0.78}, ("MatMulV3", "AI_CORE"))
@example({**IDLE, "fixpipe_share": 0.82, "mac_share": 0.76}, ("MatMulV3", "AI_CORE"))
@example({**IDLE, "mte1_share": 0.82, "fixpipe_share": None}, ("MatMul", "AI_CORE"))
@example({**IDLE, "mac_share": 0.0, "mte1_share": 0.96, "scalar_share": 0.9}, ("main_kernel", "MIX_AIC"))
@given(
    st.fixed_dictionaries(dict.fromkeys(PIPES, SHARES)),
    st.sampled_from([("MatMulV3", "AI_CORE"), ("Add", "AI_VECTOR_CORE"), ("main_kernel", "MIX_AIC")]),
)
def test_what_is_bound_by_its_l0_buffers_is_told_once(shares, kind):
    op_type, core = kind
    kernels = Table.build(Kernel, rank=0, step=1, op_type=op_type, core=core, start_ns=[0], duration_us=100.0, **shares)
    profile = TablesAlone({OperatorShape: operator_shapes(kernels, None, None)})
    results = [evaluate(rule, profile, run_of("step_us=100 device_family=npu level=1")) for rule in rules()]
    assert all(one.outcome.outcome != "failed" for one in results)
    fired = {one.outcome.rule for one in results if one.outcome.outcome == "fired"}
    assert L0_BOUND not in fired or fired == {L0_BOUND}
    busy = {name: share or 0 for name, share in shares.items()}
    second, busiest = sorted(busy.values())[-2:]
    moving = max(busy["mte1_share"], busy["fixpipe_share"])
    told = None not in (shares["mte2_share"], shares["scalar_share"])
    told &= (shares["mac_share"], shares["vector_share"]) != (None, None)
    assert (L0_BOUND in fired) == (told and moving == busiest >= 0.8 > second and busiest - second > 0.05)
