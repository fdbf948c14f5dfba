# SPDX-License-Identifier: Apache-2.0
"""Stages of a pipeline end their last micro-batch one after the other and wait for each other where all meet."""

from __future__ import annotations

from typing import Any

import pytest

from advisor.analysis.ranks.drains import drains, exposed_after_pairs
from advisor.analysis.ranks.links import link_uses
from advisor.analysis.ranks.meetings import meetings
from advisor.analysis.ranks.pipeline import stage_times
from advisor.facts.derived import CollectiveCall, Overlap, StageTime
from advisor.facts.observed import Group, Link
from advisor.facts.table import Table, read_table
from advisor.messages.errors import FactMissing
from advisor.model.run import Parallel, Run

STAGES = Run(parallel=Parallel(stages=((0, 1), (2, 3)), pp=2))
SPLIT = """
rank step stage span_us compute_us bubble_us
0    1    0     1000    700        200
1    1    0     1000    700        200
2    1    1     1000    800        60
3    1    1     1000    800        60
"""
CALLS = """
rank step name op        group group_kind p2p   start_ns elapse_us exposed_us
0    1    p    receive   pp02  pp         true  800000   10        0
2    1    p    send      pp02  pp         true  800000   10        0
1    1    p    receive   pp13  pp         true  800000   10        0
3    1    p    send      pp13  pp         true  800000   10        0
0    1    g    reduce    dp01  dp         false 900000   20        20
1    1    g    reduce    dp01  dp         false 900000   20        20
2    1    g    reduce    dp23  dp         false 810000   20        20
3    1    g    reduce    dp23  dp         false 810000   20        20
0    1    n    allReduce mp02  mp         false 920000   5         5
2    1    n    allReduce mp02  mp         false 830000   95        95
1    1    n    allReduce mp13  mp         false 920000   5         5
3    1    n    allReduce mp13  mp         false 830000   95        95
"""


def table(text: str, fact: type = CollectiveCall) -> Table[Any]:
    return read_table(fact, text)


def waits(calls: str, split: str = SPLIT) -> list[tuple[float, float, float]]:
    found = drains(table(split, Overlap), table(calls))
    return [
        (waited, drained, filled)
        for waited, drained, filled in zip(
            found.waited_us.tolist(), found.drained_us.tolist(), found.filled_us.tolist(), strict=True
        )
    ]


def test_a_stage_that_ended_waits_for_the_other_where_both_meet_first():
    assert waits(CALLS) == [(0, 0, 0), (0, 0, 0), (90, 90, 0), (90, 90, 0)]


def test_the_wait_of_a_stage_that_ended_is_waiting_in_the_pipeline():
    rows = stage_times(STAGES, table(SPLIT, Overlap), table(CALLS)).rows()
    assert [row["drained_us"] for row in rows] == [0, 90]
    assert {row["average_waiting_us"] for row in rows} == {(200 + 60 + 90) / 2}
    assert {row["average_unseen_us"] for row in rows} == {45}
    assert {row["most_compute_us"] for row in rows} == {800}
    # the reduction of gradients and what is no waiting in the collective behind it are no work of micro-batches
    assert {row["average_working_us"] for row in rows} == {(800 - 25 + 850 - 25) / 2}
    assert {row["others_working_us"] for row in rows} == {800 - 25}


def test_what_comes_in_a_step_before_the_last_send_as_well_is_work_of_micro_batches():
    early = (
        CALLS
        + """
0    1    t    reduce    dp01  dp         false 500000   30         30
1    1    t    reduce    dp01  dp         false 500000   30         30
"""
    )
    found = exposed_after_pairs(table(SPLIT, Overlap), table(early))
    assert found.tolist() == [5, 5, 115, 115]
    assert exposed_after_pairs(table(SPLIT, Overlap), table(CALLS)).tolist() == [25, 25, 115, 115]


@pytest.mark.parametrize("calls", [None, "rank step p2p start_ns elapse_us exposed_us\n0 1 false 0 10 10"])
def test_without_sends_or_receives_no_collective_comes_after_them(calls):
    found = exposed_after_pairs(table(SPLIT, Overlap), None if calls is None else table(calls))
    assert found.tolist() == [0, 0, 0, 0]


def test_a_meeting_before_the_last_send_is_no_draining():
    early = CALLS.replace("false 920000", "false 600000").replace("false 830000", "false 510000")
    assert [drained for _, drained, _ in waits(early)] == [0, 0, 0, 0]
    assert [waited for waited, *_ in waits(early)] == [0, 0, 90, 90]


def test_only_the_first_meeting_of_stages_drains():
    more = (
        CALLS
        + """
0    1    m    allReduce mp02  mp         false 930000   10         10
2    1    m    allReduce mp02  mp         false 935000   5         5
"""
    )
    assert waits(more)[0] == (5, 0, 0)


def test_what_kernels_run_beside_is_no_wait():
    hidden = CALLS.replace("830000   95        95", "830000   95        30")
    assert [drained for _, drained, _ in waits(hidden)] == [0, 0, 30, 30]


def test_a_wait_for_a_rank_of_the_same_stage_is_none_for_another_stage():
    together = (
        CALLS.replace("mp02", "all").replace("mp13", "all").replace("830000   95        95", "920000   5         5")
    )
    late = together.replace(
        "1    1    n    allReduce all   mp         false 920000   5 ",
        "1    1    n    allReduce all   mp         false 890000   35 ",
    )
    assert [drained for _, drained, _ in waits(late)] == [0, 0, 0, 0]


