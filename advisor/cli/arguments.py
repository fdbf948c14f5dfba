# SPDX-License-Identifier: Apache-2.0
"""The words of the command line: the top parser, and the options that several commands share."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import NoReturn

from advisor.cli.commands import COMMANDS
from advisor.release import VERSION
from advisor.report.output_formats import WRITERS, Writer, suffixes

LEVELS = ("info", "low", "medium", "high", "critical")
SETTINGS_FILE = "advisor.yaml"
PROJECT_FILE = "pyproject.toml"
ABOUT = "Says what to fix first in an Ascend NPU profile, and what it wins"
EXAMPLE = "for example: advisor diagnose ./prof -o report.html"


class Parser(argparse.ArgumentParser):
    """A parser that answers a slip of the pen with what was probably meant."""

    def error(self, message: str) -> NoReturn:
        hint = self._meant(message)
        super().error(f"{message}\n    hint: {hint}" if hint else message)

    def _meant(self, message: str) -> str:
        """The nearest choice or option; for a path without a command, the command."""
        choice = _CHOICE.search(message)
        unknown = _UNKNOWN.match(message)
        if choice:
            word, known = choice[1], re.findall(r"[^\s,']+", choice[2])
            if "COMMAND" in message and Path(word).exists():
                return f"advisor diagnose {word}"
        elif unknown:
            word, known = unknown[1].partition("=")[0], list(_options(self))
        else:
            return ""
        from difflib import get_close_matches

        near = get_close_matches(word, known, 1, 0.55)
        return f"did you mean `{near[0]}`?" if near else ""


_CHOICE = re.compile(r"invalid choice: '([^']*)' \(choose from (.*)\)")
_UNKNOWN = re.compile(r"unrecognized arguments: (?:[^-]\S* )*(--?\S+)")


def _options(one: argparse.ArgumentParser) -> Iterator[str]:
    """Every option of a parser and of those below it."""
    for action in one._actions:  # argparse has no public way to walk them
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _options(below)


def parser(asked: str | None = None) -> argparse.ArgumentParser:
    """All commands, each with a sentence; the options of the one asked for, or of all."""
    top = Parser("advisor", description=ABOUT, epilog=EXAMPLE)
    top.add_argument("-V", "--version", action="version", version=f"advisor {VERSION}")
    commands = top.add_subparsers(metavar="COMMAND", title="commands")
    for name, about in COMMANDS.items():
        one = commands.add_parser(name, help=about)
        if asked in (name, None):
            import_module(f"advisor.cli.commands.{name}").words(one)
    return top


def output_options(one: argparse.ArgumentParser, writers: Sequence[Writer] = WRITERS, example: str = "sarif:-") -> None:
    """Where a command writes to."""
    one.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help=f"write a report; {suffixes(writers)}; FORMAT:FILE for other names, such as {example} to print it; "
        "may be repeated",
    )
    one.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def language_option(one: argparse.ArgumentParser) -> None:
    """In which language a command speaks."""
    one.add_argument("--lang", choices=("en", "zh"), help="language (default: from the locale)")


def finding_options(one: argparse.ArgumentParser) -> None:
    """Which findings are shown, and which end with 1."""
    one.add_argument("--fail-on", choices=LEVELS, help="exit with 1 when a finding is at least this severe")
    one.add_argument(
        "--top", type=positive, default=None, metavar="N", help="how many findings the terminal shows (default: 5)"
    )


def rule_options(one: argparse.ArgumentParser) -> None:
    """Which rules are held against a profile, and with which thresholds."""
    one.add_argument(
        "--rules",
        type=Path,
        action="append",
        default=[],
        metavar="DIR",
        help="a folder with rules of your own; may be repeated",
    )
    one.add_argument(
        "--config",
        type=Path,
        metavar="FILE",
        help=f"thresholds and switches (default: the nearest {SETTINGS_FILE}, or [tool.advisor] of a {PROJECT_FILE}, "
        "from this folder up to the top of the repository)",
    )


def source_options(one: argparse.ArgumentParser) -> None:
    """Where findings belong in the source code, for formats that point at a line."""
    one.add_argument(
        "--anchor",
        metavar="FILE[:LINE]",
        help="where findings without a recorded call stack belong, such as train.py:1; for code hosts and editors",
    )
    one.add_argument(
        "--source-root",
        type=folder,
        metavar="DIR",
        help="the folder of the source code that paths are written relative to (default: this one)",
    )


def reading_options(one: argparse.ArgumentParser) -> None:
    """How a capture is read."""
    one.add_argument(
        "--jobs",
        type=positive,
        metavar="N",
        help="worker processes for many ranks (default: one per core, where it pays)",
    )
    one.add_argument(
        "--chip",
        metavar="NAME",
        help="the chip, such as 910B3, where the capture names none or only its family (default: `chip` of the "
        "settings)",
    )


def named_path(words: str) -> Path:
    """A path; no words, as an unset shell variable gives, name none."""
    if not words:
        raise argparse.ArgumentTypeError("empty; give a path")
    return Path(words)


def folder(words: str) -> Path:
    """A folder that is there."""
    if not words or not Path(words).is_dir():
        raise argparse.ArgumentTypeError(f"no folder `{words}`")
    return Path(words)


def positive(words: str) -> int:
    """A whole number from 1 on."""
    number = int(words)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number
