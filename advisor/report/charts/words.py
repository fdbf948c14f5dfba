# SPDX-License-Identifier: Apache-2.0
"""Every fixed word of the charts, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text
from advisor.report.phrases import Phrases
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording

_t = Text

CHARTS: Mapping[str, Text] = {
    "time_split": _t("Time per rank", "各卡时间拆解"),
    "rank_map": _t("Computation and idle time of each rank", "各卡的计算与空闲时间"),
    "step_course": _t("{the_step} from beginning to end", "{the_step}的全过程"),
    "idle_causes": _t("Idle time by cause", "空闲时间的成因"),
    "launch_latency": _t("Launch latency", "下发时延分布"),
    "memory_course": _t("Device memory over the recording", "采集期间的显存"),
    "operators": _t("Operators with most device time", "耗时最多的算子"),
    "rooflines": _t("Operators against the chip's limits (roofline)", "算子与芯片能力对比（roofline）"),
    "rank_steps": _t("Step time by rank and step", "各卡各 step 耗时"),
    "links": _t("Bandwidth between ranks", "卡间带宽"),
}

AXES: Mapping[str, Text] = {
    "ms_step": _t("ms {per_step}", "{per_step} ms"),
    "rank": _t("rank", "rank"),
    "step": _t("step", "step"),
    "ms_in_step": _t("ms from the first work of {the_step}", "距{the_step}首个任务的时间（ms）"),
    "lead_of": _t("{lane}: launch to start", "{lane}：下发到执行"),
    "lead_note": _t(
        "below, how far ahead of its start work was launched: where that falls to a few µs, the device waits for "
        "the host",
        "下图为任务执行前已下发的时间：降到几 µs 处，设备在等 host 下发",
    ),
    "lane_step": _t("rank {rank}, step {step}", "rank {rank}，step {step}"),
    "lane": _t("rank {rank}", "rank {rank}"),
    "lane_longest": _t("rank {rank}, step {step}, the longest", "rank {rank}，最长的 step {step}"),
    "allocated": _t("allocated", "已分配"),
    "reserved": _t("reserved", "已预留"),
    "gib": _t("GiB", "GiB"),
    "ms_in_recording": _t("ms from the first moment recorded", "距首个记录点的时间（ms）"),
    "memory_note": _t(
        "{lane} ({component}): at most {reserved} reserved", "{lane}（{component}）：最多预留 {reserved}"
    ),
    "memory_note_of": _t(
        "{lane} ({component}): at most {reserved} reserved of {capacity}",
        "{lane}（{component}）：最多预留 {reserved}，显存共 {capacity}",
    ),
    "middle_step": _t("step {step}, from the middle of the recording", "step {step}，取自采集中段"),
    "middle_steps": _t("one step from the middle of each rank's recording", "各卡取采集中段的一个 step"),
    "courses_chosen": _t(
        "a selection of ranks, from the one that waits least for others to the one that waits most",
        "从等待最少到等待最多，均匀选取的几张卡",
    ),
    "latency": _t("from host call to device start", "从 host 调用到设备开始"),
    "launches": _t("launches", "下发次数"),
    "source": _t("from rank", "源 rank"),
    "target": _t("to rank", "目的 rank"),
    "ranks_grouped": _t(
        "{count} ranks in groups of up to {size}; each bar is the mean of its group",
        "共 {count} 张卡，每 {size} 个一组，柱长为组内均值",
    ),
    "cells_grouped": _t(
        "{ranks} ranks and {steps} steps; neighbours are drawn as one cell, with their longest step",
        "共 {ranks} 张卡、{steps} 个 step，相邻项合并为一格，取其中最长的 step",
    ),
    "links_grouped": _t(
        "{count} ranks; neighbours are drawn as one cell, with their slowest link",
        "共 {count} 张卡，相邻卡合并为一格，取其中最慢的链路",
    ),
    "steps_grouped": _t(
        "neighbouring ranks are drawn as one cell, with their longest step", "相邻卡合并为一格，取其中最长的 step"
    ),
    "host": _t("host", "主机"),
    "ranks": _t("ranks", "rank"),
    "place": _t("place in it", "机内序号"),
    "median": _t("median", "中位数"),
    "longest": _t("longest", "最长"),
    "beside_median": _t("{ratio} the median", "中位数的 {ratio}"),
    "spread": _t(
        "{count} ranks: median {median}, nine of ten between {low} and {high}",
        "共 {count} 张卡：中位数 {median}，九成介于 {low} 与 {high} 之间",
    ),
    "stand_out": _t(
        "more than {share} above the median: {ranks} (up to {most})", "超出中位数 {share} 以上：{ranks}（最多 {most}）"
    ),
    "none_stands_out": _t("no rank is {share} above the median", "没有卡超出中位数 {share}"),
    "intensity": _t("operations per byte", "每字节运算次数"),
    "tflops": _t("TFLOP/s", "TFLOP/s"),
    "operator": _t("operator", "算子"),
    "roof_share": _t("of its roof", "达到上限的比例"),
    "time_step": _t("{per_step}", "{per_step}"),
    "of_roof": _t("{share} of its roof", "达到上限的 {share}"),
    "roof_note": _t(
        "rank {rank}; lines are the chip's limits with data from memory, circles are shapes: the larger, the more time",
        "rank {rank}；线为数据取自显存时的芯片上限，圆点为一种形状，越大耗时越多",
    ),
    "above_slope": _t(
        "{count} {count|circle stands|circles stand} above the slope: part of the data stayed in the L2 cache, or the "
        "memory is faster than is known",
        "{count} 个圆点高于斜线：部分数据留在 L2 缓存中，或显存带宽高于已知值",
    ),
    "above_peak": _t(
        "{count} {count|circle stands|circles stand} above the level line: the chip can do more than is known of it",
        "{count} 个圆点高于水平线：芯片算力高于已知值",
    ),
    "shapes_of": _t("{shown} of {total} shapes", "{total} 种形状中的前 {shown} 种"),
    "stronger_longer": _t("the darker the colour, the longer", "颜色越浓耗时越长"),
    "between": _t("{low} to {high}", "{low} 至 {high}"),
    "too_little": _t("too few bytes to tell the bandwidth", "数据量过小，看不出带宽"),
    "slowest_of": _t("slowest of {source} → {target}:", "{source} → {target} 中最慢："),
    "size_step": _t("{size} {per_step}", "{per_step} {size}"),
    "lasts": _t("step time", "单步耗时"),
    "link": _t("link", "链路"),
    "bandwidth": _t("bandwidth", "带宽"),
    "moved": _t("moved {per_step}", "{per_step}传输量"),
    "calls_step": _t("{count} {count|call|calls} {per_step}", "{per_step} {count} 次"),
    "mean_of": _t("mean of ranks {ranks}", "rank {ranks} 均值"),
    "stronger_slower": _t("the darker the colour, the slower", "颜色越浓带宽越低"),
    "mean_time": _t("time {per_step}, mean of the ranks", "{per_step}耗时，各卡平均"),
    "top_of": _t("{shown} of {total} operator types", "{total} 类算子中的前 {shown} 类"),
    "total_launches": _t("launches: {count}", "共 {count} 次下发"),
    "total_idle": _t("{time} idle {per_step}", "{per_step}空闲 {time}"),
}


class ChartWords(Phrases):
    """The words of charts, else those that all reports share."""

    wording = Wording(AXES, OF_REPORTS)
