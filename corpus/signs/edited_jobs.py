# SPDX-License-Identifier: Apache-2.0
"""Signs in generated jobs of which some files say something else: what cannot be told from how long a step takes."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import corpus
from corpus.cases import Setup, setup_of, small_setup
from corpus.program import Instruction, Pause, Step
from corpus.signs import Sign, Write
from corpus.signs.captures import Row, edit_json, edit_rows, write

Edit = Callable[[Path], None]


def _edited(edit: Edit, case: str, **how: Any) -> Write:
    """A generated job, edited."""

    def written(folder: Path) -> None:
        edit(write(folder, case, **how))

    return written


def _last_rank_alone(folder: Path) -> None:
    for other in sorted(folder.glob("*_ascend_pt"))[:-1]:
        shutil.rmtree(other)


def _idle_in_collectives(part: float) -> Edit:
    """Collectives that move data no longer, and of whose time so much is neither transfer nor wait."""

    def change(content: Any) -> None:
        for step in content.values():
            for call in step["collective"].values():
                times = call["Communication Time Info"]
                idle = part * times["Elapse Time(ms)"]
                times |= {
                    "Transit Time(ms)": times["Elapse Time(ms)"] - idle, "Idle Time(ms)": idle, "Wait Time(ms)": 0.0,
                    "Synchronization Time(ms)": 0.0, "Wait Time Ratio": 0.0, "Synchronization Time Ratio": 0.0,
                }  # fmt: skip

    return partial(edit_json, name="communication.json", change=change)


def _one_collective(edit: Edit) -> Write:
    """A job whose gradients fit into one bucket, over slow links."""

    def written(folder: Path) -> None:
        usual = small_setup(setup_of("low-bandwidth"))
        setup = replace(usual, workload=replace(usual.workload, layers=1))  # type: ignore[call-arg]
        edit(corpus.write(corpus.job("low-bandwidth", 11, setup=setup), folder))

    return written


def _cut_in_a_row(folder: Path) -> None:
    """A copy that ended early."""
    for path in sorted(folder.rglob("kernel_details.csv")):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])


def _zeros_in_memory_records(part: float) -> Edit:
    """A disk that lost blocks of the records of memory."""

    def edit(folder: Path) -> None:
        for path in sorted(folder.rglob("memory_record.csv")):
            content = path.read_bytes()
            begin, lost = len(content) // 3, int(part * len(content))
            path.write_bytes(content[:begin] + bytes(lost) + content[begin + lost :])

    return edit


def _float_times(folder: Path) -> None:
    """A timeline that a program has read and written again with floats for times."""

    def change(events: Any) -> None:
        for event in events:
            if "ts" in event:
                event["ts"] = float(event["ts"])

    edit_json(folder, name="trace_view.json", change=change)


def _many_gradients(layers: int) -> Write:
    """A job that sends the gradient of each weight by itself; a layer has four."""

    def written(folder: Path) -> None:
        usual = small_setup(setup_of("small-packets"))
        sizes = {"layers": layers, "steps": 1, "hidden": 128, "sequence": 64, "vocabulary": 512}
        workload = replace(usual.workload, host_us=20.0, bucket_bytes=1, **sizes)  # type: ignore[call-arg]
        machine = replace(usual.machine, setup_us=_SLOW_HANDSHAKE_US)
        corpus.write(corpus.job("small-packets", 11, setup=replace(usual, workload=workload, machine=machine)), folder)

    return written


_SLOW_HANDSHAKE_US = 100.0


def _reserved(megabytes: float) -> Edit:
    """What the allocator reserves from its first row on."""

    def change(rows: list[Row]) -> None:
        for row in rows:
            row["Total Reserved(MB)"] = str(megabytes)

    return partial(edit_rows, name="memory_record.csv", change=change)


@dataclass(frozen=True, slots=True)
class _Pausing(Setup):
    """A job whose main thread does nothing that is recorded for a time, in the middle of some steps."""

    pauses: Mapping[int, float] = field(default_factory=dict)
    """How long, in µs, by which of the steps."""
    only_first: bool = False
    """The other ranks do not pause."""

    def program(self, rank: int) -> Iterator[Instruction]:
        step, operators = -1, 0
        for instruction in Setup.program(self, rank):
            yield instruction
            step, operators = (step + 1, 0) if isinstance(instruction, Step) else (step, operators + 1)
            if operators == _MIDDLE and step in self.pauses and not (self.only_first and rank):
                yield Pause(self.pauses[step])


_MIDDLE = 40
"""How many instructions of a step come before a pause."""


def _paused(steps: int, pauses: Mapping[int, float], *, only_first: bool = False) -> Write:
    """A job of so many steps that is kept waiting by its host, and by pauses."""

    def written(folder: Path) -> None:
        usual = small_setup(setup_of("host-bound"))
        workload = replace(usual.workload, steps=steps)  # type: ignore[call-arg]
        same = (workload, usual.layout, usual.machine, usual.environment)
        setup = _Pausing(*same, name=usual.name, pauses=pauses, only_first=only_first)
        corpus.write(corpus.job("host-bound", 11, setup=setup), folder)
        if only_first:
            _last_rank_alone(folder)

    return written


def _other_operators(folder: Path) -> None:
    """What turns queries and keys is done by operators of other names, as of a position encoding of one's own."""
    for path in sorted(folder.rglob("*_ascend_pt/*/*")):
        text = path.read_text(encoding="utf-8")
        for name, other in _OTHER_OPERATORS.items():
            text = text.replace(name, other)
        path.write_text(text, encoding="utf-8")


