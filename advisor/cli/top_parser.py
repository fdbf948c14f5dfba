# SPDX-License-Identifier: Apache-2.0
"""The parser of the whole command line, which knows every command."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from importlib import import_module

from advisor.cli.commands import COMMANDS
from advisor.cli.slips import Parser
from advisor.messages.text import Language, Text
from advisor.release import VERSION

ABOUT = Text(
    "Says what to fix first in an Ascend NPU profile, and what it wins",
    "读取昇腾 NPU 性能数据，指出首先要处理什么、能赢得多少",
)
EXAMPLE = Text("for example: advisor diagnose ./prof -o report.html", "例如：advisor diagnose ./prof -o report.html")
EXIT_CODES = Text(
    "exit codes: 0 fine · 1 what fails a run, such as findings at or above --fail-on · 2 wrong use or a wrong rule · "
    "3 nothing readable in the input · 4 ended before it was done, for lack of memory or by a mistake in advisor",
    "退出码：0 正常；1 不通过，如存在达到 --fail-on 的问题；2 用法或规则有误；3 输入中没有可读的内容；"
    "4 因内存不足或 advisor 自身错误而提前结束",
)


def build_parser(asked: str | None = None, language: Language = "en") -> Parser:
    """All commands, each with a sentence; the options of the one asked for, or of all."""
    epilog = f"{EXAMPLE.say(language)}{'；' if language == 'zh' else '; '}{EXIT_CODES.say(language)}"
    top = Parser("advisor", description=ABOUT.say(language), epilog=epilog, language=language)
    told = top.say("show program's version number and exit", "显示版本号并退出")
    top.add_argument("-V", "--version", action="version", version=f"advisor {VERSION}", help=told)
    top.set_defaults(build_whole=build_parser)  # completion asks for it, for a command knows no other
    commands = top.add_subparsers(metavar="COMMAND", title=top.say("commands", "命令"))
    for name, about in COMMANDS.items():
        one = commands.add_parser(name, help=about.say(language))
        if asked in (name, None):
            module = import_module(f"advisor.cli.commands.{name.replace('-', '_')}")
            module.words(one)
            for leaf in _leaf_parsers(one):
                if leaf.get_default("run") is None:  # an action of a command may have named its own
                    leaf.set_defaults(run=module.run)
                leaf.add_argument(
                    "--debug",
                    action="store_true",
                    help=one.say("show where in advisor an error arose", "出错时显示 advisor 内部的出错位置"),
                )
    return top


def _leaf_parsers(one: Parser) -> Iterator[Parser]:
    """The parser itself, or those of its actions."""
    inner = [action for action in one._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield one
    for action in inner:  # argparse has no public way to walk them
        for below in action.choices.values():
            yield from _leaf_parsers(below)
