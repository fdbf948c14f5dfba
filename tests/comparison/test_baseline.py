# SPDX-License-Identifier: Apache-2.0
"""What a comparison promises: noise is no change, and the way back says the opposite of the way there."""

from __future__ import annotations

import os
from itertools import permutations
from pathlib import Path

import pytest
from comparison_samples import RULES, diagnosis, finding, measure, outcome
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.comparison import compare
from advisor.comparison.dilution import only_step_moved
from advisor.comparison.noise import Noise
from advisor.model.comparison import STATUSES, Metric, Status, Tolerance
from advisor.model.findings import (
    Account,
    Confidence,
    Diagnosis,
    Evidence,
    Finding,
    Measure,
    Place,
    Saving,
    Spent,
    StepSplit,
)
from advisor.model.run import Run
from advisor.report.comparison.answer import say_doubt
from tests.shared_captures import SharedCaptures

OPPOSITE: dict[Status, Status] = {"new": "gone", "gone": "new", "worse": "better", "better": "worse"}
REAL = os.environ.get("ADVISOR_REAL_DATA", "")


def with_lengths_alone(found: Diagnosis) -> Diagnosis:
    """The same of a capture that recorded how long its steps took, and not what they were spent on."""
    assert found.split is not None
    assert found.account is not None
    steps = tuple(StepSplit(step=one.step, step_us=one.step_us) for one in found.account.steps)
    run = found.run.model_copy(update={"step_us": found.split.step_us})
    return found.model_copy(update={"run": run, "split": None, "account": Account(steps=steps)})


def status(before: Diagnosis, after: Diagnosis) -> Status:
    (change,) = compare(before, after).changes
    return change.status


def test_a_finding_that_was_not_there_is_new_and_one_that_went_is_gone() -> None:
    assert status(diagnosis(), diagnosis(finding())) == "new"
    assert status(diagnosis(finding()), diagnosis()) == "gone"


def test_worse_and_better_are_what_could_be_won_beyond_noise() -> None:
    assert status(diagnosis(finding(us=100)), diagnosis(finding(us=200))) == "worse"
    assert status(diagnosis(finding(us=200)), diagnosis(finding(us=100))) == "better"
    assert status(diagnosis(finding(us=200)), diagnosis(finding(us=170))) == "same"


def test_a_change_below_a_part_of_the_step_does_not_count() -> None:
    assert status(diagnosis(finding(us=4)), diagnosis(finding(us=12))) == "same"


def test_a_change_within_the_spread_of_the_steps_does_not_count() -> None:
    less, more = finding("compute/casts", us=100), finding("compute/casts", us=200)
    assert status(diagnosis(less), diagnosis(more)) == "worse"
    uneven = (600.0, 1400.0, 1000.0)
    assert status(diagnosis(less, steps=uneven), diagnosis(more, steps=uneven)) == "same"


FASTER = (700.0, 710.0, 690.0)
SHORTER = (900.0, 905.0, 895.0)


def timed(us: float, share: float, time_us: float, severity: str = "medium", rule: str = "comm/late") -> Finding:
    """A finding that shows its share of the step and its time; what it tolerates is a tenth of the step."""
    found = finding(rule, us, share, severity)
    return found.model_copy(update={"evidence": (*found.evidence, Evidence(name="time", value=time_us, unit="us"))})


def test_a_share_that_grew_because_the_step_became_shorter_is_no_worse_finding() -> None:
    before = diagnosis(timed(100, 0.24, 240), free_us=400)
    after = diagnosis(timed(170, 0.34, 240, "high"), steps=FASTER, free_us=100)
    (there,), (back,) = compare(before, after).changes, compare(after, before).changes
    assert (there.status, back.status) == ("same", "same")
    assert there.reason is not None
    assert "step around it" in there.reason.en


