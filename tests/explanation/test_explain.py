# SPDX-License-Identifier: Apache-2.0
"""An explanation says what the diagnosis says, and why."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from advisor.explanation import explain
from advisor.explanation.evaluated_again import hits_of_measures
from advisor.explanation.logic import logic_of_rule, meaning_of_table
from advisor.explanation.subject import find_rule_and_finding
from advisor.facts.names import FACTS
from advisor.facts.profile import Profile
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import UsageError
from advisor.messages.text import LANGUAGES
from advisor.model.explanation import Case, Check, Explanation
from advisor.model.findings import Diagnosis, wins_at_most
from advisor.pipeline import diagnose
from advisor.policy.settings import Settings
from advisor.report.diagnosis.cards import make_cards
from advisor.report.explanation.chinese_meanings import chinese_meanings, meaning_of_column
from advisor.report.explanation.document import explanation_document
from advisor.report.pages import document_page
from advisor.report.renderers.markdown import document_text
from advisor.rules.bind import Rule
from advisor.rules.catalog import Catalog
from tests.rules import rule_texts


def told(rule: Rule, diagnosis: Diagnosis, profile: Profile | None = None, rows: int = 10) -> Explanation:
    return explain(diagnosis.rule(rule.id), rule, diagnosis, profile=profile, rows=rows)


def conditions(case: Case, decides: str = "when") -> list[Check]:
    return [check for check in case.checks if check.decides == decides]


def test_what_fired_meets_its_conditions_and_what_stayed_quiet_does_not(
    catalog: Catalog, diagnosis: Diagnosis, profile: Profile
) -> None:
    for rule in catalog.rules:
        for case in told(rule, diagnosis, profile).cases:
            held = [check.holds for check in conditions(case)]
            joined = any if " or " in rule.when.source else all
            if case.finding is not None:
                assert joined(held), rule.id
            elif " or " not in rule.when.source:
                assert not all(held), rule.id


@pytest.mark.parametrize(
    ("condition", "shown"), [("idle_share > tolerated", ""), ("idle_share > 0", "as: times, ")], ids=["held", "shown"]
)
def test_a_ratio_that_is_held_against_times_or_shown_so_is_no_share(
    condition: str, shown: str, profile: Profile, tmp_path: Path
) -> None:
    body = rule_texts.IDLE.replace("unit: share", "unit: times").replace(
        "when: idle_share > tolerated", f"when: {condition}"
    )
    rule = rule_texts.made(tmp_path, body=body.replace("{show: idle_share, ", f"{{show: idle_share, {shown}"))
    case, *_ = told(rule, diagnose(profile, Catalog((rule,)))).cases
    assert [check.unit for check in conditions(case)] == ["times"]


def test_the_severity_of_a_finding_is_that_of_the_first_condition_that_holds(
    catalog: Catalog, diagnosis: Diagnosis, profile: Profile
) -> None:
    for rule in catalog.rules:
        for case in told(rule, diagnosis, profile).cases:
            levels = [check.level for check in conditions(case, "severity") if check.holds]
            if case.finding is not None:
                assert case.finding.severity.name == (levels[0] if levels else rule.severity[-1][0].name)


def test_a_saved_diagnosis_tells_nothing_else_than_the_capture(
    catalog: Catalog, diagnosis: Diagnosis, saved: Diagnosis, profile: Profile
) -> None:
    for rule in catalog.rules:
        pairs = zip(told(rule, diagnosis, profile).cases, told(rule, saved).cases, strict=True)
        for whole, part in pairs:
            assert whole.fingerprint == part.fingerprint
            for known, kept in zip(whole.checks, part.checks, strict=True):
                assert kept.holds in (None, known.holds), (rule.id, known, kept)
            for one, other in zip(whole.terms, part.terms, strict=True):
                assert other.value is None or other.value == pytest.approx(one.value), (rule.id, one, other)


def test_with_the_capture_every_value_of_a_finding_is_known(
    catalog: Catalog, diagnosis: Diagnosis, profile: Profile
) -> None:
    explanation = told(catalog.by_id["host/free-time"], diagnosis, profile)
    (case,) = explanation.cases
    assert [term.name for term in case.terms] == [
        "rank", "free_us_per_step", "total_us", "free_share", "copies_us", "in_graphs_us", "waiting_us",
        "waiting_share", "uncopied_us",
    ]  # fmt: skip
    assert [term.name for term in case.terms if term.value is None] == ["in_graphs_us"]  # it has no graphs
    assert case.worth is not None and case.finding is not None
    values = {term.name: term.value for term in case.worth.terms}
    expected = float(values["uncopied_us"] or 0) - float(values["reachable"] or 0) * float(values["total_us"] or 0)
    assert case.worth.at_place_us == pytest.approx(expected, rel=1e-6)
    assert case.worth.saving == case.finding.saving


def test_what_only_rows_can_tell_is_looked_up_in_the_capture(
    catalog: Catalog, diagnosis: Diagnosis, profile: Profile
) -> None:
    rule = catalog.by_id["ranks/slow-compute-rank"]
    assert "mean(span_us)" in rule.when.source
    for case in told(rule, diagnosis, profile).cases:
        (check,) = [check for check in conditions(case) if "mean(span_us)" in check.text]
        assert check.right is not None and check.holds is not None


def test_of_each_quiet_rule_the_place_that_was_measured_is_found_again(
    catalog: Catalog, diagnosis: Diagnosis, profile: Profile
) -> None:
    quiet = {one.rule: one.measures for one in diagnosis.outcomes if one.outcome == "quiet" and one.measures}
    lost = [
        name
        for name, measures in quiet.items()
        if hits_of_measures(catalog.by_id[name], profile, diagnosis.run, 10, measures).keys()
        != {one.fingerprint for one in measures}
    ]
    assert len(quiet) > 20 and lost == []


def test_as_many_rows_are_shown_as_asked_for(catalog: Catalog, diagnosis: Diagnosis, profile: Profile) -> None:
    rule = catalog.by_id["host/python-bound"]
    few, many = (told(rule, diagnosis, profile, rows).cases[0].rows for rows in (1, 1000))
    assert few is not None and many is not None
    assert len(few.rows) == 1 and few.total == many.total == len(many.rows) > 1


def test_a_rule_without_an_excerpt_shows_rows_of_the_columns_it_reads(
    catalog: Catalog, diagnosis: Diagnosis, profile: Profile
) -> None:
    bare = [replace(rule, excerpt=None) for rule in catalog.rules]
    shown = [case.rows for rule in bare for case in told(rule, diagnosis, profile).cases if case.finding is not None]
    assert shown and any(rows is not None and rows.rows for rows in shown)


def test_links_are_those_of_the_finding(catalog: Catalog, diagnosis: Diagnosis) -> None:
    case = told(catalog.by_id["host/late-launches"], diagnosis).cases[0]
    assert case.finding is not None
    assert tuple(link.fingerprint for link in case.causes) == case.finding.causes
    assert tuple(link.fingerprint for link in case.symptoms) == case.finding.symptoms
    assert case.number == "1.1"  # shown under the first finding, which causes it


def test_what_can_be_won_is_called_an_upper_bound_where_the_diagnosis_calls_it_one(
    catalog: Catalog, diagnosis: Diagnosis
) -> None:
    bounded = 0
    for finding, card in zip(diagnosis.findings, make_cards(diagnosis, "en"), strict=True):
        explanation = explain(diagnosis.rule(finding.rule), None, diagnosis)
        lines = document_text(explanation_document(explanation, "en")).splitlines()
        assert [line for line in lines if line.startswith("Severity:") and card.saving.replace("<", "\\<") in line]
        bounded += card.saving.startswith("at most")
        for case in explanation.cases:
            for linked in (*case.causes, *case.symptoms):
                other = diagnosis.by_fingerprint[linked.fingerprint]
                assert linked.at_most == wins_at_most(other, diagnosis.rule(other.rule))
    assert bounded


def test_a_moved_threshold_says_what_it_was_and_who_moved_it(tmp_path: Path, profile: Profile) -> None:
    from advisor.pipeline import diagnose

    path = tmp_path / "advisor.yaml"
    path.write_text("rules:\n  host/free-time:\n    params:\n      normal: 0.15\n", "utf-8")
    moves = Settings.read(path)
    catalog = Catalog.load([shipped_folder("rules")], moves).select(["host/free-time"])
    diagnosis, (rule,) = diagnose(profile, catalog), catalog.rules
    explanation = explain(diagnosis.rule(rule.id), rule, diagnosis, settings=moves)
    moved = {one.name: one for one in explanation.thresholds if one.overridden}
    assert moved.keys() == {"normal"}
    assert (moved["normal"].value, moved["normal"].shipped) == (0.15, 0.1)
    assert moved["normal"].where == f"{path.as_posix()}:4:7"
    (check,) = conditions(explanation.cases[0])
    assert check.right == 0.15


def test_a_rule_that_is_not_at_hand_is_explained_from_what_was_saved(saved: Diagnosis) -> None:
    info = saved.rule("host/free-time")
    explanation = explain(info, None, saved)
    assert explanation.logic is None and explanation.notes
    assert explanation.cases[0].finding is not None and explanation.cases[0].checks == ()


def test_an_explanation_reads_back_as_it_was_written(catalog: Catalog, diagnosis: Diagnosis, profile: Profile) -> None:
    for rule in catalog.rules:
        explanation = told(rule, diagnosis, profile)
        assert Explanation.model_validate_json(explanation.to_json()) == explanation


def test_a_finding_is_found_by_how_its_fingerprint_begins(catalog: Catalog, diagnosis: Diagnosis) -> None:
    for finding in diagnosis.findings:
        found = find_rule_and_finding("", finding.fingerprint[:6].upper(), diagnosis, catalog)
        assert (found.info.id, found.fingerprint) == (finding.rule, finding.fingerprint)


def test_a_finding_is_found_and_named_by_the_number_that_the_report_gives_it(
    catalog: Catalog, diagnosis: Diagnosis
) -> None:
    cards = make_cards(diagnosis, "en")
    assert any("." in card.number for card in cards)
    for card in cards:
        found = find_rule_and_finding(card.number, "", diagnosis, catalog)
        assert (found.info.id, found.fingerprint) == (card.rule, card.finding.fingerprint)
        explanation = explain(found.info, found.rule, diagnosis, fingerprint=found.fingerprint)
        assert [case.number for case in explanation.cases] == [card.number]
    with pytest.raises(
        UsageError, match=r"no finding `99`\n.*numbered 1, 1\.1, 1\.2, 2, 2\.1, 3, 3\.1, 3\.2, 4, 5, 6, as"
    ):
        find_rule_and_finding("99", "", diagnosis, catalog)


def test_the_remedy_of_a_rule_that_found_nothing_is_not_saved_and_still_explained(
    catalog: Catalog, diagnosis: Diagnosis, saved: Diagnosis
) -> None:
    found = {finding.rule for finding in diagnosis.findings}
    assert found < {rule.id for rule in catalog.rules}
    for rule, kept in zip(catalog.rules, saved.rules, strict=True):
        full = rule.info(diagnosis.run.readers)
        assert kept == (full if rule.id in found else full.without_remedy())
        assert find_rule_and_finding(rule.id, "", saved, catalog).info == full


def test_every_table_that_a_rule_reads_is_called_something_in_both_languages(catalog: Catalog) -> None:
    for rule in catalog.rules:
        called = logic_of_rule(rule).called
        assert called.en and called.zh, rule.id
        assert not called.zh.isascii(), rule.id


def test_in_chinese_a_table_is_told_by_its_chinese_name(catalog: Catalog, diagnosis: Diagnosis) -> None:
    rule = next(rule for rule in catalog.rules if rule.id == "host/python-bound")
    said = document_text(explanation_document(told(rule, diagnosis), "zh"))
    assert "host 侧阻塞下发的原因" in said
    assert "One kind of host cost" not in said


def test_what_a_column_holds_is_said_in_chinese_as_fully_as_in_english(catalog: Catalog, diagnosis: Diagnosis) -> None:
    rule = next(rule for rule in catalog.rules if rule.id == "host/python-bound")
    said = document_text(explanation_document(told(rule, diagnosis), "zh"))
    assert "没有这些调用时单步可提前多久结束" in said


def test_all_that_shipped_rules_read_is_explained_in_chinese_and_nothing_that_is_not_there(catalog: Catalog) -> None:
    shipped = Catalog.load([shipped_folder("rules")]).rules
    columns = {column.means for rule in shipped for column in logic_of_rule(rule).columns}
    tables = {logic_of_rule(rule).means for rule in shipped}
    there = {column.doc for fact in FACTS.values() for column in fact.columns().values()}
    assert columns <= chinese_meanings("columns").keys() <= there, "advisor/report/explanation/chinese_meanings.yaml"
    assert chinese_meanings("tables").keys() == tables, "advisor/report/explanation/chinese_meanings.yaml"
    for said, meaning in {**chinese_meanings("columns"), **chinese_meanings("tables")}.items():
        assert not meaning.isascii()
        assert {*re.findall("`[^`]+`", meaning)} <= {*re.findall("`[^`]+`", said)}, said


def test_no_column_of_any_table_lacks_its_chinese_meaning() -> None:
    english = [
        f"{table}.{name}"
        for table, fact in FACTS.items()
        for name, column in fact.columns().items()
        if meaning_of_column(name, column.doc, "zh") == column.doc
    ]
    assert english == [], "say them in advisor/report/explanation/chinese_meanings.yaml"


def test_names_in_what_columns_hold_are_shown_as_names_and_none_is_of_the_program(
    catalog: Catalog, diagnosis: Diagnosis
) -> None:
    rule = next(rule for rule in catalog.rules if rule.id == "host/python-bound")
    for language in LANGUAGES:
        assert "`" not in document_page(explanation_document(told(rule, diagnosis), language)).split("</script>")[-1]
    for fact in FACTS.values():
        for doc in (meaning_of_table(fact), *(column.doc for column in fact.columns().values())):
            assert not re.search(r"`(analysis|engine|facts|sources|summary|rules)\.", doc), doc


@pytest.mark.parametrize(
    ("rule", "finding", "message"),
    [
        ("", "", "neither a rule nor a finding"),
        ("host/free-tme", "", "did you mean `host/free-time`?"),
        ("comm/free-time", "", "did you mean `host/free-time`?"),
        ("host/nothing-such", "", "advisor rules list shows them all"),
        ("", "abc", "too short"),
        ("", "zzzzzz", "no finding `zzzzzz`"),
        ("io/data-loader", "1c36e9", "no finding `1c36e9` of rule `io/data-loader`"),
    ],
)
def test_what_is_not_there_is_said_with_what_is(
    rule: str, finding: str, message: str, catalog: Catalog, diagnosis: Diagnosis
) -> None:
    with pytest.raises(UsageError) as trouble:
        find_rule_and_finding(rule, finding, diagnosis, catalog)
    assert message in str(trouble.value)
    assert trouble.value.say("zh") != trouble.value.say("en")


scalars = st.one_of(
    st.none(), st.booleans(), st.text(max_size=3), st.floats(), st.integers(), st.integers(-(10**400), 10**400)
)


@given(data=st.data())
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_a_saved_diagnosis_says_is_explained(data: st.DataObject, catalog: Catalog, saved: Diagnosis) -> None:
    finding = data.draw(st.sampled_from(saved.findings))
    evidence = tuple(item.model_copy(update={"value": data.draw(scalars)}) for item in finding.evidence)
    rule = catalog.by_id[finding.rule]
    subject = {key: data.draw(scalars) for key in rule.for_each}
    odd = finding.model_copy(update={"evidence": evidence, "subject": subject})
    explanation = explain(saved.rule(rule.id), rule, saved.model_copy(update={"findings": (odd,)}))
    assert len(explanation.cases[0].checks) == len(explain(saved.rule(rule.id), rule, saved).cases[0].checks)
    for language in LANGUAGES:
        assert explanation_document(explanation, language)
