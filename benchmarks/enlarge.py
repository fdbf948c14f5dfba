# SPDX-License-Identifier: Apache-2.0
"""Makes a big capture of a small one: repeats its steps, later each time, so that every flow still finds its other end.

    python benchmarks/enlarge.py corpus/host-bound-2-ranks OUT --size 200M
    python benchmarks/enlarge.py CAPTURE OUT --repeat 90

The input is a text capture (one `*_ascend_pt` folder, or a folder of them). Times are shifted by the span of the
capture; step numbers, connection, correlation, task and flow ids and the numbers of collectives go on counting.
"""

from __future__ import annotations

import argparse
import csv
import json
import math
import re
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

_OUTPUT = "ASCEND_PROFILER_OUTPUT"
_COLLECTIVE = re.compile(r"^(hcom_[A-Za-z]+__\d+_)(\d+)(.*)$")
_STEP = re.compile(r"^((?:\w+::\w+::)?ProfilerStep#|step)(\d+)$")
_HOLE = re.compile(r'"@#(\d+)#@"|@@(\d+)@@')
_TIMES = ("Start Time(us)", "Timestamp(us)", "Allocation Time(us)", "Release Time(us)", "Active Release Time(us)")
_STEPS = ("Step Id", "Step ID", "Step")
_TASKS = ("Task ID", "Task Id")
_TOTALS = ("Count", "Total Time(us)", "Time(us)")
_ONCE = ("op_statistic.csv", "api_statistic.csv")
_BEGAN = "Start Timestamp(us)"
_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}


@dataclass(slots=True)
class Strides:
    """How far every kind of number moves from one repeat to the next."""

    time_us: int
    step: int
    connection: int
    correlation: int
    task: int
    python: int
    collective: int

    @classmethod
    def of(cls, events: list[dict[str, Any]]) -> Strides:
        """Strides that keep all repeats of these events apart."""
        spans = [(_whole(e["ts"]), float(e["dur"])) for e in events if e.get("ph") == "X"]
        steps = [int(m[2]) for e in events if (m := _STEP.match(str(e.get("name"))))]
        collectives = [int(m[2]) for e in events if (m := _COLLECTIVE.match(str(e.get("name"))))]
        last = max(start + math.ceil(took) for start, took in spans)
        return cls(
            time_us=last - min(start for start, _ in spans) + 1,
            step=max(steps, default=0) - min(steps, default=0) + 1,
            connection=_largest(events, "connection_id"),
            correlation=_largest(events, "correlation_id"),
            task=max(_largest(events, "Task Id"), _largest(events, "task id")),
            python=_largest(events, "Python id"),
            collective=max(collectives, default=0) + 1,
        )

    @classmethod
    def of_all(cls, ranks: Iterable[Path]) -> Strides:
        """One set for all ranks of a job, so that their clocks stay together."""
        each = [cls.of(_events(rank)) for rank in ranks]
        return cls(*(max(getattr(strides, f.name) for strides in each) for f in fields(cls)))


def _events(rank: Path) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads((rank / _OUTPUT / "trace_view.json").read_text(encoding="utf-8"))
    return events


def _whole(time: object) -> int:
    return int(str(time).partition(".")[0])


def _largest(events: list[dict[str, Any]], argument: str) -> int:
    return max((int(e["args"][argument]) for e in events if argument in (e.get("args") or {})), default=0) + 1


