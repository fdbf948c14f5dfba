# SPDX-License-Identifier: Apache-2.0
"""Where settings are found, what `advisor init` writes, and the schema that editors check them by."""

from __future__ import annotations

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from advisor.cli.main import main
from advisor.cli.settings_in_force import found_settings
from advisor.policy.settings import Settings
from advisor.yaml_files import source

TOP = Path(__file__).parents[2]
CASE = TOP / "corpus" / "host-bound-2-ranks"
SCHEMA = jsonschema.Draft202012Validator(
    json.loads((TOP / "docs" / "reference" / "settings.schema.json").read_text("utf-8"))
)
IDLE = "rules:\n  host/*: off\n"
PYPROJECT = """\
[project]
name = "job"

[tool.advisor]
language = "zh"
fail_on = ["new:high", "critical"]

[tool.advisor.rules]
"host/*" = "off"
"comm/slow-transfer" = {severity = "low"}

[tool.advisor.budgets]
free_share = "25%"
slowdown = 0.03

[[tool.advisor.suppressions]]
rule = "io/*"
reason = "packed soon"
expires = 2999-05-31
"""


@pytest.fixture
def deep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository, and a folder in it in which commands run."""
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    inside = tmp_path / "repo" / "jobs" / "one"
    inside.mkdir(parents=True)
    monkeypatch.chdir(inside)
    return inside


def test_the_nearest_settings_up_to_the_top_of_the_repository_are_used(deep: Path, tmp_path: Path) -> None:
    assert found_settings(deep) is None
    (tmp_path / "advisor.yaml").write_text(IDLE, "utf-8")
    assert found_settings(deep) is None
    (tmp_path / "repo" / "advisor.yaml").write_text(IDLE, "utf-8")
    assert found_settings(deep) == tmp_path / "repo" / "advisor.yaml"
    (deep.parent / "pyproject.toml").write_text("[tool.ruff]\n", "utf-8")
    assert found_settings(deep) == tmp_path / "repo" / "advisor.yaml"
    (deep.parent / "pyproject.toml").write_text("[tool.advisor.rules]\n", "utf-8")
    assert found_settings(deep) == deep.parent / "pyproject.toml"
    (deep / "advisor.yaml").write_text("", "utf-8")
    assert found_settings(deep) == deep / "advisor.yaml"


def test_a_file_that_lies_elsewhere_is_named_and_one_in_this_folder_is_not(
    deep: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "repo" / "advisor.yaml").write_text(IDLE, "utf-8")
    assert main(["rules", "list", "--lang", "en"]) == 0
    said = capsys.readouterr()
    assert "host/" not in said.out
    assert said.err == "advisor: settings from ../../advisor.yaml\n"
    assert main(["diagnose", str(CASE), "-q", "-o", "r.json"]) == 0
    assert capsys.readouterr().err == ""
    (deep / "advisor.yaml").write_text(IDLE, "utf-8")
    assert main(["rules", "list"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        ("[tool]\nadvisor = {}\n", True),
        ("tool.advisor.chip = 'x'\n", True),
        ("[tool.advisor\n", True),  # no TOML: the mistake is told
        ("[project.scripts]\nadvisor = 'x:main'\n", False),
        ("[tool.poetry.dependencies]\nadvisor = '*'\n", False),
        ('x = """\n[tool.advisor]\n"""\n', False),
    ],
)
def test_only_its_own_table_in_pyproject_counts_as_settings(tmp_path: Path, text: str, counts: bool) -> None:
    (tmp_path / "pyproject.toml").write_text(text, "utf-8")
    assert (found_settings(tmp_path) is not None) is counts


def test_settings_in_pyproject_say_the_same_as_in_yaml(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    found = Settings.read(tmp_path / "pyproject.toml")
    text = (
        "language: zh\nfail_on: [new:high, critical]\nrules: {host/*: off, comm/slow-transfer: {severity: low}}\n"
        "budgets: {free_share: 25%, slowdown: 0.03}\n"
        "suppressions: [{rule: io/*, reason: packed soon, expires: 2999-05-31}]\n"
    )
    (tmp_path / "advisor.yaml").write_text(text, "utf-8")
    same = Settings.read(tmp_path / "advisor.yaml")
    assert (found.rules, found.language, found.fail_on, found.tolerance) == (
        same.rules,
        same.language,
        same.fail_on,
        same.tolerance,
    )
    assert found.policy.budgets == same.policy.budgets
    assert [one.model_copy(update={"line": 0}) for one in found.policy.suppressions] == [
        one.model_copy(update={"line": 0}) for one in same.policy.suppressions
    ]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[tool.advisor]\nlangage = "en"\n', "pyproject.toml:2:1: unknown key `langage`"),
        ('[tool.advisor.budgets]\nslowdown = "3"\n', "pyproject.toml:2:1: slowdown: "),
        ("[tool.advisor.rules]\n\"host/idel\" = 'off'\n", "pyproject.toml:2:1: unknown rule `host/idel`"),
        ("[tool.advisor\n", "pyproject.toml:1:14: not TOML"),
        ('tool.advisor = "x"\n', "settings are a mapping"),
    ],
)
def test_a_mistake_in_pyproject_is_told_with_its_line(
    text: str, told: str, deep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (deep / "pyproject.toml").write_text(text, "utf-8")
    assert main(["rules", "list", "--config", "pyproject.toml", "--lang", "en"]) == 2
    assert told in capsys.readouterr().err


def test_a_suppression_is_suggested_in_the_language_of_the_file(deep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (deep / "pyproject.toml").write_text("[tool.advisor]\nfail_on = 'low'\n", "utf-8")
    assert main(["check", str(CASE), "--lang", "en"]) == 1
    said = capsys.readouterr().out
    assert "pyproject.toml" in said
    snippet = "\n".join(line.strip() for line in said[said.index("[[tool.advisor") :].splitlines())
    (deep / "pyproject.toml").write_text("[tool.advisor]\nfail_on = 'low'\n" + snippet, "utf-8")
    Settings.read(deep / "pyproject.toml")


@pytest.mark.parametrize("language", ["en", "zh"])
def test_init_writes_settings_that_change_nothing_until_a_line_is_uncommented(
    language: str, deep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["init", "--lang", language]) == 0
    assert "advisor.yaml" in capsys.readouterr().out
    text = (deep / "advisor.yaml").read_text("utf-8")
    assert Settings.read(deep / "advisor.yaml").rules == {}
    wanted = re.sub(r"(?m)^# ", "", text.split("\n\n", 1)[1])
    (deep / "advisor.yaml").write_text(wanted, "utf-8")
    assert main(["rules", "list"]) == 0
    data = source.read_document(deep / "advisor.yaml").data
    SCHEMA.validate(data)
    words = {"language", "chip", "workload", "stack", "cache", "fail_on"}
    assert set(data) == words | {"rules", "policy", "budgets", "chips", "suppressions", "compare"}


def test_init_never_overwrites_and_writes_the_schema_on_demand(deep: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (deep / "advisor.yaml").write_text("language: en\n", "utf-8")
    assert main(["init", "--lang", "en"]) == 2
    assert "exists already" in capsys.readouterr().err
    assert (deep / "advisor.yaml").read_text("utf-8") == "language: en\n"
    (deep / "sub").mkdir()
    assert main(["init", "sub", "--schema"]) == 0
    assert json.loads((deep / "sub" / "advisor.schema.json").read_text("utf-8"))["title"]
    assert "$schema=advisor.schema.json" in (deep / "sub" / "advisor.yaml").read_text("utf-8")


def test_settings_that_are_there_get_their_schema_and_stay_as_they_are(
    deep: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (deep / "advisor.yaml").write_text("language: en\n", "utf-8")
    assert main(["init", "--schema"]) == 0
    assert capsys.readouterr().out == "advisor.schema.json\n"
    assert (deep / "advisor.yaml").read_text("utf-8") == "language: en\n"
    assert json.loads((deep / "advisor.schema.json").read_text("utf-8"))["title"]
    assert main(["init", "--schema", "--lang", "en"]) == 2
    said = capsys.readouterr().err
    assert "advisor.schema.json exists already" in said and "remove that file" in said and "edit" not in said


VALID = (
    "# language: en",
    "language: en",
    "chip: 910b3",
    "chips: {Ascend910B4: {memory: 64GiB, source: npu-smi}, A-1: {tflops: {BF16: 400}, clock_mhz: 1600, source: us}}",
    "cache: .advisor-cache",
    "cache: {folder: ~/kept, size: 20GiB}",
    "fail_on: none",
    "fail_on: [new:high, critical]",
    "rules: {host/free-time: {params: {normal: 0.15}, severity: high}, comm/*: off, acme/mine: on}",
    "policy: {rules: {host/*: warn}, categories: {capture: off}, severities: {info: off}}",
    "budgets: {free_share: 25%, step_time: 250ms, memory: {limit: 60GiB, action: warn}, slowdown: 0.03}",
    "suppressions: [{rule: io/*, reason: some, owner: me, expires: '2027-05-31'}]",
    "compare: {floor: 1%, relative: 0.2, spread: 2, one_step: 30%}",
)
WRONG = (
    "chips: {A-1: {memory: 64GiB}}",
    "chips: {A-1: {clock_mhz: 0, source: us}}",
    "chips: {A-1: {tflops: {FP64: 60}, source: us}}",
    "cache: ''",
    "cache: [kept]",
    "cache: {size: 20GiB}",
    "cache: {folder: kept, size: 20}",
    "cache: {folder: kept, most: 20GiB}",
    "langage: en",
    "fail_on: hgih",
    "rules: {host/free-time: {params: {nrmal: 0.15}}}",
    "policy: {severities: {inf: off}}",
    "budgets: {free_share: {limt: 3%}}",
    "suppressions: [{rule: io/*}]",
    "compare: {flor: 1%}",
)


@pytest.mark.parametrize("text", VALID)
def test_the_schema_knows_what_settings_may_say(text: str, tmp_path: Path) -> None:
    (tmp_path / "advisor.yaml").write_text(text, "utf-8")
    Settings.read(tmp_path / "advisor.yaml")
    SCHEMA.validate(yaml.safe_load(text))


@pytest.mark.parametrize("text", WRONG)
def test_the_schema_refuses_what_settings_may_not_say(text: str) -> None:
    with pytest.raises(jsonschema.ValidationError):
        SCHEMA.validate(yaml.safe_load(text))


def described(schema: dict[str, object], where: str = "") -> list[str]:
    """Every property without a description."""
    found = []
    for name, one in dict(schema.get("properties", {})).items():  # type: ignore[call-overload]
        if "description" not in one:
            found.append(f"{where}.{name}")
    for name, one in dict(schema.get("$defs", {})).items():  # type: ignore[call-overload]
        found += described(one, name)
    return found


@pytest.mark.parametrize("file", ["docs/reference/settings.schema.json", "rules/schema.json", "chips/schema.json"])
def test_an_editor_says_what_every_property_is(file: str) -> None:
    assert described(json.loads((TOP / file).read_text("utf-8"))) == []
