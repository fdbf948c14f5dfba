# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.steps.repeated_recordings import repeated_recordings
from advisor.facts.derived import RecordedSpan
from advisor.facts.table import Table

FEW = st.integers(1, 3)


@given(st.lists(st.tuples(FEW, FEW, st.none() | FEW), max_size=12))
def test_a_rank_repeats_the_first_one_whose_three_times_it_has(times):
    columns = dict(zip(("start_ns", "end_ns", "worked_ns"), map(list, zip(*times, strict=True)), strict=False))
    spans = Table.build(RecordedSpan, rank=[3 + 2 * place for place in range(len(times))], **columns)
    found = {row["rank"]: row["same_as"] for row in repeated_recordings(spans).rows()}
    first = [times.index(one) for one in times]
    assert found == {3 + 2 * place: 3 + 2 * one for place, one in enumerate(first) if one != place}
