# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest
from report_samples import CONVERSION, EXPOSED, HOSTILE, SHAPES, finding, rich, table, write_report

from advisor.messages.errors import UsageError
from advisor.messages.text import LANGUAGES, Language
from advisor.model.findings import CodeLine, Diagnosis, Evidence, Severity
from advisor.report.charts.draw import Renderer
from advisor.report.output_formats import WRITERS
from advisor.report.pages import LARGEST_BYTES
from advisor.report.writers import check_suffix
from tests.charts_of_tests import BlankCharts

SUFFIXES = [writer.suffix for writer in WRITERS]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_every_writer_writes_every_shape_in_every_language(
    suffix: str, diagnosis: Diagnosis, language: Language, renderer: Renderer, tmp_path: Path
) -> None:
    path = tmp_path / f"report{suffix}"
    write_report(diagnosis, path, language, renderer)
    written = path.read_bytes()
    if suffix == ".xlsx":
        assert written.startswith(b"PK")
    else:
        assert written.decode("utf-8").endswith("\n"), "a report of text ends its last line, an empty one too"
    assert os.listdir(tmp_path) == [path.name]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_equal_diagnoses_give_equal_bytes(suffix: str, tmp_path: Path) -> None:
    for name in ("one", "two"):
        with Renderer() as fresh:
            for language in LANGUAGES:
                write_report(rich(), tmp_path / f"{name}-{language}{suffix}", language, fresh)
    for language in LANGUAGES:
        one, two = (tmp_path / f"{name}-{language}{suffix}" for name in ("one", "two"))
        assert one.read_bytes() == two.read_bytes(), language


@pytest.mark.parametrize("suffix", [".md", ".html"])
def test_what_was_not_checked_is_said_with_the_way_to_record_it(
    suffix: str, language: Language, renderer: Renderer, tmp_path: Path
) -> None:
    path = tmp_path / f"report{suffix}"
    write_report(SHAPES["fine but half blind"], path, language, renderer)
    text = path.read_text("utf-8").replace("<wbr>", "")
    for words in ("profiler_level=Level1", "compute/dynamic-shapes", "memory_uses", "io/data-loader", "let.x"):
        assert words in text
    assert ("only one rank was captured" if language == "en" else "只采集了一个 rank") in text


@pytest.mark.parametrize("suffix", [".md", ".html"])
def test_a_blind_diagnosis_never_looks_healthy(suffix: str, renderer: Renderer, tmp_path: Path) -> None:
    path = tmp_path / f"report{suffix}"
    for name in ("blind", "empty"):
        write_report(SHAPES[name], path, "en", renderer)
        text = path.read_text("utf-8")
        assert "This does not mean that all is well" in text
        assert "Nothing to fix" not in text


def test_an_unknown_suffix_lists_those_that_are_known(tmp_path: Path) -> None:
    for name in ("report.pdf", "report"):
        with pytest.raises(UsageError, match=r"\.html, \.md, \.json"):
            check_suffix(tmp_path / name)


def test_the_case_of_a_suffix_does_not_matter(tmp_path: Path) -> None:
    assert check_suffix(tmp_path / "REPORT.HTML").suffix == ".html"


def test_a_file_that_cannot_be_written_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written"):
        write_report(SHAPES["empty"], tmp_path / "no such folder" / "report.md", "en")


def test_a_failed_replacement_keeps_the_old_report_and_leaves_no_part(tmp_path: Path) -> None:
    folder = tmp_path / "report.md"
    folder.mkdir()
    with pytest.raises(UsageError, match="cannot be written"):
        write_report(SHAPES["empty"], folder, "en")
    assert os.listdir(tmp_path) == ["report.md"]


def test_json_gives_back_the_same_diagnosis(diagnosis: Diagnosis, tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    write_report(diagnosis, path, "en")
    assert Diagnosis.model_validate(json.loads(path.read_bytes())) == diagnosis


def test_a_report_rendered_from_json_is_the_same_report(
    diagnosis: Diagnosis, language: Language, renderer: Renderer, tmp_path: Path
) -> None:
    write_report(diagnosis, tmp_path / "saved.json", language)
    again = Diagnosis.model_validate(json.loads((tmp_path / "saved.json").read_bytes()))
    for source, name in ((diagnosis, "one.html"), (again, "two.html")):
        write_report(source, tmp_path / name, language, renderer)
    assert (tmp_path / "one.html").read_bytes() == (tmp_path / "two.html").read_bytes()


def test_thousands_of_hostile_findings_stay_below_the_size_of_a_report(renderer: Renderer, tmp_path: Path) -> None:
    names = tuple(f"{name}{i}" for i in range(300) for name in HOSTILE)
    many = [
        finding(
            CONVERSION,
            10.0,
            Severity.low,
            subject={"op_type": name},
            evidence=(Evidence(name="share", value=0.1, unit="share"),),
            excerpt=table("a b c d e f", *(('"<&' * 4000,) * 6 for _ in range(10)), total=100),
        )
        for name in names
    ]
    diagnosis = rich().model_copy(update={"findings": tuple(many)})
    path = tmp_path / "report.html"
    write_report(diagnosis, path, "en", renderer)
    assert path.stat().st_size < LARGEST_BYTES
    assert re.search(r"Findings left out here: \d+", path.read_text("utf-8"))


def test_an_excerpt_says_how_many_rows_there_are(tmp_path: Path) -> None:
    write_report(rich(), tmp_path / "report.md", "en")
    assert "10 of 112 rows" in (tmp_path / "report.md").read_text("utf-8")


def test_absolute_times_are_counted_from_the_start_of_the_capture(tmp_path: Path) -> None:
    write_report(rich(), tmp_path / "report.md", "en")
    text = (tmp_path / "report.md").read_text("utf-8")
    assert "+1.235 ms" in text
    assert "1700000000" not in text.replace(",", "")


def test_a_finding_without_its_rule_is_still_shown(renderer: Renderer, tmp_path: Path) -> None:
    write_report(SHAPES["no rules"], tmp_path / "report.html", "zh", renderer)
    assert EXPOSED.id in (tmp_path / "report.html").read_text("utf-8")


@pytest.mark.parametrize("suffix", [".md", ".html"])
def test_the_users_line_is_said_without_the_folders_of_the_machine(
    suffix: str, language: Language, tmp_path: Path
) -> None:
    first, *rest = rich().findings
    source = CodeLine(file="/home/somebody/job/train.py", line=88, function="<b>|` @all")
    diagnosis = rich().model_copy(update={"findings": (first.model_copy(update={"source": source}), *rest)})
    write_report(diagnosis, tmp_path / f"report{suffix}", language, BlankCharts())
    text = (tmp_path / f"report{suffix}").read_text("utf-8").replace("<wbr>", "")
    assert "…/job/train.py:88" in text
    assert "somebody" not in text
    assert ("(&lt;b&gt;|` @all)" if suffix == ".html" else "``…/job/train.py:88 (<b>|` @all)``") in text
    assert ("Called from" if language == "en" else "调用位置") in text
