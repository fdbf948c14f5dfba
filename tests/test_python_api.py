# SPDX-License-Identifier: Apache-2.0
"""The Python API does what its page says, and its objects show themselves in notebooks."""

from __future__ import annotations

import contextlib
import copy
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import advisor
from advisor.facts.observed import Kernel
from advisor.facts.table import Table
from advisor.messages.errors import FactMissing, InputError, RuleError, UsageError
from advisor.model.comparison import Comparison
from advisor.model.findings import Diagnosis

TOP = Path(__file__).parent.parent
CASE = TOP / "corpus" / "host-bound-2-ranks"
BLOCKS = re.findall(
    r"^```python\n(.*?)^```\n(?:\n^```text\n(.*?)^```)?", (TOP / "docs/python.md").read_text("utf-8"), re.M | re.S
)


@pytest.fixture(scope="module")
def diagnosis() -> Diagnosis:
    return advisor.diagnose(CASE)


@pytest.fixture(scope="module")
def comparison(diagnosis: Diagnosis) -> Comparison:
    return advisor.compare(diagnosis.model_copy(update={"findings": diagnosis.findings[2:]}), diagnosis)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the examples of the page run: a capture before and after."""
    shutil.copytree(CASE, tmp_path / "prof")
    shutil.copytree(CASE, tmp_path / "after")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.setenv("PYTHONPATH", str(TOP))
    return tmp_path


def like(shown: str, printed: str) -> bool:
    """Whether this was printed; `…` stands for anything."""
    pattern = ".*?".join(map(re.escape, shown.strip().split("…")))
    return re.fullmatch(pattern, printed.strip(), re.S) is not None


def test_every_example_of_the_page_runs_and_prints_what_it_shows(folder: Path) -> None:
    names: dict[str, object] = {}
    assert len(BLOCKS) >= 6
    for code, shown in BLOCKS:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(code, "docs/python.md", "exec"), names)  # noqa: S102 - our own page
        assert like(shown, out.getvalue()), f"{code}\n{out.getvalue()}"


def test_an_explanation_is_had_of_a_capture_and_of_a_saved_diagnosis(diagnosis: Diagnosis, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text(diagnosis.to_json(), "utf-8")
    name = "host/free-time"
    known = advisor.explain(diagnosis, name, advisor.load_profile(CASE))
    assert advisor.explain(saved, name) == advisor.explain(diagnosis, name)
    assert advisor.explain(str(CASE), name) == advisor.explain(saved, name, CASE) == known


def test_a_verification_wants_a_comparison_and_says_how_to_make_one(comparison: Comparison, tmp_path: Path) -> None:
    saved = tmp_path / "compared.json"
    saved.write_text(comparison.to_json(), "utf-8")
    assert advisor.verify(saved) == advisor.verify(comparison)
    for wrong in (CASE, str(CASE), comparison.before):
        with pytest.raises(UsageError, match=r"is no comparison\n.*advisor\.compare\(before, after\)"):
            advisor.verify(wrong, str(CASE))  # type: ignore[arg-type]


def test_the_page_runs_as_a_notebook_and_its_objects_come_out_as_html(folder: Path) -> None:
    nbformat = pytest.importorskip("nbformat", reason="needs the extra test")
    nbclient = pytest.importorskip("nbclient", reason="needs the extra test")
    pytest.importorskip("ipykernel", reason="needs the extra test")
    shows = ["diagnosis", "best", "comparison", "explanation", 'profile.table("kernels")']
    cells = [nbformat.v4.new_code_cell(code) for code in (*(code for code, _ in BLOCKS), *shows)]
    notebook = nbformat.v4.new_notebook(cells=cells)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    last = [cell.outputs[-1]["data"] for cell in notebook.cells[-len(shows) :]]
    assert all("text/html" in data for data in last)
    assert "A step takes" in last[0]["text/html"]
    assert last[0]["text/plain"].startswith("<diagnosis of 'prof'")


def test_objects_say_in_a_line_what_they_are(diagnosis: Diagnosis, comparison: Comparison) -> None:
    for one in (diagnosis, diagnosis.findings[0], comparison, advisor.explain(diagnosis, "host/free-time")):
        assert len(repr(one)) < 160 and "\n" not in repr(one)
        assert str(one) == repr(one)


def test_a_diagnosis_may_be_of_a_loaded_profile() -> None:
    profile = advisor.load_profile(CASE)
    assert advisor.diagnose(profile).findings == advisor.diagnose(str(CASE)).findings


def test_a_comparison_takes_captures_files_and_diagnoses_alike(diagnosis: Diagnosis, tmp_path: Path) -> None:
    saved = tmp_path / "saved.json"
    saved.write_text(diagnosis.to_json(), "utf-8")
    made = [advisor.compare(one, CASE) for one in (CASE, str(saved), diagnosis)]
    assert made[0].changes == made[1].changes == made[2].changes
    assert {change.status for change in made[0].changes} <= {"same", "not comparable"}


def test_tables_of_two_captures_stand_side_by_side_where_asked_for(diagnosis: Diagnosis) -> None:
    assert advisor.compare(CASE, CASE).tables == ()
    assert advisor.compare(CASE, diagnosis, tables=True).tables == ()
    found = advisor.compare(CASE, CASE, tables=True)
    assert {"kernels", "operators"} <= {table.name for table in found.tables}
    assert found.changes == advisor.compare(CASE, CASE).changes


def test_progress_is_told() -> None:
    told: list[str] = []
    advisor.diagnose(CASE, progress=lambda what, done, total: told.append(what))
    assert {"captures", "rules"} <= set(told)


def test_what_goes_wrong_is_said_by_name(diagnosis: Diagnosis, tmp_path: Path) -> None:
    with pytest.raises(InputError):
        advisor.diagnose(tmp_path / "nothing")
    with pytest.raises(InputError):
        advisor.load_diagnosis(tmp_path / "nothing.json")
    with pytest.raises(InputError):
        advisor.compare(tmp_path / "nothing.json", diagnosis)
    with pytest.raises(RuleError):
        advisor.diagnose(CASE, settings=tmp_path / "nothing.yaml")
    with pytest.raises(UsageError):
        advisor.explain(diagnosis, "host/fre-time")
    with pytest.raises(UsageError, match="host/free-time"):
        diagnosis.rule("host/fre-time")


@pytest.mark.parametrize(
    "ask",
    [
        advisor.diagnose,
        advisor.inspect,
        advisor.load_profile,
        advisor.load_diagnosis,
        advisor.verify,
        lambda path: advisor.compare(path, CASE),
        lambda path: advisor.compare(CASE, path),
    ],
)
def test_no_path_is_not_the_working_folder(
    ask: Callable[[str], object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match="the path is empty"):
        ask("")


def test_a_table_that_was_not_recorded_is_told_in_both_languages_with_how_to_have_it() -> None:
    profile = advisor.load_profile(CASE)
    for ask in (lambda: profile.table("devices"), lambda: advisor.stats(profile, "hosts")):
        with pytest.raises(FactMissing) as missing:
            ask()
        assert str(missing.value) == missing.value.say("en")
        assert missing.value.say("en").startswith("not recorded: ")
        assert missing.value.say("zh").startswith("未采集：")
        assert any(word in missing.value.say("en") for word in ("keep", "record with"))
        again = copy.copy(missing.value)  # as what crosses processes is made anew
        assert (again.say("zh"), again.tables) == (missing.value.say("zh"), missing.value.tables)
    bare = FactMissing(["kernels"], ["kernel_details.csv"], ["launches"])
    assert bare.say("zh") == "未采集：kernels；缺少数据行：launches（kernel_details.csv 无法读取）"


def test_one_folder_of_rules_may_stand_for_a_list_of_them(tmp_path: Path) -> None:
    with pytest.raises(RuleError, match="no such directory"):
        advisor.load_rules(str(tmp_path / "rules"))


def test_importing_costs_nothing_until_something_is_asked() -> None:
    code = (
        "import advisor, sys; print([m for m in ('numpy', 'pydantic', 'pandas', 'jinja2', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=TOP)
    assert done.stdout.strip() == "[]"


def test_the_command_line_does_without_notebooks() -> None:
    code = (
        "import sys; from advisor.cli.main import main; main(['diagnose', sys.argv[1], '-q']);"
        "print('advisor.display' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(CASE)], capture_output=True, text=True, check=True, cwd=TOP)
    assert done.stdout.strip() == "False"


HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "{{ 2401 * 2401 }}",
    '" onload="x',
    "a\ud800b",
    "x" * 5000,
]


OURS = "div|p|span|h2|table|thead|tbody|tr|th|td|b|strong|ol|ul|li|pre|code|details|summary|a|wbr"


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_of_a_profile_becomes_markup_in_a_notebook(name: str, diagnosis: Diagnosis) -> None:
    finding = diagnosis.findings[0]
    sources = [source for info in diagnosis.rules for source in info.references]
    evidence = (*finding.evidence, finding.evidence[0].model_copy(update={"name": name, "value": name}))
    rule = name.encode("utf-8", "replace").decode()  # rules are UTF-8, names in captures may be anything
    hostile = finding.model_copy(update={"rule": rule, "subject": {name: name}, "evidence": evidence})
    assert "\n" not in repr(hostile)
    other = diagnosis.model_copy(
        update={"findings": (hostile,), "run": diagnosis.run.model_copy(update={"name": name})}
    )
    table = Table.build(Kernel, op_type=[name, None], duration_us=[1.5, None])
    for one in (other, hostile, advisor.compare(diagnosis, other), table):
        html = one._repr_html_()  # type: ignore[union-attr]
        assert not re.search(rf"<(?!/?(?:{OURS})\b)", html)
        assert set(re.findall('href="([^"]*)"', html)) <= {source.url for source in sources}
        assert not re.search(r"<[^>]*\son\w+=", html)
        assert "5764801" not in html or "{{ 2401 * 2401 }}" in html
        html.encode()


def test_what_a_notebook_shows_is_small_and_loads_nothing(diagnosis: Diagnosis, comparison: Comparison) -> None:
    many = diagnosis.model_copy(update={"findings": diagnosis.findings * 200})
    for one in (diagnosis, many, diagnosis.findings[0], comparison):
        html = one._repr_html_()  # type: ignore[attr-defined]
        assert len(html) < 40_000
        assert not re.search(r"src=|url\(|<style|<script|<link", html)


@pytest.mark.parametrize(("locale", "word"), [("zh_CN.UTF-8", "单步耗时"), ("C", "A step takes"), ("", "A step takes")])
def test_a_notebook_speaks_the_language_of_the_locale(
    locale: str, word: str, diagnosis: Diagnosis, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LC_ALL", locale)
    assert word in diagnosis._repr_html_()  # type: ignore[attr-defined]


def test_an_empty_diagnosis_shows_itself_too() -> None:
    from advisor.model.run import Run

    for one in (Diagnosis(run=Run()), advisor.compare(Diagnosis(run=Run()), Diagnosis(run=Run()))):
        assert one._repr_html_()  # type: ignore[attr-defined]
