# SPDX-License-Identifier: Apache-2.0
"""The settings that `advisor init` writes: every key, commented out, so that nothing changes until one is wanted."""

from __future__ import annotations

from advisor.messages.text import Language

_ENGLISH = """\
# What this project sets and demands of its profiles. A line holds once its leading `# ` is taken away.
# All of it is described in docs/gate.md; `advisor rules list` shows the rules, `advisor rules show ID` its thresholds.

# language: en                  # of reports: en or zh; --lang wins
# chip: Ascend910B3             # where captures do not name it: tells memory, clock, peaks; --chip wins
# workload: decode              # training, inference, prefill, decode, serving, RL, rollout or update; --workload wins
# stack: vLLM                   # whose flags the job has, such as Megatron or vLLM; --stack wins
# cache: .advisor-cache         # where facts are kept, so that what did not change is not read again; --cache wins
# fail_on: new:high             # what fails a run: a severity, new:SEVERITY, worse:SEVERITY, a list, or none

# rules:                        # how rules judge
#   host/free-time: {params: {normal: 0.15}}
#   comm/*: {severity: low}
#   memory/near-capacity: off

# policy:                       # what becomes of findings: off, warn or error
#   rules: {host/*: warn}
#   categories: {capture: warn}
#   severities: {info: off}

# budgets:                      # limits for the run as a whole
#   free_share: 25%             # idle part of the mean step
#   step_time: 250ms            # mean step of the slowest rank
#   memory: {limit: 60GiB, action: warn}
#   saving_left: 10%            # the largest saving of any one finding
#   slowdown: 5%                # against the baseline

# chips:                        # what is known of chips, beside the table of docs/gate.md or in its place
#   Ascend910B4: {memory: 64GiB, memory_gbps: 1600, source: npu-smi info on our machines}

# suppressions:                 # what the project lives with for now
#   - rule: io/*
#     reason: Small files until the dataset is packed
#     expires: 2099-12-31

# compare:                      # what a difference must exceed to count as a change
#   floor: 1%
#   relative: 20%
#   spread: 1
#   one_step: 33%
"""
_CHINESE = """\
# 本项目的设置，以及对性能数据的要求。去掉行首的 `# ` 后该行生效。
# 完整说明见 docs/gate.md；`advisor rules list` 列出全部规则，`advisor rules show ID` 查看某条规则的阈值。

# language: zh                  # 报告语言：en 或 zh；--lang 优先
# chip: Ascend910B3             # 采集数据未写明芯片型号时填写，用于确定显存、频率与峰值；--chip 优先
# workload: decode              # training、inference、prefill、decode、serving、RL、rollout 或 update；--workload 优先
# stack: vLLM                   # 任务使用哪套软件的启动参数，如 Megatron、vLLM；--stack 优先
# cache: .advisor-cache         # 缓存目录：未改动的采集数据不再重复读取；--cache 优先
# fail_on: new:high             # 何时判为不通过：严重程度、new:严重程度、worse:严重程度、列表，或 none

# rules:                        # 规则如何判断
#   host/free-time: {params: {normal: 0.15}}
#   comm/*: {severity: low}
#   memory/near-capacity: off

# policy:                       # 如何处理问题：off 忽略、warn 提示、error 不通过
#   rules: {host/*: warn}
#   categories: {capture: warn}
#   severities: {info: off}

# budgets:                      # 对整次运行的上限
#   free_share: 25%             # 平均单步中的空闲占比
#   step_time: 250ms            # 最慢 rank 的平均单步耗时
#   memory: {limit: 60GiB, action: warn}
#   saving_left: 10%            # 单个问题的最大预计收益
#   slowdown: 5%                # 相对基线的变慢幅度

# chips:                        # 自定义芯片参数，补充或覆盖 docs/gate.md 中的表
#   Ascend910B4: {memory: 64GiB, memory_gbps: 1600, source: 本机 npu-smi info}

# suppressions:                 # 暂时接受的问题
#   - rule: io/*
#     reason: 数据集打包之前都是小文件
#     expires: 2099-12-31

# compare:                      # 变化超过多少才算变化
#   floor: 1%
#   relative: 20%
#   spread: 1
#   one_step: 33%
"""


def new_settings(language: Language, schema: str = "") -> str:
    """The text of a new file of settings; with the name of a schema beside it, for editors."""
    head = f"# yaml-language-server: $schema={schema}\n" if schema else ""
    return head + (_CHINESE if language == "zh" else _ENGLISH)
