# SPDX-License-Identifier: Apache-2.0
"""The marks as a page: `docs/accuracy-real.md`."""

from __future__ import annotations

from collections.abc import Sequence

from benchmarks.injected.bases import Base
from benchmarks.injected.mark import Mark, Score, score

TARGETS = (
    ("faults named", 0.95),
    ("precision", 0.95),
    ("first finding is the fault", 0.95),
    ("saving within 25 % of the truth", 0.9),
    ("controls left in peace", 1.0),
)


def measures(found: Score) -> list[float | None]:
    """The figures of TARGETS, in their order."""
    return [
        _ratio(found.found, found.wanted),
        _ratio(found.claims - found.wrong, found.claims),
        _ratio(found.leads, found.wanted),
        _ratio(found.close, found.savings),
        _ratio(found.quiet, found.controls),
    ]


def _ratio(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def met(marks: Sequence[Mark]) -> bool:
    """Whether every target is reached."""
    return all(
        value is None or value >= target for value, (_, target) in zip(measures(score(marks)), TARGETS, strict=True)
    )


def page(marks: Sequence[Mark], bases: Sequence[Base], seconds: float) -> str:
    """The whole page. `seconds` are those of all processors together."""
    return "\n".join([_head(marks, seconds), _summary(marks), _bases(marks, bases), _faults(marks), _key(marks)])


def _head(marks: Sequence[Mark], seconds: float) -> str:
    faults = {mark.case.fault for mark in marks if mark.case.fault}
    return f"""# Accuracy on real captures

How often a diagnosis names the cause, in captures of real devices into which a known fault was put.

Written by `python -m benchmarks.injected`. {len(faults)} faults are put into captures that were recorded
on real devices, {sum(bool(mark.case.fault) for mark in marks)} captures in all, which takes
{seconds / 60:.0f} minutes of one core. Faults put into generated captures are marked in [accuracy](accuracy.md).

A recorded step is read as a program: what each host thread does, what it launches, what each stream runs in turn, what
waits for what, and where ranks meet. Run again without a change it comes out as recorded. A fault changes the program
(a wait of the host, kernels between kernels, a slow rank), the program is run again, and all files are written from
that run, so that they agree. The true saving is the step of this run less the step without the fault.

Each fault makes the step about 15 % longer, a chain of small operators 10 %, one that loses pauses alone 6 %; its
control is the same fault at 1 %, of which nothing may be said. What
counts is each finding of medium severity or above that the report does not show under another. It is
right when its rule names the fault, or is there without the fault at a similar size; a known symptom of the fault is no
answer, but not wrong either.
"""


def _summary(marks: Sequence[Mark]) -> str:
    names = sorted({mark.case.base for mark in marks}, reverse=True)
    columns = [measures(score(marks)), *(measures(score([m for m in marks if m.case.base == name])) for name in names)]
    lines = ["## In all", "", f"| | target | all | {' | '.join(names)} |", "|---" * (len(names) + 3) + "|"]
    for row, (name, target) in enumerate(TARGETS):
        cells = " | ".join(_share(column[row]) for column in columns)
        lines.append(f"| {name} | {target:.2f} | {cells} |")
    return "\n".join([*lines, ""])


def _share(value: float | None) -> str:
    return "–" if value is None else f"{int(value * 1000) / 1000:g}"


def _bases(marks: Sequence[Mark], bases: Sequence[Base]) -> str:
    lines = ["## Bases", "", "| base | steps | ranks | step | found in it |", "|---|---|---|---|---|"]
    for mark in marks:
        if not mark.case.fault:
            base = next(base for base in bases if base.name == mark.case.base)
            said = ", ".join(f"`{claim.rule}` {_part(claim.us, mark.step_us)}" for claim in mark.claims) or "nothing"
            size = f"{base.steps or 'as recorded'} | {base.ranks or 'as recorded'} | {mark.step_us / 1e3:.1f} ms"
            lines.append(f"| {base.name} | {size} | {said} |")
    lines += [
        "",
        "*recorded* is as the profiler wrote it. In *balanced* what was abnormal is taken out: nothing inside the",
        "collectives is idle, hosts are as fast as without call stacks, and kernels as long as with a larger batch;",
        "the step is repeated, with small differences, and further ranks do what the recorded ones do. The raw data's",
        "`info.json` stays beside it and says the clock the devices were recorded at.",
        "",
        "*gpu*, *gpu-4* and *gpu-loader* are traces of the PyTorch profiler on GPUs. There the host runs ahead until",
        "CUDA's queue of 1 024 launches is full, and a step ends when the device has done what was sent in it. The",
        "hosts of *gpu-4* and *gpu-loader* are made faster, for as recorded they took most of the step.",
    ]
    return "\n".join([*lines, ""])


def _part(us: float | None, step_us: float) -> str:
    return "" if us is None else f"({us / step_us:.0%})"


def _faults(marks: Sequence[Mark]) -> str:
    headings = (
        "base | fault | true part of the step | named by | first | right ranks | wrong beside it | saving | control"
    )
    lines = ["## By fault", "", f"| {headings} |", "|---" * 9 + "|"]
    controls = {(mark.case.base, mark.case.fault): mark for mark in marks if mark.case.control}
    for mark in marks:
        if mark.case.fault and not mark.case.control:
            lines.append(_row(mark, controls.get((mark.case.base, mark.case.fault))))
    return "\n".join([*lines, ""])


def _row(mark: Mark, control: Mark | None) -> str:
    named = ", ".join(f"`{claim.rule}`" for claim in mark.named[:2]) or "–"
    placed = {None: "", True: "yes", False: "no"}[mark.placed]
    quiet = (
        "" if control is None else "quiet" if not control.wrong else ", ".join(f"`{rule}`" for rule in control.wrong)
    )
    wrong = ", ".join(f"`{rule}`" for rule in mark.wrong)
    error = "" if mark.error is None else f"{mark.error:+.0%}"
    cells = (
        mark.case.base,
        mark.case.fault,
        f"{mark.part:.0%}",
        named,
        "yes" if mark.leads else "no",
        placed,
        wrong,
        error,
        quiet,
    )
    return f"| {' | '.join(cells)} |"


def _key(marks: Sequence[Mark]) -> str:
    lines = ["## Key", "", "| fault | named by any of | may show as |", "|---|---|---|"]
    for fault, key in sorted({mark.case.fault: mark.key for mark in marks if mark.case.fault}.items()):
        named, shown = (", ".join(f"`{rule}`" for rule in sorted(rules)) for rules in (key.named_by, key.shown_by))
        lines.append(f"| {fault} | {named} | {shown} |")
    return "\n".join([*lines, ""])
