# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import math
from pathlib import Path

import pytest
from rule_texts import IDLE, made

from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.engine.merge import merge
from advisor.facts.derived import LinkUse, OperatorShare, Overlap
from advisor.facts.table import read_table
from advisor.model.findings import Finding, fingerprint
from advisor.model.run import Parallel
from advisor.rules.cases import run_of

ROWS = """
rank step span_us free_us
0    1    1000    200
0    2    1000    300
1    1    1000    400
"""
PER_STEP = IDLE.replace("[rank]", "[rank, step]")


EVERY_STEP = f"{ROWS}1 2 1000 0"


def merged(
    folder: Path, words: str, across: str = "worst", rows: str = EVERY_STEP, slack: dict[int, float] | None = None
) -> Finding:
    body = PER_STEP.replace("  us: idle_us", f"  us: idle_us\n  across: {across}")
    result = evaluate(made(folder, body=body), TablesAlone({Overlap: read_table(Overlap, rows)}), run_of(words))
    (finding,) = merge(result, slack)
    return finding


def test_one_problem_in_many_places_is_one_finding_worst_first(tmp_path: Path) -> None:
    finding = merged(tmp_path, "step_count=2 rank_count=2")
    assert [(p.rank, p.step, p.saving_us) for p in finding.seen] == [(1, 1, 400), (0, 2, 300), (0, 1, 200)]
    assert finding.subject == {}
    assert finding.evidence[0].value == 0.4
    assert finding.severity.name == "high"


@pytest.mark.parametrize(
    ("won", "us", "nothing"),
    [
        ("idle_us", 400, False),
        ("idle_us - idle_us", 0, True),
        ("idle_us / 0", 0, False),  # not known
        ("greatest(idle_us - 350 * us, 0 * us)", 50, False),  # somewhere something is won
        ("idle_us - idle_us if idle_us > 350 * us else idle_us / 0", 0, False),  # known in one place alone
    ],
)
def test_that_nothing_is_won_is_known_only_where_every_place_says_so(
    tmp_path: Path, won: str, us: float, nothing: bool
) -> None:
    body = IDLE.replace("[rank]", "[rank, step]").replace("  us: idle_us", f'  us: "{won}"\n  across: worst')
    tables = TablesAlone({Overlap: read_table(Overlap, "rank step span_us free_us\n0 1 1000 200\n1 1 1000 400")})
    (finding,) = merge(evaluate(made(tmp_path, body=body), tables, run_of("step_count=1 rank_count=2")))
    assert (finding.saving.us, finding.saving.nothing) == (us, nothing)
    assert finding.saving.told == ((0, 0) if nothing else (us or None, finding.saving.share or None))


def test_a_finding_has_the_same_name_in_every_version(tmp_path: Path) -> None:
    """Suppressions, baselines and comments that people keep name findings so."""
    finding = merged(tmp_path, "step_count=2 rank_count=2")
    assert finding.fingerprint == fingerprint(finding.rule, finding.subject)
    assert fingerprint("host/free-time", {}) == "1c36e96259a97755"
    named = {"op_type": "Cast", "picks": True, "size": 3}
    assert (
        fingerprint("compute/casts", named)
        == fingerprint("compute/casts", dict(reversed(named.items())))
        == "935fc49aa901b514"
    )


def test_a_symptom_is_worst_where_most_of_its_time_is_not_where_most_can_be_won(tmp_path: Path) -> None:
    body = IDLE.replace("us: idle_us", "us: mean(compute_us)") + "symptom: idle_us\n"
    rows = "rank span_us compute_us free_us\n0 1000 300 500\n1 1000 100 700"
    (idle,) = merge(evaluate(made(tmp_path, body=body), TablesAlone({Overlap: read_table(Overlap, rows)}), run_of("")))
    assert [place.rank for place in idle.seen] == [1, 0]
    assert idle.evidence[0].value == 0.7


