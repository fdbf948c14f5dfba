# SPDX-License-Identifier: Apache-2.0
"""The command as a user runs it: what it prints, what it writes, and its exit codes."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from advisor.cli.main import main
from advisor.model.findings import Diagnosis
from advisor.rules.catalog import new_rule

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A copy of the checked-in capture that a test may damage."""
    return Path(shutil.copytree(CASE, tmp_path / "prof"))


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The diagnosis of the checked-in capture, as JSON."""
    path = tmp_path_factory.mktemp("saved") / "report.json"
    assert main(["diagnose", str(CASE), "-o", str(path), "-q"]) == 0
    return path


def listing(folder: Path) -> dict[str, tuple[int, int]]:
    return {str(p): (p.stat().st_size, p.stat().st_mtime_ns) for p in folder.rglob("*")}


def test_one_command_writes_every_format_and_leaves_the_capture_alone(capture: Path, tmp_path: Path) -> None:
    before = listing(capture)
    outputs = [tmp_path / f"report.{suffix}" for suffix in ("html", "md", "json")]
    assert main(["diagnose", str(capture), *(f"-o{path}" for path in outputs), "-q"]) == 0
    assert all(path.stat().st_size > 1000 for path in outputs)
    assert listing(capture) == before


def test_the_diagnosis_obeys_its_published_schema(saved: Path) -> None:
    schema = json.loads((CASE.parent.parent / "docs/reference/diagnosis.schema.json").read_text("utf-8"))
    diagnosis = json.loads(saved.read_text("utf-8"))
    jsonschema.validate(diagnosis, schema)
    assert {"format", "run", "findings", "outcomes"} <= diagnosis.keys()
    for finding in diagnosis["findings"]:
        assert {"rule", "fingerprint", "severity", "confidence", "saving", "subject", "seen", "evidence", "causes"} <= (
            finding.keys()
        )
        assert 0 <= finding["saving"]["share"] <= 1
        assert finding["saving"]["us"] <= diagnosis["run"]["step_us"]


def test_two_runs_give_the_same_bytes(saved: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": "7"}
    command = [sys.executable, "-m", "advisor", "diagnose", str(CASE), "-q", "-o", "again.json"]
    subprocess.run(command, check=True, cwd=tmp_path, env={**environment, "PYTHONPATH": str(CASE.parent.parent)})
    assert (tmp_path / "again.json").read_bytes() == saved.read_bytes()


def test_a_saved_diagnosis_is_rendered_again_without_the_capture(saved: Path, tmp_path: Path) -> None:
    direct, again = tmp_path / "direct.md", tmp_path / "again.md"
    assert main(["diagnose", str(CASE), "-q", "--lang", "zh", "-o", str(direct)]) == 0
    assert main(["render", str(saved), "-q", "--lang", "zh", "-o", str(again)]) == 0
    assert again.read_bytes() == direct.read_bytes()


def test_fail_on_decides_the_exit_code(saved: Path, tmp_path: Path) -> None:
    assert main(["render", str(saved), "-q", "--fail-on", "info"]) == 1
    worst = max(finding.severity for finding in Diagnosis.model_validate_json(saved.read_bytes()).findings)
    assert main(["render", str(saved), "-q", "--fail-on", worst.name]) == 1
    fine = Diagnosis.model_validate_json(saved.read_bytes()).model_copy(update={"findings": ()})
    (tmp_path / "fine.json").write_text(fine.to_json(), "utf-8")
    assert main(["render", str(tmp_path / "fine.json"), "-q", "--fail-on", "info"]) == 0


def test_the_terminal_says_the_verdict_and_where_the_report_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "r.md"
    assert main(["diagnose", str(CASE), "--lang", "en", "-o", str(path), "--top", "1"]) == 0
    out = capsys.readouterr().out
    assert "A step takes" in out
    assert "Fix first" in " ".join(out.split())
    assert "r.md" in out


@pytest.mark.parametrize("locale", ["zh_CN.UTF-8", "en_US.UTF-8"])
def test_the_language_follows_the_locale(
    locale: str, monkeypatch: pytest.MonkeyPatch, saved: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("LC_ALL", locale)
    assert main(["render", str(saved)]) == 0
    assert bool(re.search("[一-鿿]", capsys.readouterr().out)) == locale.startswith("zh")


@pytest.mark.parametrize("make", ["nothing", "empty", "foreign", "zero bytes", "gpu trace"])
def test_what_cannot_be_read_ends_with_three_and_one_clear_sentence(
    make: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "input"
    if make != "nothing":
        path.mkdir()
    if make == "foreign":
        (path / "notes.txt").write_text("hello")
    if make == "zero bytes":
        (path / "ASCEND_PROFILER_OUTPUT").mkdir()
        (path / "ASCEND_PROFILER_OUTPUT" / "trace_view.json").touch()
    if make == "gpu trace":
        (path / "a.pt.trace.json").write_text('{"schemaVersion": 1, "deviceProperties": [], "traceEvents": []}')
    report = tmp_path / "report.html"
    assert main(["diagnose", str(path), "-o", str(report)]) == 3
    told = capsys.readouterr()
    assert told.out == ""
    assert re.fullmatch(r"advisor: .+\n    hint: .+\n", told.err), told.err
    assert not report.exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["-o", "report.pdf"], "known suffixes are"),
        (["-o", "no/such/folder/report.html"], "does not exist"),
        (["--only", "host/no-such-rule"], "no rule matches"),
        (
            ["--only", "host/*", "--only", "nothing"],
            "no rule matches nothing\n    hint: `advisor rules list` shows them all",
        ),
        (["--only", "hots/*", "--only", "host/*"], "no rule matches hots/*\n    hint: did you mean `host/*`?"),
        (["--config", "missing.yaml"], "missing.yaml does not exist"),
        (["--config", "."], ". is a folder\n    hint: give a file of settings such as advisor.yaml"),
        (["--config", os.devnull], f"{os.devnull} is no regular file"),
        (["--rules", "no-rules-here"], "no-rules-here does not exist"),
    ],
)
def test_wrong_use_ends_with_two_and_says_what_is_wrong(
    arguments: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["diagnose", str(CASE), *arguments]) == 2
    assert told in capsys.readouterr().err


def test_a_reader_who_goes_away_is_no_finding() -> None:
    command = f"{sys.executable} -m advisor diagnose {CASE} | true; exit ${{PIPESTATUS[0]}}"
    environment = {**os.environ, "PYTHONPATH": str(CASE.parent.parent)}
    done = subprocess.run(["bash", "-c", command], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_unset_variable_is_not_taken_for_this_folder(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["diagnose", ""])
    assert "give a path" in capsys.readouterr().err


def test_a_report_is_never_written_into_a_capture(capture: Path, capsys: pytest.CaptureFixture[str]) -> None:
    inside = next(capture.glob("*_ascend_pt")) / "report.html"
    assert main(["diagnose", str(capture), "-o", str(inside)]) == 2
    assert "captures are never written to" in capsys.readouterr().err
    assert not inside.exists()


def test_a_wrong_rule_ends_with_two_and_all_mistakes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "new", "acme/mine", "--dir", str(tmp_path)]) == 0
    path = tmp_path / "acme" / "mine.yaml"
    path.write_text(re.sub(r"(?m)^when: .*$", "when: step_usa > 1", path.read_text("utf-8")), "utf-8")
    capsys.readouterr()
    assert main(["diagnose", str(CASE), "--rules", str(tmp_path)]) == 2
    told = capsys.readouterr().err
    assert re.search(r"mine\.yaml:\d+:\d+: ", told)
    assert "did you mean `step_us`?" in told


def test_a_new_rule_passes_its_own_tests_and_takes_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "new", "acme/mine", "--dir", str(tmp_path)]) == 0
    assert main(["rules", "test", str(tmp_path)]) == 0
    assert main(["rules", "lint", str(tmp_path)]) == 0
    capsys.readouterr()
    assert main(["diagnose", str(CASE), "--rules", str(tmp_path), "-q", "-o", str(tmp_path / "r.json")]) == 0
    outcomes = json.loads((tmp_path / "r.json").read_text("utf-8"))["outcomes"]
    assert "acme/mine" in {outcome["rule"] for outcome in outcomes}
    assert main(["rules", "new", "acme/mine", "--dir", str(tmp_path)]) == 2


@pytest.mark.parametrize(
    ("language", "said"),
    [
        ("en", "advisor: mistakes in rules of your own: 2; they are used as they are. `advisor rules lint {} ` shows"),
        ("zh", "advisor: 自定义规则中有 2 处问题，仍按原样使用"),
    ],
)
def test_rules_that_the_lint_would_refuse_judge_and_are_told_of_on_the_side(
    language: str, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", "new", "acme/mine", "--dir", str(tmp_path)]) == 0
    path = tmp_path / "acme" / "mine.yaml"
    text = path.read_text("utf-8").replace("in: overlaps", "in: overlaps\nexplains: [host/free-tme]")
    path.write_text(text.replace("id: acme/mine", "id: acme/other"), "utf-8")
    capsys.readouterr()
    words = ["diagnose", str(CASE), "--rules", str(tmp_path), "--lang", language]
    assert main([*words, "-o", str(tmp_path / "r.json")]) == 0
    assert said.replace("{} ", str(tmp_path)) in capsys.readouterr().err
    assert "acme/other" in (tmp_path / "r.json").read_text("utf-8")
    assert main([*words, "-q"]) == 0
    assert capsys.readouterr().err == ""


def test_testing_a_rule_with_the_id_of_a_shipped_one_ends_with_two(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "free-time.yaml").write_text(new_rule("host/free-time"), "utf-8")
    assert main(["rules", "test", str(tmp_path), "--lang", "en"]) == 2
    assert "thresholds of a shipped rule are changed in advisor.yaml" in capsys.readouterr().err


def test_no_rule_is_begun_that_has_the_id_of_a_shipped_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "new", "host/free-time", "--dir", str(tmp_path)]) == 2
    assert "there is a shipped rule `host/free-time`" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
    assert main(["rules", "new", "../host/free-time", "--dir", str(tmp_path)]) == 2
    assert "is not the id of a rule" in capsys.readouterr().err


def test_cases_are_told_in_chinese(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("right", "wrong"):
        assert main(["rules", "new", f"acme/{name}", "--dir", str(tmp_path)]) == 0
    path = tmp_path / "acme/wrong.yaml"
    path.write_text(path.read_text("utf-8").replace("expect: skipped", "expect: quiet"), "utf-8")
    capsys.readouterr()
    assert main(["rules", "test", str(tmp_path), "--lang", "zh"]) == 1
    said = capsys.readouterr().out
    assert said.startswith("通过      acme/right\n失败      acme/wrong\n")
    assert "应为未触发（`quiet`），实为跳过（`skipped`）" in said
    assert said.endswith("规则与模式：1 项通过，1 项失败\n")


def test_each_line_of_what_is_wrong_stands_below_its_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "new", "acme/bare", "--dir", str(tmp_path)]) == 0
    path = tmp_path / "acme/bare.yaml"
    path.write_text(path.read_text("utf-8").partition("\ntests:")[0] + "\ntests: []\n", "utf-8")
    capsys.readouterr()
    assert main(["rules", "test", str(tmp_path), "--lang", "en"]) != 0
    first, *below, counted = capsys.readouterr().out.splitlines()
    assert first.split() == ["FAILED", "acme/bare"]
    assert "hint: at least one in which it fires" in "\n".join(below)
    assert all(line.startswith(" " * 8) for line in below)
    assert counted == "rules and patterns: 0 passed, 1 failed"


def test_settings_switch_rules_off_and_move_thresholds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, saved: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "advisor.yaml").write_text("rules:\n  host/*: off\n", "utf-8")
    assert main(["diagnose", str(CASE), "-q", "-o", "r.json"]) == 0
    rules = {outcome["rule"] for outcome in json.loads((tmp_path / "r.json").read_text("utf-8"))["outcomes"]}
    assert rules
    assert not any(rule.startswith("host/") for rule in rules)
    (tmp_path / "advisor.yaml").write_text("rules:\n  host/fre-time: off\n", "utf-8")
    assert main(["diagnose", str(CASE), "-q"]) == 2


def test_rules_are_listed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "list", "--lang", "en"]) == 0
    listed = capsys.readouterr().out
    assert listed.count("\n") >= 30
    assert re.search(r"^host/free-time +stable +The device is idle for … of each step$", listed, re.M)
    assert "{" not in listed
    assert main(["rules", "show", "host/free-time", "--lang", "zh"]) == 0
    assert "空闲" in capsys.readouterr().out
    assert main(["rules", "show", "host/free-tme"]) == 2
    assert "did you mean `host/free-time`?" in capsys.readouterr().err
    assert main(["rules", "schema"]) == 0
    json.loads(capsys.readouterr().out)


def test_patterns_are_listed_and_shown_with_what_replaces_them(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "list", "--lang", "en"]) == 0
    listed = capsys.readouterr().out
    assert "patterns/gelu " in listed
    assert "that Gelu replaces" in listed
    assert main(["rules", "show", "patterns/gelu", "--lang", "en"]) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in ("MUL? POWER MUL ADD MUL TANH", "npu_fast_gelu", "compute/unfused-chain"))
    assert main(["rules", "show", "patterns/norm", "--lang", "zh"]) == 0
    shown = capsys.readouterr().out
    assert "compute/unfused-norm" in shown
    assert "compute/unfused-chain" not in shown
    assert main(["rules", "show", "patterns/gellu"]) == 2
    assert "did you mean `patterns/gelu`" in capsys.readouterr().err


def test_an_own_pattern_is_listed_and_shown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    own = tmp_path / "patterns"
    own.mkdir()
    words = "name: relu-squared\nsince: 1.0.0\noperator: ReluSquared\nchains: [{members: Relu! SQUARE}]\n"
    case = "tests: [{name: both, kernels: Relu Pow, chains: 1}]\n"
    (own / "relu-squared.yaml").write_text(words + case, "utf-8")
    assert main(["rules", "list", "--rules", str(tmp_path), "--lang", "en"]) == 0
    assert "patterns/relu-squared" in capsys.readouterr().out
    assert main(["rules", "show", "patterns/relu-squared", "--rules", str(tmp_path), "--lang", "en"]) == 0
    assert "Pow Pows Square" in " ".join(capsys.readouterr().out.split())


LOADED = "print([name for name in {names!r} if name in sys.modules])"


def loaded(arguments: list[str], *names: str) -> str:
    """Which of these modules a command has loaded when it is done."""
    code = f"import sys; from advisor.cli.main import main\ntry: main({arguments!r})\nexcept SystemExit: pass\n"
    code += LOADED.format(names=names)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.splitlines()[-1]


def test_version_answers_without_loading_what_it_does_not_need() -> None:
    assert loaded(["--version"], "numpy", "pydantic", "yaml", "pandas", "rich") == "[]"


def test_diagnosing_loads_nothing_that_it_does_not_need(tmp_path: Path) -> None:
    needed, not_needed = ("numpy", "pyarrow"), ("pandas", "pyarrow.compute", "yaml", "advisor.model.verdict")
    words = ["diagnose", str(CASE), "-o", str(tmp_path / "r.html"), "-q"]
    assert loaded(words, *needed, *not_needed) == str(list(needed))


@pytest.mark.parametrize("language", ["en", "zh"])
def test_two_kinds_of_damage_have_two_titles(language: str, capture: Path, tmp_path: Path) -> None:
    output = next(capture.glob("*_ascend_pt")) / "ASCEND_PROFILER_OUTPUT"
    trace, table = output / "trace_view.json", output / "memory_record.csv"
    trace.write_bytes(trace.read_bytes()[: trace.stat().st_size * 2 // 3])
    table.write_text(table.read_text("utf-8") + "1,2\n", "utf-8")
    assert main(["diagnose", str(capture), "-o", str(tmp_path / "r.md"), "-q", "--lang", language]) == 0
    titles = re.findall(
        r"^(?:## \d+ · |- .* · )(.*(?:could not be read|is cut short|无法读取|被截断).*)$",
        (tmp_path / "r.md").read_text("utf-8"),
        re.M,
    )
    assert len(titles) == 2
    assert len(set(titles)) == 2


@pytest.mark.parametrize("language", ["en", "zh"])
def test_a_rule_is_shown_with_what_it_looks_at_and_when_it_speaks(
    language: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["rules", "show", "memory/near-capacity", "--lang", language]) == 0
    text = " ".join(capsys.readouterr().out.split())
    for words in ("for_each rank", "in memory_peaks", "let pool_bytes: max(reserved_bytes", "when used_share >"):
        assert words in text
    assert "severity medium: used_share > grave info: recorded(stack) and" in text
    assert "low: otherwise confidence high" in text
