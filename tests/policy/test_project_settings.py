# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest
import rule_texts
import yaml

from advisor.cli.main import main
from advisor.machine.shipped_files import shipped_folder
from advisor.messages.errors import RuleError
from advisor.model.findings import Severity
from advisor.policy.settings import Settings
from advisor.policy.settings_file import json_schema
from advisor.rules.catalog import Catalog


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    for name in ("host/idle", "host/busy", "comm/slow"):
        rule_texts.write(tmp_path / "rules", name)
    return tmp_path / "rules"


def load(rules: Path, text: str) -> Catalog:
    path = rules.parent / "advisor.yaml"
    path.write_text(text, encoding="utf-8")
    return Catalog.load([rules], Settings.read(path))


def told(rules: Path, text: str) -> str:
    with pytest.raises(RuleError) as caught:
        load(rules, text)
    return "\n".join(str(mistake).split("advisor.yaml:", 1)[1] for mistake in caught.value.mistakes)


def test_a_threshold_beside_params_is_told_where_it_belongs(rules: Path) -> None:
    said = told(rules, "rules: {host/idle: {tolerated: 3, severity: low, parms: {tolerated: 3}}}")
    assert "unknown key `tolerated`" in said
    assert "a threshold of the rule stands below its `params:`" in said
    assert "did you mean `params`?" in said


def test_rules_are_turned_off_one_by_one_and_by_category(rules: Path) -> None:
    assert [r.id for r in load(rules, "rules: {host/idle: off}").rules] == ["comm/slow", "host/busy"]
    assert [r.id for r in load(rules, "rules: {host/*: off}").rules] == ["comm/slow"]
    assert [r.id for r in load(rules, "rules: {'*': off, host/busy: on}").rules] == ["host/busy"]
    assert len(load(rules, "").rules) == 3


def test_an_exact_id_keeps_what_a_pattern_turned_off_on(rules: Path) -> None:
    text = "rules:\n  host/idle: {params: {tolerated: 0.3}}\n  host/*: off\n  host/busy: on"
    assert [r.id for r in load(rules, text).rules] == ["comm/slow", "host/busy"]


def test_thresholds_and_severities_change_and_nothing_else(rules: Path) -> None:
    text = "rules:\n  host/idle: {params: {tolerated: 0.15}, severity: critical}\n  host/*: {severity: low}"
    busy, idle = load(rules, text).rules[1:]
    assert idle.params["tolerated"].value == 0.15
    assert idle.params["tolerated"].overridden
    assert idle.severity == ((Severity.critical, None),)
    assert busy.severity == ((Severity.low, None),)
    assert not busy.params["tolerated"].overridden
    before = Catalog.load([rules]).by_id["host/idle"]
    assert (idle.when.source, idle.let.keys(), idle.explains) == (
        before.when.source,
        before.let.keys(),
        before.explains,
    )


def test_defaults_of_the_command_line_are_read(rules: Path) -> None:
    path = rules.parent / "advisor.yaml"
    path.write_text("language: zh\nfail_on: high\n", encoding="utf-8")
    settings = Settings.read(path)
    assert (settings.language, settings.level) == ("zh", Severity.high)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (
            "rules:\n  host/idel: off",
            "2:3: unknown rule `host/idel`\n    host/idel: off\n    ^\n    hint: did you mean `host/idle`?",
        ),
        (
            "rules:\n  host/idle: {params: {tolerate: 1}}",
            "2:24: `host/idle` has no param `tolerate`\n    host/idle: {params: {tolerate: 1}}\n"
            "                         ^\n    hint: did you mean `tolerated`?",
        ),
        (
            "rules: {hots/*: off}",
            "1:9: no rule matches `hots/*`\n    rules: {hots/*: off}\n            ^\n    hint: did you mean `host/*`?",
        ),
    ],
)
def test_unknown_names_come_with_a_suggestion(rules: Path, text: str, what: str) -> None:
    assert told(rules, text) == what


@pytest.mark.parametrize("written", ["15%", "'15 %'", "0.15"])
def test_a_threshold_that_is_a_share_may_be_written_in_per_cent(rules: Path, written: str) -> None:
    idle = load(rules, f"rules: {{host/idle: {{params: {{tolerated: {written}}}}}}}").by_id["host/idle"]
    assert idle.params["tolerated"].value == 0.15


@pytest.mark.parametrize("written", ["0", "1", "0%", "100%"])
def test_a_share_may_be_nothing_and_the_whole(rules: Path, written: str) -> None:
    load(rules, f"rules: {{host/idle: {{params: {{tolerated: {written}}}}}}}")


