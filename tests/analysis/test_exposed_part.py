# SPDX-License-Identifier: Apache-2.0
"""What links and meetings cost is bounded by what computation does not hide."""

from __future__ import annotations

import numpy as np
import pytest

from advisor.analysis.links import link_uses
from advisor.analysis.meetings import meetings
from advisor.facts.derived import CollectiveCall, Overlap
from advisor.facts.observed import Link
from advisor.facts.table import Table


def _links() -> Table[Link]:
    return Table.build(
        Link, rank=[0, 0], step=[1, 1], op=["a", "a"], source=[0, 0], target=[1, 7], link=["HCCS"] * 2,
        size_bytes=[1e6, 1e6], transit_us=[100.0, 100.0],
    )  # fmt: skip


def test_a_link_is_as_exposed_as_the_more_exposed_of_its_ranks() -> None:
    split = Table.build(Overlap, rank=[0, 1], step=[1, 1], comm_us=[100.0, 100.0], exposed_comm_us=[10.0, 40.0])
    uses = link_uses(_links(), split)
    assert dict(zip(uses["target"].tolist(), uses["exposed_share"].tolist(), strict=True)) == pytest.approx(
        {1: 0.4, 7: 0.1}
    )


def test_without_a_split_of_the_step_exposure_is_missing() -> None:
    assert np.isnan(link_uses(_links(), None)["exposed_share"]).all()


def test_a_meeting_is_exposed_by_the_mean_of_its_ranks() -> None:
    calls = Table.build(
        CollectiveCall, rank=[0, 1], step=[1, 1], name=["x", "x"], op=["a", "a"], group=["g", "g"], p2p=[False, False],
        start_ns=[0, 0], elapse_us=[30.0, 10.0], exposed_us=[20.0, 0.0],
    )  # fmt: skip
    assert meetings(calls)["exposed_us"].tolist() == [10.0]
