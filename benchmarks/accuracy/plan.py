# SPDX-License-Identifier: Apache-2.0
"""Which captures are diagnosed: every fault alone at three strengths, mixtures, healthy jobs; calibration and scoring.

The two splits share neither seeds nor workloads: the jobs of the second have other models, machines and step counts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from corpus.answers import HARMLESS, TIMELESS
from corpus.cases import APPLIES, FAULTS, MIXTURES, Setup
from corpus.recordings import RECORDINGS, USUAL
from corpus.workloads import WORKLOADS

BELOW, AT, ABOVE = 0.25, 1.0, 2.0
STRENGTHS = (BELOW, AT, ABOVE)
SPLITS = ("calibration", "scoring")
EXPORTS = (("text", 1), ("database", 1), ("text", 2), ("database", 2))
_SEEDS = {"calibration": 1000, "scoring": 5001}
"""The first seed of each split."""
_FURTHER = 1000
"""Seeds of captures recorded in another way than usual begin so much later."""
PLACES = 2
"""Workloads per fault, whatever their number, so that each fault counts the same."""
HEALTHY_RANKS = 32
"""Healthy ranks of each workload: eight jobs of four ranks, three of more."""


@dataclass(frozen=True, slots=True)
class Case:
    """One capture to diagnose."""

    split: str
    case: str
    workload: str
    strength: float
    seed: int
    export: str
    level: int
    recording: str = USUAL
    """Which of RECORDINGS it is; empty for the usual one."""

    @property
    def variants(self) -> Mapping[str, Any]:
        """What is different about how it is written."""
        return RECORDINGS[self.recording].variants if self.recording else {}

    @property
    def timed(self) -> bool:
        """Whether the capture says how long a step took."""
        return not self.recording or RECORDINGS[self.recording].timed

    @property
    def name(self) -> str:
        """What it is called in tables and logs."""
        strength = "" if self.case == "healthy" else f" x{self.strength:g}"
        written = f"{self.export} Level{self.level}{', ' * bool(self.recording)}{self.recording}"
        return f"{self.case}{strength} on {self.workload}, seed {self.seed}, {written}"


def plan(split: str) -> Iterator[Case]:
    """All cases of a split, in a fixed order."""
    for number, (case, workload, strength) in enumerate(_recipes(split)):
        export, level = EXPORTS[number % len(EXPORTS)]
        yield Case(split, case, workload, strength, _SEEDS[split] + number, export, level)
    for number, (recording, case, workload, strength) in enumerate(_recorded(split), _FURTHER):
        exports, levels = RECORDINGS[recording].exports, RECORDINGS[recording].levels
        export, level = exports[number % len(exports)], levels[number // len(exports) % len(levels)]
        yield Case(split, case, workload, strength, _SEEDS[split] + number, export, level, recording)


def _recorded(split: str) -> Iterator[tuple[str, str, str, float]]:
    """Recording, case, workload and strength of the captures that were recorded in another way than usual."""
    turn = SPLITS.index(split)
    for name, recording in RECORDINGS.items():
        yield from ((name, "healthy", workload, AT) for workload in recording.healthy)
        for fault, workloads in recording.faults.items():
            workload = workloads[turn % len(workloads)]
            yield from ((name, fault, workload, strength) for strength in STRENGTHS)


def _recipes(split: str) -> Iterator[tuple[str, str, float]]:
    for workload in WORKLOADS:
        yield from [("healthy", workload, 1.0)] * _healthy_jobs(WORKLOADS[workload])
    for fault in FAULTS:
        strengths = (AT,) if fault in TIMELESS else STRENGTHS
        for workload in _places(fault, split):
            yield from ((fault, workload, strength) for strength in strengths)
    for mixture in MIXTURES:
        yield from ((mixture, "", strength) for strength in (AT, ABOVE))


def _places(fault: str, split: str) -> list[str]:
    """Two workloads for a fault: of those it applies to, every other one first; one twice where there are fewer."""
    turn = SPLITS.index(split)
    ordered = [*APPLIES[fault][turn::2], *APPLIES[fault][1 - turn :: 2]]
    return [ordered[place % len(ordered)] for place in range(PLACES)]


def _healthy_jobs(setup: Setup) -> int:
    return min(8, max(3, HEALTHY_RANKS // setup.layout.world))


def wanted(case: Case) -> bool:
    """Whether there is something to find."""
    return case.case != "healthy" and case.case not in HARMLESS and case.strength > BELOW


def setup_of(case: Case, base: Setup) -> Setup:
    """The setup of a case: in the scoring split another model on another machine than in calibration."""
    return base if case.split == "calibration" else _other(base)


def _other(base: Setup) -> Setup:
    machine = base.machine
    faster = replace(machine, link_gbps=machine.link_gbps * 1.1, noise=0.03, launch_us=machine.launch_us * 0.95)
    return replace(base, workload=_scaled(base.workload), machine=faster)


_OTHER: Mapping[str, Callable[[int], int]] = {
    "steps": lambda steps: steps + 1 if steps > 2 else steps,  # noqa: PLR2004 - two are those of the largest jobs
    "sequence": lambda tokens: tokens * 5 // 4 // 64 * 64,
    "batch": lambda samples: samples * 5 // 4,
    "context": lambda tokens: tokens * 5 // 4,
    "requests": lambda requests: requests * 5 // 4,
}
"""How the model of the scoring split differs, as far as a workload has such a size."""


def _scaled(workload: Any) -> Any:
    there = {field.name for field in fields(workload)}
    return replace(
        workload, **{name: change(getattr(workload, name)) for name, change in _OTHER.items() if name in there}
    )
