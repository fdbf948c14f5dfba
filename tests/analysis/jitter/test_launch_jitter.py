# SPDX-License-Identifier: Apache-2.0
"""Launches are compared with their like: what is held up, and what of it the device waited for."""

from __future__ import annotations

from statistics import median

import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.jitter.launch_jitter import HELD, launch_jitter
from advisor.facts import Table
from advisor.facts.derived import Gap
from advisor.facts.observed import Kernel, Launch

Call = tuple[str, int]
"""Operator type, and how long the launch takes in ns."""


def jitter_of(calls: list[Call], gaps: list[tuple[int, int]], *, spacing: int = 10_000) -> list[dict[str, object]]:
    """Calls one after another; gaps as start and end in ns."""
    begin = [at * spacing for at in range(len(calls))]
    kernels = Table.build(Kernel, rank=0, op_type=[name for name, _ in calls], start_ns=[at + 7000 for at in begin])
    launches = Table.build(
        Launch,
        rank=0,
        host_start_ns=begin,
        host_end_ns=[at + taken for at, (_, taken) in zip(begin, calls, strict=True)],
        device_start_ns=[at + 7000 for at in begin],
    )
    idle = Table.build(
        Gap, rank=0, start_ns=[start for start, _ in gaps], duration_us=[(end - start) / 1e3 for start, end in gaps]
    )
    return launch_jitter(kernels, launches, idle).rows()


def test_a_launch_that_stops_in_the_middle_costs_what_the_device_was_idle_meanwhile() -> None:
    (row,) = jitter_of([("Add", 100)] * 5 + [("Add", 5000)], [(51_000, 53_000), (54_000, 90_000)])
    assert row == {"rank": 0, "launches": 5, "usual_us": 0.1, "held": 1, "longest_us": 5, "idle_us": 3}


def test_a_launch_that_waits_for_room_while_the_device_works_costs_nothing() -> None:
    (row,) = jitter_of([("Add", 100)] * 5 + [("Add", 5000)], [])
    assert (row["held"], row["idle_us"]) == (1, 0)


def test_the_first_launch_of_a_kind_may_load_it() -> None:
    (row,) = jitter_of([("Add", 5000), ("Mul", 5000), *[("Add", 100), ("Mul", 100)] * 3], [(0, 90_000)])
    assert (row["launches"], row["held"], row["idle_us"]) == (6, 0, 0)


def test_a_call_that_launches_a_graph_is_none_of_them() -> None:
    kernels = Table.build(Kernel, rank=0, op_type="Add", start_ns=[1, 2, 3, 4])
    launches = Table.build(Launch, rank=0, host_start_ns=0, host_end_ns=9, device_start_ns=[1, 2, 3, 4])
    assert not len(launch_jitter(kernels, launches, Table.empty(Gap)))


def test_calls_without_an_end_tell_nothing() -> None:
    kernels = Table.build(Kernel, rank=0, op_type="Add", start_ns=[1, 2])
    launches = Table.build(Launch, rank=0, host_start_ns=[0, 1], device_start_ns=[1, 2])
    assert not len(launch_jitter(kernels, launches, Table.empty(Gap)))


@given(
    st.lists(st.tuples(st.sampled_from(["Add", "Mul"]), st.sampled_from([1, 2, 3, 40, 900])), max_size=20),
    st.lists(st.integers(1, 2000), max_size=8, unique=True),
)
def test_jitter_is_that_of_a_plain_count(calls: list[Call], borders: list[int]) -> None:
    ordered = sorted(borders)
    gaps = list(zip(ordered[::2], ordered[1::2], strict=False))
    seen, kept = set[str](), list[tuple[int, int]]()
    for at, (name, taken) in enumerate(calls):
        if name in seen:
            kept.append((at * 1000, taken))
        seen.add(name)
    found = jitter_of(calls, gaps, spacing=1000)
    assert len(found) == bool(kept)
    if not kept:
        return
    usual = int(median(taken for _, taken in kept))
    held = [(at + usual, at + taken) for at, taken in kept if taken > HELD * usual]
    moments = {moment for start, end in held for moment in range(start, end)}
    idle = sum(1 for start, end in gaps for moment in range(start, end) if moment in moments)
    assert found[0]["held"] == len(held)
    assert found[0]["idle_us"] == pytest.approx(idle / 1e3)
