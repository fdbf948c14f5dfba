# SPDX-License-Identifier: Apache-2.0
"""Files that msprof and the profilers of frameworks write and of which nothing is read, each with the reason.

Names as msprof's documentation has them.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from advisor.messages.text import Text


def _t(en: str, zh: str) -> Text:
    return Text(en, zh)


_SUMS = _t("it sums up what is read call by call", "是逐次调用数据的汇总，已读取明细")
_TIMELINE = _t("the timeline holds the same", "时间线中包含相同内容")
_FIRMWARE = _t(
    "it tells of the software of the device, which no program can change",
    "反映设备自身软件的执行情况，用户程序无法改变",
)
_PROCESSES = _t(
    "it counts processes of the host by their names, and nothing tells which belong to the job",
    "按进程名统计 host 进程，无法判断哪些属于本任务",
)
_NO_KERNELS = _t(
    "cores sampled by the clock, whatever kernel runs: it names none",
    "按时间采样的核利用率，不区分 kernel",
)
_NO_THRESHOLD = _t("no public threshold tells when it is too much", "没有公开阈值可判断其是否过高")
_UNIT = _t(
    "steps inside of collectives on the communication unit (CCU): no recording was at hand to tell what they wait for",
    "通信加速单元（CCU）上通信算子的内部步骤：手头没有采集数据可验证其等待关系",
)
_MEMORY = _t("the memory is read by component and by operator", "显存已按组件与算子读取")

WHY: Mapping[str, Text] = {
    "communication_statistic": _SUMS,
    "hccl_statistic": _SUMS,
    "task_time": _TIMELINE,
    "msprof_tx": _TIMELINE,
    "fusion_op": _t(
        "which operators were fused when a graph was built: what could still be is told by the kernels that ran",
        "整图编译时已融合的算子：仍可融合的部分由实际执行的 kernel 判断",
    ),
    "os_runtime_statistic": _t(
        "calls of the system as tracers saw them, which slow the program down so much that its times tell nothing",
        "由 perf、ltrace 跟踪得到的系统调用，跟踪本身会明显拖慢程序，耗时不可作为依据",
    ),
    "host_cpu_usage": _t(
        "how many processors the process ran on; how busy it kept them is read from the timeline or the database",
        "进程占用的核数；利用率由时间线或数据库读取",
    ),
    "process_cpu_usage": _PROCESSES,
    "process_mem": _PROCESSES,
    "npu_mem": _MEMORY,
    "static_op_mem": _MEMORY,
    "dataset": _t(
        "how long operations of the dataset took on average, many of them side by side: which one holds up the others "
        "is told by the queues between them",
        "各数据操作的平均耗时；操作之间并行执行，瓶颈由操作之间的队列判断",
    ),
    "minddata_pipeline_summary": _t(
        "its queues are those of minddata_pipeline_raw_*.csv; what batches waited for is told by the samples in "
        "FRAMEWORK",
        "队列数据与 minddata_pipeline_raw_*.csv 相同；batch 的等待由 FRAMEWORK 中的采样判断",
    ),
    "ccu_mission": _UNIT,
    "ccu_channel": _UNIT,
    "qos": _TIMELINE,
    "soc_pmu": _NO_THRESHOLD,
    "page_fault": _NO_THRESHOLD,
    "ub": _NO_THRESHOLD,
    "llc_aicpu": _NO_THRESHOLD,
    "llc_ctrlcpu": _NO_THRESHOLD,
    "llc_bandwidth": _NO_THRESHOLD,
    "inter_soc_transmission": _NO_THRESHOLD,
    "acc_pmu": _NO_THRESHOLD,
    "dvpp": _NO_THRESHOLD,
    "dp": _t(
        "it logs what sends batches to the device, action by action: no document says which of the actions wait",
        "逐条记录数据下发动作，文档未说明哪些动作属于等待",
    ),
    "ai_core_utilization": _NO_KERNELS,
    "ai_vector_core_utilization": _NO_KERNELS,
    **{
        f"{core}_{what}": _FIRMWARE
        for core in ("ai_cpu", "ctrl_cpu", "ts_cpu")
        for what in ("pmu_events", "top_function")
    },
    "prof_rule": _t("msprof's own advice", "msprof 自带的建议"),
}
"""By the kind of a file, as its name begins: why nothing is read of it."""
_OP_ARGS = _t(
    "documents name the contents of these files and not how they spell them; shapes, types and formats are read from "
    "the list of kernels",
    "文档未说明其字段写法；shape、数据类型与格式取自 kernel 列表",
)
_FRAMEWORK = _t(
    "raw data of the framework, but for what MindSpore samples of its data pipeline, which is read",
    "框架侧原始数据（其中 MindSpore 数据处理的采样文件会读取）",
)
_NAME = re.compile(
    rf"({'|'.join(sorted(WHY, key=len, reverse=True))})(?:_slice_\d{{1,6}})?(?:_\d{{1,20}})*\.(?:csv|json)"
)


def why_unused(name: str) -> Text | None:
    """Why nothing is read of a file or folder of this name; None where it is not known to be of no use."""
    if name.rstrip("/").endswith("_op_args"):
        return _OP_ARGS
    if name == "FRAMEWORK/":
        return _FRAMEWORK
    found = _NAME.fullmatch(name)
    return WHY[found[1]] if found and (found[1], name[-4:]) != ("task_time", "json") else None
