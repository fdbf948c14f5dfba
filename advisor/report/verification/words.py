# SPDX-License-Identifier: Apache-2.0
"""Every fixed word of a verification, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text
from advisor.report.comparison.words import WORDS as OF_COMPARISONS
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording

_t = Text

WORDS: Mapping[str, Text] = {
    "kept": _t("Fixed: the promise was kept.", "修复有效：达到预期收益。"),
    "partly": _t("Fixed in part.", "修复部分有效。"),
    "not kept": _t("Not fixed: it did not change beyond noise.", "修复无效：该问题的变化未超出正常波动。"),
    "got_worse": _t("Not fixed: it got worse.", "修复无效：问题加重了。"),
    "not known": _t("Whether it was fixed cannot be told.", "无法判断是否修复。"),
    "not known because": _t("Whether it was fixed cannot be told: {why}.", "无法判断是否修复：{why}。"),
    "none known because": _t("Whether anything was fixed cannot be told: {why}.", "无法判断问题是否修复：{why}。"),
    "if_one_program": _t(
        " This holds only if both are the same program: they have little computation in common.",
        "前提是两份采集来自同一程序：两者的算子构成差异很大。",
    ),
    "promised": _t("Promised by the finding (at most)", "诊断给出的预计收益（上限）"),
    "freed": _t("Saving no longer available", "已消除的可优化时间"),
    "grown": _t("Saving available on top of that now", "新增的可优化时间"),
    "won": _t("Step time won", "单步耗时实际缩短"),
    "won_window": _t("Time won of {the_step}", "{the_step}实际缩短"),
    "explained": _t("Of which this finding explains at most", "其中该问题最多可解释"),
    "of_promise": _t("{share} of the promise", "为预计收益的 {share}"),
    "not_estimated": _t("not estimated", "未估算"),
    "unknown": _t("not known", "未知"),
    "watched": _t("What the rule watches", "规则关注的指标"),
    "value": _t("value", "指标"),
    "threshold": _t("threshold", "阈值"),
    "against": _t("New or worse beside it", "同时新增或加重的问题"),
    "nothing": _t("The first capture has no findings: nothing to verify.", "修改前的采集没有发现问题，无需验证。"),
    "all_are": _t("Of {total} {total|finding|findings}: {counts}.", "{total} 个问题中：{counts}。"),
    "count_of": _t("{count} {status}", "{count} 个{status}"),
    "not measured": _t("not measured", "未测得"),
    "no_step": _t("The step time is not known on both sides.", "两份采集并非都有单步耗时。"),
    "better": _t(
        "A step takes {after} instead of {before}: {delta} won.", "单步耗时 {before} → {after}，缩短 {delta}。"
    ),
    "worse": _t(
        "A step takes {after} instead of {before}: {delta} lost.", "单步耗时 {before} → {after}，变长 {delta}。"
    ),
    "not comparable": _t(
        "A step took {before} before and takes {after} after; the two cannot be compared.",
        "单步耗时之前为 {before}，之后为 {after}，两者不可比。",
    ),
    "better_window": _t(
        "{the_step} takes {after} instead of {before}: {delta} won.", "{the_step} {before} → {after}，缩短 {delta}。"
    ),
    "worse_window": _t(
        "{the_step} takes {after} instead of {before}: {delta} lost.", "{the_step} {before} → {after}，变长 {delta}。"
    ),
    "not comparable_window": _t(
        "{the_step} took {before} before and takes {after} after; the two cannot be compared.",
        "{the_step}之前为 {before}，之后为 {after}，两者不可比。",
    ),
    "became": _t("became", "变化"),
    "finding": _t("finding", "问题"),
    "promised_short": _t("promised", "预计收益"),
    "freed_short": _t("of it removed", "其中已消除"),
    "explained_short": _t("explains at most", "最多可解释"),
    "no_sum": _t(
        "A finding can explain no more of a shorter step than its own time went down by. The same time may count in "
        "several findings, so the rows do not add up.",
        "每个问题最多只能解释其自身耗时的下降；同一段时间可能出现在多个问题中，各行不可相加。",
    ),
    "reasons": _t("To bear in mind", "说明"),
}

say = Wording(WORDS, OF_COMPARISONS, OF_REPORTS)
"""The words of a verification, else those of comparisons, else those that all reports share."""
