# SPDX-License-Identifier: Apache-2.0
"""Marks of calls of attention, from the timeline and from the database, and marks that say nothing of use."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from advisor.messages.errors import FactMissing
from advisor.sources.ascend.attention_marks import ATTENTION_MARKS
from advisor.sources.ascend.program_marks import PROGRAM_MARKS
from tests.sources.ascend.test_module_marks import database
from tests.sources.traces import Json, captured, event, lane, of

DOMAIN = "flash_attn_args"
PACKED = json.dumps(
    {"input_layout": "TND", "sparse_mode": 3, "actual_seq_qlen": [100, 300, 0, 0], "actual_seq_kvlen": [100, 300]}
)
PLAIN = json.dumps({"input_layout": "SBH", "sparse_mode": 0, "actual_seq_qlen": [], "actual_seq_kvlen": []})
WINDOW = json.dumps({"input_layout": None, "sparse_mode": 4, "pre_tockens": 1024, "next_tockens": 0})
PREFIXED = json.dumps({"input_layout": "BSH", "sparse_mode": 6, "prefix": [512, 0]})
CAUSAL, WHOLE = json.dumps({"is_causal": True}), json.dumps({"is_causal": False})
GOOD = [PACKED, PLAIN, WINDOW, PREFIXED, CAUSAL, WHOLE]
BAD = [
    PACKED[:60],
    "",
    "null",
    "[1]",
    "{}",
    '{"is_causal": 1}',
    '{"input_layout": "HSB", "sparse_mode": 0}',
    '{"input_layout": "SBH", "sparse_mode": 12}',
    '{"input_layout": "SBH", "sparse_mode": true}',
    '{"input_layout": "SBH", "sparse_mode": 1e300}',
    '{"input_layout": ["SBH"], "sparse_mode": 0}',
    '{"input_layout": "TND", "actual_seq_qlen": [3, 2], "actual_seq_kvlen": [2, 3]}',
    '{"input_layout": "TND", "actual_seq_qlen": [1, NaN], "actual_seq_kvlen": [2, 3]}',
    '{"input_layout": "TND", "actual_seq_qlen": "tensor", "actual_seq_kvlen": [2, 3]}',
    '{"input_layout": "SBH", "sparse_mode": 0, "pre_tockens": "all"}',
    '{"input_layout": "SBH", "sparse_mode": 6, "prefix": 512}',
    '{"input_layout": "SBH", "sparse_mode": 6, "prefix": [512, -1]}',
    "[" * 2000,
]
SAID = [
    ("TND", 3, None, None, "100,300", "100,300", None),
    ("SBH", 0, None, None, None, None, None),
    (None, 4, 1024.0, 0.0, None, None, None),
    ("BSH", 6, None, None, None, None, "512,0"),
    (None, 2, None, None, None, None, None),
    (None, 0, None, None, None, None, None),
]


def mark(message: str, ts: str, domain: str = DOMAIN, pid: int = 5) -> Json:
    return event(message, ts, 0, pid=pid, tid=77, args={"event_type": "marker", "domain": domain})


def said(rows: list[dict[str, object]]) -> list[tuple[object, ...]]:
    assert all(row["thread"] == 77 for row in rows)
    columns = ("layout", "sparse_mode", "previous_tokens", "next_tokens", "query_ends", "key_ends", "prefixes")
    return [tuple(row[name] for name in columns) for row in rows]


def lanes() -> list[Json]:
    return [lane(5, "python"), lane(6, "Ascend Hardware")]


def test_marks_of_attention_are_read_from_the_timeline_and_those_on_the_device_are_not(tmp_path: Path) -> None:
    events = [*lanes(), *(mark(text, f"{number}00.5") for number, text in enumerate(GOOD, 1))]
    events += [mark(PLAIN, "900", pid=6), mark(PLAIN, "950", domain="default")]
    rows = of(ATTENTION_MARKS.ways["text"], captured(tmp_path, events))
    assert said(rows) == SAID
    assert [row["start_ns"] for row in rows] == [100_500, 200_500, 300_500, 400_500, 500_500, 600_500]


def test_marks_of_attention_are_read_from_the_database(tmp_path: Path) -> None:
    marks = [(100 + number, 100 + number, number % 2 * 3, text, DOMAIN) for number, text in enumerate(GOOD)]
    marks.append((300, 300, 0, PLAIN, "default"))
    assert said(of(ATTENTION_MARKS.ways["database"], database(tmp_path, marks))) == SAID


@pytest.mark.parametrize("export", ["text", "database"])
def test_marks_that_cannot_be_understood_are_left_out_and_told(tmp_path: Path, export: str) -> None:
    every = [*BAD, CAUSAL, BAD[0]]
    if export == "text":
        folder = captured(tmp_path, [*lanes(), *(mark(text or "x", f"{at}00") for at, text in enumerate(every, 1))])
    else:
        folder = database(tmp_path, [(at, at, 0, text, DOMAIN) for at, text in enumerate(every, 1)])
    assert said(of(ATTENTION_MARKS.ways[export], folder)) == [SAID[4]]
    (note,) = [note for note in folder.notes.all() if note.what.code == "attention_marks_unusable"]
    assert note.rows == len(every) - 1


@pytest.mark.parametrize("export", ["text", "database"])
def test_a_capture_without_such_marks_holds_none(tmp_path: Path, export: str) -> None:
    if export == "text":
        folder = captured(tmp_path, [*lanes(), mark("loss", "1", domain="default")])
    else:
        folder = database(tmp_path, [(1, 1, 0, "loss", "default")])
    with pytest.raises(FactMissing):
        of(ATTENTION_MARKS.ways[export], folder)
    assert not folder.notes.all()


def test_every_mark_of_the_program_is_read_in_whichever_domain(tmp_path: Path) -> None:
    events = [
        *lanes(),
        mark("loss", "1", domain="default"),
        event("load", "2", 3, pid=5, tid=77, args={"domain": "io"}),
    ]
    (tmp_path / "text").mkdir()
    text = of(PROGRAM_MARKS.ways["text"], captured(tmp_path / "text", events))
    marks = [(1000, None, 0, "loss", "default"), (2000, 5000, 2, "load", "io"), (7000, None, 2, "no end", "io")]
    rows = of(PROGRAM_MARKS.ways["database"], database(tmp_path, marks))
    columns = ("thread", "domain", "name", "start_ns", "end_ns")
    assert [[row[name] for name in columns] for row in text] == [[row[name] for name in columns] for row in rows]
    assert [row["end_ns"] for row in rows] == [1000, 5000]
