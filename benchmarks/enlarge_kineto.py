# SPDX-License-Identifier: Apache-2.0
"""Makes a big trace of a GPU of a small one: repeats its events, later each time.

    python benchmarks/enlarge_kineto.py worker0.pt.trace.json.gz big.pt.trace.json --size 1G

Times are shifted by the span of the trace; numbers of steps, correlations and those that link operators to what they
launch go on counting, so that every launch still finds its kernel.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

_UNITS = {"K": 10**3, "M": 10**6, "G": 10**9}
_STEP = re.compile(r"^(ProfilerStep#)(\d+)$")
_NUMBERS = ("correlation", "External id", "external id", "Ev Idx", "Python id", "Python parent id")
_HOLE = re.compile(r'"@([a-z])(-?[0-9.]+)@"')


def enlarge_trace(source: Path, target: Path, size: int) -> int:
    """Writes events of the source again and again until about `size` bytes are written; says how often."""
    content = json.loads(_read(source), parse_float=Decimal)
    head, events = {k: v for k, v in content.items() if k != "traceEvents"}, content["traceEvents"]
    timed = [event for event in events if "ts" in event]
    strides = {
        "t": Decimal(_span_us(timed)),
        "s": _span_of_steps(timed),
        "n": max((number for event in timed for number in _numbers(event).values()), default=0) + 1,
        "i": max((event["id"] for event in timed if type(event.get("id")) is int), default=0) + 1,
    }
    parts = _HOLE.split(",\n".join(_as_template(event) for event in timed))
    once = ",\n".join(json.dumps(event, default=float) for event in events if "ts" not in event)
    repeats = max(1, round(size / max(sum(map(len, parts[::3])) + 14 * (len(parts) // 3), 1)))
    with target.open("w", encoding="utf-8") as out:
        out.write(json.dumps(head, default=float)[:-1] + ', "traceEvents": [\n' + once)
        for number in range(repeats):
            out.write(",\n" if once or number else "")
            out.writelines(_shifted(parts, {kind: stride * number for kind, stride in strides.items()}))
        out.write("\n]}\n")
    return repeats


def _read(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def _span_us(timed: list[dict[str, Any]]) -> int:
    starts = [Decimal(event["ts"]) for event in timed]
    ends = [Decimal(event["ts"]) + Decimal(event.get("dur", 0)) for event in timed if event.get("ph") == "X"]
    return int(max(ends) - min(starts)) + 1


def _span_of_steps(timed: list[dict[str, Any]]) -> int:
    steps = [int(found[2]) for event in timed if (found := _STEP.match(str(event.get("name"))))]
    return max(steps, default=0) - min(steps, default=0) + 1


def _numbers(event: dict[str, Any]) -> dict[str, int]:
    """What of the arguments counts on from repeat to repeat."""
    args = event.get("args") or {}
    return {name: args[name] for name in _NUMBERS if type(args.get(name)) is int and args[name] > 0}


def _as_template(event: dict[str, Any]) -> str:
    """An event as JSON, with holes where a number moves from one repeat to the next."""
    if moved := {name: f"@n{number}@" for name, number in _numbers(event).items()}:
        event = {**event, "args": {**event["args"], **moved}}
    if (step := _STEP.match(str(event.get("name")))) is not None:
        event = {**event, "name": f"@s{step[2]}@"}
    if type(event.get("id")) is int:
        event = {**event, "id": f"@i{event['id']}@"}
    return json.dumps({**event, "ts": f"@t{event['ts']}@"}, default=float)


def _shifted(parts: list[str], moved: dict[str, Any]) -> Iterator[str]:
    for place in range(0, len(parts) - 1, 3):
        text, kind, number = parts[place : place + 3]
        value = (Decimal(number) if kind == "t" else int(number)) + moved[kind]
        yield text
        yield f'"ProfilerStep#{value}"' if kind == "s" else str(value)
    yield parts[-1]


def main() -> int:
    """Enlarge a trace."""
    parser = argparse.ArgumentParser(description="Makes a big trace of a GPU of a small one")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--size", default="1G", help="about how large, such as 200M")
    options = parser.parse_args()
    size = int(float(options.size[:-1]) * _UNITS[options.size[-1]])
    print(f"{enlarge_trace(options.source, options.target, size)} times, {options.target.stat().st_size} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
