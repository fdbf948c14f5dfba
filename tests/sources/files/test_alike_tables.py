# SPDX-License-Identifier: Apache-2.0
"""Text tables that are parsed as one hold what each of them holds by itself."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.facts.observed import OperatorMemory
from advisor.facts.table import Texts, Values
from advisor.sources.files import csvfile
from advisor.sources.files.alike_tables import read_alike
from advisor.sources.files.damage_notes import Notes, Unreadable

HEADINGS = {
    "name": ("Name",),
    "size_bytes": ("Size",),
    "allocated_ns": ("Allocation Time",),
    "released_ns": ("Release Time",),
}
HEADING = b"Name,Size(KB),Allocation Time(us),Release Time(us),Device\n"
_PLAIN = [b"a,1.5,10.5,20,NPU:0", b"b,2,11.250,N/A,NPU:0", b'"c,1",,12,,x', b"a,0.25,1700000000000000.125,3,x"]
_ODD = [
    *(b"a,x,1,2,y", b"a,1,N/A,2,y", b"a,1,2", b"", b'"a\nb",1,2,3,y', b'"a,1,2,3,y', b'a"b,1,2,3,"y', b"a\rb,1,2,3,y"),
    *(
        b"\xd2\xbb,1,2,3,y",
        b"\xe7\xae\x97,1,2,3,y",
        b" a ,+1, 2,3,y",
        b"None,1e3,2.0005,3,y",
        b"a,1,2,3,\0",
        b"N/A,,1,,",
    ),
]
LINES = st.lists(st.sampled_from(_PLAIN) | st.sampled_from(_ODD), max_size=5)
ENDS = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b""])
FILE = st.tuples(st.sampled_from([HEADING, HEADING, b"Name,Size(MB),Allocation Time(us)\n", b""]), LINES, ENDS)


def _content(heading: bytes, lines: list[bytes], end: bytes) -> bytes:
    return heading + (b"\n" if end != b"\r\n" else end).join(lines) + end


def _alone(path: Path, required: tuple[str, ...]) -> dict[str, Values] | None:
    """The columns of a file in which nothing is wrong; None of others."""
    notes = Notes()
    try:
        found = csvfile.read_columns(path, OperatorMemory.columns(), HEADINGS, notes, required)
    except Unreadable:
        return None
    return None if len(notes) else found


def _plainly(found: dict[str, Values]) -> dict[str, tuple[object, ...]]:
    return {
        name: (one.codes.dtype, one.codes.tolist(), one.names)
        if isinstance(one, Texts)
        else (one.dtype, np.nan_to_num(one, nan=-7.0).tolist())
        for name, one in found.items()
    }


def _written(folder: Path, contents: list[bytes]) -> list[Path]:
    paths = [folder / str(number) for number in range(len(contents))]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    return paths


@given(st.lists(FILE, min_size=1, max_size=5), st.sampled_from([(), ("name", "allocated_ns")]))
@settings(max_examples=300)
def test_what_is_read_of_several_at_once_is_what_each_gives_by_itself(
    files: list[tuple[bytes, list[bytes], bytes]], required: tuple[str, ...]
) -> None:
    with TemporaryDirectory() as folder:
        paths = _written(Path(folder), [_content(*one) for one in files])
        together = read_alike(paths, OperatorMemory.columns(), HEADINGS, required)
        alone = [_alone(path, required) for path in paths]
    assert len(together) == len(paths)
    for several, one in zip(together, alone, strict=True):
        if several is not None:
            assert one is not None, "what is damaged is left to whoever tells the damage"
            assert _plainly(several) == _plainly(one)


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_whole_files_with_equal_headings_are_read_at_once_whatever_lies_between(tmp_path: Path, end: bytes) -> None:
    whole, cut = _content(HEADING, _PLAIN, end), _content(HEADING, _PLAIN, b"")
    paths = [*_written(tmp_path, [whole, cut, b"", whole]), tmp_path / "gone"]
    found = read_alike(paths, OperatorMemory.columns(), HEADINGS, ("name",))
    assert [part is not None for part in found] == [True, False, False, True, False]


def test_one_damaged_file_is_left_with_those_it_was_read_with(tmp_path: Path) -> None:
    whole, damaged = _content(HEADING, _PLAIN, b"\n"), _content(HEADING, [b"a,x,1,2,y"], b"\n")
    assert read_alike(_written(tmp_path, [whole, damaged]), OperatorMemory.columns(), HEADINGS) == [None, None]


def test_files_that_are_long_together_are_read_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    content = _content(HEADING, _PLAIN, b"\n")
    monkeypatch.setattr("advisor.sources.files.alike_tables._TOGETHER_BYTES", 2 * len(content))
    paths = _written(tmp_path, [content] * 5)
    found = read_alike(paths, OperatorMemory.columns(), HEADINGS)
    assert [part is not None for part in found] == [True, True, True, True, False], "the last one is alone"
    alone = _alone(paths[0], ())
    assert alone is not None
    assert all(_plainly(part) == _plainly(alone) for part in found if part is not None)
