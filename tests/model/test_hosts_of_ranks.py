# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.model.run import MOST_ON_HOST, Capture, Run


def _run(hosts: list[str]) -> Run:
    return Run(captures=tuple(Capture(rank=rank, path="", source="text", host=host) for rank, host in enumerate(hosts)))


def test_hosts_are_told_with_their_ranks_in_the_order_of_these() -> None:
    assert _run(["b", "b", "a", "", "a"]).hosts == {"b": (0, 1), "a": (2, 4)}


def test_one_host_is_not_worth_a_name() -> None:
    assert _run(["a", "a", ""]).hosts == {}


def test_a_name_that_more_ranks_share_than_a_server_has_devices_names_no_host() -> None:
    assert _run(["a"] * MOST_ON_HOST + ["b"]).hosts
    assert _run(["a"] * (MOST_ON_HOST + 1) + ["b"]).hosts == {}