@dataclass(slots=True)
class Template:
    """Text with numbers that grow from one repeat to the next."""

    strides: Strides
    numbers: list[tuple[int, int]] = field(default_factory=list)

    def hole(self, base: object, stride: int) -> str:
        """A number inside a text."""
        self.numbers.append((int(str(base)), stride))
        return f"@@{len(self.numbers) - 1}@@"

    def bare(self, base: object, stride: int) -> str:
        """A number that is a JSON number."""
        self.numbers.append((int(str(base)), stride))
        return f"@#{len(self.numbers) - 1}#@"

    def time(self, time: object) -> str:
        """A time; the shift is whole µs, so the decimals stay."""
        whole, dot, decimals = str(time).partition(".")
        return self.hole(whole, self.strides.time_us) + dot + decimals

    def name(self, name: str) -> str:
        """A name that may hold the number of a step or of a collective."""
        if match := _STEP.match(name):
            return match[1] + self.hole(match[2], self.strides.step)
        if match := _COLLECTIVE.match(name):
            return match[1] + self.hole(match[2], self.strides.collective) + match[3]
        return name

    def finish(self, text: str) -> Callable[[int], str]:
        """A function from the number of the repeat to its text."""
        order: list[int] = []

        def mark(match: re.Match[str]) -> str:
            order.append(int(match[1] or match[2]))
            return "%d"

        ready = _HOLE.sub(mark, text.replace("%", "%%"))
        numbers = [self.numbers[i] for i in order]
        return lambda repeat: ready % tuple(base + repeat * stride for base, stride in numbers)


_ARGUMENTS = {
    "connection_id": "connection", "correlation_id": "correlation", "Task Id": "task", "task id": "task",
    "Python id": "python", "Python parent id": "python",
}  # fmt: skip


def _event(event: dict[str, Any], template: Template) -> dict[str, Any]:
    moved = dict(event)
    time = template.time(event["ts"])
    moved["ts"] = time if isinstance(event["ts"], str) else f"@~{time}~@"
    moved["name"] = template.name(event["name"])
    if "id" in event:
        moved |= _flow(event, template)
    if event.get("args"):
        moved["args"] = {key: _argument(key, value, template) for key, value in event["args"].items()}
    return moved


def _flow(event: dict[str, Any], template: Template) -> dict[str, Any]:
    strides, category = template.strides, event.get("cat")
    if category == "HostToDevice":
        name = "HostToDevice" + template.hole(event["id"], strides.connection)
        return {"id": template.hole(event["id"], strides.connection), "name": name}
    stride = strides.time_us * 1000 if category == "async_npu" else strides.correlation
    put = template.hole if isinstance(event["id"], str) else template.bare
    return {"id": put(event["id"], stride)}


def _argument(key: str, value: Any, template: Template) -> Any:
    kind = _ARGUMENTS.get(key)
    if kind is None or not isinstance(value, int) or value < 0:
        return value
    return template.bare(value, getattr(template.strides, kind))


def _write_trace(events: list[dict[str, Any]], strides: Strides, path: Path, repeats: int) -> None:
    lanes = [event for event in events if event.get("ph") == "M"]
    template = Template(strides)
    moving = [json.dumps(_event(event, template)) for event in events if event.get("ph") != "M"]
    text = re.sub(r'"@~(.*?)~@"', r"\1", ", ".join(moving))
    repeat = template.finish(text)
    with path.open("w", encoding="utf-8") as file:
        file.write("[" + ", ".join(map(json.dumps, lanes)))
        for number in range(repeats):
            file.write((", " if lanes or number else "") + repeat(number))
        file.write("]")


