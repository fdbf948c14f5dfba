# SPDX-License-Identifier: Apache-2.0
"""Every fixed word of statistics, in both languages."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Language, Text, TimesOf
from advisor.report.columns import COLUMNS
from advisor.report.prose import clean_line
from advisor.report.words import WORDS as OF_REPORTS
from advisor.report.words import Wording, word_for

_t = Text

WORDS: Mapping[str, Text] = {
    "statistics": _t("Statistics of {run}", "{run} 的统计"),
    "all_rows": _t(
        "All rows: -o stats.csv, .xlsx, .parquet or .json, or more of them with --top.",
        "全部行：用 -o stats.csv、.xlsx、.parquet 或 .json 输出，或用 --top 显示更多。",
    ),
    "absent": _t("Missing", "缺少的统计表"),
    "table": _t("Table", "统计表"),
    "reason": _t("Why", "原因"),
    "nothing": _t("There is nothing to count.", "没有可统计的数据。"),
}

TABLES: Mapping[str, Text] = {
    "ranks": _t("Mean step of each rank", "各卡的平均单步"),
    "kernels": _t("Kernels", "算子（kernel）"),
    "rooflines": _t("Operators against the chip's limits (roofline)", "算子与芯片能力对比（roofline）"),
    "operators": _t("Framework operators, host time", "框架算子的 host 耗时"),
    "apis": _t("Calls into the device software", "设备软件接口调用"),
    "collectives": _t("Collectives", "通信算子"),
    "links": _t("Links between ranks", "卡间链路"),
    "p2p": _t("Sends with their receives", "配对的 send 与 receive"),
    "pipeline": _t("Micro-batches of the pipeline", "流水线各 micro-batch"),
    "gaps": _t("Idle time of the device by cause", "设备空闲时间（按成因）"),
    "modules": _t("Modules of the model", "模型的模块"),
    "marks": _t("Marks of the program", "程序打点"),
    "memory": _t("Memory peaks", "内存峰值"),
    "holders": _t("What held the memory at its peak", "内存峰值时的占用者"),
    "traffic": _t("Traffic of memory, cache and links", "显存、缓存与链路的流量"),
    "hosts": _t("Host utilisation", "host 资源使用"),
    "steps": _t("Steps", "各 step"),
}


SHEETS: Mapping[str, Text] = {
    "rooflines": _t("Operators and rooflines", "算子与芯片能力对比（roofline）"),
    "apis": _t("Calls into device software", "设备软件接口调用"),
    "gaps": _t("Idle time by cause", "设备空闲时间（按成因）"),
    "holders": _t("Holders of the memory peak", "内存峰值时的占用者"),
    "traffic": _t("Memory, cache and link traffic", "显存、缓存与链路的流量"),
}
"""Short names for the sheets of tables whose title is longer than the 31 characters that a spreadsheet takes."""

WITHOUT_STEPS: Mapping[TimesOf, Mapping[str, Text]] = {
    "step": {},
    "window": {
        "ranks": _t("Captured window of each rank", "各卡的采集窗口"),
        "steps": _t("Captured windows", "采集窗口"),
        "span_us": _t("Captured window", "采集窗口时长"),
    },
    "work": {
        "ranks": _t("Work of the device on each rank", "各卡的设备工作时间"),
        "steps": _t("Work of the device", "设备工作时间"),
        "span_us": _t("Device work", "设备工作时间"),
    },
}
"""What tables and columns of steps are called where none was marked, by what their times are of."""

say = Wording(WORDS, OF_REPORTS)
"""The words of statistics, else those that all reports share."""


def say_table(name: str, language: Language, times_of: TimesOf = "step") -> str:
    """What a table is called; one that is none of ours by its own name."""
    return word_for({**TABLES, **WITHOUT_STEPS[times_of]}, name, language) or clean_line(name)


def say_column(name: str, language: Language, times_of: TimesOf = "step") -> str:
    """How a column is called; its own name where nobody gave it another."""
    own = WITHOUT_STEPS[times_of].get("span_us") if name == "span_us" else None
    return own.say(language) if own else word_for(COLUMNS, name, language, times_of) or name