_OTHER_OPERATORS = {"Slice": "Sin", "ConcatD": "Tanh", "Mul,": "Exp,", "_Mul": "_Exp"}


def _many_layers(layers: int) -> Write:
    """A job of so many layers that are so small that each of their kernels is short."""

    def written(folder: Path) -> None:
        usual = small_setup(setup_of("host-bound"))
        sizes = {"layers": layers, "steps": 2, "hidden": 128, "sequence": 64, "vocabulary": 512}
        setup = replace(usual, workload=replace(usual.workload, **sizes))  # type: ignore[call-arg]
        corpus.write(corpus.job("host-bound", 11, setup=setup), folder)

    return written


SIGNS: Mapping[str, Sign] = {
    "capture/boundary-step": Sign(
        spoiled=_paused(5, {4: 20_000}),
        twin=_paused(5, {2: 20_000}),
    ),
    "capture/damaged-input": Sign(
        spoiled=_edited(_cut_in_a_row, "healthy"),
        twin=partial(write, case="healthy"),
    ),
    "capture/lost-memory": Sign(
        spoiled=_edited(_zeros_in_memory_records(0.3), "healthy"),
        twin=_edited(_zeros_in_memory_records(0.02), "healthy"),
        shows={"lost_share": 0.3},
    ),
    "capture/rounded-times": Sign(
        spoiled=_edited(_float_times, "healthy"),
        twin=partial(write, case="healthy"),
    ),
    "comm/many-collectives": Sign(spoiled=_many_gradients(60), twin=_many_gradients(40), shows={"calls_per_step": 240}),
    "comm/overlong-collective": Sign(
        spoiled=_paused(4, {2: 60_000}, only_first=True),  # its rank was not captured
        twin=_paused(4, {}, only_first=True),
    ),
    "comm/unseen-late-rank": Sign(
        spoiled=_edited(_last_rank_alone, "slow-rank-compute", small=False),  # the first is slow
        twin=_edited(_last_rank_alone, "slow-rank-compute", without=("slow-rank-compute",), small=False),
    ),
    "comm/dominant-collective": Sign(
        spoiled=_one_collective(_idle_in_collectives(0.95)),
        twin=_one_collective(_idle_in_collectives(0.0)),  # it moves data all the time
    ),
    "comm/idle-collectives": Sign(
        spoiled=_edited(_idle_in_collectives(0.7), "exposed-communication"),
        twin=_edited(_idle_in_collectives(0.4), "exposed-communication"),
        shows={"idle_share": 0.7},
    ),
    "compute/repeated-sequence": Sign(
        spoiled=_edited(_other_operators, "unfused-rotary"),
        twin=partial(write, case="unfused-rotary"),  # the same, by the names of a sequence that has a rule of its own
    ),
    "host/many-small-kernels": Sign(spoiled=_many_layers(40), twin=_many_layers(20)),
    "host/stalled-step": Sign(
        spoiled=_paused(6, {3: 30_000}),
        twin=_paused(6, {}),
    ),
    "host/silent-pauses": Sign(
        spoiled=_paused(6, {1: 30_000, 4: 30_000}),
        twin=_paused(6, dict.fromkeys(range(6), 10_000)),  # every step's own
        shows={"pauses": 2, "paused_steps": 2},
    ),
    "memory/near-capacity": Sign(
        spoiled=_edited(_reserved(0.95 * 65536), "healthy"),
        twin=_edited(_reserved(0.85 * 65536), "healthy"),
        shows={"used_share": 0.95},
    ),
}