def test_what_others_lose_by_a_cause_is_kept_beside_what_its_remedy_wins(tmp_path: Path) -> None:
    rows = "rank span_us free_us\n0 1000 500\n1 1000 700"
    body = IDLE.replace("saving:", "saving:\n  imposes: 1.25 * idle_us")
    found = evaluate(
        made(tmp_path, body=body), TablesAlone({Overlap: read_table(Overlap, rows)}), run_of("step_us=1000")
    )
    (idle,) = merge(found)
    assert idle.imposed is not None
    assert (idle.imposed.us, idle.brings_about.us) == (875.0, 875.0)
    assert idle.model_copy(update={"imposed": None}).brings_about == idle.saving


@pytest.mark.parametrize(("ranks", "us"), [(2, 600.0), (3, 700.0)])
def test_the_time_of_a_symptom_is_the_mean_where_all_ranks_show_it_else_that_of_the_worst(
    tmp_path: Path, ranks: int, us: float
) -> None:
    rows = "rank span_us free_us\n0 1000 500\n1 1000 700"
    rule = made(tmp_path, body=IDLE + "symptom: idle_us\n")
    found = evaluate(rule, TablesAlone({Overlap: read_table(Overlap, rows)}), run_of(f"rank_count={ranks}"))
    (idle,) = merge(found)
    assert idle.restated is not None
    assert idle.restated.us == us


@pytest.mark.parametrize(
    ("across", "words", "us"),
    [
        ("worst", "step_count=2 rank_count=2", 250.0),  # rank 0: (200 + 300) / 2, rank 1: (400 + 0) / 2
        ("mean", "step_count=2 rank_count=2", 225.0),
        ("mean", "step_count=2 rank_count=10", 45.0),  # eight ranks save nothing
        ("least", "step_count=2 rank_count=2", 200.0),
        ("least", "step_count=2 rank_count=3", 0.0),
    ],
)
def test_steps_are_averaged_before_ranks_are_joined(tmp_path: Path, across: str, words: str, us: float) -> None:
    finding = merged(tmp_path, words, across)
    assert finding.saving.us == us
    assert finding.saving.share == us / 1000


def test_a_rank_of_which_fewer_steps_were_recorded_is_averaged_over_those(tmp_path: Path) -> None:
    rows = "rank step span_us free_us\n0 1 1000 300\n0 2 1000 300\n1 2 1000 400"
    assert merged(tmp_path, "step_count=2 rank_count=2", "worst", rows).saving.us == 400
    body = IDLE.replace("idle_us: mean(free_us)", "idle_us: sum(free_us) / step_count")
    assert body != IDLE
    tables = TablesAlone({Overlap: read_table(Overlap, rows)})
    (idle,) = merge(evaluate(made(tmp_path, body=body), tables, run_of("step_count=2 rank_count=2")))
    assert [(place.rank, place.saving_us) for place in idle.seen] == [(1, 400), (0, 300)]


def test_what_a_single_long_step_loses_may_be_more_than_the_mean_step(tmp_path: Path) -> None:
    rows = "rank step span_us free_us\n0 1 1000 0\n0 2 4000 3600\n0 3 1000 0\n0 4 1000 0"
    finding = merged(tmp_path, "step_us=1750 step_count=4 rank_count=1", "worst", rows)
    assert (finding.seen[0].saving_us, finding.saving.us) == (3600, 900)
    all_of_it = merged(tmp_path, "step_us=1750 step_count=4 rank_count=1", "worst", rows.replace("3600", "90000"))
    assert (all_of_it.seen[0].saving_us, all_of_it.saving.us) == (7000, 1750)


@pytest.mark.parametrize(("idle", "us"), [(5, 5.0), ("-", 0.0)])
def test_what_every_rank_saves_is_no_less_for_a_rank_that_only_just_keeps_the_rule_quiet(
    tmp_path: Path, idle: object, us: float
) -> None:
    rows = f"rank step span_us free_us\n0 1 1000 400\n1 1 1000 250\n2 1 1000 {idle}"
    assert merged(tmp_path, "step_us=1000 rank_count=3", "least", rows).saving.us == us


LATE = """
rank step span_us free_us
0    1    1000    400
1    1    1000    250
2    1    1000    -
3    1    1000    5
"""