@pytest.mark.parametrize(("time_us", "moved"), [(240, True), (150, True), (90, False), (40, False)])
def test_what_takes_a_fraction_of_what_it_took_is_not_the_same_however_much_steps_may_differ(time_us, moved) -> None:
    """Of a single step nobody knows how much it differs from others: a third of it may be noise."""
    noise = Noise(diagnosis(steps=(1000.0,)), diagnosis(steps=(9000.0,)), Tolerance())
    metric = Metric(name="time", before=240.0, after=time_us, unit="us")
    savings = Saving(us=100), Saving(us=0)
    assert only_step_moved("gone", "comm/late", savings, [metric], noise) == moved


def test_a_saving_that_grew_with_the_idle_time_around_what_runs_as_before_is_no_worse_finding() -> None:
    """The step is 150 longer, all of it idle: what takes 240 as before could now win 170 of it."""
    before = diagnosis(timed(100, 0.24, 240))
    after = diagnosis(timed(170, 0.209, 240, "high"), steps=(1150.0, 1160.0, 1140.0), free_us=350)
    assert status(before, after) == status(after, before) == "same"
    counted = timed(100, 0.24, 240).model_copy(update={"evidence": (Evidence(name="calls", value=7, unit="count"),)})
    more = counted.model_copy(update={"saving": Saving(us=170, share=0.15)})
    longer = diagnosis(more, steps=(1150.0, 1160.0, 1140.0), free_us=350)
    assert status(diagnosis(counted), longer) == "worse", "a count alone does not tell how long it takes"


def test_of_a_job_other_ranks_are_told_and_nothing_is_sure() -> None:
    of = [diagnosis(finding()).model_copy(update={"run": Run(ranks=ranks)}) for ranks in ((0, 1, 2, 3), (0, 1, 2))]
    there = compare(*of)
    assert there.confidence == Confidence.low
    assert any("Other ranks were captured: 4 before, 3 now" in note.en for note in there.notes)
    assert not any("The job had" in note.en for note in there.notes)


def test_steps_that_differ_much_are_told_and_lower_the_confidence() -> None:
    stalled = diagnosis(finding(), steps=(1000.0, 1000.0, 1000.0, 1000.0, 1000.0, 2000.0))
    there = compare(diagnosis(finding()), stalled)
    assert there.confidence == Confidence.medium
    assert any("a tenth of the step could change unnoticed" in note.en for note in there.notes)
    assert compare(diagnosis(finding()), diagnosis(finding())).confidence == Confidence.high


def test_the_reason_of_a_medium_confidence_is_the_one_that_lowered_it() -> None:
    stalled = (1000.0, 1000.0, 1000.0, 1000.0, 1000.0, 2000.0)
    unlike = "the two were not recorded with the same options, and a profiler that records more slows the host down"
    wide = "steps within one capture differ so much that a change of a tenth could not be told from noise"
    assert say_doubt(compare(diagnosis(), diagnosis(level="Level2")), "en") == unlike
    assert say_doubt(compare(diagnosis(), diagnosis(steps=stalled)), "en") == wide
    both = compare(diagnosis(), diagnosis(steps=stalled, level="Level2"))
    assert say_doubt(both, "en") == f"{unlike}; {wide}"
    assert say_doubt(compare(diagnosis(), diagnosis()), "en") == ""


def test_a_time_that_grew_is_worse_although_the_step_became_shorter() -> None:
    before = diagnosis(timed(140, 0.24, 240), free_us=400)
    after = diagnosis(timed(230, 0.43, 300, "high"), steps=FASTER, free_us=100)
    assert status(before, after) == "worse"
    assert status(after, before) == "better"


def test_a_saving_that_grew_by_more_than_the_step_shrank_is_worse() -> None:
    before = diagnosis(timed(100, 0.24, 240))
    assert status(before, diagnosis(timed(200, 0.26, 240), steps=(950.0, 955.0, 945.0))) == "worse"


def test_a_saving_that_grew_as_the_step_shrank_is_judged_by_how_much_it_grew() -> None:
    """It grew by 70 while the step shrank by 100: by itself it takes as long as before, however much can be won."""
    for least in (140.0, 700.0):
        before, after = diagnosis(timed(least, 0.8, 800)), diagnosis(timed(least + 70, 0.89, 800), steps=SHORTER)
        assert status(before, after) == status(after, before) == "same"


