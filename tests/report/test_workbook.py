# SPDX-License-Identifier: Apache-2.0
"""A diagnosis as a spreadsheet, read back by another library."""

from __future__ import annotations

import builtins
import io
from pathlib import Path
from typing import Any

import pytest
from openpyxl import load_workbook
from report_samples import rich

from advisor.cli.main import main
from advisor.display import attach_html
from advisor.messages.text import LANGUAGES, Language
from advisor.model.findings import Diagnosis
from advisor.report.diagnosis.workbook import diagnosis_workbook

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"


def read(path: Path | io.BytesIO) -> dict[str, list[tuple[object, ...]]]:
    book = load_workbook(path)
    return {sheet.title: list(sheet.iter_rows(values_only=True)) for sheet in book}


def test_a_diagnosis_is_written_as_a_spreadsheet_that_adds_up(tmp_path: Path) -> None:
    words = [
        "diagnose",
        str(CASE),
        "-q",
        "--lang",
        "en",
        "-o",
        str(tmp_path / "r.xlsx"),
        "-o",
        str(tmp_path / "r.json"),
    ]
    assert main(words) == 0
    diagnosis = Diagnosis.model_validate_json((tmp_path / "r.json").read_bytes())
    found = read(tmp_path / "r.xlsx")
    assert list(found) == ["Findings", "Evidence", "Rows behind", "Where a step goes", "Not checked"]
    assert [row[9] for row in found["Findings"][1:]] == [one.rule for one in diagnosis.findings]
    savings = [pytest.approx(one.saving.us) if one.saving.us else None for one in diagnosis.findings]
    assert [row[4] for row in found["Findings"][1:]] == savings
    assert diagnosis.split is not None
    spent = sum(float(str(row[2])) for row in found["Where a step goes"][1:])
    assert spent == pytest.approx(diagnosis.split.step_us, rel=1e-6)
    measured = [item for one in diagnosis.findings for item in one.evidence if item.value is not None]
    assert len(found["Evidence"]) - 1 == len(measured)
    assert main(["render", str(tmp_path / "r.json"), "-q", "-o", str(tmp_path / "again.xlsx"), "--lang", "en"]) == 0
    assert (tmp_path / "again.xlsx").read_bytes() == (tmp_path / "r.xlsx").read_bytes()


@pytest.mark.parametrize("language", LANGUAGES)
def test_units_are_written_as_people_write_them(language: Language) -> None:
    book = read(io.BytesIO(diagnosis_workbook(rich(), language)))
    heads = [str(cell) for rows in book.values() for row in rows for cell in row if cell is not None]
    assert not [head for head in heads if head.endswith(("(us)", "(share)", "(count)")) or head in ("us", "times")]
    assert [head for head in heads if head.endswith({"en": " (µs)", "zh": "（µs）"}[language])]


@pytest.mark.parametrize("language", LANGUAGES)
def test_nothing_from_a_profile_becomes_a_formula(language: Language) -> None:
    book = load_workbook(io.BytesIO(diagnosis_workbook(rich(), language)))
    cells = [cell for sheet in book for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert cells
    assert {cell.data_type for cell in cells} <= {"s", "n", "b"}
    assert not any(cell.hyperlink for cell in cells)


def test_a_missing_library_is_said_before_the_work_starts(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    real = builtins.__import__

    def without(name: str, *rest: Any) -> Any:
        if name == "xlsxwriter":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    assert main(["diagnose", "nowhere", "-o", str(tmp_path / "r.xlsx"), "--lang", "en"]) == 2
    assert "XlsxWriter" in capsys.readouterr().err


def test_a_finding_in_a_notebook_says_its_title_and_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    assert main(["diagnose", str(CASE), "-q", "-o", str(tmp_path / "r.json")]) == 0
    diagnosis = Diagnosis.model_validate_json((tmp_path / "r.json").read_bytes())
    found = next(one for one in diagnosis.findings if one.rule == "host/python-bound")
    attach_html()
    html = found._repr_html_()  # type: ignore[attr-defined]
    assert "of each step" in html
    assert "<ol>" in html
    own = found.model_copy(update={"rule": "acme/mine"})
    assert "acme/mine" in own._repr_html_().replace("<wbr>", "")  # type: ignore[attr-defined]
