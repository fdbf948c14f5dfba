# SPDX-License-Identifier: Apache-2.0
"""What can be wrong in a file of rules or settings, said in both languages.

As with damage, mistakes are noted in English where they are met, since tests and editors compare them; here stands how
each sentence is said in Chinese. `{…}` holds what differs: what was written stays, a phrase is said in turn.
"""

from __future__ import annotations

import re
from functools import cache

from advisor.messages.errors import Mistake, RuleError
from advisor.messages.text import Text

SENTENCES: tuple[Text, ...] = (
    # the file
    Text("cannot be read: {why}", "无法读取：{why}"),
    Text("no such directory of rules", "规则目录不存在"),
    Text("file is larger than {n} KiB", "文件超过 {n} KiB"),
    Text("line is longer than {n} characters", "单行超过 {n} 个字符"),
    Text("more than {n} brackets", "括号超过 {n} 个"),
    Text("nested too deep", "嵌套过深"),
    Text("not UTF-8 text", "不是 UTF-8 文本"),
    Text("not YAML: {why}", "不是合法的 YAML：{why}"),
    Text("not YAML", "不是合法的 YAML"),
    Text("not TOML: {why}", "不是合法的 TOML：{why}"),
    Text("anchors with aliases are not part of rule files", "规则文件不支持锚点与别名"),
    Text("merge keys are not part of rule files", "规则文件不支持合并键"),
    Text("tags are not part of rule files", "规则文件不支持标签"),
    Text("a key is a plain word", "键必须是普通单词"),
    Text("`{name}` is given twice", "`{name}` 重复出现"),
    # shape
    Text("a rule file is a mapping that begins with `id:`", "规则文件应为映射，并以 `id:` 开头"),
    Text("a rule has a list of `tests`", "规则应有 `tests` 列表"),
    Text("settings are a mapping", "设置文件应为映射"),
    Text("unknown key `{name}`", "未知的键 `{name}`"),
    Text("unknown table `{name}`", "未知的表 `{name}`"),
    Text("unknown table `{name}`; {hint}", "未知的表 `{name}`；{hint}"),
    Text("unknown rule `{name}`", "未知的规则 `{name}`"),
    Text("unknown param `{name}`", "未知的参数 `{name}`"),
    Text("unknown name `{name}`", "未知的名称 `{name}`"),
    Text("unknown name `{name}`; {hint}", "未知的名称 `{name}`；{hint}"),
    Text("unknown function `{name}`", "未知的函数 `{name}`"),
    Text("unknown unit `{name}`", "未知的单位 `{name}`"),
    Text("unknown chip `{name}`", "未知的芯片型号 `{name}`"),
    Text("`{name}` is missing", "缺少 `{name}`"),
    Text("`{name}` is one of {list}, not `{given}`", "`{name}` 只能是 {list} 之一，不能是 `{given}`"),
    Text("`{name}` is one of {list}", "`{name}` 只能是 {list} 之一"),
    Text(
        "`{name}` is none, or any of {list}, not `{given}`", "`{name}` 应为 none 或 {list} 中的若干项，不能是 `{given}`"
    ),
    Text("`{name}` is a number such as 2, not `{given}`", "`{name}` 应为数字，例如 2，不能是 `{given}`"),
    Text(
        "`{name}` is {phrase} such as {given} or {other} such as {example}",
        "`{name}` 应为{phrase}（例如 {given}）或{other}（例如 {example}）",
    ),
    Text("`{name}` is {phrase} such as {given}", "`{name}` 应为{phrase}，例如 {given}"),
    Text("`{name}` is a web address", "`{name}` 应为网址"),
    Text(
        "`{name}` is written category/name, in small letters with dashes",
        "`{name}` 应写成 类别/名称，用小写字母与连字符",
    ),
    Text("`{name}` is a text (quote it)", "`{name}` 应为文本（请加引号）"),
    Text("`{name}` is empty", "`{name}` 为空"),
    Text("`{name}` is a list", "`{name}` 应为列表"),
    Text("`{name}` is a mapping", "`{name}` 应为映射"),
    Text("`{name}` is a mapping of {phrase}", "`{name}` 应为映射：{phrase}"),
    Text("`{name}` is a number, not `{given}`", "`{name}` 应为数字，不能是 `{given}`"),
    Text("`{name}` is a number", "`{name}` 应为数字"),
    Text("`{name}` is a whole number", "`{name}` 应为整数"),
    Text("`{name}` is a finite number", "`{name}` 应为有限的数"),
    Text("`{name}` is too small", "`{name}` 过小"),
    Text("`{name}` is too large", "`{name}` 过大"),
    Text(
        "`{name}` is off, on, or a mapping of params and severity",
        "`{name}` 应为 off、on，或含 params 与 severity 的映射",
    ),
    Text(
        "`{name}` is turned off under `rules`, so it never finds anything",
        "`{name}` 已在 `rules` 中关闭，永远不会有发现",
    ),
    # settings
    Text("params are set for one rule, not for a pattern", "params 只能对单条规则设置，不能对通配模式设置"),
    Text("no rule matches `{name}`", "没有规则匹配 `{name}`"),
    Text("no rule is of category `{name}`", "没有类别为 `{name}` 的规则"),
    Text("`{name}` has no param `{param}`", "`{name}` 没有参数 `{param}`"),
    Text(
        "a suppression is a mapping with rule, fingerprint and reason",
        "每条豁免应为含 rule、fingerprint 与 reason 的映射",
    ),
    Text("a suppression names a rule, a fingerprint or both", "豁免应指明 rule、fingerprint 或两者"),
    Text("a suppression needs a reason in words", "豁免需用文字说明 reason"),
    Text("`{name}` is no fingerprint: 16 of 0-9 and a-f", "`{name}` 不是指纹：应为 16 位 0-9、a-f"),
    Text("`{name}` is no day of the calendar", "`{name}` 不是有效日期"),
    Text("`{name}` is more than the whole", "`{name}` 超过整体"),
    Text("`{name}` has no unit", "`{name}` 缺少单位"),
    Text("`{name}` is not {phrase}", "`{name}` 不是{phrase}"),
    # meaning
    Text("`{table}` has no column `{name}`", "`{table}` 没有列 `{name}`"),
    Text(
        "`{name}` is measured; group by names, ranks, steps or flags",
        "`{name}` 是测量值；应按名称、rank、step 或标志分组",
    ),
    Text("`{name}` is not a name", "`{name}` 不能作名称"),
    Text("`{name}` is a word of the language", "`{name}` 是规则语言的保留字"),
    Text("`{name}` is already a column, param or run name", "`{name}` 已是列、参数或运行信息的名称"),
    Text(
        "the last level of `{name}`, and only the last, is `otherwise`",
        "`{name}` 的最后一级（且仅最后一级）为 `otherwise`",
    ),
    Text("`{name}` has one value per row", "`{name}` 每行一个值"),
    Text("`{name}` is neither evidence nor a key of `for_each`", "`{name}` 既不是 evidence，也不是 `for_each` 的键"),
    Text("one value per group is needed, and this has one per row", "此处每组需要一个值，而它每行一个值"),
    Text("expected number[us], found {given}", "应为 number[us]，实为 {given}"),
    Text("expected {phrase}, found {given}", "应为{phrase}，实为 {given}"),
    Text("a row of `{name}` does not say when it happened", "`{name}` 的行不含发生时刻"),
    Text("`{name}` and `{given}` share no key", "`{name}` 与 `{given}` 没有共同的键"),
    Text("`{name}` has no key `{given}`", "`{name}` 没有键 `{given}`"),
    Text("`{name}` and `{given}` are not of one kind", "`{name}` 与 `{given}` 类型不同"),
    Text("`setting` needs the name of an environment variable", "`setting` 需要环境变量名"),
    Text("those that do: {phrase}", "含发生时刻的有：{phrase}"),
    Text("name a pair of columns: `by: {rank: last_rank}`", "请给出一对列：`by: {rank: last_rank}`"),
    # style
    Text("a rule does not explain itself", "规则不能解释自身"),
    Text("`{name}` explains itself by way of others", "`{name}` 经由其他规则解释了自身"),
    Text("the id is the path of the file: `{name}`", "id 应与文件路径一致：`{name}`"),
    Text("a rule has at least {n} cases", "规则至少要有 {n} 个用例"),
    Text("no case in which the rule fires", "缺少规则触发的用例"),
    Text("no case in which the rule is quiet", "缺少规则不触发的用例"),
    Text("two cases have this name", "两个用例同名"),
    Text("param `{name}` is not used", "参数 `{name}` 未被使用"),
    Text("the number {n} in `when` is a threshold", "`when` 中的数 {n} 是阈值"),
    Text("`{name}` is in {given}, which a report cannot show", "`{name}` 的单位是 {given}，报告无法显示"),
    Text("`{name}` holds no Chinese", "`{name}` 中没有中文"),
    Text("`{name}` holds Chinese", "`{name}` 中有中文"),
    Text("`{name}` is defined twice", "`{name}` 定义了两次"),
    # expressions
    Text("not an expression", "不是表达式"),
    Text("expression is longer than {n} characters", "表达式超过 {n} 个字符"),
    Text("expression has more than {n} parts", "表达式超过 {n} 个组成部分"),
    Text("expression is nested more than {n} deep", "表达式嵌套超过 {n} 层"),
    Text("text is longer than {n} characters", "文本超过 {n} 个字符"),
    Text("number is larger than 1e18", "数值大于 1e18"),
    Text("`*` before an argument is not part of the rule language", "规则语言不支持参数前的 `*`"),
    Text("a {given} is not part of the rule language", "规则语言不支持 {given}"),
    Text("{given} is not part of the rule language", "规则语言不支持 {given}"),
    Text("absolute times can only be compared with and subtracted from each other", "绝对时间之间只能比较和相减"),
    Text("cannot combine {left} with {right}", "{left} 与 {right} 不能一起运算"),
    Text("cannot compare {left} with {right}", "{left} 与 {right} 不能比较"),
    Text("cannot choose between {left} and {right}", "不能在 {left} 与 {right} 之间选择"),
    Text("cannot {verb} {left} with {right}", "{left} 与 {right} 不能做 {verb} 运算"),
    Text("compare two things at a time", "一次只比较两项"),
    Text("a {phrase} has no order", "{phrase}没有大小之分"),
    Text("`in` needs a list of literals", "`in` 后应为字面量列表"),
    Text("only the listed functions can be called", "只能调用列出的函数"),
    Text("`{name}` takes no `{given}=`", "`{name}` 没有参数 `{given}=`"),
    Text("`{name}` takes only `where=`", "`{name}` 只接受 `where=`"),
    Text("`{name}` takes two or more numbers", "`{name}` 需要两个或更多的数"),
    Text("`{name}` needs a literal text", "`{name}` 需要文本字面量"),
    Text("`{name}` is written `{usage}`, found {n} arguments", "`{name}` 应写成 `{usage}`，实有 {n} 个参数"),
    Text("`{name}` stands inside another aggregate", "`{name}` 位于另一个聚合函数之内"),
    Text("`{name}` needs a number between 0 and 1, or a param", "`{name}` 需要 0 到 1 之间的数或参数"),
    Text("`{name}` needs a number between 0 and 1", "`{name}` 需要 0 到 1 之间的数"),
    Text("`{name}` needs a column, and this is one value per group already", "`{name}` 需要一列，而它每组已是一个值"),
    Text("`{name}` needs a column of numbers, found {given}", "`{name}` 需要数值列，实为 {given}"),
    Text("`{name}` needs a column of text, found {given}", "`{name}` 需要文本列，实为 {given}"),
    Text("`{name}` of absolute times means nothing", "对绝对时间求 `{name}` 没有意义"),
    # texts
    Text("raw HTML is shown as it stands: `{given}`", "原始 HTML 会原样显示：`{given}`"),
    Text("pictures are not shown: `{given}`", "不支持图片：`{given}`"),
    Text("no link is made to `{given}`", "不会生成指向 `{given}` 的链接"),
)

