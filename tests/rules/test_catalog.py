# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import time
from pathlib import Path

import jsonschema
import pytest
import rule_texts
import yaml

from advisor.engine.case_runs import TablesAlone, _finding_values, prove_rule
from advisor.engine.evaluate import evaluate
from advisor.engine.merge import with_worst
from advisor.facts.derived import Overlap
from advisor.facts.observed import Setting
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import RuleError, UsageError
from advisor.release import VERSION
from advisor.rules import catalog, style
from advisor.rules.bind import Rule
from advisor.rules.cases import OF_FINDINGS, parse_given
from advisor.rules.catalog import Catalog, lint_rules, new_rule
from advisor.rules.editor_schema import json_schema
from advisor.rules.patterns import SPELLINGS, is_pattern_file, pattern_schema
from advisor.rules.schema import cases_of_document
from advisor.yaml_files.source import read_document


def told(folder: Path) -> list[str]:
    return [str(mistake.what) for mistake in lint_rules([folder])]


def test_rules_come_ordered_by_id_with_the_tables_they_want(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, "host/idle", "requires: [settings]\n" + rule_texts.IDLE)
    rule_texts.write(tmp_path, "comm/idle")
    catalog = Catalog.load([tmp_path])
    assert [rule.id for rule in catalog.rules] == ["comm/idle", "host/idle"]
    assert catalog.facts() == {Overlap, Setting}
    assert [rule.id for rule in catalog.select(["host/*"]).rules] == ["host/idle"]


def test_a_later_directory_may_not_redefine_an_id(tmp_path: Path) -> None:
    rule_texts.write(tmp_path / "a")
    rule_texts.write(tmp_path / "b")
    with pytest.raises(RuleError) as caught:
        Catalog.load([tmp_path / "a", tmp_path / "b"])
    mistake = caught.value.mistakes[0]
    assert str(mistake.what) == "`host/idle` is defined twice"
    assert mistake.place.file == (tmp_path / "b/host/idle.yaml").as_posix()
    assert (tmp_path / "a/host/idle.yaml").as_posix() in str(mistake.hint)


def test_the_id_of_a_shipped_rule_is_refused_with_what_changes_its_thresholds(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, "host/free-time")
    (by_the_lint,) = lint_rules([tmp_path])
    with pytest.raises(RuleError) as caught:
        Catalog.load([shipped_folder("rules"), tmp_path])
    assert caught.value.mistakes == (by_the_lint,)
    assert str(by_the_lint.what) == "there is a shipped rule `host/free-time`"
    assert "advisor.yaml" in str(by_the_lint.hint)


def test_a_directory_that_is_not_there_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no such directory of rules"):
        Catalog.load([tmp_path / "none"])


def test_loading_does_not_look_at_the_tests_of_a_rule(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, tests="tests: [this, {is: wrong}]\n")
    assert len(Catalog.load([tmp_path]).rules) == 1
    assert "`tests.0` has to be a mapping" in told(tmp_path)


