# SPDX-License-Identifier: Apache-2.0
"""A folder of rules may hold anything: nothing but regular files within it is opened, and nothing goes unsaid."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest
import rule_texts

from advisor.cli.main import main
from advisor.machine.regular_files import NotRegularError, leads_out, leads_to_system, open_regular
from advisor.messages.errors import RuleError
from advisor.policy.settings import Settings
from advisor.rules import catalog
from advisor.rules.catalog import Catalog, lint_rules

SECRET = "password: [hunter2"  # noqa: S105 - of no account


def told(folder: Path) -> list[str]:
    return [str(mistake) for mistake in lint_rules([folder])]


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    """A folder with one good rule."""
    rule_texts.write(tmp_path / "rules")
    return tmp_path / "rules"


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_socket(path: Path) -> None:
    here = Path.cwd()
    os.chdir(path.parent)  # an address of a socket is short
    try:
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(path.name)
    finally:
        os.chdir(here)


@pytest.mark.parametrize("make", [make_pipe, make_socket])
def test_what_is_no_regular_file_is_named_and_not_opened(rules: Path, make: object) -> None:
    make(rules / "host/odd.yaml")  # type: ignore[operator]
    (said,) = told(rules)
    assert "odd.yaml: is no regular file" in said
    with pytest.raises(RuleError, match="no regular file"):
        Catalog.load([rules / "host/odd.yaml"])


def test_a_pipe_that_takes_the_place_of_a_file_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("x")
    make_pipe(tmp_path / "pipe")
    seen = os.stat(tmp_path / "file")
    monkeypatch.setattr(os, "stat", lambda *_, **__: seen)
    with pytest.raises(NotRegularError):
        open_regular(tmp_path / "pipe")


def test_a_device_is_not_opened(rules: Path) -> None:
    (rules / "host/odd.yaml").symlink_to("/dev/zero")
    assert len(told(rules)) == 1


@pytest.mark.parametrize("absolute", [True, False])
def test_a_link_out_of_the_folder_is_named_and_shows_nothing_of_its_target(
    rules: Path, tmp_path: Path, absolute: bool
) -> None:
    (tmp_path / "secret.yaml").write_text(SECRET)
    (rules / "host/odd.yaml").symlink_to(tmp_path / "secret.yaml" if absolute else "../../secret.yaml")
    (said,) = told(rules)
    assert "odd.yaml: is a link that leads out of" in said
    assert "hunter2" not in said
    with pytest.raises(RuleError, match="leads out of") as refused:
        Catalog.load([rules / "host/odd.yaml"])
    assert "hunter2" not in str(refused.value)


def test_a_link_by_way_of_a_linked_folder_leads_out_too(rules: Path, tmp_path: Path) -> None:
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/a.yaml").write_text(SECRET)
    (rules / "away").symlink_to(tmp_path / "secrets")
    (rules / "host/odd.yaml").symlink_to("../away/a.yaml")
    (said,) = told(rules)
    assert "leads out of" in said


def test_a_way_up_leads_out_without_a_link(rules: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.yaml").write_text(SECRET)
    assert leads_out(rules / "host/../../secret.yaml", rules)
    assert not leads_out(rules / "host/idle.yaml", rules)


def test_links_within_the_folder_are_followed(rules: Path) -> None:
    """As a mounted ConfigMap has them: the files lie in a hidden folder."""
    (rules / "..data").mkdir()
    (rules / "host/idle.yaml").rename(rules / "..data/idle.yaml")
    (rules / "host/idle.yaml").symlink_to("../..data/idle.yaml")
    assert told(rules) == []
    assert [rule.id for rule in Catalog.load([rules]).rules] == ["host/idle"]


def test_a_link_in_a_circle_is_a_mistake(rules: Path) -> None:
    (rules / "host/odd.yaml").symlink_to("odd.yaml")
    assert len(told(rules)) == 1


def test_a_folder_linked_into_itself_is_walked_once(rules: Path) -> None:
    (rules / "again").symlink_to(rules)
    assert told(rules) == []


def test_a_folder_of_too_many_files_is_left(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "MOST_ENTRIES", 2)
    assert Catalog.load([rules]).rules
    (rules / "host/more.txt").write_text("")
    with pytest.raises(RuleError, match="more than 2 files and folders"):
        Catalog.load([rules])


def test_a_folder_that_cannot_be_listed_is_named(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (rules / "closed").mkdir()
    scandir = os.scandir

    def refuse(folder: Path) -> object:
        if folder.name == "closed":
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)  # root may open everything
    (said,) = told(rules)
    assert "closed: cannot be read: permission denied" in said
    with pytest.raises(RuleError) as refused:
        Catalog.load([rules])
    assert refused.value.say("zh").endswith("closed: 无法读取：没有读写权限")


@pytest.mark.parametrize("command", (["rules", "lint"], ["rules", "test"], ["rules", "list", "--rules"]))
def test_a_folder_without_a_rule_is_said_and_ends_with_2(
    tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("rules come here")
    assert main([*command, str(tmp_path)]) == 2
    said = "".join(capsys.readouterr())
    assert "there is no rule in this folder" in said
    assert "CATEGORY/NAME.yaml" in said


def test_testing_rules_without_a_case_ends_with_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule_texts.write(tmp_path, tests="tests: []\n")
    assert main(["rules", "test", str(tmp_path)]) == 2
    assert "nothing was tested" in capsys.readouterr().err


def test_settings_that_are_a_link_out_of_the_project_show_nothing_of_its_target(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text(SECRET)
    project = tmp_path / "project"
    project.mkdir()
    for name in ("advisor.yaml", "pyproject.toml"):
        (project / name).symlink_to("../secret")
        with pytest.raises(RuleError, match="leads out of") as refused:
            Settings.read(project / name)
        assert "hunter2" not in str(refused.value)


def test_settings_may_be_a_link_within_the_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "part").mkdir()
    (tmp_path / "advisor.yaml").write_text("language: zh\n")
    (tmp_path / "part/advisor.yaml").symlink_to("../advisor.yaml")
    assert Settings.read(tmp_path / "part/advisor.yaml").language == "zh"


@pytest.mark.parametrize(
    ("target", "is_system"),
    (("/proc/self/status", True), ("/dev/null", True), ("/sys/kernel", True), ("/dev/shm/x", False), ("/etc", False)),  # noqa: S108
)
def test_what_the_system_makes_up_is_known_by_where_it_lies(tmp_path: Path, target: str, is_system: bool) -> None:
    (tmp_path / "link").symlink_to(target)
    assert leads_to_system(tmp_path / "link") is is_system
