# SPDX-License-Identifier: Apache-2.0
"""The options that several commands share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.slips import Parser
from advisor.report.output_formats import WRITERS, Writer, list_suffixes

if TYPE_CHECKING:
    from advisor.messages.errors import Unclear

WORKLOADS = ("training", "inference", "prefill", "decode", "serving", "RL", "rollout", "update")
STACKS = ("verl", "Megatron", "DeepSpeed", "FSDP", "vLLM", "SGLang", "MindIE", "PyTorch", "MindSpore", "AscendCL")
LEVELS = ("info", "low", "medium", "high", "critical")
SETTINGS_FILE = "advisor.yaml"
PROJECT_FILE = "pyproject.toml"


def output_options(one: Parser, writers: Sequence[Writer] = WRITERS, example: str = "sarif:-") -> None:
    """Where a command writes to."""
    one.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help=one.say(
            f"write a report; {list_suffixes(writers, 'en')}; FORMAT:FILE for other names, such as {example} to print "
            "it; may be repeated",
            f"写出报告：{list_suffixes(writers, 'zh')}；其他文件名写作 FORMAT:FILE，如 {example} 输出到终端；"
            "可多次给出",
        ),
    )
    one.add_argument(
        "-q", "--quiet", action="store_true", help=one.say("print nothing but errors", "除错误外不输出任何内容")
    )


def language_option(one: Parser) -> None:
    """In which language a command speaks."""
    one.add_argument(
        "--lang",
        choices=("en", "zh"),
        help=one.say("language (default: from the locale)", "输出语言（默认取自系统区域设置）"),
    )


def finding_options(one: Parser) -> None:
    """Which findings are shown, and which end with 1."""
    one.add_argument(
        "--fail-on",
        choices=LEVELS,
        help=one.say("exit with 1 when a finding is at least this severe", "存在达到该严重程度的问题时以 1 退出"),
    )
    one.add_argument(
        "--top",
        type=positive_number,
        default=None,
        metavar="N",
        help=one.say("how many findings the terminal shows (default: 5)", "终端最多显示几条问题（默认 5）"),
    )


def rule_options(one: Parser) -> None:
    """Which rules are held against a profile, and with which thresholds."""
    one.add_argument(
        "--rules",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help=one.say("a folder with rules of your own; may be repeated", "自定义规则所在目录；可多次给出"),
    )
    config_option(one)


def judged_options(one: Parser) -> None:
    """What is judged, and what it is compared with."""
    one.add_argument(
        "path",
        type=named_path,
        help=one.say("a capture, or a .json written by diagnose", "一份采集数据，或 diagnose 写出的 .json"),
    )
    one.add_argument(
        "--baseline",
        type=named_path,
        metavar="PATH",
        help=one.say(
            "what to compare with: a capture, or a .json written by diagnose",
            "作为基线的采集数据，或 diagnose 写出的 .json",
        ),
    )


def policy_options(one: Parser) -> None:
    """By which rules and settings it is judged."""
    rule_options(one)
    one.add_argument(
        "--policy",
        dest="config",
        type=Path,
        metavar="FILE",
        help=one.say("the same as --config: policy, budgets, suppressions", "与 --config 相同：策略、预算、屏蔽项"),
    )


def config_option(one: Parser) -> None:
    """Which settings are in force."""
    one.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help=one.say(
            f"thresholds and switches (default: the nearest {SETTINGS_FILE}, or [tool.advisor] of a {PROJECT_FILE}, "
            "from this folder up to the top of the repository)",
            f"阈值与开关（默认取最近的 {SETTINGS_FILE} 或 {PROJECT_FILE} 的 [tool.advisor]，由当前目录向上找到仓库根）",
        ),
    )


def source_options(one: Parser) -> None:
    """Where findings belong in the source code, for formats that point at a line."""
    one.add_argument(
        "--anchor",
        metavar="FILE[:LINE]",
        help=one.say(
            "where findings without a recorded call stack belong, such as train.py:1; for code hosts and editors",
            "没有调用栈的问题归到哪个文件和行，如 train.py:1；供代码平台和编辑器定位",
        ),
    )
    one.add_argument(
        "--source-root",
        type=existing_folder,
        metavar="DIR",
        help=one.say(
            "the folder of the source code that paths are written relative to (default: this one)",
            "源代码根目录，路径以它为起点书写（默认为当前目录）",
        ),
    )


def reading_options(one: Parser, *, on_cluster: bool = True, cached: bool = True) -> None:
    """How a capture is read; not everything can be done `on_cluster`, or taken from a cache (`cached`)."""
    if cached:
        one.add_argument(
            "--cache",
            type=named_path,
            metavar="DIR",
            help=one.say(
                "a folder where facts are kept, so that what did not change is not read again (default: `cache` of "
                "the settings, else none)",
                "存放已解析数据的目录，未变化的采集数据不再重读（默认取配置中的 `cache`，没有则不缓存）",
            ),
        )
    one.add_argument(
        "--jobs",
        type=positive_number,
        metavar="N",
        help=one.say(
            "worker processes for many ranks (default: one per core, where it pays)",
            "多卡数据的工作进程数（默认在值得时每核一个）",
        ),
    )
    if on_cluster:
        cluster_options(one)
    one.add_argument(
        "--chip",
        metavar="NAME",
        help=one.say(
            "the chip, such as 910B3, where the capture names none or only its family (default: `chip` of the "
            "settings)",
            "采集数据未记录芯片型号或只记录系列时，指定型号，如 910B3（默认取配置中的 `chip`）",
        ),
    )
    one.add_argument(
        "--workload",
        choices=WORKLOADS,
        help=one.say(
            "the kind of job, where the capture does not show it (default: `workload` of the settings)",
            "采集数据看不出任务类型时指定（默认取配置中的 `workload`）",
        ),
    )
    one.add_argument(
        "--stack",
        choices=STACKS,
        help=one.say(
            "the framework or engine whose options remedies name, where the capture does not show it (default: "
            "`stack` of the settings)",
            "采集数据看不出所用框架或推理引擎时指定，处理建议给出其选项（默认取配置中的 `stack`）",
        ),
    )


def cluster_options(one: Parser) -> None:
    """Where else the ranks are read."""
    one.add_argument(
        "--on",
        metavar="ADDRESS",
        help=one.say(
            "read the ranks on the workers of a Dask scheduler such as dask://host:8786; they share the folder of the "
            "capture (default: processes of this machine)",
            "由 Dask 调度器（如 dask://host:8786）的各 worker 读取各卡；它们须能访问同一采集目录（默认用本机进程）",
        ),
    )
    one.add_argument(
        "--rank-limit",
        type=positive_number,
        metavar="SECONDS",
        help=one.say(
            "with --on: how long a worker may read one rank before another one is given it (default: "
            "600, and more for ranks above 1.2 GB)",
            "与 --on 同用：单个 worker 读取一张卡的时限，超时换其他 worker（默认 600，单卡超过 1.2 GB 时更长）",
        ),
    )


def named_path(words: str) -> Path:
    """A path; no words, as an unset shell variable gives, name none."""
    if not words:
        raise _unclear("empty_path")
    return Path(words)


def existing_folder(words: str) -> Path:
    """A folder that is there."""
    if not words or not os.path.isdir(words):
        raise _unclear("no_such_folder", path=words)
    return Path(words)


def positive_number(words: str) -> int:
    """A whole number from 1 on."""
    try:
        number = int(words)
    except ValueError:
        raise _unclear("no_whole_number", given=words) from None
    if number < 1:
        raise _unclear("at_least_one")
    return number


def _unclear(code: str, /, **values: str) -> Unclear:
    """What is wrong with a word; what it takes to say so is read only where something is."""
    from advisor.messages.errors import Unclear
    from advisor.messages.message import Message

    return Unclear(Message(code, **values))
