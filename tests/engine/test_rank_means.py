# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from advisor.engine.rank_means import means_by_rank
from advisor.facts.derived import Overlap
from advisor.facts.table import Table

ROWS = st.lists(st.tuples(st.integers(0, 5), st.floats(0, 1e9) | st.just(float("nan"))), max_size=20)


@given(ROWS, st.lists(st.integers(0, 7), max_size=8))
def test_each_group_has_the_mean_of_its_rank_over_the_steps_of_which_it_is_known(
    rows: list[tuple[int, float]], asked: list[int]
) -> None:
    table = Table.build(Overlap, rank=[rank for rank, _ in rows], span_us=[us for _, us in rows])
    means = means_by_rank(table, "span_us")
    known = {rank: [us for one, us in rows if one == rank and not np.isnan(us)] for rank in range(8)}
    found = means.of_groups(np.array(asked, np.int64), means.means, -1.0)
    np.testing.assert_allclose(found, [np.mean(known[rank]) if known[rank] else -1.0 for rank in asked])
    assert dict(zip(means.ranks.tolist(), means.counts.tolist(), strict=True)) == {
        rank: len(us) for rank, us in known.items() if us
    }
