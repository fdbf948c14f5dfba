# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a file, said in both languages.

Damage is noted in English where it is met, because rules, tests and the JSON compare it; here stands how each of the
few sentences is said in Chinese. `{…}` holds what differs: a name of the file stays, a reason is said in turn.
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
    # of ours
    Text("unknown reason", "原因未知"),
    Text("bytes that are no UTF-8", "含有非 UTF-8 字节"),
    # the operating system
    Text("operation not permitted", "操作不被允许"),
    Text("permission denied", "没有权限"),
    Text("no such file or directory", "文件不存在"),
    Text("not a directory", "不是目录"),
    Text("is a directory", "是目录"),
    Text("input/output error", "读写错误"),
    Text("remote i/o error", "远程读写错误"),
    Text("interrupted system call", "系统调用被中断"),
    Text("no such device or address", "设备或地址不存在"),
    Text("no such device", "设备不存在"),
    Text("bad file descriptor", "文件描述符无效"),
    Text("resource temporarily unavailable", "资源暂时不可用"),
    Text("cannot allocate memory", "内存不足"),
    Text("device or resource busy", "设备或资源正忙"),
    Text("invalid argument", "参数无效"),
    Text("too many open files in system", "系统打开的文件过多"),
    Text("too many open files", "打开的文件过多"),
    Text("text file busy", "文件正被执行"),
    Text("file too large", "文件过大"),
    Text("no space left on device", "磁盘空间不足"),
    Text("illegal seek", "不支持在文件中定位"),
    Text("read-only file system", "文件系统只读"),
    Text("file name too long", "文件名过长"),
    Text("no locks available", "没有可用的文件锁"),
    Text("function not implemented", "系统不支持该操作"),
    Text("operation not supported", "系统不支持该操作"),
    Text("too many levels of symbolic links", "符号链接层数过多"),
    Text("no data available", "没有可用的数据"),
    Text("link has been severed", "链路已断开"),
    Text("protocol error", "协议错误"),
    Text("bad message", "数据校验失败"),
    Text("value too large for defined data type", "数值超出范围"),
    Text("network is down", "网络已断开"),
    Text("network is unreachable", "网络不可达"),
    Text("connection reset by peer", "连接被对端重置"),
    Text("no buffer space available", "缓冲区空间不足"),
    Text("transport endpoint is not connected", "网络文件系统未连接"),
    Text("cannot send after transport endpoint shutdown", "网络文件系统已断开"),
    Text("connection timed out", "连接超时"),
    Text("connection refused", "连接被拒绝"),
    Text("host is down", "主机已关闭"),
    Text("no route to host", "无法到达主机"),
    Text("stale file handle", "文件句柄已失效"),
    Text("structure needs cleaning", "文件系统已损坏，需要修复"),
    Text("disk quota exceeded", "超出磁盘配额"),
    Text("no medium found", "没有存储介质"),
    Text("operation canceled", "操作已取消"),
    Text("required key not available", "缺少解密密钥"),
    Text("key has expired", "密钥已过期"),
    # SQLite, by error code
    Text("not an error", "原因未知"),
    Text("unknown error", "原因未知"),
    Text("sql logic error", "SQL 逻辑错误"),
    Text("access permission denied", "没有权限"),
    Text("query aborted", "查询被中止"),
    Text("abort due to rollback", "查询被中止"),
    Text("database is locked", "数据库被锁定"),
    Text("database table is locked", "数据表被锁定"),
    Text("database schema is locked: {name}", "数据库 schema 被锁定（{name}）"),
    Text("out of memory", "内存不足"),
    Text("attempt to write a readonly database", "数据库只读"),
    Text("interrupted", "查询被中断"),
    Text("disk i/o error", "磁盘读写错误"),
    Text("database disk image is malformed", "数据库文件已损坏"),
    Text("unknown operation", "不支持该操作"),
    Text("database or disk is full", "磁盘空间不足"),
    Text("unable to open database file", "无法打开数据库文件"),
    Text("locking protocol", "文件锁协议错误"),
    Text("database schema has changed", "数据库 schema 已变化"),
    Text("string or blob too big", "文本或二进制数据过长"),
    Text("constraint failed", "不满足约束"),
    Text("datatype mismatch", "数据类型不符"),
    Text("bad parameter or other api misuse", "接口参数错误"),
    Text("large file support is disabled", "不支持大文件"),
    Text("authorization denied", "不允许访问"),
    Text("not authorized", "不允许访问"),
    Text("column index out of range", "列序号超出范围"),
    Text("file is not a database", "不是数据库文件"),
    # SQLite, about what a file holds
    Text("malformed database schema ({name})", "数据库 schema 已损坏（`{name}`）"),
    Text("malformed database schema ({name}) - {why}", "数据库 schema 已损坏（`{name}`：{why}）"),
    Text("unsupported file format", "不支持的文件格式"),
    Text("access to {name} is prohibited", "不允许访问 `{name}`"),
    Text("access to view {name} prohibited", "不允许访问视图 {name}"),
    Text("view {name} is circularly defined", "视图 `{name}` 循环定义"),
    Text("error in view {name}: {why}", "视图 `{name}` 有误（{why}）"),
    Text("generated column loop on {name}", "生成列 {name} 循环定义"),
    Text("error in generated column {name}", "生成列 {name} 有误"),
    Text("unsafe use of virtual table {name}", "不允许使用虚拟表 {name}"),
    Text("unsafe use of {name}", "不允许使用 `{name}`"),
    Text("vtable constructor failed: {name}", "无法建立虚拟表 `{name}`"),
    Text("no such table: {name}", "没有数据表 `{name}`"),
    Text("no such column: {name}", "没有列 `{name}`"),
    Text("no such function: {name}", "没有函数 `{name}`"),
    Text("no such module: {name}", "没有模块 `{name}`"),
    Text("no such collation sequence: {name}", "没有排序规则 `{name}`"),
    Text("no such index: {name}", "没有索引 `{name}`"),
    Text("duplicate column name: {name}", "列名重复：`{name}`"),
    Text("there is already {name}", "名称重复：`{name}`"),
    Text("near {name}: syntax error", "{name} 附近有语法错误"),
    Text("unrecognized token: {name}", "无法识别 {name}"),
    Text("incomplete input", "语句不完整"),
    Text("orphan index", "索引没有所属的数据表"),
    Text("invalid rootpage", "根页无效"),
    Text("unknown function: {name}", "没有函数 `{name}`"),
    Text("wrong number of arguments to function {name}", "函数 `{name}` 的参数个数有误"),
    Text("misuse of aggregate: {name}", "聚合函数 `{name}` 使用不当"),
    Text("non-deterministic use of {name} in a generated column", "生成列中使用了结果不确定的 `{name}`"),
    Text("{name} prohibited in {key}", "{key} 中不允许使用 {name}"),
    Text("default value of column {name} is not constant", "列 {name} 的默认值不是常量"),
    Text("table {name} has more than one primary key", "数据表 {name} 有多个主键"),
    Text("primary key missing on table {name}", "数据表 `{name}` 缺少主键"),
    Text("too many columns {name}", "列数过多"),
    Text("must have at least one non-generated column", "数据表只有生成列"),
    Text("json path error near {name}", "JSON 路径有误：{name}"),
    Text("bad json path: {name}", "JSON 路径有误：{name}"),
    Text("integer overflow", "整数溢出"),
    Text("malformed json", "JSON 格式错误"),
    Text("parser stack overflow", "语句嵌套过深"),
    Text("could not decode to utf-8 column {name}", "列 {name} 含有非 UTF-8 字节"),
    # JSON
    Text("expecting value", "此处应为一个值"),
    Text("expecting ',' delimiter", "此处缺少逗号"),
    Text("expecting ':' delimiter", "此处缺少冒号"),
    Text("expecting property name enclosed in double quotes", "此处应为双引号括起的键名"),
    Text("illegal trailing comma before end of {name}", "末尾多了一个逗号"),
    Text("unterminated string starting at", "字符串没有结束"),
    Text("invalid control character{name}at", "字符串中有控制字符"),
    Text("invalid \\escape{name}", "转义字符无效"),
    Text("invalid \\uxxxx escape", "Unicode 转义无效"),
    Text("unexpected utf-8 bom (decode using utf-8-sig)", "多余的 UTF-8 BOM"),
    Text("extra data", "末尾有多余内容"),
    Text("exceeds the limit ({n} digits) for integer string conversion{name}", "整数位数过多"),
    Text("{why}: line {n} column {column_n} (char {char_n})", "{why}：第 {n} 行第 {column_n} 列，第 {char_n} 个字符"),
    # text tables
    Text("field larger than field limit ({n})", "单元格过长（上限 {n} 字符）"),
    Text("new-line character seen in unquoted field{name}", "单元格中有未加引号的换行"),
    Text("line contains nul", "行中有 NUL 字符"),
    Text("unexpected end of data", "数据提前结束"),
    Text("csv parse error: expected {n} columns, got {column_n}{name}", "应为 {n} 列，实际 {column_n} 列"),
    Text(
        "csv parse error: row #{char_n}: expected {n} columns, got {column_n}{name}",
        "第 {char_n} 行应为 {n} 列，实际 {column_n} 列",
    ),
    Text("csv parser got out of sync with chunker{name}", "单元格跨行，无法分块"),
    Text("straddling object straddles two block boundaries{name}", "单元格过长，超出读取块"),
    Text("empty csv file", "文件为空"),
    Text("could not skip initial {n} rows from csv file{name}", "文件比表头还短"),
    Text("csv conversion error to {name}", "单元格无法转换"),
)
"""What the system and the parsers say; compared without regard to case. `{name}` comes from the file or is a detail."""

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


