# SPDX-License-Identifier: Apache-2.0
"""The words of the command line: commands, options, and a sentence for each."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from advisor import __version__

if TYPE_CHECKING:
    Commands = argparse._SubParsersAction[argparse.ArgumentParser]

LEVELS = ("info", "low", "medium", "high", "critical")
SETTINGS_FILE = "advisor.yaml"
ABOUT = "Says what to fix first in an Ascend NPU profile, and what it wins"
EXAMPLE = "for example: advisor diagnose ./prof -o report.html"


def parser() -> argparse.ArgumentParser:
    """All commands and options, each with a sentence."""
    top = argparse.ArgumentParser("advisor", description=ABOUT, epilog=EXAMPLE)
    top.add_argument("--version", action="version", version=f"advisor {__version__}")
    commands = top.add_subparsers(metavar="COMMAND", title="commands")
    _add_diagnose(commands)
    _add_render(commands)
    _add_rules(commands)
    return top


def _add_diagnose(commands: Commands) -> None:
    one = commands.add_parser("diagnose", help="read a profile and say what to fix first")
    one.add_argument(
        "path", type=_named_path, help="a *_ascend_pt folder, a folder of many, or cluster_analysis_output"
    )
    _output_options(one)
    _rule_options(one)
    one.add_argument(
        "--only",
        action="append",
        default=[],
        metavar="PATTERN",
        help="only rules whose id matches, such as host/*; may be repeated",
    )
    one.add_argument(
        "--jobs",
        type=_positive,
        metavar="N",
        help="worker processes for many ranks (default: one per core, where it pays)",
    )
    one.set_defaults(command="diagnose")


def _add_render(commands: Commands) -> None:
    one = commands.add_parser("render", help="write a report again from a saved .json, without the capture")
    one.add_argument("path", type=_named_path, help="a .json written by diagnose")
    _output_options(one)
    one.set_defaults(command="render")


def _output_options(one: argparse.ArgumentParser) -> None:
    one.add_argument(
        "-o",
        "--output",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="write a report; .html, .md or .json; may be repeated",
    )
    one.add_argument("--lang", choices=("en", "zh"), help="language of the report (default: from the locale)")
    one.add_argument("--fail-on", choices=LEVELS, help="exit with 1 when a finding is at least this severe")
    one.add_argument(
        "--top", type=_positive, default=None, metavar="N", help="how many findings the terminal shows (default: 5)"
    )
    one.add_argument("-q", "--quiet", action="store_true", help="print nothing but errors")


def _add_rules(commands: Commands) -> None:
    rules = commands.add_parser("rules", help="list, show, write and test rules")
    actions = rules.add_subparsers(metavar="ACTION", title="actions", required=True)

    one = actions.add_parser("list", help="every rule with its state and title")
    _rule_options(one)
    one.add_argument("--lang", choices=("en", "zh"), help="language (default: from the locale)")
    one.set_defaults(command="rules_list")

    one = actions.add_parser("show", help="one rule: what it checks, thresholds, remedy")
    one.add_argument("id", help="for example host/free-time")
    _rule_options(one)
    one.add_argument("--lang", choices=("en", "zh"), help="language (default: from the locale)")
    one.set_defaults(command="rules_show")

    one = actions.add_parser("new", help="write a commented skeleton that passes its own tests")
    one.add_argument("id", help="category/name, for example acme/slow-embedding")
    one.add_argument(
        "--dir", type=Path, default=Path(), metavar="DIR", help="the folder of your rules (default: this one)"
    )
    one.set_defaults(command="rules_new")

    for name, help_text in (
        ("lint", "every mistake in the rules, with file, line and column"),
        ("test", "run the cases inside the rules"),
    ):
        one = actions.add_parser(name, help=help_text)
        one.add_argument(
            "dirs", type=Path, nargs="*", metavar="DIR", help="folders of rules (default: the shipped ones)"
        )
        one.set_defaults(command=f"rules_{name}")

    one = actions.add_parser("schema", help="print the JSON schema of a rule file, for editors")
    one.set_defaults(command="rules_schema")


def _rule_options(one: argparse.ArgumentParser) -> None:
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
        help=f"thresholds and switches (default: {SETTINGS_FILE} in this folder, where there is one)",
    )


def _named_path(words: str) -> Path:
    """A path; no words, as an unset shell variable gives, name none."""
    if not words:
        raise argparse.ArgumentTypeError("empty; give a path")
    return Path(words)


def _positive(words: str) -> int:
    number = int(words)
    if number < 1:
        raise argparse.ArgumentTypeError("at least 1")
    return number
