# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import statistics

from hypothesis import given
from hypothesis import strategies as st

from advisor.analysis.jitter.stalls import stalls
from advisor.facts.derived import Gap, StepSpan
from advisor.facts.observed import StepWindow
from advisor.facts.table import read_table
from tests.analysis.timelines import host_calls

SPANS = """step span_us typical_us
1 1000 1000
2 1400 1000
3 1000 1000"""
GAPS = """step start_ns duration_us cause host call
1 100000 20 host_late true -
2 1100000 400 host_late true -
2 1900000 5 python true -
3 2500000 30 python true log
3 2800000 90 wait false -"""


def found(gaps: str = GAPS, calls: str | None = None) -> list[dict[str, object]]:
    table = None if calls is None else host_calls(calls)
    return stalls(read_table(Gap, gaps), read_table(StepSpan, SPANS), table).rows()


def test_long_pauses_of_the_host_stand_beside_those_of_other_steps():
    rows = found()
    assert [(row["step"], row["duration_us"], row["usual_us"]) for row in rows] == [
        (2, 400, 20),
        (3, 30, 210),
        (1, 20, 215),
    ]
    assert (rows[0]["span_us"], rows[0]["typical_us"], rows[0]["busy_share"]) == (1400, 1000, None)


def test_a_pause_without_a_cause_is_compared_with_its_like_and_not_with_waits_for_data() -> None:
    loads = "".join(f"\n{step} {step}900000 260 data_loader true next" for step in (1, 2, 3))
    gaps = (
        "step start_ns duration_us cause host call\n1 1100000 40 host_late true -\n2 2100000 440 host_late true -"
        + loads
    )
    usual = {(row["step"], row["cause"]): row["usual_us"] for row in found(gaps)}
    assert usual[2, "host_late"] == 20
    assert usual[2, "data_loader"] == 260


def test_a_pause_charged_anew_after_its_wait_is_compared_with_those_charged_anew() -> None:
    gaps = "step start_ns duration_us cause host call" + "".join(
        f"\n{step} {step}100000 400 synchronise true aclrtSynchronizeStream" for step in (1, 2, 3)
    )
    calls = "thread kind name start_ns end_ns" + "".join(
        f"\n1 api aclrtSynchronizeStream {step}050000 {step}150000" for step in (1, 2, 3)
    )
    assert [(row["cause"], row["usual_us"]) for row in found(gaps, calls)] == [("host_late", 400)] * 3


def test_pauses_that_are_alike_are_added_up_and_slight_ones_beside_them_are_not() -> None:
    gaps = (
        "step start_ns duration_us cause host call\n1 1100000 20 host_late true -\n2 2100000 220 host_late true -\n"
        "2 2400000 150 host_late true -\n2 2800000 60 host_late true -\n3 3100000 20 host_late true -"
    )
    beyond = {row["start_ns"]: row["alike_us"] for row in found(gaps)}
    assert beyond == {1100000: None, 2100000: 350, 2400000: 350, 2800000: None, 3100000: None}


def test_a_pause_beside_the_usual_one_of_its_step_is_compared_with_what_comes_after_that() -> None:
    usual = "".join(
        f"\n{step} {step}500000 320 host_late true -\n{step} {step}100000 35 host_late true -" for step in (1, 2, 3)
    )
    gaps = "step start_ns duration_us cause host call\n2 2000000 535 host_late true -" + usual
    shown = {row["start_ns"]: row["usual_us"] for row in found(gaps)}
    assert (shown[2000000], shown[2500000], shown[1500000]) == (35, 320, 427.5)


@given(st.lists(st.lists(st.integers(0, 60), max_size=4), min_size=3, max_size=3))
def test_the_two_longest_pauses_of_a_step_are_together_beyond_the_usual_two_by_no_less_than_the_longest_is(
    pauses: list[list[int]],
) -> None:
    lines = [
        f"\n{step} {step}{place}00000 {us + 10} host_late true -"
        for step, own in enumerate(pauses, start=1)
        for place, us in enumerate(own)
    ]
    rows = found("step start_ns duration_us cause host call" + "".join(lines)) if lines else []
    tops = {step: [*sorted((us + 10 for us in own), reverse=True), 0, 0][:2] for step, own in enumerate(pauses, 1)}
    for step, (longest, second) in tops.items():
        others = [tops[other] for other in tops if other != step]
        first, then = (statistics.median(one[place] for one in others) for place in (0, 1))
        shown = [row["usual_us"] for row in rows if row["step"] == step]
        grown = max(second - then, 0)
        assert shown[:1] in ([], [max(first - grown, then)])
        assert all(usual == first for usual in shown[1:])
        assert not shown or longest == max(row["duration_us"] for row in rows if row["step"] == step)


