# SPDX-License-Identifier: Apache-2.0
"""`advisor modules`: where in the model the time goes, in every format, and what to record where nothing tells."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from advisor.cli.main import main
from advisor.facts.table import Texts
from advisor.messages.text import LANGUAGES, Language
from advisor.report.modules.words import Marking, marking_code
from advisor.report.prose import letter_columns
from advisor.sources.files.damage_notes import Notes
from advisor.sources.shared.attention_words import table_of_marks
from corpus.gpu_traces import Event, host, launched, trace
from tests.shared_captures import SharedCaptures

STATISTIC = [
    *("parentModule", "module", "opName", "kernelList"),
    *("totalKernelDuration(ns)", "avgKernelDuration(ns)", "opCount", "rankID", "avgMFU"),
]
HOSTILE = "<script>alert(1)</script>=SUM(A1)"


def capture(folder: Path, *, marked: bool = True, rank: int = 0, device: str = "NVIDIA H100 80GB HBM3") -> Path:
    """Two layers of one module each and an operator outside; the second layer has a name that means harm."""
    events: list[Event] = [
        *launched(1, 10, 30, 20),
        *launched(2, 60, 60, 30, operator="=aten::x"),
        *launched(3, 200, 60, 7),
    ]
    if marked:
        for name, ts, dur in (("Net_0", 0, 150), ("Linear_0", 5, 45), (HOSTILE, 55, 50)):
            events.append(host(f"nn.Module: {name}", ts, dur, "python_function"))
    folder.mkdir(exist_ok=True)
    path = folder / f"rank{rank}.pt.trace.json"
    path.write_text(
        json.dumps(trace(events, rank=rank, world=2, deviceProperties=[{"id": 0, "name": device}])), encoding="utf-8"
    )
    return folder


def written(tmp_path: Path, suffix: str, *options: str) -> Path:
    path = tmp_path / f"out{suffix}"
    folder = capture(tmp_path / "prof")
    assert main(["modules", str(capture(folder, rank=1)), "-q", "-o", str(path), *options]) == 0
    return path


def test_the_database_has_the_table_with_its_columns(tmp_path: Path) -> None:
    with sqlite3.connect(written(tmp_path, ".db")) as connection:
        assert [row[1] for row in connection.execute("PRAGMA table_info(ModuleStatistic)")] == STATISTIC
        rows = connection.execute("SELECT * FROM ModuleStatistic WHERE rankID = 1").fetchall()
    connection.close()
    assert [row[:3] + row[4:] for row in rows] == [
        ("Net_0", "Linear_0", "aten::mm", 20_000.0, 20_000.0, 1, 1, "0.0000"),
        ("Net_0", HOSTILE, "=aten::x", 30_000.0, 30_000.0, 1, 1, ""),
    ]


def test_the_share_of_the_peak_has_no_column_where_none_is_known(tmp_path: Path) -> None:
    path = tmp_path / "out.csv"
    folder = capture(tmp_path / "prof", device="Unknown 1")
    assert main(["modules", str(folder), "-q", "-o", str(path)]) == 0
    assert path.read_text("utf-8-sig").splitlines()[0].split(",") == STATISTIC[:-1]


def test_the_csv_has_the_same_rows_and_no_cell_is_a_formula(tmp_path: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(written(tmp_path, ".csv").read_text("utf-8-sig"))))
    assert list(rows[0]) == STATISTIC
    assert [(row["rankID"], row["opName"]) for row in rows] == [
        *(("0", "aten::mm"), ("0", "'=aten::x"), ("1", "aten::mm"), ("1", "'=aten::x")),
    ]


def test_the_spreadsheet_has_a_sheet_for_each_rank(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.load_workbook(written(tmp_path, ".xlsx"))
    assert book.sheetnames == ["Modules of the model", "module_statistic_0", "module_statistic_1"]
    first, second, *_ = book["module_statistic_1"].iter_rows(values_only=True)
    assert first[:4] == ("Parent Module", "Module", "Op Name", "Kernel List")
    assert second[:3] == ("Net_0", "Linear_0", "aten::mm")
    tree = list(book[book.sheetnames[0]].iter_rows(values_only=True))
    assert {row[1] for row in tree[1:]} >= {"Net_0", "Net_0/Linear_0"}
    forms = {cell.number_format for row in book[book.sheetnames[0]].iter_rows(min_row=2) for cell in row}
    assert forms == {"General", "#,##0.0##", "0.0%"}


@pytest.mark.parametrize("language", ["en", "zh"])
def test_names_of_modules_are_no_markup(tmp_path: Path, language: str) -> None:
    page = written(tmp_path, ".html", "--lang", language).read_text("utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.replace("<wbr>", "")
    assert 'class="meter"' in page


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_terminal_shows_the_tree_and_the_share_of_what_is_outside(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str
) -> None:
    assert main(["modules", str(capture(tmp_path / "prof")), "--lang", language]) == 0
    said = capsys.readouterr().out
    assert "Linear_0" in said
    assert {"en": "elsewhere", "zh": "模块之外"}[language] in " ".join(said.split())


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    for suffix in (".html", ".md", ".csv", ".db", ".xlsx"):
        (tmp_path / "a").mkdir(exist_ok=True)
        (tmp_path / "b").mkdir(exist_ok=True)
        assert written(tmp_path / "a", suffix).read_bytes() == written(tmp_path / "b", suffix).read_bytes()


@pytest.mark.parametrize("language", ["en", "zh"])
def test_without_modules_it_says_what_to_record_and_ends_with_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str
) -> None:
    assert main(["modules", str(capture(tmp_path / "prof", marked=False)), "--lang", language]) == 3
    said = capsys.readouterr().out
    assert "with_stack=True" in said
    assert "mstx" not in said  # of a GPU


@pytest.mark.parametrize(
    ("language", "way", "other"), [("en", "Record Python", "Two ways"), ("zh", "用 with_stack", "两种")]
)
def test_where_one_way_leads_to_modules_no_other_is_spoken_of(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str, way: str, other: str
) -> None:
    assert main(["modules", str(capture(tmp_path / "prof", marked=False)), "--lang", language]) == 3
    lines = capsys.readouterr().out.splitlines()
    assert any(line.startswith(way) for line in lines)
    assert not any(other in line for line in lines)


@pytest.mark.parametrize(
    ("language", "modules", "ranks"),
    [
        ("en", "listed only in the report (-o): 2", "Ranks that are not shown here: 1"),
        ("zh", "报告：2 个", "卡：1 张"),
    ],
)
def test_modules_and_ranks_that_a_terminal_does_not_show_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str, modules: str, ranks: str
) -> None:
    deep = [host(f"nn.Module: Deep{depth}_0", depth, 150 - 2 * depth, "python_function") for depth in range(6)]
    for rank in (0, 1):
        told = trace([*deep, *launched(1, 10, 30, 20)], rank=rank, world=2)
        (tmp_path / f"rank{rank}.pt.trace.json").write_text(json.dumps(told), encoding="utf-8")
    assert main(["modules", str(tmp_path), "--lang", language]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert modules in said
    assert ranks in said


@pytest.mark.parametrize(("language", "told"), [("en", "tells no modules of its model"), ("zh", "没有模块信息")])
def test_quiet_it_says_in_one_sentence_why_it_ends_with_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str, told: str
) -> None:
    folder, page = capture(tmp_path / "prof", marked=False), tmp_path / "modules.html"
    assert main(["modules", str(folder), "--lang", language, "-q", "-o", str(page)]) == 3
    said = capsys.readouterr()
    assert said.out == ""
    assert told in said.err
    assert str(folder) in said.err
    assert page.exists()


def test_on_an_npu_the_code_that_marks_modules_is_shown(shared: object, capsys: pytest.CaptureFixture[str]) -> None:
    folder = shared.written("healthy")  # type: ignore[attr-defined]
    assert main(["modules", str(folder), "--lang", "en"]) == 3
    said = capsys.readouterr().out
    assert 'range_start(name, domain="Module")' in said
    assert "mstx=True" in said
    assert "ExportType.Db" in said


@pytest.mark.parametrize(
    ("language", "told"), [("en", "use the framework's own profiler"), ("zh", "请使用框架自带的 profiler")]
)
def test_a_program_of_an_unknown_framework_is_given_no_code_of_pytorch(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], language: str, told: str
) -> None:
    header = "Device_id,Op Name,OP Type,Task Type,Task Start Time(us),Task Duration(us),Task Wait Time(us)"
    rows = [f"0,Default/Add-op{n},Add,AI_CORE,{1_700_000_000_000_000 + 100 * n},50.0,0" for n in range(50)]
    (tmp_path / "op_summary_20250101000000.csv").write_text("\n".join([header, *rows, ""]))
    assert main(["modules", str(tmp_path), "--lang", language]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert told in said
    assert "torch" not in said
    assert "with_stack" not in said


@pytest.mark.parametrize(("language", "told"), [("en", "an operator tells its cells"), ("zh", "所属的 Cell")])
def test_programs_of_mindspore_are_given_code_that_marks_cells(
    shared: object, capsys: pytest.CaptureFixture[str], language: str, told: str
) -> None:
    folder = shared.written("healthy", mindspore="pynative")  # type: ignore[attr-defined]
    assert main(["modules", str(folder), "--lang", language]) == 3
    said = " ".join(capsys.readouterr().out.split())
    assert told in said
    assert "nn.Cell.__call__ = marked_call" in said
    assert "torch" not in said
    assert "with_stack" not in said
    assert main(["inspect", str(folder), "--lang", language]) == 0
    assert "advisor modules" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("code", get_args(Marking))
def test_the_code_that_marks_is_python_with_comments_in_the_language_of_the_reader(
    code: Marking, language: Language
) -> None:
    said = marking_code(code, language)
    compile(said, "marking", "exec")
    assert max(map(letter_columns, said.splitlines())) < 80
    comments = [line.partition("# ")[2] for line in said.splitlines() if "# " in line]
    assert comments
    for comment in comments:
        assert "{" not in comment
        assert comment.isascii() == (language == "en")


class _Module(types.ModuleType):
    """A package that is not installed here, with what the code takes from it."""

    def __init__(self, name: str, **members: object) -> None:
        super().__init__(name)
        self.__dict__.update(members)


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[list[str], types.ModuleType, types.ModuleType]]:
    """What the code that marks attention has marked, and the packages whose functions it has replaced."""
    found: list[str] = []

    def mark(message: str, stream: object = None, domain: str = "default") -> None:
        assert domain == "flash_attn_args" and stream is None and len(message.encode()) <= 156
        found.append(message)

    def call(*args: object, **kwargs: object) -> tuple[object, ...]:
        return args, kwargs

    functional = _Module("torch.nn.functional", scaled_dot_product_attention=call)
    npu = _Module(
        "torch_npu", npu=types.SimpleNamespace(mstx=types.SimpleNamespace(mark=mark)), npu_fusion_attention=call
    )
    nn = _Module("torch.nn", functional=functional)
    for name, module in (("torch", _Module("torch", nn=nn)), ("torch.nn", nn), ("torch_npu", npu)):
        monkeypatch.setitem(sys.modules, name, module)
    exec(compile(marking_code("attention", "en"), "marking", "exec"), {})  # noqa: S102 - our own code, as users run it
    yield found, npu, functional


def understood(message: str) -> dict[str, object]:
    notes = Notes()
    table = table_of_marks(0, np.array([1]), np.array([5]), Texts.of([message]), "trace", notes)
    assert not notes.all()
    return dict(next(iter(table.rows())))


def test_the_code_that_marks_attention_calls_on_and_marks_what_is_read(
    marks: tuple[list[str], types.ModuleType, types.ModuleType],
) -> None:
    found, npu, functional = marks
    assert npu.npu_fusion_attention("q", "k", "v", 16, "SBH", sparse_mode=2, scale=0.1)[0] == ("q", "k", "v", 16, "SBH")
    npu.npu_fusion_attention("q", "k", "v", 16, input_layout="BSND", atten_mask="mask", next_tockens=0)
    ends = [100, 200]
    npu.npu_fusion_attention("q", "k", "v", 16, "TND", actual_seq_qlen=ends, actual_seq_kvlen=tuple(ends))
    npu.npu_fusion_attention("q", "k", "v", 16, "TND", actual_seq_qlen=ends * 50, actual_seq_kvlen=ends * 50)
    npu.npu_fusion_attention("q", "k", "v", 16, "BSH", sparse_mode=6, prefix=[512, 64], atten_mask="mask")
    npu.npu_fusion_attention("q", "k", "v", 16, "TND", sparse_mode=8, next_tockens=1, atten_mask="mask")
    assert functional.scaled_dot_product_attention("q", "k", "v", None, 0.0, True, scale=1.0)[1] == {"scale": 1.0}
    functional.scaled_dot_product_attention("q", "k", "v", is_causal=False)
    said = [understood(message) for message in found]
    assert [row["layout"] for row in said] == ["SBH", "BSND", "TND", "TND", "BSH", "TND", None, None]
    assert [row["sparse_mode"] for row in said] == [2, 0, 0, 0, 6, 8, 2, 0]
    assert [row["next_tokens"] for row in said] == [None, 0, None, None, None, 1, None, None]
    assert said[1]["previous_tokens"] == 2**31 - 1
    assert [row["key_ends"] for row in said] == [None, None, "100,200", None, None, None, None, None]
    assert [row["prefixes"] for row in said] == [None, None, None, None, "512,64", None, None, None]


def test_the_page_shows_the_code_that_is_tried_here() -> None:
    page = (Path(__file__).parents[2] / "docs" / "modules.md").read_text("utf-8")
    assert marking_code("attention", "en") in page


@pytest.mark.parametrize("ending", ["html", "md"])
def test_a_report_of_unmarked_attention_shows_the_code_that_marks_it(
    ending: str, shared: SharedCaptures, tmp_path: Path
) -> None:
    report = tmp_path / f"modules.{ending}"
    capture = shared.written("healthy", small=True, modules=True)
    assert main(["modules", str(capture), "-o", str(report), "-q"]) == 0
    assert "flash_attn_args" in report.read_text("utf-8")


@pytest.mark.parametrize(("language", "window", "step"), [("en", "captured window", "tep"), ("zh", "采集窗口", "单步")])
def test_modules_take_a_part_of_the_window_and_not_of_a_step(
    language: str, window: str, step: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = capture(tmp_path / "prof")
    assert main(["modules", str(folder), "--lang", language]) == 0
    said = capsys.readouterr().out
    assert said.count(window) >= 2
    assert step not in said
