# SPDX-License-Identifier: Apache-2.0
"""How to have on MindSpore what was not recorded: the switches are those of the profiler for PyTorch, not all words."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.facts.observed import Group, ModuleRange, Setting, StepWindow
from advisor.facts.observed.recording import BOTH, NPU, PHASES, STEPS_ON
from advisor.messages.text import Text

WHOLE = Text(
    en="give the whole *_ascend_ms folder: `profiler_info*.json` in it tells",
    zh="请给出完整的 *_ascend_ms 目录，该信息在其中的 `profiler_info*.json` 里",
)
_GROUPS = Text(
    en="give the folders of all ranks together, with their `profiler_metadata.json`",
    zh="请一并给出所有卡的目录，并保留其中的 `profiler_metadata.json`",
)
_SETTINGS = Text(
    en="keep profiler_metadata.json beside the output (versions of MindSpore that write it), or write a snapshot of "
    "the environment there with `advisor snapshot-env`",
    zh="保留输出目录旁的 profiler_metadata.json（部分 MindSpore 版本会写出），"
    "或用 `advisor snapshot-env` 在旁边写入环境快照",
)
RECORD_NPU = Text(
    en="record with MindSpore's profiler (`mindspore.profiler.profile`), `ProfilerActivity.NPU` among its activities",
    zh="使用 MindSpore 的 profiler（`mindspore.profiler.profile`）采集，activities 中包含 `ProfilerActivity.NPU`",
)
RECORD_BOTH = Text(
    en="record with MindSpore's profiler (`mindspore.profiler.profile`), `ProfilerActivity.CPU` and "
    "`ProfilerActivity.NPU` among its activities",
    zh="使用 MindSpore 的 profiler（`mindspore.profiler.profile`）采集，activities 中同时包含 `ProfilerActivity.CPU` 与"
    " `ProfilerActivity.NPU`",
)
_OLD_FILES_ALONE = Text(
    en="only the old profiler of MindSpore recorded it, in graph mode (files for MindSpore Insight); the present one "
    "does not",
    zh="仅旧版 MindSpore profiler 在图模式下采集此项（MindSpore Insight 文件），现行 profiler 不采集",
)
_MODULES = Text(
    en="in PyNative mode mark the cells with mstx ranges of the domain `Module` (`advisor modules` shows the code); in "
    "graph mode the name of an operator tells its cells",
    zh="动态图模式下用 domain 为 `Module` 的 mstx range 标记 Cell（`advisor modules` 给出代码）；"
    "图模式下算子名中已含所属的 Cell",
)
OF_HINT: Mapping[Text | None, Text] = {
    ModuleRange.record_with: _MODULES,
    PHASES: _OLD_FILES_ALONE,
    Group.record_with: _GROUPS,
    Setting.record_with: _SETTINGS,
    NPU: RECORD_NPU,
    BOTH: RECORD_BOTH,
}
"""By the hint that the profiler of PyTorch is given with."""
_TEXT_TOO = Text(
    en="export text as well, `export_type=[ExportType.Text, ExportType.Db]`: MindSpore writes the steps marked by "
    "prof.step() into no database; or mark them in the program, mstx ranges `step N`, and record with mstx=True",
    zh="同时导出文本：`export_type=[ExportType.Text, ExportType.Db]`，"
    "MindSpore 不把 prof.step() 标记的 step 写入数据库；或在程序中用名为 `step N` 的 mstx range 打点，"
    "并设置 mstx=True 采集",
)
OF_HINT_IN_DATABASES: Mapping[Text | None, Text] = {StepWindow.record_with: _TEXT_TOO, STEPS_ON: _TEXT_TOO}
"""The same where databases alone were written."""

OF_HINT_IN_OLD_FILES: Mapping[Text | None, Text] = {
    Group.record_with: RECORD_BOTH,
    Setting.record_with: RECORD_BOTH,
    PHASES: PHASES,
}
"""The same of the profiler of MindSpore Insight, which wrote nothing about itself, its environment and its groups."""
