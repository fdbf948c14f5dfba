# SPDX-License-Identifier: Apache-2.0
"""Every fixed word of an explanation, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording

_t = Text

WORDS: Mapping[str, Text] = {
    "reads": _t("What it reads", "读取的数据"),
    "reads_table": _t("Table `{table}`", "表 `{table}`"),
    "reads_also": _t("It also needs {tables}.", "另需 {tables}。"),
    "record": _t("To get it: {how}.", "获取方法：{how}。"),
    "column": _t("Column", "列"),
    "unit": _t("Unit", "单位"),
    "holds": _t("Holds", "含义"),
    "key": _t("Key", "字段"),
    "expression": _t("Expression", "表达式"),
    "may_cause": _t("Its findings may be the cause of {rules}.", "可能引发：{rules}。"),
    "thresholds": _t("Thresholds in force", "生效阈值"),
    "moved": _t("{value}; the rule file says {shipped}", "{value}，规则文件中为 {shipped}"),
    "moved_at": _t(
        "{value}; the rule file says {shipped}, {where} sets it", "{value}，规则文件中为 {shipped}，由 {where} 设置"
    ),
    "outcome": _t("Outcome in this run", "本次运行的结论"),
    "fired": _t("It fired: {count} {count|finding|findings}.", "触发，共 {count} 个问题。"),
    "quiet": _t("It was checked and found nothing wrong.", "已检查，未发现问题。"),
    "quiet_nothing": _t(
        "It was checked, but the run has nothing it applies to.",
        "已检查，没有与该规则相关的数据。",
    ),
    "near": _t("Came near: {subject}", "最接近触发：{subject}"),
    "near_run": _t("What it measured where it stayed quiet", "未触发时的测得值"),
    "measured": _t("What it measured", "测得的值"),
    "measured_at": _t("at {place}, the worst place", "取自最严重处：{place}"),
    "measured_near": _t("where it came nearest to firing", "取自最接近触发处"),
    "name": _t("Name", "名称"),
    "per_row": _t("one per row", "逐行取值"),
    "not_kept": _t(
        "– means not recorded, or not kept in a saved diagnosis: give the capture to see it.",
        "– 表示未采集，或保存的诊断中没有此值；给出采集目录即可查看。",
    ),
    "held_against": _t("How it compares with the thresholds", "与阈值的比较"),
    "decides": _t("Decides", "决定"),
    "when": _t("whether it fires", "是否触发"),
    "severity_level": _t("severity {level}", "严重程度“{level}”"),
    "confidence_level": _t("confidence {level}", "置信度“{level}”"),
    "condition": _t("Condition", "条件"),
    "stood": _t("Values", "取值"),
    "met": _t("Holds?", "成立？"),
    "yes": _t("yes", "是"),
    "no": _t("no", "否"),
    "unknown": _t("cannot be told", "无法判断"),
    "first_level": _t("The first level whose condition holds counts.", "各级别按顺序判断，取第一个成立的。"),
    "worth": _t("How the saving was computed", "收益的计算"),
    "worth_place": _t("`{expression}` gives {us} here.", "`{expression}` 在此处得到 {us}。"),
    "worth_all": _t("Over all places: {saving}; {across}.", "综合各处：{saving}（{across}）。"),
    "worst": _t("the worst rank counts, because the others wait for it", "取最差的卡，其他卡都在等它"),
    "mean": _t("the mean over the ranks", "取各卡的平均"),
    "least": _t("the least that any rank saves", "取各卡的最小值"),
    "critical": _t(
        "how much sooner the rank that then ends last would end, including what it waited for the others",
        "取修复后最晚结束的卡所提前的时间，其原先等待其他卡的时间一并计入",
    ),
    "worst_or_critical": _t(
        "where all ranks have it, what the worst of them saves; otherwise, and in an RL job, how much sooner the rank "
        "that then ends last would end, including what it waited for the others",
        "各卡都有时取最差的卡；只有部分卡有时（强化学习任务则一律如此），取修复后最晚结束的卡所提前的时间，其原先等待其他卡的时间一并计入",
    ),
    "assumes": _t("It assumes: {words}", "前提：{words}"),
    "not_asked": _t(
        "To see what it said about a run, give a capture, or a saved report with --in.",
        "给出采集目录，或用 --in 给出已保存的报告，即可查看它对某次运行的结论。",
    ),
    "chains": _t("Chains of small operators that {fused} replaces", "可由 {fused} 替换的小算子串"),
    "chains_in_training": _t(
        "Chains of small operators that {fused} replaces in training", "训练中可由 {fused} 替换的小算子串"
    ),
    "chains_in_inference": _t(
        "Chains of small operators that {fused} replaces in inference", "推理中可由 {fused} 替换的小算子串"
    ),
    "orders": _t("Operators in order; those with ? may be missing", "算子顺序（带 ? 的可以没有）"),
    "spellings": _t("What the words in capitals stand for", "大写词所代表的算子类型"),
    "told_by": _t("Rules that report it", "由以下规则给出结论"),
    "more_cases": _t(
        "More subjects: {count}. Ask for one with --finding: {names}",
        "另有 {count} 个对象，可用 --finding 指定：{names}",
    ),
}

say_explained = Wording(WORDS, OF_REPORTS)
"""The words of explanations, else those that all reports share."""
