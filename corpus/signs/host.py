# SPDX-License-Identifier: Apache-2.0
"""Signs of a host that holds its device up: totals of calls and operators, samples of processors, calls of threads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import corpus
from corpus import program as do
from corpus.cases import setup_of
from corpus.msprof import STAMP, write_msprof
from corpus.program import Instruction
from corpus.signs import Sign, Write
from corpus.signs.captures import Altered, Row, edit_rows, job, write

_LOAD = "Device_id,Cpu Type,User(%),Sys(%),IoWait(%),Irq(%),Soft(%),Idle(%)\n"


def _processors(*, user: int, waiting: int) -> Write:
    """A recording of msprof that sampled processors of which 8 % are idle, those of the device among them."""

    def written(folder: Path) -> None:
        results = write_msprof(job("host-bound"), folder)
        of_host = f"host,Host Cpu,{user},{92 - user - waiting - 2},{waiting},0,2,8\n"
        content = f"{_LOAD}{of_host}0,Ctrl Cpu,99,1,0,0,0,0\n"
        (results / f"cpu_usage_{STAMP}.csv").write_text(content, encoding="utf-8")

    return written


Call = tuple[str, str, int, float, float]
"""Level, name, how often, how long in all and at most, µs."""
Operator = tuple[str, str, int, float]
"""Type, core, how often and how long in all, µs."""


def _totals(calls: tuple[Call, ...] = (), operators: tuple[Operator, ...] = ()) -> Write:
    """A capture of which only the totals of calls and operators were handed on: of calls these beside those that do not
    wait, of operators these alone, where there are any."""

    def add(rows: list[Row]) -> None:
        rows[:] = [row for row in rows if "Synchronize" not in row["API Name"]]
        for level, name, many, total, longest in calls:
            numbers = (total, many, total / many, longest / 10, longest, longest)
            cells = zip(("Time(us)", "Count", "Avg(us)", "Min(us)", "Max(us)", "Variance"), numbers, strict=True)
            rows.append({"Level": level, "API Name": name, **{key: str(value) for key, value in cells}})

    def change(rows: list[Row]) -> None:
        every = sum(total for *_, total in operators)
        names = ("Count", "Total Time(us)", "Min Time(us)", "Avg Time(us)", "Max Time(us)", "Ratio(%)")
        rows[:] = [
            {"OP Type": kind, "Core Type": core}
            | dict(zip(names, map(str, (many, us, us / many, us / many, us / many, 100 * us / every)), strict=True))
            for kind, core, many, us in operators
        ]

    def written(folder: Path) -> None:
        write(folder, totals=True)
        rows_of = {"api_statistic.csv": add if calls else None, "op_statistic.csv": change if operators else None}
        for name, edit in rows_of.items():
            if edit:
                edit_rows(folder, name, edit)

    return written


def _waits(mean_us: int) -> Write:
    """Eight waits for the device, seven of them for a stream; the runtime below tells the same ones again."""
    each: tuple[Call, ...] = (
        ("acl", "aclrtSynchronizeStreamWithTimeout", 7, 7.0 * mean_us, 2.0 * mean_us),
        ("acl", "aclrtSynchronizeDevice", 1, 1.0 * mean_us, 1.0 * mean_us),
        ("runtime", "StreamSynchronize", 7, 6.9 * mean_us, 1.9 * mean_us),
        ("runtime", "DeviceSynchronize", 1, 0.9 * mean_us, 0.9 * mean_us),
    )
    return _totals(each, (("MatMulV2", "AI_CORE", 100, 40_000.0),))


def _small(adds: int) -> Write:
    """Additions of 5 µs and 500 products of 6 µs by element, beside 400 products of matrices that last 100 µs."""
    kinds: tuple[Operator, ...] = (
        ("MatMulV2", "AI_CORE", 400, 40_000.0),
        ("Add", "AI_VECTOR_CORE", adds, 5.0 * adds),
        ("Mul", "AI_VECTOR_CORE", 500, 3_000.0),
    )
    return _totals(operators=kinds)


_LAUNCHES = 8
"""Between two interruptions of a step."""


def _interrupted(*meanwhile: Instruction, limit: int) -> Write:
    """A job of four ranks that does this in each step, so many times. At Level2, where copies tell their direction."""

    def step(instructions: Iterator[Instruction], _: int) -> Iterator[Instruction]:
        launches = 0
        for instruction in instructions:
            yield instruction
            if isinstance(instruction, do.Launch):
                launches += 1
                if launches % _LAUNCHES == 0 and launches <= _LAUNCHES * limit:
                    yield from meanwhile

    def written(folder: Path) -> None:
        setup = setup_of("healthy-light")
        changed = replace(setup, workload=Altered(setup.workload, step))
        corpus.write(corpus.job("healthy-light", 11, setup=changed), folder, level=2)

    return written


_FETCHED = do.Copy("aten::_to_copy", "device to host", 1 << 20, 60.0, blocking=True)
_SENT = do.Copy("aten::_to_copy", "host to device", 1 << 20, 60.0, blocking=True)


def _on_cpu(us: float, *, limit: int) -> Write:
    """A tensor is brought to the host, an operator sorts it there for so long, and it is brought back."""
    return _interrupted(_FETCHED, do.Host("aten::sort", us), _SENT, limit=limit)


SIGNS: Mapping[str, Sign] = {
    "host/saturated-cpu": Sign(  # as little is idle in the twin, but 15 % wait for files there
        spoiled=_processors(user=60, waiting=5),
        twin=_processors(user=60, waiting=15),
        shows={"busy": 0.87, "waiting": 0.05},
    ),
    "host/long-waits": Sign(
        spoiled=_waits(1_100),
        twin=_waits(900),
        shows={"waits": 8, "mean_wait_us": 1_100, "longest_wait_us": 2_200, "of_computing": 0.22},
    ),
    "host/many-small-totals": Sign(
        spoiled=_small(700),
        twin=_small(499),
        shows={"kernels_seen": 1600, "small_calls": 1200, "small_part": 0.75},
    ),
    "host/compiled-dispatch": Sign(
        spoiled=_totals((("acl", "aclopCompileAndExecute", 21, 14_700.0, 1_890.0),)),
        twin=_totals((("acl", "aclopCompileAndExecute", 20, 14_000.0, 1_890.0),)),
        shows={"dispatches": 21, "mean_dispatch_us": 700, "longest_dispatch_us": 1_890},
    ),
    "host/cpu-operators": Sign(
        spoiled=_on_cpu(3_000.0, limit=3),
        twin=_on_cpu(200.0, limit=1),
        shows={"operators_per_step": 3, "busiest_operator": "aten::sort"},
    ),
}
