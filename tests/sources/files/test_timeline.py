# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from advisor.facts.base import MISSING
from advisor.messages.message import Message
from advisor.sources.files import decoding, timeline
from advisor.sources.files.damage_notes import Notes, Unreadable
from tests.sources.traces import Json, arrow, event, kept, lane, read, thread, write

ODD_NAMES = ("plain", 'a "},{" b', "},{", '{"ph":"X"},{', "中文 «é»", "back\\slash", "[", "]", "\\", '"', "\u2028")


def events() -> st.SearchStrategy[list[Json]]:
    """Events whose texts look like what the reader cuts at."""
    name = st.sampled_from(ODD_NAMES)
    args: st.SearchStrategy[Any] = st.none() | st.fixed_dictionaries(
        {"note": st.lists(st.fixed_dictionaries({"x": name}), max_size=3)}
    )
    ns = st.integers(10**18, 2 * 10**18)
    one = st.builds(
        lambda n, t, d, a: event(n, f"{t // 1000}.{t % 1000:03}", d / 1000, **({} if a is None else {"args": a})),
        name,
        ns,
        st.integers(0, 10**9),
        args,
    )
    return st.lists(one, min_size=1, max_size=12)


def expected(found: list[Json]) -> list[tuple[str, int, int]]:
    starts = [int(e["ts"].replace(".", "")) for e in found]
    return [(e["name"], s, s + round(e["dur"] * 1000)) for e, s in zip(found, starts, strict=True)]


@settings(max_examples=50)
@given(events(), st.integers(1, 400), st.sampled_from([(",", ":"), (", ", ": "), (",\n", ":")]))
def test_chunks_of_any_size_give_the_same_events(
    tmp_path_factory: pytest.TempPathFactory, found: list[Json], chunk: int, separators: tuple[str, str]
) -> None:
    path = tmp_path_factory.mktemp("t") / "trace_view.json"
    path.write_text(json.dumps(found, separators=separators, ensure_ascii=chunk % 2 == 0), encoding="utf-8")
    timeline_, notes = read(path, chunk)
    assert kept(timeline_) == expected(found)
    assert not len(notes)


@settings(max_examples=50)
@given(events(), st.integers(0, 10**6), st.integers(1, 400))
def test_a_file_cut_off_anywhere_keeps_its_whole_events(
    tmp_path_factory: pytest.TempPathFactory, found: list[Json], at: int, chunk: int
) -> None:
    path = tmp_path_factory.mktemp("t") / "trace_view.json"
    parts = [json.dumps(e).encode() for e in found]
    whole = b"[" + b", ".join(parts) + b"]"
    at = 1 + at % (len(whole) - 1)
    path.write_bytes(whole[:at])
    ends = [1 + sum(map(len, parts[: i + 1])) + 2 * i for i in range(len(parts))]
    timeline_, notes = read(path, chunk)
    assert kept(timeline_) == expected(found)[: sum(end <= at for end in ends)]
    assert [note.kind for note in notes.all() if note.kind == "truncated"] == ["truncated"]


@settings(max_examples=50)
@given(
    events(),
    st.integers(1, 10**6),
    st.integers(1, 400),
    st.sampled_from(
        ["[%s]", '{"traceEvents": [%s]}', '{"more": 1, "traceEvents": [%s], "name": "a}{[", "base": {"x": 1}}\n']
    ),
)
def test_a_file_that_begins_again_behind_its_end_is_read_once(
    tmp_path_factory: pytest.TempPathFactory, found: list[Json], length: int, chunk: int, shape: str
) -> None:
    whole = shape % ", ".join(json.dumps(one) for one in found)
    path = tmp_path_factory.mktemp("t") / "trace_view.json"
    path.write_text(whole + whole[: 1 + length % len(whole)], encoding="utf-8")
    timeline_, notes = read(path, chunk)
    assert kept(timeline_) == expected(found)
    assert [(note.what.code, str(note.place), note.rows) for note in notes.all()] == [
        ("begins_again", f"byte {len(whole.encode())}", 0)
    ]


