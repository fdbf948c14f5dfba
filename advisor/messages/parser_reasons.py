# SPDX-License-Identifier: Apache-2.0
"""Why a file is no YAML or TOML, in both languages: the parsers themselves speak English alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

from advisor.messages.text import Text

_YAML: Mapping[str, str] = {
    r"did not find expected (\S+) or (.*)": r"此处应为 \1 或 \2",
    r"did not find (?:the )?expected key": "此处应为键",
    r"did not find expected node content": "此处缺少内容",
    r"did not find expected <document start>": "此处应为文档开头（---）",
    r"did not find expected '-' indicator": "此处应为列表项（-）",
    r"did not find expected hexdecimal number": "此处应为十六进制数",
    r"did not find expected alphabetic or numeric character": "此处应为字母或数字",
    r"(?:could not find|did not find) (?:the )?expected (\S+)": r"此处应为 \1",
    r"block sequence entries are not allowed (?:in this context|here)": "此处不能出现列表项（-）",
    r"mapping keys are not allowed (?:in this context|here)": "此处不能出现键",
    r"mapping values are not allowed (?:in this context|here)": "此处不能出现冒号后的值",
    r"sequence entries are not allowed here": "此处不能出现列表项（-）",
    r"found character (?:(\S+) )?that cannot start any token": r"此处的字符 \1 不能作为开头",
    r"found a tab character that violates indentation": "缩进中不能使用制表符",
    r"found a tab character where an indentation space is expected": "缩进应使用空格，而非制表符",
    r"found unexpected end of stream": "文件提前结束",
    r"found unexpected document indicator": "文本尚未结束就出现了文档分隔符",
    r"found unexpected ':'": "此处不能出现冒号",
    r"found unknown escape character(?: (\S+))?": r"未知的转义字符 \1",
    r"found undefined alias(?: (\S+))?": r"未定义的别名 \1",
    r"found undefined tag handle": "未定义的标签",
    r"found duplicate anchor(?: (\S+))?; first occurrence": r"重复的锚点 \1",
    r"control characters are not allowed": "不能含有控制字符",
    r"special characters are not allowed": "不能含有特殊字符",
    r"but found another document": "只能有一个文档",
    r"expected <block end>, but found (\S+)": r"此处不能出现 \1",
    r"expected (\S+) or (\S+), but (?:got|found) (\S+)": r"此处应为 \1 或 \2，实为 \3",
    r"expected ([^,]+), but (?:got|found) (\S+)": r"此处应为 \1，实为 \2",
}
_YAML_CONTEXTS: Mapping[str, str] = {
    "while parsing a flow sequence": "方括号列表中",
    "while parsing a flow mapping": "花括号映射中",
    "while parsing a block mapping": "映射中",
    "while parsing a block collection": "列表中",
    "while parsing a flow node": "括号中",
    "while parsing a block node": "缩进块中",
    "while scanning a quoted scalar": "引号文本中",
    "while parsing a quoted scalar": "引号文本中",
    "while scanning a double-quoted scalar": "双引号文本中",
    "while scanning a simple key": "键之后",
    "while scanning a block scalar": "多行文本中",
    "while scanning a plain scalar": "文本中",
    "while scanning for the next token": "",
    "expected a single document in the stream": "",
    "while scanning an alias": "别名中",
    "while scanning an anchor": "锚点中",
}
_TOML: Mapping[str, str] = {
    r"Invalid statement": "语句不合法",
    r"Expected newline or end of document after a statement": "语句之后应换行",
    r"Expected (\S+) at the end of a table declaration": r"表头末尾应为 \1",
    r"Expected (\S+) at the end of an array declaration": r"表数组的表头末尾应为 \1",
    r"Expected (\S+) after a key in a key/value pair": r"键之后应为 \1",
    r"Invalid initial character for a key part": "键的首字符不合法",
    r"Cannot declare (.*) twice": r"\1 重复声明",
    r"Cannot overwrite a value": "同一个键重复赋值",
    r"Cannot redefine namespace (.*)": r"\1 重复定义",
    r"Cannot mutate immutable namespace (.*)": r"\1 已定义，不能再修改",
    r"Duplicate inline table key (.*)": r"行内表中的键 \1 重复",
    r"Unclosed array": "数组缺少右括号 ]",
    r"Unclosed inline table": "行内表缺少右括号 }",
    r"Unterminated string": "字符串缺少结束引号",
    r"Unescaped '\\' in a string": "字符串中的反斜杠未转义",
    r"Invalid hex value": "十六进制值不合法",
    r"Escaped character is not a Unicode scalar value": "转义的字符不是合法的 Unicode 字符",
    r"Illegal character (.*)": r"不允许的字符 \1",
    r"Found invalid character (.*)": r"不允许的字符 \1",
    r"Invalid date or datetime": "日期或时间不合法",
    r"Invalid value": "值不合法",
    r"Expected (.*)": r"此处应为 \1",
}


def yaml_reason(problem: str, context: str = "") -> Text:
    """What a parser of YAML found, and in what; what it says in words that are not known here stays as it is."""
    english = f"{problem} {context}".strip()
    chinese, place = _in_chinese(problem, _YAML), _YAML_CONTEXTS.get(context)
    if chinese is None or (context and place is None):
        return Text(english, english)
    return Text(english, f"{place}{chinese}" if place else chinese)


def toml_reason(problem: str) -> Text:
    """What the parser of TOML found; what it says in words that are not known here stays as it is."""
    return Text(problem, _in_chinese(problem, _TOML) or problem)


def _in_chinese(words: str, known: Mapping[str, str]) -> str | None:
    """The first that fits; None where none does."""
    fitting = ((found, chinese) for english, chinese in known.items() if (found := re.fullmatch(english, words)))
    return next((" ".join(found.expand(chinese).split()) for found, chinese in fitting), None)
