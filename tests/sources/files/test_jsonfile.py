# SPDX-License-Identifier: Apache-2.0
"""Whole JSON files: what is there is given, wrong types are nothing, no file raises anything but Unreadable."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.sources.files import jsonfile
from advisor.sources.files.damage_notes import Notes, Unreadable

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)

SIGNS = ["", " ", ",", "]", "0", ".", "e9", "\t", "\ufeff", "-"]


def load(path: Path, content: bytes) -> object:
    path.write_bytes(content)
    return jsonfile.load_json(path, Notes())


def test_nan_and_infinity_are_accepted(tmp_path: Path) -> None:
    assert load(tmp_path / "a.json", b'{"a": NaN, "b": -Infinity, "c": 1}') is not None


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_file_that_an_editor_saved_in_utf_16_is_read(tmp_path: Path, encoding: str) -> None:
    assert load(tmp_path / "a.json", '{"step": {"算子": 1}}'.encode(encoding)) == {"step": {"算子": 1}}


@pytest.mark.parametrize(
    "content", [b"", b" \n", b"\0\0\0", b"{", b'{"a": 1', b"[" * 200_000, b"\xff\xfe", b"9" * 9000]
)
def test_what_is_no_json_is_unreadable_and_noted(tmp_path: Path, content: bytes) -> None:
    path, notes = tmp_path / "a.json", Notes()
    path.write_bytes(content)
    with pytest.raises(Unreadable):
        jsonfile.load_json(path, notes)
    assert [(note.file, note.kind) for note in notes.all()] == [("a.json", "unreadable")]


def test_a_file_whose_end_was_never_written_says_so_in_words_of_no_parser(tmp_path: Path) -> None:
    path, notes = tmp_path / "communication.json", Notes()
    path.write_bytes(b'{"step1": {"collective": {' + bytes(64))
    with pytest.raises(Unreadable):
        jsonfile.load_json(path, notes)
    (note,) = notes.all()
    assert str(note.what) == "ends in zero bytes, for it was not written to its end"


def test_half_a_surrogate_pair_can_still_be_written(tmp_path: Path) -> None:
    found = load(tmp_path / "a.json", b'{"\\ud800": ["x\\udfff", "\\ud83d\\ude00"]}')
    assert "\U0001f600" in repr(found).encode("utf-8").decode()


@given(VALUES, st.booleans(), st.data())
@settings(max_examples=400)
def test_bytes_say_what_the_same_text_says_whatever_is_wrong_with_it(
    value: object, ascii_only: bool, data: st.DataObject
) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only)
    if data.draw(st.booleans()):
        at = data.draw(st.integers(0, len(text)))
        text = (
            text[:at]
            + data.draw(st.sampled_from(["", " ", ",", "]", "0", ".", "e9", "\t", "\ufeff", "-"]))
            + text[at + 1 :]
        )
    raw = text.encode("utf-8", "replace")

    def said(given: bytes | str) -> str:
        try:
            return repr(jsonfile.parse_json(given))
        except ValueError:
            return "no JSON"

    assert said(raw) == said(raw.decode("utf-8-sig"))


@given(VALUES)
@settings(max_examples=60)
def test_ways_into_a_value_never_raise(value: object) -> None:
    assert isinstance(jsonfile.as_mapping(value), dict)
    assert isinstance(jsonfile.as_text(value), str)
    assert jsonfile.as_flag(value) in (True, False, None)
    assert all(isinstance(item, int) for item in jsonfile.as_integers(value))
    number = jsonfile.as_number(value)
    assert math.isnan(number) or math.isfinite(number)
    whole = jsonfile.as_integer(value)
    assert whole is None or -(1 << 63) < whole < 1 << 63


@given(st.integers(-(1 << 63) + 1, (1 << 63) - 1))
def test_whole_numbers_are_exact(value: int) -> None:
    assert jsonfile.as_integer(value) == value
    assert jsonfile.as_integer(str(value)) == value
