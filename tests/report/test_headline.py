# SPDX-License-Identifier: Apache-2.0
"""What a report says first: a cause, or what is known without one, or that nothing needs fixing."""

from __future__ import annotations

import io
import re
from html import unescape
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from advisor.facts.derived import OperatorRoofline
from advisor.messages.text import LANGUAGES, Language, Text
from advisor.model.findings import (
    Account,
    Diagnosis,
    Evidence,
    HeldTime,
    Measure,
    ModulePlace,
    Outcome,
    Place,
    RemedyStep,
    Saving,
    Severity,
    Spent,
    TimeSplit,
    TitleWith,
)
from advisor.model.run import Capture, Run
from advisor.model.symptoms import folded_under
from advisor.report.blocks import one_line
from advisor.report.diagnosis.cards import by_number, make_cards, worst_place
from advisor.report.diagnosis.document import diagnosis_document, diagnosis_summary
from advisor.report.diagnosis.headline import Headline, _join_alike, make_headline
from advisor.report.diagnosis.held_time import say_held
from advisor.report.diagnosis.page import diagnosis_page
from advisor.report.prose import join_prose, plain_prose
from advisor.report.renderers.markdown import document_text
from advisor.report.renderers.terminal import print_document
from advisor.report.time_split import time_parts
from tests.charts_of_tests import BlankCharts
from tests.findings_of_tests import alike, diagnosis_of, finding_of, rule_of
from tests.input_notes import note


def _said(diagnosis: Diagnosis, language: Language = "en") -> Headline:
    return make_headline(diagnosis, make_cards(diagnosis, language), time_parts(diagnosis.split, language), language)


def _flat(pieces: object) -> str:
    return "".join(piece.text for piece in pieces)  # type: ignore[attr-defined]


def test_a_cause_leads_and_is_what_to_fix_first() -> None:
    said = _said(diagnosis_of(finding_of("host/python", 0.2)))
    assert (said.kind, said.label) == ("fix", "Fix first")
    assert said.first is not None
    assert _flat(said.first.title) == "host/python costs 20 % (rank 0)"


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "(20 %); 72 % of that time in `layers.*/mlp`"),
        ("zh", "（20 %）；其耗时的 72 % 在 `layers.*/mlp`"),
    ],
)
def test_the_first_line_says_where_in_the_model_an_operator_takes_most_of_its_time(
    language: Language, said: str
) -> None:
    places = (ModulePlace(module="layers.*/mlp", share=0.72), ModulePlace(module="layers.*/attention", share=0.28))
    lead = finding_of("compute/slow", 0.2).model_copy(update={"modules": places})
    for document in (diagnosis_document, diagnosis_summary):
        text = document_text(document(diagnosis_of(lead), language))
        assert said in text
    answer = diagnosis_page(diagnosis_of(lead), language, BlankCharts()).split('id="findings"')[0]
    plain = unescape(re.sub("<[^>]*>", "", answer)).replace("\u00a0", " ").replace("\u200b", "")
    assert said.split("20 %")[1].replace("`", "").lstrip(")）") in plain


def test_a_cause_without_an_estimate_leads_with_what_it_explains_wins() -> None:
    full = finding_of("memory/full", symptoms=("memory/churn",))
    said = _said(
        diagnosis_of(full, finding_of("memory/churn", 0.3, causes=("memory/full",)), finding_of("host/python", 0.2))
    )
    assert said.first is not None
    assert (said.first.rule, said.won) == ("memory/full", "saving at most 300 µs per step (30 %)")


@pytest.mark.parametrize("severity", [Severity.medium, Severity.high])
def test_what_wins_nothing_does_not_lead_however_grave_it_is(severity: Severity) -> None:
    nothing = {"saving": Saving(nothing=True)}
    useless = finding_of("compute/wide", severity=severity, symptoms=("memory/churn",)).model_copy(update=nothing)
    churn = finding_of("memory/churn", 0.3, causes=("compute/wide",))
    said = _said(diagnosis_of(useless, churn, finding_of("host/python", 0.2)))
    assert said.first is not None
    assert (said.first.rule, said.won) == ("memory/churn", "saving about 300 µs per step (30 %)")


