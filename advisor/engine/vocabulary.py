# SPDX-License-Identifier: Apache-2.0
"""What tables and names of a run are called where people read, and which file of a text export holds a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from advisor.facts import FACTS
from advisor.facts.observed import Group
from advisor.facts.observed.recording import LEVEL1, LEVEL2, NPU, PIPES_ON, STEPS_ON
from advisor.messages.text import Text


def _t(en: str, zh: str) -> Text:
    return Text(en=en, zh=zh)


TABLES: Mapping[str, Text] = {name: fact.called for name, fact in FACTS.items()}
"""What each table is called."""

RUN: Mapping[str, Text] = {
    "step_us": _t("length of a step", "单步时间"),
    "device_idle_share": _t("idle share of the device", "设备空闲占比"),
    "exposed_comm_share": _t("share of exposed communication", "未掩盖通信占比"),
    "step_count": _t("number of steps", "step 数"),
    "rank_count": _t("number of ranks", "卡数"),
    "captured_ranks": _t("number of captured ranks", "已采集的卡数"),
    "world_size": _t("number of ranks of the job", "任务总卡数"),
    "missing_ranks": _t("ranks that were not captured", "未采集的卡"),
    "missing_stages": _t("pipeline stages that were not captured", "未采集的流水线 stage"),
    "level": _t("profiler level", "采集级别"),
    "sampled": _t("samplers that were on", "开启的采样开关"),
    "core_metrics": _t("what was counted within kernels", "采集的硬件计数器组"),
    "call_stacks": _t("whether call stacks were recorded", "是否采集了调用栈"),
    "tp": _t("tensor-parallel size", "TP 大小"),
    "pp": _t("pipeline-parallel size", "PP 大小"),
    "dp": _t("data-parallel size", "DP 大小"),
    "cp": _t("context-parallel size", "CP 大小"),
    "ep": _t("expert-parallel size", "EP 大小"),
    "recorded_alone": _t("the only side that was recorded", "只采集了哪一侧"),
    "sides": _t("whether host and device were recorded", "是否同时采集了 host 与 device"),
    "lost_files": _t("files that were not given", "未提供的文件"),
    "kernel_list": _t("whether kernels are listed beside the timeline", "时间线之外是否另有 kernel 明细"),
    "device_family": _t("family of devices", "设备类别"),
    "framework": _t("framework", "训练框架"),
    "recorder": _t("who recorded", "采集工具"),
    "workload": _t("kind of job", "任务类型"),
    "phase": _t("phase of the inference", "推理阶段"),
    "stack": _t("software stack of the job", "任务所用软件栈"),
    "chip": _t("chip", "芯片型号"),
    "execution": _t("how the job is run", "执行方式"),
    "export": _t("what was read", "数据来源"),
    "cann_version": _t("version of CANN", "CANN 版本"),
    "torch_npu_version": _t("version of torch_npu", "torch_npu 版本"),
}

RUN_VALUES: Mapping[tuple[str, str], Text] = {
    ("workload", "training"): _t("training", "训练"),
    ("workload", "inference"): _t("inference", "推理"),
    ("phase", "mixed"): _t("prefill and decode", "prefill 与 decode 混合"),
    ("recorder", "framework"): _t("the profiler of the framework", "框架的 profiler"),
    ("framework", "other"): _t("none that is known", "未识别"),
    ("device_family", "gpu"): _t("GPU", "GPU"),
    ("sampled", "none"): _t("none", "无"),
    ("call_stacks", "on"): _t("yes", "是"),
    ("call_stacks", "off"): _t("no", "否"),
}
"""Values of the run that are words of this program; others are names and stay as they are."""


class SoughtValue(NamedTuple):
    """A value that was looked for: what it is, which observed table it is taken from, and how to have it."""

    words: Text
    source: str
    record_with: Text | None = None


_TOLD = _t(
    "give the whole *_ascend_pt folder: `profiler_info*.json` in it tells",
    "请给出完整的 *_ascend_pt 目录，该信息在其中的 `profiler_info*.json` 里",
)
_SHAPES = SoughtValue(_t("input shapes of operators", "算子的输入 shape"), "kernels", LEVEL1)
_PATCHES = SoughtValue(_SHAPES.words, "kernels", LEVEL1)
_PIPES = SoughtValue(_t("how busy the pipes of the cores were", "核内各流水线的占用率"), "kernels", PIPES_ON)
_BESIDE = SoughtValue(_t("what ran beside the operators", "算子与其他任务的并行情况"), "kernels", NPU)
_SPLIT = SoughtValue(
    _t("how collectives split into transfer and waiting", "集合通信的传输与等待拆分"), "transfers", LEVEL1
)
_DIRECTIONS = SoughtValue(_t("direction of memory copies", "内存拷贝的方向"), "device_tasks", LEVEL2)
_IDLE = SoughtValue(_t("when the device was idle", "设备何时空闲"), "kernels", NPU)
_PARTS = SoughtValue(_t("what the time of steps was spent on", "单步时间的构成"), "kernels", NPU)
_CLOCK = SoughtValue(_t("AI Core frequency", "AI Core 频率"), "frequencies", NPU)
_LAST = SoughtValue(_t("which rank came last in each collective", "各次集合通信由哪张卡最后到达"), "collectives", NPU)
_SWITCHES = SoughtValue(_t("how the profiler was switched", "profiler 的开关设置"), "", _TOLD)
_MARKS = SoughtValue(_t("marks of steps", "step 标记"), "step_windows", STEPS_ON)
VALUES: Mapping[str, SoughtValue] = {
    "alone_us": _BESIDE,
    "absent_us": SoughtValue(_t("for whom collectives wait", "集合通信在等哪张卡"), "peer_waits", LEVEL1),
    "bare_us": SoughtValue(_t("single transfers within collectives", "集合通信内部的单次传输"), "device_tasks", NPU),
    "blamed_share": _LAST,
    "blocks": SoughtValue(_t("on how many cores operators ran", "算子使用的核数"), "kernels", LEVEL1),
    "bubble_us": _PARTS,
    "busiest_share": _PIPES,
    "comm_us": _PARTS,
    "complete": SoughtValue(_t("whether the profiler was stopped", "profiler 是否正常停止"), "", _TOLD),
    "compute_us": _PARTS,
    "to_host_share": _DIRECTIONS,
    "to_host_us": _DIRECTIONS,
    "copy_us": SoughtValue(_t("memory copies of the device", "设备侧的内存拷贝"), "device_tasks", NPU),
    "device_copy_us": _DIRECTIONS,
    "core": SoughtValue(_t("on which kind of core operators ran", "算子所在的核类型"), "kernels", LEVEL1),
    "exposed_comm_us": _PARTS,
    "exposed_part": _BESIDE,
    "exposed_us": _BESIDE,
    "fastest_mhz": _CLOCK,
    "fixpipe_share": _PIPES,
    "free_us": _PARTS,
    "group_kind": SoughtValue(_t("kinds of communication groups", "通信域的类型"), "groups", Group.record_with),
    "has_steps": _MARKS,
    "idle_us": _IDLE,
    "input_dtypes": SoughtValue(_t("input data types of operators", "算子的输入数据类型"), "kernels", LEVEL1),
    "last_share": _LAST,
    "level_number": _SWITCHES,
    "mac_share": _PIPES,
    "made_wait_again_us": _LAST,
    "made_wait_once_us": _LAST,
    "made_wait_us": _LAST,
    "mhz": _CLOCK,
    "mte1_share": _PIPES,
    "mte2_share": _PIPES,
    "mte3_share": _PIPES,
    "patches": _PATCHES,
    "picks_last": SoughtValue(_t("along which axis lookups pick", "查表沿哪一轴取数"), "kernels", LEVEL1),
    "product_us": _SHAPES,
    "profile_memory": _SWITCHES,
    "second_share": _PIPES,
    "size_bytes": SoughtValue(_t("how much collectives moved", "集合通信的数据量"), "transfers", LEVEL1),
    "span_us": _PARTS,
    "step": _MARKS,
    "step_share": SoughtValue(_t("length of a step", "单步时间"), "step_times", NPU),
    "transit_us": _SPLIT,
    "unshared_us": _BESIDE,
    "wait_us": _SPLIT,
    "with_stack": _SWITCHES,
}
"""By column."""
OF_TABLES: Mapping[tuple[str, str], SoughtValue] = {
    (table, "idle_us"): _SPLIT for table in ("collectives", "collective_calls", "longest_calls")
}
"""By table and column, where other tables have a column of this name that means something else."""

FILES: Mapping[str, str] = {
    "api_totals": "api_statistic.csv",
    "collectives": "trace_view.json",
    "device_tasks": "trace_view.json",
    "frequencies": "trace_view.json",
    "host_calls": "trace_view.json",
    "kernels": "kernel_details.csv",
    "launches": "trace_view.json",
    "links": "communication_matrix.json",
    "memory_uses": "memory_record.csv",
    "module_memory": "npu_module_mem.csv",
    "operator_calls": "operator_details.csv",
    "operator_memory": "operator_memory.csv",
    "operator_totals": "op_statistic.csv",
    "peer_waits": "trace_view.json",
    "step_times": "step_trace_time.csv",
    "transfers": "communication.json",
}
"""The file of a text export without which a table cannot be had."""


def words_for_names(names: Iterable[str], words: Mapping[str, Text] = TABLES) -> Text:
    """What these are called, each once; a name that has no words stays as it is."""
    found = dict.fromkeys(words.get(name) or _t(f"`{name}`", f"`{name}`") for name in names)
    return _t(", ".join(one.en for one in found) or "–", "、".join(one.zh for one in found) or "–")
