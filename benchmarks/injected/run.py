# SPDX-License-Identifier: Apache-2.0
"""Spoils a base, writes it and has it diagnosed. Captures go to temporary folders; nothing stays on disk."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import advisor
from benchmarks.injected.bases import Base, job_of, make, write
from benchmarks.injected.children import in_children
from benchmarks.injected.faults import Fault, Run, all_faults
from benchmarks.injected.mark import Case, Claim, Key, Mark, claims
from benchmarks.injected.rerun import rerun
from benchmarks.injected.whatif import won_us

CONTROL = 0.012
"""By what part the step of a control gets longer: below what anyone would act on."""
_ROUNDS = 6
_NEAR = 0.06
Asked = Callable[[Case], bool]


def marks(base: Base, data: Path, asked: Asked, jobs: int, keep: Path | None = None) -> Iterator[Mark]:
    """The base itself, then every fault put into it and its control; captures are kept where a folder is given."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = keep or Path(temporary)
        capture = make(base, data, folder / base.name)
        run = Run.of(*job_of(capture))
        before = claims(advisor.diagnose(capture))
        step_us = run.job.longest_step_ns / 1e3
        nothing = Key(frozenset(), frozenset(), frozenset())
        yield Mark(Case(base.name, "", 0.0), nothing, step_us, 0.0, before, before)
        yield from in_children(partial(_marked, run, before, folder, keep is not None), _cases(base, asked), jobs)


def _cases(base: Base, asked: Asked) -> Sequence[Case]:
    cases = []
    for name, fault in all_faults().items():
        if base.name in fault.bases:
            cases.append(Case(base.name, name, fault.growth or 0.0))
            if fault.growth is not None:
                cases.append(Case(base.name, name, CONTROL, control=True))
    return [case for case in cases if asked(case)]


def _marked(run: Run, before: tuple[Claim, ...], folder: Path, keep: bool, case: Case) -> Mark:
    fault = all_faults()[case.fault]
    to = folder / f"{case.base}-{case.fault}{'-control' * case.control}"
    if fault.common is not None:
        fault.common(run)
        rerun(run.job)
        run = Run.of(run.job, run.captures)
        before = _said(run, fault, to.with_name(f"{to.name}-without"), keep)
    without = run.job.longest_step_ns
    amount = _amount(run, fault, case.growth) if case.growth else 0.0
    spoil(run, fault, amount)
    said = _said(run, fault, to, keep)
    now = run.job.longest_step_ns
    key = Key(fault.named_by, fault.shown_by, fault.ranks)
    marked = Mark(case, key, now / 1e3, (now - without) / 1e3, said, before)
    tried = {claim.rule: next(in_children(partial(won_us, run), [claim.rule], 1)) for claim in marked.in_question}
    return replace(marked, tried={rule: won for rule, won in tried.items() if won is not None})


def _said(run: Run, fault: Fault, folder: Path, keep: bool) -> tuple[Claim, ...]:
    """What is found in the captures of a program as it is."""
    capture = write(run.job, run.captures, folder)
    said = claims(advisor.diagnose(capture, workload=fault.workload))
    if not keep:
        _remove(capture)
    return said


def spoil(run: Run, fault: Fault, amount: float) -> None:
    """Puts a fault into a program, and runs it."""
    fault.spoil(run, amount)
    rerun(run.job)


def _amount(run: Run, fault: Fault, growth: float) -> float:
    """How much of a fault makes the step longer by this part, by trying."""
    without = run.job.longest_step_ns
    wanted = without * growth
    tried: list[tuple[float, float]] = [(0.0, 0.0)]
    amount = wanted
    for _ in range(_ROUNDS):
        grown = next(in_children(partial(_grown, run, fault), [amount], 1)) - without
        tried.append((amount, grown))
        if abs(grown - wanted) <= _NEAR * wanted:
            break
        amount = _next(tried, wanted)
    return min(tried, key=lambda pair: abs(pair[1] - wanted))[0]


def _next(tried: Sequence[tuple[float, float]], wanted: float) -> float:
    """Between the nearest below and above; three times as much while all are below."""
    below = max((pair for pair in tried if pair[1] < wanted), default=(0.0, 0.0))
    above = min((pair for pair in tried if pair[1] >= wanted), default=None)
    if above is None:
        share = wanted / below[1] if below[1] > 0 else 4.0
        return max(below[0], 1.0) * min(max(share, 1.1), 4.0)
    part = (wanted - below[1]) / max(above[1] - below[1], 1.0)
    return below[0] + (above[0] - below[0]) * min(max(part, 0.05), 0.95)


def _grown(run: Run, fault: Fault, amount: float) -> float:
    spoil(run, fault, amount)
    return run.job.longest_step_ns


def _remove(folder: Path) -> None:
    for path in sorted(folder.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    folder.rmdir()
