# SPDX-License-Identifier: Apache-2.0
"""Rows behind a finding that are of another table than the rule's own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rank_by_rank import ByRank, Whole
from rule_texts import IDLE, made, write

from advisor import load_rules
from advisor.engine.case_runs import TablesAlone
from advisor.engine.evaluate import evaluate
from advisor.engine.excerpt import top_rows
from advisor.engine.needed_tables import wanted_by
from advisor.facts.derived import Gap, Overlap
from advisor.facts.observed import Damage
from advisor.facts.table import read_table
from advisor.messages.message import Message
from advisor.rules.cases import run_of
from advisor.rules.catalog import read_rule
from advisor.sources.files.damage_notes import Notes

SPANS = read_table(Overlap, "rank step free_us span_us\n0 1 400 1000\n1 1 300 1000")
ROWS = "rows: {in: gaps, columns: [cause, duration_us], where: host, order: -duration_us, top: 3}\n"
EVENTS = "occurrences: {in: gaps, by: [rank, step], where: host}\n"

gaps = st.lists(
    st.tuples(st.integers(0, 1), st.integers(1, 3), st.integers(0, 9), st.sampled_from("ab-"), st.booleans()),
    max_size=80,
)


@given(gaps)
@settings(deadline=None)
def test_rows_chosen_rank_by_rank_are_those_of_the_whole_table(tmp_path_factory: Any, events: Any) -> None:
    rule = made(tmp_path_factory.mktemp("rules"), body=IDLE + ROWS + EVENTS)
    rows = [
        f"{rank} {step} {number + 1} {us} {cause} {str(host).lower()}"
        for number, (rank, step, us, cause, host) in enumerate(events)
    ]
    idle = read_table(Gap, "\n".join(["rank step start_ns duration_us cause host", *rows]))
    tables = {Overlap: SPANS, Gap: idle}
    run = run_of("", range(2))
    assert top_rows(rule) is not None
    chosen, whole = (evaluate(rule, kind(tables), run).hits for kind in (ByRank, Whole))
    assert [(hit.excerpt, hit.occurrences) for hit in chosen] == [(hit.excerpt, hit.occurrences) for hit in whole]
    shown = next(hit.excerpt for hit in chosen if hit.excerpt is not None)
    mine = sorted((us for rank, _, us, _, host in events if rank == 0 and host), reverse=True)
    assert ([row[1] for row in shown.rows], shown.total) == (mine[:3], len(mine))


@given(gaps, st.permutations(range(3)), st.sampled_from(["", "where: duration_us > mean(duration_us), "]))
@settings(deadline=None)
def test_of_several_ranks_at_once_the_same_rows_are_chosen_as_of_each(
    tmp_path_factory: Any, events: Any, ranks: Any, where: str
) -> None:
    rows = ROWS.replace("where: host, ", where) if where else ROWS
    wanted = top_rows(made(tmp_path_factory.mktemp("rules"), body=IDLE + rows + EVENTS))
    assert wanted is not None
    told = [
        f"{rank} {step} {at} {us} {cause} {str(host).lower()}"
        for at, (rank, step, us, cause, host) in enumerate(events)
    ]
    table = read_table(Gap, "\n".join(["rank step start_ns duration_us cause host", *told]))
    together, lengths = wanted.select_by_rank(table, ranks)
    alone = [wanted.select(table.take(table["rank"] == rank)) for rank in ranks]
    assert together.rows.rows() == [row for one in alone for row in one.rows.rows()]
    assert together.stands_for.tolist() == [number for one in alone for number in one.stands_for.tolist()]
    assert lengths == [len(one.rows) for one in alone]


def test_a_rule_that_shows_rows_of_a_heavy_table_does_not_want_it_whole(tmp_path: Path) -> None:
    rule = made(tmp_path, body=IDLE + ROWS + EVENTS)
    assert [asked for asked in wanted_by([rule]) if isinstance(asked, type)] == [Overlap]


def test_rows_that_were_not_recorded_cost_the_excerpt_and_not_the_finding(tmp_path: Path) -> None:
    (idle, _) = evaluate(made(tmp_path, body=IDLE + ROWS), TablesAlone({Overlap: SPANS}), run_of("", range(2))).hits
    assert idle.excerpt is not None and idle.excerpt.rows == ()


def test_words_that_were_a_message_have_it_beside_them() -> None:
    notes = Notes()
    notes.add("a.csv", Message("at_row", n=3), Message("lacks_column", column="x"))
    rule = next(rule for rule in load_rules().rules if rule.id == "capture/damaged-input")
    (damaged,) = evaluate(rule, TablesAlone({Damage: notes.table(0)}), run_of("")).hits
    assert damaged.excerpt is not None
    assert [head.name for head in damaged.excerpt.columns][-2:] == ["place_message", "what_message"]
    (row,) = damaged.excerpt.rows
    assert row[:2] == ("a.csv", "row 3")
    said = damaged.excerpt.messages(row)
    assert {name: message.say("zh") for name, message in said.items()} == {"place": "第 3 行", "what": "缺少列 `x`"}
    assert damaged.excerpt.shown == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(
    ("rows", "wrong"),
    [
        ("rows: {in: gap, columns: [rank]}", "unknown table `gap`"),
        ("rows: {in: link_uses, columns: [link]}", "`link_uses` has no key `rank`"),
        ("rows: {in: gaps, columns: [span_us]}", "`gaps` has no column `span_us`"),
        ("rows: {in: gaps, columns: [cause], order: idle_us}", "rows.order: unknown name `idle_us`"),
    ],
)
def test_a_slip_in_rows_of_another_table_is_a_mistake(tmp_path: Path, rows: str, wrong: str) -> None:
    mistakes = read_rule(write(tmp_path, body=IDLE + rows + "\n"))
    assert isinstance(mistakes, list) and [str(mistake.what) for mistake in mistakes] == [wrong]
