# SPDX-License-Identifier: Apache-2.0
"""Captures that do not compare: nothing is called faster, fixed, new or gone, and the first sentence says why."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from comparison_samples import diagnosis, finding, measure, outcome

from advisor.bot.comment import headline, render_comment
from advisor.cli.main import main
from advisor.comparison import compare
from advisor.comparison.verification import verify_all, verify_finding
from advisor.messages.text import LANGUAGES, Text
from advisor.model.comparison import DOUBTS, Barrier, Comparison
from advisor.model.findings import Account, Confidence, Diagnosis, Evidence, Label, Measure, RuleInfo
from advisor.model.job import JobKind
from advisor.model.run import Capture
from advisor.policy.gate import CHANGED, judge_by_policy
from advisor.policy.policy import Policy
from advisor.report.comparison.account import account_entries
from advisor.report.comparison.answer import ComparisonVerdict
from advisor.report.comparison.document import comparison_document
from advisor.report.prose import flat_text
from advisor.report.renderers.markdown import document_text
from advisor.report.verification.document import verification_document

FASTER = (800.0, 810.0, 790.0)


def slow() -> Diagnosis:
    return diagnosis(finding(us=200))


def fast(*, stepped: bool = True) -> Diagnosis:
    return diagnosis(finding("comm/late", us=190, severity="critical"), steps=FASTER, free_us=10, stepped=stepped)


def on_gpu(made: Diagnosis) -> Diagnosis:
    capture = Capture(rank=0, path="x", source="trace", activities=("CPU", "GPU"))
    return made.model_copy(update={"run": made.run.model_copy(update={"captures": (capture,), "level": ""})})


def computing(name: str, made: Diagnosis) -> Diagnosis:
    """The same, but all that it computes is of this type."""
    assert made.account is not None
    spent = tuple(one.model_copy(update={"name": name}) if one.part == "compute" else one for one in made.account.spent)
    return made.model_copy(update={"account": made.account.model_copy(update={"spent": spent})})


def of_ranks(made: Diagnosis, ranks: tuple[int, ...], world: int = 0) -> Diagnosis:
    return made.model_copy(update={"run": made.run.model_copy(update={"ranks": ranks, "world_size": world})})


def working(made: Diagnosis, workload: str) -> Diagnosis:
    job = JobKind.model_validate({"workload": workload})
    return made.model_copy(update={"run": made.run.model_copy(update={"job": job})})


def on_chip(name: str, made: Diagnosis) -> Diagnosis:
    return made.model_copy(update={"run": made.run.model_copy(update={"chip": name})})


def doing(tera_flops: float, made: Diagnosis) -> Diagnosis:
    account = made.account or Account()
    return made.model_copy(update={"account": account.model_copy(update={"tera_flops": tera_flops})})


PAIRS: dict[Barrier, tuple[Diagnosis, Diagnosis]] = {
    "times": (slow(), fast(stepped=False)),
    "device": (slow(), on_gpu(fast())),
    "workload": (working(slow(), "training"), working(fast(), "inference")),
    "program": (slow(), computing("Conv2D", fast())),
    "chip": (on_chip("Ascend910B4", slow()), on_chip("Ascend910B2", fast())),
    "size": (of_ranks(slow(), (0,), world=1), of_ranks(fast(), (0,), world=8)),
    "work": (doing(1.0, slow()), doing(2.0, fast())),
    "ranks": (of_ranks(slow(), (0, 1)), of_ranks(fast(), (0,))),
}
APART: tuple[Barrier, ...] = ("times", "device", "workload")


@pytest.fixture(params=APART + DOUBTS)
def barrier(request: pytest.FixtureRequest) -> Barrier:
    found: Barrier = request.param
    return found


@pytest.fixture(params=APART)
def apart(request: pytest.FixtureRequest) -> Barrier:
    found: Barrier = request.param
    return found


def test_what_keeps_two_captures_from_being_compared_is_told_both_ways(barrier: Barrier) -> None:
    one, other = PAIRS[barrier]
    for found in (compare(one, other), compare(other, one)):
        assert found.barriers == (barrier,)
        assert {found.confidence, *(change.confidence for change in found.changes)} == {Confidence.low}
    assert compare(slow(), fast()).barriers == ()


def test_recomputing_all_or_nothing_is_no_other_work():
    """It adds a forward pass to a forward and a backward, which is twice as long: a third."""
    assert compare(doing(3.0, slow()), doing(4.0, fast())).barriers == ()


def test_of_recordings_that_mark_no_steps_nothing_is_said_of_the_work_of_a_step():
    """Their operations are those of however long somebody recorded."""

    def whole(made: Diagnosis) -> Diagnosis:
        capture = Capture(rank=0, path="x", source="text", recorder="msprof")
        return made.model_copy(update={"run": made.run.model_copy(update={"captures": (capture,), "steps": ()})})

    one, other = whole(doing(1.0, slow())), whole(doing(2.0, fast()))
    assert one.run.times_of == other.run.times_of == "work"
    assert "work" not in compare(one, other).barriers


def test_how_much_a_step_does_in_both_is_told_with_both_numbers():
    found = compare(*PAIRS["work"])
    notes = " ".join(note.en for note in found.notes)
    assert "1 TFLOP per rank before, 2 now" in notes


def test_no_fix_is_certified_between_captures_that_do_not_compare(apart: Barrier) -> None:
    found = compare(*PAIRS[apart])
    one, every = verify_finding(found, "host/idle"), verify_all(found)
    assert verify_finding(compare(slow(), fast()), "host/idle").result == "kept"
    assert (one.result, one.worked, one.freed_us, one.won_us, one.explained_us) == (
        "not known",
        False,
        None,
        None,
        None,
    )
    assert not every.worked
    assert {each.result for each in every.findings} == {"not known"}
    assert one.against == every.against == ()
    assert one.barriers == every.barriers == (apart,)
    assert one.reasons == found.notes
    said = document_text(verification_document(one, found, "en"))
    assert ("What the rule watches" in said) == (apart not in ("times", "device")), "values of other things"


@pytest.mark.parametrize("doubt", DOUBTS)
def test_a_fix_that_changes_what_computes_can_be_verified_and_on_what_that_rests_is_told(doubt: Barrier) -> None:
    found = compare(*PAIRS[doubt])
    one, every = verify_finding(found, "host/idle"), verify_all(found)
    assert (one.result, one.worked, one.confidence, one.barriers) == ("kept", True, Confidence.low, ())
    assert every.worked
    for made in (one, every):
        said = " ".join(document_text(verification_document(made, found, "en")).split())
        assert ("This holds only if both are the same program" in said) == (doubt == "program")


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("named", [True, False])
def test_the_command_says_first_why_nothing_can_be_told_and_ends_with_1(
    apart: Barrier, language: str, named: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sides = tmp_path / "before.json", tmp_path / "after.json"
    for side, made in zip(sides, PAIRS[apart], strict=True):
        side.write_text(made.to_json(), "utf-8")
    words = ["verify", *map(str, sides), "--lang", language, *(["--finding", "host/idle"] if named else [])]
    assert main(words) == 1
    said = " ".join(capsys.readouterr().out.split())
    assert said.startswith("Whether " if language == "en" else "无法判断")
    why = {
        "times": ("one is a step, the other a captured window", "一侧是单步，另一侧是采集窗口"),
        "device": ("one ran on an NPU, the other on a GPU", "一份来自 NPU，另一份来自 GPU"),
        "workload": ("they do different things", "任务类型不同"),
    }
    assert f"{why[apart][language == 'zh']}{'.' if language == 'en' else '。'}" in said.replace("另一侧是 ", "另一侧是")
    assert "gone" not in said


def test_neither_step_is_called_the_faster_where_the_two_do_not_compare(apart: Barrier) -> None:
    for found in (compare(*PAIRS[apart]), compare(*reversed(PAIRS[apart]))):
        for language in LANGUAGES:
            verdict = ComparisonVerdict(found, language)
            assert verdict.kind == "not-comparable"
            assert verdict.says.startswith("The two cannot be compared: " if language == "en" else "两份采集不可比：")
            assert not verdict.mainly
            said = document_text(comparison_document(found, language))
            assert not {"longer", "shorter", "变长", "变短"}.intersection(said.split())
            first = headline(found.after, found, language)
            assert first.startswith("Not comparable with the baseline: " if language == "en" else "与基线不可比：")
            assert "%" not in first


@pytest.mark.parametrize("unrelated", ["times", "device"])
def test_findings_that_do_not_compare_neither_come_nor_go(unrelated: Barrier) -> None:
    one, other = PAIRS[unrelated]
    found = compare(one, other)
    assert {change.status for change in found.changes} == {"not comparable"}
    assert {shift.status for shift in found.shifts} == {"not comparable"}
    assert found.moved == ()
    comment = render_comment(other, found)
    assert "New or worse" not in comment
    assert "Better or gone" not in comment
    assert "Nothing new" not in comment
    assert "Fix first" in comment


@pytest.mark.parametrize("unrelated", ["times", "device"])
def test_nothing_is_subtracted_of_times_that_do_not_compare(unrelated: Barrier) -> None:
    found = compare(*PAIRS[unrelated])
    row = next(line for line in document_text(comparison_document(found, "en")).splitlines() if "1.00 ms |" in line)
    assert row.split(" | ")[1:] == ["1.00 ms", "800 µs", "–", "–", "cannot be told |"]


@pytest.mark.parametrize("unrelated", ["times", "device"])
def test_a_finding_that_costs_time_is_not_the_same_where_times_do_not_compare(unrelated: Barrier) -> None:
    """A time on one is not known from that of the other; a setting that is missing on both is."""
    setting, leading = finding("env/unset", us=0), finding("compute/top-operators", us=0)
    one = diagnosis(finding(us=200), setting, leading)
    other = diagnosis(finding(us=205), setting, leading, stepped=unrelated != "times")
    other = on_gpu(other) if unrelated == "device" else other
    assert {change.rule: change.status for change in compare(one, other).changes} == {
        "host/idle": "not comparable",
        "compute/top-operators": "not comparable",
        "env/unset": "same",
    }


def test_a_window_is_called_a_window_in_a_comment_and_a_step_a_step() -> None:
    one, other = PAIRS["times"]
    there, back = headline(other, compare(one, other), "en"), headline(one, compare(other, one), "en")
    assert "Before: a step of 1.00 ms; after: a captured window of 800 µs." in there
    assert "Before: a captured window of 800 µs; after: a step of 1.00 ms." in back


def test_all_work_of_a_program_compares_neither_with_a_step_nor_with_a_window() -> None:
    window, run = fast(stepped=False), slow().run
    recorded = run.captures[0].model_copy(update={"recorder": "msprof"})
    work = slow().model_copy(update={"run": run.model_copy(update={"captures": (recorded,), "steps": ()})})
    assert compare(work, slow()).barriers == compare(work, window).barriers == ("times",)
    assert compare(work, work).barriers == ()
    assert ComparisonVerdict(compare(work, window), "en").says.endswith(
        "Before: work of the device for 1.00 ms; after: a captured window of 800 µs."
    )
    assert ComparisonVerdict(compare(work, work), "en").says.startswith("The device's work takes as long as before")


def test_the_sum_of_the_entries_of_windows_is_no_step() -> None:
    windows = compare(diagnosis(stepped=False), diagnosis(steps=FASTER, free_us=10, stepped=False))
    for language, name in (("en", "captured window in all"), ("zh", "采集窗口合计")):
        assert flat_text(account_entries(windows, language)[-1].name) == name
    said = document_text(comparison_document(windows, "en"))
    assert "step in all" not in said
    assert "Part of the step" not in said
    assert "Times per step" not in said
    assert verify_all(windows).barriers == ()


def test_a_gpu_beside_an_npu_is_told_and_its_ranks_are_not_taken_for_those_of_the_same_job() -> None:
    notes = compare(of_ranks(slow(), (0, 1), 8), of_ranks(on_gpu(fast()), (0,))).notes
    assert notes[0].en.startswith("Ran on an NPU before and on a GPU now:")
    assert notes[0].zh.startswith("之前在 NPU 上运行，现在在 GPU 上运行")
    assert not any("no rank changed" in note.en for note in notes)
    assert any("how many the job had is known of only one of the two" in note.en for note in notes)
    assert not any("little computation in common" in note.en for note in notes)


def test_captures_that_do_not_say_what_computed_are_not_told_apart() -> None:
    silent = slow().model_copy(update={"run": slow().run.model_copy(update={"captures": ()})})
    assert compare(silent, on_gpu(slow())).barriers == ()


def test_a_training_does_not_compare_with_an_inference() -> None:
    assert compare(working(slow(), "training"), working(fast(), "inference")).barriers == ("workload",)
    assert compare(working(slow(), "training"), working(fast(), "training")).barriers == ()
    assert compare(working(slow(), "training"), fast()).barriers == ()


def test_the_gravest_is_told_first_and_each_in_the_first_sentence() -> None:
    found = compare(working(slow(), "training"), on_gpu(working(fast(stepped=False), "inference")))
    assert found.barriers == ("times", "device", "workload")
    assert ComparisonVerdict(found, "en").says.startswith(
        "The two cannot be compared: one is a step, the other a captured window; one ran on an NPU, the other "
        "on a GPU; they do different things."
    )


def test_every_note_begins_as_a_sentence_does(barrier: Barrier) -> None:
    for note in compare(*PAIRS[barrier]).notes:
        assert note.en[0].isupper()
        assert note.en.endswith(".")
        assert note.zh.endswith("。")


def test_how_many_of_the_two_hold_a_single_step_is_told() -> None:
    many, single = diagnosis(), diagnosis(steps=(1000.0,))

    def said(found: Comparison) -> str:
        return " ".join(note.en for note in found.notes)

    assert "One of the two holds a single step" in said(compare(many, single))
    assert "Both hold a single step" in said(compare(single, single))
    windows = diagnosis(steps=(1000.0,), stepped=False)
    assert "Neither of the two marks steps" in said(compare(windows, windows))
    assert "single step" not in said(compare(windows, windows))
    placeless = windows.model_copy(update={"run": windows.run.model_copy(update={"unplaced_steps": (0, 1)})})
    assert "when they begin was not given" in said(compare(placeless, placeless))
    assert "marks steps" not in said(compare(placeless, placeless))
    assert "both hold a single step" in render_comment(single, compare(single, single))
    assert "one of the two holds a single step" in render_comment(single, compare(many, single))


def test_a_finding_whose_rule_was_quiet_by_a_value_that_is_missing_now_is_nothing_new() -> None:
    """Of 78 % in both: before it was known that the device hardly computes at all, now that is not known."""
    busy = Evidence(name="busy", value=0.02, unit="share", threshold=0.85)
    seen = finding("compute/casts", us=0, share=0.78)
    quiet = Measure(fingerprint=seen.fingerprint, evidence=(*seen.evidence, busy), short_of="busy")
    unknown = seen.model_copy(update={"evidence": (*seen.evidence, busy.model_copy(update={"value": None}))})
    before, after = diagnosis(outcomes=(outcome("compute/casts", "quiet", quiet),)), diagnosis(unknown)
    label = Label(name="busy", label=Text(en="Part that computes", zh="计算占比"))
    named = tuple(_labelled(info, label) for info in before.rules)
    before = before.model_copy(update={"rules": named})
    for found in (compare(before, after), compare(after, before)):
        (change,) = found.changes
        assert change.status == "not comparable"
        assert change.reason is not None
        assert "Part that computes" in change.reason.en
        assert "计算占比" in change.reason.zh
    known = seen.model_copy(update={"evidence": (*seen.evidence, busy.model_copy(update={"value": 0.9}))})
    assert [change.status for change in compare(before, diagnosis(known)).changes] == ["new"]
    gone = diagnosis(outcomes=(outcome("compute/casts", "quiet", measure("compute/casts")),))
    assert [change.status for change in compare(gone, after).changes] == ["new"]


def _labelled(info: RuleInfo, label: Label) -> RuleInfo:
    return info.model_copy(update={"labels": (label,)})


@pytest.mark.parametrize("unrelated", ["times", "device"])
def test_a_gate_does_not_pass_for_want_of_a_baseline_that_compares(unrelated: Barrier) -> None:
    one, other = PAIRS[unrelated]
    verdict = judge_by_policy(other, compare(one, other), Policy(), CHANGED, date(2026, 1, 1))
    assert (verdict.passed, verdict.blind) == (False, True)
    assert any("The baseline does not compare with this run" in note.en for note in verdict.notes)
    fine = other.model_copy(update={"findings": ()})
    assert judge_by_policy(fine, compare(one, fine), Policy(), CHANGED, date(2026, 1, 1)).passed
