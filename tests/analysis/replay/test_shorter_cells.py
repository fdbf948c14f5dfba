# SPDX-License-Identifier: Apache-2.0
"""What a replay makes of the cells of ranks is what each rank says by itself, counted by plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.replay.shorter_cells import RankEdges, shorter_cells, until_last_task

GAIN = st.integers(-5, 40)
RANKS = st.lists(
    st.tuples(
        st.lists(st.tuples(GAIN, st.integers(0, 9)), min_size=1, max_size=7),  # tasks: gain and spared
        st.lists(st.integers(-1, 6), max_size=5),  # cells: last task
        st.integers(0, 30),  # how long the first cell lasts before the first task
    ),
    min_size=1,
    max_size=4,
)


def _loops(gains: list[int], spared: list[int], last: list[int], lead: int) -> tuple[list[int], int]:
    """Of one rank: by how much each cell is shorter, and how much of that lies before its first task."""
    until = [gains[task] if task >= 0 else 0 for task in last]
    shorter = [here - before for here, before in zip(until, [0, *until], strict=False)]
    ahead = gains[0] - spared[0]
    if len(shorter) < 2:
        return [one - max(ahead - lead, 0) for one in shorter], 0
    counted = min(ahead, max(*shorter[1:], shorter[0] - ahead, 0))
    return [shorter[0] - ahead + counted, *shorter[1:]], counted


@given(RANKS)
def test_cells_of_ranks_that_follow_each_other_are_shorter_by_what_each_rank_says_alone(ranks):
    gains, spared, last, wanted, ahead = [], [], [], [], []
    tasks, cells = [0], [0]
    for of_tasks, ends, lead in ranks:
        own = [min(end, len(of_tasks) - 1) for end in sorted(ends)]
        one, before = _loops([gain for gain, _ in of_tasks], [less for _, less in of_tasks], own, lead)
        wanted += one
        ahead.append(before)
        last += [end + tasks[-1] if end >= 0 else -1 for end in own]
        gains += [gain for gain, _ in of_tasks]
        spared += [less for _, less in of_tasks]
        tasks.append(len(gains))
        cells.append(len(last))
    edges = RankEdges(np.array(tasks), np.array(cells), np.array([lead for *_, lead in ranks]))
    found = shorter_cells(np.array(gains), np.array(last, np.int64), edges, np.array(spared))
    assert found.by.tolist() == wanted
    assert found.ahead.tolist() == ahead


@given(st.lists(st.lists(GAIN, min_size=1, max_size=5), min_size=1, max_size=4))
def test_the_end_of_each_rank_gains_what_its_last_task_gains(ranks):
    ends, none = np.cumsum([len(one) for one in ranks]), np.zeros(len(ranks) + 1, np.int64)
    edges = RankEdges(np.append(0, ends), none, none[1:])
    found = until_last_task(np.concatenate([np.array(one) for one in ranks]), edges)
    assert found.tolist() == [gain for one in ranks for gain in (*one[:-1], one[-2] if len(one) > 1 else 0)]


def test_what_the_host_does_before_the_first_task_counts_as_the_longest_pause_of_other_steps_does():
    gain, last = np.array([50, 60, 63, 64]), np.array([1, 2, 3])
    found = shorter_cells(gain, last, RankEdges.of_one(4, 3, 0))
    assert found.by.tolist() == [20, 3, 1]  # 10 in the step itself, and as much before it
    assert found.ahead.tolist() == [10]


@pytest.mark.parametrize(("lead", "by", "uncounted"), [(0, 10, 50), (20, 30, 30), (90, 60, 0)])
def test_of_a_single_step_what_comes_before_its_first_task_counts_as_far_as_its_time_reaches(lead, by, uncounted):
    found = shorter_cells(np.array([50, 60]), np.array([1]), RankEdges.of_one(2, 1, lead))
    assert (found.by.tolist(), found.ahead.tolist(), found.uncounted.tolist()) == ([by], [0], [uncounted])