@pytest.mark.parametrize(("language", "said"), [("en", "no gain expected"), ("zh", "预计无收益")])
def test_a_finding_whose_fix_wins_nothing_says_so_and_not_that_nothing_was_estimated(
    language: Language, said: str
) -> None:
    useless = finding_of("compute/wide").model_copy(update={"saving": Saving(nothing=True)})
    text = document_text(diagnosis_document(diagnosis_of(finding_of("host/python", 0.2), useless), language))
    assert said in text
    assert "not estimated" not in text and "未估算" not in text


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "no gain expected: another rank is the last to finish"), ("zh", "预计无收益：整体进度由其他卡决定")],
)
def test_a_finding_that_wins_nothing_for_another_rank_is_later_says_why(language: Language, said: str) -> None:
    alone = {"saving": Saving(nothing=True), "alone": Saving(us=90.0, share=0.09)}
    early = finding_of("compute/wide").model_copy(update=alone)
    assert said in document_text(diagnosis_document(diagnosis_of(finding_of("host/python", 0.2), early), language))


def test_nothing_is_unexplained_where_a_cause_has_no_estimate() -> None:
    uneven = finding_of("pipeline/uneven", symptoms=("host/idle",))
    idle = finding_of("host/idle", 0.3, restated=0.3, causes=("pipeline/uneven",))
    assert not _said(diagnosis_of(uneven, idle)).beyond
    assert _said(diagnosis_of(finding_of("io/loader", 0.1), finding_of("host/idle", 0.3, restated=0.3))).beyond


def test_a_slight_cause_without_an_estimate_does_not_lead() -> None:
    spare = finding_of("memory/spare", severity=Severity.low, symptoms=("memory/churn",))
    said = _said(diagnosis_of(finding_of("memory/churn", 0.3, causes=("memory/spare",)), spare))
    assert said.first is not None
    assert (said.first.rule, said.won) == ("memory/churn", "saving about 300 µs per step (30 %)")


@pytest.mark.parametrize(
    ("rank", "said"), [(5.0, "costs 20 %, for rank 5"), (None, "costs 20 %"), (1024.0, "costs 20 %, for rank 1024")]
)
def test_a_title_names_what_is_known_and_stays_silent_about_what_is_not(rank: float | None, said: str) -> None:
    finding = finding_of("comm/late", 0.2)
    late = Evidence(name="late_rank", value=rank, unit="")
    diagnosis = diagnosis_of(finding.model_copy(update={"evidence": (*finding.evidence, late)}))
    other = TitleWith(name="late_rank", title=alike("comm/late costs {share}, for rank {late_rank}"))
    [info] = diagnosis.rules
    first = _said(diagnosis.model_copy(update={"rules": (info.model_copy(update={"titles": (other,)}),)})).first
    assert first is not None
    assert _flat(first.title) == f"comm/late {said} (rank 0)"


def test_a_symptom_without_a_cause_says_what_is_known_and_not_what_to_fix() -> None:
    said = _said(diagnosis_of(finding_of("host/idle", 0.1, restated=0.3)))
    assert (said.kind, said.label) == ("look", "Known so far")
    assert said.first is not None
    assert said.first.saving == "at most 100 µs per step (10 %)"
    assert said.won == ""  # what hides of it is no gain to lead with


@pytest.mark.parametrize(
    ("severity", "kind", "first"),
    [(Severity.medium, "record", "capture/lost"), (Severity.low, "fix", "host/python")],
    ids=["half of its rows are gone", "few rows are gone"],
)
def test_a_cause_seen_in_what_is_left_of_a_file_does_not_lead(severity: Severity, kind: str, first: str) -> None:
    cause = finding_of("host/python", 0.8).model_copy(update={"doubted_by": ("capture/lost",)})
    said = _said(diagnosis_of(cause, finding_of("capture/lost", severity=severity)))
    assert said.kind == kind
    assert said.first is not None
    assert said.first.rule == first


@pytest.mark.parametrize(("table", "kind", "first"), [("kernels", "record", "capture/lost"), ("", "look", "host/idle")])
def test_idle_time_that_kernels_left_out_of_a_file_leave_does_not_lead(table: str, kind: str, first: str) -> None:
    """What else makes the capture doubtful lets stand what was measured: a cut timeline the sums of its kernels."""
    lost = finding_of("capture/lost").model_copy(update={"subject": {"of": table} if table else {}})
    idle = finding_of("host/idle", 0.5, restated=0.6).model_copy(update={"doubted_by": ("capture/lost",)})
    said = _said(diagnosis_of(idle, lost))
    assert said.kind == kind
    assert said.first is not None
    assert said.first.rule == first


