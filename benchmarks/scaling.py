# SPDX-License-Identifier: Apache-2.0
"""Whether time grows linearly: with events, and with distinct shapes.

    python benchmarks/scaling.py --ours .venv/bin/advisor

Prints the time of captures that double in size, and the exponent of the growth between the two largest; 1 is linear,
2 quadratic. Ends with 1 when an exponent is above 1.15.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
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
    parser.add_argument("--largest", default="256M", help="size of the largest timelines")
    parser.add_argument("--points", type=int, default=4)
    parser.add_argument("--runs", type=int, default=3)
    options = parser.parse_args()
    exponents = [_series(options, distinct_shapes) for distinct_shapes in (False, True)]
    return int(max(exponents) > _TOLERATED)


def _series(options: argparse.Namespace, distinct_shapes: bool) -> float:
    largest = repeats_for(options.capture, size_of(options.largest))
    points = [max(1, largest >> shift) for shift in reversed(range(options.points))]
    times = [_time(options, repeats, distinct_shapes) for repeats in points]
    exponent = math.log(times[-1] / times[-2]) / math.log(points[-1] / points[-2])
    what = "events, and every repeat has shapes of its own" if distinct_shapes else "events"
    measured = ", ".join(f"{repeats} repeats {seconds:.2f} s" for repeats, seconds in zip(points, times, strict=True))
    print(f"{what}: {measured}; exponent {exponent:.2f}")
    return exponent


def _time(options: argparse.Namespace, repeats: int, distinct_shapes: bool) -> float:
    with tempfile.TemporaryDirectory() as folder:
        capture = enlarge(options.capture, Path(folder) / "capture", repeats, distinct_shapes=distinct_shapes)
        run = best([options.ours, "diagnose", str(capture), "-o", str(Path(folder) / "out.json")], options.runs)
        if run.code:
            raise SystemExit(f"advisor ended with {run.code}: {run.output}")
        return run.seconds


if __name__ == "__main__":
    sys.exit(main())
