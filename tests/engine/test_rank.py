# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.engine.doubt import with_doubts
from advisor.engine.rank import rank_findings
from advisor.messages.text import Text
from advisor.model.findings import (
    WORTH_SHARE,
    Confidence,
    Evidence,
    Finding,
    Place,
    RemedyStep,
    Saving,
    Severity,
    fingerprint,
)


@dataclass(frozen=True)
class Bound:
    at_most: bool = True


@dataclass(frozen=True)
class Rule:
    id: str
    explains: tuple[str, ...] = ()
    formerly: tuple[str, ...] = ()
    own_reason: str = ""
    fix: tuple[RemedyStep, ...] = ()
    saving: Bound | None = None
    doubts: tuple[str, ...] = ()
    coverage: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Rules:
    rules: tuple[Rule, ...]


def finding(
    rule: str, share: float = 0.0, severity: Severity = Severity.medium, ranks: tuple[int, ...] = (), name: str = ""
) -> Finding:
    subject = {"op_type": name} if name else {}
    return Finding(
        rule=rule,
        fingerprint=fingerprint(rule, subject),
        severity=severity,
        confidence=Confidence.low,
        saving=Saving(us=share * 1000, share=share),
        restated=Saving(us=share * 1000, share=share) if rule.endswith("time") else None,
        subject=subject,
        seen=tuple(Place(rank=rank) for rank in ranks),
    )


def order(findings: list[Finding], **explains: tuple[str, ...]) -> list[str]:
    rules = Rules(tuple(Rule(f.rule, explains.get(f.rule.split("/")[1], ())) for f in findings))
    return [f.rule.split("/")[1] for f in rank_findings(findings, rules)]


def test_the_larger_saving_leads() -> None:
    assert order([finding("host/a", 0.1), finding("host/b", 0.4), finding("host/c", 0.2)]) == ["b", "c", "a"]


TO_COPY = RemedyStep(do=Text(en="Load ahead", zh="预取"), code="DataLoader(dataset, num_workers=8)")
TO_WORK_OUT = RemedyStep(do=Text(en="Call fewer operators", zh="减少算子调用"))


@pytest.mark.parametrize(
    ("share", "steps", "said", "wanted"),
    [
        (0.41, (TO_COPY,), None, ["b", "a"]),
        (0.39, (TO_COPY,), None, ["a", "b"]),
        (0.41, (TO_WORK_OUT, TO_COPY), None, ["a", "b"]),
        (0.41, (TO_WORK_OUT, TO_COPY), (1,), ["b", "a"]),
        (0.41, (TO_WORK_OUT, TO_COPY), (), ["a", "b"]),
        (0.41, (), None, ["a", "b"]),
    ],
)
def test_of_two_savings_that_are_close_the_one_with_a_remedy_to_copy_stands_first(
    share: float, steps: tuple[RemedyStep, ...], said: tuple[int, ...] | None, wanted: list[str]
) -> None:
    rules = Rules((Rule("host/a", fix=(TO_WORK_OUT,)), Rule("io/b", fix=steps)))
    sure = {"fix": said, "confidence": Confidence.medium}
    found = [finding("host/a", 0.5), finding("io/b", share).model_copy(update=sure)]
    assert [one.rule[-1] for one in rank_findings(found, rules)] == wanted


@pytest.mark.parametrize(
    ("share", "there", "here", "wanted"),
    [
        (0.41, Confidence.high, Confidence.low, ["b", "a"]),
        (0.39, Confidence.high, Confidence.low, ["a", "b"]),
        (0.49, Confidence.high, Confidence.medium, ["a", "b"]),
        (0.46, Confidence.low, Confidence.low, ["a", "b"]),
    ],
    ids=["the sure one", "no longer close", "both are sure", "neither is sure"],
)
def test_of_two_remedies_to_copy_whose_savings_are_close_the_sure_one_stands_first(
    share: float, there: Confidence, here: Confidence, wanted: list[str]
) -> None:
    rules = Rules((Rule("host/a", fix=(TO_COPY,)), Rule("io/b", fix=(TO_COPY,))))
    found = [
        finding("host/a", 0.5).model_copy(update={"confidence": here}),
        finding("io/b", share).model_copy(update={"confidence": there}),
    ]
    assert [one.rule[-1] for one in rank_findings(found, rules)] == wanted