def test_what_may_be_chance_neither_folds_what_is_sure_nor_hides_the_finding_that_leads() -> None:
    apart = finding_of("capture/ranks-apart")
    rank = finding_of("ranks/slow", 0.5, symptoms=("host/python",)).model_copy(
        update={"doubted_by": ("capture/ranks-apart",)}
    )
    python = finding_of("host/python", 0.45, causes=("ranks/slow",))
    diagnosis = diagnosis_of(rank, python, apart)
    said = _said(diagnosis)
    assert said.first is not None
    assert said.first.rule == "host/python"
    assert folded_under(diagnosis) == {}


def test_a_small_cause_leads_its_large_symptom_and_what_stays_unexplained_is_said() -> None:
    cause = finding_of("env/queue", 0.02, symptoms=("host/idle",))
    said = _said(diagnosis_of(cause, finding_of("host/idle", 0.25, restated=0.3, causes=("env/queue",))))
    assert said.kind == "fix"
    assert said.first is not None
    assert said.first.rule == "env/queue"
    assert _flat(said.first.folds[0].title) == "host/idle costs 25 % (rank 0)"
    assert _flat(said.beyond).startswith("The findings leave 28 % of the step unexplained, which shows up as: ")


@pytest.mark.parametrize(("won", "kind"), [(0.02, "partly"), (0.2, "same_time")])
def test_a_symptom_is_called_the_same_time_only_where_its_causes_explain_most_of_it(won: float, kind: str) -> None:
    cause = finding_of("io/loader", won, symptoms=("host/idle",))
    said = _said(diagnosis_of(cause, finding_of("host/idle", 0.25, restated=0.3, causes=("io/loader",))))
    assert said.first is not None
    assert [_flat(one.title) for one in getattr(said.first, kind)] == ["host/idle costs 25 % (rank 0)"]
    assert len(said.first.partly) + len(said.first.same_time) == 1


def test_remarks_on_the_capture_and_trifles_do_not_lead() -> None:
    quiet = (Outcome(rule="host/a", outcome="quiet"), Outcome(rule="compute/b", outcome="quiet"))
    remark = finding_of("capture/stacks", severity=Severity.low)
    said = _said(diagnosis_of(finding_of("compute/cast", 0.01), remark, outcomes=quiet))
    assert (said.kind, said.first) == ("fine", None)
    assert said.says == "Nothing needs fixing. Rules that found nothing wrong: host 1, compute 1."
    assert _flat(said.beyond) == (
        "The next gain would be: compute/cast costs 1.0 % (rank 0) – about 10.0 µs per step (1.0 %)."
    )


HELD = (
    HeldTime(against="roofline", share=0.6),
    HeldTime(against="unknown attention", share=0.21),
    HeldTime(against="", share=0.1),
    HeldTime(against="bandwidth", share=0.08),
    HeldTime(against="short", share=0.01),
)


@pytest.mark.parametrize(
    ("language", "told", "listed"),
    [
        (
            "en",
            "68 % of the kernel time was held against what the chip can do; not: 21 % in attention whose operations "
            "are not known, 10 % in kernels without recorded shapes.",
            "Held against what the chip can do: 68 % of the kernel time; not: 21 % in attention whose",
        ),
        (
            "zh",
            "kernel 时间中有 68 % 与芯片能力做了对比；未对比的有：计算量未知的注意力 21 %，未采集 shape 的算子 10 %。",
            "与芯片能力做了对比的：kernel 时间的 68 %；未对比的有：计算量未知的注意力 21 %",
        ),
    ],
)
def test_where_nothing_needs_fixing_it_is_said_how_much_was_held_against_the_chip(
    language: Language, told: str, listed: str
) -> None:
    quiet = (Outcome(rule="compute/b", outcome="quiet"),)
    fine = diagnosis_of(outcomes=quiet).model_copy(update={"account": Account(held=HELD)})
    assert _flat(_said(fine, language).held) == told
    found = diagnosis_of(finding_of("host/python", 0.2)).model_copy(update={"account": Account(held=HELD)})
    assert _said(found, language).held == ()
    assert listed in one_line(diagnosis_document(found, language).blocks)
    assert _said(diagnosis_of(outcomes=quiet), language).held == ()


def _unjudged(*held: HeldTime) -> Diagnosis:
    spent = (Spent(part="compute", name="MatMulV3", us=600),)
    found = diagnosis_of(outcomes=(Outcome(rule="compute/b", outcome="quiet"),))
    return found.model_copy(update={"account": Account(spent=spent, held=held)})


