# SPDX-License-Identifier: Apache-2.0
"""How far two ways of recording or computing the same thing are apart, as a page.

    python -m benchmarks.agreement --hta /elsewhere/bin/python --output docs/agreement.md

`--hta` is a Python of its own with `HolisticTraceAnalysis==0.5.0`: what it pins must not get into the package's.
Real captures are read from `ADVISOR_REAL_DATA`; 1 when a difference is neither within the target nor explained.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import sys
import tempfile
from collections.abc import Iterable
from pathlib import Path

import corpus
from benchmarks.agreement.exports import Pair, as_msprof, compare_captures
from benchmarks.agreement.gpu_traces import TARGET, Compared, compare_traces
from benchmarks.agreement.page import HEAD, exports_section, gpu_section

CASES = ("exposed-communication", "host-bound", "aicpu-exposed", "data-loader")
"""Of the generated captures: one in each part of the step, and one that falls back to the host's processors."""
_GPU = ("gpu_hta", "gpu_kineto_models", "gpu_kineto_tb_samples")
_MATRIX = "msinsight_pytorch_matrix"

_GENERATED = """Two exports of one generated job each: {cases}. Nothing may be apart. What only one of them holds is
what torch_npu writes into one only."""
_REAL = """The same program recorded six times, on two ranks: three levels as text, three as database. They are separate
runs, so times differ as runs do, and what must agree is what does not depend on the run: how many kernels, collectives,
copies and transfers there were, and the first finding. No public capture holds both exports of one run."""
_MSPROF = """No public data holds the output of both for one run, so the timeline and the tables of a generated rank are
written as msprof would: no steps, nothing of the framework. What differs does so by definition. Without `analyze/` a
collective waits while none of its planes moves data; the profiler's own sums count the waits of its main plane. Without
steps no pause is judged, and shares are of the device's work, so savings are not per step."""
_HTA = """[HolisticTraceAnalysis](https://github.com/facebookresearch/HolisticTraceAnalysis) (HTA) 0.5.0 on the public
traces of GPUs, of files that are the same one, the last step included and times not rounded to µs. *Whole* is from the
first task of the device to the end of the last, *idle* when nothing runs on it, *compute* while a kernel does,
*non-compute* else; *overlap* is the share of communication beside computation; idle time by kind is that of each
stream. Our figures are those of the facts, under the same definitions. Target: within {target:.1%}; times below 1 µs
are equal. A larger difference is explained where the events that HTA chooses, put through a computation of the
benchmark's own on the raw JSON, give HTA's figure."""
_REPORTS = """Reports split a step by step, with definitions of their own: a memset counts as computation, a copy beside
which no kernel runs as idle time with a cause, and a step goes on to the first kernel of the next one. HTA counts both
as busy and looks at the whole trace, so a report of a trace full of copies shows more idle time."""


def main() -> int:
    """Compare, and write the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.agreement", description=__doc__)
    parser.add_argument("--hta", type=Path, help="a Python that has HolisticTraceAnalysis; without it no GPU traces")
    parser.add_argument("--real-data", type=Path, default=os.environ.get("ADVISOR_REAL_DATA"))
    parser.add_argument("--output", type=Path)
    options = parser.parse_args()
    parts, wrong = [HEAD], 0
    with tempfile.TemporaryDirectory() as folder:
        parts += _generated_sections(Path(folder))
    if options.real_data:
        real = Path(options.real_data)
        parts.append(_real_section(real / _MATRIX))
        if options.hta:
            traces = _different_files(path for name in _GPU for path in (real / name).rglob("*.json*"))
            compared, unread = compare_traces(real, options.hta, traces)
            words = f"## Traces of GPUs against HolisticTraceAnalysis\n\n{_HTA.format(target=TARGET)}"
            parts += [words, gpu_section(compared, unread), _REPORTS]
            wrong = sum(_is_wrong(one) for one in compared)
    text = "\n\n".join(part.strip() for part in parts) + "\n"
    if options.output:
        options.output.write_text(text, encoding="utf-8")
    else:
        print(text)
    return int(wrong > 0)


def _different_files(paths: Iterable[Path]) -> list[Path]:
    """The files, one of those that are the same."""
    return list({hashlib.sha256(path.read_bytes()).digest(): path for path in sorted(paths, reverse=True)}.values())[
        ::-1
    ]


def _is_wrong(one: Compared) -> bool:
    return one.difference > TARGET and not one.reasons


def _generated_sections(folder: Path) -> list[str]:
    pairs: dict[str, Pair] = {}
    for case in CASES:
        job = corpus.job(case)
        text, database = (corpus.write(job, folder / case / export, export) for export in ("text", "database"))
        pairs[case] = compare_captures(text, database)
    rank = next(path for path in sorted((folder / CASES[0] / "text").iterdir()) if path.is_dir())
    msprof = {CASES[0]: compare_captures(rank, as_msprof(rank, folder / "msprof"))}
    words = _GENERATED.format(cases=", ".join(f"`{case}`" for case in CASES))
    return [
        exports_section("Text and database, generated", words, pairs, ("text", "database")),
        exports_section("torch_npu and msprof, generated", _MSPROF, msprof, ("torch_npu", "msprof")),
    ]


def _real_section(folder: Path) -> str:
    levels = [f"level{level}" for level in range(3)]
    pairs = {level: compare_captures(folder / "text" / level, folder / "db" / level) for level in levels}
    return exports_section("Text and database, real", _REAL, pairs, ("text", "database"))


if __name__ == "__main__":
    sys.exit(main())
