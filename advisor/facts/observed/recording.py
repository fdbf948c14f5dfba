# SPDX-License-Identifier: Apache-2.0
"""What to switch on in the profiler."""

from advisor.messages.text import Text

NPU = Text(
    en="record with ProfilerActivity.NPU among the activities",
    zh="采集时在 activities 中加入 ProfilerActivity.NPU",
)
BOTH = Text(
    en="record with activities CPU and NPU together",
    zh="采集时 activities 同时包含 CPU 与 NPU",
)
LEVEL1 = Text(
    en="record with profiler_level=Level1 or above",
    zh="采集时设置 profiler_level=Level1 或更高",
)
LEVEL2 = Text(
    en="record with profiler_level=Level2",
    zh="采集时设置 profiler_level=Level2",
)
MEMORY = Text(en="record with profile_memory=True", zh="采集时设置 profile_memory=True")
DATA = Text(
    en="record with data_process=True and without a schedule, which switches it off (MindSpore's profiler)",
    zh="采集时设置 data_process=True，且不设置 schedule（设置 schedule 会关闭此项；MindSpore profiler）",
)
PHASES = Text(
    en="record with the old profiler of MindSpore in graph mode (MindSpore Insight)",
    zh="使用旧版 MindSpore profiler 在图模式下采集（MindSpore Insight）",
)
TELL_JOB = Text(
    "say it with `--workload` and `--stack`, or in advisor.yaml; operators and call stacks show it too",
    "请用 `--workload`、`--stack` 或在 advisor.yaml 中指明；采集到的算子与调用栈也能判断",
)
"""How to have it known what kind of job ran."""
TELL_CHIP = Text(
    en="say it with `--chip NAME` or `chip` in advisor.yaml",
    zh="请用 `--chip 型号` 或 advisor.yaml 中的 `chip` 指明",
)
"""How to have the chip known where no file of a capture names it."""
PIPES_ON = Text("record with aic_metrics=PipeUtilization", "采集时设置 aic_metrics=PipeUtilization")
STEPS_ON = Text(
    "call prof.step() at the end of every step, so that steps are marked",
    "每个 step 结束时调用 prof.step()，以标记 step",
)
