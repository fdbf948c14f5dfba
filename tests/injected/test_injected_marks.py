# SPDX-License-Identifier: Apache-2.0
"""Diagnoses of real captures with faults are marked fairly."""

from __future__ import annotations

from advisor.rules.patterns import shipped_patterns
from benchmarks.injected.bases import Base
from benchmarks.injected.faults import all_faults
from benchmarks.injected.mark import Case, Claim, Key, Mark, score
from benchmarks.injected.page import TARGETS, measures, met, page
from corpus.faults import FAULTS

KEY = Key(frozenset({"io/slow"}), frozenset({"host/idle"}), frozenset())


def claim(rule: str, us: float = 150, ranks: tuple[int, ...] = (0, 1)) -> Claim:
    return Claim(rule, us, frozenset(ranks), "medium")


def mark(
    *claims: Claim, control: bool = False, base: tuple[Claim, ...] = (), key: Key = KEY, tried: float | None = None
) -> Mark:
    true_us = 10.0 if control else 150.0
    tries = {} if tried is None else {one.rule: tried for one in claims}
    return Mark(Case("recorded", "loader", 0.15, control), key, 1000.0, true_us, claims, base, tries)


def test_a_fault_that_is_named_is_found_and_leads() -> None:
    done = mark(claim("io/slow"))
    assert (done.found, done.leads, done.wrong, done.error) == (True, True, (), 0.0)


def test_a_symptom_is_no_answer_and_not_wrong() -> None:
    done = mark(claim("host/idle"))
    assert (done.found, done.leads, done.wrong) == (False, False, ())


def test_a_symptom_in_front_takes_the_lead() -> None:
    assert not mark(claim("host/idle"), claim("io/slow")).leads


def test_what_the_base_has_at_a_similar_size_is_not_wrong() -> None:
    assert not mark(claim("other", 120), base=(claim("other", 100),)).wrong


def test_what_grew_beyond_the_base_is_wrong() -> None:
    assert mark(claim("other", 300), base=(claim("other", 100),)).wrong == ("other",)


def test_the_base_may_lead_where_it_costs_more() -> None:
    assert mark(claim("other", 200), claim("io/slow"), base=(claim("other", 200),)).leads
    assert not mark(claim("other", 120), claim("io/slow"), base=(claim("other", 120),)).leads


def test_what_the_base_has_already_does_not_name_the_fault() -> None:
    assert not mark(claim("io/slow", 100), base=(claim("io/slow", 100),)).found


def test_the_saving_of_a_rule_is_what_it_says_beyond_the_base() -> None:
    assert mark(claim("io/slow", 250), base=(claim("io/slow", 100),)).error == 0.0


def test_a_claim_that_another_run_confirms_is_not_wrong() -> None:
    assert not mark(claim("other", 100), tried=90).wrong
    assert mark(claim("other", 100), tried=10).wrong == ("other",)


def test_a_control_is_quiet_only_when_nothing_new_is_said() -> None:
    assert not mark(control=True).wrong
    assert mark(claim("io/slow", 50), control=True).wrong == ("io/slow",)
    assert mark(claim("host/idle", 50), control=True).wrong == ("host/idle",)


def test_the_right_rank_is_to_be_named() -> None:
    key = Key(KEY.named_by, KEY.shown_by, frozenset({1}))
    assert mark(claim("io/slow", ranks=(1,)), key=key).placed
    assert mark(claim("io/slow", ranks=(0, 1)), key=key).placed is False
    assert mark(claim("io/slow")).placed is None


def test_marks_add_up() -> None:
    done = score([mark(claim("io/slow")), mark(claim("other", 400)), mark(control=True)])
    assert (done.wanted, done.found, done.leads, done.wrong, done.quiet, done.controls) == (2, 1, 1, 1, 1, 1)
    assert measures(done) == [0.5, 0.5, 0.5, 1.0, 1.0]


def test_targets_that_are_missed_are_told() -> None:
    assert met([mark(claim("io/slow")), mark(control=True)])
    assert not met([mark()])


def test_the_page_tells_every_fault_and_what_is_wrong_with_it() -> None:
    base = Mark(Case("recorded", "", 0.0), KEY, 1000.0, 0.0, (), ())
    text = page([base, mark(claim("other", 400)), mark(control=True)], [Base("recorded", "folder")], 60)
    assert "| recorded | loader | 15% | – | no |  | `other` |  | quiet |" in text
    assert all(name in text for name, _ in TARGETS)


def test_every_pattern_of_the_rules_has_a_fault() -> None:
    injected = {fault.pattern for fault in all_faults().values()} - {""}
    generated = {name.removeprefix("unfused-") for name in FAULTS if name.startswith("unfused-")}
    assert injected | generated == {pattern.name for pattern in shipped_patterns().chains.patterns}