@pytest.mark.parametrize(
    ("slack", "us"),
    [
        ({0: 0.0, 1: 300.0, 3: 900.0}, 400.0),  # rank 0 is late, and stays last
        ({0: 0.0, 1: 100.0, 3: 900.0}, 350.0),  # without its idle time rank 0 would be sooner than rank 1
        ({0: 300.0, 1: 0.0, 3: 900.0}, 250.0),
        ({0: 0.0, 1: 300.0, 3: 30.0}, 35.0),  # rank 3 has next to nothing to save, and is nearly as late
        ({0: 0.0, 1: 300.0, 3: 900.0, 4: 60.0}, 60.0),  # rank 4 has nothing of it
        ({0: 0.0, 1: 300.0, 2: 0.0}, 400.0),  # what rank 2 would save nobody knows
        ({0: 0.0, 2: 0.0}, 400.0),
    ],
)
def test_what_is_saved_on_every_rank_is_what_the_then_last_one_saves(
    tmp_path: Path, slack: dict[int, float], us: float
) -> None:
    assert merged(tmp_path, "step_us=1000 rank_count=5", "critical", LATE, slack).saving.us == us


def test_a_rank_of_which_nobody_knows_how_long_it_waits_is_left_out_wherever_it_stands(tmp_path: Path) -> None:
    known = {0: 0.0, 1: 100.0}
    for slack in ({3: math.nan, **known}, {**known, 3: math.nan}, {3: math.inf, **known}):
        assert merged(tmp_path, "step_us=1000 rank_count=5", "critical", LATE, slack).saving.us == 350.0
    assert merged(tmp_path, "step_us=1000 rank_count=5", "critical", LATE, {0: math.nan}).saving.us == 0.0


@pytest.mark.parametrize("across", ["critical", "worst_or_critical"])
@pytest.mark.parametrize("slack", [{0: math.nan, 3: 900.0}, {3: 900.0}, {0: 700.0, 1: 800.0, 3: 900.0}])
def test_no_more_is_saved_than_by_the_rank_that_saves_most_however_long_others_wait(
    tmp_path: Path, across: str, slack: dict[int, float]
) -> None:
    assert merged(tmp_path, "step_us=1000 rank_count=5", across, LATE, slack).saving.us <= 400.0


@pytest.mark.parametrize(
    ("ranks", "slack", "us"),
    [
        (5, {0: 0.0, 1: 100.0, 4: 60.0}, 60.0),  # rank 4 has nothing of it, and is the last then
        (5, {0: 0.0, 1: 100.0}, 350.0),
        (5, {}, 400.0),  # nobody knows who waits
        (2, {0: 0.0, 1: 100.0}, 400.0),  # all have it
    ],
)
def test_what_holds_up_some_ranks_wins_no_more_than_the_others_wait_for_them(
    tmp_path: Path, ranks: int, slack: dict[int, float], us: float
) -> None:
    run = f"step_us=1000 rank_count={ranks}"
    finding = merged(tmp_path, run, "worst_or_critical", LATE, slack)
    assert finding.saving.us == us
    assert (finding.alone is None) == (us == 400.0)
    assert finding.alone is None or finding.alone.us == 400.0  # of rank 0 by itself


@pytest.mark.parametrize(
    ("workload", "slack", "us"),
    [
        ("training", {0: 0.0, 1: 0.0}, 400.0),
        ("RL", {0: 0.0, 1: 0.0}, 250.0),  # rank 1 works, and the controller lets rank 0 wait for it
        ("RL", {0: 0.0, 1: 150.0}, 400.0),  # rank 1 waits for rank 0 in collectives, whose host is late
    ],
)
def test_what_all_ranks_of_an_rl_job_have_wins_what_the_one_that_works_longest_has_of_it(
    tmp_path: Path, workload: str, slack: dict[int, float], us: float
) -> None:
    run = f"step_us=1000 rank_count=2 workload={workload}"
    assert merged(tmp_path, run, "worst_or_critical", LATE, slack).saving.us == us


