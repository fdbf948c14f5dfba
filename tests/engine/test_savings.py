# SPDX-License-Identifier: Apache-2.0
"""What rules promise is told within the step, and what nobody knows is promised by none."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rule_texts import IDLE, made

from advisor.engine.savings import most_of_group, promised_us, within_step
from advisor.expr.frame import Frame
from advisor.rules.cases import run_of


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(us=st.lists(st.floats(allow_nan=True, allow_infinity=True), max_size=5), step_us=st.floats(1, 1e9))
def test_times_lie_between_nothing_and_the_step(tmp_path: Path, us: list[float], step_us: float) -> None:
    told = within_step(np.array(us, np.float64), made(tmp_path, body=IDLE), run_of(f"step_us={step_us!r}"))
    assert len(told) == len(us)
    for one, given_us in zip(told, us, strict=True):
        assert 0 <= one <= round(step_us, 3)
        if math.isnan(given_us):
            assert one == 0
        elif 0 <= given_us <= step_us:
            assert one == round(given_us, 3)


def test_a_single_step_loses_no_more_than_all_of_them_take(tmp_path: Path) -> None:
    run = run_of("step_us=100 step_count=4")
    assert most_of_group(made(tmp_path, body=IDLE), run) == 100
    assert most_of_group(made(tmp_path, body=IDLE.replace("[rank]", "[rank, step]")), run) == 400


def test_where_no_step_is_known_a_time_has_no_bound(tmp_path: Path) -> None:
    assert within_step(np.array([1e12]), made(tmp_path, body=IDLE), run_of("step_us=0")) == [1e12]


def test_a_rule_that_promises_nothing_leaves_it_missing(tmp_path: Path) -> None:
    body = IDLE[: IDLE.index("saving:")]
    rule = made(tmp_path, body=body)
    assert rule.saving is None
    assert np.isnan(promised_us(rule, Frame(None, groups=3))).tolist() == [True] * 3