def test_the_host_may_be_in_the_next_step_when_the_device_still_waits_in_one() -> None:
    marks = "step start_ns end_ns\n1 0 1000000\n2 1000000 1200000\n3 1200000 2000000"
    rows = stalls(read_table(Gap, GAPS), read_table(StepSpan, SPANS), None, read_table(StepWindow, marks)).rows()
    assert [(row["step"], row["host_step"]) for row in rows] == [(2, 3), (3, None), (1, 1)]
    assert {row["host_step"] for row in found()} == {None}


def test_how_much_of_a_pause_recorded_calls_fill():
    calls = "thread kind name start_ns end_ns\n1 api aclrtMalloc 1050000 1200000\n1 step ProfilerStep2 1000000 2400000"
    assert [row["busy_share"] for row in found(calls=calls)] == [0.25, 0, 0]


def test_a_pause_that_only_begins_in_a_wait_is_what_came_after():
    gaps = "step start_ns duration_us cause host call\n2 1100000 400 synchronise true aclrtSynchronizeStream"
    wait = "thread kind name start_ns end_ns\n1 api aclrtSynchronizeStream 900000 {end}"
    named = wait + "\n1 python save_checkpoint 1150000 1490000"
    assert [(row["cause"], row["call"]) for row in found(gaps, named.format(end=1150000))] == [
        ("python", "save_checkpoint")
    ]
    assert [(row["cause"], row["call"]) for row in found(gaps, wait.format(end=1150000))] == [("host_late", None)]
    assert [row["cause"] for row in found(gaps, named.format(end=1400000))] == ["synchronise"]
    copied = gaps.replace("synchronise", "blocking_copy").replace("aclrtSynchronizeStream", "aclrtMemcpy")
    copying = named.replace("aclrtSynchronizeStream", "aclrtMemcpy")
    assert [row["cause"] for row in found(copied, copying.format(end=1150000))] == ["python"]
    assert [row["cause"] for row in found(copied, copying.format(end=1400000))] == ["blocking_copy"]


def test_a_pause_that_begins_in_a_wait_for_the_device_is_told_from_one_that_comes_out_of_nothing():
    gaps = (
        "step start_ns duration_us cause host call\n2 1100000 400 synchronise true aclrtSynchronizeStream\n"
        "3 2100000 400 host_late true -"
    )
    wait = "thread kind name start_ns end_ns\n1 api aclrtSynchronizeStream 900000 1150000"
    assert [(row["cause"], row["after_wait"]) for row in found(gaps, wait)] == [
        ("host_late", True),
        ("host_late", False),
    ]


def test_the_first_call_of_all_may_be_what_came_after_a_wait():
    gaps = "step start_ns duration_us cause host call\n2 1100000 400 synchronise true aclrtSynchronizeStream"
    calls = (
        "thread kind name start_ns end_ns\n1 python save_checkpoint 1150000 1490000\n"
        "1 api aclrtSynchronizeStream 900000 1150000"
    )
    assert [(row["cause"], row["call"]) for row in found(gaps, calls)] == [("python", "save_checkpoint")]


def test_a_range_that_holds_other_calls_fills_no_pause():
    calls = (
        "thread kind name start_ns end_ns\n1 optimizer Optimizer.step 1050000 1600000\n"
        "1 operator aten::add 1060000 1080000\n1 operator aten::mul 1550000 1560000"
    )
    assert found(calls=calls)[0]["busy_share"] == 0
    alone = "\n".join(calls.split("\n")[:2])
    assert found(calls=alone)[0]["busy_share"] == 1
    elsewhere = alone + "\n2 operator aten::add 1060000 1080000"
    assert found(calls=elsewhere)[0]["busy_share"] == 1


def test_a_frame_of_a_call_stack_runs_its_own_lines():
    calls = (
        "thread kind name start_ns end_ns\n1 python train.py(3):step 1050000 1600000\n"
        "1 operator aten::add 1060000 1080000"
    )
    assert found(calls=calls)[0]["busy_share"] == 1


def test_a_pause_that_one_launch_from_the_queue_fills_is_that_launch_s_whatever_the_main_thread_waits_in():
    gaps = "step start_ns duration_us cause host call\n2 1100000 400 python true aten::item"
    calls = (
        "thread kind name start_ns end_ns\n1 operator aten::item 1090000 1600000\n1 enqueue Enqueue 1000000 1001000\n"
        "2 dequeue aclnnCast 1110000 {end}"
    )
    assert [(row["cause"], row["call"]) for row in found(gaps, calls.format(end=1490000))] == [("dequeue", "aclnnCast")]
    assert [(row["cause"], row["call"]) for row in found(gaps, calls.format(end=1200000))] == [("python", "aten::item")]