def test_a_threshold_crossed_because_the_step_became_shorter_is_nothing_new() -> None:
    seen = timed(0, 0.09, 90)
    near = Measure(fingerprint=seen.fingerprint, saving=seen.saving, evidence=seen.evidence)
    before = diagnosis(quiet=(near,), free_us=400)
    after = diagnosis(timed(20, 0.13, 91, "high"), steps=FASTER, free_us=100)
    assert status(before, after) == status(after, before) == "same"


def test_without_a_known_saving_a_severity_that_follows_the_step_is_the_same() -> None:
    before = diagnosis(timed(0, 0.24, 240, "medium"), free_us=400)
    assert status(before, diagnosis(timed(0, 0.34, 240, "high"), steps=FASTER, free_us=100)) == "same"


def test_a_share_alone_is_held_against_the_step_it_is_a_part_of() -> None:
    before = diagnosis(finding("comm/late", 140, 0.24), free_us=400)
    assert status(before, diagnosis(finding("comm/late", 170, 0.34), steps=FASTER, free_us=100)) == "same"
    assert status(before, diagnosis(finding("comm/late", 230, 0.43), steps=FASTER, free_us=100)) == "worse"


@settings(max_examples=200)
@given(st.floats(20, 400), st.floats(0, 500), st.floats(0.05, 0.2))
def test_what_takes_the_same_time_is_never_worse_however_short_the_step_becomes(
    own_us: float, won_us: float, tolerated: float
) -> None:
    """Savings are what exceeds a tolerated part of the step; severities follow the share."""

    def seen(step_us: float) -> Diagnosis:
        steps = (step_us, step_us * 1.01, step_us * 0.99)
        left, share = own_us - tolerated * step_us, own_us / step_us
        if left <= 0:
            near = timed(0, share, own_us)
            return diagnosis(quiet=(Measure(fingerprint=near.fingerprint, evidence=near.evidence),), steps=steps)
        return diagnosis(timed(left, share, own_us, "high" if share > 2 * tolerated else "low"), steps=steps)

    slow, fast = seen(1000.0), seen(1000.0 - won_us)
    assert {change.status for change in compare(slow, fast).changes} <= {"same"}
    assert {change.status for change in compare(fast, slow).changes} <= {"same"}


def test_a_threshold_crossed_within_noise_is_no_change() -> None:
    before = diagnosis(quiet=(measure(us=90, share=0.095),))
    assert status(before, diagnosis(finding(us=105, share=0.105))) == "same"
    assert status(diagnosis(quiet=(measure(share=0.05),)), diagnosis(finding(share=0.3))) == "new"


def test_what_was_not_looked_at_is_not_comparable() -> None:
    for said in ("skipped", "failed", "not applicable"):
        before = diagnosis(outcomes=(outcome("host/idle", said),))
        (change,) = compare(before, diagnosis(finding())).changes
        assert change.status == "not comparable"
        assert change.reason is not None
        assert "host/idle" in change.reason.zh


def test_what_was_seen_on_ranks_that_were_not_captured_the_other_time_is_neither_new_nor_gone() -> None:
    late = finding().model_copy(update={"seen": (Place(rank=1, saving_us=200.0),)})

    def of(*ranks: int, job: int = 0, found: tuple[Finding, ...] = ()) -> Diagnosis:
        one = diagnosis(*found)
        return one.model_copy(update={"run": one.run.model_copy(update={"ranks": ranks, "world_size": job})})

    assert status(of(0, 1, job=4, found=(late,)), of(0, 2, job=4)) == "not comparable"
    assert status(of(0, 2, job=4), of(0, 1, job=4, found=(late,))) == "not comparable"
    assert status(of(0, 1, job=4, found=(late,)), of(1, 2, job=4)) == "gone"
    assert status(of(0, 1, job=4, found=(late,)), of(0, job=1)) == "gone", "the job has no such rank now"