@pytest.mark.parametrize(("slack", "us"), [({4: 650.0}, 400.0), ({4: 560.0}, 310.0)])
def test_what_holds_up_a_rank_of_a_stage_is_bounded_by_what_its_peers_wait(
    tmp_path: Path, slack: dict[int, float], us: float
) -> None:
    """Rank 2 is the other stage, and waits least of all; in their own stage the others wait for rank 0."""
    stages = Parallel(pp=2, stages=((0, 1, 3, 4), (2,)))
    run = run_of("step_us=1000 rank_count=5").model_copy(update={"parallel": stages})
    body = PER_STEP.replace("  us: idle_us", "  us: idle_us\n  across: worst_or_critical")
    result = evaluate(made(tmp_path, body=body), TablesAlone({Overlap: read_table(Overlap, LATE)}), run)
    (finding,) = merge(result, {0: 250.0, 1: 400.0, 2: 0.0, 3: 700.0, **slack})
    assert finding.saving.us == us


@pytest.mark.parametrize(
    ("worth", "us", "alone"),
    [({0: 120.0}, 120.0, 400.0), ({0: 370.0}, 370.0, None), ({1: 0.0}, 400.0, None), ({0: 450.0}, 400.0, None)],
)
@pytest.mark.parametrize("across", ["worst_or_critical", "worst"])
def test_what_holds_up_a_stage_wins_no_more_than_is_left_until_another_one_sets_the_pace(
    tmp_path: Path, across: str, worth: dict[int, float], us: float, alone: float | None
) -> None:
    stages = Parallel(pp=2, stages=((0, 1), (2, 3)))
    run = run_of("step_us=1000 rank_count=4").model_copy(update={"parallel": stages})
    body = PER_STEP.replace("  us: idle_us", f"  us: idle_us\n  across: {across}")
    result = evaluate(made(tmp_path, body=body), TablesAlone({Overlap: read_table(Overlap, LATE)}), run)
    (finding,) = merge(result, None, worth)
    bounded = across == "worst_or_critical"
    assert finding.saving.us == (us if bounded else 400.0)
    assert (finding.alone and finding.alone.us) == (alone if bounded else None)


@pytest.mark.parametrize(
    ("across", "slack", "severity"),
    [
        ("critical", {0: 0.0, 1: 0.0, 4: 29.0}, "low"),  # rank 4 has nothing of it, and is the last then
        ("critical", {0: 0.0, 1: 0.0, 4: 30.0}, "high"),
        ("least", {}, "low"),  # rank 4 has nothing of it
        ("worst", {4: 0.0}, "high"),
    ],
)
def test_what_other_ranks_leave_nothing_of_is_no_grave_problem(
    tmp_path: Path, across: str, slack: dict[int, float], severity: str
) -> None:
    finding = merged(tmp_path, "step_us=1000 rank_count=5", across, LATE, slack)
    assert finding.severity.name == severity


@pytest.mark.parametrize("across", ["critical", "worst_or_critical"])
@pytest.mark.parametrize(
    ("slack", "told"),
    [
        ({0: 0.0, 1: 0.0, 4: 0.0}, (0.0, 0.0)),  # rank 4 has nothing of it, and is the last as it was
        ({0: 0.0, 1: 0.0, 4: 29.0}, (29.0, 0.029)),
        ({0: 0.0, 1: 0.0, 4: 0.5}, (0.5, 0.0005)),
        ({0: math.nan}, (None, None)),  # nobody knows who waits
    ],
)
def test_where_another_rank_is_the_last_anyway_it_is_known_that_nothing_is_won(
    tmp_path: Path, across: str, slack: dict[int, float], told: tuple[float | None, float | None]
) -> None:
    finding = merged(tmp_path, "step_us=1000 rank_count=5", across, LATE, slack)
    assert finding.saving.told == told
    assert (finding.alone and finding.alone.us) == (None if told[0] is None else 400.0)


def test_a_stage_that_waits_for_another_one_is_known_to_win_nothing(tmp_path: Path) -> None:
    stages = Parallel(pp=2, stages=((0, 1), (2, 3)))
    run = run_of("step_us=1000 rank_count=4").model_copy(update={"parallel": stages})
    body = PER_STEP.replace("  us: idle_us", "  us: idle_us\n  across: worst_or_critical")
    result = evaluate(made(tmp_path, body=body), TablesAlone({Overlap: read_table(Overlap, LATE)}), run)
    (finding,) = merge(result, None, {0: 0.0})
    assert finding.saving.told == (0.0, 0.0)


