# SPDX-License-Identifier: Apache-2.0
"""How to have on a GPU what was not recorded: there the PyTorch profiler has other switches, and records less."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.facts.derived.job import SEVERAL_STEPS
from advisor.facts.observed.modules import ModuleRange
from advisor.facts.observed.recording import BOTH, LEVEL1, LEVEL2, MEMORY, NPU, STEPS_ON, TELL_CHIP, TELL_JOB
from advisor.facts.observed.steps import StepWindow
from advisor.messages.text import Text
from advisor.sources.recorder_hints import RecorderHints

NOT_RECORDED = Text(
    en="the PyTorch profiler does not record it on GPUs",
    zh="PyTorch profiler 在 GPU 上不采集此项",
)
GROUPS = Text(
    en="call init_process_group before the profiler starts: the trace then names the rank and its groups",
    zh="在 profiler 启动前调用 init_process_group，trace 中即有 rank 与通信域信息",
)
SHAPES = Text(en="record with record_shapes=True", zh="采集时设置 record_shapes=True")
OF_SWITCH: Mapping[Text, Text] = {
    NPU: Text(
        en="record with ProfilerActivity.CUDA among the activities",
        zh="采集时在 activities 中加入 ProfilerActivity.CUDA",
    ),
    BOTH: Text(
        en="record with ProfilerActivity.CPU and ProfilerActivity.CUDA together",
        zh="采集时 activities 同时包含 ProfilerActivity.CPU 与 ProfilerActivity.CUDA",
    ),
    LEVEL1: NOT_RECORDED,
    LEVEL2: NOT_RECORDED,
    SEVERAL_STEPS: SEVERAL_STEPS,
    MEMORY: MEMORY,
    STEPS_ON: STEPS_ON,
    StepWindow.record_with: StepWindow.record_with,
    ModuleRange.record_with: Text(
        en="record with with_stack=True, which names the modules of the model",
        zh="采集时设置 with_stack=True，trace 中即有模型的各个模块",
    ),
}
"""By the switch of the profilers for Ascend that records the same."""
OF_RUN: Mapping[str, Text] = {
    "chip": TELL_CHIP,
    **dict.fromkeys(("workload", "phase", "stack"), TELL_JOB),
    **dict.fromkeys(("level", "framework", "execution", "cann_version", "torch_npu_version"), NOT_RECORDED),
    **dict.fromkeys(("world_size", "tp", "pp", "dp", "cp", "ep"), GROUPS),
    "step_us": OF_SWITCH[NPU],
}
"""What is known of a run, by its name in rules."""
OF_SOURCE: Mapping[str, Text] = {"groups": GROUPS, "step_times": NOT_RECORDED, "frequencies": NOT_RECORDED}
"""By the observed table that a value is taken from."""
OF_COLUMN: Mapping[str, Text] = {
    "input_shapes": SHAPES,
    "input_dtypes": SHAPES,
    "product_us": SHAPES,
    "patches": NOT_RECORDED,
    "capacity_bytes": Text(
        en="the trace names no device, or several: it does not say how much memory this one has",
        zh="trace 中没有设备信息或列出多种设备，无法得知其显存容量",
    ),
}
"""By column."""

GPU_HINTS = RecorderHints(NOT_RECORDED, OF_SWITCH, OF_RUN, OF_SOURCE, OF_COLUMN)
