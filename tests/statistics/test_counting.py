# SPDX-License-Identifier: Apache-2.0
"""What `advisor stats` writes, says and refuses."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path

import pytest
from openpyxl import load_workbook
from pandas import DataFrame
from pyarrow import parquet

import advisor
import corpus
from advisor.cli.commands.stats import NAMES
from advisor.cli.main import main
from advisor.messages.errors import FactMissing, UsageError
from advisor.messages.text import Language
from advisor.model.findings import Head, Rows
from advisor.model.statistics import Statistic, Statistics
from advisor.pipeline import modules, open_profile
from advisor.report.output_formats import STATISTICS_WRITERS, CountedTables
from advisor.report.statistics.words import TABLES as TITLES
from advisor.report.statistics.words import say_column
from advisor.report.statistics.workbook import sheet_name
from advisor.report.writers import Output, write_files
from advisor.statistics.counting import _rows_of_frame, _unit_of
from advisor.statistics.tables import TABLES
from tests.shared_captures import SharedCaptures

CASE = Path(__file__).parents[2] / "corpus" / "host-bound-2-ranks"


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("stats")
    endings = ("csv", "parquet", "json", "xlsx", "md", "html")
    outputs = [word for ending in endings for word in ("-o", str(folder / f"s.{ending}"))]
    words = ["--of", "kernels", "--of", "collectives", "--top", "2", "--lang", "en", "-q"]
    assert main(["stats", str(CASE), *words, *outputs]) == 0
    return folder


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_tables_beside_a_file_whose_name_has_no_ending_are_told_by_theirs(form: str, tmp_path: Path) -> None:
    words = ["--of", "kernels", "--of", "collectives", "-q", "-o", f"{form}:{tmp_path / 'counted'}"]
    assert main(["stats", str(CASE), *words]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"counted", f"counted.collectives.{form}"}


def test_the_command_names_every_table_and_every_table_has_words() -> None:
    assert tuple(table.name for table in TABLES) == NAMES
    assert TITLES.keys() == set(NAMES)


def test_every_column_has_words_in_both_languages() -> None:
    found = [one for table in TABLES if (one := _made(table.name)) is not None]
    names = {str(name) for frame in found for name in frame.columns}
    assert len(found) >= 8
    for name in sorted(names):
        assert say_column(name, "en") != name, name
        assert say_column(name, "zh") != say_column(name, "en") or name in ("rank", "step", "stage", "mfu", "tflops")


def _made(name: str) -> object:
    try:
        return advisor.stats(CASE, name)
    except FactMissing:
        return None


def test_the_json_can_be_read_again_and_holds_all_rows(written: Path) -> None:
    text = (written / "s.json").read_text()
    found = Statistics.model_validate_json(text)
    assert found.to_json() == text
    assert [table.name for table in found.tables] == ["kernels", "collectives"]
    assert all(len(table.rows.rows) == table.rows.total > 2 for table in found.tables[:1])


def test_csv_and_parquet_hold_what_the_json_holds_one_file_per_table(written: Path) -> None:
    tables = json.loads((written / "s.json").read_text())["tables"]
    for name, table in zip(("s", "s.collectives"), tables, strict=True):
        heads = [column["name"] for column in table["rows"]["columns"]]
        rows = list(csv.reader(io.StringIO((written / f"{name}.csv").read_text("utf-8-sig"))))
        assert rows[0] == heads
        assert len(rows) == table["rows"]["total"] + 1
        columns = parquet.read_table(written / f"{name}.parquet")
        assert columns.column_names == heads
        assert [list(row.values()) for row in columns.to_pylist()] == table["rows"]["rows"]
        assert columns.schema.field("total_us").metadata == {b"unit": b"us"}


@pytest.mark.parametrize("name", ["kernels", "ranks", "operators", "apis", "collectives", "gaps", "memory", "holders"])
def test_what_counts_whole_things_or_bytes_is_a_whole_number(name: str, tmp_path: Path) -> None:
    assert main(["stats", str(CASE), "--of", name, "-o", str(tmp_path / "s.parquet"), "-q"]) == 0
    table = parquet.read_table(tmp_path / "s.parquet")
    kinds = {one.name: str(one.type) for one in table.schema if one.metadata[b"unit"] in (b"count", b"B")}
    assert kinds
    assert set(kinds.values()) == {"int64"}
    frame = advisor.stats(CASE, name)
    assert {frame[one].dtype.kind for one in kinds if frame[one].notna().all()} <= {"i"}


@pytest.mark.parametrize(("name", "mean"), [("rooflines", "calls"), ("modules", "kernels")])
def test_a_mean_per_step_is_no_whole_number(name: str, mean: str) -> None:
    (table,) = (one for one in TABLES if one.name == name)
    frame = DataFrame(
        {mean: [2.0, 3.0], "size_bytes": [2.5, math.nan], "steps": [2.0, math.nan], "samples": [1.5, 2.0]}
    )
    rows = _rows_of_frame(table, frame).rows
    assert [[type(cell) for cell in row] for row in rows] == [
        [float, int, int, float],
        [float, *[type(None)] * 2, float],
    ]


def test_odd_names_are_written_in_every_format(tmp_path: Path) -> None:
    names = ("<script>alert(1)</script>", "=1+1", "caf\udce9", "a\nb", None)
    heads = (Head(name="name"), Head(name="total_us", unit="us"))
    rows = Rows(columns=heads, rows=tuple((name, 1.0) for name in names), total=len(names))
    found = Statistics(version="1", run="x", tables=(Statistic(name="operators", keys=("name",), rows=rows),))
    for writer in STATISTICS_WRITERS:
        output = Output(tmp_path / f"s{writer.suffix}", writer)
        assert list(write_files(CountedTables(found, "en", 9), output)) == [output.path]
    assert parquet.read_table(tmp_path / "s.parquet")["name"].to_pylist()[2] == "caf\\udce9"
    assert "'=1+1" in (tmp_path / "s.csv").read_text("utf-8-sig")
    assert "<script>alert" not in (tmp_path / "s.html").read_text()


def test_a_spreadsheet_has_a_sheet_for_each_table(written: Path) -> None:
    book = load_workbook(written / "s.xlsx")
    assert book.sheetnames == ["Kernels", "Collectives"]
    assert [cell.value for cell in book["Kernels"][1]][:4] == ["Operator type", "Core", "Calls", "Total (µs)"]


def test_what_people_read_shows_the_largest_rows_and_says_how_many_there_are(written: Path) -> None:
    text = (written / "s.md").read_text()
    total = json.loads((written / "s.json").read_text())["tables"][0]["rows"]["total"]
    assert f"Kernels (2 of {total} rows)" in text
    assert "<table" in (written / "s.html").read_text()


def test_the_terminal_speaks_one_language(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(CASE), "--top", "1", "--lang", "zh"]) == 0
    said = capsys.readouterr().out
    assert "算子（kernel）（" in said
    assert "rows" not in said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--of", "kernels", "--by", "colour"], "the table kernels has no key `colour`"),
        (["--of", "kernels", "--by", "name"], "known are op_type, core, input_shapes"),
    ],
)
def test_a_key_that_a_table_does_not_have_is_refused(
    words: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", str(CASE), *words, "--lang", "en"]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_sheet_is_called_by_a_part_of_its_name(language: Language) -> None:
    names = [sheet_name(table.name, language, of) for table in TABLES for of in ("step", "window", "work")]
    assert max(map(len, names)) <= 31


def test_columns_have_a_unit_for_programs_that_people_read_once(tmp_path: Path) -> None:
    frame = {"deviation": 2.0, "tflops": 3.0}
    rows = Rows(
        columns=tuple(Head(name=name, unit=_unit_of(name)) for name in frame), rows=(tuple(frame.values()),), total=1
    )
    counted = CountedTables(
        Statistics(version="1", run="x", tables=(Statistic(name="links", keys=(), rows=rows),)), "en", 9
    )
    for writer in (one for one in STATISTICS_WRITERS if one.suffix in (".xlsx", ".parquet")):
        list(write_files(counted, Output(tmp_path / f"s{writer.suffix}", writer)))
    schema = parquet.read_table(tmp_path / "s.parquet").schema
    assert [schema.field(name).metadata[b"unit"] for name in frame] == [b"MAD", b"TFLOP/s"]
    heads = next(load_workbook(tmp_path / "s.xlsx").active.iter_rows(values_only=True))
    assert heads == ("Below the median by (MAD)", "TFLOP/s")


def test_values_out_of_a_fixed_set_are_said_in_the_language_of_the_report(tmp_path: Path) -> None:
    told = {"kind": "launch", "bound": "memory", "way": "write", "direction": "forward+backward", "cause": "python"}
    heads = tuple(Head(name=name) for name in told)
    table = Statistic(name="apis", keys=("kind",), rows=Rows(columns=heads, rows=(tuple(told.values()),), total=1))
    counted = CountedTables(Statistics(version="1", run="x", tables=(table,)), "zh", 9)
    for writer in (one for one in STATISTICS_WRITERS if one.suffix in (".md", ".xlsx", ".csv")):
        list(write_files(counted, Output(tmp_path / f"s{writer.suffix}", writer)))
    said = (tmp_path / "s.md").read_text()
    assert not [word for word in told.values() if word in said]
    (cells,) = load_workbook(tmp_path / "s.xlsx").active.iter_rows(min_row=2, values_only=True)
    assert cells == ("算子下发", "访存", "写", "前向+反向", "Python 与框架")
    assert (tmp_path / "s.csv").read_text("utf-8-sig").splitlines()[1] == ",".join(told.values())


@pytest.mark.parametrize("output", ["csv:-", "parquet:-", "csv:/dev/stdout"])
@pytest.mark.parametrize("of", [[], ["--of", "kernels", "--of", "gaps"]])
def test_several_tables_are_not_written_into_a_stream_that_holds_one(
    of: list[str], output: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["stats", str(CASE), *of, "-o", output, "--lang", "en"]) == 2
    said = capsys.readouterr()
    assert "the standard output holds one table, and several are asked for" in said.err
    assert not said.out


def test_a_table_that_is_named_twice_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["stats", str(CASE), "--of", "gaps", "--of", "gaps", "-q", "-o", "csv:-"]) == 0
    assert capsys.readouterr().out.count("cause") == 1


def test_of_several_tables_a_key_splits_those_that_have_it(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--of", "kernels", "--of", "gaps", "--by", "input_shapes", "-o", "json:-", "-q"]
    assert main(["stats", str(CASE), *words]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [table["keys"] for table in found["tables"]] == [["input_shapes"], ["cause"]]


def test_a_capture_without_the_table_is_said_with_what_to_record(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "ASCEND_PROFILER_OUTPUT"
    output.mkdir()
    rows = "Step,Type,Index,Computing,Communication(Not Overlapped),Free,Stage\n1,rank,0,5,1,2,8\n"
    (output / "step_trace_time.csv").write_text("Step,Computing,Communication(Not Overlapped),Free,Stage\n1,5,1,2,8\n")
    cluster = tmp_path / "cluster_analysis_output"
    cluster.mkdir()
    (cluster / "cluster_step_trace_time.csv").write_text(rows)
    assert main(["stats", str(cluster), "--of", "kernels", "--lang", "en", "-o", str(tmp_path / "k.csv")]) == 3
    said = capsys.readouterr().err
    assert "gives none of these tables: kernels" in said
    assert "record with" in said
    assert not (tmp_path / "k.csv").exists()


def test_frames_are_given_of_a_path_or_of_a_loaded_profile_and_ranks_apart_where_asked() -> None:
    profile = advisor.load_profile(CASE)
    merged, apart = (advisor.stats(profile, "kernels", per_rank=per_rank) for per_rank in (False, True))
    assert advisor.stats(CASE, "kernels").equals(merged)
    assert set(apart["rank"]) == {0, 1}
    assert apart["calls"].sum() == merged["calls"].sum()
    with pytest.raises(UsageError, match="there is no table `kernel`"):
        advisor.stats(profile, "kernel")


def test_modules_are_counted_as_the_command_of_their_own_shows_them(tmp_path: Path) -> None:
    folder = corpus.write(corpus.job("healthy"), tmp_path / "prof", modules=True)
    frame = advisor.stats(folder, "modules")
    told = modules(open_profile(folder))
    found = [
        (rank.rank, node.path, node.kernels, node.total_us, node.own_us, node.step_share)
        for rank in told.ranks
        for node in rank.tree
    ]
    frame["module"] = frame["module"].fillna("")
    counted = frame[["rank", "module", "kernels", "total_us", "own_us", "step_share"]].itertuples(index=False)
    assert {tuple(row) for row in counted} == set(found)
    marks = advisor.stats(folder, "marks", by=["domain"])
    assert marks["calls"].tolist() == [float(sum(rank.ranges for rank in told.ranks))]


def test_both_sides_of_every_pair_of_a_pipeline_are_counted_to_the_last_microsecond(shared: SharedCaptures) -> None:
    folder = shared.written("few-micro-batches")
    pairs = advisor.stats(folder, "p2p")
    calls = advisor.stats(folder, "collectives", by=["op"]).set_index("op")["total_us"]
    waits = pairs["source_wait_us"].sum() + pairs["target_wait_us"].sum()
    assert 2 * pairs["together_us"].sum() + waits == pytest.approx(calls["send"] + calls["receive"])
    assert set(zip(pairs["source"], pairs["target"], strict=True)) >= {(0, 2), (2, 0)}