@pytest.mark.parametrize(
    ("share", "sure", "bound", "wanted"),
    [
        (0.26, Confidence.low, Bound(), ["b", "a"]),
        (0.24, Confidence.low, Bound(), ["a", "b"]),
        (0.26, Confidence.medium, Bound(), ["a", "b"]),
        (0.26, Confidence.low, Bound(at_most=False), ["a", "b"]),
        (0.26, Confidence.low, None, ["a", "b"]),
    ],
    ids=["a guess", "far more", "sure", "no bound", "no estimate"],
)
def test_a_guess_that_is_told_with_the_most_it_can_win_counts_for_half(
    share: float, sure: Confidence, bound: Bound | None, wanted: list[str]
) -> None:
    rules = Rules((Rule("comm/a", saving=bound), Rule("ranks/b", saving=Bound(at_most=False))))
    found = [
        finding("comm/a", 0.5).model_copy(update={"confidence": sure}),
        finding("ranks/b", share).model_copy(update={"confidence": Confidence.high}),
    ]
    assert [one.rule[-1] for one in rank_findings(found, rules)] == wanted


@pytest.mark.parametrize(
    ("severity", "wanted"), [(Severity.medium, ["b", "a", "lost"]), (Severity.low, ["a", "b", "lost"])]
)
def test_a_cause_in_what_is_left_of_a_file_stands_behind_the_others(severity: Severity, wanted: list[str]) -> None:
    lost = finding("capture/lost", severity=severity)
    doubted = finding("host/a", 0.4).model_copy(update={"doubted_by": (lost.fingerprint,)})
    assert order([doubted, finding("host/b", 0.1), lost]) == wanted


def test_what_is_sure_stands_above_a_cause_of_it_that_may_be_chance() -> None:
    lost = finding("capture/lost", severity=Severity.medium)
    doubted = finding("ranks/a", 0.4).model_copy(update={"doubted_by": (lost.fingerprint,)})
    found = [doubted, finding("host/b", 0.3), finding("comm/time", 0.2), finding("host/c", 0.05), lost]
    assert order(found, a=("host/b", "comm/time")) == ["b", "time", "c", "a", "lost"]


@pytest.mark.parametrize(("ranks", "wanted"), [((1, 0), ["a", "b"]), ((0, 1), ["b", "a"]), ((), ["b", "a"])])
def test_a_cause_that_is_worst_on_a_rank_whose_files_are_whole_keeps_its_place(
    ranks: tuple[int, ...], wanted: list[str]
) -> None:
    lost = finding("capture/lost", severity=Severity.medium, ranks=(0,))
    doubted = finding("host/a", 0.4, ranks=ranks).model_copy(update={"doubted_by": (lost.fingerprint,)})
    assert order([doubted, finding("host/b", 0.1), lost])[:2] == wanted


@pytest.mark.parametrize(("elsewhere", "wanted"), [(150.0, ["a", "b"]), (90.0, ["b", "a"])])
def test_a_cause_that_a_rank_with_whole_files_shows_about_as_large_keeps_its_place(
    elsewhere: float, wanted: list[str]
) -> None:
    lost = finding("capture/lost", severity=Severity.medium, ranks=(0,))
    seen = (Place(rank=0, saving_us=200.0), Place(rank=1, saving_us=elsewhere))
    doubted = finding("host/a", 0.4).model_copy(update={"doubted_by": (lost.fingerprint,), "seen": seen})
    assert order([doubted, finding("host/b", 0.1), lost])[:2] == wanted


def test_a_cause_stands_above_its_symptom_even_if_it_saves_less() -> None:
    found = [finding("host/symptom", 0.4), finding("host/cause", 0.3), finding("comm/other", 0.35)]
    assert order(found, cause=("host/symptom",)) == ["cause", "symptom", "other"]