HINTS: tuple[Text, ...] = (
    Text("did you mean {given}? known here: {list}", "是不是 {given}？可用：{list}"),
    Text("did you mean {given}?", "是不是 {given}？"),
    Text("known here: {list}", "可用：{list}"),
    Text("for example {given}", "例如 {given}"),
    Text("such as {given}", "例如 {given}"),
    Text("{phrase} is written like {given}", "{phrase}写作 {given}"),
    Text("write {given}, without `_` or `,`", "写作 {given}，不带 `_` 与 `,`"),
    Text("a share lies between 0 and 1, or 0% and 100%", "占比在 0 到 1 或 0% 到 100% 之间"),
    Text("write it out", "请直接写出内容"),
    Text(
        "write Markdown: a placeholder as `code`, links to https:// or http:// and without holes",
        "请使用 Markdown：占位符写成 `code`，链接以 https:// 或 http:// 开头且不含花括号变量",
    ),
    Text("save the file as UTF-8", "请将文件保存为 UTF-8"),
    Text("first on line {n}", "首次出现在第 {n} 行"),
    Text("first in {given}", "首次定义于 {given}"),
    Text(
        "a value that begins with one of @ ` % * & stands in quotes: {given}", "以 @ ` % * & 开头的值需加引号：{given}"
    ),
    Text('a text with ": " in it stands in quotes', "含有“: ”的文本需加引号"),
    Text("one that fires, one that is quiet", "至少一个触发、一个不触发"),
    Text("small letters, digits and _", "只用小写字母、数字与 _"),
    Text("choose another name", "请换一个名称"),
    Text("use an aggregate such as `max(…)`", "请用 `max(…)` 之类的聚合函数"),
    Text("name an aggregate with `let`", "请在 `let` 中为聚合命名"),
    Text("name the inner one with `let`", "请在 `let` 中为内层命名"),
    Text("split it with `let`", "请用 `let` 拆分"),
    Text("give it a name and a basis under `params`", "请在 `params` 中命名并写明依据"),
    Text("say how with `as:`", "请用 `as:` 指明显示方式"),
    Text("join with `and`, `or`, `not`", "请用 `and`、`or`、`not` 连接"),
    Text("join with `and`", "请用 `and` 连接"),
    Text("compare with `==`", "请用 `==` 比较"),
    Text("count with `count(where=…)`", "请用 `count(where=…)` 计数"),
    Text("take the difference of two of them first", "请先求两者之差"),
    Text("take differences first", "请先求差"),
    Text("absolute times can only be compared with and subtracted from each other", "绝对时间之间只能比较和相减"),
    Text("it is a function: {given}", "它是函数：{given}"),
    Text("turn it on there, or leave it out here", "请在那里打开，或在此处删去"),
    Text("begin each entry with `- `", "每一项以 `- ` 开头"),
    Text("`advisor check` shows it with each finding", "`advisor check` 在每条发现旁给出指纹"),
    Text("days are written as YYYY-MM-DD", "日期写作 YYYY-MM-DD"),
    Text(
        "`advisor rules list` shows them all; rules of your own need `--rules DIR`",
        "`advisor rules list` 列出全部规则；自有规则需要 `--rules DIR`",
    ),
    Text(
        "against a baseline also `new:high` or `worse:high`, without a blank",
        "对比基线时还可用 `new:high` 或 `worse:high`，不带空格",
    ),
)

