# SPDX-License-Identifier: Apache-2.0
"""Small courtesies of the command line: slips of the pen, standard input, completion, exit codes of rule tests."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from advisor.cli.commands import COMMANDS
from advisor.cli.main import main
from advisor.messages.text import Text
from advisor.release import VERSION

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("saved") / "report.json"
    assert main(["diagnose", str(CASE), "-q", "-o", str(path)]) == 0
    return path


def given_in(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(path.read_bytes()), "utf-8"))


def test_what_came_on_the_standard_input_is_called_that_and_no_file_of_ours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for content, said in ((b"", "the standard input is empty (0 bytes)"), (b"{}", "the standard input is no file")):
        (tmp_path / "given").write_bytes(content)
        given_in(tmp_path / "given", monkeypatch)
        assert main(["diagnose", "-", "--lang", "en"]) == 3
        told = capsys.readouterr().err
        assert said in told
        assert "stdin.json" not in told


def wrong_use(words: list[str], capsys: pytest.CaptureFixture[str]) -> str:
    with pytest.raises(SystemExit, match="2"):
        main(words)
    return capsys.readouterr().err


def test_the_short_word_for_the_version_answers_too(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="0"):
        main(["-V"])
    assert capsys.readouterr().out == f"advisor {VERSION}\n"


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["diagnos", "x"], "diagnose"),
        (["comapre", "a", "b"], "compare"),
        (["rules", "lst"], "list"),
        (["check", "x", "--basline", "y"], "--baseline"),
        (["verify", "a", "b", "--findings=1"], "--finding"),
        (["diagnose", "x", "--fail-on", "hihg"], "high"),
        (["rules", "list", "--langage", "en"], "--lang"),
    ],
)
def test_a_slip_of_the_pen_is_answered_with_what_was_meant(
    words: list[str], meant: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"did you mean `{meant}`?" in wrong_use(words, capsys)


@pytest.mark.parametrize("words", [["--format", "json"], ["--json"], ["--html=r.html"], ["--markdown"], ["--csv"]])
def test_who_asks_for_a_format_is_told_how_one_is_chosen(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    said = wrong_use(["diagnose", "x", *words], capsys)
    assert "did you mean" not in said
    assert "-o report.html" in said
    assert "-o markdown:-" in said


@pytest.mark.parametrize(
    ("words", "en", "zh"),
    [
        (["x", "--quiet=1"], "argument -q/--quiet: takes no value", "参数 -q/--quiet：不带取值"),
        (["x", "-q1"], "argument -q/--quiet: takes no value", "参数 -q/--quiet：不带取值"),
        (["x", "--s"], "`--s` may be any of --source-root, --stack", "`--s` 可能是 --source-root, --stack 中的"),
        (["x", "--top"], "argument --top: expected one argument", "参数 --top：缺少取值"),
        ([], "the following arguments are required: path", "缺少参数：path"),
        (["--top", "2"], "the following arguments are required: path", "缺少参数：path"),
    ],
)
def test_what_is_wrong_with_the_words_is_said_in_words_of_our_own(
    words: list[str], en: str, zh: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for language, said in (("en", en), ("zh", zh)):
        monkeypatch.setenv("LC_ALL", f"{language}.UTF-8")
        told = wrong_use(["diagnose", *words], capsys).splitlines()[1]
        assert said in told
        assert language == "en" or not re.search("[a-z]+ [a-z]+ ", told.removeprefix("advisor diagnose"))


def test_a_language_that_is_not_spoken_is_refused_in_that_of_the_locale(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    assert "参数 --lang：无效的取值 'fr'" in wrong_use(["diagnose", "x", "--lang", "fr"], capsys)


def test_what_one_command_does_not_know_is_held_against_its_own_options(capsys: pytest.CaptureFixture[str]) -> None:
    said = wrong_use(["rules", "test", "x", "--only", "host/*"], capsys)
    assert said.startswith("usage: advisor rules test")
    assert "--config" not in said.partition("error:")[2]


@pytest.mark.parametrize(
    ("words", "usage"),
    [
        (["diagnose", "x", "--jobs", "0"], "usage: advisor diagnose [options] path [path ...]"),
        (["facts", "x"], "usage: advisor facts [options] -o DIR path [path ...]"),
        (["compare", "x"], "usage: advisor compare [options] before after"),
        (["rules", "show"], "usage: advisor rules show [options] id"),
        (["diagnos"], "usage: advisor [options] COMMAND ..."),
    ],
)
def test_one_line_of_usage_stands_before_what_is_wrong_and_says_where_the_options_are(
    words: list[str], usage: str, capsys: pytest.CaptureFixture[str]
) -> None:
    first, wrong, *hint = wrong_use(words, capsys).splitlines()
    command = usage.removeprefix("usage: ").partition(" [")[0]
    assert first == usage
    assert wrong.startswith(f"{command}: error: ")
    assert hint == [f"    hint: `{command} -h` lists the options"] or "did you mean" in hint[0]


def test_usage_before_what_is_wrong_is_said_in_chinese_too(capsys: pytest.CaptureFixture[str]) -> None:
    first, wrong, hint = wrong_use(["diagnose", "x", "--jobs", "0", "--lang", "zh"], capsys).splitlines()
    assert first.endswith("advisor diagnose [选项] path [path ...]")
    assert "至少为 1" in wrong
    assert "`advisor diagnose -h`" in hint


def test_what_an_option_may_be_is_answered_with_that_option(capsys: pytest.CaptureFixture[str]) -> None:
    assert "give it behind its option: --of kernels" in wrong_use(["stats", "x", "kernels"], capsys)


def test_a_path_without_a_command_is_answered_with_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert "advisor diagnose" in wrong_use([str(CASE)], capsys)


def test_a_command_that_takes_one_path_answers_ranks_that_a_shell_lists_with_the_folder_that_holds_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ranks = [tmp_path / "prof" / name for name in ("a_ascend_pt", "b_ascend_pt", "c_ascend_pt")]
    for rank in ranks:
        rank.mkdir(parents=True)
    said = wrong_use(["check", *map(str, ranks)], capsys)
    assert f"give the one folder that holds them all: {tmp_path / 'prof'}" in said


def test_paths_beside_which_no_folder_was_asked_for_are_refused_without_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, other, third = (tmp_path / name for name in ("a", "b", "c"))
    for folder in (one, other, third):
        folder.mkdir()
    for words in (["compare", str(one), str(other), str(third)], ["explain", "host/free-time", str(one), str(other)]):
        said = wrong_use(words, capsys)
        assert "unrecognized arguments" in said
        assert "folder that holds" not in said


@pytest.mark.parametrize("place", [0, 1, 2])
def test_options_stand_before_between_or_behind_what_is_explained_and_its_capture(
    place: int, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["host/free-time", str(CASE)]
    assert main(["explain", *words[:place], "--lang", "zh", *words[place:]]) == 0
    said = capsys.readouterr().out
    assert main(["explain", *words, "--lang", "zh"]) == 0
    assert said == capsys.readouterr().out
    assert main(["explain", words[0], "--lang", "zh"]) == 0
    assert said != capsys.readouterr().out


def test_what_is_nothing_like_a_command_is_answered_with_all(capsys: pytest.CaptureFixture[str]) -> None:
    said = wrong_use(["zzzz"], capsys)
    assert "did you mean" not in said
    assert all(name in said for name in COMMANDS)


def test_a_command_is_a_module_that_says_its_words_and_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("advisor.cli.commands.say_hello")
    module.words = lambda one: one.add_argument("name")  # type: ignore[attr-defined]
    module.run = lambda arguments: len(arguments.name)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    known = {**COMMANDS, "say-hello": Text("greet", "问好")}
    monkeypatch.setattr("advisor.cli.top_parser.COMMANDS", known)
    monkeypatch.setattr("advisor.cli.main.COMMANDS", known)
    assert main(["say-hello", "seven"]) == 5


@pytest.mark.parametrize("command", ["render", "check", "bot", "compare", "verify"])
def test_a_report_is_read_from_the_standard_input(
    command: str, saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    words = {
        "render": (["render", "-"], 0),
        "check": (["check", str(saved), "--baseline", "-"], 0),
        "bot": (["bot", "-", "--dry-run"], 0),
        "compare": (["compare", "-", str(saved)], 0),
        "verify": (["verify", str(saved), "-"], 1),
    }[command]
    given_in(saved, monkeypatch)
    assert main([*words[0], "--lang", "en"]) == words[1]
    assert capsys.readouterr().out


def test_the_standard_input_is_read_once_and_holds_a_report(
    saved: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    given_in(saved, monkeypatch)
    assert main(["compare", "-", "-", "--lang", "en"]) == 2
    assert "only once" in capsys.readouterr().err
    (tmp_path / "x").write_text("no report", "utf-8")
    given_in(tmp_path / "x", monkeypatch)
    assert main(["render", "-"]) == 3


def test_diagnosing_a_report_points_to_what_writes_it_again(saved: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diagnose", str(saved), "--lang", "en"]) == 2
    said = capsys.readouterr().err
    assert "is a saved diagnosis" in said
    assert f"advisor render {saved}" in said


@pytest.mark.parametrize("command", ["modules", "stats", "facts", "inspect"])
@pytest.mark.parametrize(
    ("language", "hint"),
    [("en", "hint: give the capture it was made from"), ("zh", "提示：请给出生成它的采集目录")],
)
def test_what_a_saved_report_does_not_hold_is_had_from_its_capture(
    command: str, language: str, hint: str, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["-o", "facts"] if command == "facts" else []
    assert main([command, str(saved), *output, "--lang", language]) == 2
    said = capsys.readouterr().err
    assert said.rstrip().endswith(hint)
    assert "advisor render" not in said


def test_failing_cases_end_with_one_and_wrong_rules_with_two(tmp_path: Path) -> None:
    assert main(["rules", "new", "acme/mine", "--dir", str(tmp_path)]) == 0
    path = tmp_path / "acme" / "mine.yaml"
    right = path.read_text("utf-8")
    path.write_text(re.sub(r"severity: (medium|high)", "severity: critical", right), "utf-8")
    assert main(["rules", "test", str(tmp_path)]) == 1
    path.write_text(re.sub(r"(?m)^when: .*$", "when: step_usa > 1", right), "utf-8")
    assert main(["rules", "test", str(tmp_path)]) == 2


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_and_options(shell: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["completion", shell]) == 0
    script = capsys.readouterr().out
    assert all(name in script for name in (*COMMANDS, "baseline", "fail-on"))
    if shutil.which(shell):
        (tmp_path / "script").write_text(script, "utf-8")
        subprocess.run([shell, "-n", str(tmp_path / "script")], check=True)


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
def test_bash_offers_what_fits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["completion", "bash"]) == 0
    (tmp_path / "script").write_text(capsys.readouterr().out, "utf-8")
    ask = "source ./script; COMP_WORDS=(advisor check x --base); COMP_CWORD=3; _shtab_advisor; echo ${COMPREPLY[@]}"
    said = subprocess.run(["bash", "-c", ask], cwd=tmp_path, capture_output=True, text=True, check=True).stdout
    assert said.split() == ["--baseline"]


@pytest.mark.parametrize(
    ("words", "english", "chinese"),
    [
        (["diagnos", "x"], "invalid choice: 'diagnos'", "无效的取值 'diagnos'"),
        (
            ["diagnose", "x", "--fial-on", "a`{b}"],
            "unrecognized arguments: --fial-on a`{b}",
            "无法识别的参数：--fial-on a`{b}",
        ),
        (["diagnose", "x", "--jobs", "0"], "argument --jobs: at least 1", "参数 --jobs：至少为 1"),
        (
            ["diagnose", "x", "--jobs", "{n}"],
            "argument --jobs: `{n}` is no whole number",
            "参数 --jobs：`{n}` 不是整数",
        ),
        (["diagnose", "x", "--jobs"], "argument --jobs: expected one argument", "参数 --jobs：缺少取值"),
        (["diagnose", "x", "--source-root", "a`b"], "no folder `a`b`", "没有目录 `a`b`"),
        (["diagnose"], "the following arguments are required: path", "缺少参数：path"),
        (["facts", "x"], "the following arguments are required: -o/--output", "缺少参数：-o/--output"),
        (["compare", "a", "b", "--spread", "-x"], "argument --spread: ", "参数 --spread："),
        (
            ["verify", "a", "b", "io/data-loader"],
            "name one finding with --finding io/data-loader",
            "用 --finding io/data-loader 指定某一条问题",
        ),
    ],
)
def test_what_is_wrong_with_the_words_is_told_in_the_language_asked_for(
    words: list[str], english: str, chinese: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert english in wrong_use([words[0], "--lang", "en", *words[1:]] if len(words) > 2 else words, capsys)
    asked = [words[0], "--lang=zh", *words[1:]]
    assert chinese in wrong_use(asked, capsys)
