# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a file, said in both languages.

Damage is noted in English where it is met, because rules, tests and the JSON compare it; here stands how each of the
few sentences is said in Chinese. `{…}` holds what differs: a name of the file stays, and so does what the operating
system, SQLite or a parser says.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from advisor.messages.text import Text

SENTENCES: tuple[Text, ...] = (
    # files
    Text("is empty", "文件为空"),
    Text("it is empty", "文件为空"),
    Text("is packed; unpack it with gunzip", "是 gzip 压缩文件，请先用 gunzip 解压"),
    Text("cannot be opened", "无法打开"),
    Text("cannot be opened ({why})", "无法打开（{why}）"),
    Text("cannot be read ({why})", "无法读取（{why}）"),
    Text("cannot be read further ({why})", "后续内容无法读取（{why}）"),
    Text("{table} cannot be read further ({why})", "{table} 的后续内容无法读取（{why}）"),
    Text("is no complete JSON ({why})", "不是完整的 JSON（{why}）"),
    Text("it is no JSON array or object", "不是 JSON 数组或对象"),
    Text("it has no {key}", "缺少 {key}"),
    Text("has no column `{column}`", "缺少列 `{column}`"),
    Text("the file ends early", "文件不完整，提前结束"),
    Text("ends inside a quoted cell", "文件在引号内结束"),
    Text("holds several devices for one rank; the first is read", "同一 rank 含多个 device，只读取第一个"),
    Text("holds something else where an object is due", "应为对象处是其他内容"),
    Text("see the damage", "见损坏明细"),
    # rows and events
    Text("rows with too few or too many cells", "行的列数过少或过多"),
    Text("`{column}` holds no usable number", "`{column}` 不是可用的数值"),
    Text("{table}: {column} holds no usable value", "{table}：{column} 没有可用的值"),
    Text("{column} is no whole number", "{column} 不是整数"),
    Text("operators without an elapse time", "算子没有耗时"),
    Text("an entry is no object", "条目不是对象"),
    Text("event is no valid JSON", "事件不是合法的 JSON"),
    Text("event is no object", "事件不是对象"),
    Text("event has no phase", "事件缺少 ph 字段"),
    Text("duration is missing, negative or too large", "时长缺失、为负或过大"),
    Text("name is missing", "名称缺失"),
    Text("time is missing", "时间缺失"),
    Text("time is no decimal number", "时间不是十进制数"),
    Text("time is too large", "时间过大"),
    Text("id of a link is no number", "连线的 id 不是数字"),
    Text("id of a link is too large", "连线的 id 过大"),
    Text("nested too deeply", "嵌套过深"),
)

REASONS: tuple[Text, ...] = (
    Text("unknown reason", "原因未知"),
    Text("bytes that are no UTF-8", "含有非 UTF-8 字节"),
    Text("its rows are out of order", "行号次序错乱"),
    Text("it leads in circles", "页面循环引用"),
)
"""Reasons of ours. What the operating system, SQLite and parsers say is quoted as they say it."""

PLACES: tuple[Text, ...] = (
    Text("row {n}", "第 {n} 行"),
    Text("after row {n}", "第 {n} 行之后"),
    Text("byte {n}", "第 {n} 字节"),
    Text("{table}, row {n}", "{table} 第 {n} 行"),
    Text("{table} row {n}", "{table} 第 {n} 行"),
    Text("{table}, after row {n}", "{table} 第 {n} 行之后"),
)

KINDS: Mapping[str, Text] = {
    "row": Text("single rows or events", "个别行或事件"),
    "truncated": Text("files cut short", "文件被截断"),
    "unreadable": Text("whole files", "整个文件"),
    "clock": Text("times of an odd clock", "时钟异常的时间"),
}

_HOLE = re.compile(r"\{(\w+)\}")
_NUMBER = r"\d+"
_LONGEST_REASON = 120


def translate_damage(what: str) -> Text:
    """A sentence about damage in both languages; one that is not known is quoted."""
    return translate_sentence(what) or Text(f"other damage: {_quote_words(what)}", f"其他问题：{_quote_words(what)}")


def translate_error(error: Exception) -> Text:
    """Why something could not be read, in both languages."""
    return Text(reason_of_error(error), _translate_reason(reason_of_error(error)).zh)


def reason_of_error(error: Exception) -> str:
    """Why something could not be read, as the system or a parser says it: one line, and no name of a path."""
    if isinstance(error, UnicodeError):
        return "bytes that are no UTF-8"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    first = next(iter(said.splitlines()), "")[:_LONGEST_REASON]
    return (first.lower() if isinstance(error, OSError) else first) or "unknown reason"


def translate_sentence(what: str) -> Text | None:
    """A sentence about damage in both languages, or None when it is none of those known."""
    return _match_among(SENTENCES, what)


def translate_place(where: str) -> Text | None:
    """A place in a damaged file in both languages, or None when it is a name of the file."""
    return _match_among(PLACES, where)


def translate_kind(name: str) -> Text | None:
    """A kind of damage in both languages, or None when it is none."""
    return KINDS.get(name)


def _match_among(known: tuple[Text, ...], said: str) -> Text | None:
    for one in known:
        found = _sentence_pattern(one.en).fullmatch(said)
        if found:
            holes: dict[str, str | Text] = dict(found.groupdict())
            if "why" in holes:
                holes["why"] = _translate_reason(found["why"])
            return Text(said, one.fill("zh", **holes))
    return None


def _translate_reason(why: str) -> Text:
    return _match_among(REASONS, why) or translate_sentence(why) or Text(why, _quote_words(why))


def _quote_words(what: str) -> str:
    """Words of another: between the marks of code."""
    return "`" + what.replace("`", "'") + "`"


@cache
def _sentence_pattern(sentence: str) -> re.Pattern[str]:
    """What matches a sentence, whatever stands in its holes; names hold no blanks, rows are numbers."""
    parts = _HOLE.split(sentence)
    shapes = {"why": ".*", "table": r"\S+?", "name": ".*", "column": ".+", "key": ".+"}
    holes = [f"(?P<{name}>{shapes.get(name, _NUMBER)})" for name in parts[1::2]]
    fixed = [re.escape(part) for part in parts[::2]]
    return re.compile("".join(a + b for a, b in zip(fixed, [*holes, ""], strict=True)), re.DOTALL | re.IGNORECASE)