def test_a_cause_that_wins_too_little_to_be_fixed_first_does_not_stand_above_what_wins_more() -> None:
    found = [finding("comm/big", 0.6), finding("ranks/link", 0.029), finding("host/python", 0.2)]
    assert order(found, link=("comm/big",)) == ["big", "python", "link"]
    little = [finding("comm/little", 0.02), finding("ranks/link", 0.025), finding("host/python", 0.01)]
    assert order(little, link=("comm/little",)) == ["link", "little", "python"]


@pytest.mark.parametrize(("rule", "little", "enough"), [("pipeline/it", 0.11, 0.12), ("compute/it", 0.07, 0.08)])
def test_a_cause_of_too_small_a_part_of_what_it_explains_leaves_the_lead_to_that(
    rule: str, little: float, enough: float
) -> None:
    """Half of a bubble, a third of others."""
    found = [finding(rule, 0.23), finding("pipeline/stages", little), finding("comm/other", 0.05)]
    assert order(found, stages=(rule,)) == ["it", "stages", "other"]
    found[1] = finding("pipeline/stages", enough)
    assert order(found, stages=(rule,)) == ["stages", "it", "other"]


def test_whoever_makes_others_wait_leads_however_little_of_it_is_promised() -> None:
    found = [finding("comm/waiting", 0.39), finding("ranks/slow", 0.085), finding("host/other", 0.2)]
    assert order(found, slow=("comm/waiting",)) == ["slow", "waiting", "other"]


def test_a_slow_rank_is_led_by_what_makes_up_half_of_it_and_by_nothing_less() -> None:
    found = [finding("ranks/slow-host-rank", 0.62), finding("io/loader", 0.3), finding("host/other", 0.1)]
    assert order(found, loader=("ranks/slow-host-rank",)) == ["slow-host-rank", "loader", "other"]
    found[1] = finding("io/loader", 0.32)
    assert order(found, loader=("ranks/slow-host-rank",)) == ["loader", "slow-host-rank", "other"]


def test_the_biggest_problem_leads_with_its_causes() -> None:
    found = [
        finding("comm/big", 0.6),
        finding("host/idle", 0.2),
        finding("host/late", 0.15),
        finding("comm/small", 0.15),
    ]
    wanted = ["small", "big", "late", "idle"]
    assert order(found, late=("host/idle",), small=("comm/big",)) == wanted


def test_a_symptom_is_not_lifted_above_what_saves_more() -> None:
    found = [finding("host/symptom", 0.1), finding("host/cause", 0.5), finding("comm/other", 0.3)]
    assert order(found, cause=("host/symptom",)) == ["cause", "other", "symptom"]


def test_a_cause_of_a_cause_stands_as_high_as_what_it_brings_about() -> None:
    found = [finding("host/end", 0.5), finding("host/middle", 0.2), finding("host/root", 0.0), finding("comm/x", 0.4)]
    assert order(found, root=("host/middle",), middle=("host/end",)) == ["root", "middle", "end", "x"]


def test_a_slight_cause_without_an_estimate_stands_behind_what_it_explains() -> None:
    found = [finding("memory/churn", 0.3), finding("memory/spare", severity=Severity.low), finding("comm/x", 0.2)]
    assert order(found, spare=("memory/churn",)) == ["churn", "spare", "x"]
    found[1] = finding("memory/spare", severity=Severity.medium)
    assert order(found, spare=("memory/churn",)) == ["spare", "churn", "x"]


def test_what_makes_all_else_doubtful_leads_and_other_remarks_on_the_capture_come_last() -> None:
    found = [
        finding("capture/short", severity=Severity.low),
        finding("env/unset", severity=Severity.low),
        finding("host/a", 0.5),
        finding("capture/damaged", severity=Severity.high),
    ]
    assert order(found) == ["damaged", "a", "unset", "short"]