def test_a_slower_host_proves_nothing_where_the_profiler_recorded_more() -> None:
    lean, rich = (
        diagnosis(level="Level0"),
        diagnosis(finding(us=400), level="Level2", steps=(1400.0, 1410.0, 1390.0), free_us=600),
    )
    there, back = compare(lean, rich), compare(rich, lean)
    assert [change.status for change in there.changes] == ["not comparable"]
    assert {shift.name: shift.status for shift in there.shifts}["step"] == "not comparable"
    assert [change.status for change in back.changes] == ["not comparable"]


def test_a_faster_host_counts_although_the_profiler_recorded_more() -> None:
    slow = diagnosis(finding(us=400), level="Level0", steps=(1400.0, 1410.0, 1390.0), free_us=600)
    assert status(slow, diagnosis(level="Level2")) == "gone"


def test_one_step_gives_low_confidence_and_says_so() -> None:
    found = compare(diagnosis(finding()), diagnosis(finding(), steps=(1000.0,)))
    assert found.confidence is Confidence.low
    assert [change.confidence for change in found.changes] == [Confidence.low]
    assert any("single step" in note.en for note in found.notes)


def test_steps_whose_parts_are_not_known_are_compared_by_their_lengths_and_what_these_spread() -> None:
    before, longer = (
        with_lengths_alone(diagnosis(steps=steps)) for steps in ((1000.0, 1010.0, 990.0), (1050.0, 1060.0, 1040.0))
    )
    found = compare(before, longer)
    assert [(one.name, one.status) for one in found.shifts] == [("step", "worse")]
    assert found.shifts[0].delta_us == pytest.approx(50)
    assert found.confidence is Confidence.high
    assert not found.moved
    assert compare(before, before).shifts[0].status == "same"
    assert [one.name for one in compare(diagnosis(), longer).shifts] == ["step"]


def test_a_single_step_may_differ_by_a_wide_part() -> None:
    found = compare(diagnosis(steps=(1000.0,)), diagnosis(steps=(1250.0,)))
    assert found.shifts[0].status == "same"
    assert compare(diagnosis(), diagnosis(steps=(1250.0, 1240.0, 1260.0))).shifts[0].status == "worse"


def test_a_part_that_one_capture_cannot_name_is_compared_as_a_whole() -> None:
    named, other = diagnosis(), diagnosis(free_us=300)
    assert other.account is not None
    sums = (Spent(part="compute", us=700.0), *(one for one in other.account.spent if one.part == "free"))
    other = other.model_copy(update={"account": other.account.model_copy(update={"spent": sums})})
    found = {(entry.part, entry.name): entry.delta_us for entry in compare(named, other).moved}
    assert found == {("compute", ""): -100, ("free", "python"): 100}


def test_a_step_that_stalls_beyond_measure_is_not_called_noise() -> None:
    found = compare(diagnosis(), diagnosis(steps=(1000.0, 1010.0, 60_000.0)))
    assert found.shifts[0].status == "worse"
    assert compare(diagnosis(), diagnosis(steps=(1000.0, 1010.0, 1300.0))).shifts[0].status == "same"


def test_captures_of_different_programs_are_noted() -> None:
    other = diagnosis()
    assert other.account is not None
    spent = tuple(one.model_copy(update={"name": "Conv2D"}) for one in other.account.spent if one.part == "compute")
    other = other.model_copy(update={"account": other.account.model_copy(update={"spent": spent})})
    assert any("different programs" in note.en for note in compare(diagnosis(), other).notes)
    assert not any("different programs" in note.en for note in compare(diagnosis(), diagnosis()).notes)


def test_a_window_compares_with_no_step() -> None:
    step, window = diagnosis(finding(us=100)), diagnosis(finding(us=400), steps=(9000.0,), stepped=False)
    for found in (compare(step, window), compare(window, step)):
        assert {shift.status for shift in found.shifts} == {"not comparable"}
        assert [change.status for change in found.changes] == ["not comparable"]
        assert found.moved == ()
        assert found.confidence is Confidence.low
        assert any("window" in note.en for note in found.notes)


