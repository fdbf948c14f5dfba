# SPDX-License-Identifier: Apache-2.0
"""`advisor compare` as a user runs it."""

from __future__ import annotations

import builtins
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import corpus
from advisor.cli.main import main
from advisor.model.comparison import Comparison

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"


@pytest.fixture(scope="module")
def fixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The job of the checked-in capture with a fast host."""
    path = tmp_path_factory.mktemp("pair") / "fixed"
    corpus.write(corpus.job("host-bound-2-ranks", 0, without=["python-busy", "synchronise-per-layer"]), path, "text", 1)
    return path


@pytest.fixture(scope="module")
def saved_fixed(fixed: Path) -> Path:
    """The diagnosis of the job with a fast host, as JSON."""
    path = fixed.with_suffix(".json")
    assert main(["diagnose", str(fixed), "-o", str(path), "-q"]) == 0
    return path


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The diagnosis of the checked-in capture, as JSON."""
    path = tmp_path_factory.mktemp("saved") / "main.json"
    assert main(["diagnose", str(CASE), "-o", str(path), "-q"]) == 0
    return path


def compare(*arguments: object) -> int:
    return main(["compare", *map(str, arguments)])


def written(path: Path) -> Comparison:
    return Comparison.model_validate_json(path.read_bytes())


def test_the_fault_of_a_pair_is_what_changed_in_both_directions(fixed: Path, tmp_path: Path) -> None:
    for before, after, status in ((fixed, CASE, "new"), (CASE, fixed, "gone")):
        assert compare(before, after, "-q", "-o", tmp_path / "c.json") == 0
        made = written(tmp_path / "c.json")
        changed = {change.rule for change in made.having(status, "worse" if status == "new" else "better")}  # type: ignore[arg-type]
        assert changed & {"host/late-launches", "host/free-time", "host/python-bound"}
        assert {table.name for table in made.tables} >= {"kernels", "calls", "collectives"}
        assert sum(one.delta_us for one in made.moved) == pytest.approx(made.shifts[0].delta_us, abs=1e-3)


def test_one_command_writes_every_format_and_says_which_files(
    fixed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    outputs = [f"-oc.{suffix}" for suffix in ("html", "md", "json", "xlsx", "csv")]
    assert compare(fixed, CASE, "--lang", "en", *outputs) == 0
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"c.html", "c.md", "c.json", "c.xlsx", "c.csv", "c.moved.csv", "c.kernels.csv", "c.collectives.csv"}
    told = " ".join(capsys.readouterr().out.split())
    assert all(name in told for name in names)


def test_a_capture_beside_itself_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(CASE, CASE, "--lang", "en") == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "A step takes as long as before, within noise" in told
    assert "No finding is new or worse." in told


