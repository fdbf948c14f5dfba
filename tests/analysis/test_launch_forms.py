# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.launch_forms import launch_forms
from advisor.facts import Table, read_table
from advisor.facts.derived import Holdup, LaunchForm
from advisor.facts.observed import Kernel, Launch


def forms(kernels: str, launches: str, held: str = "") -> Table[LaunchForm]:
    return launch_forms(
        read_table(Kernel, kernels), read_table(Launch, launches), read_table(Holdup, held) if held else None
    )


def test_a_replayed_graph_is_one_call_for_many_kernels() -> None:
    (row,) = forms(
        "start_ns duration_us\n100 2\n200 3\n300 4",
        "host_start_ns device_start_ns\n10 100\n10 200\n20 300\n30 400",
        "cause lost_us\nhost 7\ncompile 9",
    ).rows()
    assert row == {"rank": 0, "kernels": 3.0, "calls": 2.0, "kernel_us": 9.0, "lost_us": 7.0}


def test_ranks_are_told_apart_and_kernels_without_a_launch_left_out() -> None:
    table = forms(
        "rank start_ns duration_us\n0 100 2\n0 150 2\n1 100 5\n2 100 5",
        "rank host_start_ns device_start_ns\n0 10 100\n1 11 100",
    )
    assert [(row["rank"], row["kernels"], row["calls"], row["lost_us"]) for row in table.rows()] == [
        (0, 1.0, 1.0, None),
        (1, 1.0, 1.0, None),
    ]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1)), min_size=1, max_size=30))
def test_calls_are_counted_as_a_person_would(links: list[tuple[int, int]]) -> None:
    kernels = "rank start_ns duration_us\n" + "\n".join(f"{rank} {at} 1" for at, (_, rank) in enumerate(links))
    launches = "rank host_start_ns device_start_ns\n" + "\n".join(
        f"{rank} {call} {at}" for at, (call, rank) in enumerate(links)
    )
    found = {row["rank"]: row["calls"] for row in forms(kernels, launches).rows()}
    assert found == {rank: len({call for call, own in links if own == rank}) for rank in {own for _, own in links}}