def test_captures_of_different_programs_are_compared_with_low_confidence() -> None:
    other = diagnosis(finding())
    assert other.account is not None
    spent = tuple(one.model_copy(update={"name": "Conv2D"}) for one in other.account.spent if one.part == "compute")
    other = other.model_copy(update={"account": other.account.model_copy(update={"spent": spent})})
    found = compare(diagnosis(finding()), other)
    assert {found.confidence, *(change.confidence for change in found.changes)} == {Confidence.low}


def test_names_that_break_lines_or_cannot_be_encoded_end_in_a_note() -> None:
    one, other = diagnosis(), diagnosis()
    odd = other.run.model_copy(update={"chip": "910\nB\ud800"})
    notes = compare(
        one.model_copy(update={"run": one.run.model_copy(update={"chip": "910A"})}),
        other.model_copy(update={"run": odd}),
    ).notes
    assert any("910 B?" in note.en for note in notes)
    assert not any("\n" in note.en + note.zh for note in notes)


def test_other_thresholds_are_noted() -> None:
    assert any("Thresholds differ" in note.en for note in compare(diagnosis(), diagnosis(limit=0.2)).notes)


shares = st.sampled_from([0.02, 0.095, 0.105, 0.3, 0.9])
found_or_near = st.one_of(
    st.builds(lambda us, share: ("fired", us, share), st.sampled_from([0.0, 8.0, 100.0, 130.0, 400.0]), shares),
    st.builds(lambda us, share: ("quiet", us, share), st.sampled_from([0.0, 8.0, 100.0]), shares),
    st.sampled_from([("skipped", 0.0, 0.0), ("not applicable", 0.0, 0.0)]),
)


@st.composite
def diagnoses(draw: st.DrawFn) -> Diagnosis:
    findings, near, outcomes = [], [], []
    for rule in RULES:
        said, us, share = draw(found_or_near)
        if said == "fired":
            findings.append(finding(rule, us, share, draw(st.sampled_from(["low", "medium", "high"]))))
        elif said == "quiet":
            near.append(measure(rule, us, share))
        else:
            outcomes.append(outcome(rule, said))  # type: ignore[arg-type]
    steps = draw(st.lists(st.sampled_from([900.0, 1000.0, 1010.0, 1500.0]), min_size=1, max_size=4))
    return diagnosis(
        *findings,
        quiet=tuple(near),
        outcomes=tuple(outcomes),
        steps=tuple(steps),
        free_us=draw(st.sampled_from([50.0, 200.0, 400.0])),
        level=draw(st.sampled_from(["Level0", "Level1", ""])),
    )


@settings(max_examples=100)
@given(diagnoses())
def test_nothing_changes_against_itself(one: Diagnosis) -> None:
    found = compare(one, one)
    assert {change.status for change in found.changes} <= {"same"}
    assert {shift.status for shift in found.shifts} == {"same"}
    assert not any(entry.delta_us for entry in found.moved)


@settings(max_examples=200)
@given(diagnoses(), diagnoses())
def test_the_way_back_says_the_opposite(one: Diagnosis, other: Diagnosis) -> None:
    there, back = compare(one, other), compare(other, one)
    said = {change.fingerprint: change.status for change in back.changes}
    assert said == {change.fingerprint: OPPOSITE.get(change.status, change.status) for change in there.changes}
    assert [OPPOSITE.get(shift.status, shift.status) for shift in there.shifts] == [
        shift.status for shift in back.shifts
    ]


@settings(max_examples=100)
@given(diagnoses(), diagnoses())
def test_what_moved_adds_up_to_the_difference_of_the_step(one: Diagnosis, other: Diagnosis) -> None:
    found = compare(one, other)
    assert sum(entry.delta_us for entry in found.moved) == pytest.approx(found.shifts[0].delta_us, abs=1e-6)


