# SPDX-License-Identifier: Apache-2.0
"""Remedies that fit the run: steps with conditions, what was recorded of the environment, and filled commands."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from rule_texts import CASES, HEAD, IDLE

from advisor.engine.case_runs import TablesAlone, prove_rule
from advisor.engine.evaluate import evaluate
from advisor.engine.merge import merge
from advisor.expr.compile import Compiled
from advisor.expr.frame import FALSE, Frame
from advisor.expr.language import run_values
from advisor.expr.settings import ENVIRONMENT
from advisor.facts.derived import Overlap
from advisor.facts.observed import Setting
from advisor.facts.table import Table, read_table
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.text import fill_holes
from advisor.model.findings import Diagnosis, Finding, RuleInfo
from advisor.report.diagnosis.cards import make_cards
from advisor.rules.bind import Rule
from advisor.rules.cases import run_of
from advisor.rules.catalog import Catalog, read_rule

STEPS = """\
fix:
  - do: {en: Turn it on., zh: 打开。}
    when: setting("MODE") != "2"
    run: export MODE=2
  - do: {en: "Look at rank {rank}.", zh: "看 {rank} 号卡。"}
    code: print(f"{{x}}", {}, {rank}, {idle_us})
"""
SHOWN = "  - {show: idle_us, en: Idle, zh: 空闲}\n"
OVERLAPS = """
    rank step span_us free_us
    0    1    1000    200
    1    1    1000    300.5
"""


def _rule(folder: Path, fix: str = STEPS) -> Rule:
    path = folder / "acme" / "rule.yaml"
    path.parent.mkdir(exist_ok=True)
    idle = IDLE.replace("saving:\n", f"{SHOWN}saving:\n")
    path.write_text(HEAD.format(id="acme/rule") + idle + fix + CASES, encoding="utf-8")
    found = read_rule(path, tests=True)
    assert isinstance(found, Rule), [str(mistake) for mistake in found]
    return found


def _found(rule: Rule, settings: str = "") -> Finding:
    tables: dict[type, Table] = {Overlap: read_table(Overlap, OVERLAPS)}
    if settings:
        tables[Setting] = read_table(Setting, settings)
    (finding,) = merge(evaluate(rule, TablesAlone(tables), run_of("rank_count=2")))
    return finding


def _actions(rule: Rule, finding: Finding) -> list[tuple[str, str]]:
    (card,) = make_cards(Diagnosis(run=run_of(""), findings=(finding,), rules=(rule.info(),)), "en")
    return [(action.run, action.code) for action in card.actions]


@pytest.mark.parametrize(
    ("settings", "shown"),
    [
        ("rank kind name value\n1 env MODE 2", (1,)),
        ("rank kind name value\n0 env MODE 1\n1 env MODE 2", (1,)),
        ("rank kind name value\n0 env MODE 2\n1 env MODE 1", None),
        ("rank kind name value\n0 env MODE 2", None),
        ("rank kind name value\n1 profiler MODE 2", None),
        ("rank kind name value\n1 env MODE -", None),
        ("", None),
    ],
    ids=["set", "set there", "set elsewhere", "not known there", "a switch", "unset", "nothing recorded"],
)
def test_a_step_is_left_out_where_its_condition_is_false_at_the_worst_place(
    tmp_path: Path, settings: str, shown: tuple[int, ...] | None
) -> None:
    assert _found(_rule(tmp_path), settings).fix == shown


def test_for_a_whole_run_a_setting_is_what_all_ranks_share(tmp_path: Path) -> None:
    rule = _rule(tmp_path)
    whole = evaluate(
        _whole(rule, tmp_path), TablesAlone({Overlap: read_table(Overlap, OVERLAPS), **_modes("2", "2")}), RUN
    )
    apart = evaluate(
        _whole(rule, tmp_path), TablesAlone({Overlap: read_table(Overlap, OVERLAPS), **_modes("2", "1")}), RUN
    )
    assert [merge(one)[0].fix for one in (whole, apart)] == [(1,), None]


RUN = run_of("rank_count=2")


def _modes(one: str, other: str) -> Mapping[type, Table]:
    return {Setting: read_table(Setting, f"rank kind name value\n0 env MODE {one}\n1 env MODE {other}")}


def _whole(rule: Rule, folder: Path) -> Rule:
    text = (
        rule.path.read_text(encoding="utf-8").replace("for_each: [rank]", "for_each: []").replace("{rank}", "{idle_us}")
    )
    path = folder / "acme" / "whole.yaml"
    path.write_text(text, encoding="utf-8")
    found = read_rule(path)
    assert isinstance(found, Rule), [str(mistake) for mistake in found]
    return found


def test_reports_show_only_the_steps_that_apply(tmp_path: Path) -> None:
    rule = _rule(tmp_path)
    finding = _found(rule, "rank kind name value\n1 env MODE 2")
    assert _actions(rule, finding) == [("", 'print(f"{x}", {}, 1, 300.5)')]


def test_commands_and_code_are_filled_from_the_run_and_doubled_braces_mean_themselves(tmp_path: Path) -> None:
    rule = _rule(tmp_path)
    assert _actions(rule, _found(rule)) == [("export MODE=2", ""), ("", 'print(f"{x}", {}, 1, 300.5)')]


def test_a_name_from_a_profile_never_becomes_a_command(tmp_path: Path) -> None:
    rule = _rule(tmp_path)
    finding = _found(rule).model_copy(update={"subject": {"rank": "$(reboot)"}})
    assert _actions(rule, finding)[1][1] == 'print(f"{x}", {}, {rank}, 300.5)'


def test_a_diagnosis_saved_before_steps_had_conditions_shows_all_of_them(tmp_path: Path) -> None:
    rule = _rule(tmp_path)
    saved = _found(rule, "rank kind name value\n1 env MODE 2").model_dump(exclude={"fix"})
    assert len(_actions(rule, Finding.model_validate(saved))) == 2


def test_steps_that_a_rule_does_not_have_are_not_shown(tmp_path: Path) -> None:
    rule = _rule(tmp_path)
    assert _actions(rule, _found(rule).model_copy(update={"fix": (7,)})) == []


def test_cases_of_a_rule_say_which_steps_are_shown(tmp_path: Path) -> None:
    rule = _rule(tmp_path)
    case = """\
  - name: does not advise what is set
    given:
      overlaps: |
        rank step span_us free_us
        0    1    1000    200
      settings: |
        kind name value
        env  MODE 2
    expect:
      - {rank: 0, fix: [2]}