@pytest.mark.parametrize(
    ("against", "helps"),
    [
        ("custom", "time it beside a library operator"),
        ("", "Record the shapes of operators"),
        ("short", "what helps is fewer of them"),
        ("unknown work", "not: 95 % in kernels whose work is not known."),
    ],
)
def test_where_hardly_anything_was_held_against_the_chip_the_kernels_are_not_called_fine(
    against: str, helps: str
) -> None:
    said = _said(_unjudged(HeldTime(against=against, share=0.95), HeldTime(against="roofline", share=0.05)))
    assert said.kind == "fine"
    assert said.says.startswith(
        "No rule found anything to fix, but whether the kernels could be quicker is not known: 5.0 %"
    )
    assert helps in _flat(said.held)
    assert all(_said(_unjudged(HeldTime(against=against, share=1)), language).says for language in LANGUAGES)


def test_where_nothing_names_the_chip_it_is_asked_for() -> None:
    said = _said(_unjudged())
    assert said.says.startswith(
        "No rule found anything to fix, but whether the kernels could be quicker is not known: 0 %"
    )
    assert "--chip" in _flat(said.held)
    idle = diagnosis_of(outcomes=(Outcome(rule="host/b", outcome="quiet"),)).model_copy(update={"account": Account()})
    assert _said(idle).says.startswith("Nothing needs fixing.")


def test_of_the_work_of_a_device_alone_it_is_said_as_well_that_nobody_knows_what_it_waited_for() -> None:
    found = _unjudged(HeldTime(against="custom", share=1))
    blind = (*found.outcomes, Outcome(rule="host/b", outcome="skipped"))
    capture = Capture(rank=0, path="prof", source="text", recorder="msprof")
    run = Run(ranks=(0,), captures=(capture,))
    said = _said(found.model_copy(update={"outcomes": blind, "run": run}))
    assert "0 % of their time was held" in said.says and "what the device waited for in between" in said.says


def test_a_tenth_that_was_held_against_the_chip_is_enough_to_call_a_job_healthy() -> None:
    said = _said(_unjudged(HeldTime(against="short", share=0.9), HeldTime(against="bandwidth", share=0.1)))
    assert said.says.startswith("Nothing needs fixing.")


def test_every_word_for_what_is_held_against_nothing_is_said_in_both_languages() -> None:
    words = re.findall(r"`([a-z_ ]+)`", OperatorRoofline.columns()["held_against"].doc)
    assert len(words) > 10
    for word in {*words} - {"roofline", "bandwidth"}:
        alone = Account(held=(HeldTime(against=word, share=1.0),))
        assert all("100 %" in _flat(say_held(alone, language)) for language in LANGUAGES)


@pytest.mark.parametrize(
    ("outcomes", "kind", "told"),
    [
        (
            {"acme/mine": "quiet"},
            "fine",
            "None of the rules asked for (acme/*, capture/*) found anything that needs fixing; no other rule ran. "
            "Found nothing wrong: acme 1.",
        ),
        (
            {"capture/lost": "quiet", "acme/mine": "skipped"},
            "fine",
            "None of the rules asked for (acme/*, capture/*) found anything that needs fixing; no other rule ran. "
            "Found nothing wrong: capture quality 1; not checked: 1.",
        ),
        (
            {"acme/mine": "fired"},
            "fine",
            "What the rules asked for (acme/*, capture/*) found is not worth acting on; no other rule ran.",
        ),
        (
            {"acme/mine": "fired", "acme/more": "skipped"},
            "fine",
            "What the rules asked for (acme/*, capture/*) found is not worth acting on; no other rule "
            "ran. Not checked: 1.",
        ),
        (
            {"acme/mine": "not applicable"},
            "blind",
            "None of the rules asked for (acme/*, capture/*) could check this capture, and no other rule ran. This "
            "does "
            "not mean that all is well.",
        ),
    ],
)
def test_where_only_some_rules_were_asked_for_the_job_is_not_called_healthy(
    outcomes: dict[str, Literal["fired", "quiet", "skipped", "not applicable"]], kind: str, told: str
) -> None:
    trifle = finding_of("acme/other", 0.01)
    looked = tuple(Outcome(rule=name, outcome=said) for name, said in outcomes.items())
    said = _said(diagnosis_of(trifle, outcomes=looked).model_copy(update={"asked": ("acme/*", "capture/*")}))
    assert (said.kind, said.says, said.beyond) == (kind, told, ())


