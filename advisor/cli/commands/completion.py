# SPDX-License-Identifier: Apache-2.0
"""`advisor completion`: print a script by which a shell completes commands, options and paths."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cli.exit_codes import FINE

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser

SHELLS = ("bash", "zsh", "fish")


def words(one: Parser) -> None:
    """What the command understands."""
    one.add_argument(
        "shell",
        choices=SHELLS,
        help=one.say(
            "the shell that is to complete; docs/index.md says where to put it",
            "要补全命令的 shell；放置位置见 docs/index.md",
        ),
    )


def run(arguments: argparse.Namespace) -> int:
    """Prints the script."""
    import shtab

    from advisor.cli.settings_in_force import language_of

    top = arguments.build_whole(language=language_of(None))
    _complete_paths(top)
    print(shtab.complete(top, arguments.shell))
    return FINE


def _complete_paths(one: argparse.ArgumentParser) -> None:
    """Marks what names a file or folder, or a chip."""
    import argparse
    from pathlib import Path

    import shtab

    from advisor.chips.chip_files import shipped_chips
    from advisor.cli.arguments import existing_folder, named_path

    for action in one._actions:  # argparse has no public way to walk them
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                _complete_paths(below)
        elif action.type in (Path, existing_folder, named_path) or "output" in action.dest:
            action.complete = shtab.FILE  # type: ignore[attr-defined]
        elif action.dest == "chip":
            action.choices = [chip.name for chip in shipped_chips().chips]  # offered here; any spelling is understood
