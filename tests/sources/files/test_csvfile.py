# SPDX-License-Identifier: Apache-2.0
"""Text tables: headings by meaning, exact numbers, damage counted and placed."""

from __future__ import annotations

import csv
import gzip
import io
import re
import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.facts.base import LARGEST, MISSING, Column
from advisor.facts.observed import OperatorMemory
from advisor.facts.table import Values
from advisor.messages.message import Message
from advisor.sources.files import csvfile
from advisor.sources.files.cells import exact_ns, parse_integers, read_floats, trim_cells, within_bounds
from advisor.sources.files.damage_notes import Note, Notes, Unreadable

HEADINGS = {
    "name": ("Name",),
    "size_bytes": ("Size",),
    "allocated_ns": ("Allocation Time",),
    "released_ns": ("Release Time", "End"),
}


def read(path: Path, content: bytes | str, *required: str) -> tuple[dict[str, Values], tuple[Note, ...]]:
    """The columns of a file with this content, and what was wrong with it."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    notes = Notes()
    columns = csvfile.read_columns(path, OperatorMemory.columns(), HEADINGS, notes, required)
    return columns, notes.all()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "operator_memory.csv"


def test_units_in_headings_convert(file: Path) -> None:
    for unit, factor in (("KB", 1024), ("MB", 1024**2), ("B", 1), ("GB", 1024**3)):
        columns, notes = read(file, f"Name,Size({unit})\nx,1.5\n")
        assert columns["size_bytes"].tolist() == [1.5 * factor]  # type: ignore[union-attr]
        assert not notes


def test_headings_are_found_in_any_case_and_spacing(file: Path) -> None:
    columns, _ = read(file, "\ufeff NAME ,SIZE  (kb), allocation   time(US)\nx,1,2\n")
    assert sorted(columns) == ["allocated_ns", "name", "size_bytes"]
    assert columns["allocated_ns"].tolist() == [2000]  # type: ignore[union-attr]


@pytest.mark.parametrize(("mark", "called"), [(";", ";"), ("\t", "TAB"), ("|", "|")])
def test_a_table_whose_columns_something_else_than_a_comma_separates_is_told_by_that_alone(
    file: Path, mark: str, called: str
) -> None:
    notes = Notes()
    file.write_text(f"Name{mark}Size(KB)\nx{mark}1,5\n", "utf-8")
    with pytest.raises(Unreadable):
        csvfile.read_columns(file, OperatorMemory.columns(), HEADINGS, notes)
    assert [note.what for note in notes.all()] == [Message("columns_separated_by", mark=called)]


def test_a_packed_table_is_told_by_that_alone_whatever_marks_its_bytes_hold(file: Path) -> None:
    notes = Notes()
    file.write_bytes(gzip.compress(b"Name,Size(KB)\nx,1\n") + b";a;b\n")
    with pytest.raises(Unreadable):
        csvfile.read_columns(file, OperatorMemory.columns(), HEADINGS, notes)
    assert [note.what for note in notes.all()] == [Message("is_packed")]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_table_that_a_spreadsheet_saved_in_utf_16_is_read(file: Path, encoding: str) -> None:
    notes = Notes()
    file.write_bytes("Name,Size(KB)\n算子,1.5\nx,2\n".encode(encoding))
    columns = csvfile.read_columns(file, OperatorMemory.columns(), HEADINGS, notes)
    assert columns["size_bytes"].tolist() == [1536, 2048]  # type: ignore[union-attr]
    assert not notes.all()


def test_a_table_in_utf_16_that_is_cut_inside_a_character_keeps_the_rows_before(file: Path) -> None:
    notes = Notes()
    file.write_bytes("Name,Size(KB)\nx,1\ny,2\n".encode("utf-16")[:-1])
    columns = csvfile.read_columns(file, OperatorMemory.columns(), HEADINGS, notes)
    assert columns["size_bytes"].tolist()[0] == 1024  # type: ignore[union-attr]


def test_a_table_in_utf_16_too_long_to_turn_over_is_told_by_its_encoding_alone(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csvfile, "LONGEST_UTF16", 8)
    notes = Notes()
    file.write_bytes("Name,Size(KB)\nx,1.5\n".encode("utf-16"))
    with pytest.raises(Unreadable):
        csvfile.read_columns(file, OperatorMemory.columns(), HEADINGS, notes)
    assert [note.what for note in notes.all()] == [Message("is_utf16")]


@pytest.mark.parametrize("zeros", [120, 121, 3_000_000])
def test_a_table_that_ends_in_zeros_is_cut_short_and_keeps_the_rows_before(file: Path, zeros: int) -> None:
    """So a file system leaves it that lost its power: as long as it was to be, and empty from some row on."""
    columns, notes = read(file, b"Name,Size(KB)\nx,1\ny,2\nz" + b"\0" * zeros, "name")
    assert columns["size_bytes"].tolist() == [1024, 2048]  # type: ignore[union-attr]
    assert [(note.place, note.what) for note in notes] == [(Message("at_row", n=4), Message("ends_early"))]


@pytest.mark.parametrize("zeros", [1_000, 20_000, 40_000_000])
@pytest.mark.parametrize("edge", [-3, -1, 0, 2])
def test_rows_in_whose_place_a_table_holds_zeros_are_counted_by_the_bytes_they_took(
    file: Path, zeros: int, edge: int
) -> None:
    """Both halves of the rows at the edges are left out, and never joined to one; all others are read."""
    row = b"x,1234567\n"
    head, tail = row * 2_000, row * 2_000
    columns, notes = read(file, b"Name,Size(KB)\n" + head[: len(head) + edge] + bytes(zeros) + tail[3:], "name")
    sizes = columns["size_bytes"]
    assert isinstance(sizes, np.ndarray)
    known = sizes[~np.isnan(sizes)]
    assert set(known.tolist()) == {1234567 * 1024}
    assert 3_997 <= len(known) <= 3_999
    (lost,) = [note for note in notes if note.what == Message("zeros_within")]
    assert lost.share == pytest.approx(zeros / file.stat().st_size)
    assert lost.rows == pytest.approx(zeros / len(row), rel=0.01)


def test_single_zeros_in_a_name_are_no_damage(file: Path) -> None:
    _, notes = read(file, b"Name,Size(KB)\nx\0\0\0,1\ny,2\n", "name")
    assert notes == ()


@pytest.mark.parametrize("rows", [0, 1, 300_000])
@pytest.mark.parametrize("ended", [True, False])
def test_lines_that_end_as_in_old_programs_are_read(file: Path, rows: int, ended: bool) -> None:
    text = "\r".join(["Name,Size(KB)", *["x,2"] * rows]) + "\r" * ended
    columns, notes = read(file, text, "name")
    assert columns["size_bytes"].tolist() == [2048] * rows  # type: ignore[union-attr]
    assert notes == ()


def test_a_number_that_is_too_large_has_not_lost_its_last_digits(file: Path) -> None:
    _, notes = read(file, "Name,Size(KB),Allocation Time(us)\nx,1E+300,1000\ny,1.5E+20,1E+300\n")
    assert {note.what.code for note in notes} == {"no_usable_number"}


@pytest.mark.parametrize("columns", [1, 8_000, 30_000])
def test_headings_may_be_as_long_as_a_large_model_makes_them(file: Path, columns: int) -> None:
    names = [f"stream_48_{number}_AllReduce-op{number}_start" for number in range(columns)]
    file.write_text(f"{','.join(['step_num', *names][: 1 + columns])}\n{','.join(['7', *'0' * columns])}\n")
    notes = Notes()
    if file.stat().st_size < csvfile.BLOCK_BYTES:
        assert csvfile.spellings_of(file, notes)[-1] == names[-1]
        assert not notes.all()
        return
    with pytest.raises(Unreadable):
        csvfile.spellings_of(file, notes)
    (note,) = notes.all()
    assert note.what == Message("headings_without_end", longest="1 MiB")


def test_brackets_that_are_no_unit_belong_to_the_name() -> None:
    found = csvfile.parse_heading("Communication(Not Overlapped)")
    assert (found.name, found.unit) == ("communication(not overlapped)", "")


@pytest.mark.parametrize("micro", ["u", "\N{MICRO SIGN}", "\N{GREEK SMALL LETTER MU}"])
def test_microseconds_may_be_spelt_with_their_sign(micro: str, file: Path) -> None:
    columns, _ = read(file, f"Name,End({micro}s)\nx,3\n")
    assert columns["released_ns"].tolist() == [3000]  # type: ignore[union-attr]


def test_a_later_spelling_is_used_when_the_first_is_absent(file: Path) -> None:
    columns, _ = read(file, "Name,End(us)\nx,3\n")
    assert columns["released_ns"].tolist() == [3000]  # type: ignore[union-attr]


def test_of_two_equal_headings_the_first_counts(file: Path) -> None:
    columns, _ = read(file, "Name,Size(KB),Size(KB)\nx,1,2\n")
    assert columns["size_bytes"].tolist() == [1024]  # type: ignore[union-attr]


def test_absolute_times_keep_every_nanosecond(file: Path) -> None:
    columns, _ = read(file, "Name,Allocation Time(us)\nx,1736405443756384.123\t\n")
    assert columns["allocated_ns"].tolist() == [1736405443756384123]  # type: ignore[union-attr]


def test_not_collected_is_missing_and_no_damage(file: Path) -> None:
    columns, notes = read(file, "Name,Size(KB),Allocation Time(us)\nN/A,N/A,\n,nan,N/A\n")
    assert columns["name"].values() == [None, None]  # type: ignore[union-attr]
    assert np.isnan(columns["size_bytes"]).all()  # type: ignore[arg-type]
    assert columns["allocated_ns"].tolist() == [MISSING, MISSING]  # type: ignore[union-attr]
    assert not notes


def test_cells_of_several_lines_and_inner_quotes_are_one_cell(file: Path) -> None:
    columns, notes = read(file, 'Name,Size(KB)\r\n"a;\r\nb",1\r\n"""32,3""",2\r\n')
    assert columns["name"].values() == ["a;\r\nb", '"32,3"']  # type: ignore[union-attr]
    assert not notes


@pytest.mark.parametrize("cell", ["-5", "inf", "1e999", "x", "1,5x", "\0", "--1", "1.2.3", "0x10"])
def test_an_impossible_size_is_missing_counted_and_placed(file: Path, cell: str) -> None:
    columns, notes = read(file, f'Name,Size(KB)\na,1\nb,"{cell}"\nc,3\n')
    assert columns["size_bytes"].tolist()[::2] == [1024, 3072]  # type: ignore[union-attr]
    assert np.isnan(columns["size_bytes"][1])  # type: ignore[index]
    assert [(note.place, note.rows, note.share) for note in notes] == [(Message("at_row", n=3), 1, 1 / 3)]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("cell", ["1,234.5", "1,234", "-1,5", "1.234,5", "1,736,412,474,730,135.250"])
@pytest.mark.parametrize("column", ["Size(KB)", "Allocation Time(us)"])
def test_of_numbers_with_commas_it_is_said_what_keeps_them_from_being_read(column: str, cell: str, file: Path) -> None:
    _, notes = read(file, f'Name,{column}\nx,"{cell}"\ny,oops\n')
    assert {note.what.code: (str(note.place), note.rows) for note in notes} == {
        "number_with_comma": ("row 2", 1),
        "no_usable_number": ("row 3", 1),
    }


def test_a_size_that_its_unit_makes_too_large_for_any_number_warns_nobody(file: Path) -> None:
    columns, (note,) = read(file, "Name,Size(KB)\na,1e308\nb,2\n")
    np.testing.assert_array_equal(columns["size_bytes"], [np.nan, 2048])
    assert note.place == Message("at_row", n=2)


def test_rows_with_too_few_or_too_many_cells_are_left_out_counted_and_placed(file: Path) -> None:
    columns, notes = read(file, "Name,Size(KB)\na,1\nb\nc,3\nd,4,5\n")
    assert columns["name"].values() == ["a", "c"]  # type: ignore[union-attr]
    assert [(note.place, note.rows, note.share) for note in notes] == [(Message("at_row", n=3), 2, 0.5)]


def test_places_count_the_rows_that_were_left_out(file: Path) -> None:
    _, notes = read(file, "Name,Size(KB)\na\nb\nc,x\n")
    assert [note.place for note in notes if "Size" in str(note.what)] == [Message("at_row", n=4)]


def test_rows_without_a_required_value_are_left_out_and_counted(file: Path) -> None:
    columns, notes = read(file, "Name,Size(KB)\na,\nb,2\n", "size_bytes")
    assert columns["name"].values() == ["b"]  # type: ignore[union-attr]
    assert [(note.place, note.rows) for note in notes] == [(Message("at_row", n=2), 1)]


def test_a_row_that_is_left_out_counts_once_whatever_else_it_holds(file: Path) -> None:
    heading = "Name,Size(KB),Allocation Time(us),Release Time(us)"
    columns, notes = read(file, f"{heading}\na,1,2,3\n{heading}\nb,x,5,y\nc,6,z,8\n", "allocated_ns", "released_ns")
    assert columns["name"].values() == ["a"]  # type: ignore[union-attr]
    assert [(note.what.values[0][1], note.rows, note.share) for note in notes] == [
        ("Allocation Time(us)", 2, 0.5),
        ("Release Time(us)", 1, 0.25),
    ]


def test_a_file_without_a_required_column_is_unreadable(file: Path) -> None:
    with pytest.raises(Unreadable, match="has no column `Size`"):
        read(file, "Name\na\n", "size_bytes")


@pytest.mark.parametrize("content", [b"", b"\n", b"\xef\xbb\xbf"])
def test_an_empty_file_is_unreadable(file: Path, content: bytes) -> None:
    with pytest.raises(Unreadable, match="is empty"):
        read(file, content)


def test_a_folder_in_the_place_of_a_file_is_unreadable(tmp_path: Path) -> None:
    notes = Notes()
    with pytest.raises(Unreadable):
        csvfile.read_columns(tmp_path, OperatorMemory.columns(), HEADINGS, notes)
    assert [note.kind for note in notes.all()] == ["unreadable"]


@pytest.mark.parametrize("content", [b"Name,Size(KB)", b"Name,Size(KB)\n", b"Name,Size(KB)\r\n"])
def test_headings_alone_are_a_table_without_rows(file: Path, content: bytes) -> None:
    columns, notes = read(file, content)
    assert {name: len(values) for name, values in columns.items()} == {"name": 0, "size_bytes": 0}
    assert not notes


def test_a_quote_that_is_never_closed_is_told(file: Path) -> None:
    _, notes = read(file, 'Name,Size(KB)\na,1\nb,"2\nc,3\n')
    assert "truncated" in {note.kind for note in notes}


def with_long_cell(lines: int) -> str:
    return "Name,Size(KB)\n" + "a,1\n" * 3000 + '"' + "x\n" * lines + '",2\nc,3\n'


def test_a_cell_longer_than_a_block_is_read(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csvfile, "BLOCK_BYTES", 1024)
    columns, notes = read(file, with_long_cell(5000))
    assert len(columns["name"]) == 3002
    assert not notes


def test_a_cell_without_end_ends_the_reading_not_the_run(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(csvfile, "BLOCK_BYTES", 1024)
    columns, notes = read(file, with_long_cell(50_000))
    assert 1000 < len(columns["name"]) <= 3000
    assert [note.kind for note in notes] == ["truncated"]


def test_names_in_other_encodings_are_read(file: Path) -> None:
    columns, notes = read(file, b"Name,Size(KB)\n" + "算子".encode("gbk") + b",1\n\xff\xfe\xfd,2\n")
    assert columns["name"].values()[0] == "算子"  # type: ignore[union-attr]
    assert len(columns["name"]) == 2
    assert not notes


def test_numbers_written_by_other_tools_are_read(file: Path) -> None:
    columns, _ = read(file, "Name,Size(KB),Allocation Time(us)\nx,1e3,1.736412474730135e15\n")
    assert columns["size_bytes"].tolist() == [1024e3]  # type: ignore[union-attr]
    assert columns["allocated_ns"].tolist() == [1736412474730135000]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    "text", ["nan", "inf", "-inf", "1e99999999", "9223372036854776", "x", "", "1.73641E+15", "1.736412474730e+15"]
)
def test_no_text_is_too_strange_for_an_exact_time(text: str) -> None:
    assert exact_ns(text) is None


def test_a_time_that_a_spreadsheet_rounded_is_called_that(file: Path) -> None:
    columns, notes = read(file, "Name,Allocation Time(us)\nx,1.73641E+15\ny,2\n")
    assert columns["allocated_ns"].tolist() == [MISSING, 2000]  # type: ignore[union-attr]
    assert [note.what.code for note in notes] == ["number_rounded"]


@pytest.mark.parametrize("cell", ["9999999999999999999", "9223372036854776", "18446744073709551.616"])
def test_times_beyond_64_bits_are_damage_not_another_time(file: Path, cell: str) -> None:
    columns, notes = read(file, f"Name,Allocation Time(us)\nx,{cell}\ny,2\n")
    assert columns["allocated_ns"].tolist() == [MISSING, 2000]  # type: ignore[union-attr]
    assert [note.place for note in notes] == [Message("at_row", n=2)]


@pytest.mark.parametrize("unit", ["ns", "ms", "s"])
def test_times_in_other_units_are_exact_too(file: Path, unit: str) -> None:
    whole = {"ns": "1736405443756384123", "ms": "1736405443756.384123", "s": "1736405443.756384123"}[unit]
    columns, _ = read(file, f"Name,Allocation Time({unit})\nx,{whole}\t\ny,\n")
    assert columns["allocated_ns"].tolist() == [1736405443756384123, MISSING]  # type: ignore[union-attr]


def test_a_time_below_zero_is_not_known() -> None:
    assert exact_ns("-1") == MISSING


@given(st.lists(st.decimals(0, 8999999999999999, places=3), min_size=1, max_size=20))
@settings(max_examples=50)
def test_times_equal_their_decimal_text(tmp_path_factory: pytest.TempPathFactory, times: list[Decimal]) -> None:
    rows = "".join(f"x,{time:f}\t\n" for time in times)
    columns, notes = read(tmp_path_factory.mktemp("t") / "f.csv", "Name,Allocation Time(us)\n" + rows)
    assert columns["allocated_ns"].tolist() == [int(time * 1000) for time in times]  # type: ignore[union-attr]
    assert not notes


_CELL = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), max_size=12)


@given(st.lists(st.tuples(_CELL, _CELL), max_size=12))
@settings(max_examples=60)
def test_rows_are_those_of_a_plain_csv_reader(
    tmp_path_factory: pytest.TempPathFactory, rows: list[tuple[str, str]]
) -> None:
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerow(["Name", "Size(KB)"])
    writer.writerows(rows)
    columns, _ = read(tmp_path_factory.mktemp("t") / "f.csv", out.getvalue())
    expected = [name.strip() for name, _ in rows]
    found = [name or "" for name in columns["name"].values()]  # type: ignore[union-attr]
    nothing = {"", "N/A", "n/a", "NA", "None", "null"}
    assert found == ["" if name in nothing else name for name in expected]


@given(st.binary(max_size=300))
@settings(max_examples=60)
def test_no_bytes_raise_anything_but_unreadable(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("t") / "f.csv"
    try:
        read(path, b"Name,Size(KB),Allocation Time(us)\n" + content)
        read(path, content)
    except Unreadable as wrong:
        assert wrong.file == "f.csv"


def test_reading_does_not_import_pandas(file: Path) -> None:
    file.write_text("Name,Size(KB),Allocation Time(us)\nx,1,2\nx,N/A,\nx,,N/A\nx,y,3.1234\n")
    code = (
        "import sys; from pathlib import Path; from advisor.sources.files import csvfile\n"
        "from advisor.sources.files.damage_notes import Notes; from advisor.facts.observed import OperatorMemory\n"
        f"csvfile.read_columns(Path({str(file)!r}), OperatorMemory.columns(), {HEADINGS!r}, Notes())\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


some_cells = st.lists(
    st.builds(
        lambda before, cell, after: before + cell + after,
        st.sampled_from(["", " ", "\t", "\r "]),
        st.one_of(
            st.from_regex(r"[+-]?[0-9]{1,20}(\.0{0,2})?", fullmatch=True),
            st.floats(allow_nan=False, allow_infinity=False).map(str),
            st.sampled_from(["", "N/A", "nan", "0x1F", "-0x2", "0X9", "1_0", "1 2", "٣", "1e3", "--1", "5.5", "inf"]),
        ),
        st.sampled_from(["", " ", "\t"]),
    ),
    max_size=6,
)
WHOLE = re.compile(r"[+-]?[0-9]{1,18}(\.0*)?", re.ASCII)
NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", re.ASCII)


@given(some_cells)
def test_cells_are_read_as_one_by_one_however_many_are_right_at_once(cells: list[str]) -> None:
    text = trim_cells(pa.array([cell.encode() for cell in cells], pa.binary()))
    plain = [cell.strip() for cell in cells]
    whole = [int(cell.split(".")[0]) if WHOLE.fullmatch(cell) else None for cell in plain]
    number = [float(cell) if NUMBER.fullmatch(cell) and abs(float(cell)) < LARGEST else None for cell in plain]
    for (values, good), wanted in (
        (parse_integers(text), whole),
        (within_bounds(*read_floats(text), 1.0, signed=True, largest=LARGEST), number),
    ):
        assert [value if right else None for value, right in zip(values.tolist(), good, strict=True)] == wanted


COLUMNS = {
    "length_us": Column("", "float", "us"),
    "share": Column("", "float", "share"),
    "rank": Column("", "int"),
    "size_bytes": Column("", "float", "B"),
    "flag": Column("", "flag"),
    "moment_ns": Column("", "int", "ns"),
    "name": Column("", "text"),
}
_ODD = ("", "N/A", "n/a", " 1", "2\t", "-3", "+3", "1.50", "7.0", "1e3", "1,5", "1.7E+15", "x", "9" * 20)
_HEADINGS = "Length(us),Share,Rank,Size(KB),Flag,Moment(us),Name"


@given(st.lists(st.lists(st.sampled_from(_ODD) | st.just("4"), min_size=7, max_size=7), max_size=8), st.booleans())
def test_columns_say_the_same_and_lose_the_same_whether_they_are_parsed_together_or_one_by_one(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]], required: bool
) -> None:
    path = tmp_path_factory.mktemp("t") / "f.csv"
    path.write_text("\n".join([_HEADINGS, *(",".join(f'"{cell}"' for cell in row) for row in rows)]) + "\n")
    headings = {name: (name.split("_")[0],) for name in COLUMNS}
    found = []
    for at_once in (0, 1 << 14):
        notes = Notes()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(csvfile, "_AT_ONCE", at_once)
            columns = csvfile.read_columns(path, COLUMNS, headings, notes, ["rank"] if required else [])
        values = {name: [str(value) for value in column.tolist()] for name, column in columns.items() if name != "name"}
        found.append((values, [*columns["name"].values()], notes.all()))  # type: ignore[union-attr]
    assert found[0] == found[1]


@pytest.mark.parametrize("length", [3, 4_060, 4_100, 100_000])
def test_headings_of_any_length_are_found_whole(file: Path, length: int) -> None:
    columns, notes = read(file, f'Name,"a {"b" * length}\n c",Size(KB)\nx,,2\n')
    assert columns["size_bytes"].tolist() == [2048]  # type: ignore[union-attr]
    assert not notes


@pytest.mark.parametrize(("end", "kind"), [("y,2", "truncated"), ("y,2\n", "rows"), ("y\nz,3,4", "rows")])
def test_a_last_row_without_its_end_is_that_of_a_file_cut_short(end: str, kind: str, file: Path) -> None:
    """Not so one that is uneven and ends, nor one with all its cells."""
    whole = "Name,Size(B),Allocation Time(us)\nx,1,2\n"
    columns, notes = read(file, whole + end)
    kinds = {note.kind for note in notes}
    assert ("truncated" in kinds) == (kind == "truncated")
    assert notes and columns["size_bytes"].tolist()[0] == 1  # type: ignore[union-attr]
