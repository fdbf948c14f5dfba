# SPDX-License-Identifier: Apache-2.0
"""Damage is saved as messages, which say it in either language; words without one are nobody's sentence."""

from __future__ import annotations

from pathlib import Path

import pytest

from advisor.messages.catalogue.damage import TEXTS
from advisor.messages.errors import InputError
from advisor.messages.message import Message
from advisor.model.findings import Diagnosis
from advisor.model.run import Run
from advisor.model.saved import saved_diagnosis
from advisor.model.unread import SavedMessage, Unread

NAMES = ["TASK", "Size(KB)", "`x` <script>alert(1)</script>", "a\nb\t\x1b[31m", "{why} {{n}}", "\ud800 中", ""]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("code", TEXTS)
def test_a_saved_message_says_what_was_said(code: str, name: str) -> None:
    reason = Message("quoted", words=name)
    given = {hole: reason if hole == "why" else 7 if hole == "n" else name for hole in TEXTS[code].holes()}
    message = Message(code, **given)
    again = SavedMessage.from_json(SavedMessage.of(message).to_json())
    assert again == SavedMessage.of(message)
    assert (again.say("en"), again.say("zh")) == (message.en, message.zh)


def test_a_reason_of_ours_is_said_and_the_words_of_others_are_quoted() -> None:
    ours = SavedMessage.of(Message("file_unreadable", why=Message("no_utf8")))
    theirs = SavedMessage.of(Message("file_unreadable", why=Message("quoted", words="disk on fire")))
    assert (ours.say("en"), ours.say("zh")) == (
        "cannot be read (bytes that are no UTF-8)",
        "无法读取（含有非 UTF-8 字节）",
    )
    assert (theirs.say("en"), theirs.say("zh")) == ("cannot be read (disk on fire)", "无法读取（`disk on fire`）")


@pytest.mark.parametrize(
    "saved",
    [
        {"code": "of a version to come"},
        {"code": "at_row"},
        {"code": "file_unreadable", "values": {"why": {"code": "of a version to come"}}},
        {"code": "file_unreadable", "values": {"why": {"code": "quoted"}}},
    ],
)
def test_a_message_that_is_not_known_or_has_a_gap_says_nothing(saved: dict[str, object]) -> None:
    assert SavedMessage.model_validate(saved).say("zh") is None


def test_a_saved_diagnosis_without_messages_is_read(tmp_path: Path) -> None:
    made = Diagnosis(run=Run(), unread=(Unread(file="a.csv", place="row 3", what="is empty"),))
    older = made.to_json().replace(',\n      "place_message": null,\n      "what_message": null', "")
    assert "message" not in older
    (tmp_path / "a.json").write_text(older, "utf-8")
    assert saved_diagnosis(tmp_path / "a.json") == made


@pytest.mark.parametrize("name", ["why", "\\ud800"])
def test_messages_within_messages_without_end_are_refused(name: str, tmp_path: Path) -> None:
    deep = f'{{"code": "quoted", "values": {{"{name}": '
    text = Diagnosis(run=Run(), unread=(Unread(file="a", what="b"),)).to_json()
    text = text.replace('"what_message": null', '"what_message": ' + deep * 90 + "1" + "}}" * 90)
    (tmp_path / "a.json").write_text(text, "utf-8")
    with pytest.raises(InputError):
        saved_diagnosis(tmp_path / "a.json")
