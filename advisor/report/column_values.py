# SPDX-License-Identifier: Apache-2.0
"""What the values of a column are called, where they are out of a fixed set and no names of the profile."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Language, Text
from advisor.report.words import word_for

_t = Text

DAMAGE_KINDS: Mapping[str, Text] = {
    "row": _t("rows or events", "部分行或事件"),
    "truncated": _t("files cut short or damaged inside", "文件被截断或内部损坏"),
    "shortened": _t(
        "files cut short or damaged inside, of which the whole steps count", "文件被截断或内部损坏（仅计完整的 step）"
    ),
    "outrun": _t(
        "traces whose device ends early, of which the whole steps count",
        "device 记录提前结束的 trace（仅计完整的 step）",
    ),
    "unreadable": _t("whole files", "整个文件"),
    "set-aside": _t("ranks that were set aside", "被跳过的卡"),
    "rounded": _t("times without their last digits", "丢失末尾数字的时间戳"),
    "clock": _t("times of an odd clock", "时钟异常的时间"),
}

RECORDED: Mapping[str, Text] = {
    "launches": _t("launches", "下发记录"),
    "host_calls": _t("calls of the host", "host 调用"),
    "device_tasks": _t("tasks of the device", "device 任务"),
    "kernels": _t("kernels", "算子明细"),
    "collectives": _t("collectives", "集合通信"),
    "transfers": _t("transfers", "通信传输"),
    "api_totals": _t("totals of interfaces", "接口汇总"),
    "operator_totals": _t("totals of operators", "算子汇总"),
    "operator_links": _t("links of operators", "算子与任务的关联"),
    "step_windows": _t("marks of steps", "step 标记"),
    "step_times": _t("times of steps", "step 耗时统计"),
}
"""Rows that can be lost, by the table that holds them."""

SIGNS: Mapping[str, Text] = {
    "marks": _t("marks of the engine", "引擎的打点"),
    "calls": _t("calls of its function", "引擎函数的调用"),
    "repetition": _t("what repeats on the device (an estimate)", "设备上的重复规律（估计）"),
    "capture": _t("the capture", "采集信息"),
    "counters": _t("counters of kernels", "算子计数器"),
    "chip": _t("the peak of the chip", "芯片峰值"),
    "name": _t("the name of the chip", "芯片型号"),
}
"""What something was told by."""

CAUSES: Mapping[str, Text] = {
    "python": _t("Python and framework", "Python 与框架"),
    "data_loader": _t("data loader", "数据加载"),
    "synchronise": _t("synchronising call", "同步调用"),
    "blocking_copy": _t("blocking copy", "阻塞式拷贝"),
    "compile": _t("online compilation", "在线编译"),
    "gc": _t("garbage collection", "垃圾回收"),
    "start_up": _t("start-up", "启动开销"),
    "dequeue": _t("task queue behind", "任务队列出队晚"),
    "host_late": _t("late launch", "下发偏晚"),
    "graph": _t("between tasks of one graph", "图内任务之间"),
    "wait": _t("waiting for a stream", "等待事件或其他流"),
    "copy": _t("memory copy", "内存拷贝"),
    "comm_setup": _t("communication set-up", "通信准备"),
    "step_boundary": _t("between steps", "step 边界"),
    "unknown": _t("cause unknown", "原因未知"),
}

VALUES: Mapping[str, Mapping[str, Text]] = {
    "cause": CAUSES,
    "kind": {
        **DAMAGE_KINDS,
        "operator": _t("operator", "框架算子"),
        "optimizer": _t("optimizer", "优化器"),
        "data_loader": _t("data loader", "数据加载"),
        "enqueue": _t("enqueue", "入队"),
        "dequeue": _t("dequeue", "出队"),
        "api": _t("api", "编程接口"),
        "launch": _t("launch", "算子下发"),
        "graph": _t("graph", "图执行"),
        "communicate": _t("communicate", "通信"),
        "runtime": _t("runtime", "运行时"),
        "kernel": _t("kernel", "算子"),
        "comm": _t("collective", "通信"),
        "copy": _t("copy", "拷贝"),
    },
    "of": RECORDED,
    "by": {**RECORDED, **SIGNS},
    "told_by": SIGNS,
    "bound": {"compute": _t("compute", "计算"), "memory": _t("memory", "访存"), "vector": _t("vector", "Vector")},
    "way": {
        "read": _t("read", "读"),
        "write": _t("write", "写"),
        "received": _t("received", "接收"),
        "sent": _t("sent", "发送"),
    },
    "direction": {
        "forward": _t("forward", "前向"),
        "backward": _t("backward", "反向"),
        "forward+backward": _t("forward+backward", "前向+反向"),
        "backward+forward": _t("backward+forward", "反向+前向"),
    },
}
"""By column: a word for each of its values."""


def value_word(value: str, column: str, language: Language) -> str | None:
    """What a value out of a fixed set is called; None for a name from the profile."""
    return word_for(VALUES.get(column, {}), value, language)
