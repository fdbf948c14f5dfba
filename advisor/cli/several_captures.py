# SPDX-License-Identifier: Apache-2.0
"""Several captures in place of one, as a shell writes for `prof/rank*`: the folder they all lie in, and which of it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from advisor.cli.arguments import named_path
from advisor.cli.slips import Parser


def captures_argument(one: Parser, words: str) -> None:
    """What a command reads that takes several captures in place of one; `words` say so in its help."""
    one.add_argument("path", type=named_path, nargs="+", action=Captures, help=words)


class Captures(argparse.Action):
    """Sets `path` to the capture, or to the folder that all lie in, and then `parts` to their paths in it."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Called by argparse with the words of the command line as paths."""
        namespace.captures = paths = [*getattr(namespace, "captures", ()), *(Path(value) for value in values or ())]
        words = [str(path) for path in paths[1:]]
        if strange := [word for word in words if os.sep not in word and not os.path.lexists(word)]:
            assert isinstance(parser, Parser)  # noqa: S101 - it is the class of all of them
            parser.refuse_unknown(strange, paths[0])
        namespace.path, namespace.parts = common_folder(paths)


def common_folder(paths: Sequence[Path]) -> tuple[Path, tuple[Path, ...]]:
    """The folder that these paths lie in, and their paths in it; of a single one itself, and none.

    What is given twice, or lies in what is given too, counts once.
    """
    real = {path: os.path.realpath(path) for path in paths}
    distinct = [path for number, path in enumerate(paths) if real[path] not in {real[one] for one in paths[:number]}]
    apart = [
        path
        for path in distinct
        if not any(real[path].startswith(real[one].rstrip(os.sep) + os.sep) for one in distinct if one is not path)
    ]
    if len(apart) == 1:
        return apart[0], ()
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in apart])
    shown = os.path.relpath(folder) if not any(path.is_absolute() for path in apart) else folder
    return Path(shown), tuple(Path(os.path.relpath(os.path.abspath(path), folder)) for path in apart)
