# SPDX-License-Identifier: Apache-2.0
"""The words of the command line: the top parser, and the options that several commands share."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from advisor.cli.commands import COMMANDS
from advisor.cli.slips import Parser
from advisor.release import VERSION
from advisor.report.output_formats import WRITERS, Writer, list_suffixes

if TYPE_CHECKING:
    from advisor.messages.errors import Unclear

WORKLOADS = ("training", "inference", "prefill", "decode", "serving", "RL", "rollout", "update")
STACKS = ("verl", "Megatron", "DeepSpeed", "FSDP", "vLLM", "SGLang", "MindIE", "PyTorch", "MindSpore", "AscendCL")
LEVELS = ("info", "low", "medium", "high", "critical")
SETTINGS_FILE = "advisor.yaml"
PROJECT_FILE = "pyproject.toml"
ABOUT = "Says what to fix first in an Ascend NPU profile, and what it wins"
EXAMPLE = "for example: advisor diagnose ./prof -o report.html"
EXIT_CODES = (
    "exit codes: 0 fine · 1 what fails a run, such as findings at or above --fail-on · 2 wrong use or a wrong rule · "
    "3 nothing readable in the input · 4 ended before it was done, for lack of memory or by a mistake in advisor"
)


def build_parser(asked: str | None = None) -> argparse.ArgumentParser:
    """All commands, each with a sentence; the options of the one asked for, or of all."""
    top = Parser("advisor", description=ABOUT, epilog=f"{EXAMPLE}; {EXIT_CODES}")
    top.add_argument("-V", "--version", action="version", version=f"advisor {VERSION}")
    commands = top.add_subparsers(metavar="COMMAND", title="commands")
    for name, about in COMMANDS.items():
        one = commands.add_parser(name, help=about)
        if asked in (name, None):
            module = import_module(f"advisor.cli.commands.{name.replace('-', '_')}")
            module.words(one)
            for leaf in _leaf_parsers(one):
                if leaf.get_default("run") is None:  # an action of a command may have named its own
                    leaf.set_defaults(run=module.run)
                leaf.add_argument("--debug", action="store_true", help="show where in advisor an error arose")
    return top


def _leaf_parsers(one: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parser itself, or those of its actions."""
    inner = [action for action in one._actions if isinstance(action, argparse._SubParsersAction)]
    if not inner:
        yield one
    for action in inner:  # argparse has no public way to walk them
        for below in action.choices.values():
            yield from _leaf_parsers(below)


def output_options(one: argparse.ArgumentParser, writers: Sequence[Writer] = WRITERS, example: str = "sarif:-") -> None:
    """Where a command writes to."""
    one.add_argument(
        "-o",
        "--output",
        action="append",
        default=[],
        metavar="FILE",
        help=f"write a report; {list_suffixes(writers)}; FORMAT:FILE for other names, such as {example} to print it; "
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
        "--top",
        type=positive_number,
        default=None,
        metavar="N",
        help="how many findings the terminal shows (default: 5)",
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
    config_option(one)


def judged_options(one: argparse.ArgumentParser) -> None:
    """What is judged, and what it is compared with."""
    one.add_argument("path", type=named_path, help="a capture, or a .json written by diagnose")
    one.add_argument(
        "--baseline",
        type=named_path,
        metavar="PATH",
        help="what to compare with: a capture, or a .json written by diagnose",
    )


def policy_options(one: argparse.ArgumentParser) -> None:
    """By which rules and settings it is judged."""
    rule_options(one)
    one.add_argument(
        "--policy", dest="config", type=Path, metavar="FILE", help="the same as --config: policy, budgets, suppressions"
    )


def config_option(one: argparse.ArgumentParser) -> None:
    """Which settings are in force."""
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
        type=existing_folder,
        metavar="DIR",
        help="the folder of the source code that paths are written relative to (default: this one)",
    )


def reading_options(one: argparse.ArgumentParser, *, on_cluster: bool = True, cached: bool = True) -> None:
    """How a capture is read; not everything can be done `on_cluster`, or taken from a cache (`cached`)."""
    if cached:
        one.add_argument(
            "--cache",
            type=named_path,
            metavar="DIR",
            help="a folder where facts are kept, so that what did not change is not read again (default: `cache` of "
            "the settings, else none)",
        )
    one.add_argument(
        "--jobs",
        type=positive_number,
        metavar="N",
        help="worker processes for many ranks (default: one per core, where it pays)",
    )
    if on_cluster:
        cluster_options(one)
    one.add_argument(
        "--chip",
        metavar="NAME",
        help="the chip, such as 910B3, where the capture names none or only its family (default: `chip` of the "
        "settings)",
    )
    one.add_argument(
        "--workload",
        choices=WORKLOADS,
        help="the kind of job, where the capture does not show it (default: `workload` of the settings)",
    )
    one.add_argument(
        "--stack",
        choices=STACKS,
        help="the framework or engine whose options remedies name, where the capture does not show it (default: "
        "`stack` of the settings)",
    )


def cluster_options(one: argparse.ArgumentParser) -> None:
    """Where else the ranks are read."""
    one.add_argument(
        "--on",
        metavar="ADDRESS",
        help="read the ranks on the workers of a Dask scheduler such as dask://host:8786; they share the folder of the "
        "capture (default: processes of this machine)",
    )
    one.add_argument(
        "--rank-limit",
        type=positive_number,
        metavar="SECONDS",
        help="with --on: how long a worker may read one rank before another one is given it (default: "
        "600, and more for ranks above 1.2 GB)",
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
