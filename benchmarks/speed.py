# SPDX-License-Identifier: Apache-2.0
"""The whole command against msprof-analyze on the same captures in one run: wall time and peak memory.

    python benchmarks/speed.py --ours .venv/bin/advisor --theirs /elsewhere/bin/msprof-analyze --output docs/speed.md

Captures are made from one of the corpus by repetition (`enlarge.py`), and with `--database` from a database export too
(`enlarge_database.py`). Both commands write their HTML report. Time is the best of some runs; memory is the peak of our
whole process tree (watched in a run of its own) and of the other tool's largest process. Without `--theirs` only ours
is measured.
"""

from __future__ import annotations

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.enlarge import enlarge, repeats_for, size_of
from benchmarks.enlarge_database import enlarge_database, repeats_for_database
from benchmarks.processes import Measured, best

_CORPUS = next((Path(__file__).resolve().parent.parent / "corpus" / "host-bound-2-ranks").glob("*_ascend_pt"))
"""One rank: of several the other tool looks at one only."""
_TARGET_TIME = {"2M": 1 / 3, "1G": 1 / 30}
"""Largest share of the other tool's time, by size, on text."""
_TARGET_CPU = {"1G": 1 / 12}
"""Largest share of the other tool's processor time, by size, on databases."""
_MIB = 2**20
_FIXED_MEMORY, _MEMORY_PER_BYTE = 60 * _MIB, {"text": 0.35, "database": 0.5}
_MEMORY_AT = "1G"
"""Below, the interpreter, numpy and the drawing library are most of it."""
_VERSION_SECONDS = 0.150
_SHORT_RUNS = 3
"""So many times as often is run what is small: others who use the machine make a second longer by a quarter."""


@dataclass(frozen=True, slots=True)
class Line:
    """One size: how large the capture came out, and what both took."""

    export: str
    size: str
    bytes: int
    ours: Measured
    theirs: Measured | None


def main() -> int:
    """Measure, print the table, and write it when asked; 1 when a target is missed."""
    options = _parser().parse_args()
    exports = ("text", "database") if options.database else ("text",)
    lines = [_line(export, size, options) for export in exports for size in options.sizes]
    version = best([options.ours, "--version"], 5, watch=False)
    text = _page(lines, version, options)
    print(text)
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    return 0 if all(_misses(line) == [] for line in lines) and version.seconds <= _VERSION_SECONDS else 1


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Compares advisor with msprof-analyze in time and memory")
    parser.add_argument("--ours", default="advisor", help="the advisor command")
    parser.add_argument("--theirs", default="", help="the msprof-analyze command; nothing measures ours alone")
    parser.add_argument("--capture", type=Path, default=_CORPUS, help="a small text capture to enlarge")
    parser.add_argument(
        "--about", default="one rank of corpus/host-bound-2-ranks", help="what the capture is, in words"
    )
    parser.add_argument("--database", type=Path, help="a small database capture of one rank to enlarge too")
    parser.add_argument("--sizes", nargs="+", default=["2M", "200M", "1G"], help="of the timelines together")
    parser.add_argument("--runs", type=int, default=3, help="of ours; theirs runs once above 100 MB")
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    parser.add_argument("--work", type=Path, help="where the captures are kept; the default is removed at the end")
    return parser


def _line(export: str, size: str, options: argparse.Namespace) -> Line:
    with tempfile.TemporaryDirectory() as temporary:
        work = options.work or Path(temporary)
        capture = work / f"{export}-{size}"
        if not capture.exists():
            _enlarge(export, size, capture, options)
        print(f"{export} {size}: measuring", file=sys.stderr)
        large = size_of(size) > size_of("100M")
        runs = options.runs if large else _SHORT_RUNS * options.runs
        ours = best([options.ours, "diagnose", str(capture), "-o", str(work / "ours.html")], runs)
        theirs = _theirs(capture, work / "theirs", options, 1 if large else runs)
        return Line(export, size, _tree_size(capture), ours, theirs)


def _enlarge(export: str, size: str, capture: Path, options: argparse.Namespace) -> None:
    if export == "text":
        enlarge(options.capture, capture, repeats_for(options.capture, size_of(size)))
    else:
        enlarge_database(options.database, capture, repeats_for_database(options.database, size_of(size)))


