# SPDX-License-Identifier: Apache-2.0
"""What messages of every place are put together from: hints about names, and what things are called."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text

TEXTS: Mapping[str, Text] = {
    "part": Text("{part}: {what}", "{part}：{what}"),
    "in_expression": Text("expression: {what}", "表达式：{what}"),
    "with_hint": Text("{what}; {hint}", "{what}；{hint}"),
    "either": Text("{one} or {other}", "{one} 或 {other}"),
    "such_as": Text("{what} such as {example}", "{what}（例如 {example}）"),
    "for_example": Text("for example {example}", "例如 {example}"),
    "such_as_alone": Text("such as {example}", "例如 {example}"),
    # names
    "did_you_mean": Text("did you mean {name}?", "是不是 {name}？"),
    "did_you_mean_among": Text("did you mean `{name}`? known here: {names}", "是不是 `{name}`？可用：{names}"),
    "known_here": Text("known here: {names}", "可用：{names}"),
    "unknown_key": Text("unknown key `{name}`", "未知的键 `{name}`"),
    "unknown_table": Text("unknown table `{name}`", "未知的表 `{name}`"),
    "unknown_statement": Text("no guide has a statement `{name}`", "没有名为 `{name}` 的指南条目"),
    "unknown_rule": Text("unknown rule `{name}`", "未知的规则 `{name}`"),
    "unknown_param": Text("unknown param `{name}`", "未知的参数 `{name}`"),
    "unknown_name": Text("unknown name `{name}`", "未知的名称 `{name}`"),
    "unknown_function": Text("unknown function `{name}`", "未知的函数 `{name}`"),
    "unknown_unit": Text("unknown unit `{name}`", "未知的单位 `{name}`"),
    "unknown_chip": Text("unknown chip `{name}`", "未知的芯片型号 `{name}`"),
    "unknown_workload": Text("unknown workload `{name}`", "未知的任务类型 `{name}`"),
    "unknown_stack": Text("unknown stack `{name}`", "未知的软件栈 `{name}`"),
    "no_column_or_value": Text("no column or value `{name}`", "没有列或取值 `{name}`"),
    "no_column": Text("`{table}` has no column `{name}`", "`{table}` 没有列 `{name}`"),
    # shapes of values
    "is_missing": Text("`{name}` is missing", "缺少 `{name}`"),
    "is_one_of": Text(
        "`{name}` is one of {allowed}, not `{given}`", "`{name}` 只能是 {allowed} 之一，不能是 `{given}`"
    ),
    "is_one_of_these": Text("`{name}` is one of {allowed}", "`{name}` 只能是 {allowed} 之一"),
    "is_wanted": Text("`{name}` is {wanted}", "`{name}` 应为{wanted}"),
    "is_not": Text("`{words}` is not {wanted}", "`{words}` 不是{wanted}"),
    "is_text": Text("`{name}` has to be a text (quote it)", "`{name}` 应为文本（请加引号）"),
    "is_empty": Text("`{name}` is empty", "`{name}` 为空"),
    "is_list": Text("`{name}` has to be a list", "`{name}` 应为列表"),
    "is_mapping": Text("`{name}` has to be a mapping", "`{name}` 应为映射"),
    "is_mapping_of": Text("`{name}` has to be a mapping of {items}", "`{name}` 应为映射：{items}"),
    "is_number": Text("`{name}` has to be a number", "`{name}` 应为数字"),
    "is_number_not": Text("`{name}` is a number, not `{given}`", "`{name}` 应为数字，不能是 `{given}`"),
    "is_truth": Text("`{name}` has to be true or false", "`{name}` 应为 true 或 false"),
    "is_whole_number": Text("`{name}` has to be a whole number", "`{name}` 应为整数"),
    "is_finite_number": Text("`{name}` has to be a finite number", "`{name}` 应为有限的数"),
    "is_too_small": Text("`{name}` is too small", "`{name}` 过小"),
    "is_too_large": Text("`{name}` is too large", "`{name}` 过大"),
    "is_web_address": Text("`{name}` is a web address", "`{name}` 应为网址"),
    "is_rule_id": Text(
        "`{name}` is written category/name, in small letters with dashes",
        "`{name}` 应写成 类别/名称，用小写字母与连字符",
    ),
    "said_in_no_language": Text(
        "`{name}` has no text: `en`, `zh` or both", "`{name}` 没有文本：应有 `en`、`zh` 或两者"
    ),
    "has_the_keys": Text("its keys: {names}", "可用的键：{names}"),
    "does_not_fit": Text('`{name}` does not fit: "{said}"', "`{name}` 不符合要求：“{said}”"),
    "list_or_mapping": Text("a list or a mapping", "列表或映射"),
    "given_twice": Text("`{name}` is given twice", "`{name}` 重复出现"),
    # what things are called
    "a_condition": Text("a condition", "条件"),
    "a_number": Text("a number", "数"),
    "a_text": Text("a text", "文本"),
    "a_text_or_number": Text("a text or a number", "文本或数"),
    "a_number_or_condition": Text("a number or a condition", "数或条件"),
    "a_share": Text("a share", "占比"),
    "a_time": Text("a time", "时间"),
    "an_amount_of_memory": Text("an amount of memory", "内存大小"),
    "absolute_time": Text("absolute time", "绝对时间"),
}