def test_gradients_that_take_longer_on_the_other_stage_are_no_draining():
    """The first stage reduces for 60 more: so much of the wait of the second is for that."""
    slow = (
        CALLS.replace("false 900000   20        20", "false 900000   80        80")
        .replace("false 920000   5         5", "false 980000   5         5")
        .replace("830000   95        95", "830000   155       155")
    )
    assert waits(slow)[2:] == [(150, 90, 0), (150, 90, 0)]


def test_gradients_that_take_longer_on_the_stage_that_ended_fill_its_draining():
    """The second stage reduces for 60 more in the 90 that it would wait; then for 120 more, and the first waits."""
    slow = CALLS.replace("810000   20        20", "810000   80        80").replace(
        "830000   95        95", "890000   35        35"
    )
    assert waits(slow)[2:] == [(30, 30, 60), (30, 30, 60)]
    slower = (
        CALLS.replace("810000   20        20", "810000   140       140")
        .replace("830000   95        95", "950000   5         5")
        .replace("920000   5         5", "920000   35        35")
    )
    assert waits(slower) == [(30, 0, 0), (30, 0, 0), (0, 0, 90), (0, 0, 90)]


def test_without_stages_or_calls_nothing_drains():
    split = table(SPLIT, Overlap)
    unstaged = table(
        SPLIT.replace("    0     1000", "    -     1000").replace("    1     1000", "    -     1000"), Overlap
    )
    for found in (
        drains(split, None),
        drains(split, Table.empty(CollectiveCall)),
        drains(unstaged, table(CALLS)),
        drains(Table.empty(Overlap), table(CALLS)),
    ):
        assert not found.drained_us.any()
        assert not found.waited_us.any()


def test_a_meeting_says_how_much_of_its_wait_is_draining():
    rows = {row["group"]: row for row in meetings(table(CALLS), table(SPLIT, Overlap)).rows()}
    assert (rows["mp02"]["waited_us"], rows["mp02"]["drained_us"]) == (45, 45)
    assert {row["drained_us"] for row in meetings(table(CALLS)).rows()} == {None}


def test_a_link_tells_what_its_gradients_fill_of_the_draining():
    slow = CALLS.replace("810000   20        20", "810000   80        80").replace(
        "830000   95        95", "890000   35        35"
    )
    links = table(
        """
        rank step op     group source target link size_bytes transit_us
        0    1    reduce dp01  0      1      HCCS 2000000    10
        2    1    reduce dp23  2      3      HCCS 2000000    70
        2    1    other  tp23  3      2      HCCS 2000000    70
        2    1    send   pp02  2      0      HCCS 2000000    70
        """,
        Link,
    )
    split, calls = table(SPLIT, Overlap), table(slow)
    found = link_uses(
        links, split, calls, table("step stage span_us own_pace_us\n1 0 100 91\n1 1 100 93", StageTime)
    ).rows()
    told = {(row["source"], row["target"]): (row["filled_us"], row["stage_worth_us"]) for row in found}
    assert told == {(0, 1): (0, 7), (2, 3): (60, 9), (3, 2): (0, 9), (2, 0): (0, None)}
    (plain, *_) = link_uses(links, None).rows()
    assert (plain["filled_us"], plain["stage_worth_us"]) == (None, None)


GROUPS = "group group_kind rank position\nw world 0 0\nw world 1 1"
TOGETHER = "rank step op p2p\n0 1 allReduce false\n1 1 allReduce false"
UNSTAGED = "rank step stage span_us\n0 1 - 9\n1 1 - 9"


def test_a_job_whose_groups_are_known_and_none_of_a_pipeline_has_no_stages():
    assert not len(stage_times(Run(), table(UNSTAGED, Overlap), table(TOGETHER), table(GROUPS, Group)))


@pytest.mark.parametrize(
    ("calls", "groups", "run"),
    [
        (TOGETHER, None, Run()),
        (None, GROUPS, Run()),
        (TOGETHER.replace("1 1 allReduce false", "1 1 send true"), GROUPS, Run()),
        (TOGETHER, GROUPS.replace("w world", "p pp"), Run()),
        (TOGETHER, GROUPS, Run(parallel=Parallel(pp=2))),
    ],
)
def test_stages_that_may_be_there_are_asked_for(calls, groups, run):
    with pytest.raises(FactMissing) as missing:
        stage_times(
            run,
            table(UNSTAGED, Overlap),
            None if calls is None else table(calls),
            None if groups is None else table(groups, Group),
        )
    assert missing.value.tables == ("groups",)


def test_a_stage_waits_where_all_meet_for_one_that_was_not_captured():
    members = table("group rank\nmp02 0\nmp02 2\nmp13 1\nmp13 3\ndp23 2\ndp23 3", Group)
    split = "\n".join(line for line in SPLIT.splitlines() if line[:1] not in ("0", "1"))
    kept = [line for line in CALLS.strip().splitlines() if line[:1] not in ("0", "1")]
    waiting = ["    ".join([line, "unwaited_us" if line.startswith("rank") else "15"]) for line in kept]
    waiting[-1] = waiting[-1].replace("95        95", "65        65")
    (alone,) = stage_times(STAGES, table(split, Overlap), table("\n".join(waiting)), members).rows()
    assert alone["absent_us"] == 65 - 15, "the rank that waits shortest waits for none of its own stage"
    (unknown,) = stage_times(STAGES, table(split, Overlap), table("\n".join(kept)), members).rows()
    assert unknown["absent_us"] == 0, "nothing tells what of it is a wait"
    both = stage_times(STAGES, table(SPLIT, Overlap), table(CALLS), members).rows()
    assert [row["absent_us"] for row in both] == [0, 0]