@pytest.mark.parametrize(
    ("blind", "steps", "begins"),
    [
        (2, False, "Nothing needs fixing in what was"),
        (3, False, "Too little was recorded"),
        (3, True, "Nothing needs fixing in what was"),
    ],
)
def test_where_no_step_is_known_and_most_rules_could_not_look_a_job_is_not_called_healthy(
    blind: int, steps: bool, begins: str
) -> None:
    quiet = (Outcome(rule="host/a", outcome="quiet"), Outcome(rule="compute/b", outcome="quiet"))
    skipped = tuple(Outcome(rule=f"comm/{number}", outcome="skipped") for number in range(blind))
    found = diagnosis_of(outcomes=quiet + skipped)
    assert _said(found if steps else found.model_copy(update={"split": None})).says.startswith(begins)


@pytest.mark.parametrize(
    ("severity", "rule", "kind"),
    [
        (Severity.medium, "capture/incomplete-kernels", "record"),
        (Severity.low, "capture/incomplete-kernels", "fix"),
        (Severity.medium, "capture/damaged-input", "fix"),
    ],
)
def test_where_the_step_is_unknown_because_most_kernels_are_gone_a_cause_without_an_estimate_does_not_lead(
    severity: Severity, rule: str, kind: str
) -> None:
    found = (finding_of("compute/layout"), finding_of(rule, severity=severity))
    diagnosis = Diagnosis(version="1", run=Run(), findings=found, rules=tuple(rule_of(one.rule) for one in found))
    assert make_headline(diagnosis, make_cards(diagnosis, "en"), (), "en").kind == kind


def test_where_no_step_is_known_a_finding_without_an_estimate_leads_by_its_severity() -> None:
    totals = diagnosis_of(finding_of("compute/layout"), finding_of("compute/top", severity=Severity.info))
    assert _said(totals.model_copy(update={"split": None})).kind == "fix"


def test_a_grave_doubt_about_the_capture_asks_to_record_again() -> None:
    said = _said(
        diagnosis_of(finding_of("capture/contradicted", severity=Severity.high), finding_of("host/python", 0.2))
    )
    assert (said.kind, said.label) == ("record", "Record again first")


@pytest.mark.parametrize(
    ("severity", "said"),
    [(Severity.medium, "Read the numbers with care: capture/lost (rank 0)."), (Severity.low, "")],
    ids=["half of a file is gone", "a row is gone"],
)
def test_under_the_first_line_stands_what_makes_the_numbers_doubtful(severity: Severity, said: str) -> None:
    damage = finding_of("capture/lost", severity=severity)
    assert _flat(_said(diagnosis_of(finding_of("host/python", 0.2), damage)).doubts).replace(" costs 0 %", "") == said


def test_what_several_doubts_begin_with_is_said_once() -> None:
    titles = ("Not read: whole files", "Not read: rows", "Lost: 3 %", "Cut")
    joined = join_prose("", _join_alike((plain_prose(title) for title in titles), "en"))
    assert _flat(joined) == "Not read: whole files, rows; Lost: 3 %; Cut"


def test_beside_a_capture_to_record_again_nothing_is_said_to_be_without_a_cause() -> None:
    little = finding_of("capture/little", severity=Severity.high)
    said = _said(diagnosis_of(little, finding_of("host/idle", 0.9, restated=0.9)))
    assert (said.kind, said.beyond) == ("record", ())


def test_a_capture_of_which_much_is_missing_is_not_called_healthy() -> None:
    quiet = (Outcome(rule="host/a", outcome="quiet"),)
    cut = finding_of("capture/cut", severity=Severity.medium)
    said = _said(diagnosis_of(finding_of("compute/cast", 0.01), cut, outcomes=quiet))
    assert (said.kind, said.first and said.first.rule) == ("record", "capture/cut")
    assert _said(diagnosis_of(finding_of("host/python", 0.2), cut, outcomes=quiet)).kind == "fix"


def test_what_nobody_could_measure_is_not_the_next_gain() -> None:
    near = Measure(fingerprint="x", saving=Saving(us=4, share=0.004), evidence=())
    said = _said(diagnosis_of(outcomes=(Outcome(rule="compute/cast", outcome="quiet", measures=(near,)),)))
    assert said.beyond == ()


def test_of_a_healthy_run_what_came_nearest_is_the_next_gain() -> None:
    near = Measure(
        fingerprint="x",
        saving=Saving(us=20, share=0.02),
        evidence=(Evidence(name="share", value=0.02, unit="share"),),
        short_of="share",
    )
    said = _said(diagnosis_of(outcomes=(Outcome(rule="compute/cast", outcome="quiet", measures=(near,)),)))
    assert _flat(said.beyond) == "The next gain would be: compute/cast costs 2.0 % – about 20.0 µs per step (2.0 %)."


