# SPDX-License-Identifier: Apache-2.0
"""How to have with the command msprof what was not recorded: it records a program from outside, and no framework."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.facts.derived.job import SEVERAL_STEPS
from advisor.facts.observed.recording import BOTH, LEVEL1, MEMORY, NPU, PIPES_ON, STEPS_ON, TELL_JOB
from advisor.messages.text import Text
from advisor.sources.recorder_hints import RecorderHints

NOT_RECORDED = Text(
    en="msprof does not record it; the profiler of the framework does",
    zh="msprof 不采集此项，请用框架自带的 profiler 采集",
)
_TASKS = Text(en="record with `msprof --task-time=l1`", zh="采集时使用 `msprof --task-time=l1`")
_STEPS = Text(
    en="msprof marks steps only where whole graphs are run; else record with the profiler of the framework",
    zh="msprof 仅在整图执行时标记 step；其他情况请用框架自带的 profiler 采集",
)
_INFO = Text(
    en="say it with `--chip NAME` or `chip` in advisor.yaml, or give the whole folder `PROF_*`: its info.json names it",
    zh="请用 `--chip 型号` 或 advisor.yaml 中的 `chip` 指明，或给出完整的 `PROF_*` 目录（其中的 info.json 有记录）",
)
_ANALYSE = Text(
    en="run `msprof --analyze=on --rule=communication,communication_matrix --output=PROF_DIR` where it was recorded",
    zh="在采集机器上执行 `msprof --analyze=on --rule=communication,communication_matrix --output=PROF_DIR`",
)
OF_SWITCH: Mapping[Text, Text] = {
    NPU: _TASKS,
    BOTH: Text(
        en="record with `msprof --ascendcl=on --runtime-api=on --task-time=l1`",
        zh="采集时使用 `msprof --ascendcl=on --runtime-api=on --task-time=l1`",
    ),
    LEVEL1: _TASKS,
    SEVERAL_STEPS: SEVERAL_STEPS,
    MEMORY: Text(en="record with `msprof --task-memory=on`", zh="采集时使用 `msprof --task-memory=on`"),
    PIPES_ON: Text(
        en="record with `msprof --ai-core=on --aic-metrics=PipeUtilization`",
        zh="采集时使用 `msprof --ai-core=on --aic-metrics=PipeUtilization`",
    ),
    STEPS_ON: _STEPS,
}
"""By the switch of the profilers of frameworks that records the same."""
OF_RUN: Mapping[str, Text] = {
    "chip": _INFO,
    **dict.fromkeys(("workload", "phase", "stack"), TELL_JOB),
    **dict.fromkeys(("level", "framework", "execution", "cann_version", "torch_npu_version"), NOT_RECORDED),
    **dict.fromkeys(("world_size", "tp", "pp", "dp", "cp", "ep"), NOT_RECORDED),
    "step_us": _TASKS,
}
"""What is known of a run, by its name in rules."""
OF_SOURCE: Mapping[str, Text] = {
    "step_windows": _STEPS,
    "step_times": _STEPS,
    "l2_cache": Text(en="record with `msprof --l2=on`", zh="采集时使用 `msprof --l2=on`"),
    "devices": _INFO,
    "aicpu_tasks": Text(en="record with `msprof --aicpu=on`", zh="采集时使用 `msprof --aicpu=on`"),
    "port_counters": Text(
        en="record with `msprof --sys-io-profiling=on`", zh="采集时使用 `msprof --sys-io-profiling=on`"
    ),
    "traffic_samples": Text(
        en="record with `msprof --sys-hardware-mem=on --sys-interconnection-profiling=on`",
        zh="采集时使用 `msprof --sys-hardware-mem=on --sys-interconnection-profiling=on`",
    ),
    "host_cpus": Text(en="record with `msprof --host-sys=cpu`", zh="采集时使用 `msprof --host-sys=cpu`"),
    "host_uses": Text(
        en="record with `msprof --host-sys=mem,disk,network`; memory of all processes with `--host-sys-usage=mem`",
        zh="采集时使用 `msprof --host-sys=mem,disk,network`；所有进程的内存改用 `--host-sys-usage=mem` 采集",
    ),
    "kernel_counters": Text(
        en="record once more with another set of hardware counters, one at a time: "
        "`msprof --ai-core=on --aic-metrics=L2Cache`, `ResourceConflictRatio`, `Memory` …",
        zh="另采一次其他硬件计数器组（每次一组）：`msprof --ai-core=on --aic-metrics=L2Cache`、"
        "`ResourceConflictRatio`、`Memory` 等",
    ),
    "api_totals": OF_SWITCH[BOTH],
    **dict.fromkeys(("links", "transfers"), _ANALYSE),
}
"""By the observed table that a value is taken from."""
OF_COLUMN: Mapping[str, Text] = {
    "capacity_bytes": Text(
        en="no capture holds how much memory the device has: name the chip as `npu-smi info` shows it, with "
        "`--chip 910B3` or `chip: 910B3` in advisor.yaml",
        zh="采集数据中没有设备显存容量：请按 `npu-smi info` 显示的型号，用 `--chip 910B3` 或 advisor.yaml 中的"
        " `chip: 910B3` 指明",
    ),
}
"""By column."""

MSPROF_HINTS = RecorderHints(NOT_RECORDED, OF_SWITCH, OF_RUN, OF_SOURCE, OF_COLUMN)
