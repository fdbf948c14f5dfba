# SPDX-License-Identifier: Apache-2.0
"""Names that no file can have, and links to themselves, are answered in a sentence wherever a command takes a path."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from advisor.cli.main import main

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"
COMMANDS = (
    "diagnose X",
    "diagnose X.json",
    "check S --baseline X.json",
    "check S --policy X",
    "check X.json",
    "compare S X.json",
    "compare S X",
    "verify X.json S",
    "explain X",
    "explain host/free-time X",
    "explain host/free-time --in X.json",
    "render X.json",
    "render S -q -o X.md",
    "render S -q --source-root X",
    "render S -q -o sarif:R --anchor X",
    "render S -q -o sarif:R --anchor a.py:N",
    "bot S --dry-run --verdict X.json",
    "bot S --dry-run --baseline X",
    "rules lint X",
    "rules test X",
    "rules list --rules X",
    "rules new acme/new --dir X",
    "init X",
    "X",
)
NO_PATH = ("--anchor",)
"""A place in the code of another machine may be called anything."""


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("names") / "saved.json"
    assert main(["diagnose", str(CASE), "-q", "-o", str(path)]) == 0
    return path


def end_of(words: list[str]) -> int:
    try:
        return main(words)
    except SystemExit as end:
        return int(str(end.code))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("kind", ["long", "long path", "circle"])
def test_a_name_that_no_file_can_have_is_answered_in_a_sentence(
    command: str, kind: str, saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("circle", "circle.json", "circle.md"):
        os.symlink(name, tmp_path / name)
    odd = {"long": "x" * 5000, "long path": "x/" * 3000 + "x", "circle": str(tmp_path / "circle")}[kind]
    words = [re.sub("^X", lambda _: odd, word) for word in command.split()]
    words = [{"S": str(saved), "a.py:N": "a.py:" + "9" * 5000}.get(word, word) for word in words]
    words = [word.replace("sarif:R", f"sarif:{tmp_path / 'r.sarif'}") for word in words]
    code = end_of(words)
    told = capsys.readouterr().err
    assert code == 0 if any(option in command for option in NO_PATH) else code in {2, 3}, told[-500:]
    assert "please report it" not in told


STEERING = "a\x1b[31mred\x1b]0;title\x07\r##[error]x"


@pytest.mark.parametrize("command", [one for one in COMMANDS if one not in ("rules new acme/new --dir X", "init X")])
@pytest.mark.parametrize("there", [False, True])
def test_no_name_steers_the_terminal_or_the_log(
    command: str, there: bool, saved: Path, tmp_path: Path, *,
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:  # fmt: skip
    """What `init` and `rules new` wrote is said as it was given: scripts go on with it."""
    monkeypatch.chdir(tmp_path)
    if there:
        Path(STEERING).mkdir()
        (Path(STEERING) / f"{STEERING}.csv").touch()
        (Path(STEERING) / f"{STEERING}.yaml").write_text(f"id: {STEERING!r}\n", encoding="utf-8")
        Path(f"{STEERING}.json").write_text("{}", encoding="utf-8")
    words = [re.sub(r"\bX\b", lambda _: STEERING, word).replace("S", str(saved)) for word in command.split()]
    end_of(words)
    told = capfd.readouterr()
    for said in (told.out, told.err):
        assert not set("\x1b\x07\r") & set(said)
        assert "##[" not in said
