# SPDX-License-Identifier: Apache-2.0
"""One module per command: `words` says what it understands, `run` does it and gives the exit code.

Where a command has actions, `words` names what does each: `action.set_defaults(run=…)`.
A module imports nothing heavy before `run`, and only the module of the command that was asked for is imported at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from advisor.messages.text import Text

COMMANDS: Mapping[str, Text] = MappingProxyType(
    {
        "diagnose": Text("read a profile and say what to fix first", "读取性能数据，指出首先要处理什么"),
        "inspect": Text(
            "say what a capture holds, which rules can look, and how to record the rest",
            "说明采集数据包含什么、哪些规则可用、其余内容如何采集",
        ),
        "modules": Text(
            "say where in the model time goes: modules, their operators, and the kernels of each",
            "说明时间花在模型何处：各模块、其算子及对应 kernel",
        ),
        "check": Text(
            "say whether a profile may pass: policy, budgets and what changed since a baseline",
            "判定能否通过门禁：策略、预算以及相对基线的变化",
        ),
        "explain": Text(
            "say what a rule reads, measured and held it against, and why it fired or not",
            "说明规则读什么、测得多少、与什么阈值相比，以及为什么报出或未报出",
        ),
        "bot": Text(
            "write one comment on a pull request and keep it up to date", "在 pull request 上写一条评论并保持更新"
        ),
        "verify": Text("say whether a fix won what its finding promised", "核实处理后是否达到所预计的收益"),
        "compare": Text(
            "say what changed from one profile to another, and why", "说明两份性能数据之间有什么变化、为什么"
        ),
        "stats": Text(
            "count kernels, operators, calls, collectives, ranks, links, gaps and memory, as tables",
            "以表格统计 kernel、算子、接口调用、集合通信、各卡、链路、空隙和内存",
        ),
        "facts": Text(
            "write every table of facts as Parquet, for questions of your own and for later diagnoses",
            "把所有数据表写成 Parquet，供自行查询或以后诊断",
        ),
        "cache": Text("show or clear what is kept of captures that were read before", "查看或清空已读取采集数据的缓存"),
        "mcp": Text(
            "offer diagnoses, explanations and tables to assistants (Model Context Protocol)",
            "向 AI 助手提供诊断、解释和表格（Model Context Protocol）",
        ),
        "render": Text(
            "write a report again from a saved .json, without the capture", "由保存的 .json 重新生成报告，无需采集数据"
        ),
        "init": Text("write a commented advisor.yaml to begin with", "写出带注释的 advisor.yaml 作为起点"),
        "snapshot-env": Text(
            "write what profiles do not record of a machine and a job, or print the script that does",
            "记录 profiling 未采集的机器与任务环境，或输出完成此事的脚本",
        ),
        "rules": Text("list, show, write and test rules", "列出、查看、编写和测试规则"),
        "completion": Text(
            "print a script by which a shell completes commands and options", "输出 shell 的命令与选项补全脚本"
        ),
    }
)
"""Every command and what it is for; the module of the same name in this package does it."""