"""
    rule.path.write_text(rule.path.read_text(encoding="utf-8") + case, encoding="utf-8")
    assert prove_rule(rule) == []
    rule.path.write_text(rule.path.read_text(encoding="utf-8").replace("[2]", "[1, 2]"), encoding="utf-8")
    assert [str(one) for one in prove_rule(rule)] == [
        "does not advise what is set: finding 1: fix: expected [1, 2], got [2]"
    ]


@pytest.mark.parametrize(
    ("step", "what"),
    [
        ("when: setting(MODE) == 1", "fix.0.when: `setting` needs the name of an environment variable"),
        ('when: setting("NO-NAME") == "1"', "fix.0.when: `setting` needs the name of an environment variable"),
        ('when: setting("MODE") == 1', "fix.0.when: cannot compare text with number"),
        ('when: getenv("MODE") == "1"', "fix.0.when: unknown function `getenv`"),
        ('when: setting("MODE")', "fix.0.when: expected a condition, found text"),
        ("when: free_us > idle_us", "fix.0.when: one value per group is needed, and this has one per row"),
        ("run: export N={stages}", "`{stages}` is neither evidence nor a key of `for_each`"),
        ("run: export N={rank x", "the brace before `rank` is not closed"),
    ],
)
def test_slips_in_a_step_are_told_when_the_rule_is_loaded(tmp_path: Path, step: str, what: str) -> None:
    path = tmp_path / "acme" / "rule.yaml"
    path.parent.mkdir()
    fix = f"fix:\n  - do: {{en: Do it., zh: 处理。}}\n    {step}\n"
    path.write_text(HEAD.format(id="acme/rule") + IDLE + fix + CASES, encoding="utf-8")
    (mistake,) = read_rule(path)
    assert str(mistake.what) == what


def _exports() -> Iterator[tuple[str, int, str, Compiled | None]]:
    for rule in Catalog.load([shipped_folder("rules")]).rules:
        for number, (step, test) in enumerate(zip(rule.fix, rule.fix_when, strict=True), 1):
            for line in f"{step.run}\n{step.code}".splitlines():
                if found := re.match(r"\s*export (.*)", line):
                    yield rule.id, number, found[1], test


def _a_run(test: Compiled, family: str = "npu") -> Frame:
    """A run of whose framework and devices nobody said anything, but for their family, and a finding without keys."""
    frame = Frame(None)
    frame.named.update(dict.fromkeys(test.names))
    frame.named.update(run_values(run_of(f"device_family={family}")))
    return frame


@pytest.mark.parametrize(("rule", "number", "exported", "test"), list(_exports()), ids=lambda given: str(given)[:60])
def test_no_remedy_of_a_shipped_rule_advises_what_is_set(
    rule: str, number: int, exported: str, test: Compiled | None
) -> None:
    assert test is not None, f"{rule}: step {number} has no `when`"
    for word in exported.split():
        name, value = word.split("=", 1)
        if not value.startswith("/path/"):
            frame = _a_run(test)
            frame.named[ENVIRONMENT] = {name: {0: value}}
            assert test.run(frame) == FALSE, f"{rule}: step {number} advises {word} where it is set"


@pytest.mark.parametrize(("rule", "number", "exported", "test"), list(_exports()), ids=lambda given: str(given)[:60])
def test_every_remedy_is_shown_where_nothing_was_recorded_but_the_family_of_devices_it_is_for(
    rule: str, number: int, exported: str, test: Compiled
) -> None:
    frames = [_a_run(test, family) for family in ("npu", "gpu")]
    assert any(test.run(frame) != FALSE for frame in frames), f"{rule}: step {number} hides {exported}"


_BINDINGS = [given for given in _exports() if given[2].startswith("CPU_AFFINITY_CONF=2")]


@pytest.mark.parametrize(("rule", "number", "exported", "test"), _BINDINGS, ids=lambda given: str(given)[:60])
def test_an_engine_that_binds_its_own_workers_is_not_told_to_bind_threads_beside_that(
    rule: str, number: int, exported: str, test: Compiled
) -> None:
    frame = _a_run(test)
    frame.named.update(run_values(run_of("device_family=npu framework=PyTorch workload=inference stack=vLLM")))
    assert test.run(frame) == FALSE, f"{rule}: step {number} tells vLLM to set {exported}"


def test_a_rule_without_findings_shows_its_whole_remedy(tmp_path: Path) -> None:
    info: RuleInfo = _rule(tmp_path).info()
    assert info.remedy(_found(_rule(tmp_path))) == info.fix


@pytest.mark.parametrize("rule", Catalog.load([shipped_folder("rules")]).rules, ids=lambda rule: rule.id)
def test_no_shipped_command_shows_doubled_braces(rule: Rule) -> None:
    """Two braces stand for one only around a name; around anything else they would be copied as they are."""
    shown = [fill_holes(words, {}) for step in rule.fix for words in (step.run, step.code)]
    assert not [words for words in shown if "{{" in words]


ENDED = {
    'jit_level="O2"': "2.9",
    "enable_async_exponential": "0.23",
    "TASK_QUEUE_ENABLE=2": "NPUGraph",
}
"""Options with an end or a limit, and what of it has to be said beside each: a version, or what does not go with it."""


@pytest.mark.parametrize(("option", "said"), ENDED.items(), ids=list(ENDED))
def test_a_step_that_names_an_option_with_an_end_says_where_it_ends(option: str, said: str) -> None:
    steps = [
        (rule.id, step)
        for rule in Catalog.load([shipped_folder("rules")]).rules
        for step in rule.fix
        if option in step.run or option in step.code
    ]
    assert steps
    silent = [
        (name, language)
        for name, step in steps
        for language in ("en", "zh")
        if step.care is None or said not in step.care.say(language)
    ]
    assert not silent


def test_code_for_one_operation_of_a_dataset_is_given_only_where_it_is_known_to_be_there() -> None:
    named = re.compile(r"dataset\.(map|batch|filter|shuffle)\(")
    assuming = [
        (rule.id, step.code)
        for rule in Catalog.load([shipped_folder("rules")]).rules
        for step, test in zip(rule.fix, rule.fix_when, strict=True)
        if (found := named.search(step.code)) and (test is None or found[1].title() not in test.source)
    ]
    assert not assuming
