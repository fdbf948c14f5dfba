# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest

from advisor.analysis.communication.bus_rates import bus_rates
from advisor.chips.chip_files import shipped_chips
from advisor.facts.derived import CollectiveCall
from advisor.facts.observed import Device
from advisor.facts.table import read_table
from advisor.model.run import Capture, Run

CALLS = """rank step name op        group start_ns elapse_us exposed_us p2p   bus_bytes
0 1 reduce allReduce 0 1000000 3000 1000 false 2000000
1 1 reduce allReduce 0 3000000 1000 900 false 2000000
0 1 gather allGather 0 9000000 50 50 false -
1 1 gather allGather 0 9000000 50 50 false -
0 2 reduce allReduce 0 20000000 40 40 false 2000000"""


def rates_of(calls: str) -> list[dict[str, object]]:
    return list(bus_rates(Run(), shipped_chips(), read_table(CollectiveCall, calls)).rows())


def test_a_collective_moves_what_it_carries_in_the_time_of_the_rank_that_came_last() -> None:
    (rate,) = rates_of(CALLS)
    assert (rate["last_rank"], rate["shortest_us"], rate["bus_gbps"]) == (1, 1000.0, 2.0)
    assert rate["bare_us"] == 900.0  # of the rank that came last; what rank 0 shows may lie behind its wait of 2000


def test_what_the_rank_that_is_slow_hides_is_bare_on_none() -> None:
    """It computes while the data move; the others are done, and a quicker way makes no step of theirs end sooner."""
    calls = CALLS.replace("1000000 3000 1000", "3000000 1000 1000").replace("1000 900", "1000 100")
    assert [row["bare_us"] for row in rates_of(calls)] == [100.0]


def test_calls_that_last_equally_long_on_all_ranks_count_too() -> None:
    calls = CALLS.replace("1000000 3000 1000", "3000000 1000 900")
    assert [row["bare_us"] for row in rates_of(calls)] == [900.0]


@pytest.mark.parametrize(
    ("chip", "hosts", "numbers", "link_gbps"),
    [
        ("NVIDIA H100 80GB HBM3", ("a", "a"), ("0", "1"), 450.0),
        ("NVIDIA H100 80GB HBM3", ("a", "b"), ("0", "1"), None),
        ("NVIDIA H100 80GB HBM3", ("", ""), ("0", "1"), None),
        ("NVIDIA H100 80GB HBM3", ("a", "a"), ("0", "0"), None),
        ("NVIDIA H100 80GB HBM3", ("a", "a"), ("0", "-"), None),
        ("NVIDIA H100 PCIe", ("a", "a"), ("0", "1"), None),
    ],
    ids=["one machine", "two machines", "no names", "one name for two machines", "untold device", "another board"],
)
def test_nvlink_is_known_to_lie_between_devices_of_one_machine_alone(
    chip: str, hosts: tuple[str, str], numbers: tuple[str, str], link_gbps: float | None
) -> None:
    captures = tuple(Capture(rank=rank, path="", source="kineto", host=host) for rank, host in enumerate(hosts))
    devices = read_table(Device, "rank number\n" + "".join(f"{rank} {one}\n" for rank, one in enumerate(numbers)))
    (rate,) = bus_rates(
        Run(captures=captures, chip=chip), shipped_chips(), read_table(CollectiveCall, CALLS), devices
    ).rows()
    assert rate["link_gbps"] == link_gbps
