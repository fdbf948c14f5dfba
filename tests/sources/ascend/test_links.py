# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math

from advisor.sources.ascend.links import LinkTransfer, link_table


def moved(source: int, target: int, size: float, time: float) -> LinkTransfer:
    return LinkTransfer(0, 1, "allreduce", "5", source, target, "HCCS", size, time)


def test_the_bandwidth_of_a_link_is_what_it_moved_in_the_time_it_took() -> None:
    (row,) = link_table([moved(0, 1, 4e6, 300.0), moved(0, 1, 2e6, 300.0)], {}).rows()
    assert (row["size_bytes"], row["transit_us"], row["bandwidth_gbps"]) == (6e6, 600.0, 10.0)


def test_a_time_that_nothing_takes_gives_no_bandwidth_and_warns_nobody() -> None:
    cells = [moved(0, 1, 1e29, 1e-300), moved(0, 2, 1e6, 0.0), moved(0, 3, 1e6, math.nan)]
    assert [row["bandwidth_gbps"] for row in link_table(cells, {}).rows()] == [None, None, None]
