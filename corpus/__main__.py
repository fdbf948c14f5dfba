# SPDX-License-Identifier: Apache-2.0
"""Writes cases by hand: `python -m corpus list`, `python -m corpus write CASE FOLDER`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import corpus
from corpus.cases import APPLIES, Setup
from corpus.workloads import WORKLOADS


def main(arguments: list[str] | None = None) -> int:
    """Run one command; 0 when it worked, 2 for no such case or a folder that cannot be written."""
    options = _parser().parse_args(arguments)
    if options.command == "list":
        print(_listing())
        return 0
    try:
        job = corpus.job(
            options.case, options.seed, workload=options.workload, strength=options.strength, without=options.without
        )
    except KeyError as missing:
        print(missing.args[0], file=sys.stderr)
        return 2
    try:
        corpus.write(job, options.folder, options.export, options.level, modules=options.modules)
    except FileExistsError:
        what = "already holds this case" if options.folder.is_dir() else "is a file"
        print(f"{options.folder} {what}: give a folder that does not exist yet", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"{options.folder} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    return 0


def run() -> int:
    """The command of this process; whoever reads its output and stops has read enough."""
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the interpreter flushes once more
        return 0
    return code


def _listing() -> str:
    """The workloads with their ranks, and every case with the workloads it makes sense in."""
    jobs = [f"  {name:28}{_ranks(setup)}" for name, setup in WORKLOADS.items()]
    cases = [f"  {name:28}{', '.join(APPLIES.get(name, ()))}" for name in corpus.names()]
    return "\n".join([
        "Workloads:", *jobs, "", "Cases, and the workloads they make sense in, the first unless --workload names one:",
        *(case.rstrip() for case in cases),
    ])  # fmt: skip


def _ranks(setup: Setup) -> str:
    layout = setup.layout
    nodes = layout.node_of(layout.world - 1) + 1
    return f"{layout.world} rank{'s' * (layout.world > 1)}" + (f" on {nodes} nodes" if nodes > 1 else "")


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m corpus", description="Writes captures with known faults")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="name the workloads and the cases")
    write = commands.add_parser("write", help="write one case")
    write.add_argument("case")
    write.add_argument("folder", type=Path)
    write.add_argument(
        "--workload", metavar="NAME", help="the job to run in place of the one where the case shows best"
    )
    write.add_argument("--seed", type=int, default=0)
    write.add_argument("--strength", type=float, default=1.0, help="1 is what an expert would call a problem")
    write.add_argument("--without", action="append", default=[], metavar="FAULT", help="as if it had been fixed")
    write.add_argument("--export", choices=("text", "database"), default="text")
    write.add_argument("--level", type=int, choices=(0, 1, 2), default=1)
    write.add_argument("--modules", action="store_true", help="as if the program had marked the modules of its model")
    return parser


if __name__ == "__main__":
    sys.exit(run())
