# SPDX-License-Identifier: Apache-2.0
"""`advisor snapshot-env`: write what profiles do not record beside a capture, or print the script that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cli.exit_codes import FINE

if TYPE_CHECKING:
    import argparse

    from advisor.cli.slips import Parser


def words(one: Parser) -> None:
    """What the command understands."""
    one.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help=one.say(
            "write the snapshot of this machine and environment to a file, or into a folder; without it the script is "
            "printed, which runs on a compute node by itself (Python 3.7 and later, no packages)",
            "把本机及环境快照写入该文件或目录；"
            "不给出时输出脚本本身，可在计算节点上独立运行（Python 3.7 及以上，无需其他包）",
        ),
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the snapshot, or prints the script.

    Raises:
        UsageError: The file cannot be written.
    """
    from pathlib import Path

    from advisor.sources.shared import environment_snapshot

    if not arguments.output:
        print(Path(environment_snapshot.__file__).read_text("utf-8"), end="")
        return FINE
    try:
        print(environment_snapshot.write_snapshot(arguments.output))
    except OSError as error:
        from advisor.machine.output_files import cannot_be_written

        raise cannot_be_written(Path(arguments.output), error) from error
    return FINE