def told(what: str) -> Text:
    """A sentence about damage in both languages; one that is not known is quoted."""
    return sentence(what) or Text(f"other damage: {_quoted(what)}", f"其他问题：{_quoted(what)}")


def because(error: Exception) -> Text:
    """Why something could not be read, in both languages."""
    return Text(reason(error), _because(reason(error)).zh)


def reason(error: Exception) -> str:
    """Why something could not be read, as the system or a parser says it: one line, and no name of a path."""
    if isinstance(error, UnicodeError):
        return "bytes that are no UTF-8"
    said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    first = next(iter(said.splitlines()), "")[:_LONGEST_REASON]
    return (first.lower() if isinstance(error, OSError) else first) or "unknown reason"


def sentence(what: str) -> Text | None:
    """A sentence about damage in both languages, or None when it is none of those known."""
    return _among(SENTENCES, what)


def place(where: str) -> Text | None:
    """A place in a damaged file in both languages, or None when it is a name of the file."""
    return _among(PLACES, where)


def kind(name: str) -> Text | None:
    """A kind of damage in both languages, or None when it is none."""
    return KINDS.get(name)


def _among(known: tuple[Text, ...], said: str) -> Text | None:
    for one in known:
        found = _pattern(one.en).fullmatch(said)
        if found:
            return Text(said, _filled(one.zh, found.groupdict()))
    return None


def _filled(words: str, holes: dict[str, str]) -> str:
    return _HOLE.sub(lambda hole: _because(holes["why"]).zh if hole[1] == "why" else holes[hole[1]], words)


def _because(why: str) -> Text:
    return _among(REASONS, why) or sentence(why) or Text(why, f"其他原因：{_quoted(why)}")


def _quoted(what: str) -> str:
    """Words nobody foresaw, as words of another: between the marks of code."""
    return "`" + what.replace("`", "'") + "`"


@cache
def _pattern(sentence: str) -> re.Pattern[str]:
    """What matches a sentence, whatever stands in its holes; names hold no blanks, rows are numbers."""
    parts = _HOLE.split(sentence)
    shapes = {"why": ".*", "table": r"\S+?", "name": ".*", "column": ".+", "key": ".+"}
    holes = [f"(?P<{name}>{shapes.get(name, _NUMBER)})" for name in parts[1::2]]
    fixed = [re.escape(part) for part in parts[::2]]
    return re.compile("".join(a + b for a, b in zip(fixed, [*holes, ""], strict=True)), re.DOTALL | re.IGNORECASE)
