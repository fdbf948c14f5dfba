# SPDX-License-Identifier: Apache-2.0
"""Every fixed word of a comparison, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Language, Text, TimesOf
from advisor.model.comparison import Barrier
from advisor.report.columns import COLUMNS
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording, word_for

_t = Text

WORDS: Mapping[str, Text] = {
    "report": _t("Two profiles compared", "性能对比报告"),
    "before": _t("before", "之前"),
    "after": _t("after", "之后"),
    "delta": _t("difference", "差值"),
    "Delta": _t("Difference", "差值"),
    "Before": _t("Before", "之前"),
    "After": _t("After", "之后"),
    # the verdict
    "worse": _t(
        "A step takes {after}, {delta} longer than before ({before}, {percent}).",
        "单步耗时 {after}，比之前（{before}）慢 {delta}（{percent}）。",
    ),
    "better": _t(
        "A step takes {after}, {delta} less than before ({before}, {percent}).",
        "单步耗时 {after}，比之前（{before}）快 {delta}（{percent}）。",
    ),
    "same": _t(
        "A step takes as long as before, within noise: {before} before, {after} after.",
        "单步耗时没有超出正常波动的变化：之前 {before}，之后 {after}。",
    ),
    "unsure": _t(
        "A step took {before} before and takes {after} after; steps differ by so much, or so few were recorded, that "
        "this may be noise.",
        "单步耗时之前为 {before}，之后为 {after}；step 之间波动过大，或采集的 step 过少，这一变化可能只是波动。",
    ),
    "not comparable": _t(
        "A step took {before} before and takes {after} after; whether the job itself changed cannot be told.",
        "单步耗时之前为 {before}，之后为 {after}，但无法判断任务本身是否有变化。",
    ),
    "worse_window": _t(
        "{the_step} takes {after}, {delta} longer than before ({before}, {percent}).",
        "{the_step}为 {after}，比之前（{before}）长 {delta}（{percent}）。",
    ),
    "better_window": _t(
        "{the_step} takes {after}, {delta} less than before ({before}, {percent}).",
        "{the_step}为 {after}，比之前（{before}）短 {delta}（{percent}）。",
    ),
    "same_window": _t(
        "{the_step} takes as long as before, within noise: {before} before, {after} after.",
        "{the_step}没有超出正常波动的变化：之前 {before}，之后 {after}。",
    ),
    "unsure_window": _t(
        "{the_step} took {before} before and takes {after} after; steps differ by so much, or so few were recorded, "
        "that this may be noise.",
        "{the_step}之前为 {before}，之后为 {after}；step 之间波动过大，或采集的 step 过少，这一变化可能只是波动。",
    ),
    "not comparable_window": _t(
        "{the_step} took {before} before and takes {after} after; whether the job itself changed cannot be told.",
        "{the_step}之前为 {before}，之后为 {after}，但无法判断任务本身是否有变化。",
    ),
    "apart": _t("The two cannot be compared: {why}.", "两份采集不可比：{why}。"),
    "both_times": _t("Before: {before}; after: {after}.", "之前：{before}；之后：{after}。"),
    "a_step": _t("a step", "单步"),
    "a_window": _t("a captured window", "采集窗口"),
    "a_work": _t("all work of the device", "设备全部工作时间"),
    "time_of_step": _t("a step of {time}", "单步 {time}"),
    "time_of_window": _t("a captured window of {time}", "采集窗口 {time}"),
    "time_of_work": _t("work of the device for {time}", "设备工作时间 {time}"),
    "no_time": _t(
        "The step time is not known on both sides: only the findings are compared.",
        "两份采集并非都有单步耗时，只能比较问题。",
    ),
    "mainly": _t("Mainly {entries}.", "主要来自：{entries}。"),
    "mainly_offset": _t(
        "Mainly {entries}, partly offset by {others}.",
        "主要来自：{entries}；部分被 {others} 抵消。",
    ),
    "mainly_none": _t(
        "No single entry of the step changed beyond noise.",
        "没有哪一项的变化单独超出正常波动。",
    ),
    "none_worse": _t("No finding is new or worse.", "没有新增或变差的问题。"),
    "findings_are": _t("Findings: {counts}.", "问题：{counts}。"),
    "no_findings": _t("Neither capture has a finding.", "两次均未发现问题。"),
    "count": _t("{count} {word}", "{word} {count}"),
    "sure_low": _t(
        "one of the two holds a single step, so how much steps vary on their own is not known",
        "其中一份采集只有一个 step，无法得知 step 间的正常波动",
    ),
    "sure_low_both": _t(
        "both hold a single step, so how much steps vary on their own is not known",
        "两份采集都只有一个 step，无法得知 step 间的正常波动",
    ),
    "sure_low_unmarked": _t(
        "the steps of neither can be told apart, so how much one recording differs from the next is not known",
        "两份采集均无法区分各 step，无法得知多次采集之间的正常波动",
    ),
    "sure_medium": _t(
        "the two were not recorded with the same options, and a profiler that records more slows the host down",
        "两次采集的级别或开关不同，采集内容越多对 host 的拖慢越大",
    ),
    "sure_medium_wide": _t(
        "steps within one capture differ so much that a change of a tenth could not be told from noise",
        "同一份采集内各 step 耗时差异过大，一成以内的变化无法与波动区分",
    ),
    # the split
    "part": _t("Part of {the_step}", "{the_step}组成"),
    "step": _t("step", "单步"),
    "window": _t("captured window", "采集窗口"),
    "work": _t("work of the device", "设备工作时间"),
    "step_or_window": _t("in all", "合计"),
    "Noise": _t("Noise", "波动范围"),
    "judged": _t("Judgement", "判断"),
    "split_note": _t(
        "Times {per_step}, means over all ranks. A difference counts when it is larger than the noise.",
        "{per_step}时间，为所有卡的平均值。差值超出波动范围才算变化。",
    ),
    # why it moved
    "moved": _t("Why it changed", "变化从何而来"),
    "moved_note": _t(
        "Every difference between the two captures; together they make up the difference of {the_step}. Where several "
        "kernels run at once, the time counts for the one that began first.",
        "两份账目逐项相减，合计即{the_step}差值。多个算子同时执行时，时间计入先开始的一个。",
    ),
    "no_account": _t(
        "Why it changed is not known: one of the two does not say what a step is spent on. Compare the captures "
        "themselves, or diagnose them again with this version.",
        "无法说明变化来源：其中一份没有单步账目。请直接对比采集目录，或用当前版本重新诊断。",
    ),
    "no_account_apart": _t(
        "Nothing is subtracted here, because the two cannot be compared.",
        "两份采集不可比，此处不作相减。",
    ),
    "others": _t("all others", "其余各项"),
    "all_others": _t("{count} other {count|entry|entries}", "其余 {count} 项"),
    "where": _t("Part", "组成"),
    "what": _t("What", "项目"),
    "count_column": _t("Times {per_step}", "{per_step}次数"),
    "between": _t(", ", "，"),
    "count_change": _t("{change} times {per_step}", "{per_step} {change} 次"),
    "within_noise": _t("within noise", "波动范围内"),
    "total_step": _t("step in all", "单步合计"),
    "total_window": _t("captured window in all", "采集窗口合计"),
    "total_work": _t("work of the device in all", "设备工作时间合计"),
    "unnamed_compute": _t("other kernels", "其他算子"),
    "unnamed_communication": _t("other communication", "其他通信"),
    "unnamed_free": _t("idle without a known cause", "成因未知的空闲"),
    # charts
    "dots": _t("each dot is a step, the line their mean", "每点为一个 step，竖线为均值"),
    "pale": _t(
        "pale bars are differences within noise, full ones are beyond it", "浅色条为波动范围内的差异，深色条超出波动"
    ),
    # findings
    "changes": _t("What happened to the findings", "问题的变化"),
    "saving_from": _t("could save {before} → {after}", "可省 {before} → {after}"),
    "saving_now": _t("could save {after}", "可省 {after}"),
    "saving_then": _t("could have saved {before}", "之前可省 {before}"),
    "how_to_fix": _t("Why it matters and how to fix it", "影响与修改方法"),
    "more_of_them": _t("and {count} more; the JSON output holds all", "另有 {count} 个，完整列表见 JSON 输出"),
    "more_short": _t("and {count} more", "另有 {count} 个"),
    # tables
    "tables": _t("Side by side", "逐项对比"),
    "tables_note": _t(
        "{per_step} and averaged over the ranks, largest difference first; an en dash means not recorded.",
        "均为{per_step}、各卡平均，差值大的在前；短横线表示未采集。",
    ),
    "more_rows": _t(
        "More rows with -o differences.xlsx or -o differences.csv.",
        "更多行见 -o differences.xlsx 或 -o differences.csv。",
    ),
    "left_out": _t("{count} {count|row|rows} with smaller differences left out", "略去差值较小的 {count} 行"),
    "shortest": _t("shortest", "最短"),
    "mean": _t("mean", "平均"),
    "longest": _t("longest", "最长"),
    # the runs
    "runs": _t("The two captures", "两份采集"),
    "notes": _t("How the two captures differ", "两份采集的不同之处"),
    "summary": _t("Summary", "概要"),
}

STATUSES: Mapping[str, Text] = {
    "new": _t("new", "新增"),
    "worse": _t("worse", "变差"),
    "same": _t("the same", "不变"),
    "better": _t("better", "好转"),
    "gone": _t("gone", "消失"),
    "not comparable": _t("not comparable", "无法比较"),
}

BARRIERS: Mapping[Barrier, Text] = {
    "times": _t("one is {first}, the other {second}", "一侧是{first}，另一侧是{second}"),
    "device": _t("one ran on an NPU, the other on a GPU", "一份来自 NPU，另一份来自 GPU"),
    "workload": _t("they do different things", "任务类型不同"),
    "chip": _t("they ran on different chips", "两次运行的芯片型号不同"),
    "size": _t("the number of ranks of the job differs", "任务的卡数不同"),
    "program": _t("they may be different programs", "可能不是同一个程序"),
    "work": _t("a step does a different amount of work", "单步计算量不同"),
    "ranks": _t("different ranks were captured", "采集的卡不同"),
}
"""Why two captures do not compare."""

JUDGEMENTS: Mapping[str, Text] = {
    "worse": _t("longer", "变长"),
    "same": _t("within noise", "波动范围内"),
    "better": _t("shorter", "变短"),
    "not comparable": _t("cannot be told", "无法判断"),
}

TABLES: Mapping[str, Text] = {
    "changes": _t("Findings", "问题"),
    "moved": _t("Why it changed", "变化来源"),
    "ranks": _t("Ranks", "各卡"),
    "kernels": _t("Kernels", "算子（kernel）"),
    "operators": _t("Framework operators", "框架算子"),
    "calls": _t("Host calls", "host 调用"),
    "collectives": _t("Collectives", "通信算子"),
    "memory": _t("Memory peaks", "内存峰值"),
    "allocations": _t("Allocations", "内存申请"),
}

OWN_COLUMNS: Mapping[str, Text] = {
    "status": _t("Change", "变化"),
    "title": OF_REPORTS["finding"],
    "saving_us": OF_REPORTS["saving"],
    **{name: OF_REPORTS[name] for name in ("rule", "severity", "confidence", "reason")},
    "fingerprint": _t("Fingerprint", "指纹"),
    "part": _t("Part of {the_step}", "{the_step}组成"),
    "us": _t("Time {per_step}", "{per_step}耗时"),
    "count": _t("Times {per_step}", "{per_step}次数"),
    "beyond_noise": _t("Beyond noise", "超出波动范围"),
    "device_self_us": _t("Device time without children", "设备耗时（不含子算子）"),
    "host_self_us": _t("Host time without children", "host 耗时（不含子算子）"),
    "reserved_bytes": _t("Reserved", "已预留峰值"),
    "total_us": _t("Time {per_step}", "{per_step}耗时"),
    "mean_us": _t("Mean of one call", "单次平均"),
    "calls": _t("Calls {per_step}", "{per_step}次数"),
    "op": _t("Collective", "通信算子"),
}
"""Columns of the tables that are called otherwise than elsewhere."""

CHARTS: Mapping[str, Text] = {
    "moved": _t("What each entry adds to {the_step}", "各项对{the_step}耗时的影响"),
    "steps": _t("Step times of both captures", "两份采集的各步耗时"),
}

say = Wording(WORDS, OF_REPORTS)
"""The words of a comparison, else those that all reports share."""


def say_column(name: str, language: Language, times_of: TimesOf = "step") -> str:
    """How a column of a table is called; its own name where nobody gave it another."""
    return word_for(OWN_COLUMNS if name in OWN_COLUMNS else COLUMNS, name, language, times_of) or name
