# SPDX-License-Identifier: Apache-2.0
"""Diagnoses are marked fairly: against the truth of their capture, by thresholds that are written down."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import corpus
from advisor.model.findings import Confidence, Diagnosis, Evidence, Finding, Place, Saving, Severity
from advisor.model.run import Run
from benchmarks.accuracy import run
from benchmarks.accuracy.mark import HARMLESS_SHARE, WORTH, Cause, Claim, Mark, mark
from benchmarks.accuracy.page import TARGETS, measures, met, page
from benchmarks.accuracy.plan import ABOVE, AT, BELOW, SPLITS, Case, plan, setup_of, wanted
from benchmarks.accuracy.score import Score, by_fault, by_rule, healthy, ratio, strong, total
from corpus.answers import ANSWERS, ANSWERS_ON_THE_RANK, HARMLESS, TIMELESS
from corpus.cases import setup_of as healthy_setup
from corpus.events import Cause as Injected
from corpus.events import Job, Layout
from corpus.faults import FAULTS
from corpus.recordings import RECORDINGS
from corpus.workloads import WORKLOADS

KEY = {"data-loader": ("io/slow", "io/slower"), "slow-rank-compute": ("ranks/slow",), "damaged-trace": ("capture/cut",)}


def case(name: str = "data-loader", strength: float = AT) -> Case:
    return Case("scoring", name, "dense", strength, 7, "text", 1)


def cause(name: str = "data-loader", share: float = 0.1, **place: Any) -> Cause:
    return Cause(name, place, share * 1000, share)


def claim(
    rule: str = "io/slow", us: float = 100, ranks: tuple[int, ...] = (), stages: tuple[int, ...] = (), **subject: Any
) -> Claim:
    return Claim(rule, us, frozenset(ranks), frozenset(stages), subject)


def marked(causes: list[Cause], claims: list[Claim], key: Mapping[str, tuple[str, ...]] = KEY) -> Mark:
    return mark(case(), causes, claims, key)


def placed(name: str, place: dict[str, Any], one: Claim) -> bool | None:
    found = marked([cause(name, **place)], [one], {name: (one.rule,)}).found
    return found[0].placed


# -- right, wrong, missed


def test_a_claim_that_names_a_cause_is_right() -> None:
    done = marked([cause()], [claim()])
    assert not done.wrong
    assert [(found.rule, found.position) for found in done.found] == [("io/slow", 1)]


def test_a_claim_of_another_name_is_wrong_and_the_cause_is_missed() -> None:
    done = marked([cause()], [claim("ranks/slow")])
    assert done.wrong == ("ranks/slow",)
    assert [found.rule for found in done.found] == [""]


def test_naming_what_is_too_small_to_act_on_is_wrong() -> None:
    done = marked([cause(share=HARMLESS_SHARE * 0.99)], [claim()])
    assert done.wrong == ("io/slow",)
    assert not done.found
    assert done.leads is None


@pytest.mark.parametrize("claims", [[], [claim()]])
def test_between_the_thresholds_naming_and_silence_are_both_right(claims: list[Claim]) -> None:
    done = marked([cause(share=(HARMLESS_SHARE + WORTH) / 2)], claims)
    assert not done.wrong
    assert not done.found


@pytest.mark.parametrize(("share", "wrong"), [(HARMLESS_SHARE, ()), (HARMLESS_SHARE * 0.99, ("io/slow",))])
def test_a_habit_of_the_job_may_be_named_where_it_costs_as_much_and_need_not_be(
    share: float, wrong: tuple[str, ...]
) -> None:
    done = mark(case(), [], [claim()], KEY, [cause(share=share)])
    assert (done.wrong, done.found, done.causes, done.leads) == (wrong, (), (), None)
    assert not mark(case(), [], [], KEY, [cause(share=2 * WORTH)]).found


def test_the_truth_of_a_habit_is_the_time_of_the_same_job_without_it() -> None:
    setup = healthy_setup("host-bound-2-ranks")
    broken = corpus.job("host-bound-2-ranks", 3, setup=setup)
    (one,) = corpus.habits("host-bound-2-ranks", 3, setup=setup)
    other = replace(setup, workload=replace(setup.workload, bucket_bytes=25 * 2**20))  # type: ignore[call-arg]
    assert one.name == "exposed-communication"
    assert one.step_us_without == corpus.job("host-bound-2-ranks", 3, setup=other).step_us < 0.95 * broken.step_us
    assert not corpus.habits("healthy", 3, setup=WORKLOADS["dense"])


def test_waiting_for_counts_of_tokens_costs_a_healthy_job_nothing() -> None:
    setup = WORKLOADS["experts"]
    healthy_us = corpus.job("healthy", 3, setup=setup).step_us
    (one,) = corpus.habits("healthy", 3, setup=setup)
    assert (one.name, one.step_us_without > healthy_us * (1 - HARMLESS_SHARE)) == ("blocking-copies", True)


def test_a_cause_worth_acting_on_begins_at_its_threshold() -> None:
    assert cause(share=WORTH).wanted
    assert not cause(share=WORTH * 0.999).wanted
    assert cause(share=HARMLESS_SHARE).allowed


def test_a_trouble_that_experts_leave_alone_is_never_to_be_named() -> None:
    hidden = cause(next(iter(HARMLESS)), share=0.5)
    assert not hidden.wanted
    assert not hidden.allowed


def test_damage_is_wanted_although_it_costs_no_time_and_has_no_saving_to_mark() -> None:
    done = marked([cause("damaged-trace", share=0)], [claim("capture/cut")])
    assert [(found.rule, found.error) for found in done.found] == [("capture/cut", None)]


def test_two_claims_of_one_cause_are_both_right() -> None:
    done = marked([cause()], [claim("io/slower"), claim("io/slow")])
    assert not done.wrong
    assert done.found[0].rule == "io/slower"


@pytest.mark.parametrize(("ranks", "right"), [((1,), True), ((0,), False), ((0, 1), False), ((), False)])
def test_the_host_of_a_slow_rank_is_named_by_what_is_said_of_it_alone(ranks: tuple[int, ...], right: bool) -> None:
    (rule,) = ANSWERS_ON_THE_RANK["slow-rank-host"]
    done = mark(case("slow-rank-host"), [cause("slow-rank-host", rank=1)], [claim(rule, ranks=ranks)])
    assert (done.wrong, bool(done.found[0].rule), done.leads) == (() if right else (rule,), right, right)


# -- in front


def test_the_strongest_cause_has_to_lead() -> None:
    both = [cause(share=0.3), cause("slow-rank-compute", share=0.1)]
    assert marked(both, [claim(), claim("ranks/slow")]).leads is True
    assert marked(both, [claim("ranks/slow"), claim()]).leads is False


def test_a_wrong_claim_in_front_takes_the_lead_away_and_moves_the_cause_back() -> None:
    done = marked([cause()], [claim("else/where"), claim()])
    assert done.leads is False
    assert done.found[0].position == 2


def test_silence_leads_with_nothing() -> None:
    assert marked([cause()], []).leads is False


def test_damage_leads_before_any_time() -> None:
    both = [cause(share=0.4), cause("damaged-trace", share=0)]
    assert marked(both, [claim("capture/cut"), claim()]).leads is True


# -- where, and how much


@pytest.mark.parametrize(
    ("place", "one", "right"),
    [
        ({"rank": 3}, claim(ranks=(3,)), True),
        ({"rank": 3}, claim(ranks=(3, 4)), False),
        ({"rank": 3}, claim(), False),
        ({"stage": 1}, claim(stages=(0, 1)), True),
        ({"stage": 1}, claim(stages=(0,)), False),
        ({"op_type": "Cast"}, claim(op_type="Cast"), True),
        ({"op_type": "Cast"}, claim(op_type="TransData"), False),
        ({"link": [2, 5]}, claim(source=5, target=2), True),
        ({"link": [2, 5]}, claim(source=2, target=4), False),
        ({}, claim(ranks=(1,)), None),
    ],
)
def test_the_place_is_the_one_that_was_struck(place: dict[str, Any], one: Claim, right: bool | None) -> None:
    assert placed("data-loader", place, one) is right


def test_the_place_of_damage_is_not_asked_for() -> None:
    assert placed("damaged-trace", {"rank": 3}, claim()) is None


@given(truth=st.floats(0.06, 0.9), claimed=st.floats(0, 2))
@settings(max_examples=40)
def test_a_saving_is_off_by_its_distance_from_the_truth(truth: float, claimed: float) -> None:
    found = marked([cause(share=truth)], [claim(us=claimed * truth * 1000)]).found[0]
    assert found.error == pytest.approx(claimed - 1)


def test_the_larger_of_two_savings_of_one_cause_counts() -> None:
    assert marked([cause(share=0.1)], [claim(us=50), claim("io/slower", us=120)]).found[0].error == pytest.approx(0.2)


def test_savings_of_a_fault_that_is_several_things_add_up() -> None:
    parts = {"two-waits": ["io/slow", "io/slower"]}
    found = mark(case(), [cause("two-waits", share=0.1)], [claim(us=40), claim("io/slower", us=50)], parts).found[0]
    assert found.error == pytest.approx(-0.1)


def test_links_of_each_kind_win_their_part_of_what_all_slow_links_cost() -> None:
    """Where the links between nodes are slow as well as those within, a finding tells of each."""
    told = [claim("comm/slow-transfer", 60, link="HCCS"), claim("comm/slow-transfer", 40, link="RDMA")]
    (found,) = mark(case("low-bandwidth"), [cause("low-bandwidth", 0.1)], told).found
    assert found.error == pytest.approx(0)


def test_no_saving_is_asked_of_captures_that_do_not_say_how_long_a_step_took() -> None:
    totals = replace(case(), recording="totals only")
    (found,) = mark(totals, [cause(share=0.1)], [claim(us=0)], KEY).found
    assert (found.rule, found.error) == ("io/slow", None)


# -- which findings count


def finding(rule: str, severity: Severity = Severity.medium, causes: tuple[str, ...] = ()) -> Finding:
    return Finding(
        rule=rule, fingerprint=rule, severity=severity, confidence=Confidence.high, causes=causes,
        saving=Saving(us=5, share=0.1), subject={"op_type": "Cast"}, seen=(Place(rank=2, stage=1), Place()),
    )  # fmt: skip


def counted(*findings: Finding, injected: str = "cast-excess") -> list[Claim]:
    job = Job("any", 0, Layout(), [], {}, causes=(Injected(injected, 1.0, {}, 0.0),))
    return run.claims(Diagnosis(run=Run(), findings=findings), job)


def test_a_claim_carries_rule_saving_subject_and_places() -> None:
    assert counted(finding("a/b")) == [claim("a/b", 5, ranks=(2,), stages=(1,), op_type="Cast")]


def test_symptoms_do_not_count() -> None:
    assert [one.rule for one in counted(finding("a/cause"), finding("a/symptom", causes=("a/cause",)))] == ["a/cause"]


def test_findings_below_medium_do_not_count() -> None:
    assert not counted(finding("a/b", Severity.low), finding("a/c", Severity.info))


def test_what_is_said_of_the_capture_counts_where_the_capture_is_broken() -> None:
    cut = finding("capture/damaged-input", Severity.low)
    assert not counted(cut)
    assert counted(cut, injected="damaged-trace")
    assert not counted(finding("capture/no-stacks", Severity.info), injected="damaged-trace")


def test_the_ends_of_a_link_are_taken_from_the_evidence() -> None:
    ends = (Evidence(name="source", value=2), Evidence(name="target", value=5), Evidence(name="share", value=0.1))
    (one,) = counted(finding("ranks/link").model_copy(update={"subject": {}, "evidence": ends}))
    assert one.subject == {"source": 2, "target": 5}


# -- sums

NAMES = st.sampled_from(sorted(KEY))
RULES = st.sampled_from(["io/slow", "io/slower", "ranks/slow", "capture/cut", "else/where"])
CAUSES = st.lists(st.builds(cause, NAMES, st.floats(0.001, 0.5)), max_size=3, unique_by=lambda one: one.name)
CLAIMS = st.lists(st.builds(claim, RULES, st.floats(0, 1000)), max_size=4)
MARKS = st.builds(marked, CAUSES, CLAIMS)


@given(MARKS)
@settings(max_examples=60)
def test_every_claim_is_right_or_wrong_and_every_wanted_cause_found_or_missed(one: Mark) -> None:
    score = total([one])
    named = {rule for each in one.causes if each.allowed for rule in KEY[each.name]}
    assert score.claims - score.wrong == sum(each.rule in named for each in one.claims)
    assert score.wanted == sum(each.wanted for each in one.causes)
    assert (score.lead_cases, score.quiet_cases) == ((1, 0) if score.wanted else (0, 1))


@given(CAUSES, CLAIMS, st.randoms())
@settings(max_examples=40)
def test_the_order_of_claims_changes_the_lead_alone(causes: list[Cause], claims: list[Claim], random: Any) -> None:
    shuffled = random.sample(claims, len(claims))
    first, second = total([marked(causes, claims)]), total([marked(causes, shuffled)])
    assert (first.precision, first.recall) == (second.precision, second.recall)


@given(st.lists(MARKS, max_size=6), st.lists(MARKS, max_size=6))
@settings(max_examples=40)
def test_scores_add_up(some: list[Mark], others: list[Mark]) -> None:
    one, two, both = total(some), total(others), total(some + others)
    for name in ("cases", "wanted", "found", "claims", "wrong", "leads", "quiet_cases", "kept_quiet", "savings"):
        assert getattr(both, name) == getattr(one, name) + getattr(two, name)


@given(st.lists(MARKS, max_size=8))
@settings(max_examples=40)
def test_shares_are_of_what_there_was(marks: list[Mark]) -> None:
    score = total(marks)
    assert score.precision == ratio(score.claims - score.wrong, score.claims)
    assert score.recall == ratio(score.found, score.wanted)
    assert all(value is None or 0 <= value <= 1 for value in measures(marks))
    assert sum(rule.wrong for rule in by_rule(marks).values()) == score.wrong
    assert sum(rule.found for rule in by_rule(marks).values()) == score.found


@given(CAUSES, CLAIMS)
@settings(max_examples=40)
def test_a_right_claim_more_never_lowers_recall_and_a_wrong_one_always_lowers_precision(
    causes: list[Cause], claims: list[Claim]
) -> None:
    before = total([marked(causes, claims)])
    worse = total([marked(causes, [*claims, claim("else/where")])])
    assert worse.recall == before.recall
    assert (worse.claims, worse.wrong) == (before.claims + 1, before.wrong + 1)
    better = total([marked(causes, [*claims, *(claim(KEY[one.name][0]) for one in causes)])])
    assert better.found == better.wanted


def test_nothing_has_no_precision_and_no_recall() -> None:
    assert (Score().precision, Score().recall, ratio(0, 0)) == (None, None, None)


def test_a_mixture_counts_for_each_of_its_faults() -> None:
    scores = by_fault([marked([cause(), cause("slow-rank-compute")], [claim()])])
    assert {name: score.cases for name, score in scores.items()} == {"data-loader": 1, "slow-rank-compute": 1}


def test_strong_cases_hold_one_fault_at_full_strength() -> None:
    one, two = [cause()], [cause(), cause("slow-rank-compute")]
    marks = [mark(case(strength=strength), causes, [], KEY) for strength in (BELOW, AT, ABOVE) for causes in (one, two)]
    assert strong(marks).cases == 1


def test_healthy_cases_are_those_without_any_fault() -> None:
    score = healthy([marked([], []), marked([], [claim()]), marked([cause()], [])])
    assert (score.cases, score.kept_quiet) == (2, 1)


# -- the page

PERFECT = [
    marked([cause()], [claim()]),
    mark(case("healthy"), [], [], KEY),
    mark(case(strength=ABOVE), [cause(share=0.2)], [claim(us=200)], KEY),
]


def test_the_page_says_how_each_way_of_recording_did() -> None:
    totals = replace(case(), recording="totals only")
    told = page([*PERFECT, mark(totals, [cause()], [], KEY)], [], {}, (0, 0))
    assert "| usual | 3 | 2 | 1 | 1 | 1 | 1 |" in told
    assert "| totals only | 1 | 1 | 0 | – | – | – |" in told


def test_a_perfect_diagnosis_meets_every_target() -> None:
    assert met(PERFECT)
    assert measures(PERFECT) == [1.0] * len(TARGETS)


@pytest.mark.parametrize(
    "worse",
    [
        marked([cause()], []),
        marked([cause()], [claim("else/where"), claim()]),
        marked([cause()], [claim(us=200)]),
        marked([], [claim()]),
    ],
)
def test_any_one_failing_of_few_misses_a_target(worse: Mark) -> None:
    assert not met([*PERFECT, worse])


def test_nothing_at_all_meets_no_target() -> None:
    assert not met([])


@pytest.mark.parametrize("theirs", [[], PERFECT])
def test_the_page_is_made_of_whole_tables(theirs: list[Mark]) -> None:
    text = page(PERFECT, theirs, {"data-loader": ("Slow Dataloader Issues",), "few-micro-batches": ()}, (4.0, 12.0))
    assert ("How msprof-analyze is marked" in text) is bool(theirs)
    assert ("Slow Dataloader Issues" in text) is bool(theirs)
    tables = [block for block in text.split("\n\n") if block.lstrip().startswith("|")]
    assert len(tables) >= 4
    for table in tables:
        assert len({line.count("|") for line in table.strip().splitlines() if line.startswith("|")}) == 1, table


def test_the_page_names_every_figure_and_every_answer() -> None:
    text = page(PERFECT, [], {}, (4.0, 12.0))
    assert all(name in text for name, _ in TARGETS)
    assert all(f"`{rule}`" in text for rules in ANSWERS.values() for rule in rules)


# -- the plan


@pytest.mark.parametrize("split", SPLITS)
def test_a_split_has_three_hundred_cases_and_a_third_of_them_nothing_to_find(split: str) -> None:
    cases = list(plan(split))
    assert len(cases) >= 300
    assert sum(not wanted(one) for one in cases) * 3 >= len(cases)
    assert len({one.name for one in cases}) == len(cases)


def test_the_splits_share_no_seed() -> None:
    calibration, scoring = ({one.seed for one in plan(split)} for split in SPLITS)
    assert not calibration & scoring


@pytest.mark.parametrize("name", WORKLOADS)
def test_the_splits_share_no_workload(name: str) -> None:
    base = WORKLOADS[name]
    calibration, scoring = (setup_of(replace(case("healthy"), split=split, workload=name), base) for split in SPLITS)
    assert calibration.workload != scoring.workload
    assert calibration.machine != scoring.machine


def test_every_way_of_recording_is_in_the_plan_healthy_and_at_each_strength() -> None:
    cases = list(plan("scoring"))
    for name, recording in RECORDINGS.items():
        recorded = [one for one in cases if one.recording == name]
        assert {one.export for one in recorded} == set(recording.exports)
        assert {one.case for one in recorded} == {"healthy", *recording.faults}
        assert {one.strength for one in recorded if one.case != "healthy"} == {BELOW, AT, ABOVE}


def test_every_fault_and_every_healthy_workload_is_in_the_plan() -> None:
    cases = list(plan("scoring"))
    assert {one.case for one in cases} >= set(FAULTS)
    assert {one.workload for one in cases if one.case == "healthy"} == set(WORKLOADS)


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_has_an_answer_or_is_harmless(fault: str) -> None:
    assert bool(ANSWERS.get(fault)) is not (fault in HARMLESS)


def test_faults_without_time_are_marked_by_their_answer() -> None:
    assert set(ANSWERS) >= TIMELESS


def test_the_injected_truth_is_the_time_that_fixing_wins() -> None:
    job = corpus.job("data-loader", 3, workload="single", strength=ABOVE)
    (one,) = run.causes(job)
    assert one.us == pytest.approx(job.step_us - job.causes[0].step_us_without)
    assert one.share == pytest.approx(one.us / job.step_us)
