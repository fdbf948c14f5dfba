# SPDX-License-Identifier: Apache-2.0
"""A real trace of one engine step as a capture of several that nobody marked: its events again and again."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

_NAMED = ("user_annotation", "gpu_user_annotation", "python_function")
_APART = 10_000_000
"""So far apart are the ids of two repetitions."""


def write_repeated(trace: Path, folder: Path, times: int, pause_us: float = 250.0) -> Path:
    """The trace so many times, one after the other, without the marks and functions that would name its steps."""
    content = json.loads(gzip.decompress(trace.read_bytes()))
    events = [one for one in content["traceEvents"] if one.get("cat") not in _NAMED]
    timed = [one for one in events if one.get("ph") == "X"]
    lasts = max(one["ts"] + one["dur"] for one in timed) - min(one["ts"] for one in timed)
    content["traceEvents"] = [
        _moved(one, number, number * (lasts + pause_us)) for number in range(times) for one in events if "ts" in one
    ] + [one for one in events if "ts" not in one]
    written = folder / f"{trace.name.removesuffix('.json.gz')}.pt.trace.json"
    written.write_text(json.dumps(content), "utf-8")
    return written


def _moved(event: dict[str, Any], number: int, us: float) -> dict[str, Any]:
    args = event.get("args", {})
    ids = {name: int(args[name]) + number * _APART for name in ("correlation", "External id") if name in args}
    flow = {"id": int(event["id"]) + number * _APART} if event.get("cat") == "ac2g" else {}
    return {**event, **flow, "ts": event["ts"] + us, "args": {**args, **ids}}