def test_what_would_be_worth_acting_on_were_it_clear_is_told_as_let_pass() -> None:
    near = Measure(
        fingerprint="x",
        saving=Saving(us=200, share=0.2),
        evidence=(Evidence(name="share", value=0.2, unit="share"),),
        short_of="contrast",
    )
    said = _said(diagnosis_of(outcomes=(Outcome(rule="compute/cast", outcome="quiet", measures=(near,)),)))
    assert _flat(said.beyond).startswith("The largest value that stayed within its threshold: compute/cast costs 20 %")


def test_what_a_rule_kept_quiet_of_for_another_reason_is_no_gain() -> None:
    guarded = Measure(fingerprint="x", saving=Saving(us=900, share=0.9))
    said = _said(diagnosis_of(outcomes=(Outcome(rule="compute/cast", outcome="quiet", measures=(guarded,)),)))
    assert said.beyond == ()


def test_where_nothing_came_near_the_longest_operator_is_named_and_no_gain_is_promised() -> None:
    account = Account(spent=(Spent(part="compute", name="MatMulV3", us=400),))
    said = _said(diagnosis_of(outcomes=(Outcome(rule="compute/cast", outcome="quiet"),), account=account))
    assert _flat(said.beyond) == "The longest operator is MatMulV3, with 40 % of the step."


def test_nothing_checked_is_never_health() -> None:
    assert _said(diagnosis_of(outcomes=(Outcome(rule="compute/cast", outcome="skipped"),))).kind == "blind"


def test_step_and_parts_are_those_of_one_step_and_an_uneven_rank_is_named() -> None:
    split = TimeSplit(
        step_us=1000, compute_us=600, exposed_comm_us=100, overlapped_us=0, free_us=300, slowest_rank=1, slowest_us=1100
    )
    uneven = diagnosis_of(finding_of("host/python", 0.2)).model_copy(update={"split": split})
    assert _said(uneven).time == (
        "A step takes 1.00 ms (mean of 2 ranks; rank 1 is the slowest, with 1.10 ms): "
        "60 % compute, 30 % idle, 10 % exposed communication."
    )
    even = uneven.model_copy(update={"split": split.model_copy(update={"slowest_us": 1020.0})})
    assert "slowest" not in _said(even).time
    of_three = uneven.model_copy(update={"split": split.model_copy(update={"ranks": 3})})
    assert "(mean of 3 ranks; " in _said(of_three).time


def test_where_marks_of_steps_are_further_apart_than_their_work_that_is_said() -> None:
    split = TimeSplit(step_us=1000, compute_us=700, exposed_comm_us=0, overlapped_us=0, free_us=300, marked_us=1500.0)
    marked = diagnosis_of(finding_of("host/python", 0.2)).model_copy(update={"split": split})
    assert _said(marked).time.endswith("30 % idle. By the step marks of the program it is 1.50 ms.")
    window = marked.model_copy(update={"run": marked.run.model_copy(update={"steps": ()})})
    assert "mark" not in _said(window).time


@pytest.mark.parametrize(("ranks", "words"), [((0,), " (rank 0)"), ((1, 0), " (rank 1, worst of 2 ranks)"), ((), "")])
def test_a_title_says_of_which_rank_its_numbers_are(ranks: tuple[int, ...], words: str) -> None:
    (card,) = make_cards(diagnosis_of(finding_of("host/python", 0.2, ranks=ranks)), "en")
    assert _flat(card.title) == f"host/python costs 20 %{words}"


