# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a project's settings: `advisor.yaml`, or `[tool.advisor]` of a pyproject.toml."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text

TEXTS: Mapping[str, Text] = {
    "settings_are_mapping": Text("settings are a mapping", "设置文件应为映射"),
    "rule_ids": Text("rule ids", "规则 id"),
    "names_to_numbers": Text("names to numbers", "名称到数字"),
    "policy_sections": Text("rules, categories and severities", "rules、categories 与 severities"),
    "compare_sections": Text("floor, relative and spread", "floor、relative 与 spread"),
    "limits": Text("limits", "限值"),
    "rule_ids_to": Text("rule ids to {actions}", "规则 id 到 {actions}"),
    "categories_to": Text("categories to {actions}", "类别到 {actions}"),
    "severities_to": Text("severities to {actions}", "严重程度到 {actions}"),
    # chips
    "chip_names_to_numbers": Text("names of chips to their numbers", "芯片型号到其参数"),
    "numbers_of_a_chip": Text("numbers of a chip, with their source", "芯片参数及其来源（source）"),
    "data_types_to_peaks": Text("data types to 10^12 operations per second", "数据类型到峰值算力（TFLOP/s）"),
    "links_to_rates": Text("kinds of links to 10^9 bytes per second", "链路类型到带宽（GB/s）"),
    "no_chip_name": Text("`{name}` is no name of a chip", "`{name}` 不是有效的芯片型号"),
    "chip_source": Text(
        "a chip needs a `source` in words: a data sheet, a measurement",
        "芯片需用文字写明参数来源 `source`：数据手册或实测",
    ),
    "data_types_to_counts": Text("data types to values in a cycle", "数据类型到每周期处理的个数"),
    "numbers_to_sources": Text("numbers to their sources in words", "参数到其来源的文字说明"),
    "number_source": Text(
        "`{name}` needs a source in words, in `source` or under `sources`",
        "`{name}` 需用文字注明来源，写在 `source` 或 `sources` 中",
    ),
    "no_such_name": Text("`{name}` is none of the names that `{of}` may list", "`{of}` 中不能使用名称 `{name}`"),
    "is_between": Text("`{name}` lies above 0 and below {most}", "`{name}` 应大于 0 且小于 {most}"),
    # rules
    "rule_setting": Text(
        "`{name}` is off, on, or a mapping of params and severity",
        "`{name}` 应为 off、on，或含 params 与 severity 的映射",
    ),
    "threshold_under_params": Text(
        "a threshold of the rule stands below its `params:`", "规则的阈值应写在其 `params:` 之下"
    ),
    "params_for_one_rule": Text(
        "params are set for one rule, not for a pattern", "params 只能对单条规则设置，不能对通配模式设置"
    ),
    "pattern_matches_no_rule": Text("no rule matches `{name}`", "没有规则匹配 `{name}`"),
    "no_rule_of_category": Text("no rule is of category `{name}`", "没有类别为 `{name}` 的规则"),
    "rule_has_no_param": Text("`{rule}` has no param `{name}`", "`{rule}` 没有参数 `{name}`"),
    "own_rules": Text(
        "`advisor rules list` shows them all; rules of your own need `--rules DIR`",
        "`advisor rules list` 列出全部规则；自有规则需要 `--rules DIR`",
    ),
    "demanded_but_off": Text(
        "`{name}` is turned off under `rules`, so it never finds anything",
        "`{name}` 已在 `rules` 中关闭，永远不会有发现",
    ),
    "turn_it_on": Text("turn it on there, or leave it out here", "请在那里打开，或在此处删去"),
    # when a run fails
    "fail_on_is": Text(
        "`fail_on` is none, or any of {levels}, not `{given}`",
        "`fail_on` 应为 none 或 {levels} 中的若干项，不能是 `{given}`",
    ),
    "fail_on_since": Text(
        "against a baseline also `new:high` or `worse:high`, without a blank",
        "对比基线时还可用 `new:high` 或 `worse:high`，不带空格",
    ),
    "none_stands_alone": Text(
        "`none` stands alone: nothing fails a run then, whatever stands beside it",
        "`none` 只能单独使用：它表示任何问题都不使检查失败",
    ),
    "cache_is": Text(
        "`cache` is a folder such as `.advisor-cache`, or has a `folder`",
        "`cache` 应为一个目录，例如 `.advisor-cache`，或用 `folder` 指明目录",
    ),
    "spread_is": Text("`spread` is a number such as 2, not `{given}`", "`spread` 应为数字，例如 2，不能是 `{given}`"),
    # amounts
    "more_than_whole": Text("`{words}` is more than the whole", "`{words}` 超过整体"),
    "has_no_unit": Text("`{words}` has no unit", "`{words}` 缺少单位"),
    "written_like": Text("{what} is written like {example}", "{what}写作 {example}"),
    "write_plainly": Text("write `{words}`, without `_` or `,`", "写作 `{words}`，不带 `_` 与 `,`"),
    "no_share": Text("`{name}` is no share, and is written without %", "`{name}` 不是占比，不带 %"),
    "share_between": Text("a share lies between 0 and 1, or 0% and 100%", "占比在 0 到 1 或 0% 到 100% 之间"),
    # suppressions
    "begin_with_dash": Text("begin each entry with `- `", "每一项以 `- ` 开头"),
    "suppression_is_mapping": Text(
        "a suppression is a mapping with rule, fingerprint and reason",
        "每条豁免应为含 rule、fingerprint 与 reason 的映射",
    ),
    "suppression_names": Text(
        "a suppression names a rule, a fingerprint or both", "豁免应指明 rule、fingerprint 或两者"
    ),
    "suppression_reason": Text("a suppression needs a reason in words", "豁免需用文字说明 reason"),
    "no_fingerprint": Text("`{words}` is no fingerprint: 16 of 0-9 and a-f", "`{words}` 不是指纹：应为 16 位 0-9、a-f"),
    "check_shows_it": Text("`advisor check` shows it with each finding", "`advisor check` 在每条发现旁给出指纹"),
    "no_day": Text("`{words}` is no day of the calendar", "`{words}` 不是有效日期"),
    "days_are_written": Text("days are written as YYYY-MM-DD", "日期写作 YYYY-MM-DD"),
}