def test_a_rule_that_was_edited_is_read_anew_even_where_size_and_time_stay(tmp_path: Path) -> None:
    rule_texts.write(tmp_path)
    (before,) = Catalog.load([tmp_path]).rules
    stamp = before.path.stat()
    before.path.write_text(before.path.read_text("utf-8").replace("It matters.", "It mutters."), "utf-8")
    os.utime(before.path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    (after,) = Catalog.load([tmp_path]).rules
    assert (before.why.en, after.why.en) == ("It matters.", "It mutters.")


def test_a_rule_file_is_not_read_again_until_somebody_writes_to_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(catalog, "_SETTLED_NS", -(2**62))
    path = rule_texts.write(tmp_path)
    first = catalog.read_rule(path)
    with monkeypatch.context() as patch:
        patch.setattr(catalog, "read_text", None)
        assert catalog.read_rule(path) is first
    stamp = path.stat()
    time.sleep(0.05)  # the clock of a file system is coarse: a file written to just now is read each time
    path.write_text(path.read_text("utf-8").replace("It matters.", "It mutters."), "utf-8")
    os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    after = catalog.read_rule(path)
    assert isinstance(after, Rule)
    assert after.why.en == "It mutters."
    path.unlink()
    assert not isinstance(catalog.read_rule(path), Rule)


def test_what_a_report_says_comes_from_the_rule(tmp_path: Path) -> None:
    info = rule_texts.made(tmp_path).info()
    assert (info.id, info.params[0].name, info.labels[0].label.zh) == ("host/idle", "tolerated", "空闲占比")
    assert info.assumes is not None


def test_a_new_rule_passes_its_own_tests_and_the_lint(tmp_path: Path) -> None:
    path = tmp_path / "acme/slow-embedding.yaml"
    path.parent.mkdir()
    path.write_text(new_rule("acme/slow-embedding"), encoding="utf-8")
    assert lint_rules([tmp_path]) == []
    assert prove_rule(Catalog.load([tmp_path]).rules[0]) == []


@pytest.mark.parametrize("rule_id", ["slow", "Acme/slow", "acme/slow embedding", "../etc/passwd", "a/b/c", ""])
def test_a_new_rule_needs_an_id(rule_id: str) -> None:
    with pytest.raises(UsageError):
        new_rule(rule_id)


def test_the_lint_is_silent_about_a_good_rule(tmp_path: Path) -> None:
    rule_texts.write(tmp_path)
    assert told(tmp_path) == []


def test_a_single_file_may_speak_of_the_files_beside_it(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, "comm/idle")
    rule = rule_texts.write(tmp_path, "host/idle", "explains: [comm/idle]\n" + rule_texts.IDLE)
    assert told(rule) == []
    (tmp_path / "comm/idle.yaml").unlink()
    assert told(rule) == ["unknown rule `comm/idle`"]


def test_the_id_is_the_path(tmp_path: Path) -> None:
    rule_texts.write(tmp_path).rename(tmp_path / "host/other.yaml")
    assert told(tmp_path) == ["the id is the path of the file: `host/other`"]


def test_of_a_category_the_folder_above_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rule_texts.write(tmp_path, "acme/idle")
    rule_texts.write(tmp_path, "acme/busy", "explains: [acme/idle]\n" + rule_texts.IDLE)
    (mistake,) = lint_rules([tmp_path / "acme"])
    assert str(mistake.what) == "the folder is the category `acme` alone"
    assert str(mistake.hint) == f"give the folder above: {tmp_path.as_posix()}"
    monkeypatch.chdir(tmp_path / "acme")
    (mistake,) = lint_rules([Path()])
    assert str(mistake.hint) == "give the folder above: .."
    assert told(tmp_path) == []


def test_a_file_whose_path_can_be_no_id_is_to_be_named_after_its_rule(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, "acme/idle").rename(tmp_path / "idle.yaml")
    assert told(tmp_path) == ["the path of the file is its id: `acme/idle.yaml`"]


@pytest.mark.parametrize(
    ("right", "wrong", "what"),
    [
        ("saving_us: 200", "savings_us: 200", "finding 1: nothing is called `savings_us`"),
        ("idle_share: 0.2", "idle_shares: 0.2", "finding 1: nothing is called `idle_shares`"),
    ],
)
def test_a_case_expects_what_a_finding_has(tmp_path: Path, right: str, wrong: str, what: str) -> None:
    rule_texts.write(tmp_path, tests=rule_texts.CASES.replace(right, wrong))
    (mistake,) = lint_rules([tmp_path])
    assert str(mistake.what) == what
    assert mistake.source[mistake.caret :].startswith(wrong)


def test_every_value_of_a_finding_may_be_expected(tmp_path: Path) -> None:
    rule = rule_texts.made(tmp_path)
    (first, *_), _ = cases_of_document(read_document(rule.path))
    result = evaluate(rule, TablesAlone(parse_given(first).tables), parse_given(first).run)
    ((finding, hit),) = with_worst(result)
    assert _finding_values(finding, hit).keys() == {*OF_FINDINGS, "rank", "idle_us", "idle_share"}


BARE = "tests:\n  - {name: a, given: {overlaps: rank}, expect: skipped}\n"


def test_a_shipped_rule_has_three_cases_of_which_one_fires_and_one_is_quiet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(style, "shipped_folder", lambda _: tmp_path)
    rule_texts.write(tmp_path, tests=BARE)
    assert told(tmp_path) == [
        "a rule has at least 3 cases",
        "no case in which the rule fires",
        "no case in which the rule is quiet",
    ]


def test_a_rule_of_ones_own_has_one_case_in_which_it_fires(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, tests=BARE)
    assert told(tmp_path) == ["no case in which the rule fires"]


@pytest.mark.parametrize(("one", "other"), [("en", "zh"), ("zh", "en")])
def test_a_rule_of_ones_own_may_speak_one_language(
    one: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = rule_texts.write(tmp_path)
    data = yaml.safe_load(path.read_text("utf-8"))

    def alone(value: object) -> object:
        if isinstance(value, list):
            return [alone(item) for item in value]
        if isinstance(value, dict):
            return {key: alone(item) for key, item in value.items() if key != other or "en" not in value}
        return value

    path.write_text(yaml.safe_dump(alone(data), allow_unicode=True, sort_keys=False), "utf-8")
    assert told(tmp_path) == []
    (rule,) = Catalog.load([tmp_path]).rules
    assert rule.title.en == rule.title.zh == data["title"][one]
    assert rule.evidence[0].label.zh == rule.evidence[0].label.en
    monkeypatch.setattr(style, "shipped_folder", lambda _: tmp_path)
    assert f"`title.{other}` is missing" in told(tmp_path)


def test_a_value_is_shown_in_the_unit_of_its_threshold(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, body=rule_texts.IDLE.replace("{show: idle_share,", "{show: idle_share, as: times,"))
    assert told(tmp_path) == ["`tolerated` is in `share`, what is held against it is shown in `times`"]


@pytest.mark.parametrize(
    ("when", "wrong"),
    [
        ("idle_share > 0.1 and idle_share > tolerated", ["the number 0.1 in `when` is a threshold"]),
        ("idle_us > 5 * ms and idle_share > tolerated", ["the number 5 in `when` is a threshold"]),
        ("idle_share > 3 * tolerated and idle_us > 0", []),
        ("idle_share > tolerated and quantile(free_us, 0.9) > 1", []),
    ],
)
def test_thresholds_are_params(tmp_path: Path, when: str, wrong: list[str]) -> None:
    rule_texts.write(tmp_path, body=rule_texts.IDLE.replace("when: idle_share > tolerated", f"when: {when}"))
    assert told(tmp_path) == wrong


@pytest.mark.parametrize(
    ("spelled", "wrong"),
    [
        ("odd_us / 0", ["dividing by 0 stands for a missing value"]),
        ("(odd_us + 1) / 0.0", ["dividing by 0 stands for a missing value"]),
        ("missing", []),
        ("odd_us / 2", []),
    ],
)
def test_a_missing_value_is_spelled_by_its_word(tmp_path: Path, spelled: str, wrong: list[str]) -> None:
    let = f"let:\n  odd_us: mean(free_us)\n  known_us: odd_us if odd_us > 0 else {spelled}\n"
    body = rule_texts.IDLE.replace("let:\n", let).replace(
        "evidence:\n", "evidence:\n  - {show: known_us, en: Known, zh: 已知}\n"
    )
    rule_texts.write(tmp_path, body=body)
    assert told(tmp_path) == wrong


def test_evidence_in_a_unit_nobody_reads_is_told(tmp_path: Path) -> None:
    body = rule_texts.IDLE.replace("let:\n", "let:\n  odd: max(free_us) * max(span_us)\n")
    body = body.replace("evidence:\n", "evidence:\n  - {show: odd, en: Odd, zh: 怪}\n")
    rule_texts.write(tmp_path, body=body)
    assert told(tmp_path) == ["`odd` is in us*us, which a report cannot show"]


def test_a_share_beyond_the_whole_is_told_with_what_may_be_meant(tmp_path: Path) -> None:
    written = "value: 0.1, unit: share"
    assert written in rule_texts.IDLE
    rule_texts.write(tmp_path, body=rule_texts.IDLE.replace(written, "value: 20, unit: share"))
    (mistake,) = lint_rules([tmp_path])
    assert str(mistake.what) == "`params.tolerated`: 20 is more than the whole"
    assert str(mistake.hint) == "20 % is written as 0.2; what can be more than the whole has `unit: times`"
    rule_texts.write(tmp_path, body=rule_texts.IDLE.replace(written, "value: 1.5, unit: share"))
    (mistake,) = lint_rules([tmp_path])
    assert str(mistake.hint) == "what can be more than the whole has `unit: times`"
    rule_texts.write(tmp_path, body=rule_texts.IDLE.replace(written, "value: 1, unit: share"))
    assert told(tmp_path) == []


def test_of_what_a_case_expects_a_wrong_word_is_told_alone(tmp_path: Path) -> None:
    path = rule_texts.write(tmp_path)
    path.write_text(path.read_text("utf-8").replace("expect: quiet", "expect: silent", 1), "utf-8")
    (mistake,) = lint_rules([tmp_path])
    assert str(mistake.what).endswith("is one of quiet, skipped, not applicable, not `silent`")


def test_what_is_misspelt_is_told_before_what_is_missing_for_it(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, body=rule_texts.IDLE.replace("severity:", "severty:"))
    assert told(tmp_path) == ["unknown key `severty`", "`severity` is missing"]


def test_a_hole_that_a_misspelt_key_leaves_open_is_no_mistake_of_its_own(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, body=rule_texts.IDLE.replace("for_each: [rank]", "for_each: [ranks]"))
    assert told(tmp_path) == ["`overlaps` has no column `ranks`"]


def test_a_param_nobody_uses_is_told(tmp_path: Path) -> None:
    body = rule_texts.IDLE.replace("params:\n", "params:\n  spare: {value: 1, basis: {en: x, zh: 无}}\n")
    rule_texts.write(tmp_path, body=body)
    assert told(tmp_path) == ["param `spare` is not used"]


def test_a_value_nobody_uses_is_told(tmp_path: Path) -> None:
    body = rule_texts.IDLE.replace("let:\n", "let:\n  spare: max(free_us)\n")
    rule_texts.write(tmp_path, body=body)
    assert told(tmp_path) == ["value `spare` is not used"]


@pytest.mark.parametrize("used", ["saving:\n  imposes: spare * part", "symptom: spare * part\nsaving:"])
def test_what_only_times_beside_the_saving_need_is_used(tmp_path: Path, used: str) -> None:
    body = rule_texts.IDLE.replace("params:\n", "params:\n  part: {value: 1, basis: {en: x, zh: 无}}\n")
    body = body.replace("let:\n", "let:\n  spare: max(free_us)\n").replace("saving:", used)
    rule_texts.write(tmp_path, body=body)
    assert told(tmp_path) == []


@pytest.mark.parametrize(
    ("code", "wrong"),
    [
        ("code: y = f(x)  # instead of g", ["what follows `#` on this line is a comment of the file"]),
        ("run: 'ls -l'  # look", ["what follows `#` on this line is a comment of the file"]),
        ("code: |-\n      y = f(x)  # instead of g", []),
        ("code: y = f(x)", []),
    ],
)
def test_a_comment_behind_code_that_nobody_would_read_is_told(tmp_path: Path, code: str, wrong: list[str]) -> None:
    path = rule_texts.write(tmp_path)
    path.write_text(path.read_text("utf-8").replace(rule_texts.FIX, f"{rule_texts.FIX}    {code}\n"), "utf-8")
    assert [one.partition(" and not")[0] for one in told(tmp_path)] == wrong


def test_what_a_rule_explains_exists_and_is_not_itself(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, "host/idle", "explains: [host/idle, host/none, host/busy]\n" + rule_texts.IDLE)
    rule_texts.write(tmp_path, "host/busy", "explains: [host/idle]\n" + rule_texts.IDLE)
    assert told(tmp_path) == [
        "`host/busy` explains itself by way of others",
        "a rule does not explain itself",
        "unknown rule `host/none`",
    ]


def test_a_rule_that_slow_recording_puts_in_doubt_says_whether_its_saving_is_host_time(tmp_path: Path) -> None:
    slowing = 'doubts: ["host/*"]\ninflates: host_time\n' + rule_texts.IDLE
    rule_texts.write(tmp_path, "capture/stacks", slowing)
    rule_texts.write(tmp_path, "comm/idle")
    silent = rule_texts.write(tmp_path, "host/idle")
    (mistake,) = lint_rules([tmp_path])
    assert str(mistake.what) == (
        "`capture/stacks` says that recording slowed the host, and `saving` does not say whether it is host time"
    )
    assert mistake.place.file == silent.as_posix()
    for said in ("true", "false"):
        rule_texts.write(tmp_path, "host/idle", rule_texts.IDLE.replace("saving:\n", f"saving:\n  host_time: {said}\n"))
        assert told(tmp_path) == []


def test_only_a_rule_on_the_capture_says_that_recording_slowed_the_host(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, "acme/stacks", "inflates: host_time\n" + rule_texts.IDLE)
    assert told(tmp_path) == ["only rules on the capture, `capture/…`, say `inflates`"]


def test_what_a_rule_includes_it_explains_and_it_exists(tmp_path: Path) -> None:
    rule_texts.write(
        tmp_path, "host/idle", "explains: [host/busy]\nincludes: [host/none, host/late]\n" + rule_texts.IDLE
    )
    rule_texts.write(tmp_path, "host/busy")
    rule_texts.write(tmp_path, "host/late")
    idle = next(rule for rule in Catalog.load([tmp_path]).rules if rule.id == "host/idle")
    assert idle.explains == ("host/busy", "host/none", "host/late") and idle.includes == ("host/none", "host/late")
    assert told(tmp_path) == ["unknown rule `host/none`"]


def test_how_many_steps_there_are_is_told_beside_those_that_are_hit_alone() -> None:
    told = {
        rule.id: rule.let["all_steps"]
        for rule in Catalog.load([shipped_folder("rules")]).rules
        if "all_steps" in rule.let
    }
    assert told and not [name for name, value in told.items() if "some_steps" not in value.names]


def test_what_makes_a_rank_late_explains_what_others_wait_in_kernels_as_what_they_wait_in_collectives() -> None:
    links = {"ranks/slow-communicator", "ranks/slow-link", "ranks/slow-port"}  # of data that move slowly nobody is late
    late = [
        rule
        for rule in Catalog.load([shipped_folder("rules")]).rules
        if "comm/waiting-collectives" in rule.explains and rule.id.startswith(("ranks/", "host/", "io/"))
    ]
    assert {rule.id for rule in late if "comm/waits-inside-kernels" not in rule.explains} == links


def test_wrong_cells_in_a_case_are_told(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, tests=rule_texts.CASES.replace("rank span_us", "rank spam_us", 1))
    assert told(tmp_path)[0].startswith("`overlaps` has no column `spam_us`")


@pytest.mark.parametrize(
    ("right", "wrong", "shown"),
    [
        ("1000    200", "1000    2OO", "2OO"),
        ("1000    200", "1000", "0    1000"),
        ("1000    200", "1000    200 x2 # twice\n\n        1 1000 '2", "1 1000 '2"),
        ("rank span_us", "rank spam_us", "spam_us free_us"),
        ("      overlaps: |", "      overlap: |", "overlap: |"),
        ("    given:\n", "    given:\n      run: tp=many\n", "run: tp=many"),
    ],
)
def test_a_mistake_in_a_case_is_told_at_its_row(tmp_path: Path, right: str, wrong: str, shown: str) -> None:
    rule_texts.write(tmp_path, tests=rule_texts.CASES.replace(right, wrong, 1))
    (mistake,) = lint_rules([tmp_path])
    lines = (tmp_path / "host/idle.yaml").read_text("utf-8").splitlines()
    assert lines[mistake.place.line - 1][mistake.place.column - 1 :] == shown
    assert mistake.source[mistake.caret :] == shown


def test_a_case_cannot_ask_for_rows_without_end(tmp_path: Path) -> None:
    rule_texts.write(tmp_path, tests=rule_texts.CASES.replace("200\n", "200 x999999999999\n", 1))
    assert told(tmp_path) == ["overlaps: more than 100000 rows"]


def test_the_schemas_accept_every_shipped_rule_and_pattern_and_refuse_a_slip() -> None:
    of_rules, of_patterns = map(jsonschema.Draft202012Validator, (json_schema(), pattern_schema()))
    slips: dict[bool, dict[str, object]] = {}
    for path in sorted(shipped_folder("rules").rglob("*.yaml")):
        if path.name == SPELLINGS:
            continue
        validator = of_patterns if is_pattern_file(path) else of_rules
        data = json.loads(json.dumps(yaml.safe_load(path.read_text(encoding="utf-8")), default=str))
        assert list(validator.iter_errors(data)) == [], path
        slips[validator is of_patterns] = {**data, "whem": "true"}
    for number, validator in enumerate((of_rules, of_patterns)):
        assert list(validator.iter_errors(slips[bool(number)]))


def test_the_shipped_rules_are_clean() -> None:
    assert [str(mistake) for mistake in lint_rules([shipped_folder("rules")])] == []


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("Set <name> first.", "raw HTML is shown as it stands: `<name>`"),
        ("![a](https://a.example/b.png)", "pictures are not shown: `https://a.example/b.png`"),
        ("[a](javascript:alert)", "no link is made to `javascript:alert`"),
        ("Ask <mailto:a@b.example>.", "no link is made to `mailto:a@b.example`"),
        ("[a](https://a.example/{rank})", "no link is made to `https://a.example/{rank}`"),
    ],
)
def test_the_lint_refuses_what_no_report_shows_in_both_languages(tmp_path: Path, text: str, what: str) -> None:
    path = rule_texts.write(tmp_path)
    path.write_text(path.read_text("utf-8").replace("do: {en: Do it., ", f"do: {{en: '{text}', "), "utf-8")
    (mistake,) = lint_rules([tmp_path])
    assert str(mistake.what) == what
    assert mistake.source[mistake.caret :].startswith(("<", "[", "!", "javascript", "https", "mailto"))
    assert "hint: write Markdown" in mistake.say("en")
    assert "提示：请使用 Markdown" in mistake.say("zh")
    assert mistake.what.zh != what


def test_the_lint_lets_markdown_pass(tmp_path: Path) -> None:
    path = rule_texts.write(tmp_path)
    text = "- *one*, see [a](https://a.example/b_c)\\n- `<two>`\\n\\n| a |\\n|---|\\n| b |"
    path.write_text(path.read_text("utf-8").replace("do: {en: Do it., ", f'do: {{en: "{text}", '), "utf-8")
    assert told(tmp_path) == []


def test_no_rule_came_in_a_version_that_is_not_there_yet() -> None:
    now = tuple(map(int, VERSION.split(".")))
    rules = Catalog.load([shipped_folder("rules")]).rules
    assert not [rule.id for rule in rules if tuple(map(int, rule.since.split("."))) > now]
