# SPDX-License-Identifier: Apache-2.0
"""What a policy, a baseline, budgets and suppressions make of a diagnosis."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from gate_samples import (
    RULES,
    actions,
    bars,
    cases,
    comparison,
    diagnoses,
    diagnosis,
    everything,
    finding,
    info,
    milder,
    policies,
    severities,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.comparison import compare
from advisor.messages.errors import UsageError
from advisor.model.comparison import Comparison, Status
from advisor.model.findings import Diagnosis, Severity, TimeSplit, fingerprint
from advisor.model.run import Capture, Run
from advisor.model.unread import Unread
from advisor.model.verdict import Action, Budget, Suppression, Verdict
from advisor.policy.gate import ALONE, CHANGED, judge_by_policy
from advisor.policy.policy import ACTIONS, FailCondition, Policy

TODAY = date(2026, 11, 20)
NONE: tuple[FailCondition, ...] = ()
FREE = finding("host/free-time", Severity.high, 200)
LATE = finding("host/late-launches", Severity.medium, 100)
CAST = finding("compute/cast-excess", Severity.low, 50, "Cast")


def verdict(
    found: Diagnosis,
    policy: Policy | None = None,
    *,
    against: Comparison | None = None,
    fail_on: tuple[FailCondition, ...] = NONE,
    today: date = TODAY,
) -> Verdict:
    return judge_by_policy(found, against, policy or Policy(), fail_on, today)


def failing(said: Verdict) -> set[str]:
    return {one.rule for one in said.rulings if one.action == "error" and one.suppressed is None}


def budget(name: str, limit: float, unit: str = "share", action: Action = "error") -> Budget:
    return Budget.model_validate({"name": name, "limit": limit, "unit": unit, "action": action})


# laws


@given(cases(), policies, bars, st.data())
@settings(max_examples=60)
def test_a_more_permissive_policy_never_fails_more(
    case: tuple[Diagnosis, Comparison], policy: Policy, fail_on: tuple[FailCondition, ...], data: st.DataObject
) -> None:
    found, against = case
    lower = {action: data.draw(st.sampled_from(ACTIONS[: ACTIONS.index(action) + 1])) for action in ACTIONS}
    fewer = tuple(bar for bar in fail_on if data.draw(st.booleans()))
    before = verdict(found, policy, against=against, fail_on=fail_on)
    after = verdict(found, milder(policy, lower), against=against, fail_on=fewer)
    assert failing(after) <= failing(before)


@given(cases(), policies, bars)
@settings(max_examples=60)
def test_suppressing_everything_passes(
    case: tuple[Diagnosis, Comparison], policy: Policy, fail_on: tuple[FailCondition, ...]
) -> None:
    found, against = case
    budgets = (budget("saving_left", 0),)
    said = verdict(
        found, replace(policy, suppressions=(everything(),), budgets=budgets), against=against, fail_on=fail_on
    )
    assert said.passed
    assert all(one.suppressed for one in said.rulings)


@given(diagnoses, policies, st.randoms(use_true_random=False))
@settings(max_examples=60)
def test_the_order_of_findings_does_not_matter(found: Diagnosis, policy: Policy, random: object) -> None:
    mixed = list(found.findings)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    one = verdict(found, policy, fail_on=ALONE)
    other = verdict(found.model_copy(update={"findings": tuple(mixed)}), policy, fail_on=ALONE)
    assert one.passed == other.passed
    assert sorted(one.rulings, key=lambda ruling: ruling.fingerprint) == sorted(
        other.rulings, key=lambda ruling: ruling.fingerprint
    )


@given(diagnoses, policies, st.integers(1, 1000))
@settings(max_examples=60)
def test_an_expired_suppression_is_as_if_absent_and_said(found: Diagnosis, policy: Policy, days: int) -> None:
    past = everything().model_copy(update={"expires": (TODAY - timedelta(days=days)).isoformat()})
    without = verdict(found, policy, fail_on=ALONE)
    said = verdict(found, replace(policy, suppressions=(past,)), fail_on=ALONE)
    assert said.model_copy(update={"expired": ()}) == without
    assert said.expired == (past,)


@given(cases(), policies, bars)
@settings(max_examples=60)
def test_every_finding_gets_one_ruling_in_its_place(
    case: tuple[Diagnosis, Comparison], policy: Policy, fail_on: tuple[FailCondition, ...]
) -> None:
    found, against = case
    said = verdict(found, policy, against=against, fail_on=fail_on)
    assert [one.fingerprint for one in said.rulings] == [one.fingerprint for one in found.findings]
    assert said.passed == (not failing(said))
    assert Verdict.model_validate_json(said.to_json()) == said


@given(actions, actions, actions, actions, severities)
def test_an_exact_id_wins_over_patterns_the_longer_pattern_over_category_and_that_over_severity(
    exact: Action, long: Action, short: Action, category: Action, severity: Severity
) -> None:
    found = diagnosis(finding("host/free-time", severity))
    policy = Policy(
        {"host/*": short, "host/free-time": exact, "host/free*": long}, {"host": category}, {severity: "warn"}
    )
    steps = [
        (policy, exact, "policy.rules.host/free-time"),
        (replace(policy, rules={"host/*": short, "host/free*": long}), long, "policy.rules.host/free*"),
        (replace(policy, rules={"host/*": short}), short, "policy.rules.host/*"),
        (replace(policy, rules={}), category, "policy.categories.host"),
        (replace(policy, rules={}, categories={}), "warn", f"policy.severities.{severity.name}"),
        (Policy(), "error", "fail_on info"),
    ]
    for one, action, by in steps:
        (ruling,) = verdict(found, one, fail_on=(FailCondition(Severity.info),)).rulings
        assert (ruling.action, ruling.by) == (action, by)


# against a baseline


@pytest.mark.parametrize(
    ("status", "by_new", "by_worse"),
    [
        ("new", True, False),
        ("worse", True, True),
        ("same", False, False),
        ("better", False, False),
        ("not comparable", False, False),
    ],
)
def test_only_what_is_new_or_worse_fails_where_that_is_asked(status: Status, by_new: bool, by_worse: bool) -> None:
    found = diagnosis(FREE)
    against = comparison(found, {FREE.fingerprint: status})
    for since, fails in (("new", by_new), ("worse", by_worse)):
        said = verdict(found, against=against, fail_on=(FailCondition(Severity.high, since),))
        assert said.passed is not fails
        assert said.rulings[0].status == status


def test_a_new_finding_below_the_severity_asked_for_passes() -> None:
    found = diagnosis(LATE)
    assert verdict(found, against=comparison(found, {LATE.fingerprint: "new"}), fail_on=CHANGED).passed


def test_a_finding_that_the_comparison_does_not_know_counts_as_new() -> None:
    found = diagnosis(FREE)
    assert not verdict(found, against=comparison(found, {}), fail_on=CHANGED).passed


@pytest.mark.parametrize("since", ["new", "worse"])
def test_asking_for_what_changed_without_a_baseline_is_wrong_use(since: str) -> None:
    with pytest.raises(UsageError, match=f"`{since}:high` needs a baseline") as caught:
        verdict(diagnosis(), fail_on=(FailCondition(Severity.critical), FailCondition(Severity.high, since)))
    assert "基线" in caught.value.say("zh")


def test_what_the_baseline_cannot_tell_is_said_where_it_would_decide() -> None:
    found = diagnosis(FREE, CAST)
    statuses: dict[str, Status] = {FREE.fingerprint: "not comparable", CAST.fingerprint: "not comparable"}
    against = comparison(found, statuses, step=(1000.0, 1000.0))
    (note,) = verdict(found, against=against, fail_on=CHANGED).notes
    assert note.en.endswith("the baseline cannot tell: host/free-time.")
    assert not verdict(found, against=against, fail_on=ALONE).notes
    assert not verdict(found, Policy({"host/*": "warn"}), against=against, fail_on=CHANGED).notes


def test_of_many_names_the_first_and_how_many_more_there_are() -> None:
    found = diagnosis(outcomes={f"host/blind-{number}": "skipped" for number in range(7)})
    (said,) = (note for note in verdict(found, Policy({"host/blind-*": "error"})).notes if "Set to error" in note.en)
    assert said.en.endswith("host/blind-3, host/blind-4 and 2 more.")
    assert said.zh.endswith("host/blind-3、host/blind-4 等 7 条。")


# suppressions


def test_a_suppression_holds_on_its_last_day_and_not_on_the_next() -> None:
    policy = Policy(suppressions=(Suppression(rule="host/*", reason="known", expires="2026-11-20"),))
    assert verdict(diagnosis(FREE), policy, fail_on=ALONE).passed
    tomorrow = verdict(diagnosis(FREE), policy, fail_on=ALONE, today=TODAY + timedelta(days=1))
    assert not tomorrow.passed
    assert tomorrow.expired == policy.suppressions
    assert not tomorrow.unused


def test_rule_and_fingerprint_must_both_be_met() -> None:
    other = finding("compute/cast-excess", Severity.high, 50, "TransData")
    one = Suppression(rule="compute/*", fingerprint=other.fingerprint, reason="known")
    said = verdict(diagnosis(CAST, other), Policy(suppressions=(one,)))
    assert [ruling.suppressed for ruling in said.rulings] == [None, one]
    wrong = one.model_copy(update={"rule": "host/*"})
    assert not any(ruling.suppressed for ruling in verdict(diagnosis(other), Policy(suppressions=(wrong,))).rulings)


def test_unused_is_what_met_no_finding_although_its_rule_could_look() -> None:
    quiet = Suppression(rule="memory/near-capacity", reason="known")
    elsewhere = Suppression(rule="host/free-time", fingerprint="0" * 16, reason="known")
    used = Suppression(fingerprint=FREE.fingerprint, reason="known")
    policy = Policy(suppressions=(quiet, used, elsewhere))
    assert verdict(diagnosis(FREE), policy).unused == (quiet, elsewhere)
    blind = diagnosis(FREE, outcomes={"memory/near-capacity": "skipped"})
    assert verdict(blind, policy).unused == (elsewhere,)


def test_former_ids_and_fingerprints_are_still_understood() -> None:
    found = diagnosis(FREE, infos=[info("host/free-time", "host/idle")])
    for one in (
        Suppression(rule="host/idle", reason="known"),
        Suppression(fingerprint=fingerprint("host/idle", {}), reason="known"),
    ):
        assert verdict(found, Policy(suppressions=(one,)), fail_on=ALONE).passed
    assert not verdict(found, Policy(rules={"host/idle": "error"})).passed


# budgets


@pytest.mark.parametrize(
    ("name", "unit", "measured"),
    [
        ("free_share", "share", 0.3),
        ("step_time", "us", 1000.0),
        ("memory", "B", 50 * 1024.0**3),
        ("saving_left", "share", 0.2),
        ("saving_left", "us", 200.0),
    ],
)
def test_a_budget_is_kept_up_to_its_limit(name: str, unit: str, measured: float) -> None:
    found = diagnosis(FREE, LATE)
    for limit, kept in ((measured, True), (measured * 0.999, False)):
        said = verdict(found, Policy(budgets=(budget(name, limit, unit),)))
        assert (said.passed, said.budgets[0].kept) == (kept, kept)
        assert said.budgets[0].measured == pytest.approx(measured)
        assert not said.notes
    warned = verdict(found, Policy(budgets=(budget(name, 0, unit, "warn"),)))
    assert (warned.passed, warned.budgets[0].kept) == (True, False)
    assert verdict(found, Policy(budgets=(budget(name, 0, unit, "off"),))).budgets == ()


@pytest.mark.parametrize(("slowest", "measured"), [(1300.0, 1300.0), (None, 1000.0), (float("nan"), 1000.0)])
def test_the_step_that_is_held_against_its_budget_is_that_of_the_slowest_rank(
    slowest: float | None, measured: float
) -> None:
    found = diagnosis()
    assert found.split is not None
    found = found.model_copy(update={"split": found.split.model_copy(update={"slowest_us": slowest})})
    said = verdict(found, Policy(budgets=(budget("step_time", 1200, "us"),)))
    assert (said.passed, said.budgets[0].measured) == (measured <= 1200, measured)


def test_savings_are_never_added_and_what_is_suppressed_or_off_is_not_left() -> None:
    left = (budget("saving_left", 0),)
    policy = Policy(budgets=left, suppressions=(Suppression(rule="host/free-time", reason="known"),))
    assert verdict(diagnosis(FREE, LATE, CAST), policy).budgets[0].measured == 0.1
    off = Policy({"host/*": "off"}, budgets=left)
    assert verdict(diagnosis(FREE, LATE, CAST), off).budgets[0].measured == 0.05


@pytest.mark.parametrize("name", ["free_share", "step_time", "memory", "saving_left", "slowdown"])
def test_a_budget_that_cannot_be_measured_is_said_and_not_kept(name: str) -> None:
    unit = {"step_time": "us", "memory": "B"}.get(name, "share")
    said = verdict(Diagnosis(run=Run()), Policy(budgets=(budget(name, 0, unit),)))
    assert said.passed
    assert said.budgets[0].kept is None
    assert any(f"Budget {name}: not measured" in note.en and f"预算 {name} " in note.zh for note in said.notes)


@pytest.mark.parametrize(
    ("capture", "step_time", "memory"),
    [
        (
            Capture(rank=0, path="", source="text", recorder="msprof"),
            "msprof marks steps only where",
            "--task-memory=on",
        ),
        (Capture(rank=0, path="", source="text"), "prof.step()", "profile_memory=True"),
        (
            Capture(rank=0, path="", source="cluster"),
            "diagnose the captures behind it",
            "diagnose the captures behind it",
        ),
    ],
)
def test_what_a_budget_needs_is_asked_for_in_the_words_of_who_recorded(
    capture: Capture, step_time: str, memory: str
) -> None:
    found = Diagnosis(run=Run(captures=(capture,)))
    budgets = (budget("step_time", 0, "us"), budget("memory", 0, "B"))
    said = " ".join(note.en for note in verdict(found, Policy(budgets=budgets)).notes)
    assert step_time in said and memory in said
    assert ("prof.step()" in said) == (step_time == "prof.step()")


def test_steps_that_were_recorded_are_not_called_unmarked() -> None:
    found = Diagnosis(run=Run(captures=(Capture(rank=0, path="", source="text"),), unplaced_steps=(0, 1, 2)))
    said = " ".join(note.en for note in verdict(found, Policy(budgets=(budget("step_time", 0, "us"),))).notes)
    assert "when the recorded steps begin was not given" in said and "prof.step()" not in said


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_not_measured(value: float) -> None:
    split = TimeSplit(step_us=1, compute_us=0, exposed_comm_us=0, overlapped_us=0, free_us=value)
    odd = diagnosis(finding("host/free-time", us=value)).model_copy(
        update={"split": split, "peak_memory_bytes": value, "run": Run(steps=(1,), step_us=value)}
    )
    budgets = tuple(budget(name, 1) for name in ("free_share", "step_time", "memory", "saving_left"))
    said = verdict(odd, Policy(budgets=budgets))
    assert [one.measured for one in said.budgets] == [None] * 4
    said.to_json()


def test_a_window_without_steps_is_no_step_time() -> None:
    found = diagnosis(FREE).model_copy(update={"run": Run(step_us=1000.0)})
    budgets = (budget("step_time", 5000, "us"), budget("saving_left", 5000, "us"), budget("saving_left", 0.5))
    assert [one.measured for one in verdict(found, Policy(budgets=budgets)).budgets] == [None, None, 0.2]


@pytest.mark.parametrize(
    ("after", "limit", "kept"), [(1040.0, 0.0, True), (1060.0, 0.0, False), (1060.0, 0.1, True), (900.0, 0.0, True)]
)
def test_a_slowdown_within_noise_is_none(after: float, limit: float, kept: bool) -> None:
    found = diagnosis()
    against = comparison(found, {}, step=(1000.0, after))
    said = verdict(found, Policy(budgets=(budget("slowdown", limit),)), against=against)
    assert said.passed is kept
    assert said.budgets[0].measured == pytest.approx(after / 1000 - 1)


@pytest.mark.parametrize("measured", [0.3, 0.492, 0.493, 3.62])
def test_the_limit_of_a_slowdown_between_single_steps_does_not_move_with_what_is_measured(measured: float) -> None:
    """A third of the longer step is noise: a step that takes 1 / (1 - 0.33) of the other is just within."""
    before, after = diagnosis(), diagnosis()
    assert after.split is not None
    slower = after.split.model_copy(update={"step_us": 1000.0 * (1 + measured)})
    slowed = after.model_copy(update={"split": slower})
    said = verdict(slowed, Policy(budgets=(budget("slowdown", 0.1),)), against=compare(before, slowed))
    assert said.budgets[0].limit == pytest.approx(0.33 / 0.67)
    assert said.budgets[0].measured == pytest.approx(measured)
    assert said.passed is (measured < 0.33 / 0.67)


@pytest.mark.parametrize(("after", "passed"), [(1090.0, True), (1150.0, False), (700.0, True)])
def test_a_step_a_tenth_longer_fails_where_nothing_is_said_of_it(after: float, passed: bool) -> None:
    found = diagnosis()
    against = comparison(found, {}, step=(1000.0, after))
    said = verdict(found, against=against, fail_on=CHANGED)
    assert said.passed is passed
    assert [one.name for one in said.budgets] == ([] if passed else ["slowdown"])


def test_that_the_usual_limit_of_a_slowdown_could_not_be_held_is_said() -> None:
    found = diagnosis()
    said = verdict(found, against=comparison(found, {}), fail_on=CHANGED)
    assert [(one.name, one.limit, one.measured) for one in said.budgets] == [("slowdown", 0.1, None)]
    assert "Budget slowdown: not measured" in "\n".join(note.en for note in said.notes)
    assert said.passed
    assert verdict(found, against=comparison(found, {}), fail_on=()).budgets == ()
    assert verdict(found, against=comparison(found, {}, step=(1000.0, 1010.0)), fail_on=CHANGED).budgets == ()


def test_the_usual_limit_of_a_slowdown_gives_way_to_what_a_project_says() -> None:
    found = diagnosis()
    against = comparison(found, {}, step=(1000.0, 1150.0))
    assert verdict(found, Policy(budgets=(budget("slowdown", 0.2),)), against=against, fail_on=CHANGED).passed
    assert verdict(
        found, Policy(budgets=(budget("slowdown", 0, "share", "off"),)), against=against, fail_on=CHANGED
    ).passed
    assert verdict(found, against=against, fail_on=()).passed


CUT = finding("capture/cut-timeline", Severity.medium)


def test_a_damaged_capture_keeps_no_budget_but_may_exceed_one() -> None:
    policy = Policy(budgets=(budget("free_share", 0.5, "share"), budget("step_time", 500, "us")))
    judged = verdict(diagnosis(CUT), policy, fail_on=())
    assert [one.kept for one in judged.budgets] == [None, False]
    assert "damaged" in judged.notes[0].en
    assert [one.kept for one in verdict(diagnosis(), policy, fail_on=()).budgets] == [True, False]


# what the gate could not see


def test_passing_blindly_is_said() -> None:
    blind = diagnosis(outcomes=dict.fromkeys(("host/free-time", "memory/near-capacity"), "skipped"))
    assert verdict(blind, fail_on=ALONE).notes == ()
    policy = Policy({"memory/near-capacity": "error", "host/free-time": "warn"}, severities={Severity.high: "error"})
    (note,) = verdict(blind, policy).notes
    assert note.en == "Set to error, but could not look: memory/near-capacity."


def test_passing_says_how_many_rules_could_not_look_where_more_did_not_than_did() -> None:
    outcomes = {**dict.fromkeys(RULES, "skipped"), RULES[0]: "quiet", "capture/level-too-low": "quiet"}
    little = diagnosis(outcomes=outcomes).model_copy(update={"split": None})
    (note,) = verdict(little, fail_on=ALONE).notes
    assert f"could not look: {len(RULES) - 1}, that found their part in order: 1" in note.en
    assert f"未能检查的规则 {len(RULES) - 1} 条，检查正常的 1 条" in note.zh


def without_time(found: Diagnosis, *unread: Unread) -> Diagnosis:
    run = found.run.model_copy(update={"step_us": 0.0})
    return found.model_copy(update={"run": run, "split": None, "unread": unread})


BROKEN = Unread(file="kernel_details.csv", what="holds nothing")


@pytest.mark.parametrize(
    "blind",
    [
        diagnosis(outcomes={**dict.fromkeys(RULES, "skipped"), "capture/level-too-low": "quiet"}),
        without_time(diagnosis(), BROKEN),
    ],
)
def test_a_run_of_which_nothing_is_known_does_not_pass(blind: Diagnosis) -> None:
    judged = verdict(blind, fail_on=ALONE)
    assert judged.blind and not judged.passed
    assert len(judged.notes) == 1


@pytest.mark.parametrize(
    "seen",
    [
        diagnosis().model_copy(update={"unread": (BROKEN,)}),
        without_time(diagnosis()),
        diagnosis().model_copy(update={"split": None, "unread": (BROKEN,)}),  # how long its steps took is known
        diagnosis(outcomes=dict.fromkeys(RULES, "not applicable")),
    ],
)
def test_a_run_of_which_something_is_known_is_judged(seen: Diagnosis) -> None:
    judged = verdict(seen, fail_on=ALONE)
    assert judged.passed and not judged.blind


def test_what_fails_a_run_fails_it_even_where_else_nothing_is_known() -> None:
    judged = verdict(without_time(diagnosis(FREE), BROKEN), fail_on=ALONE)
    assert not judged.passed and not judged.blind
