# SPDX-License-Identifier: Apache-2.0
"""Prints what each fault costs at each strength in each of its workloads: `python benchmarks/strengths.py [FAULT …]`.

An expert lets pass what costs less than 2 % of the step and calls a problem what costs 6 to 20 %. Lines that break
this are marked; the measures behind the strengths stand in `corpus/strengths.py`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from corpus.answers import HARMLESS, TIMELESS
from corpus.cases import APPLIES, job

STRENGTHS = (0.25, 1.0, 2.0)
SEED = 3


def shares(fault: str, workload: str) -> list[float]:
    """The share of the step that fixing the fault would save, per strength."""
    made = [job(fault, SEED, workload=workload, strength=strength) for strength in STRENGTHS]
    return [1 - each.causes[0].step_us_without / each.step_us for each in made]


def as_meant(below: float, at: float, above: float) -> bool:
    """Whether the weak fault is harmless, the middle one a problem and the strong one worse."""
    return below < 0.02 and 0.06 <= at <= 0.2 and above > at  # noqa: PLR2004 - they stand in the docstring above


def main() -> int:
    """Print the table; 1 when a line is not as meant."""
    wrong = 0
    for fault in sys.argv[1:] or sorted(set(APPLIES) - HARMLESS - TIMELESS):
        for workload in APPLIES[fault]:
            found = shares(fault, workload)
            wrong += not as_meant(*found)
            text = "".join(f"{share:8.1%}" for share in found)
            sys.stdout.write(f"{fault:26}{workload:13}{text}{'' if as_meant(*found) else '  !'}\n")
            sys.stdout.flush()
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main())
