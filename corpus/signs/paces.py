# SPDX-License-Identifier: Apache-2.0
"""Signs of what takes the time of a step: when kernels are slow, in which module, and which type leads."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import corpus
from corpus.cases import setup_of
from corpus.events import Job
from corpus.signs import Sign, Write
from corpus.signs.captures import about


@cache
def _paced(paces: tuple[tuple[int, float], ...]) -> Job:
    """Seven steps of a small model on one device; in the steps of these numbers kernels take so many times as long."""
    setup = setup_of("healthy", "single")
    workload = replace(setup.workload, layers=2, hidden=2048, sequence=1024, steps=7)
    return corpus.job(
        "healthy", 11, setup=replace(setup, workload=workload, machine=replace(setup.machine, paces=dict(paces)))
    )


def _pace(*steps: int, slower: float) -> Write:
    def written(folder: Path) -> None:
        corpus.write(_paced(tuple((step, slower) for step in steps)), folder)

    return written


SIGNS: Mapping[str, Sign] = {
    "compute/slowed-steps": Sign(
        spoiled=_pace(15, 16, 17, slower=1.25),
        twin=_pace(15, 16, 17, slower=1.08),
        shows={"slow_count": 3, "compared_count": 6, "since_step": 15, "times_as_long": about(1.25, 0.02)},
    ),
}
