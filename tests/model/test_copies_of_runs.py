# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from advisor.model.run import Parallel, Run


def test_a_copy_with_other_ranks_or_stages_knows_its_own():
    run = Run(ranks=(0, 1), parallel=Parallel(stages=((0,), (1,))))
    assert run.parallel.stage_of(1) == 1 and run.captured == {0, 1}
    other = run.model_copy(update={"ranks": (5,), "parallel": run.parallel.model_copy(update={"stages": ((5,),)})})
    assert (other.captured, other.parallel.stage_of(5), other.parallel.stage_of(1)) == ({5}, 0, None)
    assert (run.captured, run.parallel.stage_of(1)) == ({0, 1}, 1)
    assert run.model_copy() == run


def test_of_stages_that_share_a_rank_the_first_counts():
    assert [Parallel(stages=((0, 1), (1, 2))).stage_of(rank) for rank in range(4)] == [0, 0, 1, None]
