# SPDX-License-Identifier: Apache-2.0
"""What the formats say in words of their own, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text
from advisor.report.words import Wording

_t = Text

WORDS: Mapping[str, Text] = {
    "unplaced": _t(
        "{count} of {total} findings have no line in the source code; code hosts list them without showing them at "
        "one: name a file with --anchor. Lines are recorded of host calls alone, and only with with_stack=True.",
        "{total} 个问题中有 {count} 个没有对应的代码行，代码平台只会列出而无法标注到代码：请用 --anchor 指定文件。"
        "只有采集时设置了 with_stack=True，且问题与 host 调用有关，才有代码行记录。",
    ),
    "too_many": _t(
        "{count} findings are left out: code hosts take no more than {most}",
        "略去 {count} 个问题：代码托管平台最多接受 {most} 个",
    ),
    "skipped": _t("not checked: {reason}", "未能检查：{reason}"),
    "failed": _t("the rule itself failed: {reason}", "规则执行出错：{reason}"),
    "not_applicable": _t("does not apply: {reason}", "不适用：{reason}"),
    "unread": _t("could not be read: {what}", "无法读取：{what}"),
    "rows_lost": _t("rows left out: {rows}", "略去行数：{rows}"),
    "where": _t("{key}: {value}", "{key}：{value}"),
    "suppressed": _t("Suppressed: {reason}", "已豁免：{reason}"),
    "suppressed_by": _t("Suppressed by {owner}: {reason}", "{owner} 已豁免：{reason}"),
    "unused": _t("suppression of {what} meets no finding: remove it", "{what} 的豁免没有命中任何问题，可以删除"),
    "expired": _t(
        "suppression of {what} ended on {date} and holds no longer", "{what} 的豁免已于 {date} 到期，不再生效"
    ),
    "until": _t("{said}, until {date}", "{said}，有效期至 {date}"),
    "budget_kept": _t("{measured}, at most {limit} allowed", "{measured}，上限 {limit}"),
    "budget_unknown": _t("not measured; at most {limit} allowed", "无法测量；上限 {limit}"),
}

say_in_format = Wording(WORDS)
