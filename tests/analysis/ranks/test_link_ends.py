# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.ranks.link_ends import link_ends
from advisor.analysis.ranks.links import link_uses
from advisor.facts.base import MISSING
from advisor.facts.derived import LinkEnd, LinkUse, Overlap
from advisor.facts.observed import Link
from advisor.facts.table import Table


def ring(ranks: int, slow: set[int], slower: float = 3.0) -> Table[Link]:
    """Every rank sends to the next one; what a slow rank sends or receives takes longer."""
    pairs = [(rank, (rank + 1) % ranks) for rank in range(ranks)]
    speeds = [20 / slower if slow & set(pair) else 20 + 0.1 * (pair[0] % 3) for pair in pairs]
    return Table.build(
        Link,
        rank=[source for source, _ in pairs],
        step=1,
        source=[source for source, _ in pairs],
        target=[target for _, target in pairs],
        link=["RDMA"] * ranks,
        size_bytes=1e9,
        transit_us=[1e6 / speed for speed in speeds],
    )


def test_a_slow_rank_is_told_from_its_neighbours_where_half_of_all_links_touch_it():
    uses = link_uses(Table.concat(Link, [ring(4, {2})]), None)
    assert max(row["deviation"] for row in uses.rows()) < 3
    found = {row["rank"]: row for row in link_ends(uses).rows()}
    assert found[2]["best_gbps"] == pytest.approx(20 / 3) and found[2]["deviation"] > 3
    assert all(found[rank]["best_gbps"] >= 20 and found[rank]["deviation"] < 3 for rank in (0, 1, 3))
    assert {row["peers"] for row in found.values()} == {2}


def test_links_that_name_no_step_tell_of_all_steps_of_the_run():
    links, steps = ring(4, set()), Table.build(Overlap, rank=0, step=[1, 2, 3, 4, 5], span_us=1e6)
    per_step = link_uses(links, steps).rows()
    in_all = link_uses(links.having(step=np.full(len(links), MISSING)), steps).rows()
    assert [row["transit_us"] for row in in_all] == pytest.approx([row["transit_us"] / 5 for row in per_step])
    assert [row["bulk_us"] for row in in_all] == pytest.approx([row["bulk_us"] / 5 for row in per_step])


def test_a_single_slow_link_makes_neither_of_its_ends_slow():
    links = ring(6, set())
    took = links["transit_us"].copy()
    took[2] *= 4
    assert {row["best_gbps"] >= 20 for row in link_ends(link_uses(links.having(transit_us=took), None)).rows()} == {
        True
    }


def test_a_rank_loses_as_much_as_its_longest_link_and_a_few_bytes_tell_nothing():
    uses = Table.build(
        LinkUse, source=[0, 1, 0], target=[1, 2, 3], link=["RDMA"] * 3, size_bytes=[2e9, 1e9, 96],
        bulk_us=[100, 50, math.nan], bandwidth_gbps=[20, 10, math.nan], exposed_share=[0.5, 0.25, 1],
        filled_us=[7, 3, 0], stage_worth_us=[40, 30, 1], gain_without_comm_us=[8, math.nan, 90],
    )  # fmt: skip
    found = {row["rank"]: row for row in link_ends(uses).rows()}
    assert found.keys() == {0, 1, 2}
    one = found[1]
    assert (one["size_bytes"], one["bulk_us"], one["peers"], one["best_gbps"]) == (3e9, 100, 2, 20)
    assert (one["exposed_share"], one["filled_us"], one["stage_worth_us"]) == (0.5, 3, 30)
    assert one["gain_without_comm_us"] == 8
    assert not len(link_ends(Table.empty(LinkUse)))


WAYS = st.dictionaries(
    st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(["RDMA", "HCCS"])),
    st.sampled_from([2.0, 5.0, 9.0, 20.0, math.nan]),
    max_size=14,
)


@given(WAYS)
def test_the_best_link_of_a_rank_is_set_against_the_median_of_those_of_the_others(ways):
    ways = {way: speed for way, speed in ways.items() if way[0] != way[1]}
    uses = Table.build(
        LinkUse, source=[way[0] for way in ways], target=[way[1] for way in ways], link=[way[2] for way in ways],
        size_bytes=1e9, bulk_us=1.0, bandwidth_gbps=list(ways.values()), exposed_share=math.nan, filled_us=math.nan,
        stage_worth_us=math.nan,
    )  # fmt: skip
    speeds, others = {}, {}
    for (source, target, kind), speed in ways.items():
        for rank, other in ((source, target), (target, source)) if not math.isnan(speed) else ():
            speeds.setdefault((rank, kind), []).append(speed)
            others.setdefault((rank, kind), set()).add(other)
    found: Table[LinkEnd] = link_ends(uses)
    rows = {(row["rank"], row["link"]): row for row in found.rows()}
    assert rows.keys() == speeds.keys()
    for (rank, kind), row in rows.items():
        assert (row["best_gbps"], row["peers"]) == (max(speeds[rank, kind]), len(others[rank, kind]))
        much = sorted({len(told) for (_, one), told in speeds.items() if one == kind})
        like = {len(speeds[rank, kind])}
        for size in (*much, *reversed(much)) * len(much):
            like |= {size} if any(size <= 2 * other and other <= 2 * size for other in like) else set()
        alike = [max(told) for (_, one), told in speeds.items() if one == kind and len(told) in like]
        assert (row["alike"], row["typical_gbps"]) == (len(alike), median(alike))