def test_saved_diagnoses_do_where_captures_are_gone_and_say_what_is_missing(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(saved, CASE, "--lang", "en", "-o", tmp_path / "c.json") == 0
    assert "need both captures" in " ".join(capsys.readouterr().out.split())
    assert written(tmp_path / "c.json").tables == ()
    assert compare(saved, saved, "-q") == 0


def test_a_saved_comparison_is_rendered_again_without_the_captures(fixed: Path, tmp_path: Path) -> None:
    asked = [f"-o{tmp_path / name}" for name in ("c.json", "direct.md")]
    assert compare(fixed, CASE, "-q", "--lang", "zh", *asked) == 0
    again = [f"-o{tmp_path / name}" for name in ("again.md", "again.xlsx")]
    assert main(["render", str(tmp_path / "c.json"), "-q", "--lang", "zh", *again]) == 0
    assert (tmp_path / "again.md").read_bytes() == (tmp_path / "direct.md").read_bytes()
    assert (tmp_path / "again.xlsx").stat().st_size > 1000


def test_a_comparison_cut_short_is_refused_in_one_sentence(
    saved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compare(saved, saved, "-q", "-o", tmp_path / "c.json") == 0
    (tmp_path / "c.json").write_bytes((tmp_path / "c.json").read_bytes()[:5000])
    assert main(["render", str(tmp_path / "c.json")]) == 3
    assert "advisor compare" in capsys.readouterr().err


def test_what_is_printed_for_programs_is_not_mixed_with_words(saved: Path, capfdbinary: Any) -> None:
    assert compare(saved, saved, "-o", "json:-") == 0
    said = capfdbinary.readouterr()
    assert json.loads(said.out)["format"] == "advisor.comparison/1"
    assert said.err


def test_what_counts_as_a_change_can_be_set(
    saved_fixed: Path, saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert compare(saved_fixed, saved, "-q", "-oc.json", "--floor", "90%", "--spread", "0") == 0
    made = written(tmp_path / "c.json")
    assert (made.tolerance.floor, made.tolerance.spread) == (0.9, 0)
    assert {shift.status for shift in made.shifts} == {"same"}
    (tmp_path / "advisor.yaml").write_text("compare:\n  floor: 80%\n  relative: 0.5\n", "utf-8")
    assert compare(saved_fixed, saved, "-q", "-oc.json", "--relative", "0.3") == 0
    made = written(tmp_path / "c.json")
    assert (made.tolerance.floor, made.tolerance.relative) == (0.8, 0.3)


@pytest.mark.parametrize("value", ["-1", "x", "nan", "inf%", "2", "101%"])
def test_a_part_of_the_step_is_a_number_from_zero_to_one(value: str) -> None:
    with pytest.raises(SystemExit, match="2"):
        compare(CASE, CASE, f"--floor={value}")


def test_findings_that_code_hosts_show_at_no_line_are_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compare(CASE, CASE, "-o", tmp_path / "c.sarif", "--lang", "en") == 0
    assert "have no line in the source code" in capsys.readouterr().err


def test_nothing_is_written_into_either_capture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    copy = Path(shutil.copytree(CASE, tmp_path / "prof"))
    inside = next(copy.glob("*_ascend_pt")) / "c.html"
    for pair in ((copy, CASE), (CASE, copy)):
        assert compare(*pair, "-o", inside) == 2
        assert "captures are never written to" in capsys.readouterr().err
    assert not inside.exists()


def test_what_cannot_be_read_ends_with_three_and_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "odd.json").write_text("{}", "utf-8")
    for wrong in (tmp_path / "nothing", tmp_path / "odd.json"):
        assert compare(CASE, wrong, "--lang", "zh") == 3
        assert capsys.readouterr().err.count("\n") == 2
    assert compare(CASE, CASE, "-o", "c.pdf") == 2
    assert ".xlsx" in capsys.readouterr().err


def test_without_the_library_a_spreadsheet_says_how_to_get_it_before_anything_is_read(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name == "xlsxwriter":
            raise ImportError(name)
        return real(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "xlsxwriter", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    assert compare(tmp_path / "no", tmp_path / "no", "-o", tmp_path / "c.xlsx", "--lang", "en") == 2
    assert "pip install 'ascend-advisor[xlsx]'" in capsys.readouterr().err


def test_comparing_loads_neither_pandas_nor_the_spreadsheet_library(tmp_path: Path) -> None:
    import subprocess

    code = (
        f"import sys; from advisor.cli.main import main; main(['compare', {str(CASE)!r}, {str(CASE)!r}, '-q', '-o', "
        f"{str(tmp_path / 'c.md')!r}]); print([n for n in ('pandas', 'xlsxwriter', 'jinja2') if n in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "pair", [("text/level0", "text/level2"), ("text/level1", "db/level1"), ("db/level2", "db/level0")]
)
def test_captures_of_one_real_program_show_nothing_worse(
    pair: tuple[str, str], real_data: Path, tmp_path: Path
) -> None:
    folders = [real_data / "msinsight_pytorch_matrix" / name for name in pair]
    assert compare(*folders, "-q", "-o", tmp_path / "c.json") == 0
    assert written(tmp_path / "c.json").having("worse") == ()


def test_steps_of_which_only_the_phases_were_recorded_are_compared_too(real_data: Path, tmp_path: Path) -> None:
    capture = real_data / "mindinsight_legacy" / "profiler"
    assert compare(capture, capture, "-q", "-o", tmp_path / "c.json", "-o", tmp_path / "c.html") == 0
    found = written(tmp_path / "c.json")
    assert [(one.name, one.status) for one in found.shifts] == [("step", "same")]
    assert found.shifts[0].before_us == found.before.run.step_us > 0