PHRASES: tuple[Text, ...] = (
    Text("a condition", "条件"),
    Text("a number", "数"),
    Text("a text", "文本"),
    Text("a bool", "真假值"),
    Text("text", "文本"),
    Text("truth", "真假值"),
    Text("a text or a number", "文本或数"),
    Text("a number or a condition", "数或条件"),
    Text("a share", "占比"),
    Text("a time", "时间"),
    Text("an amount of memory", "内存大小"),
    Text("a share or a time", "占比或时间"),
    Text("rule ids", "规则 id"),
    Text("names to numbers", "名称到数字"),
    Text("rules, categories and severities", "rules、categories 与 severities"),
    Text("floor, relative and spread", "floor、relative 与 spread"),
)

_HOLE = re.compile(r"\{(\w+)\}")
_PREFIX = re.compile(r"([\w.]+): (.+)", re.DOTALL)


def say(error: RuleError, language: str) -> str:
    """All mistakes, one after another, in one language."""
    return "\n".join(tell(mistake, language) for mistake in error.mistakes)


def tell(mistake: Mistake, language: str) -> str:
    """A mistake with its place and its source, in one language; a sentence nobody foresaw stays as it is."""
    if language != "zh":
        return str(mistake)
    hint = _among(HINTS, mistake.hint) or mistake.hint
    shown = str(mistake._replace(what=chinese(mistake.what) or mistake.what, hint=""))
    return f"{shown}\n    提示：{hint}" if hint else shown


