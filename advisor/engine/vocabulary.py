# SPDX-License-Identifier: Apache-2.0
"""What tables and names of a run are called where people read, and which file of a text export holds a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from advisor.facts.observed import Group
from advisor.facts.observed.recording import LEVEL1, LEVEL2, NPU
from advisor.messages.text import Text


def _t(en: str, zh: str) -> Text:
    return Text(en=en, zh=zh)


TABLES: Mapping[str, Text] = {
    "aicpu_stages": _t("what time on the AI CPU goes to", "AI CPU 各阶段耗时"),
    "aicpu_tasks": _t("what time on the AI CPU goes to", "AI CPU 各阶段耗时"),
    "api_totals": _t("sums over API calls", "API 调用汇总"),
    "attention_calls": _t("kernels of attention with marked arguments", "带打点入参的注意力算子"),
    "attention_marks": _t("marks of attention calls", "注意力调用的打点"),
    "attention_shapes": _t("attention by shape, as marked", "按 shape 统计的带打点注意力算子"),
    "bare_copies": _t("copies beside which nothing runs", "未被掩盖的拷贝"),
    "batch_queues": _t("queues of batches", "batch 队列"),
    "batch_waits": _t("times to get batches", "取 batch 的耗时"),
    "cache_copies": _t("copies of the KV cache", "KV 缓存的拷贝"),
    "call_matches": _t("collectives of several ranks", "各卡共有的集合通信"),
    "call_totals": _t("totals of host calls", "host 调用汇总"),
    "chip_limits": _t("what the chip can do", "芯片能力"),
    "absent_waits": _t("waits for ranks that were not captured", "对未采集的卡的等待"),
    "exchanging_kernels": _t("kernels that exchange data with other ranks inside", "内部与其他卡交换数据的算子"),
    "exchanges": _t("waits in kernels that exchange data with other ranks inside", "通算融合算子内部的等待"),
    "rank_splits": _t("where the time of each rank and step goes", "各卡各步的时间分解"),
    "seen_peers": _t("ranks that collectives waited for", "集合通信等待过的卡"),
    "collective_calls": _t("times of single collectives", "各次集合通信的时间"),
    "collective_places": _t("collectives by the operators around them", "按前后算子归类的集合通信"),
    "collectives": _t("collectives", "集合通信"),
    "damages": _t("what could not be read", "无法读取的内容"),
    "data_fetches": _t("GetNext calls", "GetNext 调用"),
    "dataset_operations": _t("operations of the dataset", "数据集的各个操作"),
    "dataset_stages": _t("operations of the dataset and their queues", "数据集各操作及其队列"),
    "decode_sizes": _t("decode steps by number of requests", "按请求数统计的 decode step"),
    "device_tasks": _t("tasks of the device", "device 任务"),
    "devices": _t("clock and cores of the device", "设备的频率与核数"),
    "dispatches": _t("times from launch to kernel", "下发到执行的时间"),
    "engine_borders": _t("where steps of a serving engine begin", "推理引擎各 step 的开始"),
    "engine_steps": _t("steps of a serving engine", "推理引擎的 step"),
    "expert_calls": _t("multiplications of experts", "专家的矩阵乘"),
    "expert_loads": _t("tokens of the experts of each rank", "各卡专家的 token 数"),
    "expert_steps": _t("tokens of the experts of each layer", "各层专家的 token 数"),
    "frequencies": _t("AI Core frequency", "AI Core 频率"),
    "frequency_uses": _t("AI Core frequency", "AI Core 频率"),
    "repeated_sequences": _t("order of kernels", "算子的先后顺序"),
    "chained_operators": _t("order of kernels", "算子的先后顺序"),
    "fusible_chains": _t("order of kernels", "算子的先后顺序"),
    "gaps": _t("idle intervals of the device", "设备空闲区间"),
    "autograd_calls": _t("numbers that autograd gives operators", "autograd 给算子的编号"),
    "gradient_links": _t("links from forward to backward operators", "前向与反向算子的关联"),
    "groups": _t("communication groups", "通信域"),
    "held_kernels": _t("how much is held against what the chip can do", "与芯片能力对比的时间"),
    "holdup_calls": _t("host calls that held up launches", "阻塞下发的 host 调用"),
    "holdup_turns": _t("host costs of ranks in each step", "各卡每个 step 的 host 开销"),
    "holdups": _t("what held up launches on the host", "host 侧阻塞下发的原因"),
    "host_calls": _t("host calls", "host 侧调用"),
    "host_turns": _t("how far hosts of ranks are behind in each step", "各卡每个 step 的 host 滞后"),
    "host_costs": _t("costs of host calls", "host 侧调用的开销"),
    "group_paces": _t("collectives with all their ranks", "同一集合通信在各卡上的记录"),
    "handovers": _t("operators called and launches handed over", "算子调用与任务队列的入队"),
    "host_cpus": _t("load of the host's processors", "host CPU 利用率"),
    "host_uses": _t("use of the host's memory, storage and network", "host 内存、磁盘与网络的使用情况"),
    "host_kinds": _t("kinds of host calls", "host 侧调用的分类"),
    "host_traffic": _t("transfers between ranks of one host", "同一主机内各卡之间的传输"),
    "idle_causes": _t("causes of idle time", "空闲时间的成因"),
    "interruptions": _t("gaps of the launching thread", "下发线程的中断"),
    "job_signs": _t("what tells the kind of job", "判断任务类型的依据"),
    "kernels": _t("kernels", "kernel 明细"),
    "kernel_counters": _t("hardware counters of kernels", "算子的硬件计数器"),
    "kernel_lengths": _t("kernels", "kernel 明细"),
    "l2_cache": _t("L2 cache hit rates", "L2 Cache 命中率"),
    "launch_clocks": _t("times from launch to kernel", "下发到执行的时间"),
    "launch_jitter": _t("evenness of launches", "下发耗时的抖动"),
    "launch_latencies": _t("times from launch to kernel", "下发到执行的时间"),
    "launch_forms": _t("kernels launched one by one or as graphs", "算子逐个下发还是以图下发"),
    "launch_pauses": _t("pauses of the device for late launches", "等待 host 下发的空闲区间"),
    "passed_tasks": _t("tasks that threads of the host passed on", "host 线程之间转交的任务"),
    "phase_launches": _t("launches by phase of a serving engine", "按推理阶段统计的下发"),
    "launch_modes": _t("how operators were launched", "算子下发方式"),
    "launch_waits": _t("times from launch to kernel", "下发到执行的时间"),
    "launches": _t("launches", "下发记录"),
    "link_ends": _t("traffic between ranks", "卡间通信量"),
    "link_uses": _t("traffic between ranks", "卡间通信量"),
    "links": _t("traffic between ranks", "卡间通信量"),
    "longest_calls": _t("longest collectives", "最长的集合通信"),
    "bus_rates": _t("how fast collectives move data", "集合通信的传输速率"),
    "meetings": _t("collectives with all their ranks", "同一集合通信在各卡上的记录"),
    "memory_courses": _t("use of device memory over time", "显存随时间的变化"),
    "memory_holders": _t("device memory by operator", "各算子显存"),
    "memory_peaks": _t("peaks of device memory", "显存峰值"),
    "memory_uses": _t("use of device memory", "显存使用"),
    "module_holders": _t("device memory by module", "各模块显存"),
    "module_marks": _t("marks of modules", "模块标记"),
    "module_memory": _t("device memory by component", "各组件显存"),
    "module_operators": _t("operators by module", "各模块的算子"),
    "module_peaks": _t("device memory by component", "各组件显存"),
    "module_ranges": _t("calls of modules", "模块调用"),
    "module_types": _t("operator types by module", "各模块的算子类型"),
    "modules": _t("modules of the model", "模型的模块"),
    "moves": _t("transfers within collectives", "集合通信中的传输"),
    "operator_calls": _t("operator calls of the framework", "框架算子调用"),
    "operator_counters": _t("hardware counters of operators", "各类算子的硬件计数器"),
    "operator_links": _t("links from framework operators to tasks", "框架算子到 device 任务的关联"),
    "operator_memory": _t("device memory by operator", "各算子显存"),
    "operator_rooflines": _t("operators beside what the chip can", "算子与芯片能力的对比"),
    "operator_paces": _t("operators in slow and quick steps", "快慢 step 中的算子耗时"),
    "operator_shapes": _t("operators by shape", "按 shape 统计的算子"),
    "operator_stacks": _t("where operators of the framework are called", "框架算子的调用位置"),
    "operator_totals": _t("sums over operator types", "算子类型汇总"),
    "operator_trends": _t("growth of operators from step to step", "算子耗时随 step 的变化"),
    "operators": _t("operators", "算子统计"),
    "overlap_slowdowns": _t("operators with and without communication beside them", "有无通信并行时的算子耗时对比"),
    "overlap_tracks": _t("the profiler's own overlap analysis", "profiler 自带的重叠分析"),
    "overlaps": _t("compute, communication and idle time of steps", "step 的计算、通信与空闲时间"),
    "paired_calls": _t("sends with their receives", "配对的 send 与 receive"),
    "pattern_modules": _t("fusible chains by module", "各模块的可融合算子串"),
    "pattern_operators": _t("framework operators behind fusible chains", "可融合算子串对应的框架算子"),
    "patch_convolutions": _t("convolutions of patches", "patch 卷积"),
    "peer_waits": _t("for whom collectives wait", "集合通信在等哪张卡"),
    "port_counters": _t("counters of network ports", "网口计数器"),
    "traffic_samples": _t("traffic of memory and links", "显存、缓存与链路的流量"),
    "traffic_uses": _t("traffic of memory and links", "显存、缓存与链路的流量"),
    "port_uses": _t("counters of network ports", "网口计数器"),
    "program_marks": _t("marks of the program", "程序打点"),
    "rank_captures": _t("how ranks were captured", "各卡的采集方式"),
    "rank_flops": _t("floating-point operations of ranks", "各卡的浮点计算量"),
    "rank_phases": _t("phases of steps", "迭代各阶段的时间"),
    "rank_times": _t("times of all ranks side by side", "各卡时间对比"),
    "recomputations": _t("what is computed again", "重计算"),
    "recorded_spans": _t("recorded intervals", "采集区间"),
    "ranks_set_aside": _t("ranks that were set aside", "被跳过的卡"),
    "differing_descriptions": _t("what ranks say of their job and software", "各卡记录的任务规模与软件版本"),
    "repeated_recordings": _t("recorded intervals", "采集区间"),
    "endings": _t("what passes after the last work of the last step", "最后一个 step 的末个任务之后的时间"),
    "outer_pauses": _t("pauses between steps that belong to none", "不属于任何 step 的停顿"),
    "preparations": _t("what passes before the first work of each step", "每个 step 首个任务之前的时间"),
    "removals": _t("what a step lasts without some kernels", "去掉部分算子后的单步时间"),
    "settings": _t("environment variables and profiler switches", "环境变量与 profiler 开关"),
    "shape_counts": _t("kernels", "kernel 明细"),
    "spending": _t("account of the step", "单步时间账目"),
    "stage_flops": _t("floating-point operations of stages", "各 stage 的浮点计算量"),
    "stage_times": _t("times of pipeline stages", "各流水线 stage 的时间"),
    "left_out_steps": _t("steps that do not count", "未计入的 step"),
    "start_up_steps": _t("first steps that do not count", "未计入的最初 step"),
    "start_ups": _t("how the capture began", "采集开始时的启动段"),
    "stalls": _t("long pauses of the host", "host 侧的长停顿"),
    "step_courses": _t("the course of a step", "step 内各时间片的去向"),
    "step_loads": _t("work of each rank in each step", "各卡每个 step 的工作量"),
    "step_mfus": _t("how much of the peak a step uses", "单步的算力利用率"),
    "step_phases": _t("phases of steps", "迭代各阶段的时间"),
    "step_spans": _t("lengths of steps", "step 时长"),
    "step_times": _t("the profiler's step times", "profiler 的 step 时间统计"),
    "step_work": _t("work of the kernels of each step", "每个 step 的算子工作量"),
    "step_jitters": _t("steps longer than others, waits for other ranks aside", "各 step 的时长波动（不含等待其他卡）"),
    "step_variations": _t("what makes steps longer than others", "各 step 变长的原因"),
    "step_windows": _t("marks of steps", "step 标记"),
    "graph_runs": _t("runs of compiled graphs", "图的各次执行"),
    "unmarked_pauses": _t("pauses where no step was marked", "未标记 step 时的停顿"),
    "transfer_paces": _t("transfers in slow and quick steps", "快慢 step 中的传输耗时"),
    "transfers": _t("transfers by link and size", "按链路与大小统计的传输"),
    "unused_forwards": _t("forward passes whose gradient nobody takes", "没有反向的前向计算"),
    "type_operators": _t("framework operators behind operator types", "各类算子对应的框架算子"),
    "coverage": _t("how much of each file is there", "各文件的完整程度"),
    "rank_coverage": _t("how much of each file is there", "各文件的完整程度"),
    "witnesses": _t("the profiler's own sums", "profiler 自己的统计"),
}

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

TELL_JOB = _t(
    "say it with `--workload` and `--stack`, or in advisor.yaml; operators and call stacks show it too",
    "请用 `--workload`、`--stack` 或在 advisor.yaml 中指明；采集到的算子与调用栈也能判断",
)
"""How to have it known what kind of job ran."""


class SoughtValue(NamedTuple):
    """A value that was looked for: what it is, which observed table it is taken from, and how to have it."""

    words: Text
    source: str
    record_with: Text | None = None


PIPES_ON = _t("record with aic_metrics=PipeUtilization", "采集时设置 aic_metrics=PipeUtilization")
_TOLD = _t(
    "give the whole *_ascend_pt folder: `profiler_info*.json` in it tells",
    "请给出完整的 *_ascend_pt 目录，该信息在其中的 `profiler_info*.json` 里",
)
STEPS_ON = _t(
    "call prof.step() at the end of every step, so that steps are marked",
    "每个 step 结束时调用 prof.step()，以标记 step",
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
