# SPDX-License-Identifier: Apache-2.0
"""Draws Vega-Lite specs as static SVG in a process of its own, which may die without harm to the report."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

TIMEOUT_S = 60.0
"""Longer than any bounded chart takes on a busy machine; after this the charts are given up, not the report."""

_PROGRAM = Path(__file__).with_name("chart_process.py")


class Renderer:
    """Draws charts. Started early, it wakes up on another core while the capture is read.

    Use it as a context: whatever happens inside, no process stays behind.
    """

    def __init__(self, start: bool = True) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._drawn: dict[str, str] = {}
        if start:
            self.start()

    def start(self) -> None:
        """Starts the drawing process, once; nothing happens where processes cannot be started."""
        if self._process is not None:
            return
        try:
            self._process = subprocess.Popen(  # noqa: S603 — this interpreter and our own file; -P keeps the working folder off the path
                [sys.executable, "-P", str(_PROGRAM)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            self._process = None  # the report then names the charts it lacks

    def render(self, specs: Mapping[str, object]) -> dict[str, str]:
        """The SVG of each named spec. A chart that cannot be drawn is missing from the answer."""
        asked = {name: json.dumps({"name": name, "spec": spec}, sort_keys=True) for name, spec in specs.items()}
        new = [line for line in asked.values() if line not in self._drawn]
        if new:
            self.start()
            answers = self._ask(new)
            self._drawn.update({asked[name]: svg for name, svg in answers.items() if name in asked})
        return {name: self._drawn[line] for name, line in asked.items() if line in self._drawn}

    def close(self) -> None:
        """Ends the drawing process and waits for its end."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.communicate()

    def __enter__(self) -> Renderer:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _ask(self, lines: list[str]) -> dict[str, str]:
        """Sends the lines and the empty one that ends the process; reads all it has to say."""
        process = self._process
        if process is None:
            return {}
        try:
            said, _ = process.communicate("".join(f"{line}\n" for line in [*lines, ""]).encode(), timeout=TIMEOUT_S)
        except subprocess.TimeoutExpired as late:
            said = late.stdout or b""
        finally:
            self.close()
        return dict(_answer(line) for line in said.splitlines() if _answer(line)[1])


def _answer(line: bytes) -> tuple[str, str]:
    """The name and the SVG on one line; nothing for a chart that failed or a line cut short."""
    try:
        said = json.loads(line)
    except ValueError:
        return "", ""
    return str(said.get("name", "")), str(said.get("svg", ""))
