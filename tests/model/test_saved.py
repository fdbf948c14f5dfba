# SPDX-License-Identifier: Apache-2.0
"""What was written before is read again as it was; what cannot be calculated with is refused in one sentence."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from advisor.messages.errors import InputError
from advisor.model.findings import Diagnosis, TimeSplit
from advisor.model.run import Run
from advisor.model.saved import _KINDS, saved_comparison, saved_diagnosis
from advisor.release import VERSION

PACKAGE = Path(__file__).parents[2] / "advisor"

SPLIT = TimeSplit(step_us=1.5, compute_us=1.0, exposed_comm_us=0.0, overlapped_us=0.0, free_us=0.5)


@pytest.mark.parametrize("name", ["prof", "NaN 1e999 Infinity", "\ud800 and \udcff", "\\ud800", "é 中"])
def test_a_diagnosis_comes_back_whatever_its_names(name: str, tmp_path: Path) -> None:
    made = Diagnosis(run=Run(name=name), split=SPLIT)
    (tmp_path / "a.json").write_bytes(made.to_json().encode("utf-8", "backslashreplace"))
    assert saved_diagnosis(tmp_path / "a.json") == made


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "1e999"])
def test_a_number_that_is_none_is_refused_in_one_sentence(number: str, tmp_path: Path) -> None:
    made = json.loads(Diagnosis(run=Run(), split=SPLIT).to_json())
    text = json.dumps(made).replace("1.5", number)
    (tmp_path / "a.json").write_text(text, "utf-8")
    with pytest.raises(InputError, match="a number that is none") as refused:
        saved_diagnosis(tmp_path / "a.json")
    assert "非数值" in refused.value.say("zh")


@pytest.mark.parametrize(
    ("kind", "en", "zh"),
    [
        ("comparison", "is a comparison, and a diagnosis is wanted here", "是对比结果，此处需要诊断结果"),
        ("verdict", "is a verdict, and a diagnosis is wanted", "，此处需要诊断结果"),
        ("inspection", "is an inspection, and a diagnosis is wanted", "是采集内容清单"),
    ],
)
def test_a_report_of_another_kind_is_told_by_what_it_is(kind: str, en: str, zh: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(f'{{\n  "format": "advisor.{kind}/1",\n  "version": "1"\n}}\n')
    with pytest.raises(InputError) as refused:
        saved_diagnosis(tmp_path / "a.json")
    assert en in refused.value.say("en")
    assert zh in refused.value.say("zh")
    assert "Input should be" not in refused.value.say("en")


def test_where_a_comparison_is_wanted_a_diagnosis_is_told_by_what_it_is(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(Diagnosis(run=Run()).to_json())
    with pytest.raises(InputError, match="is a diagnosis, and a comparison is wanted here"):
        saved_comparison(tmp_path / "a.json")


def test_what_another_version_wrote_is_told_with_its_format(tmp_path: Path) -> None:
    text = Diagnosis(run=Run()).to_json().replace("advisor.diagnosis/1", "advisor.diagnosis/9")
    (tmp_path / "a.json").write_text(text)
    with pytest.raises(InputError, match="another version of advisor: its format is"):
        saved_diagnosis(tmp_path / "a.json")


def test_every_kind_of_file_that_is_written_has_a_name() -> None:
    written = {
        kind for file in PACKAGE.rglob("*.py") for kind in re.findall(r'"advisor\.([a-z]+)/1"', file.read_text())
    }
    assert written - _KINDS.keys() == {"cache"}, "which is no file that people hold"


def test_a_file_of_somebody_else_is_told_to_be_that(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"name": "left-pad", "version": "1.0.0"}')
    with pytest.raises(InputError, match="is not a diagnosis: advisor did not write it as one"):
        saved_diagnosis(tmp_path / "a.json")


@pytest.mark.parametrize("more", ["[" * 100_000, "[" * 100_000 + "]" * 100_000 + "}", "9" * 5000 + "}"])
def test_nothing_a_file_holds_beside_half_a_letter_breaks_the_reading(more: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{"format": "advisor.diagnosis/1", "name": "\\ud800", "more": ' + more)
    with pytest.raises(InputError, match="is not a diagnosis"):
        saved_diagnosis(tmp_path / "a.json")


WHOLE = Diagnosis(run=Run(name="a"), split=SPLIT).to_json()


@pytest.mark.parametrize(
    ("text", "en", "zh"),
    [
        ("", "is not a diagnosis: the file is empty", "不是诊断结果：文件为空"),
        (" \n", "the file is empty", "文件为空"),
        (WHOLE[:-30], "it is cut off: the JSON ends too early, in line", "文件不完整：JSON 在第"),
        (WHOLE[: WHOLE.index('"a"') + 2], "it is cut off: the JSON ends too early, in line", "文件不完整：JSON 在第"),
        (WHOLE + "EOF", "no JSON from line", "起不是合法的 JSON"),
        ("[" * 5000 + "]" * 5000, "nested too deeply", "嵌套过深"),
        (WHOLE.replace(":", ";", 3), "no JSON from line 2, column 11 on", "第 2 行第 11 列起不是合法的 JSON"),
        (WHOLE.replace('"run"', '"ran"'), "`run` is missing", "缺少 `run`"),
        (WHOLE.replace('"unread"', '"unred"'), "unknown key `unred`", "未知的键 `unred`"),
        (WHOLE.replace("1.5", '"long"'), "`split.step_us` does not hold what", "`split.step_us` 的内容与"),
    ],
)
def test_what_is_wrong_with_a_saved_report_is_said_in_one_language(text: str, en: str, zh: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text, "utf-8")
    with pytest.raises(InputError) as refused:
        saved_diagnosis(tmp_path / "a.json")
    assert en in refused.value.say("en")
    assert zh in refused.value.say("zh")
    assert not re.search(r"[a-z]+ [a-z]+ [a-z]+", refused.value.say("zh").split("\n")[0])


def test_a_report_that_does_not_fit_names_the_version_that_wrote_it(tmp_path: Path) -> None:
    other = Diagnosis(run=Run(), version="9.8.7").to_json()
    (tmp_path / "a.json").write_text(other.replace('"unread"', '"unred"'), "utf-8")
    with pytest.raises(InputError, match=f"was written by advisor 9.8.7, and this is {VERSION}, which") as refused:
        saved_diagnosis(tmp_path / "a.json")
    assert "use the version that wrote it" in refused.value.say("en")
    assert "由 advisor 9.8.7 写出" in refused.value.say("zh")
    (tmp_path / "a.json").write_text(other, "utf-8")
    assert saved_diagnosis(tmp_path / "a.json").version == "9.8.7", "what fits is read, whichever version wrote it"
