# SPDX-License-Identifier: Apache-2.0
"""Data of equal collectives should move as fast in every step; how long a rank waits beside that is another matter."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from advisor.analysis.communication.transfer_paces import transfer_paces
from advisor.facts.derived import CollectiveCall
from advisor.facts.table import Table


def job(
    transit: Sequence[float], *, sizes: Sequence[float] = (), wait: Sequence[float] = (), **columns: object
) -> Table[CollectiveCall]:
    """One call in each step, whose data move for so many µs, a tenth of it beside a kernel."""
    count = len(transit)
    return Table.build(
        CollectiveCall,
        **{"rank": 0, "step": range(count), "op": "allReduce", "group": "a", "p2p": False}
        | {
            "start_ns": [10_000_000 * number for number in range(count)],
            "elapse_us": [us + late for us, late in zip(transit, wait or [0] * count, strict=True)],
            "transit_us": transit,
            "bare_transit_us": [0.9 * us for us in transit],
            "size_bytes": sizes or [1e8] * count,
        }
        | columns,
    )


def found(calls: Table[CollectiveCall]) -> list[dict[str, object]]:
    return list(transfer_paces(calls, None).rows())


def test_from_which_step_on_data_move_slowly_is_told_with_what_that_costs() -> None:
    (row,) = found(job([100, 100, 101, 100, 300, 301, 299, 300]))
    assert row["slowdown"] == pytest.approx(300 / 100.333, rel=1e-3)
    assert (row["first_slow_step"], row["lasting"]) == (4, True)
    assert (row["slow_steps"], row["compared_steps"]) == (4, 7)
    assert row["bare_extra_us"] == pytest.approx(0.9 * 199.667 * 4 / 8, rel=1e-3)
    assert row["compared_share"] == 1
    assert row["contrast"] > 0.98


def test_steps_in_between_are_told_as_such() -> None:
    (row,) = found(job([100, 100, 300, 100, 100, 300, 100, 100]))
    assert (row["first_slow_step"], row["lasting"], row["slow_steps"]) == (2, False, 2)


def test_who_waits_longer_moves_its_data_as_fast() -> None:
    (row,) = found(job([100.0, 101, 100, 101, 100, 101], wait=[0, 0, 0, 500, 500, 500]))
    assert row["slowdown"] == pytest.approx(1.01)


def test_payloads_that_change_are_not_held_against_each_other() -> None:
    assert not found(job([100, 100, 100, 300, 300, 300], sizes=[1e8] * 3 + [3e8] * 3))


def test_a_single_slow_step_may_be_chance() -> None:
    assert not found(job([100, 100, 100, 300, 100, 100]))


def test_without_the_time_in_which_data_move_nothing_is_told() -> None:
    assert not found(job([100.0] * 3 + [300.0] * 3, transit_us=float("nan")))
    assert not found(job([]))


def test_sends_between_two_ranks_are_left_to_their_pairs() -> None:
    assert not found(job([100, 100, 100, 300, 300, 300], p2p=True))