def test_a_symptom_is_as_grave_as_its_time_whatever_can_be_won(tmp_path: Path) -> None:
    body = PER_STEP.replace("  us: idle_us", "  us: idle_us\n  across: least") + "\nsymptom: idle_us\n"
    tables = TablesAlone({Overlap: read_table(Overlap, LATE)})
    (finding,) = merge(evaluate(made(tmp_path, body=body), tables, run_of("step_us=1000 rank_count=5")))
    assert (finding.saving.us, finding.severity.name) == (0.0, "high")


@pytest.mark.parametrize("lost", [(200, 300), (300, 200)])
def test_of_two_links_of_one_rank_the_larger_saving_counts_in_any_order(tmp_path: Path, lost: tuple[int, int]) -> None:
    body = """\
for_each: [source, target, link]
in: link_uses
when: max(deviation) > 1
severity: low
saving: {us: max(transit_us), assumes: {en: x, zh: 无}}
"""
    rows = f"source target link deviation transit_us\n3 4 HCCS 5 {lost[0]}\n3 5 HCCS 6 {lost[1]}"
    tables = TablesAlone({LinkUse: read_table(LinkUse, rows)})
    (found,) = merge(evaluate(made(tmp_path, body=body), tables, run_of("rank_count=8")))
    assert found.saving.us == 300.0


def test_without_knowing_who_waits_the_ranks_count_alike(tmp_path: Path) -> None:
    assert merged(tmp_path, "step_us=1000 rank_count=5", "critical", LATE).saving.us == (400 + 250) / 5


def test_without_a_known_step_there_is_no_share(tmp_path: Path) -> None:
    finding = merged(tmp_path, "step_us=- rank_count=2")
    assert (finding.saving.us, finding.saving.share) == (400.0, 0.0)


def test_groups_with_other_stable_keys_are_other_findings(tmp_path: Path) -> None:
    body = """\
for_each: [rank, op_type]
in: operators
when: sum(total_us) > 0
severity: low
saving: {us: sum(total_us), assumes: {en: x, zh: 无}}
"""
    rows = "rank op_type total_us\n0 Cast 5\n1 Cast 7\n0 Add 3"
    tables = TablesAlone({OperatorShare: read_table(OperatorShare, rows)})
    found = merge(evaluate(made(tmp_path, body=body), tables, run_of("rank_count=2")))
    assert {f.subject["op_type"]: (len(f.seen), f.saving.us) for f in found} == {"Cast": (2, 7.0), "Add": (1, 3.0)}
    assert len({f.fingerprint for f in found}) == 2


def test_a_link_is_seen_on_its_sending_rank(tmp_path: Path) -> None:
    body = "for_each: [source, target, link]\nin: link_uses\nwhen: max(deviation) > 1\nseverity: low\n"
    rows = "source target link deviation\n3 4 HCCS 5\n3 5 HCCS 6"
    found = merge(evaluate(made(tmp_path, body=body), TablesAlone({LinkUse: read_table(LinkUse, rows)}), run_of("")))
    assert [(f.subject, [p.rank for p in f.seen]) for f in found] == [({"link": "HCCS"}, [3])]


def test_the_stage_of_a_place_comes_from_the_parallel_layout(tmp_path: Path) -> None:
    run = run_of("").model_copy(update={"parallel": Parallel(pp=2, stages=((0,), (1,)))})
    result = evaluate(made(tmp_path), TablesAlone({Overlap: read_table(Overlap, ROWS)}), run)
    assert [(p.rank, p.stage) for p in merge(result)[0].seen] == [(1, 1), (0, 0)]


def test_what_a_rank_wins_by_itself_is_told_only_where_it_is_known_that_another_one_is_then_the_last(
    tmp_path: Path,
) -> None:
    for across in ("critical", "worst_or_critical"):
        assert merged(tmp_path, "step_us=1000 rank_count=5", across, LATE).alone is None
    known = merged(tmp_path, "step_us=1000 rank_count=5", "critical", LATE, {0: 0.0, 1: 0.0})
    assert known.alone is not None
    assert (known.saving.us, known.alone.us) == (250.0, 400.0)