def test_a_doubt_that_a_report_begins_with_stands_above_what_is_told_for_information() -> None:
    found = [finding("compute/a", severity=Severity.info), finding("capture/lost"), finding("host/b", 0.01)]
    assert order(found) == ["b", "lost", "a"]
    found[1] = finding("capture/lost", severity=Severity.low)
    assert order(found) == ["b", "a", "lost"]


def test_causes_and_symptoms_are_linked_only_on_a_rank_they_share() -> None:
    cause, symptom = finding("host/c", 0.1, ranks=(0, 1)), finding("host/s", 0.2, ranks=(2,))
    whole = finding("comm/w", 0.3)
    rules = Rules((Rule("host/c", ("host/s", "comm/w")), Rule("host/s"), Rule("comm/w")))
    found = {f.rule: f for f in rank_findings([cause, symptom, whole], rules)}
    assert found["host/c"].symptoms == (whole.fingerprint,)
    assert found["comm/w"].causes == (cause.fingerprint,)
    assert found["host/s"].causes == ()


def test_what_holds_up_a_host_shows_in_the_communication_of_the_ranks_that_wait() -> None:
    """All hosts but one pause in one step: the exposed communication of that one is the wait for them."""
    explains = {"pause": ("comm/bare-time", "host/free-time")}
    here = [finding("host/pause", 0.2, ranks=(0, 1)), finding("comm/bare-time", 0.27, ranks=(2,))]
    assert order(here, **explains) == ["pause", "bare-time"]
    there = [finding("host/pause", 0.2, ranks=(0, 1)), finding("host/free-time", 0.27, ranks=(2,))]
    assert order(there, **explains) == ["free-time", "pause"]  # what its own host does not do


@pytest.mark.parametrize(
    ("waiting", "linked"), [((0,), True), ((0, 1), True), ((1,), False)], ids=["another", "all", "itself"]
)
def test_a_rank_whose_kernels_are_slow_makes_others_wait_and_not_itself(
    waiting: tuple[int, ...], *, linked: bool
) -> None:
    slow = finding("compute/slow", 0.1, ranks=(1,))
    bare = finding("comm/bare-time", 0.2, ranks=waiting)
    rules = Rules((Rule("compute/slow", ("comm/bare-time",)), Rule("comm/bare-time")))
    found = {one.rule: one.causes for one in rank_findings([slow, bare], rules)}
    assert found["comm/bare-time"] == ((slow.fingerprint,) if linked else ())


@pytest.mark.parametrize(
    ("waits", "some_steps", "linked"),
    [
        ({0: 100, 1: 97, 2: 103}, None, False),
        ({0: 100, 1: 60, 2: 103}, None, True),
        ({0: 100, 1: 97}, None, True),
        ({0: 100, 1: 97, 2: 103}, 1, True),
    ],
)
def test_input_that_all_ranks_wait_for_alike_explains_no_wait_among_them(
    waits: dict[int, float], some_steps: int | None, *, linked: bool
) -> None:
    """In few of the steps they may wait in turn, and then each keeps the others waiting."""
    rules = Rules((Rule("io/loader", ("comm/waiting", "host/late")), Rule("comm/waiting"), Rule("host/late")))
    loader = finding("io/loader", 0.1).model_copy(
        update={
            "seen": tuple(Place(rank=rank, saving_us=us) for rank, us in waits.items()),
            "evidence": (Evidence(name="some_steps", value=some_steps),),
        }
    )
    found = [loader, finding("comm/waiting", 0.2), finding("host/late", 0.2, ranks=(0,))]
    causes = {one.rule: one.causes for one in rank_findings(found, rules, captured=range(3))}
    assert causes["comm/waiting"] == ((loader.fingerprint,) if linked else ())
    assert causes["host/late"] == (loader.fingerprint,)


