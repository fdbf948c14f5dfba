# SPDX-License-Identifier: Apache-2.0
"""Why a file cannot be parsed is said in Chinese to whoever reads Chinese."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml

from advisor.messages.errors import RuleError
from advisor.messages.parser_reasons import toml_reason, yaml_reason
from advisor.policy.pyproject import read_document
from advisor.yaml_files.source import parse_document

_WORD = re.compile(r"[A-Za-z]{4,}")
BROKEN_YAML = {
    "rules: [a\n b: {": "方括号列表中此处应为 ',' 或 ']'",
    "a: {b: c\nd: e": "花括号映射中此处应为 ',' 或 '}'",
    "a: 'never closed": "引号文本中文件提前结束",
    "a: b: c": "此处不能出现冒号后的值",
    "a: @b": "不能作为开头",
    "a: *nowhere": "未定义的别名",
    "a:\n\tb: 1": "不能作为开头",
    'a: "\\q"': "未知的转义字符",
    "a: 1\n---\nb: 2": "只能有一个文档",
    "a: 1\n b: 2\nc": "此处不能出现冒号后的值",
    "- a\nb: c": "此处应为列表项（-）",
}
BROKEN_TOML = {
    "[tool.advisor\n": "表头末尾应为 ']'",
    "[tool]\na = [1": "数组缺少右括号 ]",
    "a 1": "键之后应为 '='",
    "a = 'x": '此处应为 "\'"',
    "a = 1 b = 2": "语句之后应换行",
    "a = 1\na = 2": "同一个键重复赋值",
    "[a]\n[a]": "('a',) 重复声明",
    "a = nothing": "值不合法",
    "= 1": "语句不合法",
}


@pytest.mark.parametrize(("text", "said"), BROKEN_YAML.items())
def test_a_reason_of_the_parser_of_yaml_is_said_in_chinese(text: str, said: str) -> None:
    with pytest.raises(RuleError) as error:
        parse_document(text, "a.yaml")
    first = error.value.say("zh").splitlines()[0]
    assert first.startswith("a.yaml:")
    assert said in first


@pytest.mark.parametrize(("text", "said"), BROKEN_YAML.items())
def test_both_parsers_of_yaml_are_understood(text: str, said: str) -> None:
    loader = yaml.SafeLoader(text)
    with pytest.raises(yaml.MarkedYAMLError) as error:
        loader.get_single_node()
    chinese = yaml_reason(error.value.problem or "").zh
    assert not _WORD.search(re.sub(r"'[^']*'|<[^>]*>", "", chinese)) or "nowhere" in chinese


@pytest.mark.parametrize(("text", "said"), BROKEN_TOML.items())
def test_a_reason_of_the_parser_of_toml_is_said_in_chinese_and_at_its_line(
    text: str, said: str, tmp_path: Path
) -> None:
    path = tmp_path / "pyproject.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RuleError) as error:
        read_document(path)
    assert said in error.value.say("zh").splitlines()[0]
    (mistake,) = error.value.mistakes
    assert mistake.place.line >= 1
    with pytest.raises(tomllib.TOMLDecodeError, match=re.escape(mistake.what.en.removeprefix("not TOML: "))):
        tomllib.loads(text)


def test_words_that_are_not_known_stay_as_they_are() -> None:
    assert yaml_reason("found a purple cow").zh == "found a purple cow"
    assert yaml_reason("found unexpected ':'", "while dreaming").zh == "found unexpected ':' while dreaming"
    assert toml_reason("Cows are not allowed").zh == "Cows are not allowed"
