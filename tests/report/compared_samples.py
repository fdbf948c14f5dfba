# SPDX-License-Identifier: Apache-2.0
"""Small comparisons of every shape, with names that try to break out of whatever they are written into."""

from __future__ import annotations

from report_samples import HOSTILE, SHAPES, rich, table

from advisor.comparison import compare
from advisor.messages.text import Text
from advisor.model.comparison import Comparison, Difference
from advisor.model.findings import Account, Diagnosis, Rows, Saving, Severity, Spent, StepSplit, TimeSplit
from advisor.model.run import Run


def account(times: tuple[float, ...], *spent: tuple[str, str, float, float | None]) -> Account:
    """An account of steps of these lengths, and entries as part, name, µs and count."""
    steps = (
        StepSplit(step=i, step_us=us, compute_us=us / 2, exposed_comm_us=us / 4, free_us=us / 4)
        for i, us in enumerate(times)
    )
    entries = (
        Spent.model_validate({"part": p, "name": n, "us": us, "spread_us": 1.0, "count": c}) for p, n, us, c in spent
    )
    return Account(spent=tuple(entries), steps=tuple(steps))


def split(step: float, compute: float, comm: float, free: float) -> TimeSplit:
    return TimeSplit(step_us=step, compute_us=compute, exposed_comm_us=comm, overlapped_us=0, free_us=free)


def before(names: tuple[str, ...] = HOSTILE) -> Diagnosis:
    """117 ms per step, without conversions."""
    made = rich(names)
    kept = [finding for finding in made.findings if finding.rule != "compute/conversion-kernels"]
    return made.model_copy(
        update={
            "run": made.run.model_copy(update={"name": "main"}),
            "findings": (*kept[:2], kept[2].model_copy(update={"saving": Saving(us=40_000, share=0.34)})),
            "split": split(117_000, 9_000, 82_000, 26_000),
            "account": account(
                (116_900, 117_000, 117_100),
                ("compute", "MatMulV2", 9_000, 40),
                ("communication", "allReduce", 82_000, 8),
                ("free", "host_late", 26_000, 100),
            ),
        }
    )


def after(names: tuple[str, ...] = HOSTILE) -> Diagnosis:
    """131 ms per step: what the names stand for takes 14 ms, half of it one kernel."""
    made = rich(names)
    many = [("compute", name, 7_000.0 if i == 0 else 10.0, 3.0) for i, name in enumerate(names)]
    rest = 14_000 - sum(us for *_, us, _ in many)
    bumped = made.findings[1].model_copy(update={"saving": Saving(us=60_000, share=0.5), "severity": Severity.critical})
    return made.model_copy(
        update={
            "findings": (made.findings[0], bumped, *made.findings[2:]),
            "split": split(131_000, 16_000, 82_000, 33_000),
            "account": account(
                (130_900, 131_000, 131_100),
                ("compute", "MatMulV2", 9_000, 40),
                *many,
                ("communication", "allReduce", 82_000, 8),
                ("free", "host_late", 26_000 + rest - 500, 120),
                ("free", "", 500, None),
            ),
        }
    )


TIMES = "total_before_us:us total_after_us:us total_delta_us:us calls_before:count calls_after:count calls_delta:count"


def tables(names: tuple[str, ...] = HOSTILE) -> tuple[Difference, ...]:
    """Kernels with these names, collectives by size, and memory of which one side knows nothing."""
    kernels = [(name, "AI_CORE", "8,8", 1.0, 7_000.5, 6_999.5, 1.0, 3.0, 2.0) for name in names]
    kernels.append(("Gone", "AI_CPU", "=1+1", 10.0, 0.0, -10.0, 2.0, 0.0, -2.0))
    peaks = "component rank reserved_before_bytes:B reserved_after_bytes:B reserved_delta_bytes:B"
    return (
        Difference(name="kernels", rows=table(f"op_type core input_shapes {TIMES}", *kernels, total=8_000)),
        Difference(
            name="collectives", rows=table(f"op size_bytes:B {TIMES}", ("allReduce", 64, 1.0, 1.0, 0.0, 1.0, 1.0, 0.0))
        ),
        Difference(
            name="memory", rows=table(peaks, ("PTA", 0, 2.0**30, 2.0**31, 2.0**30), ("PTA", 1, None, 2.0**30, None))
        ),
    )


def compared(names: tuple[str, ...] = HOSTILE) -> Comparison:
    """Slower by 14 ms: findings new, worse, the same, better and not comparable."""
    made = compare(before(names), after(names))
    return made.model_copy(
        update={"tables": tables(names), "notes": (*made.notes, Text(en="One note.", zh="一条备注。"))}
    )


def large() -> Comparison:
    """As much as a comparison may hold."""
    wide = tuple(f"op{i}" + "x" * 200 for i in range(5_000))
    made = compared(wide[:600])
    rows = tuple((name, "AI_CORE", "8" * 300, 1.0, 2.0, 1.0, 1.0, 1.0, 0.0) for name in wide)
    heads = made.tables[0].rows.columns
    many = Difference(name="kernels", rows=Rows(columns=heads, rows=rows, total=len(rows)))
    return made.model_copy(update={"tables": (many,) * 6})


def _single(made: Diagnosis) -> Diagnosis:
    assert made.account is not None
    return made.model_copy(update={"account": made.account.model_copy(update={"steps": made.account.steps[:1]})})


COMPARED: dict[str, Comparison] = {
    "slower": compared(),
    "faster": compare(after(), before()),
    "the same": compare(before(), before()),
    "one step": compare(_single(before()), _single(after())),
    "fine": compare(SHAPES["fine"], SHAPES["fine"]),
    "no account": compare(SHAPES["rich"], SHAPES["rich"]),
    "no time": compare(SHAPES["blind"], SHAPES["fine but half blind"]),
    "window beside step": compare(before().model_copy(update={"run": Run(name="w")}), after()),
    "windows": compare(*(one.model_copy(update={"run": Run(name="w")}) for one in (before(), after()))),
    "empty": compare(SHAPES["empty"], SHAPES["empty"]),
    "no rules": compare(SHAPES["no rules"], SHAPES["no rules"]),
}
"""Comparisons of every shape a report has to cope with."""