def test_what_is_wrong_with_one_rank_does_not_explain_what_is_wrong_with_another() -> None:
    explains = {"port": ("ranks/link", "ranks/late-rank")}
    found = [finding("ranks/port", 0.24, ranks=(24, 25)), finding("ranks/link", 0.26, ranks=(2, 5))]
    assert order(found, **explains) == ["link", "port"]
    assert order([found[0], finding("ranks/link", 0.26, ranks=(3, 25))], **explains) == ["port", "link"]
    assert order([found[0], finding("ranks/late-rank", 0.26, ranks=(2,))], **explains) == ["port", "late-rank"]


def test_a_rank_that_comes_last_for_a_reason_of_its_own_does_not_do_so_for_that_of_another() -> None:
    explains = {"slow-host": ("ranks/late-rank",), "slow-device": ("ranks/late-rank",)}
    host, late = finding("ranks/slow-host", 0.2, ranks=(3,)), finding("ranks/late-rank", 0.1, ranks=(20,))
    own = finding("ranks/slow-device", 0.11, ranks=(20,))
    rules = Rules(tuple(Rule(one.rule, explains.get(one.rule.split("/")[1], ())) for one in (host, late, own)))
    causes = {one.rule: one.causes for one in rank_findings([host, late, own], rules)}
    assert causes["ranks/late-rank"] == (own.fingerprint,)
    causes = {one.rule: one.causes for one in rank_findings([host, late], rules)}
    assert causes["ranks/late-rank"] == (host.fingerprint,)


def test_what_one_operator_does_explains_nothing_of_another() -> None:
    slow = finding("compute/slow", 0.2, ranks=(0,), name="Erfinv")
    found = [slow, *(finding("compute/bound", 0.0, ranks=(0,), name=name) for name in ("Erfinv", "Exp", ""))]
    rules = Rules((Rule("compute/slow", ("compute/bound",)), Rule("compute/bound")))
    causes = {one.subject.get("op_type"): one.causes for one in rank_findings(found, rules) if one.rule != slow.rule}
    assert causes == {"Erfinv": (slow.fingerprint,), "Exp": (), None: (slow.fingerprint,)}


@pytest.mark.parametrize("batches", [2, None])
def test_what_has_a_reason_of_its_own_is_explained_by_nothing_else(batches: int | None) -> None:
    rules = Rules((Rule("ranks/late", ("pipeline/bubble",)), Rule("pipeline/bubble", own_reason="batches")))
    counted = Evidence(name="batches", value=batches)
    bubble = finding("pipeline/bubble", 0.2).model_copy(update={"evidence": (counted,)})
    found = {one.rule: one for one in rank_findings([finding("ranks/late", 0.2, ranks=(3,)), bubble], rules)}
    assert len(found["pipeline/bubble"].causes) == (batches is None)


@pytest.mark.parametrize("steps", [3, None])
def test_what_costs_all_steps_alike_does_not_explain_that_they_differ(steps: int | None) -> None:
    rules = Rules((Rule("io/loader", ("host/step-jitter", "host/idle")), Rule("host/step-jitter"), Rule("host/idle")))
    loader = finding("io/loader", 0.2, ranks=(0,)).model_copy(
        update={"evidence": (Evidence(name="some_steps", value=steps),)}
    )
    others = [finding(name, 0.1, ranks=(0,)) for name in ("host/step-jitter", "host/idle")]
    found = {one.rule: one for one in rank_findings([loader, *others], rules)}
    assert len(found["host/step-jitter"].causes) == (steps is not None)
    assert found["host/idle"].causes == (loader.fingerprint,)


def test_a_late_rank_is_a_cause_on_the_ranks_that_wait_for_it() -> None:
    late, waiting = finding("ranks/late", 0.1, ranks=(3,)), finding("comm/w", 0.2, ranks=(0, 1, 2))
    found = rank_findings([waiting, late], Rules((Rule("ranks/late", ("comm/w",)), Rule("comm/w"))))
    assert [f.rule for f in found] == ["ranks/late", "comm/w"]
    assert found[1].causes == (late.fingerprint,)