@pytest.mark.parametrize("fill", [b"\0", b"\xfe\x8a7", b'{["'])
@pytest.mark.parametrize("chunk", [500, 1 << 20])
def test_a_hole_in_the_place_of_many_events_is_told_by_how_many_have_room_in_it(
    tmp_path: Path, fill: bytes, chunk: int
) -> None:
    parts = [json.dumps(event(f"kernel {number:04}", f"{number}.000", 1)).encode() for number in range(1000)]
    whole = bytearray(b"[" + b", ".join(parts) + b"]")
    begin, end = len(whole) // 4, len(whole) // 2
    whole[begin:end] = (fill * (end - begin))[: end - begin]
    (tmp_path / "trace_view.json").write_bytes(whole)
    timeline_, notes = read(tmp_path / "trace_view.json", chunk)
    assert len(kept(timeline_)) >= 740
    (lost,) = notes.all()
    assert (lost.kind, lost.what) == ("row", Message("event_no_json"))
    assert lost.rows == pytest.approx(250, abs=10)
    assert lost.share == pytest.approx(0.25, abs=0.01)


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_a_timeline_in_utf_16_is_told_by_its_encoding(tmp_path: Path, encoding: str) -> None:
    path, notes = tmp_path / "trace_view.json", Notes()
    path.write_text(json.dumps([event("a", "1.000", 1)] * 9), encoding=encoding)
    with pytest.raises(Unreadable):
        timeline.read_timeline(path, notes)
    assert [note.what for note in notes.all()] == [Message("is_utf16")]


JUNK = (
    "null",
    "17",
    "[]",
    '"text"',
    "{",
    "}",
    "]",
    "[",
    "garbage",
    '{"ph"',
    '{"ph":"X","name":"unclosed',
    '{"ph":"X","name":null,"ts":"1.000","dur":1}',
    '{"ph":"X","name":"n","ts":"1.000","dur":NaN}',
    '{"ph":"X","name":"n","ts":"1.000","dur":-1}',
    '{"ph":"X","name":"n","ts":"1.000","dur":1e300}',
    '{"ph":"X","name":"n","ts":"1.000"}',
    '{"ph":"X","name":"n","ts":"yesterday","dur":1}',
    '{"ph":"X","name":"n","ts":null,"dur":1}',
    '{"ph":"X","name":"n","ts":-5,"dur":1}',
    '{"ph":"X","name":"n","dur":1}',
    '{"ph":["X"],"name":"n","ts":"1.000","dur":1}',
    '{"ph":"X","name":"n","ts":"1.000","dur":1',
    '{"ph":"X","name":"n","args":{"x":[1,',
    '{"ph":"s","cat":"HostToDevice","name":"h","id":"nothing","ts":"1.000","pid":1,"tid":1}',
)


@settings(max_examples=60)
@given(events(), st.integers(0, 11), st.sampled_from(JUNK), st.integers(1, 400))
def test_junk_in_the_place_of_one_event_loses_only_that_event(
    tmp_path_factory: pytest.TempPathFactory, found: list[Json], place: int, junk: str, chunk: int
) -> None:
    path = tmp_path_factory.mktemp("t") / "trace_view.json"
    place %= len(found)
    parts = [json.dumps(e) for e in found]
    parts[place] = junk
    path.write_text("[" + ", ".join(parts) + "]", encoding="utf-8")
    timeline_, notes = read(path, chunk)
    assert kept(timeline_) == [e for i, e in enumerate(expected(found)) if i != place]
    assert sum(note.rows for note in notes.all()) == 1


def test_damage_says_where_it_begins_and_what_it_is(tmp_path: Path) -> None:
    good = json.dumps(event("a", "1.000"))
    path = tmp_path / "trace_view.json"
    path.write_text(f'[{good}, {{"ph":"X","name":null,"ts":"1.000","dur":1}}, {good}]', encoding="utf-8")
    _, notes = read(path)
    (note,) = notes.all()
    assert note.file == "trace_view.json"
    assert note.place == Message("at_byte", n=1 + len(good) + 2)
    assert note.what == Message("name_is_missing")
    assert note.share == pytest.approx(1 / 3)


def test_half_a_letter_in_a_name_loses_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_bytes(b'[{"ph":"X","name":"\xe4\xb8","ts":"1.000","dur":1},{"ph":"X","name":"b","ts":"2.000","dur":1}]')
    found, _ = read(path)
    assert [name for name, _, _ in kept(found)] == ["\ufffd", "b"]


def test_nesting_without_end_is_damage_not_a_crash(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    deep = '{"ph":"X","name":"deep","ts":"1.000","dur":1,"args":' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}"
    path.write_text(f"[{json.dumps(event('a', '1.000'))},{deep},{json.dumps(event('b', '2.000'))}]", encoding="utf-8")
    found, notes = read(path)
    assert [name for name, _, _ in kept(found) if name != "deep"] == ["a", "b"]
    assert len(notes)


