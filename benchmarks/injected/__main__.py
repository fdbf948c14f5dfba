# SPDX-License-Identifier: Apache-2.0
"""Marks the diagnosis on real captures with faults put into them: `python -m benchmarks.injected`.

    ADVISOR_REAL_DATA=/data python -m benchmarks.injected --log --faults casts item-reads
    ADVISOR_REAL_DATA=/data python -m benchmarks.injected --output docs/accuracy-real.md

Prints the page, writes it with `--output`, and ends with 1 when a target is missed.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from benchmarks.injected.balance import Health
from benchmarks.injected.bases import Base
from benchmarks.injected.mark import TOLERATED, Case, Mark
from benchmarks.injected.page import met, page
from benchmarks.injected.run import marks

_SOURCE = "msinsight_pytorch_matrix/text"
_SAMPLES = "gpu_kineto_tb_samples/tb_plugin/samples/resnet50_num_workers_4"
BASES = (
    Base("recorded", f"{_SOURCE}/level1"),
    Base("balanced", f"{_SOURCE}/level1", steps=6, health=Health()),
    Base("balanced-4", f"{_SOURCE}/level1", steps=4, ranks=4, health=Health()),
    Base("gpu", "gpu_hta/ns_resolution_trace", steps=0),
    Base("gpu-4", "gpu_hta/nccl_parser_config/nccl_data.json.gz", steps=0, ranks=4, hosts=0.12),
    Base("gpu-loader", f"{_SAMPLES}/worker0.1623212756351.pt.trace.json.gz", steps=0, hosts=0.5),
    Base("recorded-level2", f"{_SOURCE}/level2"),
)


def main() -> int:
    """Spoil, diagnose and mark what was asked for."""
    options = _parser().parse_args()
    folder = os.environ.get("ADVISOR_REAL_DATA")
    if not folder:
        print("set ADVISOR_REAL_DATA to the folder of the real captures", file=sys.stderr)
        return 2
    found = []
    for base in BASES:
        if base.name in options.bases:
            for mark in marks(base, Path(folder), lambda case: _asked(case, options), options.jobs, options.keep):
                found.append(mark)
                if options.log:
                    print(_said(mark), file=sys.stderr, flush=True)
    text = page(found, BASES, sum(os.times()[:4]))
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return int(not met(found))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.injected", description=__doc__)
    parser.add_argument("--faults", nargs="+", default=[], help="only these")
    parser.add_argument(
        "--bases", nargs="+", default=[base.name for base in BASES[:-1]], choices=[base.name for base in BASES]
    )
    parser.add_argument("--no-controls", action="store_true", help="leave out what is too small to act on")
    parser.add_argument("--log", action="store_true", help="tell of every case what was said")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", type=Path, help="a folder in which the captures stay")
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    return parser


def _asked(case: Case, options: argparse.Namespace) -> bool:
    return (not options.faults or case.fault in options.faults) and not (case.control and options.no_controls)


def _said(mark: Mark) -> str:
    """One case in one line: what is there, what was said, and what is wrong with it."""
    remarks = []
    if mark.wanted and not mark.found:
        remarks.append("MISSED")
    if mark.wanted and mark.found and not mark.leads:
        remarks.append("NOT FIRST")
    if mark.placed is False:
        remarks.append("WRONG RANKS")
    if mark.wrong:
        remarks.append("FALSE " + " ".join(mark.wrong))
    if mark.tried:
        remarks.append("tried " + " ".join(f"{rule} {won / mark.step_us:.1%}" for rule, won in mark.tried.items()))
    if mark.error is not None and mark.wanted and abs(mark.error) > TOLERATED:
        remarks.append(f"SAVING {mark.error:+.0%}")
    said = "; ".join(
        f"{claim.rule} {(claim.us or 0) / mark.step_us:.1%}{_ranks(claim.ranks)} {claim.severity}"
        for claim in mark.claims
    )
    kind = "control" if mark.case.control else "base" if not mark.case.fault else ""
    truth = f"true {mark.part:.1%} of {mark.step_us / 1e3:.1f} ms"
    return f"{mark.case.base} {mark.case.fault} {kind} {truth} | {said} | {', '.join(remarks) or 'ok'}"


def _ranks(ranks: frozenset[int]) -> str:
    return f" r{','.join(map(str, sorted(ranks)))}" if ranks else ""


if __name__ == "__main__":
    sys.exit(main())