def _theirs(capture: Path, out: Path, options: argparse.Namespace, runs: int) -> Measured | None:
    if not options.theirs:
        return None
    out.mkdir(parents=True)
    program = os.path.abspath(shutil.which(options.theirs) or options.theirs)
    command = [program, "advisor", "all", "-d", str(capture.resolve()), "-o", str(out)]
    measured = best(command, runs, watch=False, folder=out)  # it writes into the folder it is called from, too
    shutil.rmtree(out, ignore_errors=True)
    return measured


def _tree_size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _misses(line: Line) -> list[str]:
    """The targets a size does not reach."""
    ours, theirs, missed = line.ours, line.theirs, []
    on_text = line.export == "text"
    if theirs and on_text and ours.seconds > _TARGET_TIME.get(line.size, 1) * theirs.seconds:
        missed.append("time")
    if theirs and not on_text and ours.cpu_seconds > _TARGET_CPU.get(line.size, 1) * theirs.cpu_seconds:
        missed.append("processor")
    if line.size == _MEMORY_AT and line.ours.peak_bytes > _FIXED_MEMORY + _MEMORY_PER_BYTE[line.export] * line.bytes:
        missed.append("memory")
    return missed


def _page(lines: list[Line], version: Measured, options: argparse.Namespace) -> str:
    tables = "\n\n".join(_table(export, [one for one in lines if one.export == export]) for export in _captions(lines))
    return f"""# Speed

How long a diagnosis takes and how much memory, beside the existing tool.

Written by `benchmarks/speed.py`; the whole command from capture to HTML report, best of {options.runs} runs
above 100 MB (the other tool once), of {_SHORT_RUNS * options.runs} below, on
{options.about}, whose steps are repeated to the sizes below.
Memory is the peak of the process tree for advisor, of its largest process for the other tool.

{tables}

`advisor --version`: {version.seconds * 1000:.0f} ms (target {_VERSION_SECONDS * 1000:.0f} ms).

Targets: on text at most 1/3 of the other tool's time at 2 MB and 1/30 at 1 GB, and there at most 60 MiB and 0.35 of the
capture in memory; on databases of 1 GB 1/12 of its processor time, and 60 MiB and 0.5 of the file in memory.

{_machine(options)}
"""


def _captions(lines: list[Line]) -> list[str]:
    return list(dict.fromkeys(line.export for line in lines))


def _table(export: str, lines: list[Line]) -> str:
    measures = " | ".join(f"{what}: advisor | msprof-analyze | ratio" for what in ("time", "processor"))
    head = f"| {export} | {measures} | memory: advisor | msprof-analyze | targets |\n"
    return head + "|---|---|---|---|---|---|---|---|---|---|\n" + "\n".join(map(_row, lines))


def _row(line: Line) -> str:
    ours, theirs = line.ours, line.theirs
    missed = ", ".join(_misses(line))
    cells = [
        f"{line.bytes / 1e6:.0f} MB",
        *(f"{ours.seconds:.2f} s", f"{theirs.seconds:.2f} s" if theirs else "-"),
        f"1/{theirs.seconds / ours.seconds:.1f}" if theirs else "-",
        *(f"{ours.cpu_seconds:.2f} s", f"{theirs.cpu_seconds:.2f} s" if theirs else "-"),
        f"1/{theirs.cpu_seconds / ours.cpu_seconds:.1f}" if theirs else "-",
        *(f"{ours.peak_bytes / _MIB:.0f} MiB", f"{theirs.peak_bytes / _MIB:.0f} MiB" if theirs else "-"),
        f"missed: {missed}" if missed else "met",
    ]
    return f"| {' | '.join(cells)} |"


def _machine(options: argparse.Namespace) -> str:
    """What the numbers depend on."""
    model = next((line.partition(":")[2].strip() for line in _cpu_lines() if line.startswith("model name")), "unknown")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    facts = [
        f"{os.cpu_count()} x {model}", f"{memory:.0f} GiB", platform.platform(terse=True),
        f"Python {platform.python_version()}", _version(options.ours), _version_of_theirs(options.theirs),
    ]  # fmt: skip
    return "Machine: " + ", ".join(fact for fact in facts if fact) + "."


def _cpu_lines() -> list[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def _version(command: str) -> str:
    run = subprocess.run([command, "--version"], capture_output=True, text=True, check=False)
    return " ".join(run.stdout.split())


def _version_of_theirs(command: str) -> str:
    if not command:
        return ""
    python = Path(command).parent / "python"
    code = "import importlib.metadata as m; print('msprof-analyze', m.version('msprof-analyze'))"
    run = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return run.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