@pytest.mark.parametrize(
    "content", [b"", b"  \n", b"no JSON", b"{}", b'{"traceEvents": 3}', b"\x00\x01\x02", b"<html>"]
)
def test_a_file_without_events_cannot_be_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "trace_view.json"
    path.write_bytes(content)
    notes = Notes()
    with pytest.raises(Unreadable):
        timeline.read_timeline(path, notes)
    assert [note.kind for note in notes.all()] == ["unreadable"]


def test_a_file_that_is_not_there_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(Unreadable):
        timeline.read_timeline(tmp_path / "nothing.json", Notes())


@pytest.mark.parametrize("chunk", [40, 1 << 21])
def test_an_object_around_the_events_is_read_too(tmp_path: Path, chunk: int) -> None:
    path = tmp_path / "trace_view.json"
    wrapped = {
        "schemaVersion": 1,
        "traceEvents": [event("a", "1.000"), event("b", "2.000")],
        "more": [{"x": 1}, {"y": 2}],
    }
    path.write_text(json.dumps(wrapped), encoding="utf-8")
    found, notes = read(path, chunk)
    assert [name for name, _, _ in kept(found)] == ["a", "b"]
    assert not len(notes)


def test_times_written_as_numbers_keep_their_digits(tmp_path: Path) -> None:
    path = tmp_path / "trace_view.json"
    path.write_text(
        '[{"ph":"X","name":"a","ts":1736412474712651.503,"dur":1},{"ph":"M","name":"process_name","pid":1}]'
    )
    found, _ = read(path)
    assert found.slices.start_ns.tolist() == [1736412474712651503]


def test_ids_beyond_64_bits_stay_apart(tmp_path: Path) -> None:
    low, high = 5, 5 + (1 << 80)
    found, _ = read(
        write(
            tmp_path / "t.json",
            [*arrow(low, (1, 1, "1.000"), (2, 2, "2.000")), *arrow(high, (1, 1, "3.000"), (2, 2, "4.000"))],
        )
    )
    halves = list(zip(found.links.high.tolist(), found.links.low.tolist(), strict=True))
    assert len(set(halves)) == 2
    assert {(h << 63) + low for h, low in halves} == {low, high}


def test_lanes_and_threads_are_named_wherever_their_names_stand(tmp_path: Path) -> None:
    found, _ = read(
        write(
            tmp_path / "t.json",
            [event("k", "1.000", pid=7, tid=2), lane(7, "Ascend Hardware"), thread(7, 2, "Stream 2")],
        )
    )
    track = found.slices.track[0]
    assert found.tracks.process.values()[track] == "Ascend Hardware"
    assert found.tracks.thread.values()[track] == "Stream 2"
    assert found.tracks.number[track] == 2


def test_arguments_that_are_not_there_are_missing_not_zero(tmp_path: Path) -> None:
    found, _ = read(write(tmp_path / "t.json", [event("k", "1.000", args={"connection_id": "x", "Task Type": None})]))
    assert found.slices.link.tolist() == [MISSING]
    task_type, stream = found.tasks.of(np.array([0]))
    assert task_type.values() == [None]
    assert stream.tolist() == [MISSING]


def test_several_processes_find_what_one_finds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [event(ODD_NAMES[i % len(ODD_NAMES)], f"{i}.125", tid=i % 3) for i in range(300)]
    parts = [json.dumps(e) for e in found]
    parts[100] = "{broken"
    path = tmp_path / "t.json"
    path.write_text("[" + ",".join(parts) + "]", encoding="utf-8")
    alone, together = Notes(), Notes()
    one = timeline.read_timeline(path, alone, chunk=500)
    monkeypatch.setattr(decoding, "PARALLEL_FROM", 0)
    two = timeline.read_timeline(path, together, jobs=2, chunk=500)
    assert kept(one) == kept(two)
    assert alone.all() == together.all()


def _die(*_: object) -> None:
    os._exit(1)


def test_a_process_that_is_killed_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [event("a", f"{i}.125") for i in range(300)]
    path = write(tmp_path / "t.json", found)
    monkeypatch.setattr(decoding, "PARALLEL_FROM", 0)
    monkeypatch.setattr(decoding, "_decode_span", _die)
    notes = Notes()
    assert kept(timeline.read_timeline(path, notes, jobs=2, chunk=500)) == kept(read(path)[0])
    assert not len(notes)


def test_what_the_exporter_summed_up_itself_is_left_out(tmp_path: Path) -> None:
    trace = [event("Free", "1.000"), event("Free", "2.000", cat="cpu_op")]
    found, _ = read(write(tmp_path / "t.json", trace))
    assert kept(found) == [("Free", 2_000, 3_000)]