def chinese(what: str) -> str | None:
    """The sentence in Chinese; None for one that nobody foresaw."""
    found = _among(SENTENCES, what)
    if found is not None:
        return found
    prefixed = _PREFIX.fullmatch(what)  # the part of the rule it is about
    inner = chinese(prefixed[2]) if prefixed else None
    return f"{prefixed[1]}：{inner}" if prefixed and inner else None


def _among(known: tuple[Text, ...], said: str) -> str | None:
    for one in known:
        found = _pattern(one.en).fullmatch(said)
        if found:
            holes = found.groupdict()
            return _HOLE.sub(lambda hole, holes=holes: _filled(hole[1], holes[hole[1]]), one.zh)  # type: ignore[misc]
    return None


def _filled(name: str, words: str) -> str:
    known = {"phrase": PHRASES, "other": PHRASES, "hint": HINTS}.get(name, ())
    return _among(known, words) or words


@cache
def _pattern(sentence: str) -> re.Pattern[str]:
    """What matches a sentence, whatever stands in its holes; what stands between the marks of code has no such mark."""
    parts = _HOLE.split(sentence)
    quoted = [before.endswith("`") for before in parts[::2]]
    holes = [f"(?P<{name}>{'[^`]*' if in_code else '.+'})" for name, in_code in zip(parts[1::2], quoted, strict=False)]
    fixed = [re.escape(part) for part in parts[::2]]
    return re.compile("".join(a + b for a, b in zip(fixed, [*holes, ""], strict=True)), re.DOTALL)
