# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with an expression of a rule."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text

TEXTS: Mapping[str, Text] = {
    # as text
    "not_an_expression": Text("not an expression", "不是表达式"),
    "expression_too_long": Text("expression is longer than {limit} characters", "表达式超过 {limit} 个字符"),
    "expression_too_large": Text("expression has more than {limit} parts", "表达式超过 {limit} 个组成部分"),
    "expression_too_deep": Text("expression is nested more than {limit} deep", "表达式嵌套超过 {limit} 层"),
    "split_it": Text("split it with `let`", "请用 `let` 拆分"),
    "text_too_long": Text("text is longer than {limit} characters", "文本超过 {limit} 个字符"),
    "number_too_large": Text("number is larger than 1e18", "数值大于 1e18"),
    "quote_a_text": Text("a text stands in quotes: {text}", "文本需加引号：{text}"),
    "order_by_sign": Text("`{name}` alone is ascending, `-{name}` descending", "`{name}` 为升序，`-{name}` 为降序"),
    "write_it_as": Text("write `{words}`", "请写成 `{words}`"),
    "write_narrow_sign": Text("write `{narrow}` instead of `{wide}`", "请将 `{wide}` 改为半角的 `{narrow}`"),
    # what is not of the language
    "not_of_language": Text("{part} is not part of the rule language", "规则语言不支持：{part}"),
    "kind_not_of_language": Text("a {kind} is not part of the rule language", "规则语言不支持 {kind} 类型"),
    "no_starred_arguments": Text(
        "`*` before an argument is not part of the rule language", "规则语言不支持参数前的 `*`"
    ),
    "attribute_access": Text("attribute access", "属性访问"),
    "indexing": Text("indexing", "下标访问"),
    "a_lambda": Text("a lambda", "lambda 表达式"),
    "an_f_string": Text("an f-string", "f-string 格式串"),
    "a_list_outside": Text("a list outside `in`", "`in` 以外的列表"),
    "a_comprehension": Text("a comprehension", "推导式"),
    "multiply_instead": Text("multiply instead", "请改用乘法"),
    "no_remainder": Text("there is no remainder", "没有取余运算"),
    "divide": Text("divide with `/`", "请用 `/` 相除"),
    "join_with_and": Text("join with `and`", "请用 `and` 连接"),
    "join_with_or": Text("join with `or`", "请用 `or` 连接"),
    "join_with_words": Text("join with `and`, `or`, `not`", "请用 `and`、`or`、`not` 连接"),
    "negate_with_not": Text("negate with `not`", "请用 `not` 取反"),
    "compare_equal": Text("compare with `==`", "请用 `==` 比较"),
    "compare_unequal": Text("compare with `!=`", "请用 `!=` 比较"),
    # types and units
    "kind_number": Text("number", "数值"),
    "kind_text": Text("text", "文本"),
    "kind_bool": Text("bool", "真假值"),
    "kind_in_unit": Text("{kind}[{unit}]", "{kind}[{unit}]"),
    "expected": Text("expected {wanted}, found {found}", "应为{wanted}，实为{found}"),
    "expected_time": Text("expected number[us], found {found}", "应为数值[us]，实为{found}"),
    "only_compared": Text(
        "absolute times can only be compared with and subtracted from each other", "绝对时间之间只能比较和相减"
    ),
    "take_difference": Text("take the difference of two of them first", "请先求两者之差"),
    "cannot_combine": Text("cannot combine {left} with {right}", "{left}与{right}不能一起运算"),
    "cannot_compare": Text("cannot compare {left} with {right}", "{left}与{right}不能比较"),
    "cannot_choose": Text("cannot choose between {left} and {right}", "不能在{left}与{right}之间选择"),
    "missing_either_way": Text("is `missing` either way", "两种情况都是 `missing`"),
    "missing_outside_choice": Text(
        "`missing` is only one of the two values of `a if c else b`",
        "`missing` 只能作为 `a if c else b` 的两个取值之一",
    ),
    "ask_recorded": Text("`recorded(x)` tells whether a value is there", "用 `recorded(x)` 判断是否有值"),
    "missing_by_division": Text("dividing by 0 stands for a missing value", "用除以 0 表示缺失值"),
    "write_missing": Text("write `missing`: `a if c else missing`", "请写 `missing`：`a if c else missing`"),
    "compare_two": Text("compare two things at a time", "一次只比较两项"),
    "text_has_no_order": Text("a text has no order", "文本没有大小之分"),
    "truth_has_no_order": Text("a truth has no order", "真假值没有大小之分"),
    "list_of_literals": Text("`in` needs a list of literals", "`in` 后应为字面量列表"),
    # functions
    "it_is_a_function": Text("it is a function: `{usage}`", "它是函数：`{usage}`"),
    "known": Text("known: {names}", "可用：{names}"),
    "only_listed_functions": Text("only the listed functions can be called", "只能调用列出的函数"),
    "takes_no": Text("`{name}` takes no `{keyword}=`", "`{name}` 没有参数 `{keyword}=`"),
    "takes_only_where": Text("`{name}` takes only `where=`", "`{name}` 只接受 `where=`"),
    "takes_two_or_more": Text("`{name}` takes two or more numbers", "`{name}` 需要两个或更多的数"),
    "needs_literal_text": Text("`{name}` needs a literal text", "`{name}` 需要文本字面量"),
    "needs_variable": Text("`setting` needs the name of an environment variable", "`setting` 需要环境变量名"),
    "is_written": Text(
        "`{name}` is written `{usage}`, found {count} {count|argument|arguments}",
        "`{name}` 应写成 `{usage}`，实有 {count} 个参数",
    ),
    "inside_another": Text("`{name}` stands inside another aggregate", "`{name}` 位于另一个聚合函数之内"),
    "name_the_inner": Text("name the inner one with `let`", "请在 `let` 中为内层命名"),
    "quantile_or_param": Text(
        "`quantile` needs a number between 0 and 1, or a param", "`quantile` 需要 0 到 1 之间的数或参数"
    ),
    "quantile_between": Text("`quantile` needs a number between 0 and 1", "`quantile` 需要 0 到 1 之间的数"),
    "needs_column": Text(
        "`{name}` needs a column, and this is one value per group already", "`{name}` 需要一列，而它每组已是一个值"
    ),
    "needs_numbers": Text("`{name}` needs a column of numbers, found {found}", "`{name}` 需要数值列，实为{found}"),
    "needs_texts": Text("`{name}` needs a column of text, found {found}", "`{name}` 需要文本列，实为{found}"),
    "count_with_where": Text("count with `count(where=…)`", "请用 `count(where=…)` 计数"),
    "absolute_times_mean_nothing": Text("`{name}` of absolute times means nothing", "对绝对时间求 `{name}` 没有意义"),
    "take_differences": Text("take differences first", "请先求差"),
}