def _write_table(source: Path, path: Path, strides: Strides, repeats: int, distinct_shapes: bool) -> None:
    with source.open(newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        if source.name in _ONCE:
            writer.writerows(_multiplied(header, row, repeats) for row in rows)
            return
        movers = {
            column: mover for column, name in enumerate(header) if (mover := _mover(name, strides, distinct_shapes))
        }
        for number in range(repeats):
            for row in rows:
                moved = list(row)
                for column, mover in movers.items():
                    moved[column] = mover(row[column], number)
                writer.writerow(moved)


def _multiplied(header: list[str], row: list[str], repeats: int) -> list[str]:
    return [str(float(v) * repeats) if h in _TOTALS[1:] else str(int(v) * repeats) if h == _TOTALS[0] else v
            for h, v in zip(header, row, strict=True)]  # fmt: skip


def _mover(column: str, strides: Strides, distinct_shapes: bool) -> Callable[[str, int], str] | None:
    if column in _TIMES:
        return lambda cell, number: _later(cell, strides.time_us * number)
    if column in _STEPS:
        return lambda cell, number: _counted(cell, strides.step * number)
    if column in _TASKS:
        return lambda cell, number: _counted(cell, strides.task * number)
    if column == "Name":
        return lambda cell, number: _renumbered(cell, strides.collective * number)
    if column == "Input Shapes" and distinct_shapes:
        return lambda cell, number: re.sub(r"\d+", lambda m: str(int(m[0]) + number), cell, count=1)
    return None


def _later(cell: str, shift: int) -> str:
    whole, dot, decimals = cell.partition(".")
    return f"{int(whole) + shift}{dot}{decimals}" if whole.strip().isdigit() else cell


def _counted(cell: str, shift: int) -> str:
    return str(int(cell) + shift) if cell.strip().isdigit() else cell


def _renumbered(cell: str, shift: int) -> str:
    match = _COLLECTIVE.match(cell)
    return f"{match[1]}{int(match[2]) + shift}{match[3]}" if match else cell


def _write_communication(source: Path, path: Path, strides: Strides, repeats: int) -> None:
    template = Template(strides)
    steps: dict[str, Any] = json.loads(source.read_text(encoding="utf-8"))
    text = json.dumps(_communication(steps, template))
    repeat = template.finish(text[1:-1])
    path.write_text("{" + ", ".join(repeat(number) for number in range(repeats)) + "}", encoding="utf-8")


def _communication(node: Any, template: Template) -> Any:
    """The whole document with its names, and when operators began in whole µs, as holes."""
    if isinstance(node, dict):
        return {
            template.name(key): template.bare(int(value), template.strides.time_us)
            if key == _BEGAN and isinstance(value, (int, float)) and value > 0
            else _communication(value, template)
            for key, value in node.items()
        }
    return template.name(node) if isinstance(node, str) else node


def enlarge(capture: Path, out: Path, repeats: int, *, distinct_shapes: bool = False) -> Path:
    """Write a capture that holds another one `repeats` times.

    Raises:
        FileNotFoundError: There is no text capture in the folder.
    """
    found = list(_ranks(capture))
    if not found:
        raise FileNotFoundError(f"{capture}: no {_OUTPUT}/trace_view.json in it")
    strides = Strides.of_all(found)
    for rank in found:
        _enlarge_rank(rank, out / rank.name, repeats, strides, distinct_shapes)
    return out


def _ranks(capture: Path) -> Iterator[Path]:
    return (path.parent.parent for path in sorted(capture.rglob(f"{_OUTPUT}/trace_view.json")))


def _enlarge_rank(rank: Path, out: Path, repeats: int, strides: Strides, distinct_shapes: bool) -> None:
    output = out / _OUTPUT
    output.mkdir(parents=True)
    for path in rank.glob("*.json"):
        shutil.copy(path, out / path.name)
    for path in sorted((rank / _OUTPUT).iterdir()):
        if path.name == "trace_view.json":
            _write_trace(_events(rank), strides, output / path.name, repeats)
        elif path.suffix == ".csv":
            _write_table(path, output / path.name, strides, repeats, distinct_shapes)
        elif path.suffix == ".json":
            _write_communication(path, output / path.name, strides, repeats)


def repeats_for(capture: Path, size: int) -> int:
    """How often to repeat a capture so that its timelines have a size in all."""
    smallest = sum((rank / _OUTPUT / "trace_view.json").stat().st_size for rank in _ranks(capture))
    return max(1, round(size / smallest))


def size_of(text: str) -> int:
    """Bytes of a text such as 200M."""
    return int(float(text[:-1]) * _UNITS[text[-1]]) if text[-1] in _UNITS else int(text)


def main() -> int:
    """Enlarge one capture."""
    parser = argparse.ArgumentParser(description="Repeats the steps of a text capture")
    parser.add_argument("capture", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--repeat", type=int, default=0)
    parser.add_argument("--size", default="200M", help="of the timelines together, such as 2M, 200M, 1G")
    parser.add_argument("--distinct-shapes", action="store_true", help="every repeat has input shapes of its own")
    options = parser.parse_args()
    repeats = options.repeat or repeats_for(options.capture, size_of(options.size))
    enlarge(options.capture, options.out, repeats, distinct_shapes=options.distinct_shapes)
    print(f"{options.out}: {repeats} times {options.capture}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
