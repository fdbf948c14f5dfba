# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from advisor.engine.doubt import with_doubts, with_inflated_measures, with_inflated_savings
from advisor.model.findings import Confidence, Finding, Measure, Outcome, Place, Saving, Severity


class Rule(NamedTuple):
    id: str
    doubts: tuple[str, ...] = ()
    coverage: Mapping[str, float] = {}
    inflates: str = ""
    saving: Estimate | None = None


class Estimate(NamedTuple):
    host_time: bool


RULES = (
    Rule("capture/contradicted", ("*",)),
    Rule("capture/inflated", ("host/*",)),
    Rule("capture/other"),
    Rule("host/a"),
    Rule("ranks/c", coverage={"device_tasks": 0, "launches": 0.9}),
)


def finding(rule: str, *ranks: int | None, confidence: Confidence = Confidence.high) -> Finding:
    return Finding(
        rule=rule,
        fingerprint=f"{rule}{ranks}",
        subject={},
        severity=Severity.low,
        confidence=confidence,
        seen=tuple(Place(rank=rank) for rank in ranks),
    )


def winning(rule: str, *ranks: int) -> Finding:
    return finding(rule, *ranks).model_copy(update={"saving": Saving(us=5.0)})


def test_findings_of_a_rank_whose_times_are_in_doubt_are_one_level_less_certain():
    found = with_doubts([finding("capture/contradicted", 1), finding("host/a", 0, 1), finding("host/a", 0)], RULES)
    assert [one.confidence for one in found] == [Confidence.high, Confidence.medium, Confidence.high]


def test_nothing_is_less_certain_than_low_and_what_has_no_rank_is_concerned():
    found = with_doubts([finding("capture/contradicted", 1), finding("host/a", 1, confidence=Confidence.low),
                     finding("host/a", None)], RULES)  # fmt: skip
    assert [one.confidence for one in found[1:]] == [Confidence.low, Confidence.medium]


def test_a_doubt_of_host_times_concerns_what_rests_on_them_and_is_named_there():
    found = with_doubts([finding("capture/inflated", 0), finding("host/a", 0), finding("compute/b", 0)], RULES)
    assert [one.confidence for one in found] == [Confidence.high, Confidence.medium, Confidence.high]
    assert [one.doubted_by for one in found] == [(), (found[0].fingerprint,), ()]


SLOWED = (
    Rule("capture/stacks", ("host/*",), inflates="host_time"),
    Rule("capture/contradicted", ("*",)),
    Rule("host/a", saving=Estimate(host_time=True)),
    Rule("memory/b", saving=Estimate(host_time=True)),
    Rule("io/c", saving=Estimate(host_time=False)),
    Rule("host/d"),
)


def bounded(*found: Finding) -> list[str]:
    """The findings whose savings are upper bounds for what is found of the capture, by rule."""
    return [one.rule for one in with_inflated_savings(found, SLOWED) if one.at_most]


def test_host_time_that_a_finding_wins_is_an_upper_bound_where_recording_slowed_the_host():
    won = [winning(rule, 0) for rule in ("host/a", "memory/b", "io/c", "host/d")]
    assert bounded(finding("capture/stacks", 0), *won) == ["host/a", "memory/b"]
    assert bounded(finding("capture/contradicted", 0), *won) == []


def test_host_time_of_other_ranks_stays_an_estimate_and_that_of_one_slowed_rank_is_enough():
    assert bounded(finding("capture/stacks", 1), winning("host/a", 0)) == []
    assert bounded(finding("capture/stacks", 1), winning("host/a", 0, 1)) == ["host/a"]
    assert bounded(finding("capture/stacks", None), winning("host/a", 0)) == ["host/a"]


def test_what_wins_nothing_is_bounded_by_nothing():
    assert bounded(finding("capture/stacks", 0), finding("host/a", 0)) == []


def test_what_a_quiet_rule_measured_of_host_time_is_an_upper_bound_too():
    quiet = [
        Outcome(rule=rule, outcome="quiet", measures=(Measure(fingerprint=rule, saving=Saving(us=us)),))
        for rule, us in (("host/a", 5.0), ("memory/b", 0.0), ("io/c", 5.0))
    ]

    def told(*found: Finding) -> list[str]:
        return [one.rule for one in with_inflated_measures(quiet, found, SLOWED) if one.measures[0].at_most]

    assert told(finding("capture/stacks", 1)) == ["host/a"]
    assert told(finding("capture/contradicted", 1)) == []


def test_two_doubts_take_one_level():
    found = with_doubts(
        [finding("capture/inflated", 0), finding("capture/contradicted", 0), finding("host/a", 0)], RULES
    )
    assert (found[2].confidence, len(found[2].doubted_by)) == (Confidence.medium, 2)


def test_other_remarks_on_the_capture_stay_certain_and_take_nothing():
    found = with_doubts([finding("capture/contradicted", 1), finding("capture/other", 1)], RULES)
    assert found[1].confidence == Confidence.high
    assert with_doubts([finding("capture/other", 1), finding("host/a", 1)], RULES)[1].confidence == Confidence.high


def test_lost_rows_of_a_table_that_a_rule_rests_on_nothing_of_take_nothing():
    lost = [
        finding("capture/contradicted", 0).model_copy(update={"subject": {"of": of}})
        for of in ("device_tasks", "launches")
    ]
    for one, wanted in zip(lost, (Confidence.high, Confidence.medium), strict=True):
        assert with_doubts([one, finding("ranks/c", 0)], RULES)[1].confidence == wanted
        assert with_doubts([one, finding("host/a", 0)], RULES)[1].confidence == Confidence.medium


def test_sums_of_the_profiler_put_nothing_in_doubt_that_rests_on_whole_kernels():
    sums, kernels = (
        finding("capture/contradicted", 0).model_copy(update={"subject": {"of": of}})
        for of in ("step_times", "kernels")
    )
    needed = {"host/a": ("kernels", "host_calls"), "ranks/c": ("kernels", "step_times")}
    events, both = finding("host/a", 0), finding("ranks/c", 0)
    assert [one.confidence for one in with_doubts([sums, events, both], RULES, needed)[1:]] == [
        Confidence.high,
        Confidence.medium,
    ]
    assert with_doubts([sums, kernels, events], RULES, needed)[2].doubted_by == (sums.fingerprint, kernels.fingerprint)
    assert with_doubts([sums, events], RULES)[1].confidence == Confidence.medium


def test_sums_of_the_profiler_put_nothing_in_doubt_on_a_rank_whose_kernels_tell_how_long_its_steps_were():
    sums, kernels = (
        finding("capture/contradicted", 0).model_copy(update={"subject": {"of": of}})
        for of in ("step_times", "kernels")
    )
    needed = {"host/a": ("collectives",), "ranks/c": ("step_times",)}
    found = [finding("host/a", 0), finding("ranks/c", 0)]

    def certain(*doubts: Finding, timed: tuple[int, ...]) -> list[Confidence]:
        told = with_doubts([*doubts, *found], RULES, needed, timed)
        return [one.confidence for one in told if not one.rule.startswith("capture/")]

    assert certain(sums, timed=(0, 1)) == [Confidence.high, Confidence.medium]
    assert certain(sums, timed=(1,)) == [Confidence.medium, Confidence.medium]
    assert certain(sums, kernels, timed=(0,)) == [Confidence.medium, Confidence.medium]