@pytest.mark.parametrize("name", ["host/python", "io/loader", "memory/churn", "compute/product"])
def test_what_one_rank_does_slowly_does_not_explain_what_all_do(name: str) -> None:
    rules = Rules((Rule("ranks/slow", (name,)), Rule(name)))
    slow = finding("ranks/slow", 0.2, ranks=(0,))
    of_all = rank_findings([slow, finding(name, 0.5, ranks=(0, 1))], rules)
    assert [f.causes for f in of_all] == [(), ()]
    of_one = rank_findings([slow, finding(name, 0.5, ranks=(0,))], rules)
    assert [len(f.causes) for f in of_one] == [0, 1]


@pytest.mark.parametrize(("elsewhere", "linked"), [(33.0, True), (34.0, False), (100.0, False)])
def test_what_all_ranks_do_is_explained_by_the_rank_that_has_most_of_it(elsewhere: float, linked: bool) -> None:
    """A slow host is late in every launch; that the others are late in some does not make it one of many."""
    rules = Rules((Rule("ranks/slow", ("host/python",)), Rule("host/python")))
    places = tuple(Place(rank=rank, saving_us=100 if rank == 1 else elsewhere) for rank in range(3))
    python = finding("host/python", 0.5).model_copy(update={"seen": places})
    found = rank_findings([finding("ranks/slow", 0.2, ranks=(1,)), python], rules)
    assert [f.rule for f in found] == (["ranks/slow", "host/python"] if linked else ["host/python", "ranks/slow"])


@pytest.mark.parametrize(
    ("elsewhere", "linked"), [((40.0, 40.0, 30.0), True), ((40.0, 40.0, 90.0), True), ((60.0, 70.0, 65.0), False)]
)
def test_what_a_rank_has_more_of_than_the_others_makes_it_late(elsewhere: tuple[float, ...], linked: bool) -> None:
    """Beyond the middle one of the others it loses 60, which makes up the 70 by which it is late, or only 35."""
    rules = Rules((Rule("host/pauses", ("ranks/late",)), Rule("ranks/late")))
    places = (Place(rank=9, saving_us=100), *(Place(rank=rank, saving_us=us) for rank, us in enumerate(elsewhere)))
    pauses = finding("host/pauses", 0.1).model_copy(update={"seen": places})
    found = {one.rule: one for one in rank_findings([finding("ranks/late", 0.07, ranks=(9,)), pauses], rules)}
    assert found["ranks/late"].causes == ((pauses.fingerprint,) if linked else ())


def test_a_symptom_never_stands_above_what_explains_a_part_of_it_and_lifts_nothing() -> None:
    found = [finding("host/free-time", 0.6), finding("host/small", 0.02), finding("comm/other", 0.1)]
    assert order(found, small=("host/free-time",)) == ["other", "small", "free-time"]


def test_a_symptom_that_nothing_explains_stands_by_its_time_however_little_of_it_can_be_won() -> None:
    found = [finding("host/free-time", 0.6), finding("comm/other", 0.1)]
    assert order(found) == ["free-time", "other"]
    found[0] = found[0].model_copy(update={"saving": Saving()})
    assert order(found) == ["free-time", "other"]


def test_an_explained_symptom_comes_after_all_that_can_be_acted_on() -> None:
    found = [finding("host/free-time", 0.6), finding("host/cause", 0.5), finding("env/unset", severity=Severity.low)]
    assert order(found, cause=("host/free-time",)) == ["cause", "unset", "free-time"]


def test_a_cause_without_an_estimate_may_be_worth_what_others_leave_of_its_symptom() -> None:
    found = [finding("host/free-time", 0.6), finding("host/known", 0.2), finding("host/queue"), finding("comm/x", 0.3)]
    both = {"known": ("host/free-time",), "queue": ("host/free-time",)}
    assert order(found, **both) == ["queue", "x", "known", "free-time"]
    found[1] = finding("host/known", 0.55)
    assert order(found, **both) == ["known", "x", "queue", "free-time"]


def test_a_slight_cause_without_an_estimate_stands_behind_what_wins_something() -> None:
    found = [finding("host/free-time", 0.6), finding("host/waits", severity=Severity.low), finding("comm/x", 0.05)]
    assert order(found, waits=("host/free-time",)) == ["x", "waits", "free-time"]


