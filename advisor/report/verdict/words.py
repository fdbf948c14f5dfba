# SPDX-License-Identifier: Apache-2.0
"""Every fixed word of a verdict, in both languages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from advisor.messages.text import Text
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording

if TYPE_CHECKING:
    from advisor.model.verdict import BudgetName

_t = Text

WORDS: Mapping[str, Text] = {
    # against the baseline
    "count": _t("{count} {word}", "{word} {count} 个"),
    "no_change": _t("no findings on either side", "两侧均无问题"),
    "apart": _t("they cannot be compared: {why}", "两者不可比：{why}"),
    "step_time": _t("mean step {before} → {after} ({judged})", "各卡平均单步 {before} → {after}（{judged}）"),
    "window_time": _t("{the_step} {before} → {after} ({judged})", "{the_step} {before} → {after}（{judged}）"),
    # findings
    "because": _t("set by {by}", "依据 {by}"),
    "warnings": _t("Warnings", "警告"),
    "known": _t("Known from the baseline, not worse: {count}", "基线中已有且未变差：{count} 个"),
    "more": _t("and {count} more", "另有 {count} 个"),
    # budgets
    "budget": _t("Budget", "预算"),
    "limit": _t("Limit", "上限"),
    "measured": _t("Measured", "实测"),
    "result": _t("Result", "结果"),
    "kept": _t("kept", "达标"),
    "exceeded": _t("exceeded", "超限"),
    "exceeded_warn": _t("exceeded (warning)", "超限（警告）"),
    "unmeasured": _t("not measured", "无法测量"),
    # suppressions
    "suppressed": _t("Suppressed", "已豁免"),
    "expired": _t("Expired suppressions, no longer in force", "已过期、不再生效的豁免"),
    "unused": _t("Suppressions that match no finding and can be removed", "未匹配到任何问题、可以删除的豁免"),
    "until": _t("until {day}", "有效期至 {day}"),
    "was_until": _t("ended {day}", "已于 {day} 到期"),
    "suppress": _t(
        "To accept a finding for now, give the reason under `suppressions:` in {file}",
        "如需暂时接受某个问题，请在 {file} 的 `suppressions:` 下写明原因",
    ),
    "reason_here": _t("why the project accepts it", "为什么暂时接受"),
}

BUDGETS: Mapping[BudgetName, Text] = {
    "free_share": _t("idle share", "空闲占比"),
    "step_time": _t("step, slowest rank", "最慢卡单步耗时"),
    "memory": _t("peak memory", "显存峰值"),
    "saving_left": _t("largest saving left", "最大剩余收益"),
    "slowdown": _t("slowdown of the mean step", "平均单步变慢"),
}
"""What budgets are called wherever they are told."""

say = Wording(WORDS, OF_REPORTS)
"""The words of a verdict, else those that all reports share."""
