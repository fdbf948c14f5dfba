# SPDX-License-Identifier: Apache-2.0
"""Every fixed word of the comment, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording

_t = Text

WORDS: Mapping[str, Text] = {
    # the verdict
    "step": _t(
        "Mean step {before} → {after} ({percent}): {became}", "平均单步 {before} → {after}（{percent}）：{became}"
    ),
    "window": _t(
        "Captured window {before} → {after} ({percent}): {became}", "采集窗口 {before} → {after}（{percent}）：{became}"
    ),
    "work": _t(
        "Work of the device {before} → {after} ({percent}): {became}",
        "设备工作时间 {before} → {after}（{percent}）：{became}",
    ),
    "worse": _t("slower", "变慢"),
    "same": _t("no change beyond noise", "无明显变化（波动范围内）"),
    "better": _t("faster", "变快"),
    "not comparable": _t("not comparable", "不可比"),
    "no_step": _t("The step time cannot be compared with the baseline.", "单步耗时无法与基线比较。"),
    "diagnosis": _t("Profile diagnosis", "性能诊断"),
    "apart": _t("Not comparable with the baseline: {why}.", "与基线不可比：{why}。"),
    "unsure": _t("Low confidence.", "置信度低。"),
    "unsure because": _t("Low confidence: {why}.", "置信度低：{why}。"),
    "moved": _t("What changed most", "变化最大"),
    # the gate
    "passed": _t("Gate: passed", "门禁：通过"),
    "failed": _t("Gate: failed", "门禁：未通过"),
    "blind": _t("Gate: not judged", "门禁：无法判定"),
    "errors": _t("findings that fail the run: {count}", "判为失败的问题：{count} 个"),
    "budget": _t("{name} {measured} over the limit {limit}", "{name} {measured} 超出上限 {limit}"),
    "expired": _t("expired suppressions: {count}", "已过期的豁免：{count} 条"),
    "unjudged": _t("not judged because there is no baseline: {bars}", "缺少基线，未判定：{bars}"),
    # sections
    "new_or_worse": _t("New or worse", "新增或变差"),
    "better_or_gone": _t("Better or gone", "好转或消失"),
    "others": _t("Other findings: {count}", "其他问题：{count} 个"),
    "conditions": _t("How the two captures differ", "两份采集的差异"),
    "nothing_new": _t("Nothing new and nothing worse than in the baseline.", "与基线相比没有新增或变差的问题。"),
    "no_sum": _t("Savings overlap and do not add up.", "各项收益有重叠，不可相加。"),
    "more": _t("… and {count} more", "……另有 {count} 个"),
    "left_out": _t(
        "Shortened: {count} {count|entry|entries} did not fit into a comment here; the report holds them all.",
        "已缩短：{count} 项超出此处评论的长度，完整内容见报告。",
    ),
    # a finding
    "suppressed": _t("suppressed", "已豁免"),
    "before": _t("before: {saving}", "此前{saving}"),
    # what the command tells
    "created": _t("comment written on {forge}", "已在 {forge} 发表评论"),
    "updated": _t("comment updated on {forge}", "已更新 {forge} 上的评论"),
    "unchanged": _t("comment on {forge} is up to date", "{forge} 上的评论已是最新"),
    "waiting": _t(
        "the forge asks for a pause or does not answer: waiting {seconds} s", "平台要求稍候或未响应：等待 {seconds} 秒"
    ),
    "removed": _t("(duplicates of our own removed: {count})", "（已删除自己的重复评论：{count}）"),
    # the end
    "report": _t("Report", "报告"),
    "made_by": _t("made by advisor {version}", "由 advisor {version} 生成"),
    "made": _t("made by advisor", "由 advisor 生成"),
}

say = Wording(WORDS, OF_REPORTS)
"""The words of the comment, else those that all reports share."""
