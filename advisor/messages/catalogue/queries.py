# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with what an assistant asks of the server."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text

TEXTS: Mapping[str, Text] = {
    "where_is_condition": Text("`where` is a condition, not {found}", "`where` 应为条件，而不是{found}"),
    "compare_something": Text("compare something, such as `duration_us > 100`", "请写成比较，例如 `duration_us > 100`"),
    "limit_is": Text("`limit` is {limit}", "`limit` 为 {limit}"),
    "limit_between": Text(
        "ask for 1 to {most} rows; `total` says how many there are", "可取 1 到 {most} 行，总行数见 `total`"
    ),
    "too_many_names": Text("more than {most} columns, keys and values", "列、分组键与取值超过 {most} 个"),
    "ask_for_fewer": Text("ask for fewer at a time", "请分几次查询"),
    "row_value_in_group": Text(
        "`{name}` has one value per row, and there is one row per group", "`{name}` 逐行取值，而结果按组给出"
    ),
    "aggregate_it": Text("name an aggregate of it in `let`", "请在 `let` 中对它做聚合"),
    "sort_has_rows": Text(
        "`sort` has one value per row, and there is one row per group", "`sort` 逐行取值，而结果按组给出"
    ),
    "sort_by_key": Text("sort by a key or by an aggregate", "请按分组键或聚合值排序"),
    "name_is_measured": Text("`{name}` is measured", "`{name}` 是测量值"),
    "group_by_names": Text("group by names, ranks, steps or flags", "请按名称、rank、step 或标志分组"),
    "name_is_taken": Text("`{name}` is no free name", "`{name}` 不能用作名称"),
    "choose_value_name": Text("choose another name for the value", "请换一个名称"),
    "paths_count_from": Text("paths count from the folders of this server", "路径相对于服务的目录"),
    "path_outside": Text("the path lies outside of the folders that may be read", "路径不在允许读取的目录之内"),
    "roots_are": Text(
        "they are {names}; whoever starts the server allows more with --root",
        "允许的目录：{names}；启动服务时可用 --root 增加",
    ),
    "no_path_given": Text("no path is given", "未给出路径"),
    "no_such_tool": Text("there is no tool `{name}`", "没有名为 `{name}` 的工具"),
    "no_such_argument": Text("the tool {tool} has no argument `{name}`", "工具 {tool} 没有参数 `{name}`"),
    "takes_no_argument": Text("it takes none", "该工具不接受任何参数"),
    "argument_missing": Text("the argument `{name}` is missing", "缺少参数 `{name}`"),
    "argument_unfit": Text("the argument `{name}` does not fit: {why}", "参数 `{name}` 不符合要求：{why}"),
    "name_rule_or_finding_here": Text(
        "give a `rule` such as host/free-time, or a `finding` by its fingerprint",
        "请用 `rule` 给出规则（例如 host/free-time），或用 `finding` 给出问题的指纹",
    ),
    "name_rule_or_these_here": Text(
        "give a `rule` such as host/free-time, or one of these as `finding`: {names}",
        "请用 `rule` 给出规则（例如 host/free-time），或用 `finding` 给出以下之一：{names}",
    ),
    "give_capture_here": Text(
        "give the capture or a saved diagnosis as `path`", "请用 `path` 给出采集数据或保存的诊断"
    ),
    "list_rules_here": Text("`list_rules` shows them all", "可用 `list_rules` 查看全部规则"),
    "is_no_folder": Text("{folder} is no folder", "{folder} 不是目录"),
    "give_root": Text("give --root a folder of captures", "--root 请给出存放采集数据的目录"),
    "too_many_files": Text("more than {count} files", "文件超过 {count} 个"),
    "go_further_down": Text("give a folder further down", "请给出更下层的目录"),
    "saved_has_no_tables": Text("a saved diagnosis has no tables", "保存的诊断中没有数据表"),
    "argument_is": Text("`{name}` is {value}", "`{name}` 为 {value}"),
    "argument_between": Text("1 to {most} can be had at a time", "可取 1 到 {most}"),
    "such_patterns": Text("such as `host/*`; categories: {names}", "例如 `host/*`；类别：{names}"),
    "answer_too_long": Text("the answer has {count} characters", "结果共 {count} 个字符"),
    "ask_for_less": Text("ask for fewer rows, columns or findings", "请减少行数、列数或问题数"),
}