@settings(max_examples=100)
@given(diagnoses(), diagnoses())
def test_every_finding_is_told_once_in_order(one: Diagnosis, other: Diagnosis) -> None:
    found = compare(one, other)
    names = [change.fingerprint for change in found.changes]
    assert sorted(names) == sorted({f.fingerprint for f in (*one.findings, *other.findings)})
    places = [STATUSES.index(change.status) for change in found.changes]
    assert places == sorted(places)


@settings(max_examples=100)
@given(diagnoses(), diagnoses(), st.floats(0, 1), st.floats(0, 5))
def test_more_tolerance_never_finds_more(one: Diagnosis, other: Diagnosis, more: float, wide: float) -> None:
    plain = Tolerance()
    loose = Tolerance(floor=plain.floor + more, relative=min(plain.relative + more, 1), spread=plain.spread + wide)
    kept = {change.fingerprint for change in compare(one, other, loose).changes if change.status in OPPOSITE}
    assert kept <= {change.fingerprint for change in compare(one, other, plain).changes if change.status in OPPOSITE}


@settings(max_examples=50)
@given(diagnoses(), diagnoses())
def test_a_saved_comparison_reads_back(one: Diagnosis, other: Diagnosis) -> None:
    found = compare(one, other)
    assert type(found).model_validate_json(found.to_json()) == found


def pair(fault: str, shared: SharedCaptures) -> tuple[Diagnosis, Diagnosis]:
    """A generated job without a fault that strikes all ranks alike, and with it."""
    mended, broken = (
        shared.diagnosed(fault, 3, strength=2.0, without=without, small=True) for without in ((fault,), ())
    )
    return mended, broken


@pytest.mark.parametrize(
    ("fault", "rule", "part"),
    [("cast-excess", "compute/cast-excess", "compute"), ("python-busy", "host/python-bound", "free")],
)
def test_a_fault_is_named_in_both_directions(fault: str, rule: str, part: str, shared: SharedCaptures) -> None:
    mended, broken = pair(fault, shared)
    there, back = compare(mended, broken), compare(broken, mended)
    assert rule in {change.rule for change in there.having("new", "worse")}
    assert rule in {change.rule for change in back.having("gone", "better")}
    assert there.shifts[0].status == "worse"
    assert there.moved[0].part == part
    assert there.moved[0].beyond_noise


def test_two_seeds_of_a_healthy_job_are_not_worse_than_each_other(shared: SharedCaptures) -> None:
    one, other = (shared.diagnosed("healthy", seed) for seed in (11, 12))
    for found in (compare(one, other), compare(other, one)):
        assert not found.having("new", "worse")
        assert {shift.status for shift in found.shifts} <= {"same", "better"}


@pytest.mark.skipif(not REAL, reason="ADVISOR_REAL_DATA is not set")
def test_captures_of_one_program_are_not_worse_than_each_other(shared: SharedCaptures) -> None:
    """Six captures of one program, one step each; their step times differ by about 26 %."""
    top = Path(REAL) / "msinsight_pytorch_matrix"
    folders = sorted(folder for folder in top.glob("*/level*") if folder.is_dir())
    assert len(folders) == 6
    captures = [shared.diagnosis(folder) for folder in folders]
    for one, other in permutations(captures, 2):
        found = compare(one, other)
        assert not found.having("worse")
        assert "worse" not in {shift.status for shift in found.shifts}
        assert found.confidence is Confidence.low


def test_a_finding_that_would_win_as_much_as_before_is_not_gone_when_another_value_crosses_its_threshold() -> None:
    """Where something else is fixed, a busier device keeps a rule quiet on kernels that nobody touched."""
    before = diagnosis(finding(us=200, share=0.3))
    assert status(before, diagnosis(quiet=(measure(us=205, share=0.05),))) == "same"
    assert status(before, diagnosis(quiet=(measure(us=50, share=0.05),))) == "gone"
    assert status(before, diagnosis(quiet=(measure(us=0, share=0.05),))) == "gone"
    assert status(diagnosis(quiet=(measure(us=205, share=0.05),)), before) == "same"
