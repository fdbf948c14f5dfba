# SPDX-License-Identifier: Apache-2.0
"""When a finding happened: which events it lists, in which order, and where they lie."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_by_rank import ByRank, Whole
from rule_texts import IDLE, made

from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.engine.event_places import place_occurrences
from advisor.engine.merge import merge
from advisor.engine.worst_events import MOST, WorstEvents, with_occurrences, worst_events
from advisor.facts.base import Fact
from advisor.facts.derived import CollectiveCall, DelayingCall, Gap, LaunchDelay, LongestCall, Overlap, RecordedSpan
from advisor.facts.observed import Kernel, StepWindow
from advisor.facts.selection import Selected
from advisor.facts.table import Table, read_table
from advisor.model.findings import Finding, Occurrence, Place
from advisor.rules.bind import Rule
from advisor.rules.cases import run_of

SLOW = """\
params:
  tolerated: {value: 10, unit: us, basis: {en: A guess., zh: 猜测。}}
for_each: [rank, op_type]
in: kernels
let:
  spent_us: sum(duration_us)
when: spent_us > tolerated
severity: low
evidence:
  - {show: spent_us, en: Spent, zh: 耗时, threshold: tolerated}
"""
KERNELS = """
rank step op_type op_name    start_ns duration_us
0    1    Cast    aclnnCast1 1000     8
0    2    Cast    aclnnCast2 2000     30
1    1    Cast    -          3000     20
1    1    Cast    untimed    -        99
0    1    Mul     aclnnMul   4000     5
"""


def found(rule: Rule, *tables: Table[Any]) -> tuple[Finding, ...]:
    return merge(evaluate(rule, TablesAlone({table.fact: table for table in tables}), run_of("", range(2))))


def shown(finding: Finding) -> list[tuple[int | None, int | None, str, int, float]]:
    return [(one.rank, one.step, one.name, one.start_ns, one.duration_us) for one in finding.occurrences]


def test_a_finding_lists_its_own_events_the_longest_first_and_those_without_a_time_not_at_all(tmp_path: Path) -> None:
    (casts,) = found(made(tmp_path, body=SLOW), read_table(Kernel, KERNELS))
    assert shown(casts) == [
        (1, 1, "Cast", 3000, 20.0),  # of the rank that spends most
        (0, 2, "aclnnCast2", 2000, 30.0),
        (0, 1, "aclnnCast1", 1000, 8.0),
    ]


@pytest.mark.parametrize(("there", "worst"), [(12, 0), (13, 1), (40, 1)])
def test_of_ranks_that_win_alike_the_one_clearly_further_beyond_its_threshold_is_the_worst(
    tmp_path: Path, there: float, worst: int
) -> None:
    kernels = f"rank step op_type start_ns duration_us\n0 1 Cast 1000 11.9\n1 1 Cast 1000 {there}"
    (casts,) = found(made(tmp_path, body=SLOW), read_table(Kernel, kernels))
    assert casts.seen[0].rank == worst


SAVING = "saving: {us: spent_us, across: worst, assumes: {en: All of it., zh: 全部。}}\n"


def test_the_first_event_is_of_the_rank_that_the_title_speaks_of_though_another_holds_a_longer_one(
    tmp_path: Path,
) -> None:
    kernels = "rank step op_type op_name start_ns duration_us\n0 1 Cast long 1000 30\n" + "".join(
        f"1 1 Cast short{n} {2000 + n} 20\n" for n in range(8)
    )
    (casts,) = found(made(tmp_path, body=SLOW + SAVING), read_table(Kernel, kernels))
    assert casts.seen[0].rank == 1
    assert [rank for rank, *_ in shown(casts)] == [1] * 8 + [0]


def test_events_of_the_step_that_the_title_speaks_of_come_first(tmp_path: Path) -> None:
    body = SLOW.replace("[rank, op_type]", "[rank, step, op_type]") + SAVING
    kernels = "rank step op_type start_ns duration_us\n0 1 Cast 1000 30\n0 2 Cast 2000 25\n0 2 Cast 3000 24"
    (casts,) = found(made(tmp_path, body=body), read_table(Kernel, kernels))
    assert casts.seen[0].step == 2
    assert [step for _, step, *_ in shown(casts)] == [2, 2, 1]


def test_many_events_where_a_finding_is_worst_leave_room_for_worse_ones_elsewhere(tmp_path: Path) -> None:
    kernels = "rank step op_type start_ns duration_us\n" + "".join(
        f"{rank} 1 Cast {1000 * rank + n + 1} {us}\n"
        for rank, us, many in ((0, 30, 30), (1, 20, 60))
        for n in range(many)
    )
    (casts,) = found(made(tmp_path, body=SLOW + SAVING), read_table(Kernel, kernels))
    assert [rank for rank, *_ in shown(casts)] == [1] * 5 + [0] * 15


def test_events_stand_in_the_order_of_the_rows_and_only_those_that_rows_show(tmp_path: Path) -> None:
    rows = "rows: {columns: [rank, duration_us], where: duration_us < 30, order: duration_us}\n"
    (casts,) = found(made(tmp_path, body=SLOW + rows), read_table(Kernel, KERNELS))
    assert [name for _, _, name, _, _ in shown(casts)] == ["Cast", "aclnnCast1"]


GAPS = """
rank step start_ns duration_us cause  call host
0    1    100      50          python -    true
0    1    400      70          gc     coll true
0    2    900      90          python -    true
1    1    150      60          python a::b true
"""
SPANS = "rank step start_ns span_us free_us\n0 1 50 1000 400\n0 2 800 1000 10\n1 1 70 1000 300"


def test_events_of_another_table_share_the_keys_of_the_rows_in_which_the_rule_fired(tmp_path: Path) -> None:
    body = IDLE.replace("for_each: [rank]", "for_each: [rank, step]") + "occurrences: {in: gaps}\n"
    (idle,) = found(made(tmp_path, body=body), read_table(Overlap, SPANS), read_table(Gap, GAPS))
    assert [(one.rank, one.step, one.start_ns) for one in idle.occurrences] == [(0, 1, 400), (0, 1, 100), (1, 1, 150)]
    assert {one.table for one in idle.occurrences} == {"gaps"}


def test_a_condition_and_an_order_choose_among_the_events(tmp_path: Path) -> None:
    events = 'occurrences: {in: gaps, where: cause == "python" and host, order: duration_us}\n'
    (idle,) = found(made(tmp_path, body=IDLE + events), read_table(Overlap, SPANS), read_table(Gap, GAPS))
    assert [one.duration_us for one in idle.occurrences] == [60.0, 50.0, 90.0]  # rank 1 is idle longest


def test_events_follow_the_order_of_the_rules_rows_where_they_have_none_of_their_own(tmp_path: Path) -> None:
    body = IDLE + "rows: {columns: [rank, step, free_us], order: free_us}\noccurrences: {in: gaps}\n"
    (idle,) = found(made(tmp_path, body=body), read_table(Overlap, SPANS), read_table(Gap, GAPS))
    assert [(one.rank, one.step) for one in idle.occurrences] == [(1, 1), (0, 2), (0, 1), (0, 1)]


def test_columns_of_different_names_are_paired_by_name(tmp_path: Path) -> None:
    from advisor.facts.derived import Meeting

    met = "step name last_rank last_start_ns shortest_us waited_us\n1 a 0 100 3 9\n1 b 1 200 4 30\n1 c 0 300 5 20"
    body = IDLE + "occurrences: {in: meetings, by: {rank: last_rank}, order: -waited_us}\n"
    spans = read_table(Overlap, SPANS.rsplit("\n", 1)[0])
    (idle,) = found(made(tmp_path, body=body), spans, read_table(Meeting, met))
    assert shown(idle) == [(0, 1, "c", 300, 5.0), (0, 1, "a", 100, 3.0)]


def test_names_that_no_row_of_the_rule_has_are_never_taken_for_those_of_another_rank(tmp_path: Path) -> None:
    """Tables share their lists of names, so that one may hold names that none of its rows has."""
    body = SLOW.replace("in: kernels", "in: longest_calls").replace("[rank, op_type]", "[rank]")
    body = body.replace("duration_us", "elapse_us") + "occurrences: {in: collective_calls, by: [rank, name]}\n"
    rows = "rank step name start_ns elapse_us\n" + "".join(
        f"{rank} 1 {name} {1000 * rank + place} 20\n" for rank in range(2) for place, name in enumerate("abcd", 1)
    )
    calls = read_table(CollectiveCall, rows)
    longest = read_table(LongestCall, rows)
    longest = longest.take(longest.texts("name").isin(["a"]))
    (told,) = found(made(tmp_path, body=body), longest, calls)
    assert [(rank, name) for rank, _, name, *_ in shown(told)] == [(0, "a"), (1, "a")]


def test_a_table_of_events_that_was_not_recorded_costs_the_times_and_not_the_finding(tmp_path: Path) -> None:
    (idle,) = found(made(tmp_path, body=IDLE + "occurrences: {in: gaps}\n"), read_table(Overlap, SPANS))
    assert idle.occurrences == ()


def test_one_event_may_stand_behind_several_findings(tmp_path: Path) -> None:
    body = SLOW.replace("in: kernels", "in: launch_delays").replace("[rank, op_type]", "[rank, cause]")
    body = body.replace("duration_us", "lost_us") + "occurrences: {in: delaying_calls, by: [rank]}\n"
    lost = read_table(LaunchDelay, "rank step cause lost_us\n0 1 gc 20\n0 1 read 30")
    calls = read_table(DelayingCall, "rank step cause name start_ns duration_us\n0 1 read aten::item 10 5")
    assert [len(finding.occurrences) for finding in found(made(tmp_path, body=body), lost, calls)] == [1, 1]


events = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from([1, 2, None]), st.sampled_from(["python", "gc", None]), st.integers(1, 50)
    ),
    max_size=60,
)
spans = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from([1, 2, None]), st.integers(0, 500)), min_size=1, max_size=9
)


@settings(max_examples=60)
@given(spans=spans, events=events)
def test_the_events_are_those_a_plain_loop_over_all_pairs_finds(tmp_path_factory: Any, spans: Any, events: Any) -> None:
    body = IDLE.replace("for_each: [rank]", "for_each: [rank, step]")
    rule = made(tmp_path_factory.mktemp("rules"), body=body + 'occurrences: {in: gaps, where: cause == "python"}\n')
    split = Table.build(
        Overlap, rank=[r for r, _, _ in spans], step=[s for _, s, _ in spans], span_us=1000.0,
        free_us=[float(us) for _, _, us in spans],
    )  # fmt: skip
    idle = Table.build(
        Gap, rank=[r for r, *_ in events], step=[s for _, s, *_ in events], cause=[c for _, _, c, _ in events],
        start_ns=[1000 + n for n in range(len(events))], duration_us=[float(us) for *_, us in events],
    )  # fmt: skip
    cells: dict[Any, list[int]] = {}
    for rank, step, us in spans:
        cells.setdefault((rank, step), []).append(us)
    fired = {cell for cell, us in cells.items() if np.mean(us) > 100}
    findings = found(rule, split, idle)
    worst = findings[0].seen[0] if findings else None
    wanted = sorted(
        (_away(worst, rank, step), -us, rank, 1000 + number)
        for number, (rank, step, cause, us) in enumerate(events)
        if cause == "python" and (rank, step) in fired
    )
    nearest = [event for event in wanted if event[0] == wanted[0][0]][:5]
    others = sorted((event for event in wanted if event not in nearest), key=lambda event: event[1:])
    got = [(-one.duration_us, one.rank, one.start_ns) for f in findings for one in f.occurrences]
    assert got == [event[1:] for event in sorted([*nearest, *others[: MOST - len(nearest)]])]


many = st.lists(
    st.tuples(st.integers(0, 1), st.integers(1, 2), st.integers(0, 40), st.integers(0, 3), st.sampled_from("ab-")),
    max_size=120,
)
SOUGHT = (
    "occurrences: {in: gaps}",
    "occurrences: {in: gaps, by: [rank, step]}",
    'occurrences: {in: gaps, by: [step], where: cause == "a"}',
    "occurrences: {in: gaps, by: [rank], order: -duration_us}",
)


@given(spans=spans, events=many, words=st.sampled_from(SOUGHT), keys=st.sampled_from(["[rank]", "[rank, step]", "[]"]))
@settings(deadline=None)
def test_events_chosen_rank_by_rank_are_those_of_the_whole_table(
    tmp_path_factory: Any, spans: Any, events: Any, words: str, keys: str
) -> None:
    body = IDLE.replace("for_each: [rank]", f"for_each: {keys}") + "rows: {columns: [step], order: free_us}\n"
    rule = made(tmp_path_factory.mktemp("rules"), body=body + words + "\n")
    rows = [f"{rank} {step} {start} {us} {cause}" for rank, step, start, us, cause in events]
    gaps = read_table(Gap, "\n".join(["rank step start_ns duration_us cause", *rows]))
    split = "\n".join(["rank step free_us", *(f"{r} {'-' if s is None else s} {us}" for r, s, us in spans)])
    tables = {Gap: gaps, Overlap: read_table(Overlap, split)}
    run = run_of("", range(2))
    assert worst_events(rule) is not None
    chosen, whole = (evaluate(rule, kind(tables), run) for kind in (ByRank, Whole))
    assert [hit.occurrences for hit in chosen.hits] == [hit.occurrences for hit in whole.hits]


def _away(worst: Place | None, rank: int, step: int | None) -> int:
    if worst is None or rank != worst.rank:
        return 2
    return 0 if worst.step in (step, None) else 1


def test_no_finding_holds_more_than_a_person_looks_at(tmp_path: Path) -> None:
    many = Table.build(
        Kernel, rank=0, step=1, op_type="Cast", start_ns=np.arange(1, 5001), duration_us=np.arange(5000.0)
    )
    (casts,) = found(made(tmp_path, body=SLOW), many)
    assert [one.duration_us for one in casts.occurrences] == [4999.0 - n for n in range(MOST)]


def test_events_are_placed_since_the_host_began_the_step_and_since_the_timeline_begins() -> None:
    at = [Occurrence(rank=0, step=1, start_ns=5000), Occurrence(rank=1, step=7, start_ns=9000), Occurrence(start_ns=9)]
    finding = Finding(rule="a/b", fingerprint="f", severity="low", confidence="low", occurrences=tuple(at))
    (put,) = place_occurrences(
        [finding],
        read_table(StepWindow, "rank step start_ns end_ns\n0 1 3000 8000"),
        read_table(Overlap, "rank step start_ns\n0 1 4000\n1 7 8000"),
        read_table(RecordedSpan, "rank start_ns end_ns\n0 1000 9999\n1 2000 9999"),
    )
    assert [(one.since_step_us, one.since_mark, one.since_start_us) for one in put.occurrences] == [
        (2.0, True, 4.0),
        (1.0, False, 7.0),
        (None, False, None),
    ]
    assert place_occurrences([finding], None, None, None) == (finding,)


def test_without_a_table_of_events_nothing_is_listed(tmp_path: Path) -> None:
    (idle,) = found(
        made(tmp_path, body=IDLE.replace("in: overlaps", "in: step_times").replace("span_us", "compute_us")),
        read_table(_fact("step_times"), "rank step compute_us free_us\n0 1 1000 300"),
    )
    assert idle.occurrences == ()


def _fact(name: str) -> type[Fact]:
    from advisor.facts import FACTS

    return FACTS[name]


def test_a_hit_without_events_to_look_for_stays_as_it_is(tmp_path: Path) -> None:
    from advisor.expr.frame import Frame

    assert with_occurrences(made(tmp_path), Frame(None), np.array([], np.intp), [], TablesAlone({})) == []


@pytest.mark.parametrize("where", [None, "duration_us > 9", "duration_us > mean(duration_us)"])
def test_of_several_ranks_at_once_the_same_events_are_chosen_as_of_each(where: str | None) -> None:
    wanted = WorstEvents(Kernel, ("op_type",), where, None, ("duration_us",) if where else ())
    table = read_table(Kernel, KERNELS)
    by_rank, lengths = wanted.select_by_rank(table, (0, 1, 2))
    of_each = [wanted.select(table.take(table["rank"] == rank)) for rank in (0, 1, 2)]
    assert by_rank.rows.rows() == Selected.concat(of_each).rows.rows()
    assert lengths == [len(one.rows) for one in of_each]
