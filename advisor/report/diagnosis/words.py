# SPDX-License-Identifier: Apache-2.0
"""Every fixed word of the sheets of a diagnosis that its report does not say, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording

_t = Text

WORDS: Mapping[str, Text] = {
    "findings": _t("Findings", "问题"),
    "evidence": _t("Evidence", "依据"),
    "excerpt": _t("Rows behind", "相关数据"),
    "account": _t("Where a step goes", "单步耗时构成"),
    "unchecked": _t("Not checked", "未检查"),
    "us": _t("µs per step", "每步 µs"),
    "saving_us": _t("Saving (µs per step)", "收益 (每步 µs)"),
    "estimate": _t("estimate", "估算方式"),
    "share": _t("share of the step", "占单步比例"),
    "count": _t("per step", "每步次数"),
    "where": _t("part of the step", "单步组成"),
    "name": _t("name", "名称"),
    "rules": _t("rules", "规则"),
    "why": _t("reason", "原因"),
    "unit": _t("unit", "单位"),
}
say_in_sheet = Wording(WORDS, OF_REPORTS)
"""The words of the sheets, else those that all reports share."""