@pytest.mark.parametrize(("language", "words"), [("en", ", one of 2 places"), ("zh", "，共 2 处")])
def test_what_is_seen_in_two_stages_is_not_placed_in_one_alone(language: Language, words: str) -> None:
    places = tuple(Place(rank=rank, stage=rank // 2) for rank in range(4))
    (card,) = make_cards(diagnosis_of(finding_of("host/python", 0.2).model_copy(update={"seen": places})), language)
    assert worst_place(card, language).endswith(words)
    (alone,) = make_cards(diagnosis_of(finding_of("host/python", 0.2)), language)
    assert worst_place(alone, language) == "rank 0"


@pytest.mark.parametrize(
    ("language", "words"), [("en", "Rank 7: 20 % (also ranks 1–3)"), ("zh", "rank 7：20 %（rank 1–3 也是）")]
)
def test_a_title_that_names_the_worst_rank_names_the_others_beside_it(language: Language, words: str) -> None:
    finding = finding_of("ranks/slow", 0.2, ranks=(7, 1, 2, 3))
    evidence = (*finding.evidence, Evidence(name="rank", value=7))
    diagnosis = diagnosis_of(finding.model_copy(update={"evidence": evidence}))
    titled = rule_of("ranks/slow").model_copy(
        update={"title": Text(en="Rank {rank}: {share}", zh="rank {rank}：{share}")}
    )
    (card,) = make_cards(diagnosis.model_copy(update={"rules": (titled,)}), language)
    assert _flat(card.title) == words


@pytest.mark.parametrize(
    ("us", "words"),
    [
        ({2: 20e3, 5: 9e3}, "Cost by rank: rank 2 20.0 ms, rank 5 9.00 ms. Fixing rank 2 alone would win 11.0 ms; "),
        ({2: 20e3, 5: 19e3}, "These ranks cost the step about the same: the saving needs all of them fixed."),
        ({2: 20e3}, ""),
    ],
)
def test_what_each_of_several_slow_ranks_costs_is_told(us: dict[int, float], words: str) -> None:
    """Two ranks hold up the others: the worst one is not worth what both are."""
    seen = tuple(Place(rank=rank, saving_us=one) for rank, one in us.items())
    finding = finding_of("ranks/slow-rank", 0.2).model_copy(update={"seen": seen})
    rule = rule_of("ranks/slow-rank").model_copy(update={"assumes": Text(en="It is mended.", zh="已修复。")})
    (card,) = make_cards(diagnosis_of(finding).model_copy(update={"rules": (rule,)}), "en")
    said = _flat(card.assumes).removeprefix("It is mended.").strip()
    assert said.startswith(words)
    assert bool(said) == bool(words)
    uneven = finding.model_copy(update={"rule": "ranks/uneven-work"})
    (card,) = make_cards(
        diagnosis_of(uneven).model_copy(update={"rules": (rule.model_copy(update={"id": "ranks/uneven-work"}),)}), "en"
    )
    assert _flat(card.assumes) == "It is mended."  # what one gives up others get


@pytest.mark.parametrize(
    ("own", "language", "words"),
    [
        (1_080.0, "en", " (rank 1, whose step takes 1.08 ms, worst of 2 ranks)"),
        (920.0, "zh", "（rank 1，该卡单步 920 µs，2 张卡中最严重）"),
        (1_020.0, "en", " (rank 1, worst of 2 ranks)"),
        (None, "en", " (rank 1, worst of 2 ranks)"),
    ],
)
def test_a_title_says_of_which_step_its_share_is(own: float | None, language: Language, words: str) -> None:
    finding = finding_of("host/python", 0.2, ranks=(1, 0)).model_copy(update={"step_us": own})
    (card,) = make_cards(diagnosis_of(finding), language)
    assert _flat(card.title).endswith(words)


def test_a_category_of_a_saved_diagnosis_that_nobody_knows_stays_on_the_line() -> None:
    odd = Outcome(rule="own\u2028category\n/a", outcome="quiet")
    said = _said(diagnosis_of(outcomes=(odd,))).says
    assert len(said.splitlines()) == 1


def _tops(diagnosis: Diagnosis, language: Language) -> tuple[str, str, str]:
    """What stands above the findings in Markdown, on a terminal and on the page."""
    printed = io.StringIO()
    print_document(diagnosis_summary(diagnosis, language), Console(file=printed, width=400))
    return (
        document_text(diagnosis_document(diagnosis, language)).split("## ")[0],
        printed.getvalue().split("\n 1 ")[0],
        diagnosis_page(diagnosis, language, BlankCharts()).split('id="findings"')[0],
    )


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_report_on_one_of_several_captures_says_at_the_top_which(language: Language) -> None:
    chosen = (note("other_captures=4"), note("chosen=r0_ascend_pt, r1_ascend_pt, r2_ascend_pt"))
    diagnosis = diagnosis_of(finding_of("host/a", 0.2))
    several = diagnosis.model_copy(update={"run": diagnosis.run.model_copy(update={"notes": chosen})})
    assert all("r0_ascend_pt, r1_ascend_pt, …" in top for top in _tops(several, language))
    assert not any("r0_ascend_pt" in top for top in _tops(diagnosis, language))


@pytest.mark.parametrize(
    ("rule", "won", "folded"),
    [
        *(("host/python", won, folded) for won, folded in ((0.2, True), (0.2005, True), (0.203, False), (0.0, False))),
        *(("ranks/late", won, folded) for won, folded in ((0.24, True), (0.26, False), (0.17, True), (0.15, True))),
    ],
)
def test_a_finding_that_wins_what_its_cause_wins_is_the_same_time(rule: str, won: float, folded: bool) -> None:
    cause = finding_of("host/eager", 0.2, symptoms=(rule,))
    effect = finding_of(rule, won, causes=("host/eager",))
    diagnosis = diagnosis_of(cause, effect)
    assert folded_under(diagnosis) == ({rule: "host/eager"} if folded else {})
    first, second = make_cards(diagnosis, "en")
    assert (second.is_folded, len(first.folds)) == (folded, folded)


@pytest.mark.parametrize(("won", "said"), [(0.2, ["Look there."]), (0.1, ["Turn it on.", "Copy this.", "Look there."])])
def test_a_remedy_that_stands_with_the_cause_is_not_said_again_below_it(won: float, said: list[str]) -> None:
    """A finding that stands for itself says all of its own."""
    cause = finding_of("host/eager", 0.2, symptoms=("host/python",))
    effect = finding_of("host/python", won, causes=("host/eager",))
    of_cause = (
        RemedyStep(do=alike("Turn it on."), run="export A=1"),
        RemedyStep(do=alike("Also."), code="f(x)"),
    )
    own = (
        RemedyStep(do=alike("Turn it on.")),
        RemedyStep(do=alike("Copy this."), code="f(x)"),
        RemedyStep(do=alike("Look there."), run="export B=1"),
    )
    diagnosis = diagnosis_of(cause, effect)
    fixes = {"host/eager": of_cause, "host/python": own}
    rules = tuple(rule.model_copy(update={"fix": fixes.get(rule.id, ())}) for rule in diagnosis.rules)
    _, card = make_cards(diagnosis.model_copy(update={"rules": rules}), "en")
    assert [one_line(step.do) for step in card.actions] == said


def test_a_medium_cause_without_an_estimate_leads_where_nothing_else_does() -> None:
    said = _said(diagnosis_of(finding_of("env/logs"), finding_of("compute/cast", 0.01)))
    assert said.first is not None
    assert (said.kind, said.first.rule) == ("fix", "env/logs")
    slight = _said(
        diagnosis_of(finding_of("env/logs", severity=Severity.low), outcomes=(Outcome(rule="a/b", outcome="quiet"),))
    )
    assert slight.kind == "fine"


def test_what_stands_for_itself_is_numbered_on_and_what_is_folded_behind_its_cause() -> None:
    findings = (
        finding_of("host/eager", 0.3, symptoms=("host/python", "host/late")),
        finding_of("host/python", 0.3, causes=("host/eager",)),
        finding_of("comm/slow", 0.2),
        finding_of("host/late", 0.3, causes=("host/python",)),
        finding_of("io/loader", 0.1),
    )
    assert [card.number for card in make_cards(diagnosis_of(*findings), "en")] == ["1", "1.1", "2", "1.2", "3"]


def test_reports_show_what_is_folded_behind_what_it_is_folded_under() -> None:
    findings = (
        finding_of("host/eager", 0.3, symptoms=("host/python", "host/late")),
        finding_of("comm/slow", 0.2, symptoms=("comm/exposed",)),
        finding_of("comm/exposed", 0.2, causes=("comm/slow",)),
        finding_of("host/late", 0.3, causes=("host/eager",)),
        finding_of("host/python", 0.3, causes=("host/eager",)),
        finding_of("io/loader", 0.1),
    )
    shown = by_number(make_cards(diagnosis_of(*findings), "en"))
    assert [card.number for card in shown] == ["1", "1.1", "1.2", "2", "2.1", "3"]


links = st.lists(st.sets(st.integers(0, 5), max_size=2), min_size=6, max_size=6)


@given(links)
def test_each_finding_has_a_number_of_its_own_and_those_shown_alone_are_counted_without_gaps(
    causes: list[set[int]],
) -> None:
    findings = (
        finding_of(f"a/{at}", 0.2, causes=tuple(f"a/{one}" for one in sorted(of))) for at, of in enumerate(causes)
    )
    cards = make_cards(diagnosis_of(*findings), "en")
    assert len({card.number for card in cards}) == len(cards)
    alone = [card.number for card in cards if not card.is_folded]
    assert alone == [str(number) for number in range(1, len(alone) + 1)]
    assert alone
    folded = sorted(card.number.split(".")[0] for card in cards if card.is_folded)
    assert folded == sorted(card.number for card in cards for _ in card.folds)