def test_a_slight_cause_that_alone_explains_much_stands_above_what_is_too_little_to_be_fixed_first() -> None:
    found = [finding("host/free-time", 0.6), finding("host/waits", severity=Severity.low), finding("comm/x", 0.02)]
    assert order(found, waits=("host/free-time",)) == ["waits", "x", "free-time"]
    found[0] = finding("host/free-time", 0.01)
    assert order(found, waits=("host/free-time",)) == ["x", "waits", "free-time"]
    found = [finding("host/free-time", 0.6), finding("host/waits", severity=Severity.low), finding("host/x", 0.02)]
    assert order(found, waits=("host/free-time",), x=("host/free-time",)) == ["x", "waits", "free-time"]


@given(st.lists(st.tuples(st.floats(0.001, 0.2), st.booleans(), st.booleans()), min_size=2, max_size=8))
def test_what_is_worth_fixing_stands_above_what_is_not_however_sure_either_is(
    told: list[tuple[float, bool, bool]],
) -> None:
    rules = Rules(tuple(Rule(f"comm/{at}", fix=(TO_COPY,) if ready else ()) for at, (_, ready, _) in enumerate(told)))
    found = [
        finding(f"comm/{at}", share).model_copy(update={"confidence": Confidence.low if unsure else Confidence.high})
        for at, (share, _, unsure) in enumerate(told)
    ]
    bounded = Rules(tuple(replace(rule, saving=Bound()) for rule in rules.rules))
    for catalog in (rules, bounded):
        worth = [one.worth.share >= WORTH_SHARE for one in rank_findings(found, catalog)]
        assert worth == sorted(worth, reverse=True)


def test_an_old_id_still_names_its_rule() -> None:
    rules = Rules((Rule("host/c", ("host/old",)), Rule("host/new", formerly=("host/old",))))
    found = rank_findings([finding("host/new", 0.3), finding("host/c", 0.1)], rules)
    assert [f.rule for f in found] == ["host/c", "host/new"]


names = ["capture/a", "host/b", "host/c", "comm/d", "comm/e"]
some_findings = st.lists(
    st.tuples(
        st.sampled_from(names),
        st.sampled_from([0.0, 0.1, 0.5]),
        st.sampled_from(list(Severity)),
        st.sampled_from([(), (0,), (1,), (0, 1)]),
        st.sampled_from(["", "Cast", "Add"]),
    ),
    max_size=8,
    unique_by=lambda entry: (entry[0], entry[4]),
)
restating = st.sets(st.sampled_from(names))
some_links = st.fixed_dictionaries({name: st.lists(st.sampled_from(names), max_size=3) for name in names})


@settings(max_examples=60)
@given(some_findings, some_links, restating, st.randoms())
def test_the_order_is_total_loses_nothing_and_puts_causes_first(
    entries: list, links: dict, symptoms: set[str], random: object
) -> None:
    found = [
        one.model_copy(update={"restated": one.saving}) if one.rule in symptoms else one
        for one in (finding(*entry) for entry in entries)
    ]
    rules = Rules(tuple(Rule(name, tuple(seen)) for name, seen in links.items()))
    once = rank_findings(found, rules)
    shuffled = list(found)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert rank_findings(shuffled, rules) == once
    assert sorted(f.fingerprint for f in once) == sorted(f.fingerprint for f in found)
    place = {f.fingerprint: number for number, f in enumerate(once)}
    for f in once:
        causes = [once[place[name]] for name in f.causes]
        slight = {c.fingerprint for c in causes if c.severity < Severity.medium and c.worth.us <= 0}
        waits = f.rule.startswith(("comm/", "ranks/late-rank"))
        part = 0 if waits else f.worth.share / (2 if f.rule.startswith(("ranks/", "pipeline/")) else 3)
        slight |= {c.fingerprint for c in causes if 0 < c.worth.share < max(min(WORTH_SHARE, f.worth.share), part)}
        first = f.causes if f.is_symptom or f.worth.us <= 0 else [name for name in f.causes if name not in slight]
        assert all(place[cause] < place[f.fingerprint] for cause in first)
        assert all(f.fingerprint in once[place[symptom]].causes for symptom in f.symptoms)