@pytest.mark.parametrize(
    ("written", "what", "hint"),
    [
        ("15", "`15` is more than the whole", "did you mean `15%`?"),
        ("500", "`500` is more than the whole", "a share lies between 0 and 1, or 0% and 100%"),
        ("500%", "`500%` is more than the whole", "a share lies between 0 and 1, or 0% and 100%"),
        ("-1", "`-1` is not a share", "for example `0.25` or `25%`"),
        ("-5%", "`-5%` is not a share", "for example `0.25` or `25%`"),
        ("five%", "`five%` is not a share", "for example `0.25` or `25%`"),
    ],
)
def test_a_threshold_that_is_a_share_is_held_to_what_shares_can_be(
    rules: Path, written: str, what: str, hint: str
) -> None:
    said = told(rules, f"rules: {{host/idle: {{params: {{tolerated: {written}}}}}}}").splitlines()
    assert said[0] == f"1:41: tolerated: {what}"
    assert said[-1] == f"    hint: {hint}"


def test_thresholds_that_are_no_shares_may_be_any_number_and_take_no_per_cent(tmp_path: Path) -> None:
    times = rule_texts.IDLE.replace("value: 0.1, unit: share", "value: 0.5, unit: times")
    rule_texts.write(tmp_path / "rules", "host/idle", times)
    load(tmp_path / "rules", "rules: {host/idle: {params: {tolerated: 15}}}")
    said = told(tmp_path / "rules", "rules: {host/idle: {params: {tolerated: 15%}}}")
    assert said.startswith("1:41: tolerated: `tolerated` is no share, and is written without %")
    assert said.endswith("hint: for example `0.5`")


def test_a_share_that_a_rule_itself_holds_above_the_whole_may_lie_there(tmp_path: Path) -> None:
    above = rule_texts.IDLE.replace("value: 0.1", "value: 1.2")
    rule_texts.write(tmp_path / "rules", "host/idle", above)
    load(tmp_path / "rules", "rules: {host/idle: {params: {tolerated: 1.5}}}")


@pytest.mark.parametrize(
    "text",
    [
        "rules: {host/idle: {when: 'true'}}",
        "rules: {host/idle: {severity: worse}}",
        "rules: {host/idle: {params: {tolerated: high}}}",
        "rules: {host/idle: {params: {tolerated: true}}}",
        "rules: {host/idle: {params: 5}}",
        "rules: {host/idle: 5}",
        "rules: {host/*: {params: {tolerated: 1}}}",
        "rules: [host/idle]",
        "rulez: {}",
        "language: fr",
        "fail_on: never",
        "- 1",
    ],
)
def test_what_is_no_setting_is_refused(rules: Path, text: str) -> None:
    assert told(rules, text)


def test_unknown_names_are_told_together_with_what_is_no_setting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "advisor.yaml"
    path.write_text("rules:\n  host/nothing: {limit: 3}\npolicy: {rules: {none/such: warn}}\n", encoding="utf-8")
    assert main(["diagnose", str(tmp_path), "--config", str(path), "--lang", "en"]) == 2
    text = capsys.readouterr().err
    wanted = (":2:3: unknown rule `host/nothing`", ":2:18: unknown key `limit`", ":3:18: unknown rule `none/such`")
    places = [text.find(one) for one in wanted]
    assert -1 not in places
    assert places == sorted(places)


def test_settings_made_without_a_file_are_checked_too(rules: Path) -> None:
    from advisor.policy.settings import Override

    with pytest.raises(RuleError, match="unknown rule `host/none`"):
        Catalog.load([rules], Settings({"host/none": Override(off=True)}))


@pytest.mark.parametrize(("written", "name"), [("910b3", "Ascend910B3"), ("910_9392", "Ascend910_9392")])
def test_the_chip_is_known_however_it_is_written(rules: Path, written: str, name: str) -> None:
    load(rules, f"chip: {written}")
    assert Settings.read(rules.parent / "advisor.yaml").chip == name


@pytest.mark.parametrize("wrong", ["910B9", "[910B3]", "910", "{a: b}"])
def test_a_chip_that_does_not_exist_is_a_mistake_with_its_line(rules: Path, wrong: str) -> None:
    said = told(rules, f"language: en\nchip: {wrong}")
    assert said.startswith("2:7: ")
    assert "unknown chip" in said or "`chip` has to be a text" in said


def test_the_own_thresholds_of_all_shipped_rules_may_be_set(tmp_path: Path) -> None:
    rules = Catalog.load([shipped_folder("rules")]).rules
    own = {rule.id: {"params": {name: one.value for name, one in rule.params.items()}} for rule in rules if rule.params}
    path = tmp_path / "advisor.yaml"
    path.write_text(yaml.safe_dump({"rules": own}), "utf-8")
    assert Settings.read(path).check({rule.id: rule for rule in rules}) == []
    per_cent = {"host/free-time": {"params": {"normal": "15%"}}}
    validator = jsonschema.Draft202012Validator(json_schema(rules))
    assert list(validator.iter_errors({"rules": own | per_cent})) == []
    for wrong in (15, -1, "much"):
        assert list(validator.iter_errors({"rules": {"host/free-time": {"params": {"normal": wrong}}}}))
