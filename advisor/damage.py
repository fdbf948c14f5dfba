# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a file, said in both languages.

Damage is noted in English where it is met, because rules, tests and the JSON compare it; here stands how each of the
few sentences is said in Chinese. `{…}` holds what differs: a name of the file stays, a reason is said in turn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache

from advisor.errors import Both

SENTENCES: tuple[Both, ...] = (
    # files
    Both("is empty", "文件为空"),
    Both("it is empty", "文件为空"),
    Both("cannot be opened", "无法打开"),
    Both("cannot be opened ({why})", "无法打开（{why}）"),
    Both("cannot be read ({why})", "无法读取（{why}）"),
    Both("cannot be read further ({why})", "后续内容无法读取（{why}）"),
    Both("{table} cannot be read further ({why})", "{table} 的后续内容无法读取（{why}）"),
    Both("is no complete JSON ({why})", "不是完整的 JSON（{why}）"),
    Both("it is no JSON array or object", "不是 JSON 数组或对象"),
    Both("it has no {key}", "缺少 {key}"),
    Both("has no column `{column}`", "缺少列 `{column}`"),
    Both("the file ends early", "文件不完整，提前结束"),
    Both("ends inside a quoted cell", "文件在引号内结束"),
    Both("holds several devices for one rank; the first is read", "同一 rank 含多个 device，只读取第一个"),
    Both("holds something else where an object is due", "应为对象处是其他内容"),
    Both("see the damage", "见损坏明细"),
    # rows and events
    Both("rows with too few or too many cells", "行的列数过少或过多"),
    Both("`{column}` holds no usable number", "`{column}` 不是可用的数值"),
    Both("{table}: {column} holds no usable value", "{table}：{column} 没有可用的值"),
    Both("{column} is no whole number", "{column} 不是整数"),
    Both("operators without an elapse time", "算子没有耗时"),
    Both("an entry is no object", "条目不是对象"),
    Both("event is no valid JSON", "事件不是合法的 JSON"),
    Both("event is no object", "事件不是对象"),
    Both("event has no phase", "事件缺少 ph 字段"),
    Both("duration is missing, negative or too large", "时长缺失、为负或过大"),
    Both("name is missing", "名称缺失"),
    Both("time is missing", "时间缺失"),
    Both("time is no decimal number", "时间不是十进制数"),
    Both("time is too large", "时间过大"),
    Both("id of a link is no number", "连线的 id 不是数字"),
    Both("id of a link is too large", "连线的 id 过大"),
    # what the system says
    Both("database disk image is malformed", "数据库文件已损坏"),
    Both("file is not a database", "不是数据库文件"),
    Both("permission denied", "没有权限"),
    Both("no such file or directory", "文件不存在"),
    Both("is a directory", "是目录"),
    Both("input/output error", "读写错误"),
    Both("unknown reason", "原因未知"),
    Both("nested too deeply", "嵌套过深"),
)

PLACES: tuple[Both, ...] = (
    Both("row {n}", "第 {n} 行"),
    Both("after row {n}", "第 {n} 行之后"),
    Both("byte {n}", "第 {n} 字节"),
    Both("{table}, row {n}", "{table} 第 {n} 行"),
    Both("{table} row {n}", "{table} 第 {n} 行"),
    Both("{table}, after row {n}", "{table} 第 {n} 行之后"),
)

KINDS: Mapping[str, Both] = {
    "row": Both("some rows", "部分行"),
    "truncated": Both("cut short", "被截断"),
    "unreadable": Both("not readable at all", "完全无法读取"),
    "clock": Both("odd clock", "时钟异常"),
}

_HOLE = re.compile(r"\{(\w+)\}")


def told(what: str) -> Both:
    """A sentence about damage in both languages; one that is not known stays English in both."""
    return sentence(what) or Both(what, what)


def sentence(what: str) -> Both | None:
    """A sentence about damage in both languages, or None when it is none of those known."""
    return _among(SENTENCES, what)


def place(where: str) -> Both | None:
    """A place in a damaged file in both languages, or None when it is a name of the file."""
    return _among(PLACES, where)


def kind(name: str) -> Both | None:
    """A kind of damage in both languages, or None when it is none."""
    return KINDS.get(name)


def _among(known: tuple[Both, ...], said: str) -> Both | None:
    for one in known:
        found = _pattern(one.en).fullmatch(said)
        if found:
            return Both(said, _filled(one.zh, found.groupdict()))
    return None


def _filled(words: str, holes: dict[str, str]) -> str:
    return _HOLE.sub(lambda hole: told(holes["why"]).zh if hole[1] == "why" else holes[hole[1]], words)


@cache
def _pattern(sentence: str) -> re.Pattern[str]:
    """What matches a sentence, whatever stands in its holes; names hold no blanks, rows are numbers."""
    parts = _HOLE.split(sentence)
    shapes = {"why": ".*", "n": r"\d+", "table": r"\S+?", "column": ".+", "key": ".+"}
    holes = [f"(?P<{name}>{shapes[name]})" for name in parts[1::2]]
    fixed = [re.escape(part) for part in parts[::2]]
    return re.compile("".join(a + b for a, b in zip(fixed, [*holes, ""], strict=True)), re.DOTALL)
