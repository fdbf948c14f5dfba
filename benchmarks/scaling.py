# SPDX-License-Identifier: Apache-2.0
"""Whether time grows linearly: with events, and with distinct shapes.

    python benchmarks/scaling.py --ours .venv/bin/advisor

Prints the time of captures that double in size, and the exponent of the growth between the two largest; writes it as
a page with `--output`. Ends with 1 when an exponent is above 1.15.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from benchmarks.enlarge import enlarge, repeats_for, size_of
from benchmarks.processes import best

_CORPUS = Path(__file__).resolve().parent.parent / "corpus" / "host-bound-2-ranks"
_TOLERATED = 1.15
"""The start-up makes the exponent smaller, noise makes it larger."""


def main() -> int:
    """Measure both series."""
    parser = argparse.ArgumentParser(description="Measures how the time of advisor grows")
    parser.add_argument("--ours", default="advisor")
    parser.add_argument("--capture", type=Path, default=_CORPUS)
    parser.add_argument(
        "--about", default="one rank of corpus/host-bound-2-ranks", help="what the capture is, in words"
    )
    parser.add_argument("--largest", default="256M", help="size of the largest timelines")
    parser.add_argument("--points", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--output", type=Path, help="a markdown file to write")
    options = parser.parse_args()
    largest = repeats_for(options.capture, size_of(options.largest))
    repeats = [max(1, largest >> shift) for shift in reversed(range(options.points))]
    same, distinct = ([_time(options, count, kind) for count in repeats] for kind in (False, True))
    exponents = [_exponent(repeats, times) for times in (same, distinct)]
    page = _page(options, list(zip(repeats, same, distinct, strict=True)), exponents)
    print(page)
    if options.output:
        options.output.write_text(page, encoding="utf-8")
    return int(max(exponents) > _TOLERATED)


def _exponent(repeats: Sequence[int], times: Sequence[float]) -> float:
    """Of the growth between the two largest."""
    return math.log(times[-1] / times[-2]) / math.log(repeats[-1] / repeats[-2])


def _page(options: argparse.Namespace, lines: Sequence[tuple[int, float, float]], exponents: Sequence[float]) -> str:
    rows = "\n".join(f"| {count} | {same:.2f} s | {distinct:.2f} s |" for count, same, distinct in lines)
    return f"""# How time grows

How the time of a diagnosis grows with the size of a capture.

Written by `benchmarks/scaling.py`: the whole command to a JSON diagnosis, best of {options.runs} runs,
on {options.about}, whose steps are repeated; the largest holds {options.largest} of timeline.

| repeats | time | with shapes of its own in every repeat |
|---|---|---|
{rows}

Exponent of the growth between the two largest: {exponents[0]:.2f} with events, {exponents[1]:.2f} where the shapes
grow with them (1 is linear, 2 quadratic; the start of the command makes it smaller).
"""


def _time(options: argparse.Namespace, repeats: int, distinct_shapes: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        capture = enlarge(options.capture, Path(folder) / "capture", repeats, distinct_shapes=distinct_shapes)
        run = best([options.ours, "diagnose", str(capture), "-o", str(Path(folder) / "out.json")], options.runs)
        if run.code:
            raise SystemExit(f"advisor ended with {run.code}: {run.output}")
        return run.seconds


if __name__ == "__main__":
    sys.exit(main())
