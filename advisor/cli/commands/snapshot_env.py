# SPDX-License-Identifier: Apache-2.0
"""`advisor snapshot-env`: write what profiles do not record beside a capture, or print the script that does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from advisor.cli.exit_codes import FINE

if TYPE_CHECKING:
    import argparse


def words(one: argparse.ArgumentParser) -> None:
    """What the command understands."""
    one.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        help="write the snapshot of this machine and environment to a file, or into a folder; without it the script is "
        "printed, which runs on a compute node by itself (Python 3.7 and later, no packages)",
    )


def run(arguments: argparse.Namespace) -> int:
    """Writes the snapshot, or prints the script.

    Raises:
        UsageError: The file cannot be written.
    """
    from pathlib import Path

    from advisor import environment_snapshot

    if not arguments.output:
        print(Path(environment_snapshot.__file__).read_text("utf-8"), end="")
        return FINE
    try:
        print(environment_snapshot.write_snapshot(arguments.output))
    except OSError as error:
        from advisor.report.output_files import cannot_be_written

        raise cannot_be_written(Path(arguments.output), error) from error
    return FINE