def test_rules_that_explain_each_other_in_a_circle_lose_no_finding() -> None:
    found = [finding("host/a", 0.1), finding("host/b", 0.2), finding("host/c", 0.3)]
    rules = Rules((Rule("host/a", ("host/b",)), Rule("host/b", ("host/c",)), Rule("host/c", ("host/a",))))
    orders = {tuple(f.rule for f in rank_findings(some, rules)) for some in itertools.permutations(found)}
    assert len(orders) == 1
    assert len(orders.pop()) == 3


@settings(max_examples=200)
@given(
    st.tuples(some_findings, some_links, restating),
    st.lists(st.sampled_from(list(Confidence)), min_size=8, max_size=8),
    st.tuples(st.sets(st.sampled_from(names)), st.sets(st.sampled_from(names))),
    st.sampled_from(list(Severity)),
)
def test_a_doubt_that_all_findings_share_never_changes_their_order(
    given_findings: tuple[list, dict, set[str]],
    certain: list[Confidence],
    remedies: tuple[set[str], set[str]],
    severity: Severity,
) -> None:
    (entries, links, symptoms), (ready, bounding) = given_findings, remedies
    sure = [
        one.model_copy(update={"confidence": how, "restated": one.saving if one.rule in symptoms else None})
        for one, how in zip((finding(*entry) for entry in entries), certain, strict=False)
    ]
    lost = finding("capture/lost", severity=severity).model_copy(
        update={"subject": {"of": "kernels"}, "seen": (Place(),)}
    )
    rules = Rules(
        (
            Rule("capture/lost", doubts=("*",)),
            *(
                Rule(name, tuple(seen), fix=(TO_COPY,) * (name in ready), saving=Bound() if name in bounding else None)
                for name, seen in links.items()
            ),
        )
    )
    before = {one.fingerprint: one.confidence for one in sure}
    doubted = rank_findings(with_doubts([*sure, lost], rules.rules), rules, undoubted=before)
    wanted = [one.fingerprint for one in rank_findings(sure, rules) if not one.rule.startswith("capture/")]
    assert [one.fingerprint for one in doubted if not one.rule.startswith("capture/")] == wanted


@settings(max_examples=200)
@given(some_findings, some_links, restating, st.sets(st.sampled_from(names)))
def test_what_recording_makes_an_upper_bound_stands_where_its_estimate_stood(
    entries: list, links: dict, symptoms: set[str], bounded: set[str]
) -> None:
    sure = [
        one.model_copy(update={"restated": one.saving if one.rule in symptoms else None})
        for one in (finding(*entry) for entry in entries)
    ]
    told = [one.model_copy(update={"at_most": one.rule in bounded}) for one in sure]
    rules = Rules(tuple(Rule(name, tuple(seen)) for name, seen in links.items()))
    wanted, found = ([one.fingerprint for one in rank_findings(some, rules)] for some in (sure, told))
    assert found == wanted


def test_a_doubt_of_some_findings_alone_puts_a_guess_behind_what_is_sure() -> None:
    rules = Rules((Rule("comm/a", saving=Bound()), Rule("host/b")))
    a, b = finding("comm/a", 0.5), finding("host/b", 0.3)
    before = {one.fingerprint: Confidence.medium for one in (a, b)}
    sure = b.model_copy(update={"confidence": Confidence.medium})
    doubted = [one.model_copy(update={"doubted_by": ("x",)}) for one in (a, b)]
    assert [one.rule for one in rank_findings([doubted[0], sure], rules, undoubted=before)] == ["host/b", "comm/a"]
    assert [one.rule for one in rank_findings(doubted, rules, undoubted=before)] == ["comm/a", "host/b"]
